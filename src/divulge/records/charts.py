"""Charts of attacks on records."""

from __future__ import annotations

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import percent
from divulge.engines import ClassSizes

BANDS = ((1, 1, "1"), (2, 2, "2"), (3, 4, "3-4"), (5, 9, "5-9"), (10, None, "10 or more"))
"""Sizes of classes as agencies speak of them: alone, in pairs, below 5, below 10, above."""


def class_sizes(sizes: ClassSizes, subjects: str) -> Chart:
    """How many records stand in classes of which size: alone on the left."""
    import altair as alt

    records = []
    for low, high, label in BANDS:
        within = (sizes.size >= low) & ((sizes.size <= high) if high else True)
        count = int((sizes.size[within] * sizes.classes[within]).sum())
        records.append({"alike": label, "count": count, "share": count / sizes.records})
    labels = [label for _, _, label in BANDS]
    base = alt.Chart(
        Chart.source(), title=f"How many {subjects} look alike to this adversary"
    ).encode(
        x=alt.X("alike:N", sort=labels, title="how many look alike", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("count:Q", title=subjects, axis=alt.Axis(format=",d", tickCount=5)),
    )
    bars = base.mark_bar().encode(
        color=alt.condition(alt.datum.alike == "1", alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR))
    )
    marks = base.mark_text(dy=-6, fontSize=11).encode(text=alt.Text("share:Q", format=".1%"))
    said = "; ".join(f"{r['alike']}: {percent(float(str(r['share'])))}" for r in records)
    drawn = (bars + marks).properties(width=420, height=220)
    return Chart.of(drawn, records, f"Share of {subjects} by how many look alike: {said}")
