"""The sweep of protected records by somebody who knows what everybody's values were.

Each set is an attack of its own on what may be whose, which is dear. What protection hides or makes
coarser can only join people whom the original tells apart: whoever looks like me in the original
may also be me in the release. So by no set is more known, nor more guessed right, than in the
original, where all sets are counted in one walk; a set that cannot be the worst by that is left
out. A record that shows nothing at all counts as removed: it is nobody's company any more, and then
no set is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.records.attack_models import attack
from divulge.records.inference import charts
from divulge.records.sweep.assess import join_worst
from divulge.records.sweep.result import Success
from divulge.records.sweep.settings import SweepSettings
from divulge.records.sweep.worst_sets import WorstSets, run_sweep
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    from divulge.assessment import Chart

TOLERANCE = 1e-12
"""Shares that are weighed end this near to what they are."""


def assess_protected_sweep(
    original: Dataset, released: Dataset, settings: SweepSettings
) -> Assessment:
    """Assess all sets for somebody who knows the original of the same records, in their order."""
    secrets = [] if settings.seeks is None else [settings.seeks]
    swept = run_sweep(original, settings, secrets)
    search = _SetSearch(of_original=WorstSets(swept, settings), released=released)
    certain = search.find_worst("deterministic")
    right = search.find_worst("probabilistic")
    assessment = join_worst(swept, settings, certain, right)

    def draw_chart() -> Chart:
        shares = assessment.deterministic, assessment.guessed
        return charts.draw_before_and_after("protected", *shares)

    return replace(
        assessment,
        claim="estimate" if right.claim == "estimate" else assessment.claim,
        _chart=draw_chart,
        _risk=lambda: search.highest_risk,
        _highest=search.find_highest,
    )


@dataclass(kw_only=True)
class _SetSearch:
    """Sets attacked in the order in which they may be the worst, until no other can be."""

    of_original: WorstSets
    released: Dataset
    attacked: dict[int, Assessment] = field(default_factory=dict)
    """Their figures alone: what an assessment can be asked later would hold all its records."""
    highest: dict[int, Fraction | float] = field(default_factory=dict)
    risk: Floats | None = None

    def find_worst(self, kind: Success) -> Assessment:
        """The worst set by one kind of success."""
        bounds = self.of_original.list_success(kind)
        worst: Assessment | None = None
        with work.step("Assessing sets of quasi-identifiers", len(bounds)) as step:
            for place in np.argsort(-bounds, kind="stable").tolist():
                least = 0.0 if worst is None else _take_success(worst, kind) + TOLERANCE
                if worst is not None and bounds[place] <= least and not self._has_removed:
                    break
                found = self._attack_set(place)
                if worst is None or _rank(found, kind) > _rank(worst, kind):
                    worst = found
                step.advance()
        assert worst is not None  # noqa: S101  # a sweep has a set at least
        return worst

    @property
    def highest_risk(self) -> Floats:
        """The highest risk of each record, in the sets that were attacked."""
        assert self.risk is not None  # noqa: S101  # asked when something was attacked
        return self.risk

    def find_highest(self) -> Fraction | float:
        """The risk of the record that is easiest to find, over all sets."""
        for place in range(len(self.of_original.sweep)):
            self._attack_set(place)
        return max(self.highest.values())

    @property
    def _has_removed(self) -> bool:
        """Whether some record shows nothing."""
        return any(found.figures.get("removed", 0) > 0 for found in self.attacked.values())

    def _attack_set(self, place: int) -> Assessment:
        if place in self.attacked:
            return self.attacked[place]
        settings, swept = self.of_original.settings, self.of_original.sweep
        found = attack(
            swept.dataset,
            "CRS" if settings.seeks is None else "CAS",
            swept.names(place),
            settings.seeks,
            release=self.released,
            prior=settings.prior,
            records_known=settings.records_known,
        )
        risk = found.risk()
        self.risk = risk if self.risk is None else np.maximum(self.risk, risk)
        self.highest[place] = found.find_highest_risk()
        self.attacked[place] = replace(found, _breakdown=None, _risk=None, _chart=None)
        return found


def _take_success(assessment: Assessment, kind: Success) -> float:
    return float(getattr(assessment, kind).posterior)


def _rank(assessment: Assessment, kind: Success) -> tuple[float, float]:
    """What makes a set worse: the kind of success that is asked for, then both."""
    both = assessment.deterministic.posterior + assessment.probabilistic.posterior
    return _take_success(assessment, kind), both
