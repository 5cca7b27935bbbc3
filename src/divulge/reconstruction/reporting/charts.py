"""Charts of reconstruction: packages in their bins, time by complexity, success by phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from divulge.assessment import Chart
from divulge.assessment.chart import RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import Sentence, format_percent
from divulge.reconstruction import tuning

CATALOGUE = "divulge.reconstruction"


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
        "x": alt.X("x:Q", title=_say("packages.first"), axis=alt.Axis(tickCount=3)),
        "y": alt.Y(
            "y:Q", title=_say("packages.second") if second else None, axis=alt.Axis(tickCount=3)
        ),
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
        .properties(title=_say("packages.title"))
    )
    # The description is of all bins, also of those that are not drawn.
    package_counts = Counter(allocation.values())
    by_bin = "; ".join(_say("packages.of_bin", bin=b, count=package_counts[b]) for b in bins)
    most = tuning.CHART_MOST_BINS
    key = "packages.description_of_first" if len(bins) > most else "packages.description"
    return Chart.of(chart, records, _say(key, most=most, by_bin=by_bin))


def draw_phases(rows: Sequence[Any]) -> Chart:
    """The chance to name the right party after every phase: by places left, and by counting."""
    import altair as alt

    records = [
        {"phase": row.phase, "chance": row.probability, "counted": row.by_counting} for row in rows
    ]
    base = alt.Chart(Chart.source(), title=_say("phases.title")).encode(
        y=alt.Y("phase:N", sort=None, title=_say("phases.phase"))
    )
    bars = base.mark_bar(color=SAFE_COLOUR).encode(
        x=alt.X("chance:Q", title=_say("phases.chance"), axis=alt.Axis(format="%"))
    )
    ticks = base.mark_tick(color=RISK_COLOUR, thickness=3).encode(x="counted:Q")
    by_phase = "; ".join(f"{row.phase}: {format_percent(row.probability)}" for row in rows)
    chart = (bars + ticks).properties(width=420)
    return Chart.of(chart, records, _say("phases.description", by_phase=by_phase))


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
    base = alt.Chart(Chart.source(), title=_say("complexity.title")).encode(
        x=alt.X("complexity:Q", title=_say("complexity.complexity"))
    )
    blue, red = (alt.OverlayMarkDef(color=colour) for colour in (SAFE_COLOUR, RISK_COLOUR))
    line = base.mark_line(point=blue, color=SAFE_COLOUR).encode(
        y=alt.Y(
            "seconds:Q",
            title=_say("complexity.seconds"),
            scale=alt.Scale(type="log"),
            axis=alt.Axis(tickCount=5, format="~g"),
        )
    )
    closed = base.mark_line(point=red, color=RISK_COLOUR).encode(
        y=alt.Y("closed:Q", title=_say("complexity.closed"), axis=alt.Axis(format="%"))
    )
    chart = (line + closed).resolve_scale(y="independent").properties(width=420, height=240)
    groups_text = "; ".join(_say("complexity.of_group", **record) for record in records)
    return Chart.of(chart, records, _say("complexity.description", groups=groups_text))


def draw_remedies(evaluations: Sequence[Any]) -> Chart:
    """How many places stay certain under each remedy, by what it costs."""
    import altair as alt

    now = evaluations[0]
    kinds = list(dict.fromkeys(one.kind for one in evaluations[1:]))
    records = [_build_point(now, kind, 0, _say("remedies.as_it_is")) for kind in kinds]
    records += [
        _build_point(one, one.kind, n, one.strength)
        for n, one in enumerate(evaluations[1:], start=1)
    ]
    base = alt.Chart(Chart.source(), title=_say("remedies.title")).encode(
        x=alt.X("cost:Q", title=_say("remedies.cost"), axis=alt.Axis(format="%")),
        y=alt.Y("certain:Q", title=_say("remedies.certain")),
        color=alt.Color("remedy:N", title=None, sort=None),
    )
    shapes = ["circle", "cross", "triangle-down"]
    verdicts = alt.Scale(domain=["yes", "not shown", "no"], range=shapes)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        shape=alt.Shape("enough:N", title=_say("remedies.enough"), scale=verdicts),
        tooltip=["remedy:N", "strength:N", "certain:Q", "undecided:Q", "enough:N", "cost:Q"],
    )
    chart = (base.mark_line().encode(order="n:Q") + points).properties(width=420, height=240)
    last = {one.kind: one for one in evaluations[1:]}
    remainders = "; ".join(f"{k.replace('_', ' ')}: {_describe_remainder(last[k])}" for k in kinds)
    description = _say("remedies.description", now=now.certain, remainders=remainders)
    return Chart.of(chart, records, description)


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
    key = "remedies.not_shown" if one.verdict == "not shown" else "remedies.shown"
    return _say(key, certain=one.certain, undecided=one.undecided)


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.{key}", values))
