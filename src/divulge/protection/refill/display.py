"""A refill attack in a terminal and in a notebook: its figures, one row an attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from divulge.assessment import html
from divulge.assessment.sentence import format_number, read_phrases
from divulge.protection.refill.outcomes.figures import RefillFigures
from divulge.protection.refill.search.relations import CATALOGUE

if TYPE_CHECKING:
    from rich.console import RenderableType


def list_rows(figures_by_attribute: Mapping[str, RefillFigures]) -> list[tuple[str, ...]]:
    """The figures for people, one row an attribute; empty where the original is not known."""
    return [
        (
            name,
            *(
                "" if figure is None else format_number(round(figure, 1))
                for figure in (
                    figures.hidden,
                    figures.claimed,
                    figures.right,
                    figures.verified,
                    figures.best_guess,
                    figures.keys_only,
                    figures.base_rate,
                )
            ),
        )
        for name, figures in figures_by_attribute.items()
    ]


def render_table(text: str, rows: Sequence[tuple[str, ...]]) -> RenderableType:
    """The sentences, and below them the rows as a table."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(*_read_head(), box=None, header_style="dim", pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    return Group(Text(text), table)


def as_html(lines: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    """The same for a notebook."""
    return html.render_paragraphs(lines) + html.render_table(_read_head(), rows)


def _read_head() -> tuple[str, ...]:
    return read_phrases(CATALOGUE, "refill.head")
