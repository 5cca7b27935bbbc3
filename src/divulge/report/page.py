"""The page of a report: laid out here; its sentences and charts come from the parts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from divulge.assessment.sentence import read_phrases
from divulge.release.charts import rank_assessments
from divulge.release.overview.exposure import find_exposure
from divulge.release.overview.findings import (
    describe_verdict,
    list_findings,
    list_open_questions,
)
from divulge.release.overview.next_step import NextStep, find_next_steps, list_advice
from divulge.report.page_parts import (
    load_template,
    name_goal,
    read_resource,
    read_words,
    render_chart,
    render_phrase,
)
from divulge.work import version

if TYPE_CHECKING:
    from divulge.assessment import Details
    from divulge.data import Dataset
    from divulge.protection import Protected, RiskUtilityMap
    from divulge.release import ProtectedRelease, Verdict

# A page is read by people: the log has all decisions.
MOST_DECISIONS = 50


def page(verdict: Verdict, steps: Sequence[NextStep] | None = None) -> str:
    """The report as HTML text; what to do next is worked out, unless it was already."""
    steps = find_next_steps(verdict) if steps is None else steps
    ranked = rank_assessments(verdict)
    exposed = [find_exposure(verdict, each) for each in ranked]
    return load_template("report.html.jinja").render(
        **read_words("report"),
        verdict=verdict,
        status=render_phrase(f"status.{verdict.status}"),
        style=read_resource("report.css"),
        sentence=describe_verdict(verdict),
        findings=list_findings(verdict),
        advice=list_advice(verdict, steps),
        open_questions=list_open_questions(verdict),
        labels={name: _list_labels(dataset) for name, dataset in verdict.datasets.items()},
        assessments=ranked,
        goals={a.adversary: name_goal(a.attack, a.model, a.seeks) for a in ranked},
        overview=render_chart(verdict.chart()) if ranked else None,
        charts=[render_chart(a.chart()) if a.has_chart else None for a in ranked],
        details=[_render_details(a.details()) for a in ranked],
        exposed=exposed,
        exposed_charts=[None if e is None else render_chart(e.chart()) for e in exposed],
        rules_head=read_phrases("divulge.release", "rules.head"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def _list_labels(dataset: Dataset) -> dict[str, str]:
    """What attributes are called in words, where somebody said it."""
    attributes = {name: dataset.dictionary[name] for name in dataset.names}
    return {name: each.description for name, each in attributes.items() if each.description}


def protection_page(
    result: ProtectedRelease | Protected,
    frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None = None,
    *,
    values: bool = False,
) -> str:
    """The report of a protection as HTML text, perhaps with the efficient ways of a map.

    What values of attributes are is told only with `values`.
    """
    from divulge.protection import Protected, RiskUtilityMap
    from divulge.protection.changes.decision_log import describe_decision
    from divulge.protection.result.change_summary import read_change_heads
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
    return load_template("protection.html.jinja").render(
        **read_words("protection"),
        in_words=describe_decision,
        title=title,
        sentences=result.explain(),
        parts=parts,
        change_heads=read_change_heads(),
        changes={name: _list_changes(part, values=values) for name, part in parts.items()},
        others=others,
        charts={name: render_chart(part.chart()) for name, part in parts.items()},
        verdicts=verdicts,
        recodings=recodings,
        recoding_charts={name: render_chart(found.chart()) for name, found in recodings.items()},
        recoding_head=read_summary_head(),
        maps=[(each, render_chart(each.chart())) for each in maps],
        map_head=read_map_head(),
        methods=methods,
        method_charts={name: render_chart(found.chart()) for name, found in methods.items()},
        method_head=read_phrases("divulge.protection", "method.head"),
        refills=refills,
        refill_charts={name: render_chart(found.chart()) for name, found in refills.items()},
        refill_head=read_phrases("divulge.protection", "refill.head"),
        shown=MOST_DECISIONS,
        style=read_resource("report.css"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def _list_changes(part: Protected, *, values: bool) -> dict[str, Any]:
    """The tables of what was changed, variable by variable, and their chart."""
    from divulge.protection.result import change_summary as summary

    return {
        "chart": render_chart(part.comparison.chart()),
        "by_attribute": summary.list_changes_by_attribute(part),
        "by_value": {
            each.name: summary.list_changes_by_value(each, values)
            for each in part.comparison.attributes
        },
        "by_reason": summary.list_changes_by_reason(part),
        "of_moments": summary.list_changes_of_moments(part),
        "of_correlations": summary.list_changes_of_correlations(part),
        "of_regression": summary.list_changes_of_regression(part),
        "regression": summary.describe_regression(part),
    }


def map_page(comparison: RiskUtilityMap) -> str:
    """The report of a risk-utility map as HTML text."""
    from divulge.protection.result.utility_map import read_map_head

    return load_template("map.html.jinja").render(
        **read_words("map"),
        title=comparison.dataset,
        sentences=comparison.sentences(),
        chart=render_chart(comparison.chart()),
        head=read_map_head(),
        rows=comparison.rows(),
        style=read_resource("report.css"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def _render_details(details: Details | None) -> list[dict[str, Any]]:
    if details is None:
        return []
    return [
        {"table": part, "charts": [render_chart(chart) for chart in part.charts]}
        for part in (details, *details.more)
    ]
