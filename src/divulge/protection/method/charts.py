"""The chart of what knowing the method adds: by attribute, guesses with and without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from divulge.assessment import Chart
from divulge.assessment.chart import BEFORE_COLOUR, RISK_COLOUR
from divulge.assessment.sentence import Sentence, format_percent, read_phrases

if TYPE_CHECKING:
    from divulge.protection.method.outcomes import MethodFigures

CATALOGUE = "divulge.protection"


def draw_method_knowledge(figures: Mapping[str, MethodFigures]) -> Chart:
    """Two bars for each attribute: guessed right without knowing the method, and with it."""
    import altair as alt

    kinds = read_phrases(CATALOGUE, "chart.method.kinds")
    records = [
        {"attribute": name, "kind": kind, "share": count / f.hidden, "hidden": f.hidden}
        for name, f in figures.items()
        for kind, count in zip(kinds, (f.base, f.right), strict=True)
    ]
    chart = (
        alt.Chart(Chart.source(), title=_say("title"))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title=_say("share"), axis=alt.Axis(format="%")),
            y=alt.Y("attribute:N", title=None, sort=None),
            yOffset=alt.YOffset("kind:N", sort=list(kinds)),
            color=alt.Color(
                "kind:N",
                title=None,
                sort=list(kinds),
                scale=alt.Scale(domain=list(kinds), range=[BEFORE_COLOUR, RISK_COLOUR]),
            ),
        )
        .properties(width=380)
    )
    shares = "; ".join(
        f"{r['attribute']}, {r['kind']}: {format_percent(float(str(r['share'])))}" for r in records
    )
    return Chart.of(chart, records, _say("description", shares=shares))


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.method.{key}", values))
