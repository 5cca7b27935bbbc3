"""`divulge protect`, `divulge suppress` and `divulge explain`: change the least, and say why."""

from __future__ import annotations

from functools import partial
from json import loads as from_json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from divulge.cli.data_reader import DataReader, add_roles
from divulge.cli.options import Attributes, Data, Overwrite, Pdf, StopAfter, TellParameters, Weight

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.protection import Protected, PublishedJudgement, RiskUtilityMap

EXIT_CODES = {"pass": 0, "fail": 1, "not judged": 3}

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Values = Annotated[bool, typer.Option(help="Let the log say what values were (confidential).")]


def protect(
    release: Annotated[Path, typer.Argument(help="The release file (TOML).", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder: release/ may be released, internal/ (results, decisions) stays."
        ),
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="Write how values were recoded (CSV; confidential).")
    ] = None,
    revises: Annotated[
        Path | None,
        typer.Option(
            help="The folder of an earlier protection that was published: its random choices are "
            "kept, and limits must hold for somebody who has both."
        ),
    ] = None,
    frontier: Annotated[
        bool,
        typer.Option(
            help="Compare with other ways to protect; the report shows those that are efficient."
        ),
    ] = False,
    values: Values = False,
    tell_parameters: TellParameters = False,
    pdf: Pdf = False,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Change the data until every limit of a release holds, and attack them again."""
    from divulge.cli.output import print_json, print_sentence, print_text, tolerate_closed_pipe
    from divulge.cli.run_context import set_run_conditions
    from divulge.release import Release
    from divulge.release.output.output_files import INTERNAL, RELEASE
    from divulge.report.editions.edition_files import EDITIONS

    with set_run_conditions(stop_after, {"--mapping": mapping}, [release], overwrite):
        loaded = Release.load(release)
        write_report = partial(
            _write_report, has_frontier=frontier, tell_parameters=tell_parameters, has_pdf=pdf
        )
        result = loaded.protect(out, overwrite, values, write_report, revises=revises)
        if mapping is not None:
            _write_mapping([p.decisions.mapping() for p in result.records.values()], mapping)
    passed = result.status == "pass"
    with tolerate_closed_pipe():
        if json:
            print_json(result.to_dict())
        else:
            print_text(result)
            if out is not None:
                print_text("")
                if passed:
                    print_sentence("protect.release", folder=out / RELEASE)
                print_sentence("protect.editions", folder=out / EDITIONS)
                print_sentence("protect.internal", folder=out / INTERNAL)
                print_sentence("protect.explain", folder=out)
    raise typer.Exit(EXIT_CODES[result.status])


def _write_report(
    result: Any, folder: Path, *, has_frontier: bool, tell_parameters: bool, has_pdf: bool = False
) -> None:
    from divulge.cli.output import build_sentence, print_pdf
    from divulge.report import report
    from divulge.report.editions.certificate_key import derive_certificate_key
    from divulge.report.editions.edition_files import write_editions
    from divulge.report.results import REPORT
    from divulge.work import InvalidInput

    maps = []
    for name, part in result.records.items() if has_frontier else ():
        try:
            maps.append(_map_ways(part))
        except InvalidInput as refusal:
            # The protection stands; what cannot be compared is said beside it.
            typer.echo(
                build_sentence("protect.no_frontier", dataset=name, reason=refusal), err=True
            )
    report(result, folder / REPORT, frontier=maps)
    key = derive_certificate_key(result.secret)
    write_editions(result, folder.parent, key, tell_parameters=tell_parameters)
    if has_pdf:
        print_pdf(folder.parent)


def _map_ways(protected: Protected) -> RiskUtilityMap:
    """Other ways to protect the same records, for what was asked for and for more and less."""
    from divulge.protection import risk_utility_map

    ks = sorted({2, 3, 5, 10, max(2, protected.k)})
    return risk_utility_map(protected.original, ks, among=protected.among)


def suppress(
    data: Data,
    reader: DataReader,
    quasi_identifier: Attributes = None,
    k: Annotated[int, typer.Option("-k", min=1, help="The smallest class size allowed.")] = 3,
    nulls: Annotated[
        Literal["maybe", "standard", "value", "known", "bayes"],
        typer.Option(help="What a null may stand for."),
    ] = "bayes",
    subsets: Annotated[
        int | None,
        typer.Option(min=1, help="Every subset of this many attributes, not all at once."),
    ] = None,
    never: Annotated[
        list[str] | None, typer.Option(help="An attribute that must not be touched; repeat.")
    ] = None,
    cells_per_record: Annotated[
        int | None,
        typer.Option(min=1, help="Suppress at most this many cells per record, if possible."),
    ] = None,
    suppression_limit: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of records that suppression may touch."),
    ] = 1.0,
    remove: Annotated[
        bool, typer.Option(help="Remove records that no suppression can protect.")
    ] = False,
    search: Annotated[
        Literal["fewest", "cycle"], typer.Option(help="The fewest cells, or record by record.")
    ] = "fewest",
    decoys: Annotated[
        float,
        typer.Option(min=0, max=10, help="Further cells suppressed at random, for each needed."),
    ] = 0.0,
    seed: Annotated[int | None, typer.Option(help="Of random choices; keep it secret.")] = None,
    weight: Weight = None,
    identifier: Annotated[
        list[str] | None, typer.Option(help="An attribute that names people; repeat.")
    ] = None,
    publish: Annotated[
        list[str] | None,
        typer.Option(help="An id of a person, household or group that goes out, as pseudonyms."),
    ] = None,
    unlisted: Annotated[
        Literal["drop", "non_identifying"] | None,
        typer.Option(help="What becomes of attributes without a role; not judged if not given."),
    ] = None,
    keep_order: Annotated[bool, typer.Option(help="Keep the order of the source.")] = False,
    accept_count_only: Annotated[
        bool, typer.Option(help="Accept that k holds only where hidden cells count as matches.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Where the protected records go.")] = None,
    log: Annotated[Path | None, typer.Option(help="Where the decisions go (Parquet).")] = None,
    values: Values = False,
    guard_formulas: Annotated[
        bool, typer.Option(help="Guard texts that a spreadsheet would run, in text files.")
    ] = True,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Suppress the fewest cells of a file that make every record k-anonymous."""
    from divulge import protection
    from divulge.cli.run_context import set_run_conditions
    from divulge.protection.result.published_columns import (
        list_unlisted_columns,
        refuse_unpublished,
    )

    with set_run_conditions(stop_after, {"--out": out, "--log": log}, [data], overwrite):
        records = reader.read(data, {"quasi_identifier": quasi_identifier, "weight": weight})
        records = add_roles(records, {"identifier": identifier}, keep=True)
        refuse_unpublished(never or (), records, publish=publish or (), unlisted=unlisted)
        undecided = list_unlisted_columns(records) if out and unlisted is None else []
        protected = protection.suppress(
            records,
            k,
            nulls,
            subsets=subsets,
            never=never or (),
            cells_per_record=cells_per_record,
            suppression_limit=suppression_limit,
            out_of_reach="remove" if remove else None,
            search=search,
            seed=seed,
            decoys=decoys,
        )
        judgement = protection.judge_published(
            protected,
            publish=publish or (),
            unlisted=unlisted,
            keep_order=keep_order,
            accept_count_only=accept_count_only,
        )
        is_refused = out is not None and (bool(undecided) or judgement.status != "pass")
        if out is not None and not is_refused:
            protected.write(
                out,
                overwrite,
                guard_formulas,
                publish=publish or (),
                unlisted=unlisted,
                keep_order=keep_order,
            )
        if log is not None and not is_refused:
            protected.decisions.write(log, values, overwrite)
    print_judged(protected, judgement, undecided, json)


def print_judged(
    protected: Protected, judgement: PublishedJudgement, undecided: list[str], json: bool
) -> NoReturn:
    """Say what was done and whether it holds as it would be published, and end with that."""
    from divulge.cli.output import print_json, print_sentence, print_text, tolerate_closed_pipe

    with tolerate_closed_pipe():
        if json:
            print_json({**protected.to_dict(), "published": judgement.to_dict()})
        else:
            print_text(protected)
            for sentence in judgement.sentences():
                print_text(str(sentence))
            if undecided:
                print_sentence("suppress.unlisted", names=undecided, count=len(undecided))
    failed = judgement.status == "fail"
    raise typer.Exit(EXIT_CODES["fail" if failed else "not judged" if undecided else "pass"])


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
    from divulge.cli.output import print_json, print_sentence, print_text, tolerate_closed_pipe

    decisions, of_all = _read_decisions(log, number - 1, dataset)
    with tolerate_closed_pipe():
        if json:
            print_json({what: number, "decisions": decisions, "of_all": of_all})
            return
        for decision in decisions:
            print_text(decision["sentence"])
        for sentence in of_all:
            print_text(sentence)
        if not decisions and not of_all:
            print_sentence("explain.unchanged", record=number)


def _read_decisions(
    log: Path, record: int, dataset: str | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a log that are about a record: its own, and those of whole columns.

    And what was done to all records of its dataset at once.
    """
    import pyarrow.parquet as pq

    from divulge.cli.output import build_sentence
    from divulge.release.output.output_files import METADATA_KEY
    from divulge.work import Interruption, InvalidInput, Problem, format_quantity, input_file

    path = _find_log(log) if log.is_dir() else log
    if not path.is_file():
        message = "there is no log of decisions; name it, or the folder that protect wrote."
        raise InvalidInput(str(path), [Problem("log", message)])
    try:
        table = pq.read_table(input_file(path))
        rows: list[dict[str, Any]] = table.to_pylist()
        summaries = from_json((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
        sound = all(map(_is_decision, rows)) and all(map(_is_dataset_summary, summaries.values()))
    except Interruption:
        raise
    except Exception:
        # What Arrow says may quote what it stumbled over.
        sound = False
    if not sound:
        raise InvalidInput(str(path), [Problem("log", "is not a log of decisions.")])
    names = sorted({*(row["dataset"] for row in rows), *summaries})
    if dataset is not None and dataset not in names:
        message = f'no decision is on a dataset "{dataset}".'
        raise InvalidInput(str(path), [Problem("dataset", message, dataset, names)])
    chosen = {name: summary for name, summary in summaries.items() if dataset in (None, name)}
    if chosen and record >= (most := max(summary["records"] for summary in chosen.values())):
        message = f"the dataset has {format_quantity(most, 'record', 'records')}."
        raise InvalidInput(str(path), [Problem("record", message)])
    containing = [summary for summary in chosen.values() if record < summary["records"]]
    sentences = [sentence for summary in containing for sentence in summary["said"]]
    sentences += [
        build_sentence("explain.columns", names=summary["names"])
        for summary in containing
        if summary["names"]
    ]
    own = [
        row for row in rows if row["record"] in (None, record) and dataset in (None, row["dataset"])
    ]
    return own, sentences


def _is_decision(row: dict[str, Any]) -> bool:
    texts = isinstance(row["sentence"], str) and isinstance(row["dataset"], str)
    return texts and (row["record"] is None or isinstance(row["record"], int))


def _is_dataset_summary(summary: Any) -> bool:
    lists = (summary["said"], summary["names"])
    texts = all(isinstance(each, list) and all(map(_is_text, each)) for each in lists)
    return texts and isinstance(summary["records"], int)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _find_log(folder: Path) -> Path:
    """The log in what protect wrote, which must be whole, or in its internal folder."""
    from divulge.release.output.output_files import DECISIONS, INTERNAL
    from divulge.work import require_whole

    if (folder / INTERNAL).is_dir():
        return require_whole(folder) / INTERNAL / DECISIONS
    return folder / DECISIONS


def _write_mapping(tables: list[pa.Table], path: Path) -> None:
    import pyarrow as pa

    from divulge.data import Dataset
    from divulge.work import whole_file, writing_at_once

    whole = pa.concat_tables(tables) if tables else None
    if whole is not None and whole.num_rows:
        with whole_file(path, private=True) as part, writing_at_once():
            Dataset.from_arrow(whole).write(part)
