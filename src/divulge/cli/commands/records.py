"""The verbs on records: `divulge sweep` and `divulge attack`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from divulge.cli.attack_arguments import parse_gain, parse_targets
from divulge.cli.data_reader import DataReader, is_of_release, split_attributes
from divulge.cli.options import Overwrite, Person, StopAfter
from divulge.cli.record_sources import (
    CountingEngine,
    MemoryLimit,
    Source,
    list_source_files,
    read_dataset,
    read_source,
)
from divulge.cli.record_tables import RecordId, write_by_engine, write_record_table

if TYPE_CHECKING:
    pass

Sources = Annotated[
    list[str],
    typer.Argument(
        help="The data file, or a release file (release.toml#dataset); several for a longitudinal "
        "model, the focal one first. Also a folder, a pattern in quotation marks, or a Spark "
        "Connect server (sc://host:port)."
    ),
]
Knows = Annotated[
    list[str] | None,
    typer.Option(
        "--knows",
        help="An attribute that the adversary knows, or several as age,sex; repeat.",
    ),
]
Seeks = Annotated[
    list[str] | None,
    typer.Option(
        "--seeks",
        help="An attribute that the adversary seeks, or several as income,job; repeat.",
    ),
]
Weight = Annotated[str | None, typer.Option(help="The attribute with the sampling weights.")]
AllRecordsKnown = Annotated[
    str,
    typer.Option(
        "--records-known", help="Which records of a person the adversary knows: one, or all."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def sweep(
    source: Source,
    reader: DataReader,
    knows: Knows = None,
    seeks: Seeks = None,
    size: Annotated[
        int | None, typer.Option(min=1, help="The largest number of attributes in a set.")
    ] = None,
    weight: Weight = None,
    person: Person = None,
    records_known: AllRecordsKnown = "one",
    engine: CountingEngine = None,
    memory_limit: MemoryLimit = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for the whole table (.csv, .parquet, ...).")
    ] = None,
    chart: Annotated[Path | None, typer.Option(help="A file for the chart (.svg, .png).")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="A folder from which an interrupted sweep resumes.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Assess every set of attributes that an adversary might know."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.records import sweep as swept

    outputs = {"--out": out, "--chart": chart}
    with set_run_conditions(stop_after, outputs, list_source_files([source]), overwrite, resume):
        holding, counting = _split_engine(source, engine)
        roles = {"quasi_identifier": knows, "sensitive": seeks, "weight": weight, "person": person}
        dataset = read_source(reader, source, roles, engine=holding, limit=memory_limit)
        sought = (
            split_attributes(seeks, dataset.names)
            if seeks
            else dataset.dictionary.having("sensitive")
        )
        result = swept(
            dataset,
            split_attributes(knows, dataset.names) if knows else None,
            sought,
            size,
            counting,
            records_known=records_known,  # type: ignore[arg-type]  # checked by the sweep
        )
        if out is not None:
            _write_table(result.to_arrow(), out)
        if chart is not None:
            result.chart(sought[0] if sought else None).save(chart)
    _print_result(result, json)


def attack(
    sources: Sources,
    reader: DataReader,
    model: Annotated[
        str, typer.Option(help="The attack model, by acronym or everyday name.")
    ] = "CRS",
    knows: Knows = None,
    seeks: Seeks = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="What is known about one person, as attribute=value; may be repeated. For the "
            "second dataset, 2:attribute=value or 2:absent."
        ),
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="Everybody who might be in the release (a data file).")
    ] = None,
    release: Annotated[
        list[Path] | None,
        typer.Option(
            help="The protected version (a data file); with several datasets, one for each."
        ),
    ] = None,
    on: Annotated[
        str | None, typer.Option(help="The id that links several datasets, or a protected version.")
    ] = None,
    duplicates: Annotated[
        str, typer.Option(help="What to do with an id that occurs twice: error, first or random.")
    ] = "error",
    seed: Annotated[int, typer.Option(help="The seed of the random choice.")] = 0,
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior",
            "--weight",
            help="The attribute that says how likely each record is the target.",
        ),
    ] = None,
    gain: Annotated[
        list[str] | None,
        typer.Option(help="What guesses are worth: guesses=3, within=5, worth=yes:10 or wrong=1."),
    ] = None,
    person: Person = None,
    records_known: AllRecordsKnown = "one",
    by: Annotated[
        str | None, typer.Option(help="Also show who bears the risk, by this attribute.")
    ] = None,
    engine: CountingEngine = None,
    memory_limit: MemoryLimit = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for the risk of each record (.csv, .parquet).")
    ] = None,
    id_: RecordId = None,
    chart: Annotated[Path | None, typer.Option(help="A file for the chart (.svg, .png).")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Attack records with knowledge of some attributes."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.records import attack as attacked

    outputs = {"--out": out, "--chart": chart}
    with set_run_conditions(
        stop_after,
        outputs,
        [*list_source_files(sources), population, *(release or ())],
        overwrite,
    ):
        _require_distinct_files(sources)
        datasets = [
            read_source(reader, source, {"person": person}, engine=engine, limit=memory_limit)
            for source in sources
        ]
        attribute_names = dict.fromkeys(name for each in datasets for name in each.names)
        result: Any = attacked(
            datasets,
            model,
            split_attributes(knows, attribute_names) if knows else None,
            split_attributes(seeks, attribute_names) if seeks else None,
            target=parse_targets(target, datasets) if target else None,
            population=read_dataset(reader, population) if population else None,
            on=on,
            prior=prior,
            gain=parse_gain(gain) if gain else None,
            release=[read_dataset(reader, each) for each in release] if release else None,
            duplicates=duplicates,  # type: ignore[arg-type]  # checked by the attack
            seed=seed,
            records_known=records_known,  # type: ignore[arg-type]  # checked by the attack
        )
        if out is not None and result.stays_elsewhere:
            write_by_engine(result.write_risk, out, id_, overwrite)
        elif out is not None or id_ is not None:
            import pyarrow as pa

            risk = pa.table({"risk": result.risk()})
            write_record_table(risk, datasets[0], out, id_)
        if chart is not None:
            result.chart().save(chart)
        groups = None if by is None else result.by(by)
    if json:
        _print_result(result if groups is None else groups, json)
        return
    _print_result(result, json)
    if groups is not None:
        _print_result(groups, json)


def _require_distinct_files(sources: list[str]) -> None:
    from divulge.work import Problems

    problems = Problems("attack")
    for place, source in enumerate(sources):
        if Path(source).resolve() in [Path(other).resolve() for other in sources[:place]]:
            problems.add(f"dataset {place + 1}", f'file "{Path(source).name}" is given twice.')
    problems.raise_any()


def _split_engine(source: str, engine: str | None) -> tuple[str | None, str]:
    """Who holds the records, and who counts sets of them.

    What DuckDB cannot count where it is, it counts when it has been read: slowly, and on disk.
    """
    from divulge.data.relation.lake_scan import expand_place, is_scannable

    if is_of_release(source):
        return "memory", engine or "auto"
    if engine in ("cube", "memory"):
        return "memory", "memory"
    if engine == "duckdb" and not is_scannable(expand_place(source)):
        return "memory", "duckdb"
    return engine, "auto"


def _write_table(table: Any, out: Path) -> None:
    """The table of a sweep; only Parquet holds lists, elsewhere names are joined by plus signs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from divulge.data import Dataset
    from divulge.work import whole_file

    if out.suffix.lower() == ".parquet":
        with whole_file(out) as part:
            pq.write_table(table, part)
        return
    joined_names = [" + ".join(names) for names in table["knows"].to_pylist()]
    Dataset.from_arrow(table.set_column(0, "knows", pa.array(joined_names))).write(out)


def _print_result(result: Any, json: bool) -> None:
    from divulge.cli.output import print_json, print_text, tolerate_closed_pipe

    with tolerate_closed_pipe():
        if json:
            print_json(result.to_dict())
        else:
            print_text(result)
