"""Chart and sentences that the attacks on suppressed cells share (refill, method)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from divulge.assessment import Assessment, Chart, Sentence
from divulge.assessment.sentence import format_percent, read_phrases
from divulge.data import Dataset
from divulge.qif import PriorPosterior

CATALOGUE = "divulge.protection"


def draw_guesses(
    attack: str, counts: Mapping[str, tuple[int, Sequence[float]]], colours: Sequence[str]
) -> Chart:
    """Bars for each attribute: of its hidden cells, the share that each way of guessing gets right.

    `counts` has, by attribute, how many cells are hidden, and how many are right by each way.
    """
    import altair as alt

    def say(key: str, **values: Any) -> str:
        return str(Sentence(CATALOGUE, f"chart.{attack}.{key}", values))

    kinds = read_phrases(CATALOGUE, f"chart.{attack}.kinds")
    records = [
        {"attribute": name, "kind": kind, "share": count / hidden, "hidden": hidden}
        for name, (hidden, right) in counts.items()
        for kind, count in zip(kinds, right, strict=True)
    ]
    chart = (
        alt.Chart(Chart.source(), title=say("title"))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title=say("share"), axis=alt.Axis(format="%")),
            y=alt.Y("attribute:N", title=None, sort=None),
            yOffset=alt.YOffset("kind:N", sort=list(kinds)),
            color=alt.Color(
                "kind:N",
                title=None,
                sort=list(kinds),
                scale=alt.Scale(domain=list(kinds), range=list(colours)),
            ),
        )
        .properties(width=380)
    )
    shares = "; ".join(
        f"{r['attribute']}, {r['kind']}: {format_percent(float(str(r['share'])))}" for r in records
    )
    return Chart.of(chart, records, say("description", shares=shares))


def assess_nothing_hidden(attack: str, dataset: Dataset) -> Assessment:
    """The assessment of a release that hides nothing: there is nothing to learn."""
    nothing = PriorPosterior(0.0, 0.0)
    return Assessment(
        secrets=0,
        certain=nothing,
        right=nothing,
        deterministic=nothing,
        probabilistic=nothing,
        attack=attack,
        model=attack,
        dataset=dataset.name,
        knows=(),
        seeks=(),
        subjects=str(Sentence(CATALOGUE, f"{attack}.subjects")),
        claim="exact",
        sentences=(Sentence(CATALOGUE, f"{attack}.nothing"),),
    )
