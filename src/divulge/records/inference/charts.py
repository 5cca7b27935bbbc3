"""Charts of attacks on records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Chart
from divulge.assessment.chart import BEFORE_COLOUR, LIMIT_COLOUR, RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import format_percent
from divulge.engines import ClassSizes
from divulge.qif import PriorPosterior

if TYPE_CHECKING:
    from divulge.records.sweep.result import Success, Sweep

MAX_DOTS = 5000

CLASS_SIZE_BANDS = (
    (1, 1, "1"),
    (2, 2, "2"),
    (3, 4, "3-4"),
    (5, 9, "5-9"),
    (10, None, "10 or more"),
)
"""Sizes of classes as agencies speak of them: alone, in pairs, below 5, below 10, above."""


def draw_class_sizes(sizes: ClassSizes, subjects: str) -> Chart:
    """How many records stand in classes of which size: alone on the left."""
    import altair as alt

    records = []
    for low, high, label in CLASS_SIZE_BANDS:
        within = (sizes.size >= low) & ((sizes.size <= high) if high else True)
        count = int((sizes.size[within] * sizes.classes[within]).sum())
        records.append({"alike": label, "count": count, "share": count / sizes.records})
    labels = [label for _, _, label in CLASS_SIZE_BANDS]
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
    caption = "; ".join(f"{r['alike']}: {format_percent(float(str(r['share'])))}" for r in records)
    chart = (bars + marks).properties(width=420, height=220)
    return Chart.of(chart, records, f"Share of {subjects} by how many look alike: {caption}")


def draw_sweep_success(sweep: Sweep, seeks: str | None, kind: Success) -> Chart:
    """Success by the number of attributes known: one dot a set, the line is the success before.

    Alvim et al. 2022, Fig. 2. Of very many sets, every so manieth in the order of success is
    drawn, the highest and the lowest of each size always.
    """
    import altair as alt

    success, size = sweep.success(seeks, kind), sweep.figures.size
    before = sweep.prior(seeks, kind)
    records = [
        {
            "size": int(size[place]),
            "success": float(success[place]),
            "knows": ", ".join(sweep.names(int(place))),
            "before": before,
        }
        for place in _choose_dots(success, size)
    ]
    what = "singled out" if seeks is None else f"{seeks} known"
    how = "for certain" if kind == "deterministic" else "by the best guess"
    title = f"{what} {how}, by how much the adversary knows"
    base = alt.Chart(Chart.source(), title=title[0].upper() + title[1:])
    dots = base.mark_circle(size=26, opacity=0.45, color=RISK_COLOUR).encode(
        x=alt.X("size:O", title="attributes known", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "success:Q",
            title=f"share of {sweep.dataset.subjects}",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        tooltip=["knows:N", alt.Tooltip("success:Q", format=".3%")],
    )
    line = base.mark_rule(color=BEFORE_COLOUR, strokeDash=[4, 3]).encode(y="mean(before):Q")
    largest = [(int(s), float(success[size == s].max())) for s in np.unique(size)]
    caption = "; ".join(f"{s}: {format_percent(most)}" for s, most in largest)
    chart = (line + dots).properties(width=460, height=260)
    return Chart.of(
        chart, records, f"{title}. Before: {format_percent(before)}. At most, by number: {caption}"
    )


def draw_growth(assessments: Sequence[Assessment], subjects: str) -> Chart:
    """How success grows with every dataset that is added (Alvim et al. 2022, Table 8)."""
    import altair as alt

    records = []
    for assessment in assessments:
        label = int(assessment.figures["datasets"])
        for kind, pair in (
            ("known for certain", assessment.deterministic),
            ("guessed right", assessment.guessed),
        ):
            records.append({"datasets": label, "kind": kind, "share": pair.posterior})
    kinds = ["known for certain", "guessed right"]
    chart = (
        alt.Chart(Chart.source(), title="What each further dataset adds")
        .mark_line(point=True)
        .encode(
            x=alt.X("datasets:O", title="datasets linked", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "share:Q",
                title=f"share of {subjects}",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "kind:N",
                title=None,
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=[RISK_COLOUR, LIMIT_COLOUR]),
            ),
        )
        .properties(width=420, height=240)
    )
    caption = "; ".join(
        f"{r['datasets']} datasets, {r['kind']}: {format_percent(float(str(r['share'])))}"
        for r in records
    )
    return Chart.of(chart, records, f"What each further dataset adds: {caption}")


def draw_before_and_after(title: str, certain: PriorPosterior, right: PriorPosterior) -> Chart:
    """Two kinds of success, before and after."""
    import altair as alt

    records = [
        {"what": what, "when": when, "share": share}
        for what, pair in (("known for certain", certain), ("guessed right", right))
        for when, share in (("before", pair.prior), ("after", pair.posterior))
    ]
    chart = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("what:N", title=None, sort=None),
            yOffset=alt.YOffset("when:N", sort=["before", "after"]),
            color=alt.Color("when:N", title=None, sort=["before", "after"],
                            scale=alt.Scale(domain=["before", "after"],
                                            range=[BEFORE_COLOUR, RISK_COLOUR])),
        )
        .properties(width=420)
    )  # fmt: skip
    caption = "; ".join(
        f"{r['what']} {r['when']}: {format_percent(float(str(r['share'])))}" for r in records
    )
    return Chart.of(chart, records, f"{title}: {caption}")


def _choose_dots(success: npt.NDArray[np.float64], size: npt.NDArray[np.int64]) -> list[int]:
    """The places of the sets to draw, at most about `MAX_DOTS`."""
    step = max(1, len(size) // MAX_DOTS)
    places: list[int] = []
    for each in np.unique(size):
        of_size = np.flatnonzero(size == each)
        ranked = of_size[np.argsort(success[of_size], kind="stable")]
        places.extend(dict.fromkeys([*ranked[::step].tolist(), int(ranked[-1])]))
    return places
