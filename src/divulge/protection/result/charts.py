"""Charts of protection: unique records under each way of counting; risk against utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.assessment import Chart
from divulge.assessment.chart import BEFORE_COLOUR, RISK_COLOUR
from divulge.assessment.sentence import format_percent
from divulge.records.risk.frequencies import SEMANTICS

if TYPE_CHECKING:
    from divulge.protection.result.protected import Protected


def draw_unique_counts(protected: Protected) -> Chart:
    """How many are unique before and after, under each way of counting."""
    import altair as alt

    first, then = protected.frequencies
    records = [
        {"counted": name, "when": when, "alone": frequencies.others[name]}
        for name in SEMANTICS
        for when, frequencies in (("before", first), ("after", then))
    ]
    subjects = protected.original.subjects
    chart = (
        alt.Chart(
            Chart.source(), title=f"How many {subjects} are unique, by what a null is taken for"
        )
        .mark_bar()
        .encode(
            x=alt.X("alone:Q", title=subjects, axis=alt.Axis(format=",d", tickCount=5)),
            y=alt.Y("counted:N", title=None, sort=None),
            yOffset=alt.YOffset("when:N", sort=["before", "after"]),
            color=alt.Color(
                "when:N",
                title=None,
                sort=["before", "after"],
                scale=alt.Scale(domain=["before", "after"], range=[BEFORE_COLOUR, RISK_COLOUR]),
            ),
        )
        .properties(width=380)
    )
    description = "; ".join(f"{r['counted']}, {r['when']}: {r['alone']:,}" for r in records)
    return Chart.of(chart, records, f"Unique {subjects}: {description}")


def draw_risk_utility(points: Sequence[Mapping[str, Any]], title: str) -> Chart:
    """The map of risk against loss: one line per method, one point per k."""
    import altair as alt

    base = alt.Chart(Chart.source(), title=title).encode(
        x=alt.X("loss:Q", title="Loss (share of what could be lost)", axis=alt.Axis(format="%")),
        y=alt.Y("risk:Q", title="found by who knows and weighs", axis=alt.Axis(format="%")),
        color=alt.Color("method:N", title=None),
    )
    chart = (
        base.mark_line(point=True).encode(order="k:Q")
        + base.mark_text(dy=-10, fontSize=11).encode(text="k:N")
    ).properties(width=420, height=260)
    description = "; ".join(
        f"{p['method']}, k = {p['k']}: risk {format_percent(p['risk'])}, "
        f"loss {format_percent(p['loss'])}"
        for p in points
    )
    return Chart.of(chart, list(points), f"{title}: {description}")
