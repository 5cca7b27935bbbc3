"""The verbs of tables: `divulge tables suppress | audit` (`attack` stands in `matching`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from divulge.cli.options import Effort, Overwrite, StopAfter
from divulge.cli.output import print_json, print_sentence, print_text, tolerate_closed_pipe

if TYPE_CHECKING:
    from divulge.tables import Published, Table
    from divulge.tables.table.display import Crosstab

EXIT_CODES = {"pass": 0, "fail": 1, "not judged": 3}
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
PublishedFiles = Annotated[
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

ShareOption = Annotated[
    float | None,
    typer.Option(min=0, help="How uncertain a cell must be above and below, in percent of it."),
]
ZerosOption = Annotated[
    Literal["known", "secret"] | None,
    typer.Option(
        help="Whether readers know which cells are empty; known, unless zeros are primary."
    ),
]


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
    share: ShareOption = None,
    zeros: ZerosOption = None,
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
    method_secret: Annotated[
        bool, typer.Option(help="Nobody outside knows the rules: do not try who does.")
    ] = False,
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
    from divulge.cli.run_context import set_run_conditions
    from divulge.tables.plugin import TablesSettings
    from divulge.tables.release_attack import assess_suppression

    outputs = {"--html": html, "--out": out}
    files = [source, *(path for _, path in _parse_hierarchies(hierarchy))]
    with set_run_conditions(stop_after, outputs, files, overwrite):
        if source.suffix.lower() == ".jj":
            from divulge.tables.suppression.result import protect_table

            beside = {
                "--min-frequency": min_frequency,
                "--width": width,
                "--zeros-primary": zeros_primary,
                "--share": share,
                "--zeros": zeros,
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
            jj_file = tables.read_jj(source)
            result = protect_table(
                jj_file.table, jj_file.problem(), method, seconds, jj_file.cost_unit
            )
        else:
            result = tables.suppress(
                _read_table(source, by, value, contributor, hierarchy, separator),
                min_frequency,
                width,
                zeros_primary,
                method,
                share=share,
                zeros=zeros,
                dominance=_parse_pair("--dominance", dominance, whole=True),
                p_percent=p_percent,
                pq=_parse_pair("--pq", pq),
                request=request,
                singletons=singletons,
                cost=cost,
                margins=margins,
                seconds=seconds,
                resist_matching=resist_matching,
                seed=seed,
                sealed=sealed,
            )
        judged = None
        if source.suffix.lower() != ".jj":  # which says what is sensitive, and not by what rule
            settings = TablesSettings(
                by=[],
                min_frequency=min_frequency,
                zeros_primary=zeros_primary,
                dominance=_parse_pair("--dominance", dominance, whole=True),
                p_percent=p_percent,
                pq=_parse_pair("--pq", pq),
                request=request,
                singletons=singletons,
                suppress=method,
                width=width,
                share=share,
                zeros=zeros,
                margins=margins,
                seconds=seconds,
                method="secret" if method_secret else "known",
            )
            judged = assess_suppression(settings, result.table, result, source.name)
        sentences = [*(judged.explain() if judged else []), *result.explain()]
        if result.resistance is not None:
            sentences += result.resistance.explain()
        _write_published(result.published, out)
        _write_page(result.crosstabs(), sentences, html, str(source.name))
    if json:
        with tolerate_closed_pipe():
            head = {"assessment": judged.to_dict()} if judged else {}
            print_json({**head, **result.to_dict()})
    else:
        _print_crosstabs(result.crosstabs(), sentences)


@app.command()
def audit(
    published: PublishedFiles,
    original: Annotated[
        Path | None,
        typer.Option(help="The table behind it: a complete crosstab, or with --by records."),
    ] = None,
    contributor: Annotated[str | None, typer.Option(help="Whose records belong together.")] = None,
    min_frequency: Annotated[
        int | None, typer.Option(min=1, help="Cells with fewer contributors are judged.")
    ] = None,
    zeros_primary: Annotated[bool, typer.Option(help="Whether 0 is sensitive too.")] = False,
    dominance: Pair = None,
    p_percent: Percent = None,
    pq: Pair = None,
    request: Percent = None,
    singletons: Annotated[
        bool, typer.Option(help="Whether a single contributor is sensitive.")
    ] = False,
    width: Annotated[
        float | None, typer.Option(min=0, help="How wide the interval of a judged cell must be.")
    ] = None,
    share: ShareOption = None,
    zeros: ZerosOption = None,
    insider: Annotated[
        bool, typer.Option(help="Try every contributor, who knows their own amount.")
    ] = False,
    by: By = None,
    value: Value = None,
    hierarchy: Hierarchies = None,
    html: Html = None,
    separator: Separator = ",",
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Compute what the suppressed cells of a table can be, and which are known too closely."""
    from divulge import tables
    from divulge.cli.run_context import set_run_conditions

    originals = [] if original is None else [original]
    files = [*published, *originals, *(path for _, path in _parse_hierarchies(hierarchy))]
    rules = tables.SensitivityRules(
        min_frequency=min_frequency,
        zeros_primary=zeros_primary,
        dominance=_parse_pair("--dominance", dominance, whole=True),
        p_percent=p_percent,
        pq=_parse_pair("--pq", pq),
        request=request,
        singletons=singletons,
    )
    _refuse_without_original({"--contributor": contributor, "--insider": insider}, original)
    with set_run_conditions(None, {"--html": html}, files, overwrite):
        table = None
        if original is not None:
            table = _read_table(original, by, value, contributor, hierarchy, separator)
        result = tables.audit(
            _read_published(published, by, value, hierarchy, separator),
            table,
            rules=rules,
            width=width,
            share=share,
            zeros=zeros,
            insider=insider,
        )
        crosstabs, sentences = result.intervals.crosstabs(), result.explain()
        reasons = [str(why) for why in result.intervals.disclosures()]
        _write_page(crosstabs, sentences, html, ", ".join(path.name for path in published))
    if json:
        with tolerate_closed_pipe():
            print_json({**result.to_dict(), "reasons": reasons})
    else:
        _print_crosstabs(crosstabs, sentences)
    raise typer.Exit(EXIT_CODES[result.status])


def _refuse_without_original(options: Mapping[str, object], original: Path | None) -> None:
    """Contributors are known from records only."""
    from divulge.work import Problems

    problems = Problems("tables audit")
    for option, content in options.items():
        if content and original is None:
            problems.add(option, "is of the records behind the table: give --original.")
    problems.raise_any()


def _refuse_beside_jj(options: Sequence[str]) -> None:
    """A JJ file says itself what is sensitive, by how much, and what cells cost."""
    from divulge.work import Problems

    problems = Problems("tables suppress")
    for option in options:
        problems.add(option, "a JJ file says this itself: leave the option out.")
    problems.raise_any()


def _read_table(
    source: Path,
    by: Sequence[str] | None,
    value: str | None,
    contributor: str | None,
    hierarchy: Sequence[str] | None,
    separator: str,
) -> Table:
    """A crosstab; or records, tabulated once for every --by and linked."""
    import divulge as dv

    tabulation = {"--value": value, "--contributor": contributor, "--hierarchy": hierarchy}
    _refuse_without_by(tabulation, by, "tables suppress")
    if not by:
        return dv.tables.read_complete_crosstab(source, separator)
    records = dv.read(source, hierarchies=dict(_parse_hierarchies(hierarchy)))
    tables = [
        dv.tables.Table.from_records(records, _split_names(names), value, contributor)
        for names in by
    ]
    return tables[0] if len(tables) == 1 else dv.tables.link(*tables)


def _read_published(
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
    levels = dict(_parse_hierarchies(hierarchy))
    published_tables = []
    for number, path in enumerate(paths):
        if path.suffix.lower() == ".jj":
            jj_file = tables.read_jj(path)
            published_tables.append(jj_file.table.publish(jj_file.primary))
        elif by:
            names = _split_names(by[number if len(by) > 1 else 0])
            mine = {name: levels[name] for name in names if name in levels}
            published_tables.append(tables.read_cells(path, names, value or "count", mine))
        else:
            published_tables.append(tables.read_crosstab(path, separator))
    return (
        published_tables[0]
        if len(published_tables) == 1
        else tables.link_published(*published_tables)
    )


def _refuse_without_by(
    options: Mapping[str, object], by: Sequence[str] | None, command: str
) -> None:
    """Options that say how records are tabulated, where there are none."""
    from divulge.work import Problems

    problems = Problems(command)
    for option, content in options.items():
        if content and not by:
            problems.add(option, "is of records or cells that --by names: give --by.")
    problems.raise_any()


def _split_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _parse_hierarchies(texts: Sequence[str] | None) -> list[tuple[str, Path]]:
    from divulge.work import Problems

    problems = Problems("tables")
    levels = []
    for text in texts or ():
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            problems.add("--hierarchy", f'"{text}" is not name=file, as in region=levels.csv.')
        levels.append((name, Path(path)))
    problems.raise_any()
    return levels


def _parse_pair(option: str, text: str | None, whole: bool = False) -> tuple[int, float] | None:
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


def _write_published(published: Published, out: Path | None) -> None:
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


def _write_page(
    tables: Sequence[Crosstab], sentences: Sequence[str], html: Path | None, name: str
) -> None:
    """The crosstabs and what is said of them in a page."""
    from divulge.tables.table.display import render_page
    from divulge.work import whole_file

    if html is not None:
        with whole_file(html) as part:
            part.write_text(render_page(name, sentences, tables), encoding="utf-8")


def _print_crosstabs(tables: Sequence[Crosstab], sentences: Sequence[str]) -> None:
    """The crosstabs and what is said of them on the terminal."""
    with tolerate_closed_pipe():
        for table in tables:
            if len(table.head) <= MOST_COLUMNS and len(table.rows) <= MOST_ROWS:
                print_text(table.to_text())
            else:
                print_sentence("tables.too_large")
        print_text("")
        for sentence in sentences:
            print_text(sentence)
