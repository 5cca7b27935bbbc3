"""Other allocations near one: some packages of two bins are split anew, by their lattice.

As many packages as are needed for other splits to be likely: the more amounts, the more packages.
Where bins are large, each such split shows of many packages at once that they could be elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import masks_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration

NOT_AMBIGUOUS = 10.0
"""How much more is wanted of a package that has one place proved only."""
WANTED_FIRST = 0.3
ONE_PAIR = 0.5
"""How often one pair is wanted, rather than whatever two bins promise."""
TRIES_PER_PAIR = 16
SURPLUS = 8.0
"""How many packages more than bits that their sums must meet: as many splits as two to this."""
MOST_PACKAGES = 90
STEPS = 200_000
SPLITS_WANTED = 12


class Near:
    """What was tried so far between two bins, and for one pair; it goes on where it was left."""

    def __init__(self, instance: Instance, random: np.random.Generator) -> None:
        self.instance, self.random = instance, random
        self.between = np.zeros((instance.bins, instance.bins), np.int64)
        self.for_pair = np.zeros((instance.packages, instance.bins), np.int64)
        self.last: tuple[int, int] | None = None

    def splits(self, place: Ints, possible: Bools, proved: Bools) -> Ints | None:
        """Some allocations that differ from one between two bins; None if nothing is left."""
        chosen = self._one_pair(place, possible, proved)
        if chosen is None:
            chosen = self._two_bins(place, possible, proved)
        if chosen is None:
            return None
        a, b, package = chosen
        return self._split(place, a, b, package, self._enough(place, possible, proved, *chosen))

    def told(self, new: bool) -> None:
        """Whether the last splits have proved anything: if not, these bins are tried less."""
        if self.last is not None:
            a, b = self.last
            tries = max(0, self.between[a, b] - 1) if new else self.between[a, b] + 1
            self.between[a, b] = self.between[b, a] = tries

    def _one_pair(self, place: Ints, possible: Bools, proved: Bools) -> tuple[int, int, int] | None:
        """A package that is wanted in another bin: where it is, where it goes, and which."""
        if self.random.random() > ONE_PAIR:
            return None
        wanted = _wanted(possible, proved) / (1.0 + self.for_pair) ** 2
        wanted[self.for_pair >= TRIES_PER_PAIR] = 0
        if not wanted.any():
            return None
        drawn = int(self.random.choice(wanted.size, p=wanted.ravel() / wanted.sum()))
        package, b = divmod(drawn, self.instance.bins)
        self.for_pair[package, b] += 1
        self.last = None
        return int(place[package]), b, package

    def _two_bins(self, place: Ints, possible: Bools, proved: Bools) -> tuple[int, int, int] | None:
        """Two bins between which much is wanted."""
        between = np.zeros((self.instance.bins, self.instance.bins))
        np.add.at(between, place, _wanted(possible, proved))
        between = (between + between.T) / (1.0 + self.between) ** 2
        np.fill_diagonal(between, 0)
        if not between.any() or self.between[between > 0].min() >= TRIES_PER_PAIR:
            return None
        drawn = int(self.random.choice(between.size, p=between.ravel() / between.sum()))
        self.last = divmod(drawn, self.instance.bins)
        return *self.last, -1

    def _enough(
        self, place: Ints, possible: Bools, proved: Bools, a: int, b: int, package: int
    ) -> Ints:
        """Packages of two bins that could move, as many as are likely to have other splits."""
        instance = self.instance
        inside = (place == a) | (place == b)
        movable = np.flatnonzero(inside & possible[:, a] & possible[:, b])
        movable = movable[movable != package]
        urgency = self.random.random(len(movable))
        urgency -= WANTED_FIRST * ~(proved[movable, a] & proved[movable, b])
        movable = movable[np.argsort(urgency)]
        width = np.minimum(instance.high[b] - instance.low[b], instance.high[a] - instance.low[a])
        squares = np.cumsum(instance.amounts[movable].astype(np.float64) ** 2, axis=0)
        bits = np.log2(np.maximum(1.0, 2 * np.sqrt(squares) / (width + 1))).sum(axis=1)
        surplus = np.arange(1, len(movable) + 1) - bits
        enough = int(np.argmax(surplus > SURPLUS)) + 1 if (surplus > SURPLUS).any() else None
        some: Ints = movable[:enough][:MOST_PACKAGES]
        return some

    def _split(self, place: Ints, a: int, b: int, package: int, chosen: Ints) -> Ints:
        """Splits of the chosen packages between two bins; all others stay where they are."""
        instance = self.instance
        inside = (place == a) | (place == b)
        both = instance.amounts[inside].sum(axis=0)
        low, high = instance.low.copy(), instance.high.copy()
        low[b], high[b] = instance.window_beside(b, a, both)
        must = place == b
        must[chosen] = False
        if package >= 0:
            must[package] = True
        can = must.copy()
        can[chosen] = True
        narrowed = replace(instance, low=low, high=high)
        found = lattice_enumeration.fitting(
            narrowed, b, can, must, STEPS, 0, SPLITS_WANTED, self.random
        )
        if found is None:
            return np.empty((0, len(place)), np.int64)
        into_b = masks_of(found.telling, instance.packages)
        return np.where(into_b, b, np.where(inside, a, place))


def _wanted(possible: Bools, proved: Bools) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """How much each pair that is not proved is wanted."""
    ambiguous = proved.sum(axis=1, keepdims=True) > 1
    return np.where(ambiguous, 1.0, NOT_AMBIGUOUS) * (possible & ~proved)
