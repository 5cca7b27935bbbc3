"""`divulge protect`, `divulge suppress` and `divulge explain`: change the least, and say why."""

from __future__ import annotations

from collections.abc import Mapping
from json import loads as from_json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from divulge.cli.options import Attributes, Missing, OfRelease, Seconds, Weight
from divulge.cli.risk import read_records

if TYPE_CHECKING:
    import pyarrow as pa

FINE = 0

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Values = Annotated[bool, typer.Option(help="Let the log say what values were (confidential).")]
Overwrite = Annotated[bool, typer.Option(help="Replace files that exist; never an original.")]


def protect(
    release: Annotated[Path, typer.Argument(help="The release file (TOML).", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="A folder for protected data, decisions and report.")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="Write how values were recoded (CSV; confidential).")
    ] = None,
    values: Values = False,
    overwrite: Overwrite = False,
    json: Json = False,
    seconds: Seconds = None,
) -> None:
    """Change the data until every limit of a release holds, and attack them again."""
    from divulge.cli.running import conditions
    from divulge.cli.showing import print_json, say, shown
    from divulge.release import Release

    with conditions(seconds):
        loaded = Release.load(release)
        if mapping is not None:
            _refuse({"mapping": mapping}, release, overwrite)
        found = loaded.protect(out, overwrite, values, _report_into)
        if mapping is not None:
            _write_mapping([p.decisions.mapping() for p in found.records.values()], mapping)
    with shown():
        if json:
            print_json(found.to_dict())
        else:
            say(found)
            if out is not None:
                say(f"\nWhat may go out is in {out}; divulge explain record 1 --log {out}")


def _report_into(found: Any, folder: Path) -> None:
    from divulge.report import report
    from divulge.report.results import REPORT

    report(found, folder / REPORT)


def suppress(
    data: Annotated[
        Path, typer.Argument(help="A data file, or a release file (.toml).", show_default=False)
    ],
    quasi_identifier: Attributes = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many must look alike.")] = 3,
    nulls: Annotated[
        Literal["maybe", "standard", "value", "known", "bayes"],
        typer.Option(help="What a null may stand for."),
    ] = "maybe",
    subsets: Annotated[
        int | None, typer.Option(min=1, help="Every so many of the attributes, not all at once.")
    ] = None,
    never: Annotated[
        list[str] | None, typer.Option(help="An attribute that must not be touched; repeat.")
    ] = None,
    cells_per_record: Annotated[
        int | None,
        typer.Option(min=1, help="Hide at most so many cells of a record, if it can be."),
    ] = None,
    remove: Annotated[
        bool, typer.Option(help="Remove records that no suppression can protect.")
    ] = False,
    search: Annotated[
        Literal["fewest", "cycle"], typer.Option(help="The fewest cells, or record by record.")
    ] = "fewest",
    seed: Annotated[int | None, typer.Option(help="Of random choices; keep it secret.")] = None,
    weight: Weight = None,
    dataset: OfRelease = None,
    missing: Missing = None,
    out: Annotated[Path | None, typer.Option(help="Where the protected records go.")] = None,
    log: Annotated[Path | None, typer.Option(help="Where the decisions go (Parquet).")] = None,
    values: Values = False,
    overwrite: Overwrite = False,
    json: Json = False,
    seconds: Seconds = None,
) -> None:
    """Suppress as few cells of a file as let every record have k that look like it."""
    from divulge import protection
    from divulge.cli.running import conditions
    from divulge.cli.showing import print_json, say, shown

    with conditions(seconds):
        _refuse({"out": out, "log": log}, data, overwrite)
        held = read_records(data, dataset, quasi_identifier, weight, None, missing)
        found = protection.suppress(
            held,
            k,
            nulls,
            subsets=subsets,
            never=never or (),
            cells_per_record=cells_per_record,
            out_of_reach="remove" if remove else None,
            search=search,
            seed=seed,
        )
        if out is not None:
            found.write(out, overwrite)
        if log is not None:
            found.decisions.write(log, values)
    with shown():
        if json:
            print_json(found.to_dict())
        else:
            say(found)


def explain(
    what: Annotated[Literal["record"], typer.Argument(help="What to explain.")],
    number: Annotated[int, typer.Argument(min=1, help="Which record of the original, from 1.")],
    log: Annotated[
        Path, typer.Option(help="The log of decisions, or the folder that protect wrote.")
    ] = Path(),
    dataset: Annotated[
        str | None, typer.Option(help="Which dataset, if there are several.")
    ] = None,
    json: Json = False,
) -> None:
    """Explain the decisions on a record: what was changed, why, and what it did to the risk."""
    from divulge.cli.showing import print_json, say, shown

    decisions, of_all = _decisions(log, number - 1, dataset)
    with shown():
        if json:
            print_json({what: number, "decisions": decisions, "of_all": of_all})
            return
        for decision in decisions:
            say(decision["sentence"])
        for sentence in of_all:
            say(sentence)
        if not decisions and not of_all:
            say(f"Nothing was changed in record {number}.")


def _decisions(
    log: Path, record: int, dataset: str | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a log that are about a record: its own, and those of whole columns.

    And what was done to all records of its dataset at once.
    """
    import pyarrow.parquet as pq

    from divulge.release.writing import DECISIONS, OF_RELEASE
    from divulge.work import InvalidInput, Problem

    path = log / DECISIONS if log.is_dir() else log
    if not path.is_file():
        message = "there is no log of decisions; name it, or the folder that protect wrote."
        raise InvalidInput(str(path), [Problem("log", message)])
    try:
        table = pq.read_table(path)
        rows: list[dict[str, Any]] = table.to_pylist()
        told = from_json((table.schema.metadata or {}).get(OF_RELEASE, b"{}"))
    except Exception:
        # What Arrow says may quote what it stumbled over.
        raise InvalidInput(str(path), [Problem("log", "is not a log of decisions.")]) from None
    if rows and not {"record", "sentence", "dataset"} <= set(rows[0]):
        raise InvalidInput(str(path), [Problem("log", "is not a log of decisions.")])
    names = sorted({*(row["dataset"] for row in rows), *told})
    if dataset is not None and dataset not in names:
        message = f'no decision is on a dataset "{dataset}".'
        raise InvalidInput(str(path), [Problem("dataset", message, dataset, names)])
    asked = {name: of for name, of in told.items() if dataset in (None, name)}
    if asked and record >= (most := max(of["records"] for of in asked.values())):
        raise InvalidInput(str(path), [Problem("record", f"there are {most:,} records.")])
    here = [of for of in asked.values() if record < of["records"]]
    said = [sentence for of in here for sentence in of["said"]]
    said += [
        f"Replaced or removed in all records: {', '.join(of['names'])}."
        for of in here
        if of["names"]
    ]
    own = [
        row for row in rows if row["record"] in (None, record) and dataset in (None, row["dataset"])
    ]
    return own, said


def _write_mapping(tables: list[pa.Table], path: Path) -> None:
    import pyarrow as pa

    from divulge.data import Dataset

    whole = pa.concat_tables(tables) if tables else None
    if whole is not None and whole.num_rows:
        Dataset.from_arrow(whole).write(path)


def _refuse(places: Mapping[str, Path | None], data: Path, overwrite: bool) -> None:
    """Refuse, before anything is done, what would be written over an original or something else."""
    from divulge.release import Release
    from divulge.release.writing import originals_of
    from divulge.work import Problems

    originals = {data.resolve()}
    if data.suffix.lower() == ".toml":
        originals |= originals_of(Release.load(data))
    problems = Problems(str(data))
    for name, place in places.items():
        if place is None:
            continue
        if place.resolve() in originals:
            problems.add(name, "is an original, or the release; it is never overwritten.")
        elif place.exists() and not overwrite:
            problems.add(name, "exists already; give another name, or --overwrite.")
    if len({place.resolve() for place in places.values() if place is not None}) < sum(
        place is not None for place in places.values()
    ):
        problems.add("", "two results would go to the same file.")
    problems.raise_any()
