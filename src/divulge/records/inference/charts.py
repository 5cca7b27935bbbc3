"""Charts of attacks on records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Chart
from divulge.assessment.chart import (
    BEFORE_COLOUR,
    LIMIT_COLOUR,
    RISK_COLOUR,
    SAFE_COLOUR,
    build_title,
)
from divulge.assessment.sentence import Sentence, format_percent, read_phrases
from divulge.engines import ClassSizes
from divulge.qif import PriorPosterior
from divulge.records import tuning

if TYPE_CHECKING:
    from divulge.records.sweep.result import Success, Sweep

CATALOGUE = "divulge.records"

CLASS_SIZE_BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, None))
"""Sizes of classes as agencies speak of them: alone, in pairs, below 5, below 10, above."""


def read_band_labels() -> list[str]:
    """What the bands of class sizes are called."""
    return list(read_phrases(CATALOGUE, "chart.class_sizes.bands"))


def draw_class_sizes(sizes: ClassSizes, subjects: str) -> Chart:
    """How many records stand in classes of which size: alone on the left."""
    import altair as alt

    labels = read_band_labels()
    records = []
    for (low, high), label in zip(CLASS_SIZE_BANDS, labels, strict=True):
        within = (sizes.size >= low) & ((sizes.size <= high) if high else True)
        count = int((sizes.size[within] * sizes.classes[within]).sum())
        records.append({"alike": label, "count": count, "share": count / sizes.records})
    alone = records[0]
    finding = _say("class_sizes.finding", subjects=subjects, total=sizes.records, **alone)
    title = build_title(finding, _say("class_sizes.title", subjects=subjects))
    base = alt.Chart(Chart.source(), title=title).encode(
        x=alt.X(
            "alike:N", sort=labels, title=_say("class_sizes.alike"), axis=alt.Axis(labelAngle=0)
        ),
        y=alt.Y("count:Q", title=subjects, axis=alt.Axis(format=",d", tickCount=5)),
    )
    bars = base.mark_bar().encode(
        color=alt.condition(
            alt.datum.alike == labels[0], alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)
        )
    )
    marks = base.mark_text(dy=-6, fontSize=11).encode(text=alt.Text("share:Q", format=".1%"))
    caption = "; ".join(f"{r['alike']}: {format_percent(float(str(r['share'])))}" for r in records)
    chart = (bars + marks).properties(width=420, height=220)
    description = _say("class_sizes.description", subjects=subjects, counts=caption)
    return Chart.of(chart, records, description)


def draw_sweep_success(
    sweep: Sweep,
    seeks: str | None,
    kind: Success,
    *,
    weighted: bool = False,
    most: int = tuning.MOST_DOTS,
) -> Chart:
    """Success by the number of attributes known: one dot a set, the line is the success before.

    Alvim et al. 2022, Fig. 2. Of very many sets, every so manieth in the order of success is
    drawn, the highest and the lowest of each size always. With `weighted`, records are as likely
    as they weigh.
    """
    import altair as alt

    success, size = sweep.success(seeks, kind, weighted=weighted), sweep.figures.size
    before = sweep.prior(seeks, kind, weighted=weighted)
    records = [
        {
            "size": int(size[place]),
            "success": float(success[place]),
            "knows": ", ".join(sweep.names(int(place))),
            "before": before,
        }
        for place in choose_dots(success, size, most)
    ]
    title = _say(f"sweep.{'record' if seeks is None else 'attribute'}_{kind}", seeks=seeks)
    worst = int(success.argmax())
    finding = _say("sweep.finding", size=int(size[worst]), share=float(success[worst]))
    base = alt.Chart(Chart.source(), title=build_title(finding, title[0].upper() + title[1:]))
    # A word for each of thousands of dots would make the file ten times as large.
    dots = base.mark_circle(size=26, opacity=0.45, color=RISK_COLOUR, aria=False).encode(
        x=alt.X("size:O", title=_say("sweep.size"), axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "success:Q",
            title=_say("share_of", subjects=sweep.dataset.subjects),
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        tooltip=["knows:N", alt.Tooltip("success:Q", format=".3%")],
    )
    line = base.mark_rule(color=BEFORE_COLOUR, strokeDash=[4, 3]).encode(y="mean(before):Q")
    largest = [(int(s), float(success[size == s].max())) for s in np.unique(size)]
    caption = "; ".join(f"{s}: {format_percent(most)}" for s, most in largest)
    chart = (line + dots).properties(width=460, height=260)
    description = _say("sweep.description", title=title, before=before, by_size=caption)
    return Chart.of(chart, records, description)


def draw_added_success(added: Sequence[Mapping[str, Any]]) -> Chart:
    """What each attribute adds to what somebody knows without it, on average and at worst."""
    import altair as alt

    kinds = read_phrases(CATALOGUE, "chart.added.kinds")
    records = [
        {"attribute": row["attribute"], "kind": kind, "added": row[key]}
        for row in added
        for kind, key in zip(kinds, ("average", "worst"), strict=True)
    ]
    first = added[0]
    title = _say("added.title", attribute=first["attribute"], average=first["average"])
    chart = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar()
        .encode(
            x=alt.X("added:Q", title=_say("added.share"), axis=alt.Axis(format="%")),
            y=alt.Y("attribute:N", title=None, sort=[row["attribute"] for row in added]),
            yOffset=alt.YOffset("kind:N", sort=list(kinds)),
            color=alt.Color("kind:N", title=None, sort=list(kinds),
                            scale=alt.Scale(domain=list(kinds),
                                            range=[RISK_COLOUR, BEFORE_COLOUR])),
        )
        .properties(width=420)
    )  # fmt: skip
    shares = "; ".join(f"{row['attribute']}: {format_percent(row['average'])}" for row in added)
    return Chart.of(chart, records, _say("added.description", shares=shares))


def draw_growth(assessments: Sequence[Assessment], subjects: str) -> Chart:
    """How success grows with every dataset that is added (Alvim et al. 2022, Table 8)."""
    import altair as alt

    kinds = read_phrases(CATALOGUE, "chart.success")
    records = []
    for assessment in assessments:
        label = int(assessment.figures["datasets"])
        pairs = (assessment.deterministic, assessment.guessed)
        for kind, pair in zip(kinds, pairs, strict=True):
            records.append({"datasets": label, "kind": kind, "share": pair.posterior})
    first, last = assessments[0].deterministic.posterior, assessments[-1].deterministic.posterior
    finding = _say("growth.finding", first=first, last=last)
    chart = (
        alt.Chart(Chart.source(), title=build_title(finding, _say("growth.title")))
        .mark_line(point=True)
        .encode(
            x=alt.X("datasets:O", title=_say("growth.datasets"), axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "share:Q",
                title=_say("share_of", subjects=subjects),
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "kind:N",
                title=None,
                sort=list(kinds),
                scale=alt.Scale(domain=list(kinds), range=[RISK_COLOUR, LIMIT_COLOUR]),
            ),
        )
        .properties(width=420, height=240)
    )
    shares = "; ".join(_say("growth.of_dataset", **record) for record in records)
    return Chart.of(chart, records, _say("growth.description", shares=shares))


def draw_before_and_after(subject: str, certain: PriorPosterior, right: PriorPosterior) -> Chart:
    """Two kinds of success, before and after.

    Args:
        subject: what it is about, as the catalogue has titles for it in `chart.before_and_after`.
        certain: what is known for certain.
        right: what is guessed right.
    """
    import altair as alt

    title = _say(f"before_and_after.{subject}")
    whens = read_phrases(CATALOGUE, "chart.when")
    records = [
        {"what": what, "when": when, "share": share}
        for what, pair in zip(
            read_phrases(CATALOGUE, "chart.success"), (certain, right), strict=True
        )
        for when, share in zip(whens, (pair.prior, pair.posterior), strict=True)
    ]
    finding = _say("before_and_after.finding", before=certain.prior, after=certain.posterior)
    chart = (
        alt.Chart(Chart.source(), title=build_title(finding, title))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title=_say("before_and_after.share"), axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("what:N", title=None, sort=None),
            yOffset=alt.YOffset("when:N", sort=list(whens)),
            color=alt.Color("when:N", title=None, sort=list(whens),
                            scale=alt.Scale(domain=list(whens),
                                            range=[BEFORE_COLOUR, RISK_COLOUR])),
        )
        .properties(width=420)
    )  # fmt: skip
    caption = "; ".join(
        f"{r['what']} {r['when']}: {format_percent(float(str(r['share'])))}" for r in records
    )
    return Chart.of(chart, records, f"{title}: {caption}")


def choose_dots(
    success: npt.NDArray[np.float64], size: npt.NDArray[np.int64], most: int
) -> list[int]:
    """The places of the sets to draw, at most about so many."""
    step = max(1, -(-len(size) // most))
    places: list[int] = []
    for each in np.unique(size):
        of_size = np.flatnonzero(size == each)
        ranked = of_size[np.argsort(success[of_size], kind="stable")]
        places.extend(dict.fromkeys([*ranked[::step].tolist(), int(ranked[-1])]))
    return places


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.{key}", values))
