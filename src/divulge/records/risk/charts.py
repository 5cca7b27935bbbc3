"""Charts of the risk of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR, build_title
from divulge.assessment.sentence import Sentence, format_number, format_percent, read_phrases
from divulge.records.inference.charts import CATALOGUE, CLASS_SIZE_BANDS, read_band_labels
from divulge.records.risk.weighted_rows import count_chosen
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    from divulge.records.risk.class_measures.class_measure import ClassMeasure
    from divulge.records.risk.frequencies.result import Frequencies
    from divulge.records.risk.population.three_attackers import ThreeAttackers
    from divulge.records.risk.record_risk import RecordRisk
    from divulge.records.risk.uniques.suda import Suda

RISK_EDGES = (0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.33, 0.5, 1)
"""Risks as agencies speak of them: one in a thousand, a hundred, twenty, ten, five, three, two."""


def draw_risks(risk: RecordRisk, threshold: float) -> Chart:
    """How many records have which risk; above the threshold in the colour of risk."""
    records: list[dict[str, Any]] = []
    # The threshold ends a bar, so that no bar is partly above it.
    edges = sorted({*RISK_EDGES, min(max(threshold, 0.0), 1.0)})
    for low, high in pairwise(edges):
        inside = (risk.values > low) & (risk.values <= high)
        label = _say("risks.band", most=high)
        if low == 0:
            inside |= risk.values == 0
        count = count_chosen(inside, risk.number)
        records.append({"risk": label, "count": count, "at_risk": low >= threshold})
    subjects = risk.dataset.subjects
    title = _say("risks.title", subjects=subjects, risk=risk.title)
    total = risk.records
    share = sum(r["count"] for r in records if r["at_risk"]) / max(1, total)
    values = {"share": share, "total": total, "subjects": subjects, "threshold": threshold}
    axis, finding = _say("risks.risk"), _say("risks.finding", **values)
    return _draw_bars(records, "risk", title, subjects, total=total, axis=axis, finding=finding)


def draw_frequencies(counts: Frequencies) -> Chart:
    """How many records have how many that look like them."""
    records: list[dict[str, Any]] = []
    for (low, high), label in zip(CLASS_SIZE_BANDS, read_band_labels(), strict=True):
        inside = (counts.sample >= low) & ((counts.sample < high + 1) if high else True)
        records.append(
            {"alike": label, "count": count_chosen(inside, counts.number), "at_risk": low == 1}
        )
    subjects = counts.dataset.subjects
    title = _say("frequencies.title", subjects=subjects, nulls=counts.nulls)
    total, axis = counts.records, _say("frequencies.alike")
    share = sum(r["count"] for r in records if r["at_risk"]) / max(1, total)
    finding = _say("frequencies.finding", share=share, total=total, subjects=subjects)
    return _draw_bars(records, "alike", title, subjects, total=total, axis=axis, finding=finding)


def draw_contributions(scores: Suda) -> Chart:
    """How much each attribute contributes to what makes records special."""
    import altair as alt

    shares = scores.contributions()
    records = [
        {"attribute": name, "share": share}
        for name, share in sorted(shares.items(), key=lambda each: -each[1])
    ]
    bars = (
        alt.Chart(Chart.source(), title=_say("contributions.title"))
        .mark_bar(color=RISK_COLOUR)
        .encode(
            x=alt.X("share:Q", title=_say("contributions.share"), axis=alt.Axis(format="%")),
            y=alt.Y("attribute:N", title=None, sort=None),
        )
        .properties(width=420)
    )
    caption = "; ".join(
        f"{r['attribute']}: {format_percent(float(str(r['share'])))}" for r in records
    )
    return Chart.of(bars, records, _say("contributions.description", shares=caption))


def draw_class_measure(measure: ClassMeasure, bars: int) -> Chart:
    """How many records are in classes of which measure; the worst bar in the colour of risk."""
    labels, place = _assign_bars(measure.classes, bars)
    counts = np.bincount(place, measure.size, minlength=len(labels))
    worst = 0 if measure.worst == "lowest" else len(labels) - 1
    records = [
        {measure.title: label, "count": int(count), "at_risk": bar == worst}
        for bar, (label, count) in enumerate(zip(labels, counts, strict=True))
    ]
    subjects = measure.dataset.subjects
    title = _say("class_measure.title", subjects=subjects, measure=measure.title)
    total = int(measure.size.sum())
    return _draw_bars(records, measure.title, title, subjects, total=total, axis=measure.title)


def _assign_bars(figures: Floats, bars: int) -> tuple[list[str], Ints]:
    """The bar of each figure: one a value if they are few, bands of numbers, or equal steps."""
    values, place = np.unique(figures, return_inverse=True)
    if values.size <= bars:
        return [format_number(float(value)) for value in values], place.reshape(-1)
    if np.all(np.isfinite(values)) and np.all(values == np.rint(values)):
        lows = np.array([low for low, _ in CLASS_SIZE_BANDS])
        band = np.maximum(np.searchsorted(lows, figures, "right") - 1, 0)
        used, names = np.unique(band), read_band_labels()
        return [names[each] for each in used], np.searchsorted(used, band)
    # What is without end has a bar of its own behind the others.
    finite, endless = values[np.isfinite(values)], int(np.isinf(values[-1]))
    edges = np.linspace(finite[0], finite[-1], bars - endless + 1)
    step = np.clip(np.searchsorted(edges, figures, "right") - 1, 0, bars - endless - 1)
    labels = [_say("class_measure.band", least=edge) for edge in edges[:-1]]
    if endless:
        step = np.where(np.isinf(figures), bars - 1, step)
        labels.append(format_number(np.inf))
    return labels, step


def draw_attackers(risks_by_attacker: ThreeAttackers) -> Chart:
    """Prosecutor, journalist and marketer: the highest risk and the average, side by side."""
    import altair as alt

    figures = read_phrases(CATALOGUE, "chart.attackers.figures")
    records = [
        {"attacker": name, "figure": figure, "risk": of[key]}
        for name, of in risks_by_attacker.items()
        for key, figure in zip(("highest", "average"), figures, strict=True)
    ]
    chart = (
        alt.Chart(Chart.source(), title=_say("attackers.title"))
        .mark_bar()
        .encode(
            y=alt.Y("attacker:N", title=None, sort=list(risks_by_attacker)),
            yOffset=alt.YOffset("figure:N", sort=list(figures)),
            x=alt.X("risk:Q", title=_say("attackers.risk"), axis=alt.Axis(format="%")),
            color=alt.Color(
                "figure:N",
                title=None,
                scale=alt.Scale(domain=list(figures), range=[RISK_COLOUR, SAFE_COLOUR]),
            ),
        )
        .properties(width=420)
    )
    caption = "; ".join(
        f"{r['attacker']}, {r['figure']}: {format_percent(r['risk'])}" for r in records
    )
    return Chart.of(chart, records, _say("attackers.description", risks=caption))


def _draw_bars(
    records: Sequence[Mapping[str, Any]],
    what: str,
    title: str,
    subjects: str,
    *,
    total: int,
    axis: str,
    finding: str | None = None,
) -> Chart:
    import altair as alt

    labels = [record[what] for record in records]
    chart = (
        alt.Chart(Chart.source(), title=title if finding is None else build_title(finding, title))
        .mark_bar()
        .encode(
            x=alt.X(f"{what}:N", sort=labels, title=axis, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("count:Q", title=subjects, axis=alt.Axis(format=",d", tickCount=5)),
            color=alt.condition(alt.datum.at_risk, alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)),
        )
        .properties(width=420, height=220)
    )
    caption = "; ".join(f"{r[what]}: {format_percent(r['count'] / max(1, total))}" for r in records)
    return Chart.of(chart, records, f"{title}: {caption}")


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.{key}", values))
