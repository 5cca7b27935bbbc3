"""The worst of all sets of attributes that an adversary may know.

Two sets may be the worst, one for what is known for certain and one for what is guessed right.
Where sets are equally bad, the one that does more of the other stands for them, and of those the
smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.records.attack_models import attack
from divulge.records.sweep.result import Success, Sweep
from divulge.records.sweep.settings import SweepSettings
from divulge.records.sweep.sweep import sweep
from divulge.work.arrays import Floats


def run_sweep(dataset: Dataset, settings: SweepSettings, secrets: Sequence[str]) -> Sweep:
    """All sets of an adversary, for some secrets."""
    return sweep(
        dataset,
        settings.knows,
        secrets,
        settings.sizes,
        sets=settings.sets,
        capacity=False,
        records_known=settings.records_known,
    )


@dataclass(frozen=True)
class WorstSets:
    """The sets of a sweep that are worst for what its adversary seeks, attacked one by one."""

    sweep: Sweep
    settings: SweepSettings

    @property
    def is_weighted(self) -> bool:
        """Whether records are as likely as they weigh."""
        return self.settings.prior is not None

    def list_success(self, kind: Success) -> Floats:
        """The success of each set."""
        return self.sweep.success(self.settings.seeks, kind, weighted=self.is_weighted)

    @cached_property
    def by_certainty(self) -> int:
        """The set by which most is known for certain."""
        return _find_worst(self.list_success("deterministic"), self.list_success("probabilistic"))

    @cached_property
    def by_guesses(self) -> int:
        """The set by which most is guessed right."""
        return _find_worst(self.list_success("probabilistic"), self.list_success("deterministic"))

    @cached_property
    def by_single_risk(self) -> int:
        """The set by which somebody is found or known most easily."""
        counts = self.sweep.figures.columns
        if self.settings.seeks is None and not self.is_weighted and self.sweep.people is None:
            return int(np.argmin(counts["k_anonymity"]))
        if self.list_success("deterministic")[self.by_certainty] > 0:
            return self.by_certainty
        highest = [self.attack_set(place).find_highest_risk() for place in range(len(self.sweep))]
        return highest.index(max(highest))

    def attack_set(self, place: int) -> Assessment:
        """What somebody finds who knows one of the sets."""
        seeks, names = self.settings.seeks, self.sweep.names(place)
        return attack(
            self.sweep.dataset,
            "CRS" if seeks is None else "CAS",
            names,
            seeks,
            prior=self.settings.prior,
            records_known=self.settings.records_known,
        )

    def compute_risk(self) -> Floats:
        """The risk of each record: the highest that one of the worst sets gives it."""
        places = {self.by_certainty, self.by_guesses, self.by_single_risk}
        risks: list[Floats] = [self.attack_set(place).risk() for place in sorted(places)]
        highest: Floats = np.maximum.reduce(risks)
        return highest

    def find_highest_risk(self) -> Fraction | float:
        """The risk of the record that is easiest to find, over all sets."""
        return self.attack_set(self.by_single_risk).find_highest_risk()


def _find_worst(success: Floats, otherwise: Floats) -> int:
    """The place of the highest success; among equals of the other, then the first."""
    highest = np.flatnonzero(success >= success.max())
    return int(highest[np.argmax(otherwise[highest])])
