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
from divulge.work import translate_message, version, whole_file

if TYPE_CHECKING:
    from jinja2 import Template

    from divulge.assessment import Details
    from divulge.protection import Protected, RiskUtilityMap
    from divulge.release import ProtectedRelease, Verdict

CATALOGUE = "divulge.report"

# A page is read by people: the log has all decisions.
MOST_DECISIONS = 50

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


def page(verdict: Verdict) -> str:
    """The report as HTML text."""
    return _load_template().render(
        **_read_words("report"),
        verdict=verdict,
        status=_say(f"status.{verdict.status}"),
        style=_read_resource("report.css"),
        overview=_render_chart(verdict.chart()) if verdict.assessments else None,
        charts=[_render_chart(a.chart()) if a.has_chart else None for a in verdict.assessments],
        details=[_render_details(a.details()) for a in verdict.assessments],
        rules_head=read_phrases("divulge.release", "rules.head"),
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def protection_page(
    result: ProtectedRelease | Protected,
    frontier: RiskUtilityMap | Sequence[RiskUtilityMap] | None = None,
) -> str:
    """The report of a protection as HTML text, perhaps with the efficient ways of a map."""
    from divulge.protection import Protected, RiskUtilityMap
    from divulge.protection.changes.decision_log import describe_decision
    from divulge.protection.result.recoding_summary import read_summary_head
    from divulge.protection.result.utility_map import read_map_head

    if isinstance(result, Protected):
        title, parts = result.original.name, {result.original.name: result}
        others, verdicts, refills = {}, None, {}
    else:
        title, parts = result.release.path.name, dict(result.records)
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
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters.update(percent=format_percent, number=format_number)
    return environment.from_string(_read_resource(name))


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


def _render_chart(chart: Any) -> dict[str, str | None]:
    """The chart for the page, or the reason why there is none: the figures do not depend on it."""
    try:
        return {"svg": chart.svg(), "reason": None, "description": chart.description}
    except ChartNotDrawn as problem:
        return {
            "svg": None,
            "reason": translate_message(problem.reason),
            "description": chart.description,
        }
