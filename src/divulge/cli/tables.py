"""The verbs of tables: `divulge tables suppress | audit` (`attack` stands in `matching`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from divulge.cli.options import Effort, Overwrite, StopAfter
from divulge.cli.showing import print_json, say, shown

if TYPE_CHECKING:
    from divulge.tables import Published, Suppression, Table
    from divulge.tables.table.display import Crosstab

FINE, LIMIT_FAILS = 0, 1
MOST_COLUMNS, MOST_ROWS = 40, 120

app = typer.Typer(
    help="Tables of totals: audit what is suppressed, suppress what must be.",
    no_args_is_help=True,
)

Source = Annotated[
    Path,
    typer.Argument(
        help="A crosstab with margins (CSV, totals last), a JJ file (.jj), or with --by records.",
        show_default=False,
    ),
]
Published_ = Annotated[
    list[Path],
    typer.Argument(
        help="A crosstab with margins, a JJ file, or with --by a file of one row per cell. "
        "Several files are linked tables.",
        show_default=False,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(help="The dimensions, as in region,sex. Once per table; several are linked."),
]
Value = Annotated[str | None, typer.Option(help="What is summed; counts if not given.")]
Hierarchies = Annotated[
    list[str] | None, typer.Option(help="Subtotals: region=levels.csv, a file of levels.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Separator = Annotated[str, typer.Option(help="What stands between fields of a crosstab.")]
Html = Annotated[Path | None, typer.Option(help="Where a page with the crosstab goes.")]
Percent = Annotated[float | None, typer.Option(help="A rule of sensitivity, in percent.")]
Pair = Annotated[str | None, typer.Option(help="A rule of sensitivity: two numbers, as in 2,85.")]


@app.command()
def suppress(
    source: Source,
    min_frequency: Annotated[
        int | None, typer.Option(min=1, help="Cells with fewer contributors are sensitive.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(min=0, help="How wide the intervals of sensitive cells become.")
    ] = None,
    zeros_primary: Annotated[bool, typer.Option(help="Whether 0 is sensitive too.")] = False,
    dominance: Pair = None,
    p_percent: Percent = None,
    pq: Pair = None,
    request: Percent = None,
    singletons: Annotated[
        bool, typer.Option(help="Whether a single contributor is sensitive.")
    ] = False,
    by: By = None,
    value: Value = None,
    contributor: Annotated[str | None, typer.Option(help="Whose records belong together.")] = None,
    hierarchy: Hierarchies = None,
    method: Annotated[Literal["optimal", "fast"], typer.Option(help="How to choose.")] = "optimal",
    cost: Annotated[
        Literal["number", "value"], typer.Option(help="What a suppressed cell costs.")
    ] = "number",
    margins: Annotated[
        Literal["published", "suppressible"], typer.Option(help="May totals be suppressed?")
    ] = "published",
    seconds: Effort = 60,
    stop_after: StopAfter = None,
    resist_matching: Annotated[
        bool, typer.Option(help="Draw the pattern, so that knowing the algorithm does not help.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="The secret of the draw.")] = None,
    sealed: Annotated[
        Path | None, typer.Option(help="A file that keeps the draw for the next release.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the published table goes: a crosstab (CSV), or Parquet; "
            "several become name-1, name-2, with one row per cell."
        ),
    ] = None,
    html: Html = None,
    separator: Separator = ",",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Suppress the sensitive cells of a table, and as few others as protect them."""
    from divulge import tables
    from divulge.cli.running import conditions

    outputs = {"--html": html, "--out": out}
    files = [source, *(path for _, path in _levels(hierarchy))]
    with conditions(stop_after, outputs, files, overwrite):
        if source.suffix.lower() == ".jj":
            from divulge.tables.suppression.result import protect

            beside = {
                "--min-frequency": min_frequency,
                "--width": width,
                "--zeros-primary": zeros_primary,
                "--dominance": dominance,
                "--p-percent": p_percent,
                "--pq": pq,
                "--request": request,
                "--singletons": singletons,
                "--by": by,
                "--value": value,
                "--contributor": contributor,
                "--hierarchy": hierarchy,
                "--cost": cost != "number",
                "--margins": margins != "published",
                "--resist-matching": resist_matching,
                "--seed": seed is not None,
                "--sealed": sealed,
            }
            _refuse_beside_jj([option for option, said in beside.items() if said])
            given = tables.read_jj(source)
            found = protect(given.table, given.problem(), method, seconds, given.cost_unit)
        else:
            found = tables.suppress(
                _table(source, by, value, contributor, hierarchy, separator),
                min_frequency,
                width,
                zeros_primary,
                method,
                dominance=_pair("--dominance", dominance, whole=True),
                p_percent=p_percent,
                pq=_pair("--pq", pq),
                request=request,
                singletons=singletons,
                cost=cost,
                margins=margins,
                seconds=seconds,
                resist_matching=resist_matching,
                seed=seed,
                sealed=sealed,
            )
        said = [_told(found), *([] if found.resistance is None else [str(found.resistance)])]
        _write(found.published, out)
        _draw(found.crosstabs(), said, html, str(source.name))
    if json:
        with shown():
            print_json(found.to_dict())
    else:
        _show(found.crosstabs(), said)


@app.command()
def audit(
    published: Published_,
    by: By = None,
    value: Value = None,
    hierarchy: Hierarchies = None,
    html: Html = None,
    separator: Separator = ",",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Compute what the suppressed cells of a table can be, and which are known after all."""
    from divulge import tables
    from divulge.cli.running import conditions

    files = [*published, *(path for _, path in _levels(hierarchy))]
    with conditions(None, {"--html": html}, files, overwrite):
        read = _published(published, by, value, hierarchy, separator)
        found = tables.intervals(read)
        reasons = [str(why) for why in found.disclosures()]
        said = [
            f"{len(found)} cells are suppressed; {len(reasons)} of them are known (!).",
            *reasons,
        ]
        if not found.integral:
            said.append("Bounds are those of numbers with decimals, rounded inwards.")
        _draw(found.crosstabs(), said, html, ", ".join(path.name for path in published))
    if json:
        with shown():
            print_json({**found.to_dict(), "reasons": reasons})
    else:
        _show(found.crosstabs(), said)
    raise typer.Exit(LIMIT_FAILS if found.disclosed else FINE)


def _refuse_beside_jj(options: Sequence[str]) -> None:
    """A JJ file says itself what is sensitive, by how much, and what cells cost."""
    from divulge.work import Problems

    problems = Problems("tables suppress")
    for option in options:
        problems.add(option, "a JJ file says this itself: leave the option out.")
    problems.raise_any()


def _table(
    source: Path,
    by: Sequence[str] | None,
    value: str | None,
    contributor: str | None,
    hierarchy: Sequence[str] | None,
    separator: str,
) -> Table:
    """A crosstab; or records, tabulated once for every --by and linked."""
    import divulge as dv

    given = {"--value": value, "--contributor": contributor, "--hierarchy": hierarchy}
    _refuse_without_by(given, by, "tables suppress")
    if not by:
        return dv.tables.read_complete_crosstab(source, separator)
    records = dv.read(source, hierarchies=dict(_levels(hierarchy)))
    made = [
        dv.tables.Table.from_records(records, _names(names), value, contributor) for names in by
    ]
    return made[0] if len(made) == 1 else dv.tables.link(*made)


def _published(
    paths: Sequence[Path],
    by: Sequence[str] | None,
    value: str | None,
    hierarchy: Sequence[str] | None,
    separator: str,
) -> Published:
    """What was published, in one file or in several that are linked."""
    from divulge import tables
    from divulge.work import InvalidInput, Problem

    if by and len(by) not in (1, len(paths)):
        message = (
            f"is given {len(by)} times for {len(paths)} files: give it once, or once per file."
        )
        raise InvalidInput("tables audit", [Problem("--by", message)])
    _refuse_without_by({"--value": value, "--hierarchy": hierarchy}, by, "tables audit")
    if not by and len(paths) > 1:
        message = (
            "several tables are linked by the names of their dimensions, and a crosstab has none "
            "for its columns: give files of one row per cell, and --by once per file."
        )
        raise InvalidInput("tables audit", [Problem("--by", message)])
    levels = dict(_levels(hierarchy))
    read = []
    for number, path in enumerate(paths):
        if path.suffix.lower() == ".jj":
            given = tables.read_jj(path)
            read.append(given.table.publish(given.primary))
        elif by:
            names = _names(by[number if len(by) > 1 else 0])
            mine = {name: levels[name] for name in names if name in levels}
            read.append(tables.read_cells(path, names, value or "count", mine))
        else:
            read.append(tables.read_crosstab(path, separator))
    return read[0] if len(read) == 1 else tables.link_published(*read)


def _refuse_without_by(given: Mapping[str, object], by: Sequence[str] | None, command: str) -> None:
    """Options that say how records are tabulated, where there are none."""
    from divulge.work import Problems

    problems = Problems(command)
    for option, said in given.items():
        if said and not by:
            problems.add(option, "is of records or cells that --by names: give --by.")
    problems.raise_any()


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _levels(given: Sequence[str] | None) -> list[tuple[str, Path]]:
    from divulge.work import Problems

    problems = Problems("tables")
    found = []
    for text in given or ():
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            problems.add("--hierarchy", f'"{text}" is not name=file, as in region=levels.csv.')
        found.append((name, Path(path)))
    problems.raise_any()
    return found


def _pair(option: str, text: str | None, whole: bool = False) -> tuple[int, float] | None:
    from divulge.work import InvalidInput, Problem

    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
        if whole:
            first = int(text.partition(",")[0])  # 2.5 contributors are not two of them
    except ValueError:
        message = f'"{text}" is not two numbers, as in 2,85.'
        raise InvalidInput("tables", [Problem(option, message)]) from None
    return first, second  # type: ignore[return-value]


def _write(published: Published, out: Path | None) -> None:
    """A crosstab where there is one table and the file is CSV; else one row per cell.

    Linked tables are told apart by the names of their dimensions, which a crosstab does not have.
    """
    from divulge.tables import write_crosstab

    if out is None:
        return
    tables = range(len(published.structure.grids))
    for table in tables:
        path = out if len(tables) == 1 else out.with_stem(f"{out.stem}-{table + 1}")
        flat = len(tables) == 1 and len(published.structure.grids[table]) == 2
        if path.suffix.lower() == ".csv" and flat:
            write_crosstab(published, path, table)
        else:
            published.write(path, table)


def _told(found: Suppression) -> str:
    from divulge.assessment.sentence import number, percent

    structure, hidden = found.table.structure, found.published.suppressed
    primary = int(structure.mask(found.primary).sum())
    ties = " First of all equally cheap patterns." if found.first else ""
    return (
        f"{primary} sensitive cells (P) and {int(hidden.sum()) - primary} others (*) are "
        f"suppressed. Cost {number(found.cost)}, at least {number(found.bound)} "
        f"(gap {percent(found.gap)}).{ties}"
    )


def _draw(tables: Sequence[Crosstab], said: Sequence[str], html: Path | None, name: str) -> None:
    """The crosstabs and what is said of them in a page."""
    from divulge.tables.table.display import page
    from divulge.work import whole_file

    if html is not None:
        with whole_file(html) as part:
            part.write_text(page(name, said, tables), encoding="utf-8")


def _show(tables: Sequence[Crosstab], said: Sequence[str]) -> None:
    """The crosstabs and what is said of them on the terminal."""
    with shown():
        for table in tables:
            if len(table.head) <= MOST_COLUMNS and len(table.rows) <= MOST_ROWS:
                say(table.text())
            else:
                say("The table is too large for a terminal: --html FILE draws it.")
        say("")
        for sentence in said:
            say(sentence)
