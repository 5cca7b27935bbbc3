"""Charts of reconstruction: packages in their bins, time by complexity, success by phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import format_number, format_percent
from divulge.reconstruction import tuning


def draw_packages(
    allocation: Mapping[Any, Any],
    amounts: Any,
    bins: Sequence[Any],
    *,
    packages: Sequence[Any],
    totals: Sequence[Sequence[Decimal]],
    units: Sequence[Decimal],
) -> Chart:
    """Packages stacked corner to corner: they end where a bin's totals are (the paper's Fig. 3).

    One plane a bin, the first amount to the right, the second upwards; no name of a package is
    drawn.
    """
    import altair as alt

    records: list[dict[str, Any]] = []
    second = len(units) > 1
    for place, b in enumerate(bins[: tuning.CHART_MOST_BINS]):
        x = y = 0.0
        inside = [p for p, name in enumerate(packages) if allocation.get(name) == b]
        for p in sorted(inside, key=lambda p: -int(amounts[p, 0])):
            wide = float(amounts[p, 0] * units[0])
            high = float(amounts[p, 1] * units[1]) if second else 1.0
            corner = {"bin": str(b), "x": x, "x2": x + wide, "y": y, "y2": y + high}
            records.append({**corner, "kind": "package"})
            x, y = x + wide, y + (high if second else 0.0)
        total = [float(t) for t in totals[place]]
        end = total[1] if second else 1.0
        records.append({"bin": str(b), "x": total[0], "y": end, "kind": "total"})
    base = alt.Chart(Chart.source())
    axes = {
        "x": alt.X("x:Q", title="first amount", axis=alt.Axis(tickCount=3)),
        "y": alt.Y("y:Q", title="second amount" if second else None, axis=alt.Axis(tickCount=3)),
    }
    boxes = (
        base.transform_filter(alt.datum.kind == "package")
        .mark_rect(color=SAFE_COLOUR, stroke="white")
        .encode(**axes, x2="x2:Q", y2="y2:Q")
    )
    target = (
        base.transform_filter(alt.datum.kind == "total")
        .mark_point(color=RISK_COLOUR, shape="cross", size=120, strokeWidth=2)
        .encode(**axes)
    )
    chart = (
        (boxes + target)
        .properties(width=150, height=130)
        .facet(facet=alt.Facet("bin:N", title=None, sort=None), columns=3)
        .resolve_scale(x="independent", y="independent")
        .properties(title="Packages end where the published totals (crosses) are")
    )
    # The description is of all bins, also of those that are not drawn.
    package_counts = Counter(allocation.values())
    description = "; ".join(f"{b}: {format_number(package_counts[b])} packages" for b in bins)
    some = (
        f" (the first {tuning.CHART_MOST_BINS} are drawn)"
        if len(bins) > tuning.CHART_MOST_BINS
        else ""
    )
    return Chart.of(chart, records, f"Packages by bin{some}: {description}")


def draw_phases(rows: Sequence[Any]) -> Chart:
    """The chance to name the right party after every phase: by places left, and by counting."""
    import altair as alt

    records = [
        {"phase": row.phase, "chance": row.probability, "counted": row.by_counting} for row in rows
    ]
    base = alt.Chart(Chart.source(), title="The chance to name the party behind a record").encode(
        y=alt.Y("phase:N", sort=None, title="phase/step")
    )
    bars = base.mark_bar(color=SAFE_COLOUR).encode(
        x=alt.X("chance:Q", title="chance (tick: by counting)", axis=alt.Axis(format="%"))
    )
    ticks = base.mark_tick(color=RISK_COLOUR, thickness=3).encode(x="counted:Q")
    description = "; ".join(f"{row.phase}: {format_percent(row.probability)}" for row in rows)
    chart = (bars + ticks).properties(width=420)
    return Chart.of(chart, records, f"Chance to name the party by phase: {description}")


def draw_seconds_by_complexity(instances: Sequence[Any]) -> Chart:
    """The mean time of instances by complexity, and the share that was closed (Fig. 5)."""
    import altair as alt

    groups: dict[int, list[Any]] = {}
    for one in instances:
        groups.setdefault(min(int(one.complexity // 10) * 10, 200), []).append(one)
    records = [
        {
            "complexity": complexity,
            "seconds": max(1e-5, sum(s.seconds for s in members) / len(members)),
            "closed": sum(s.status == "closed" for s in members) / len(members),
            "instances": len(members),
        }
        for complexity, members in sorted(groups.items())
    ]
    base = alt.Chart(Chart.source(), title="Mean time of an instance, and the share closed").encode(
        x=alt.X(
            "complexity:Q", title="complexity (log10 of bins to the packages; last: 200 or more)"
        )
    )
    blue, red = (alt.OverlayMarkDef(color=colour) for colour in (SAFE_COLOUR, RISK_COLOUR))
    line = base.mark_line(point=blue, color=SAFE_COLOUR).encode(
        y=alt.Y(
            "seconds:Q",
            title="seconds (blue)",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(tickCount=5, format="~g"),
        )
    )
    closed = base.mark_line(point=red, color=RISK_COLOUR).encode(
        y=alt.Y("closed:Q", title="share closed (red)", axis=alt.Axis(format="%"))
    )
    chart = (line + closed).resolve_scale(y="independent").properties(width=420, height=240)
    description = "; ".join(
        f"{r['complexity']}: {format_percent(float(r['closed']))} closed" for r in records
    )
    return Chart.of(chart, records, f"Instances by complexity: {description}")


def draw_remedies(evaluations: Sequence[Any]) -> Chart:
    """How many places stay certain under each remedy, by what it costs."""
    import altair as alt

    now = evaluations[0]
    kinds = list(dict.fromkeys(one.kind for one in evaluations[1:]))
    records = [_build_point(now, kind, 0, "as it is") for kind in kinds]
    records += [
        _build_point(one, one.kind, n, one.strength)
        for n, one in enumerate(evaluations[1:], start=1)
    ]
    base = alt.Chart(
        Chart.source(), title="Places that stay certain, by what it costs in utility"
    ).encode(
        x=alt.X("cost:Q", title="utility lost", axis=alt.Axis(format="%")),
        y=alt.Y("certain:Q", title="places certain"),
        color=alt.Color("remedy:N", title=None, sort=None),
    )
    shapes = ["circle", "cross", "triangle-down"]
    verdicts = alt.Scale(domain=["yes", "not shown", "no"], range=shapes)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        shape=alt.Shape("enough:N", title="enough", scale=verdicts),
        tooltip=["remedy:N", "strength:N", "certain:Q", "undecided:Q", "enough:N", "cost:Q"],
    )
    chart = (base.mark_line().encode(order="n:Q") + points).properties(width=420, height=240)
    last = {one.kind: one for one in evaluations[1:]}
    description = "; ".join(f"{k.replace('_', ' ')}: {_describe_remainder(last[k])}" for k in kinds)
    return Chart.of(
        chart, records, f"Places certain, as it is {format_number(now.certain)}; {description}"
    )


def _build_point(one: Any, kind: str, n: int, strength: str) -> dict[str, Any]:
    """A remedy at one strength as a row of the chart's data."""
    return {
        "remedy": kind.replace("_", " "),
        "cost": one.cost,
        "certain": one.certain,
        "undecided": one.undecided,
        "enough": one.verdict,
        "strength": strength,
        "n": n,
    }


def _describe_remainder(one: Any) -> str:
    undecided = f", {format_number(one.undecided)} undecided" if one.verdict == "not shown" else ""
    return f"{format_number(one.certain)} certain{undecided}"
