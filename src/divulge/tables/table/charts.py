"""Charts of audited tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.tables.table.axis import FloatArray
from divulge.tables.table.display import COLOURS, MARKS, MEANINGS, Crosstab
from divulge.tables.table.structure import BoolArray

BANDS = ((0, 0, "0"), (1, 4, "1-4"), (5, 9, "5-9"), (10, 49, "10-49"), (50, None, "50 or more"))
"""Widths of intervals: known, nearly known, and ever wider."""


MOST_CELLS = 600
"""A table with more cells is not drawn: nobody could read it."""


def audited(of_sensitive: FloatArray, tables: Sequence[Crosstab]) -> Chart:
    """The crosstabs with their kinds of cells, and how wide the sensitive cells' intervals are."""
    import altair as alt

    drawn, records, said = _widths(of_sensitive)
    shown = [table for table in tables if len(table.rows) * len(table.head) <= MOST_CELLS]
    cells = [cell for number, table in enumerate(shown) for cell in _cells(number, table)]
    if not cells:
        return Chart.of(drawn, records, said)
    parts = [_crosstab(number, table) for number, table in enumerate(shown)]
    counts = ", ".join(
        f"{sum(cell['kind'] == kind for cell in cells)} {MEANINGS[kind]} ({MARKS[kind]})"
        for kind in MARKS
    )
    return Chart.of(
        alt.vconcat(*parts, drawn).resolve_scale(color="independent"),
        [*records, *cells],
        f"The table with its cells: {counts}. {said}",
    )


def _cells(number: int, table: Crosstab) -> Iterator[dict[str, Any]]:
    for row, kinds in zip(table.rows, table.kinds, strict=True):
        for column, text, kind in zip(table.head[1:], row[1:], kinds, strict=True):
            shown = MARKS.get(kind, text)
            yield {"table": number, "row": row[0], "column": column, "text": shown, "kind": kind}


def _crosstab(number: int, table: Crosstab) -> Any:
    """Cells as squares: colour, and the letter for those who see no colours."""
    import altair as alt

    longest = max(len(name) for name in table.head[1:])
    step = min(max(36, 8 * longest), max(28, 700 // len(table.head)))
    angle = 0 if step >= 7 * longest else -40
    base = (
        alt.Chart(
            Chart.source(),
            title=alt.TitleParams(
                table.title or "What is published",
                subtitle=[f"{MARKS[kind]}  {MEANINGS[kind]}" for kind in MARKS],
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


def _widths(of_sensitive: FloatArray) -> tuple[Any, list[dict[str, Any]], str]:
    """How wide the intervals of the sensitive cells are: the known ones on the left."""
    import altair as alt

    records: list[dict[str, Any]] = [
        {
            "width": label,
            "cells": int(_within(of_sensitive, low, high).sum()),
        }
        for low, high, label in BANDS
    ]
    labels = [label for *_, label in BANDS]
    drawn = (
        alt.Chart(Chart.source(), title="How far sensitive cells are hidden")
        .transform_filter("isValid(datum.cells)")
        .mark_bar()
        .encode(
            x=alt.X(
                "width:N", sort=labels, title="width of the interval", axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y(
                "cells:Q",
                title="sensitive cells",
                axis=alt.Axis(format=",d", values=_whole(records)),
            ),
            color=alt.condition(
                alt.datum.width == "0", alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)
            ),
        )
        .properties(width=420, height=220)
    )
    said = "; ".join(f"{record['width']}: {record['cells']}" for record in records)
    return drawn, records, f"Sensitive cells by the width of their interval: {said}"


def matched_widths(by_sums: FloatArray, effective: FloatArray, asked: int | None) -> Chart:
    """How wide sensitive cells are by the sums alone, and for who knows the suppressor."""
    import altair as alt

    knows = ("the sums alone", "the suppressor too")
    records = [
        {"width": label, "knows": who, "cells": int(_within(widths_, low, high).sum())}
        for who, widths_ in zip(knows, (by_sums, effective), strict=True)
        for low, high, label in BANDS
    ]
    labels = [label for *_, label in BANDS]
    title = "How far sensitive cells are hidden, by what the adversary knows"
    drawn = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar()
        .encode(
            x=alt.X(
                "width:N", sort=labels, title="width of the interval", axis=alt.Axis(labelAngle=0)
            ),
            xOffset=alt.XOffset("knows:N", sort=list(knows)),
            y=alt.Y(
                "cells:Q",
                title="sensitive cells",
                axis=alt.Axis(format=",d", values=_whole(records)),
            ),
            color=alt.Color(
                "knows:N",
                sort=list(knows),
                scale=alt.Scale(domain=list(knows), range=[SAFE_COLOUR, RISK_COLOUR]),
                title="the adversary knows",
            ),
        )
        .properties(width=420, height=220)
    )
    wanted = "" if asked is None else f" (each was given at least {asked})"
    said = "; ".join(f"{r['knows']}, {r['width']}: {r['cells']}" for r in records)
    return Chart.of(
        drawn, records, f"Sensitive cells by the width of their interval{wanted}: {said}"
    )


def _within(widths_: FloatArray, low: int, high: int | None) -> BoolArray:
    inside: BoolArray = (widths_ >= low) & ((widths_ < high + 1) if high is not None else True)
    return inside


def _whole(records: Sequence[dict[str, Any]]) -> list[int]:
    """Places for ticks on an axis of cells: half a cell there is not."""
    most = max(record["cells"] for record in records)
    step = max(1, ceil(most / 5))
    return list(range(0, most + step, step))
