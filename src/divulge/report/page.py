"""The page of a report: laid out here; its sentences and charts come from the parts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from divulge.assessment.drawing import ChartNotDrawn
from divulge.assessment.sentence import (
    Sentence,
    format_number,
    format_percent,
    load_catalogue,
    read_phrases,
)
from divulge.release.charts import rank_assessments
from divulge.release.overview.exposure import find_exposure
from divulge.release.overview.findings import (
    describe_verdict,
    list_findings,
    list_open_questions,
)
from divulge.release.overview.next_step import NextStep, find_next_steps, list_advice
from divulge.work import translate_message, version, whole_file

if TYPE_CHECKING:
    from jinja2 import Template

    from divulge.assessment import Assessment, Details
    from divulge.data import Dataset
    from divulge.protection import Protected, RiskUtilityMap
    from divulge.release import ProtectedRelease, Verdict

CATALOGUE = "divulge.report"

# A page is read by people: the log has all decisions.
MOST_DECISIONS = 50

MOST_TABLE_ROWS = 40
"""Numbers of a chart that stand beside it as a table."""

ReportSubject: TypeAlias = "Verdict | ProtectedRelease | Protected | RiskUtilityMap"
"""What a report can be written of."""


def report(
    found: ReportSubject,
    path: Path | str,
    overwrite: bool = False,
    *,
    frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None = None,
) -> None:
    """Write the report of a verdict, a protection or a map as one HTML file.

    It needs nothing outside.

    A file that exists is replaced only with `overwrite`. With the map of other ways as `frontier`,
    or several of them, a section on its dataset shows those that are efficient.
    """
    from divulge.protection import RiskUtilityMap
    from divulge.release import Verdict

    if isinstance(found, Verdict):
        text = page(found)
    elif isinstance(found, RiskUtilityMap):
        text = map_page(found)
    else:
        text = protection_page(found, frontier)
    with whole_file(path, overwrite) as part:
        part.write_text(text, encoding="utf-8")


def page(verdict: Verdict, steps: Sequence[NextStep] | None = None) -> str:
    """The report as HTML text; what to do next is worked out, unless it was already."""
    steps = find_next_steps(verdict) if steps is None else steps
    ranked = rank_assessments(verdict)
    exposed = [find_exposure(verdict, each) for each in ranked]
    return _load_template().render(
        **_read_words("report"),
        verdict=verdict,
        status=_say(f"status.{verdict.status}"),
        style=_read_resource("report.css"),
        sentence=describe_verdict(verdict),
        findings=list_findings(verdict),
        advice=list_advice(verdict, steps),
        open_questions=list_open_questions(verdict),
        labels={name: _list_labels(dataset) for name, dataset in verdict.datasets.items()},
        assessments=ranked,
        goals={a.adversary: _name_goal(a) for a in ranked},
        overview=_render_chart(verdict.chart()) if ranked else None,
        charts=[_render_chart(a.chart()) if a.has_chart else None for a in ranked],
        details=[_render_details(a.details()) for a in ranked],
        exposed=exposed,
        exposed_charts=[None if e is None else _render_chart(e.chart()) for e in exposed],
        rules_head=read_phrases("divulge.release", "rules.head"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def _list_labels(dataset: Dataset) -> dict[str, str]:
    """What attributes are called in words, where somebody said it."""
    attributes = {name: dataset.dictionary[name] for name in dataset.names}
    return {name: each.description for name, each in attributes.items() if each.description}


def _name_goal(assessment: Assessment) -> str:
    """What an adversary is after, in a few words; the name of the attack where nothing is known."""
    names = load_catalogue(CATALOGUE)
    model = assessment.model[1:2] if len(assessment.model) == 3 else ""
    for key in (f"{assessment.attack}.{model}", f"{assessment.attack}.any"):
        if f"report.goal.{key}" in names:
            return _say(f"report.goal.{key}", seeks=list(assessment.seeks) or [""])
    return assessment.attack


def protection_page(
    result: ProtectedRelease | Protected,
    frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None = None,
) -> str:
    """The report of a protection as HTML text, perhaps with the efficient ways of a map."""
    from divulge.protection import Protected, RiskUtilityMap
    from divulge.protection.changes.decision_log import describe_decision
    from divulge.protection.result.change_summary import (
        list_changes_by_attribute,
        list_changes_by_reason,
        read_change_heads,
    )
    from divulge.protection.result.recoding_summary import read_summary_head
    from divulge.protection.result.utility_map import read_map_head

    if isinstance(result, Protected):
        title, parts = result.original.name, {result.original.name: result}
        others, verdicts, refills = {}, None, {}
    else:
        title, parts = result.release.name, dict(result.records)
        others = {name: part for name, part in result.parts.items() if name not in parts}
        verdicts, refills = (result.before, result.after), dict(result.after.refills)
    maps = [frontier] if isinstance(frontier, RiskUtilityMap) else list(frontier or ())
    methods = {name: part.method for name, part in parts.items() if part.method is not None}
    summaries = {name: part.recoding for name, part in parts.items()}
    recodings = {name: found for name, found in summaries.items() if found is not None}
    return _load_template("protection.html.jinja").render(
        **_read_words("protection"),
        in_words=describe_decision,
        title=title,
        sentences=result.explain(),
        parts=parts,
        change_heads=read_change_heads(),
        by_attribute={name: list_changes_by_attribute(part) for name, part in parts.items()},
        by_reason={name: list_changes_by_reason(part) for name, part in parts.items()},
        others=others,
        charts={name: _render_chart(part.chart()) for name, part in parts.items()},
        verdicts=verdicts,
        recodings=recodings,
        recoding_charts={name: _render_chart(found.chart()) for name, found in recodings.items()},
        recoding_head=read_summary_head(),
        maps=[(each, _render_chart(each.chart())) for each in maps],
        map_head=read_map_head(),
        methods=methods,
        method_charts={name: _render_chart(found.chart()) for name, found in methods.items()},
        method_head=read_phrases("divulge.protection", "method.head"),
        refills=refills,
        refill_charts={name: _render_chart(found.chart()) for name, found in refills.items()},
        refill_head=read_phrases("divulge.protection", "refill.head"),
        shown=MOST_DECISIONS,
        style=_read_resource("report.css"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def map_page(comparison: RiskUtilityMap) -> str:
    """The report of a risk-utility map as HTML text."""
    from divulge.protection.result.utility_map import read_map_head

    return _load_template("map.html.jinja").render(
        **_read_words("map"),
        title=comparison.dataset,
        sentences=comparison.sentences(),
        chart=_render_chart(comparison.chart()),
        head=read_map_head(),
        rows=comparison.rows(),
        style=_read_resource("report.css"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


@lru_cache
def _load_template(name: str = "report.html.jinja") -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(_read_resource)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, loader=loader
    )
    environment.filters.update(percent=format_percent, number=format_number)
    return environment.get_template(name)


def _read_words(page: str) -> dict[str, Any]:
    """What a page says itself: its texts, those with values in them, and how to read it."""
    text = load_catalogue(CATALOGUE)
    reading = [pair for key, pair in text.items() if key.startswith(f"{page}.reading.")]
    return {"text": text, "say": _say, "reading": reading}


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, key, values))


def _read_resource(name: str) -> str:
    return (resources.files("divulge.report") / name).read_text(encoding="utf-8")


def _render_details(details: Details | None) -> list[dict[str, Any]]:
    if details is None:
        return []
    return [
        {"table": part, "charts": [_render_chart(chart) for chart in part.charts]}
        for part in (details, *details.more)
    ]


def _render_chart(chart: Any) -> dict[str, Any]:
    """The chart for the page, or the reason why there is none: the figures do not depend on it."""
    try:
        svg, reason = chart.svg(), None
    except ChartNotDrawn as problem:
        svg, reason = None, translate_message(problem.reason)
    return {"svg": svg, "reason": reason, "description": chart.description, **_tabulate(chart)}


def _tabulate(chart: Any) -> dict[str, Any]:
    """The numbers of a chart as a table; nothing where they are too many to be read."""
    records = list(chart.records)
    if not 0 < len(records) <= MOST_TABLE_ROWS:
        return {"head": [], "rows": []}
    head = list(records[0])
    rows = [[_format_cell(record.get(name)) for name in head] for record in records]
    return {"head": head, "rows": rows}


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return format_number(value) if is_number else str(value)
