"""Large neighbourhood search by lattice: some packages of two bins are split anew.

As many packages as are needed for other splits to be likely: the more amounts, the more packages.
Where bins are large, each such split shows of many packages at once that they could be elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.problem.bitsets import unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration
from divulge.work.arrays import Bools, Ints


class LatticeResplit:
    """What was tried so far between two bins, and for one pair; it goes on where it was left."""

    def __init__(self, instance: Instance, random: np.random.Generator) -> None:
        self.instance, self.random = instance, random
        self.bin_tries = np.zeros((instance.bins, instance.bins), np.int64)
        self.pair_tries = np.zeros((instance.packages, instance.bins), np.int64)
        self.last_bins: tuple[int, int] | None = None

    def find_splits(self, place: Ints, possible: Bools, proved: Bools) -> Ints | None:
        """Some allocations that differ from one between two bins; None if nothing is left."""
        bins_and_package = self._choose_pair(place, possible, proved)
        if bins_and_package is None:
            bins_and_package = self._choose_two_bins(place, possible, proved)
        if bins_and_package is None:
            return None
        a, b, package = bins_and_package
        packages = self._choose_packages(place, possible, proved, a=a, b=b, package=package)
        return self._split_packages(place, a, b, package, packages)

    def record_outcome(self, new: bool) -> None:
        """Whether the last splits have proved anything: if not, these bins are tried less."""
        if self.last_bins is not None:
            a, b = self.last_bins
            tries = max(0, self.bin_tries[a, b] - 1) if new else self.bin_tries[a, b] + 1
            self.bin_tries[a, b] = self.bin_tries[b, a] = tries

    def _choose_pair(
        self, place: Ints, possible: Bools, proved: Bools
    ) -> tuple[int, int, int] | None:
        """A package that is wanted in another bin: where it is, where it goes, and which."""
        if self.random.random() > tuning.LATTICE_RESPLIT_ONE_PAIR_SHARE:
            return None
        weights = _weigh_open_pairs(possible, proved) / (1.0 + self.pair_tries) ** 2
        weights[self.pair_tries >= tuning.LATTICE_RESPLIT_TRIES_PER_PAIR] = 0
        if not weights.any():
            return None
        index = int(self.random.choice(weights.size, p=weights.ravel() / weights.sum()))
        package, b = divmod(index, self.instance.bins)
        self.pair_tries[package, b] += 1
        self.last_bins = None
        return int(place[package]), b, package

    def _choose_two_bins(
        self, place: Ints, possible: Bools, proved: Bools
    ) -> tuple[int, int, int] | None:
        """Two bins between which much is wanted."""
        weights = np.zeros((self.instance.bins, self.instance.bins))
        np.add.at(weights, place, _weigh_open_pairs(possible, proved))
        weights = (weights + weights.T) / (1.0 + self.bin_tries) ** 2
        np.fill_diagonal(weights, 0)
        if (
            not weights.any()
            or self.bin_tries[weights > 0].min() >= tuning.LATTICE_RESPLIT_TRIES_PER_PAIR
        ):
            return None
        index = int(self.random.choice(weights.size, p=weights.ravel() / weights.sum()))
        self.last_bins = divmod(index, self.instance.bins)
        return *self.last_bins, -1

    def _choose_packages(
        self, place: Ints, possible: Bools, proved: Bools, *, a: int, b: int, package: int
    ) -> Ints:
        """Packages of two bins that could move, as many as are likely to have other splits."""
        instance = self.instance
        inside = (place == a) | (place == b)
        movable = np.flatnonzero(inside & possible[:, a] & possible[:, b])
        movable = movable[movable != package]
        urgency = self.random.random(len(movable))
        urgency -= tuning.LATTICE_RESPLIT_OPEN_PAIR_BONUS * ~(
            proved[movable, a] & proved[movable, b]
        )
        movable = movable[np.argsort(urgency)]
        width = np.minimum(instance.high[b] - instance.low[b], instance.high[a] - instance.low[a])
        squares = np.cumsum(instance.amounts[movable].astype(np.float64) ** 2, axis=0)
        bits = np.log2(np.maximum(1.0, 2 * np.sqrt(squares) / (width + 1))).sum(axis=1)
        surplus = np.arange(1, len(movable) + 1) - bits
        enough = (
            int(np.argmax(surplus > tuning.LATTICE_RESPLIT_SURPLUS_BITS)) + 1
            if (surplus > tuning.LATTICE_RESPLIT_SURPLUS_BITS).any()
            else None
        )
        some: Ints = movable[:enough][: tuning.LATTICE_RESPLIT_MOST_PACKAGES]
        return some

    def _split_packages(self, place: Ints, a: int, b: int, package: int, movable: Ints) -> Ints:
        """Splits of the chosen packages between two bins; all others stay where they are."""
        instance = self.instance
        inside = (place == a) | (place == b)
        both = instance.amounts[inside].sum(axis=0)
        low, high = instance.low.copy(), instance.high.copy()
        low[b], high[b] = instance.complement_window(b, a, both)
        must = place == b
        must[movable] = False
        if package >= 0:
            must[package] = True
        can = must.copy()
        can[movable] = True
        restricted = replace(instance, low=low, high=high)
        fitting_sets = lattice_enumeration.enumerate_fitting_sets(
            restricted,
            b,
            can,
            forced=must,
            most_steps=tuning.LATTICE_RESPLIT_MOST_STEPS,
            most_sets=0,
            enough=tuning.LATTICE_RESPLIT_ENOUGH_SPLITS,
            random=self.random,
        )
        if fitting_sets is None:
            return np.empty((0, len(place)), np.int64)
        into_b = unpack_bitsets(fitting_sets.witnesses, instance.packages)
        return np.where(into_b, b, np.where(inside, a, place))


def _weigh_open_pairs(
    possible: Bools, proved: Bools
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """How much each pair that is not proved is wanted."""
    ambiguous = proved.sum(axis=1, keepdims=True) > 1
    return np.where(ambiguous, 1.0, tuning.LATTICE_RESPLIT_UNAMBIGUOUS_WEIGHT) * (
        possible & ~proved
    )
