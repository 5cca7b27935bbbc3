"""What every page is made of: its template, its words, and charts with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from divulge.assessment.drawing import ChartNotDrawn
from divulge.assessment.sentence import Sentence, format_number, format_percent, load_catalogue
from divulge.report.chart_downloads import build_downloads, compact_svg
from divulge.work import translate_message

if TYPE_CHECKING:
    from jinja2 import Template

CATALOGUE = "divulge.report"

MOST_TABLE_ROWS = 40
"""Numbers of a chart that stand beside it as a table."""


@lru_cache
def load_template(name: str) -> Template:
    """A template of this package, which may take macros from others."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(read_resource)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, loader=loader
    )
    environment.filters.update(percent=format_percent, number=format_number)
    return environment.get_template(name)


def read_words(page: str) -> dict[str, Any]:
    """What a page says itself: its texts, those with values in them, and how to read it."""
    text = load_catalogue(CATALOGUE)
    reading = [pair for key, pair in text.items() if key.startswith(f"{page}.reading.")]
    return {"text": text, "say": render_phrase, "reading": reading}


def render_phrase(key: str, **values: Any) -> str:
    """Something that a page says itself, in words."""
    return str(Sentence(CATALOGUE, key, values))


def read_resource(name: str) -> str:
    """A text of this package: a template, or how pages look."""
    return (resources.files("divulge.report") / name).read_text(encoding="utf-8")


def render_chart(chart: Any) -> dict[str, Any]:
    """The chart for the page, or the reason why there is none: the figures do not depend on it."""
    try:
        svg, reason = compact_svg(chart.svg()), None
    except ChartNotDrawn as problem:
        svg, reason = None, translate_message(problem.reason)
    return {
        "svg": svg,
        "reason": reason,
        "title": chart.title,
        "description": chart.description,
        "downloads": build_downloads(chart.title, svg, chart.records),
        **_tabulate(chart),
    }


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


def name_goal(attack: str, model: str, seeks: Sequence[str]) -> str:
    """What an adversary is after, in a few words; the name of the attack where nothing is known."""
    names = load_catalogue(CATALOGUE)
    letter = model[1:2] if len(model) == 3 else ""
    for key in (f"{attack}.{letter}", f"{attack}.any"):
        if f"report.goal.{key}" in names:
            return render_phrase(f"report.goal.{key}", seeks=list(seeks) or [""])
    return attack
