"""Charts of attacks on histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Chart
from divulge.assessment.chart import (
    BEFORE_COLOUR,
    LIMIT_COLOUR,
    RISK_COLOUR,
    SAFE_COLOUR,
    build_title,
)
from divulge.assessment.sentence import Sentence, format_percent, read_phrases

if TYPE_CHECKING:
    from divulge.events.knowledge.attacker import Attacker

CATALOGUE = "divulge.events"

BANDS = ((0, 0), (1, 1), (2, 2), (3, 4), (5, 9), (10, 99), (100, None))
"""How many users fit, as one speaks of it; the catalogue names them."""


MAX_MARKS = 1_000
"""More than so many marks are drawn together."""


def draw_matches_chart(shares: npt.NDArray[np.float64], attacker: Attacker) -> Chart:
    """How many users fit what the adversary knows: one on the left."""
    import altair as alt

    labels = read_phrases(CATALOGUE, "chart.matches.bands")
    records = []
    for (low, high), label in zip(BANDS, labels, strict=True):
        share = float(shares[low : None if high is None else high + 1].sum())
        if low or share:
            records.append({"users": label, "share": share})
    finding = _say("matches.finding", share=float(shares[1:2].sum()))
    base = alt.Chart(Chart.source(), title=build_title(finding, _say("matches.title"))).encode(
        x=alt.X("users:N", sort=None, title=_say("matches.users"), axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "share:Q",
            title=_say("matches.share", drawn=Sentence(CATALOGUE, f"drawn.{attacker.drawn}")),
            axis=alt.Axis(format="%"),
        ),
    )
    bars = base.mark_bar().encode(
        color=alt.condition(
            alt.datum.users == labels[1], alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR)
        )
    )
    marks = base.mark_text(dy=-6, fontSize=11).encode(text=alt.Text("share:Q", format=".1%"))
    caption = "; ".join(f"{r['users']}: {format_percent(float(str(r['share'])))}" for r in records)
    picture = (bars + marks).properties(width=420, height=220)
    return Chart.of(picture, records, _say("matches.description", shares=caption))


def draw_ten_attackers_chart(records: Sequence[Mapping[str, Any]], weight: str) -> Chart:
    """The ten attackers: exact as bars, the estimate as a mark."""
    import altair as alt

    base = alt.Chart(Chart.source(), title=_say("ten.title")).encode(
        y=alt.Y("attacker:N", sort=None, title=None, axis=alt.Axis(labelLimit=320, minExtent=270))
    )
    bars = base.mark_bar(color=RISK_COLOUR).encode(
        x=alt.X(
            "exact:Q",
            title=_say("ten.share", drawn=Sentence(CATALOGUE, f"drawn.{weight}")),
            axis=alt.Axis(format="%"),
        )
    )
    ticks = base.mark_tick(color=LIMIT_COLOUR, thickness=3).encode(x="estimate:Q")
    caption = "; ".join(f"{r['attacker']}: {format_percent(r['exact'])}" for r in records)
    picture = (bars + ticks).properties(width=420)
    return Chart.of(picture, list(records), _say("ten.description", shares=caption))


def draw_kinds_chart(values: npt.NDArray[np.int64]) -> Chart:
    """How many kinds of items the events have (Ito et al. 2018, Fig. 1)."""
    import altair as alt

    value, count = np.unique(values, return_counts=True)
    records = [{"value": int(v), "count": int(c)} for v, c in zip(value, count, strict=True)]
    width = max(1, min(12, 380 // (int(value.max()) + 1)))
    scale = alt.Scale(domain=[0, int(value.max()) + 1], nice=False)
    bars = (
        alt.Chart(Chart.source(), title=_say("kinds.title"))
        .mark_bar(color=SAFE_COLOUR, size=width)
        .encode(
            x=alt.X("value:Q", title=_say("kinds.kinds"), scale=scale),
            y=alt.Y("count:Q", title=_say("kinds.events")),
        )
        .properties(width=420, height=220)
    )
    extremes = {"least": value.min(), "most": value.max(), "frequent": value[np.argmax(count)]}
    return Chart.of(bars, records, _say("kinds.description", **extremes))


def draw_ranks_chart(counts: npt.NDArray[np.int64]) -> Chart:
    """Frequencies of items by rank, the most frequent first (Ito et al. 2018, Fig. 2)."""
    import altair as alt

    scale = alt.Scale(type="log", nice=False)
    axis = alt.Axis(format="~s", tickCount=4)
    falling = np.sort(counts[counts > 0])[::-1]
    places = np.arange(len(falling))
    if len(places) > MAX_MARKS:  # on a logarithmic axis, later ranks lie on top of each other
        places = np.unique(np.geomspace(1, len(falling), MAX_MARKS).astype(np.int64)) - 1
    records = [{"rank": int(place) + 1, "count": int(falling[place])} for place in places]
    line = (
        alt.Chart(Chart.source(), title=_say("ranks.title"))
        .mark_line(color=RISK_COLOUR)
        .encode(
            x=alt.X("rank:Q", title=_say("ranks.rank"), scale=scale, axis=axis),
            y=alt.Y("count:Q", title=_say("ranks.records"), scale=scale, axis=axis),
        )
        .properties(width=420, height=220)
    )
    description = _say("ranks.description", items=len(falling), most=int(falling[0]))
    return Chart.of(line, records, description)


def draw_users_by_records_chart(
    users: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], knows: str
) -> Chart:
    """|U_X| against |R_X|; on the line they are equal (Ito et al. 2018, Figs. 3 to 5)."""
    import altair as alt

    both = np.stack([users, weights.astype(np.int64)])
    pairs, count = np.unique(both, axis=1, return_counts=True)
    if len(count) > MAX_MARKS:  # to two digits, as far as the eye can tell them apart
        step = 10 ** np.maximum(np.floor(np.log10(both)) - 1, 0)
        both = (np.round(both / step) * step).astype(np.int64)
        pairs, count = np.unique(both, axis=1, return_counts=True)
    records = [
        {"users": int(u), "records": int(r), "count": int(c)}
        for u, r, c in zip(*pairs, count, strict=True)
    ]
    scale = alt.Scale(type="log", nice=False)
    axis = alt.Axis(format="~s", tickCount=4)
    base = alt.Chart(Chart.source(), title=_say("users.title", knows=knows))
    dots = base.mark_circle(color=RISK_COLOUR, opacity=0.5).encode(
        x=alt.X("records:Q", title=_say("users.records"), scale=scale, axis=axis),
        y=alt.Y("users:Q", title=_say("users.users"), scale=scale, axis=axis),
        size=alt.Size(
            "count:Q",
            title=_say("users.count"),
            scale=alt.Scale(range=[15, 300]),
            legend=None,
        ),
    )
    line = base.mark_line(color=BEFORE_COLOUR).encode(x="users:Q", y="users:Q")
    below = float(np.mean(users < weights))
    caption = _say("users.description", knows=knows, below=below)
    return Chart.of((dots + line).properties(width=420, height=300), records, caption)


def draw_unicity_chart(records: Sequence[Mapping[str, Any]]) -> Chart:
    """Users singled out by number of points, one line per granularity."""
    import altair as alt

    most = max(records, key=lambda each: (each["points"], each["share"]))
    finding = _say("unicity.finding", points=most["points"], share=most["share"])
    base = alt.Chart(Chart.source(), title=build_title(finding, _say("unicity.title"))).encode(
        x=alt.X("points:O", title=_say("unicity.points"), axis=alt.Axis(labelAngle=0)),
    )
    colour = alt.Color("knows:N", title=_say("unicity.knows"), sort=None)
    line = base.mark_line(point=True).encode(
        y=alt.Y(
            "share:Q",
            title=_say("unicity.share"),
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        color=colour,
    )
    bars = base.mark_rule().encode(y="low:Q", y2="high:Q", color=colour)
    caption = "; ".join(
        f"{r['knows']}, {r['points']}: {format_percent(r['share'])}" for r in records
    )
    picture = (bars + line).properties(width=420, height=260)
    return Chart.of(picture, list(records), _say("unicity.description", shares=caption))


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.{key}", values))
