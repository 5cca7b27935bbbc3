"""Charts of audited tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import Sentence, read_phrases
from divulge.tables.table.display import COLOURS, KIND_LETTERS, Crosstab, explain_kind
from divulge.work.arrays import Bools, Floats

CATALOGUE = "divulge.tables"

WIDTH_BANDS = ((0, 0), (1, 4), (5, 9), (10, 49), (50, None))
"""Widths of intervals: known, nearly known, and ever wider; the catalogue names them."""


MAX_DRAWN_CELLS = 600
"""A table with more cells is not drawn: nobody could read it."""


def draw_audited_table(of_sensitive: Floats, tables: Sequence[Crosstab]) -> Chart:
    """The crosstabs with their kinds of cells, and how wide the sensitive cells' intervals are."""
    import altair as alt

    width_chart, records, caption = _draw_widths(of_sensitive)
    small_tables = [
        table for table in tables if len(table.rows) * len(table.head) <= MAX_DRAWN_CELLS
    ]
    cells = [
        cell
        for number, table in enumerate(small_tables)
        for cell in _list_cell_records(number, table)
    ]
    if not cells:
        return Chart.of(width_chart, records, caption)
    parts = [_draw_crosstab(number, table) for number, table in enumerate(small_tables)]
    counts = ", ".join(
        f"{sum(cell['kind'] == kind for cell in cells)} {explain_kind(kind)} ({KIND_LETTERS[kind]})"
        for kind in KIND_LETTERS
    )
    return Chart.of(
        alt.vconcat(*parts, width_chart).resolve_scale(color="independent"),
        [*records, *cells],
        _say("table.description", counts=counts, widths=caption),
    )


def _list_cell_records(number: int, table: Crosstab) -> Iterator[dict[str, Any]]:
    for row, kinds in zip(table.rows, table.kinds, strict=True):
        for column, text, kind in zip(table.head[1:], row[1:], kinds, strict=True):
            displayed_text = KIND_LETTERS.get(kind, text)
            yield {
                "table": number,
                "row": row[0],
                "column": column,
                "text": displayed_text,
                "kind": kind,
            }


def _draw_crosstab(number: int, table: Crosstab) -> Any:
    """Cells as squares: colour, and the letter for those who see no colours."""
    import altair as alt

    longest = max(len(name) for name in table.head[1:])
    step = min(max(36, 8 * longest), max(28, 700 // len(table.head)))
    angle = 0 if step >= 7 * longest else -40
    base = (
        alt.Chart(
            Chart.source(),
            title=alt.TitleParams(
                table.title or _say("table.title"),
                subtitle=[f"{KIND_LETTERS[kind]}  {explain_kind(kind)}" for kind in KIND_LETTERS],
            ),
        )
        .transform_filter(alt.datum.table == number)
        .encode(
            x=alt.X(
                "column:N",
                sort=list(table.head[1:]),
                title=None,
                axis=alt.Axis(orient="top", labelAngle=angle, domain=False, ticks=False),
            ),
            y=alt.Y(
                "row:N",
                sort=[row[0] for row in table.rows],
                title=table.head[0],
                axis=alt.Axis(domain=False, ticks=False),
            ),
        )
    )
    kinds, colours = list(COLOURS), list(COLOURS.values())
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=None)
    )
    pale = (alt.datum.kind == "") | (alt.datum.kind == "secondary")
    letters = base.mark_text(fontSize=12).encode(
        text="text:N", color=alt.condition(pale, alt.value("#1f2a37"), alt.value("white"))
    )
    return (squares + letters).properties(width=alt.Step(step), height=alt.Step(26))


def _draw_widths(of_sensitive: Floats) -> tuple[Any, list[dict[str, Any]], str]:
    """How wide the intervals of the sensitive cells are: the known ones on the left."""
    import altair as alt

    labels = _read_labels()
    records: list[dict[str, Any]] = [
        {
            "width": label,
            "cells": int(_is_within_band(of_sensitive, low, high).sum()),
        }
        for (low, high), label in zip(WIDTH_BANDS, labels, strict=True)
    ]
    chart = (
        alt.Chart(Chart.source(), title=_say("widths.title"))
        .transform_filter("isValid(datum.cells)")
        .mark_bar()
        .encode(
            x=alt.X(
                "width:N", sort=labels, title=_say("widths.width"), axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y(
                "cells:Q",
                title=_say("widths.cells"),
                axis=alt.Axis(format=",d", values=_list_whole_ticks(records)),
            ),
            color=alt.condition(
                alt.datum.width == labels[0], alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)
            ),
        )
        .properties(width=420, height=220)
    )
    counts_text = "; ".join(f"{record['width']}: {record['cells']}" for record in records)
    return chart, records, _say("widths.description", counts=counts_text)


def draw_matching_widths(by_sums: Floats, effective: Floats, required_width: int | None) -> Chart:
    """How wide sensitive cells are by the sums alone, and for who knows the suppressor."""
    import altair as alt

    knows = read_phrases(CATALOGUE, "chart.matching.knows")
    labels = _read_labels()
    records = [
        {"width": label, "knows": knowledge, "cells": int(_is_within_band(widths, low, high).sum())}
        for knowledge, widths in zip(knows, (by_sums, effective), strict=True)
        for (low, high), label in zip(WIDTH_BANDS, labels, strict=True)
    ]
    chart = (
        alt.Chart(Chart.source(), title=_say("matching.title"))
        .mark_bar()
        .encode(
            x=alt.X(
                "width:N", sort=labels, title=_say("widths.width"), axis=alt.Axis(labelAngle=0)
            ),
            xOffset=alt.XOffset("knows:N", sort=list(knows)),
            y=alt.Y(
                "cells:Q",
                title=_say("widths.cells"),
                axis=alt.Axis(format=",d", values=_list_whole_ticks(records)),
            ),
            color=alt.Color(
                "knows:N",
                sort=list(knows),
                scale=alt.Scale(domain=list(knows), range=[SAFE_COLOUR, RISK_COLOUR]),
                title=_say("matching.adversary"),
            ),
        )
        .properties(width=420, height=220)
    )
    key = "widths.description" if required_width is None else "matching.description"
    counts_text = "; ".join(f"{r['knows']}, {r['width']}: {r['cells']}" for r in records)
    return Chart.of(chart, records, _say(key, required=required_width, counts=counts_text))


def _read_labels() -> list[str]:
    """What the bands of widths are called."""
    return list(read_phrases(CATALOGUE, "chart.widths.bands"))


def _is_within_band(widths: Floats, low: int, high: int | None) -> Bools:
    inside: Bools = (widths >= low) & ((widths < high + 1) if high is not None else True)
    return inside


def _list_whole_ticks(records: Sequence[dict[str, Any]]) -> list[int]:
    """Places for ticks on an axis of cells: half a cell there is not."""
    most = max(record["cells"] for record in records)
    step = max(1, ceil(most / 5))
    return list(range(0, most + step, step))


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.{key}", values))
