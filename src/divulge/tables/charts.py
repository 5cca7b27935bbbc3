"""Charts of audited tables."""

from __future__ import annotations

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.tables.linear import FloatArray

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
