"""Charts of the risk of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import format_number, format_percent
from divulge.records.inference.charts import CLASS_SIZE_BANDS
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    from divulge.records.risk.class_measure import ClassMeasure
    from divulge.records.risk.frequencies import Frequencies
    from divulge.records.risk.record_risk import RecordRisk
    from divulge.records.risk.suda import Suda
    from divulge.records.risk.three_attackers import ThreeAttackers

RISK_EDGES = (0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.33, 0.5, 1)
"""Risks as agencies speak of them: one in a thousand, a hundred, twenty, ten, five, three, two."""


def draw_risks(risk: RecordRisk, threshold: float) -> Chart:
    """How many records have which risk; above the threshold in the colour of risk."""
    records = []
    # The threshold ends a bar, so that no bar is partly above it.
    edges = sorted({*RISK_EDGES, min(max(threshold, 0.0), 1.0)})
    for low, high in pairwise(edges):
        inside = (risk.values > low) & (risk.values <= high)
        label = f"to {format_percent(high)}"
        count = int(inside.sum()) + (int((risk.values == 0).sum()) if low == 0 else 0)
        records.append({"risk": label, "count": count, "at_risk": low >= threshold})
    title = f"How many {risk.dataset.subjects} have which {risk.title}"
    return _draw_bars(records, "risk", title, risk.dataset.subjects, int(risk.values.size))


def draw_frequencies(counts: Frequencies) -> Chart:
    """How many records have how many that look like them."""
    records = []
    for low, high, label in CLASS_SIZE_BANDS:
        inside = (counts.sample >= low) & ((counts.sample < high + 1) if high else True)
        records.append({"alike": label, "count": int(np.sum(inside)), "at_risk": low == 1})
    title = f"How many {counts.dataset.subjects} look alike ({counts.nulls})"
    return _draw_bars(records, "alike", title, counts.dataset.subjects, int(counts.sample.size))


def draw_contributions(scores: Suda) -> Chart:
    """How much each attribute contributes to what makes records special."""
    import altair as alt

    shares = scores.contributions()
    records = [
        {"attribute": name, "share": share}
        for name, share in sorted(shares.items(), key=lambda each: -each[1])
    ]
    bars = (
        alt.Chart(Chart.source(), title="What makes records special")
        .mark_bar(color=RISK_COLOUR)
        .encode(
            x=alt.X("share:Q", title="share of all scores", axis=alt.Axis(format="%")),
            y=alt.Y("attribute:N", title=None, sort=None),
        )
        .properties(width=420)
    )
    caption = "; ".join(
        f"{r['attribute']}: {format_percent(float(str(r['share'])))}" for r in records
    )
    return Chart.of(bars, records, f"Share of all scores by attribute: {caption}")


def draw_class_measure(measure: ClassMeasure, bars: int) -> Chart:
    """How many records are in classes of which measure; the worst bar in the colour of risk."""
    labels, place = _assign_bars(measure.classes, bars)
    counts = np.bincount(place, measure.size, minlength=len(labels))
    worst = 0 if measure.worst == "lowest" else len(labels) - 1
    records = [
        {measure.title: label, "count": int(count), "at_risk": bar == worst}
        for bar, (label, count) in enumerate(zip(labels, counts, strict=True))
    ]
    title = f"How many {measure.dataset.subjects} are in classes of which {measure.title}"
    return _draw_bars(
        records, measure.title, title, measure.dataset.subjects, int(measure.size.sum())
    )


def _assign_bars(figures: Floats, bars: int) -> tuple[list[str], Ints]:
    """The bar of each figure: one a value if they are few, bands of numbers, or equal steps."""
    values, place = np.unique(figures, return_inverse=True)
    if values.size <= bars:
        return [format_number(float(value)) for value in values], place.reshape(-1)
    if np.all(values == np.rint(values)):
        lows = np.array([low for low, _, _ in CLASS_SIZE_BANDS])
        band = np.maximum(np.searchsorted(lows, figures, "right") - 1, 0)
        used = np.unique(band)
        return [CLASS_SIZE_BANDS[each][2] for each in used], np.searchsorted(used, band)
    edges = np.linspace(values[0], values[-1], bars + 1)
    step = np.clip(np.searchsorted(edges, figures, "right") - 1, 0, bars - 1)
    return [f"from {edge:.2g}" for edge in edges[:-1]], step


def draw_attackers(risks_by_attacker: ThreeAttackers) -> Chart:
    """Prosecutor, journalist and marketer: the highest risk and the average, side by side."""
    import altair as alt

    records = [
        {"attacker": name, "figure": figure, "risk": of[figure]}
        for name, of in risks_by_attacker.items()
        for figure in ("highest", "average")
    ]
    chart = (
        alt.Chart(Chart.source(), title="What three attackers find")
        .mark_bar()
        .encode(
            y=alt.Y("attacker:N", title=None, sort=list(risks_by_attacker)),
            yOffset=alt.YOffset("figure:N", sort=["highest", "average"]),
            x=alt.X("risk:Q", title="risk of a record", axis=alt.Axis(format="%")),
            color=alt.Color(
                "figure:N",
                title=None,
                scale=alt.Scale(domain=["highest", "average"], range=[RISK_COLOUR, SAFE_COLOUR]),
            ),
        )
        .properties(width=420)
    )
    caption = "; ".join(
        f"{r['attacker']}, {r['figure']}: {format_percent(r['risk'])}" for r in records
    )
    return Chart.of(chart, records, f"What three attackers find: {caption}")


def _draw_bars(
    records: Sequence[Mapping[str, Any]], what: str, title: str, subjects: str, total: int
) -> Chart:
    import altair as alt

    labels = [record[what] for record in records]
    chart = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar()
        .encode(
            x=alt.X(f"{what}:N", sort=labels, title=what, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("count:Q", title=subjects, axis=alt.Axis(format=",d", tickCount=5)),
            color=alt.condition(alt.datum.at_risk, alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)),
        )
        .properties(width=420, height=220)
    )
    caption = "; ".join(f"{r[what]}: {format_percent(r['count'] / max(1, total))}" for r in records)
    return Chart.of(chart, records, f"{title}: {caption}")
