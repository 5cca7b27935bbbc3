"""The chart of a refill attack: by attribute, what is refilled and what is guessed right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from divulge.assessment import Chart
from divulge.assessment.chart import BEFORE_COLOUR, LIMIT_COLOUR, RISK_COLOUR, SAFE_COLOUR
from divulge.assessment.sentence import Sentence, format_percent, read_phrases

if TYPE_CHECKING:
    from divulge.protection.refill.outcomes.figures import RefillFigures

CATALOGUE = "divulge.protection"


def draw_refill(figures: Mapping[str, RefillFigures]) -> Chart:
    """Bars for each attribute: refilled, best guess, guess from the keys, most frequent value."""
    import altair as alt

    kinds = read_phrases(CATALOGUE, "chart.refill.kinds")
    records = []
    for name, f in figures.items():
        refilled = f.claimed if f.right is None else f.right
        counts = (refilled, f.best_guess, f.keys_only, f.base_rate)
        records += [
            {"attribute": name, "kind": kind, "share": count / f.hidden, "hidden": f.hidden}
            for kind, count in zip(kinds, counts, strict=True)
        ]
    colours = [RISK_COLOUR, LIMIT_COLOUR, SAFE_COLOUR, BEFORE_COLOUR]
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
                scale=alt.Scale(domain=list(kinds), range=colours),
            ),
        )
        .properties(width=380)
    )
    shares = "; ".join(
        f"{r['attribute']}, {r['kind']}: {format_percent(float(str(r['share'])))}" for r in records
    )
    return Chart.of(chart, records, _say("description", shares=shares))


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"chart.refill.{key}", values))
