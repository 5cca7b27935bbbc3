"""Who bears the risk, unasked: those with rare values against everybody.

No value of a record is told: a group is who has, of an attribute that an adversary knows, a value
that few have. Groups whose mean risk lies far above that of all are told, the most exposed first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.assessment import Assessment, Chart, Sentence
from divulge.assessment.chart import BEFORE_COLOUR, RISK_COLOUR, build_title
from divulge.assessment.sentence import format_percent
from divulge.data import Dataset, Relation
from divulge.release import tuning

if TYPE_CHECKING:
    from divulge.release.verdict import Verdict
    from divulge.work.arrays import Floats

CATALOGUE = "divulge.release"


@dataclass(frozen=True, kw_only=True)
class ExposedGroup:
    """Records with a rare value of an attribute, and how likely they are found or known."""

    attribute: str
    count: int
    risk: float


@dataclass(frozen=True, kw_only=True)
class RiskBearers:
    """The groups that bear more risk than others by one adversary."""

    subjects: str
    mean: float
    groups: tuple[ExposedGroup, ...]

    def sentences(self) -> list[Sentence]:
        """Each group, how many they are, and how their risk compares."""
        return [
            Sentence(
                CATALOGUE,
                "exposure.group",
                {
                    "attribute": each.attribute,
                    "count": each.count,
                    "subjects": self.subjects,
                    "share": tuning.RARE_SHARE,
                    "theirs": each.risk,
                    "mean": self.mean,
                    "factor": each.risk / self.mean,
                },
            )
            for each in self.groups
        ]

    def chart(self) -> Chart:
        """The mean risk of each group beside that of all."""
        import altair as alt

        everybody = _say("everybody", subjects=self.subjects)
        records = [
            {"group": everybody, "mean_risk": self.mean},
            *(
                {"group": _say("rare", attribute=each.attribute), "mean_risk": each.risk}
                for each in self.groups
            ),
        ]
        worst = self.groups[0]
        finding = _say("finding", attribute=worst.attribute, factor=worst.risk / self.mean)
        chart = (
            alt.Chart(Chart.source(), title=build_title(finding, _say("title")))
            .mark_bar()
            .encode(
                x=alt.X("mean_risk:Q", title=_say("axis"), axis=alt.Axis(format="%")),
                y=alt.Y("group:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
                color=alt.condition(
                    alt.datum.group == everybody, alt.value(BEFORE_COLOUR), alt.value(RISK_COLOUR)
                ),
            )
            .properties(width=360)
        )
        shares = "; ".join(
            f"{r['group']}: {format_percent(float(str(r['mean_risk'])))}" for r in records
        )
        return Chart.of(chart, records, _say("description", shares=shares))

    def to_dict(self) -> dict[str, Any]:
        """The groups as plain values; no value of a record."""
        return {
            "mean_risk": self.mean,
            "groups": [
                {"rare_value_of": each.attribute, "count": each.count, "mean_risk": each.risk}
                for each in self.groups
            ],
            "sentences": [sentence.render() for sentence in self.sentences()],
        }


def find_exposure(verdict: Verdict, assessment: Assessment) -> RiskBearers | None:
    """Who bears more risk than others by an adversary; None if nobody does, or it is not known."""
    dataset = verdict.datasets.get(assessment.dataset)
    if dataset is None or isinstance(dataset, Relation) or not assessment.has_risk:
        return None
    try:
        risk = assessment.risk()
    except work.Interruption:
        raise
    except work.DivulgeError:
        return None
    if len(risk) != dataset.rows or dataset.rows == 0 or not float(risk.mean()) > 0:
        return None
    groups = sorted(
        _list_groups(dataset, assessment.knows, risk), key=lambda each: (-each.risk, each.attribute)
    )
    if not groups:
        return None
    return RiskBearers(
        subjects=dataset.subjects,
        mean=float(risk.mean()),
        groups=tuple(groups[: tuning.MOST_EXPOSED_GROUPS]),
    )


def _list_groups(dataset: Dataset, knows: tuple[str, ...], risk: Floats) -> Iterator[ExposedGroup]:
    """Who has a rare value of what is known, where their risk lies far above the mean."""
    mean = float(risk.mean())
    for name in knows:
        if name not in dataset.columns:
            continue
        codes = dataset.columns[name].codes
        occurrences = np.bincount(codes)
        is_rare = occurrences[codes] < tuning.RARE_SHARE * dataset.rows
        count = int(np.count_nonzero(is_rare))
        # An attribute of which all values are rare tells nobody from others.
        if not tuning.FEWEST_EXPOSED <= count <= dataset.rows / 2:
            continue
        theirs = float(risk[is_rare].mean())
        if theirs >= tuning.FAR_ABOVE * mean:
            yield ExposedGroup(attribute=name, count=count, risk=theirs)


def _say(key: str, **values: Any) -> str:
    return str(Sentence(CATALOGUE, f"exposure.{key}", values))
