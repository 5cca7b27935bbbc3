"""`divulge risk` and `divulge suda`: the risk of each record of a file or a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from divulge.cli.data_reader import DataReader, split_attributes
from divulge.cli.help_pages import CommandPage
from divulge.cli.options import (
    AtLeast,
    AtMost,
    Attributes,
    By,
    ChartFile,
    Data,
    Household,
    Json,
    Out,
    Overwrite,
    Person,
    Resume,
    StopAfter,
    Weight,
    check_share,
)
from divulge.cli.record_sources import (
    CountingEngine,
    MemoryLimit,
    Source,
    list_source_files,
    read_source,
)
from divulge.cli.record_tables import RecordId, write_by_engine, write_record_table

if TYPE_CHECKING:
    from divulge.data import Dataset

FINE, LIMIT_FAILS = 0, 1

OPTION_NAMES = {
    "dataset": "--original or --population",
    "knows": "--quasi-identifier",
    "seeks": "--sensitive",
}
"""What settings of an adversary are called here."""

OWN_OPTIONS = ("method", "nulls", "count")
"""Options of measures with an option of their own here; for others there is `--set`."""


class RiskCommand(CommandPage):
    """A command whose page of help names the measures and their options as they are registered.

    The registry is loaded for that page alone, so that all other help stays light.
    """

    parameter_templates: ClassVar[dict[str, str]] = {
        "measure": "The measure of risk: {0}.",
        "method": "How individual risk is estimated: {0}.",
        "nulls": "How missing values are read: {0}.",
        "setting": "A further setting, as name=value: {0}.",
    }

    def list_contents(self) -> dict[str, str]:
        """What is registered."""
        return _list_measures()


def risk(
    data: Source,
    reader: DataReader,
    quasi_identifier: Attributes = None,
    measure: Annotated[str, typer.Option(help="The measure of risk.")] = "individual_risk",
    sensitive: Annotated[
        str | None, typer.Option(help="The sensitive attribute, for measures that need one.")
    ] = None,
    method: Annotated[str, typer.Option(help="How individual risk is estimated.")] = "approximate",
    nulls: Annotated[str, typer.Option(help="How missing values are read.")] = "bayes",
    count: Annotated[
        str, typer.Option(help="What classes count: records, or the population by weights.")
    ] = "records",
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A further setting, as name=value."),
    ] = None,
    weight: Weight = None,
    household: Household = None,
    person: Person = None,
    original: Annotated[
        Path | None, typer.Option(help="The same records before protection or masking.")
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="A list of the population (journalist, k_map, ...).")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="A record with a higher risk is at risk.")
    ] = 0.2,
    engine: CountingEngine = None,
    memory_limit: MemoryLimit = None,
    by: By = None,
    at_most: AtMost = None,
    at_least: AtLeast = None,
    out: Out = None,
    id_: RecordId = None,
    chart: ChartFile = None,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Measure the risk that each record's owner is found, or what similar records disclose."""
    from divulge import records
    from divulge.cli.run_context import set_run_conditions
    from divulge.data import Relation
    from divulge.data.missing_kinds import separate_missing_kinds
    from divulge.records.risk.request import assess_risk, measure_risk
    from divulge.work import InvalidInput, Problem

    settings = {
        "measure": measure,
        "seeks": sensitive,
        "method": method,
        "nulls": nulls,
        "count": count,
        "threshold": threshold,
        **dict(_parse_setting(each) for each in setting or ()),
    }
    outputs = {"--out": out, "--chart": chart}
    with set_run_conditions(
        stop_after, outputs, [*list_source_files([data]), original, population], overwrite
    ):
        beside = original or population
        roles = {
            "quasi_identifier": quasi_identifier,
            "weight": weight,
            "household": household,
            "person": person,
        }
        if beside is None:
            loaded = read_source(reader, data, roles, engine=engine, limit=memory_limit)
        elif engine in (None, "auto", "memory"):
            loaded = separate_missing_kinds(reader.read(Path(data), roles, alone=False))
        else:
            message = "counts one dataset; what is compared with another is read into memory."
            raise InvalidInput("divulge risk", [Problem("--engine", message)])
        other = None
        if beside is not None:
            other = separate_missing_kinds(reader.read(beside, alone=False))
        knows = quasi_identifier and split_attributes(quasi_identifier, loaded.names)
        question = _build_question({**settings, "knows": knows}, 1 + (other is not None))
        result = measure_risk(question, loaded, other)
        if isinstance(result, records.RecordRisk):
            check_share("--at-most", at_most)
        assessment = assess_risk(result, threshold)
        summary, sentences = result.summary(), assessment.explain()
        if isinstance(result, records.RecordRisk):
            summary = result.summary(threshold)
        if "alone_maybe" in summary:
            known_original = other if population is None else None
            frequencies = records.frequencies(
                loaded,
                _choose_semantics(nulls, known_original),
                among=question.knows,
                original=known_original,
            )
            summary = {**summary, "frequencies": frequencies.to_dict()}
            # The claim comes last, and what both say is said once.
            sentences = list(dict.fromkeys([*map(str, frequencies.sentences()), *sentences]))
        if chart is not None:
            result.chart().save(chart)
        if isinstance(loaded, Relation):
            write_by_engine(_find_writer(result), out, id_, overwrite)
        else:
            write_record_table(result.to_arrow(), loaded, out, id_)
        groups = result.by(by) if by else None
    _print_summary({**summary, "sentences": sentences}, sentences, groups, json)
    figure = _find_worst_figure(result)
    fails = (at_most is not None and figure > at_most) or (
        at_least is not None and figure < at_least
    )
    raise typer.Exit(LIMIT_FAILS if fails else FINE)


def suda(
    data: Data,
    reader: DataReader,
    quasi_identifier: Attributes = None,
    max_size: Annotated[
        int | None,
        typer.Option(min=1, help="The largest number of attributes in a minimal sample unique."),
    ] = None,
    sampling_fraction: Annotated[
        float, typer.Option(help="The share of the population that is in the file.")
    ] = 0.01,
    nulls: Annotated[
        str,
        typer.Option(
            help="How missing values are read: maybe (any value) or value (a value of its own; the "
            "default, unless values are hidden).",
            show_default=False,
        ),
    ] = "bayes",
    by: By = None,
    at_most: AtMost = None,
    out: Out = None,
    id_: RecordId = None,
    chart: ChartFile = None,
    resume: Resume = None,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Find special uniques: minimal sample uniques, SUDA and DIS-SUDA scores."""
    from divulge import records
    from divulge.cli.output import build_sentence
    from divulge.cli.run_context import set_run_conditions
    from divulge.data.missing_kinds import separate_missing_kinds

    outputs = {"--out": out, "--chart": chart}
    check_share("--at-most", at_most)
    check_share("--sampling-fraction", sampling_fraction)
    with set_run_conditions(stop_after, outputs, [data], overwrite, resume):
        roles = {"quasi_identifier": quasi_identifier}
        loaded = separate_missing_kinds(reader.read(data, roles))
        scores = records.suda(loaded, max_size, sampling_fraction, nulls=nulls)  # type: ignore[arg-type]  # checked there
        sentences = scores.explain()
        sentences += [
            build_sentence("suda.contribution", attribute=name, share=share)
            for name, share in sorted(scores.contributions().items(), key=lambda each: -each[1])
        ]
        if chart is not None:
            scores.chart().save(chart)
        write_record_table(scores.to_arrow(), loaded, out, id_)
        groups = scores.by(by) if by else None
    _print_summary(scores.to_dict(), sentences, groups, json)
    highest = float(scores.dis.max())
    raise typer.Exit(LIMIT_FAILS if at_most is not None and highest > at_most else FINE)


def _list_measures() -> dict[str, str]:
    """The measures, and what the options of `divulge risk` take."""
    from divulge.records.risk.options import OneOf, ValueList
    from divulge.records.risk.registry import MEASURES, gather_settings

    settings = gather_settings()
    names = [
        f"{name} (or {', '.join(spec.aliases)})" if spec.aliases else name
        for name, spec in MEASURES.items()
        if not spec.needs_function
    ]
    words = {name: option.words for name, option in settings.items() if isinstance(option, OneOf)}
    # A list is not one value; releases and Python take it.
    more = [
        name
        for name, option in settings.items()
        if name not in OWN_OPTIONS and not isinstance(option, ValueList)
    ]
    return {
        "measure": ", ".join(names),
        "method": ", ".join(words["method"]),
        "nulls": ", ".join(words["nulls"]),
        "setting": ", ".join(more),
    }


def _build_question(settings: dict[str, Any], datasets: int) -> Any:
    """What is asked, with all that is wrong with it said in the words of the command line."""
    from pydantic import ValidationError

    from divulge.records.risk.request import FullRiskRequest, problems_with_request
    from divulge.release.release_file.parse import translate_errors
    from divulge.work import InvalidInput

    try:
        question = FullRiskRequest.model_validate(settings)
    except ValidationError as error:
        problems = list(translate_errors(error, FullRiskRequest, settings))
        raise InvalidInput("divulge risk", problems) from None
    problems = [
        replace(each, place=OPTION_NAMES.get(each.place, each.place))
        for each in problems_with_request(question, datasets)
    ]
    if problems:
        raise InvalidInput("divulge risk", problems)
    return question


def _parse_setting(text: str) -> tuple[str, str]:
    from divulge.work import InvalidInput, Problem

    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInput("divulge risk", [Problem("set", f'"{text}" is not name=value.')])
    return name.strip(), value.strip()


def _choose_semantics(nulls: str, original: Dataset | None) -> Any:
    """The semantics of the frequencies beside a risk; those of an original need one."""
    return "bayes" if nulls == "known" and original is None else nulls


def _find_writer(result: Any) -> Any:
    """How an engine writes figures of single records; measures of classes have none."""

    def refuse(out: Path, id_: str, overwrite: bool) -> None:  # noqa: ARG001  # as those that write
        from divulge.work import InvalidInput, Problem

        message = "this measure gives no figure for each record where records stay elsewhere."
        raise InvalidInput("divulge risk", [Problem("--out", message)])

    return getattr(result, "write", refuse)


def _find_worst_figure(result: Any) -> float:
    """The figure that a bound is held against: of the worst record, or of the worst class."""
    from divulge import records

    if isinstance(result, records.ClassMeasure):
        return result.value
    if isinstance(result, records.Frequencies):
        return result.smallest
    highest = result.highest if isinstance(result, records.RecordRisk) else result.risk().highest
    return float(highest)


def _print_summary(summary: dict[str, Any], sentences: list[str], groups: Any, json: bool) -> None:
    from divulge.cli.output import print_json, print_text, tolerate_closed_pipe

    with tolerate_closed_pipe():
        if json:
            print_json({**summary, **({"by": groups.to_dict()} if groups is not None else {})})
            return
        for sentence in sentences:
            print_text(sentence)
        if groups is not None:
            print_text(groups)
