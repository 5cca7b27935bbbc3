"""All adversaries of a release in one picture: before, after, and the limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from divulge.assessment import Assessment, Chart
from divulge.assessment.chart import BEFORE_COLOUR, LIMIT_COLOUR, RISK_COLOUR, build_title
from divulge.assessment.sentence import Sentence, format_percent

if TYPE_CHECKING:
    from divulge.release.verdict import Verdict

CATALOGUE = "divulge.release"
MARK_COLOURS = {
    "before": BEFORE_COLOUR,
    "after": RISK_COLOUR,
    "at_most": "#e8b4a8",
    "limit": LIMIT_COLOUR,
}
"""What is marked. Where "after" is the least that was shown, the most stands beside it."""
SUCCESS_KINDS = ("deterministic", "probabilistic")


def rank_assessments(verdict: Verdict) -> list[Assessment]:
    """The adversaries, the worst first."""

    def rank(assessment: Assessment) -> tuple[float, ...]:
        worst = assessment.at_worst
        fails = not verdict.keeps_limits(assessment)
        return (-fails, -float(worst.certain.posterior), -float(assessment.right.posterior))

    return sorted(verdict.assessments, key=rank)


def draw_adversaries(verdict: Verdict) -> Chart:
    """One row per adversary, one panel per kind of success."""
    import altair as alt

    assessments = rank_assessments(verdict)
    records = [mark for assessment in assessments for mark in _list_marks(verdict, assessment)]
    bounded = any(mark["kind"] == _say("at_most") for mark in records)
    kinds = {
        _say(kind): colour for kind, colour in MARK_COLOURS.items() if bounded or kind != "at_most"
    }
    colour = alt.Color(
        "kind:N",
        title=None,
        sort=list(kinds),
        scale=alt.Scale(domain=list(kinds), range=list(kinds.values())),
        legend=alt.Legend(orient="top", symbolType="circle"),
    )
    share = alt.X(
        "share:Q",
        title=_say("share"),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
        scale=alt.Scale(domain=[0, 1]),
    )
    names = [str(assessment.adversary) for assessment in assessments]

    def draw_panel(title: str, first: bool) -> Any:  # Altair's type of a layered chart is a union
        base = (
            alt.Chart(title=alt.Title(title, anchor="middle", fontSize=12, offset=6))
            .encode(
                y=alt.Y(
                    "adversary:N",
                    title=None,
                    sort=names,
                    axis=alt.Axis(labelLimit=220, labelPadding=8) if first else None,
                )
            )
            .transform_filter(alt.datum.success == title)
        )
        way = (
            base.transform_filter(alt.datum.kind != _say("limit"))
            .mark_line(color="#c9ccd1", strokeWidth=2)
            .encode(x=share, detail="adversary:N")
        )
        points = (
            base.transform_filter(alt.datum.kind != _say("limit"))
            .mark_circle(size=90, opacity=1)
            .encode(x=share, color=colour)
        )
        limits = (
            base.transform_filter(alt.datum.kind == _say("limit"))
            .mark_tick(thickness=3, size=20, opacity=1)
            .encode(x=share, color=colour)
        )
        return alt.layer(way, points, limits).properties(width=270, height=alt.Step(32))

    panels = [
        draw_panel(_say(kind), first=number == 0) for number, kind in enumerate(SUCCESS_KINDS)
    ]
    # Browsers set text wider than the renderer measures it: without room, long names are cut.
    chart = alt.hconcat(*panels, data=Chart.source(), spacing=28).properties(
        padding={"left": 28, "top": 5, "right": 5, "bottom": 5},
        title=build_title(_find_title(assessments), _say("subject")),
    )
    shares = "; ".join(
        f"{r['adversary']}, {r['success']}, {r['kind']}: {format_percent(r['share'])}"
        for r in records
    )
    return Chart.of(chart, records, _say("description", shares=shares))


def _find_title(ranked: Sequence[Assessment]) -> str:
    """The gravest who knows something for certain, and how much; nobody only if that is proved."""
    knowing = [each for each in ranked if each.deterministic.posterior > 0]
    if knowing:
        gravest = knowing[0]
        share = float(gravest.deterministic.posterior)
        return _say("title", adversary=gravest.adversary, share=share)
    most = max((float(each.at_worst.deterministic.posterior) for each in ranked), default=0.0)
    return _say("not_excluded", share=most) if most > 0 else _say("nothing")


def _list_marks(verdict: Verdict, assessment: Assessment) -> list[dict[str, Any]]:
    marks = []
    for kind in SUCCESS_KINDS:
        # What a gain is worth is no share; the picture shows what is guessed right.
        success = assessment.deterministic if kind == "deterministic" else assessment.guessed
        row = {"adversary": assessment.adversary, "success": _say(kind)}
        marks.append({**row, "kind": _say("before"), "share": float(success.prior)})
        marks.append({**row, "kind": _say("after"), "share": float(success.posterior)})
        worst = assessment.at_worst
        if worst is not assessment:
            most = worst.deterministic if kind == "deterministic" else worst.guessed
            marks.append({**row, "kind": _say("at_most"), "share": float(most.posterior)})
        marks += [
            {**row, "kind": _say("limit"), "share": float(outcome.limit.bound)}
            for outcome in verdict.outcomes
            if outcome.subject == assessment.adversary
            and outcome.limit.measure == f"{kind}.posterior"
            and outcome.limit.at_most is not None
            and not (assessment.by_gain and kind == "probabilistic")
        ]
    return marks


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.adversaries.{key}", values))
