"""Charts of attacks on histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Chart
from divulge.assessment.chart import BEFORE_COLOUR, LIMIT_COLOUR, RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import format_percent

if TYPE_CHECKING:
    from divulge.events.knowledge.attacker import Attacker

BANDS = (
    (0, 0, "none"),
    (1, 1, "1"),
    (2, 2, "2"),
    (3, 4, "3-4"),
    (5, 9, "5-9"),
    (10, 99, "10-99"),
    (100, None, "100 or more"),
)
"""How many users fit, as one speaks of it."""


MAX_MARKS = 1_000
"""More than so many marks are drawn together."""


def draw_matches_chart(shares: npt.NDArray[np.float64], attacker: Attacker) -> Chart:
    """How many users fit what the adversary knows: one on the left."""
    import altair as alt

    records = []
    for low, high, label in BANDS:
        share = float(shares[low : None if high is None else high + 1].sum())
        if label != "none" or share:
            records.append({"users": label, "share": share})
    base = alt.Chart(Chart.source(), title="How many users fit what the adversary knows").encode(
        x=alt.X("users:N", sort=None, title="users who fit", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", title=f"share, by {attacker.drawn}", axis=alt.Axis(format="%")),
    )
    bars = base.mark_bar().encode(
        color=alt.condition(alt.datum.users == "1", alt.value(RISK_COLOUR), alt.value(SAFE_COLOUR))
    )
    marks = base.mark_text(dy=-6, fontSize=11).encode(text=alt.Text("share:Q", format=".1%"))
    caption = "; ".join(f"{r['users']}: {format_percent(float(str(r['share'])))}" for r in records)
    picture = (bars + marks).properties(width=420, height=220)
    return Chart.of(picture, records, f"Share of knowledge by how many users fit it: {caption}")


def draw_ten_attackers_chart(records: Sequence[Mapping[str, Any]], weight: str) -> Chart:
    """The ten attackers: exact as bars, the estimate as a mark."""
    import altair as alt

    base = alt.Chart(Chart.source(), title="Ten attackers").encode(
        y=alt.Y("attacker:N", sort=None, title=None, axis=alt.Axis(labelLimit=320, minExtent=270))
    )
    bars = base.mark_bar(color=RISK_COLOUR).encode(
        x=alt.X(
            "exact:Q",
            title=f"share identified, by {weight} (tick: estimate)",
            axis=alt.Axis(format="%"),
        )
    )
    ticks = base.mark_tick(color=LIMIT_COLOUR, thickness=3).encode(x="estimate:Q")
    caption = "; ".join(f"{r['attacker']}: {format_percent(r['exact'])}" for r in records)
    return Chart.of(
        (bars + ticks).properties(width=420), list(records), f"Ten attackers: {caption}"
    )


def draw_frequencies_chart(values: npt.NDArray[np.int64], title: str, axis: str) -> Chart:
    """How often each value occurs (Ito et al. 2018, Fig. 1)."""
    import altair as alt

    value, count = np.unique(values, return_counts=True)
    records = [{"value": int(v), "count": int(c)} for v, c in zip(value, count, strict=True)]
    width = max(1, min(12, 380 // (int(value.max()) + 1)))
    scale = alt.Scale(domain=[0, int(value.max()) + 1], nice=False)
    bars = (
        alt.Chart(Chart.source(), title=title)
        .mark_bar(color=SAFE_COLOUR, size=width)
        .encode(x=alt.X("value:Q", title=axis, scale=scale), y=alt.Y("count:Q", title="events"))
        .properties(width=420, height=220)
    )
    most = int(value[np.argmax(count)])
    caption = f"{title}: from {value.min()} to {value.max()}, most often {most}"
    return Chart.of(bars, records, caption)


def draw_ranks_chart(counts: npt.NDArray[np.int64], title: str) -> Chart:
    """Frequencies by rank, the most frequent first (Ito et al. 2018, Fig. 2)."""
    import altair as alt

    scale = alt.Scale(type="log", nice=False)
    axis = alt.Axis(format="~s", tickCount=4)
    falling = np.sort(counts[counts > 0])[::-1]
    places = np.arange(len(falling))
    if len(places) > MAX_MARKS:  # on a logarithmic axis, later ranks lie on top of each other
        places = np.unique(np.geomspace(1, len(falling), MAX_MARKS).astype(np.int64)) - 1
    records = [{"rank": int(place) + 1, "count": int(falling[place])} for place in places]
    line = (
        alt.Chart(Chart.source(), title=title)
        .mark_line(color=RISK_COLOUR)
        .encode(
            x=alt.X("rank:Q", title="rank", scale=scale, axis=axis),
            y=alt.Y("count:Q", title="records", scale=scale, axis=axis),
        )
        .properties(width=420, height=220)
    )
    caption = f"{title}: {len(falling)} items, the most frequent in {int(falling[0])} records"
    return Chart.of(line, records, caption)


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
    base = alt.Chart(Chart.source(), title=f"Users and records that fit, knowing {knows}")
    dots = base.mark_circle(color=RISK_COLOUR, opacity=0.5).encode(
        x=alt.X("records:Q", title="records that fit", scale=scale, axis=axis),
        y=alt.Y("users:Q", title="users who fit (on the line: as many)", scale=scale, axis=axis),
        size=alt.Size("count:Q", title="how often", scale=alt.Scale(range=[15, 300]), legend=None),
    )
    line = base.mark_line(color=BEFORE_COLOUR).encode(x="users:Q", y="users:Q")
    below = float(np.mean(users < weights))
    caption = (
        f"Knowing {knows}, {format_percent(below)} of what may be known "
        "fits fewer users than records"
    )
    return Chart.of((dots + line).properties(width=420, height=300), records, caption)


def draw_unicity_chart(records: Sequence[Mapping[str, Any]]) -> Chart:
    """Users singled out by number of points, one line per granularity."""
    import altair as alt

    base = alt.Chart(Chart.source(), title="Users singled out by what is known of them").encode(
        x=alt.X("points:O", title="points known", axis=alt.Axis(labelAngle=0)),
    )
    colour = alt.Color("knows:N", title="of each point", sort=None)
    line = base.mark_line(point=True).encode(
        y=alt.Y(
            "share:Q",
            title="share of users",
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
    return Chart.of(picture, list(records), f"Share of users singled out: {caption}")
