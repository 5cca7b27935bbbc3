"""Charts of audited tables."""

from __future__ import annotations

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.tables.linear import FloatArray
from divulge.tables.structure import BoolArray

BANDS = ((0, 0, "0"), (1, 4, "1-4"), (5, 9, "5-9"), (10, 49, "10-49"), (50, None, "50 or more"))
"""Widths of intervals: known, nearly known, and ever wider."""


def widths(of_sensitive: FloatArray) -> Chart:
    """How wide the intervals of the sensitive cells are: the known ones on the left."""
    import altair as alt

    records = [
        {
            "width": label,
            "cells": int(
                (
                    (of_sensitive >= low)
                    & ((of_sensitive < high + 1) if high is not None else True)
                ).sum()
            ),
        }
        for low, high, label in BANDS
    ]
    labels = [label for *_, label in BANDS]
    drawn = (
        alt.Chart(Chart.source(), title="How far sensitive cells are hidden")
        .mark_bar()
        .encode(
            x=alt.X(
                "width:N", sort=labels, title="width of the interval", axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y("cells:Q", title="sensitive cells", axis=alt.Axis(format=",d", tickCount=5)),
            color=alt.condition(
                alt.datum.width == "0", alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)
            ),
        )
        .properties(width=420, height=220)
    )
    said = "; ".join(f"{record['width']}: {record['cells']}" for record in records)
    return Chart.of(drawn, records, f"Sensitive cells by the width of their interval: {said}")


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
    title = "How far sensitive cells are hidden, by what she knows"
    drawn = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar()
        .encode(
            x=alt.X(
                "width:N", sort=labels, title="width of the interval", axis=alt.Axis(labelAngle=0)
            ),
            xOffset=alt.XOffset("knows:N", sort=list(knows)),
            y=alt.Y("cells:Q", title="sensitive cells", axis=alt.Axis(format=",d", tickMinStep=1)),
            color=alt.Color(
                "knows:N",
                sort=list(knows),
                scale=alt.Scale(domain=list(knows), range=[SAFE_COLOUR, RISK_COLOUR]),
                title="she knows",
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
