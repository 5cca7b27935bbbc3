"""Which pairs of package and bin are in a set that fits the bin: asked pair by pair.

Where a bin has too many sets to list them all, one question is often still easy: is there a set
with this package, or without it? No set with it excludes the pair; no set without it excludes the
package's other bins. Sets that are found answer for all their packages, and an allocation that is
known answers for its pairs, so that few questions are left.
"""

from __future__ import annotations

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import masks_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.propagation.ratio_bounds import of_one_set
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.work import Effort

LONGEST_LIST = 100_000
LONGEST_TO_MEET = 0.3


class Support:
    """What was found to support pairs so far; it goes on where it was left."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        nothing = np.empty((0, instance.packages), bool)
        self.sets = [nothing] * instance.bins
        self.asked: dict[tuple[int, int, bool], tuple[int, bytes]] = {}

    def narrow(self, possible: Bools, proved: Bools, steps: int, effort: Effort) -> Bools | None:
        """What stays possible, by questions of so many steps each; None if nothing can be.

        >>> one = Instance.of(np.array([[5], [4], [2]]), np.array([[6], [5]]), np.array([[6], [5]]))
        >>> nothing = np.zeros((3, 2), bool)
        >>> Support(one).narrow(one.allowed, nothing, 1000, Effort(1)).astype(int).tolist()
        [[0, 1], [1, 0], [1, 0]]
        """
        possible = possible.copy()
        changed = True
        while changed and not effort.spent:
            changed = False
            for b in np.argsort(possible.sum(axis=0), kind="stable"):
                before = int(possible.sum())
                self._ask(possible, proved, int(b), steps, effort)
                if int(possible.sum()) == before:
                    continue
                changed = True
                left = propagate(self.instance, possible)
                if left is None:
                    return None
                possible = left
        return possible

    def _ask(self, possible: Bools, proved: Bools, b: int, steps: int, effort: Effort) -> None:
        """Exclude what no set of a bin supports."""
        settled = possible.sum(axis=1) == 1
        unsure = possible[:, b] & ~settled & (possible & ~proved).any(axis=1)
        with_it = unsure & ~proved[:, b]
        # If no set lacks a package it is in this bin, and then it is not proved elsewhere.
        without = unsure & ~(proved & (np.arange(self.instance.bins) != b)).any(axis=1)
        for package, inside in [
            *((int(p), True) for p in np.flatnonzero(with_it)),
            *((int(p), False) for p in np.flatnonzero(without)),
        ]:
            if effort.spent:
                return
            work.charge(tuning.QUESTION)
            if not possible[package, b] or possible[package].sum() == 1:
                continue
            if self._answered(possible, b, package, inside):
                continue
            found = self._set_of(possible, b, package, inside, steps, effort)
            if found is None:
                continue
            if len(found):
                self.sets[b] = np.concatenate([self.sets[b], found])
            elif inside:
                possible[package, b] = False
            else:
                possible[package] = False
                possible[package, b] = True

    def _answered(self, possible: Bools, b: int, package: int, inside: bool) -> bool:
        """Whether a set that is known and still allowed has the package, or lacks it."""
        sets = self.sets[b]
        if not len(sets):
            return False
        forced = possible[:, b] & (possible.sum(axis=1) == 1)
        sets = sets[sets[:, package] == inside]
        allowed = ~(sets & ~possible[:, b]).any(axis=1) & ~(forced & ~sets).any(axis=1)
        return bool(allowed.any())

    def _set_of(
        self, possible: Bools, b: int, package: int, inside: bool, steps: int, effort: Effort
    ) -> Bools | None:
        """A set of the bin with the package, or without it; none in it if there is none.

        None if that is not known after so many steps.
        """
        instance = self.instance
        forced = possible[:, b] & (possible.sum(axis=1) == 1)
        allowed = possible[:, b].copy()
        forced[package], allowed[package] = inside, inside
        candidates = _that_fit(instance, b, allowed, forced)
        if candidates is None:
            return np.empty((0, instance.packages), bool)
        key = (package, b, inside)
        asked = steps, candidates.tobytes() + forced.tobytes()
        if self.asked.get(key) == asked:
            return None
        self.asked[key] = asked
        narrowed = _by_prices(instance, b, candidates, forced)
        if narrowed is None:
            return np.empty((0, instance.packages), bool)
        candidates, forced = narrowed
        found = lattice_enumeration.fitting(instance, b, candidates, forced, steps, 1, enough=1)
        if found is None:
            soon = effort.part(LONGEST_TO_MEET)
            longest = min(LONGEST_LIST, steps)
            found = meet_in_middle.fitting(instance, b, candidates, forced, longest, 1, soon)
        if found is None:
            return None
        return masks_of(found.sets[:1], instance.packages)


def _that_fit(instance: Instance, b: int, candidates: Bools, forced: Bools) -> Bools | None:
    """Candidates that are not too large beside what is forced; None if that is too much itself."""
    most = int(instance.held[b] + candidates.sum())
    room: Ints = instance.high[b] + instance.widening[:, most] + instance.deeper[:, most]
    room = room - instance.amounts[forced].sum(axis=0)
    if (room < 0).any():
        return None
    small: Bools = candidates & (forced | (instance.amounts <= room).all(axis=1))
    return small


def _by_prices(
    instance: Instance, b: int, candidates: Bools, forced: Bools
) -> tuple[Bools, Bools] | None:
    """Who may and who must be in a set of a bin, by two amounts at once; None if there is none."""
    most = int(instance.held[b] + candidates.sum())
    wide, deep = instance.widening[:, most], instance.deeper[:, most]
    base = instance.amounts[forced].sum(axis=0)
    low, high = instance.low[b] - wide - base, instance.high[b] + wide + deep - base
    free = np.flatnonzero(candidates & ~forced)
    found = of_one_set(np.ascontiguousarray(instance.amounts[free]), low, high)
    if found is None:
        return None
    may, must = found
    candidates, forced = candidates.copy(), forced.copy()
    candidates[free[~may]], forced[free[must]] = False, True
    return candidates, forced
