"""Charts of protection: unique records by way of counting; risk against utility; losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Chart
from divulge.assessment.chart import (
    BEFORE_COLOUR,
    LIMIT_COLOUR,
    RISK_COLOUR,
    SAFE_COLOUR,
    build_title,
)
from divulge.assessment.sentence import Sentence, format_percent, read_phrases
from divulge.records.risk.null_readings import DEFAULT_NULLS, SEMANTICS
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    from divulge.protection.result.comparison.distribution import AttributeChange
    from divulge.protection.result.protected import Protected

CATALOGUE = "divulge.protection"

SHARPENING_EDGES = (1.0, 1.1, 1.5, 2.0, 4.0)
"""Where the bars of the chart of sharper values end."""

LEVELS_METHOD = "levels"
"""The method of points that are combinations of levels, whatever a search would choose."""


def draw_unique_counts(protected: Protected) -> Chart:
    """How many are unique before and after, under each way of counting."""
    import altair as alt

    whens = read_phrases(CATALOGUE, "chart.unique.when")
    records = [
        {"counted": name, "when": when, "alone": frequencies.others[name]}
        for name in SEMANTICS
        for when, frequencies in zip(whens, protected.frequencies, strict=True)
    ]
    subjects = protected.original.subjects
    before, after = (each.others[DEFAULT_NULLS] for each in protected.frequencies)
    finding = _say("unique.finding", before=before, after=after)
    chart = (
        alt.Chart(
            Chart.source(), title=build_title(finding, _say("unique.title", subjects=subjects))
        )
        .mark_bar()
        .encode(
            x=alt.X("alone:Q", title=subjects, axis=alt.Axis(format=",d", tickCount=5)),
            y=alt.Y("counted:N", title=None, sort=None),
            yOffset=alt.YOffset("when:N", sort=list(whens)),
            color=alt.Color(
                "when:N",
                title=None,
                sort=list(whens),
                scale=alt.Scale(domain=list(whens), range=[BEFORE_COLOUR, RISK_COLOUR]),
            ),
        )
        .properties(width=380)
    )
    counts = "; ".join(f"{r['counted']}, {r['when']}: {r['alone']:,}" for r in records)
    return Chart.of(chart, records, _say("unique.description", subjects=subjects, counts=counts))


def draw_risk_utility(
    points: Sequence[Mapping[str, Any]], dataset: str, risk: str = "average"
) -> Chart:
    """The map of risk against loss: levels as a cloud, a line a method, and the frontier.

    `risk` is `average` or `highest`: which risk of the points is drawn.
    """
    import altair as alt

    title = _say("risk_utility.title", dataset=dataset)
    figure = f"{risk}_risk"
    base = alt.Chart(Chart.source()).encode(
        x=alt.X("loss:Q", title=_say("risk_utility.loss"), axis=alt.Axis(format="%")),
        # Risks span orders of magnitude, and none is 0.
        y=alt.Y(
            f"{figure}:Q",
            title=_say(f"risk_utility.{risk}"),
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~%"),
        ),
    )
    methods = list(dict.fromkeys(p["method"] for p in points if p["method"] != LEVELS_METHOD))
    of_methods = base.transform_filter(alt.datum.method != LEVELS_METHOD).encode(
        color=alt.Color("method:N", title=None, scale=alt.Scale(domain=methods)),
    )
    of_levels = base.transform_filter(alt.datum.method == LEVELS_METHOD)
    frontier = base.transform_filter(alt.datum.efficient)
    chart = (
        of_levels.mark_circle(size=14, opacity=0.35, color=BEFORE_COLOUR)
        + frontier.mark_line(
            interpolate="step-after", strokeWidth=1.2, strokeDash=[4, 3], color=LIMIT_COLOUR
        ).encode(order="loss:Q")
        + frontier.mark_point(size=70, strokeWidth=1.2, color=LIMIT_COLOUR)
        + of_methods.mark_line(point=True, strokeWidth=1.2).encode(order="k:Q")
        + of_methods.mark_text(dy=-10, fontSize=11).encode(text="k:N")
    ).properties(
        width=460,
        height=300,
        title=alt.Title(title, subtitle=_say("risk_utility.subtitle")),
    )
    efficient = sorted((p for p in points if p["efficient"]), key=lambda p: float(p["loss"]))
    said = "; ".join(
        _say("risk_utility.point", **{**point, "risk": point[figure]}) for point in efficient
    )
    description = _say("risk_utility.description", title=title, points=said)
    return Chart.of(chart, list(points), description)


def draw_sharpening(factors: Floats, weights: Floats) -> Chart:
    """How many coarse values become sharper by how much, for one who knows the scheme."""
    import altair as alt

    names = read_phrases(CATALOGUE, "chart.sharpening.bins")
    bins = np.searchsorted(np.array(SHARPENING_EDGES) + 1e-9, factors)
    counts = np.bincount(bins, weights=weights, minlength=len(names))
    records = [
        {"factor": name, "values": round(float(count))}
        for name, count in zip(names, counts, strict=True)
    ]
    chart = (
        alt.Chart(Chart.source(), title=_say("sharpening.title"))
        .mark_bar(color=RISK_COLOUR)
        .encode(
            x=alt.X("values:Q", title=_say("sharpening.values"), axis=alt.Axis(format=",d")),
            y=alt.Y("factor:N", title=_say("sharpening.factor"), sort=None),
        )
        .properties(width=380)
    )
    described = "; ".join(f"{r['factor']}: {r['values']:,}" for r in records)
    return Chart.of(chart, records, _say("sharpening.description", counts=described))


def draw_changes(changes: Sequence[AttributeChange]) -> Chart:
    """By attribute, the share of its cells that were recoded, suppressed, or removed."""
    import altair as alt

    kinds = read_phrases(CATALOGUE, "chart.changes.kinds")
    shares = [
        [count / max(1, each.records) for count in (each.recoded, each.suppressed, each.removed)]
        for each in changes
    ]
    records = [
        {"attribute": each.name, "change": kind, "share": share}
        for each, of_attribute in zip(changes, shares, strict=True)
        for kind, share in zip(kinds, of_attribute, strict=True)
    ]
    worst = max(zip(changes, shares, strict=True), key=lambda pair: sum(pair[1]), default=None)
    finding = _say("changes.untouched")
    if worst is not None and sum(worst[1]) > 0:
        finding = _say("changes.finding", attribute=worst[0].name, share=min(1.0, sum(worst[1])))
    title = build_title(finding, _say("changes.title"))
    chart = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q", title=_say("changes.share"), axis=alt.Axis(format="~%", tickCount=4)
            ),
            y=alt.Y("attribute:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color(
                "change:N",
                title=None,
                sort=list(kinds),
                scale=alt.Scale(domain=list(kinds), range=[SAFE_COLOUR, RISK_COLOUR, LIMIT_COLOUR]),
                legend=alt.Legend(orient="bottom"),
            ),
        )
        .properties(width=380)
    )
    said = "; ".join(
        _say("changes.attribute", attribute=each.name, recoded=a, suppressed=b, removed=c)
        for each, (a, b, c) in zip(changes, shares, strict=True)
    )
    return Chart.of(chart, records, _say("changes.description", shares=said))


def draw_attribute_losses(losses: Mapping[str, float]) -> Chart:
    """A bar for each attribute: what it lost, of all that it could."""
    import altair as alt

    records = [{"attribute": name, "loss": loss} for name, loss in losses.items()]
    attribute, loss = max(losses.items(), key=lambda pair: pair[1], default=("", 0.0))
    finding = _say("losses.finding", attribute=attribute, loss=loss)
    title = build_title(finding, _say("losses.title"))
    chart = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar(color=BEFORE_COLOUR)
        .encode(
            x=alt.X(
                "loss:Q",
                title=_say("losses.loss"),
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, max([0.01, *losses.values()])]),
            ),
            y=alt.Y("attribute:N", title=None, sort=None),
        )
        .properties(width=380)
    )
    described = "; ".join(f"{name}: {format_percent(loss)}" for name, loss in losses.items())
    return Chart.of(chart, records, _say("losses.description", losses=described))


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.{key}", values))
