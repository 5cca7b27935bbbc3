"""The page of a report: laid out here; its sentences and charts come from the parts."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.assessment.sentence import number, percent
from divulge.work import version, whole_file

if TYPE_CHECKING:
    from jinja2 import Template

    from divulge.assessment import Details
    from divulge.release import Verdict


def report(verdict: Verdict, path: Path | str) -> None:
    """Write the report of a verdict as one HTML file that needs nothing from outside."""
    with whole_file(path) as part:
        part.write_text(page(verdict), encoding="utf-8")


def page(verdict: Verdict) -> str:
    """The report as HTML text."""
    return _template().render(
        verdict=verdict,
        style=_resource("report.css"),
        overview=_picture(verdict.chart()) if verdict.assessments else None,
        charts=[_picture(a.chart()) if a.has_chart else None for a in verdict.assessments],
        details=[_details(a.details()) for a in verdict.assessments],
        version=version(),
        made=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


@lru_cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters.update(percent=percent, number=number)
    return environment.from_string(_resource("report.html.jinja"))


def _resource(name: str) -> str:
    return (resources.files("divulge.report") / name).read_text(encoding="utf-8")


def _details(details: Details | None) -> dict[str, Any] | None:
    if details is None:
        return None
    return {"table": details, "charts": [_picture(chart) for chart in details.charts]}


def _picture(chart: Any) -> dict[str, str]:
    return {"svg": chart.svg(), "description": chart.description}
