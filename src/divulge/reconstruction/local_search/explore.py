"""Other allocations from one: the packages of two bins are put together and split anew.

Where there are very many allocations, most of what is not excluded is possible, and the proof is
an allocation that has it. Each step takes two bins between which something is not proved yet, and
looks for sets of their packages that make both sums. What is found is an allocation; what is not
found says nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.local_search.lattice_resplit import Near
from divulge.reconstruction.local_search.targeted_refill import Aim
from divulge.reconstruction.local_search.two_bin_resplit import NODES, all_splits, some_split
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort

SHORT_HALF = 100_000
LONG_HALF = 1_500_000
MOST_IN_FULL = 150
FORGETTING = 0.5
LEAST_WHILE = 0.02
WHILE = 0.08
IDLE_TRIES = 40
MOST_COMPLEX = 26.0
TRIES_PER_PAIR = 16
PROOFS_AT_ONCE = 256
STEPS_AT_ONCE = 3_000_000
SHORTEST_LIST = 16_384
LONGEST_LIST = 2**19


Way: TypeAlias = Callable[[Bools, Bools, Effort], bool]
"""A way to go on with some effort; False if there is no sense in going on with it."""


class Walk:
    """From one allocation to others, two bins at a time; it goes on where it was left.

    `enter` is told every allocation that has a pair which was not proved before, and marks it;
    `all_of` gives allocations of a small instance that have all of its pairs, or as many as are
    found with some effort.
    """

    def __init__(
        self,
        instance: Instance,
        start: Ints,
        enter: Callable[[Ints], None],
        all_of: Callable[[Instance, Effort], Ints],
    ) -> None:
        self.instance, self.enter, self.all_of = instance, enter, all_of
        self.place = start.astype(np.int64)
        self.of_bins = np.zeros((instance.bins, instance.bins), np.int64)
        self.of_pairs = np.zeros((instance.packages, instance.bins), np.int64)
        self.of_pairs_alone = np.zeros_like(self.of_pairs)
        self.seed = np.uint64(88172645463325252)
        self.random = np.random.default_rng(1)
        self.near = Near(instance, self.random)
        self.aim = Aim(instance, self.random)

    def explore(self, possible: Bools, proved: Bools, effort: Effort) -> None:
        """Until all that is possible is proved, nothing promises more, or the effort is spent.

        There are several ways to go on, and which is good differs from instance to instance: the
        way that has proved most with its effort is taken, for a while.
        """
        ways: list[Way] = [self._one_by_one]
        if not self.instance.counts_matter and self.instance.packages > MOST_IN_FULL:
            ways = [self._some_of_two_bins]
        elif not self.instance.counts_matter:
            ways = [self._two_bins, self._several_bins, *ways]
            ways += [self._some_of_two_bins, self._two_large_bins]
        if not self.instance.counts_matter:
            ways += [self._near_in_lattice, self._aimed]
        # How much each has proved of late, and with what effort. One that proves nothing is given
        # up the sooner the more others there are.
        patience = 1 / len(ways) ** 2
        proofs, spent = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
        while ways and not (possible == proved).all():
            way = max(ways, key=lambda way: (patience + proofs[way]) / max(spent[way], 1e-6))
            left, before = effort.left, int(proved.sum())
            if not left or (patience + proofs[way]) * left < spent[way] / 2:
                return
            turn = Effort(max(LEAST_WHILE, WHILE * left))
            work.charge(tuning.MOVE)
            on = way(possible, proved, turn)
            proofs[way] = FORGETTING * proofs[way] + int(proved.sum()) - before
            spent[way] = FORGETTING * spent[way] + turn.used
            if not on:
                ways.remove(way)

    def _two_bins(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        return self._in_full(possible, proved, SHORT_HALF, effort)

    def _two_large_bins(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        return self._in_full(possible, proved, LONG_HALF, effort)

    def _in_full(self, possible: Bools, proved: Bools, longest: int, effort: Effort) -> bool:
        """All splits of two bins, pair of bins after pair; False if a round told nothing new."""
        instance, random = self.instance, self.random
        before = int(proved.sum())
        for a, b in random.permutation(list(itertools.combinations(range(instance.bins), 2))):
            if effort.spent:
                return True
            inside = (self.place == a) | (self.place == b)
            if (possible[inside] <= proved[inside]).all():
                continue
            found = all_splits(instance, possible, self.place, int(a), int(b), longest, effort)
            self._go_on_from(found, proved)
        return int(proved.sum()) > before

    def _several_bins(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Three bins and more: all allocations of what is in them, as far as they are few."""
        instance, random = self.instance, self.random
        idle = 0
        while instance.bins > 2 and not effort.spent:
            work.charge(tuning.MOVE)
            waiting = np.argwhere(possible & ~proved)
            if not len(waiting) or idle > IDLE_TRIES:
                return False
            package, goal = waiting[random.integers(len(waiting))]
            bins = self._around(possible, int(self.place[package]), int(goal))
            packages = np.flatnonzero(np.isin(self.place, bins))
            part = Instance(
                np.ascontiguousarray(instance.amounts[packages]),
                instance.low[bins],
                instance.high[bins],
                instance.widening,
                instance.deeper,
                possible[np.ix_(packages, bins)],
                instance.held[bins],
            )
            rows = self.all_of(part, effort)
            idle += 1
            for row in rows:
                if not proved[packages, bins[row]].all():
                    found = self.place.copy()
                    found[packages] = bins[row]
                    self.enter(found.astype(np.int16)[None])
                    idle = 0
            if len(rows):
                self.place[packages] = bins[rows[random.integers(len(rows))]]
        return instance.bins > 2

    def _around(self, possible: Bools, a: int, b: int) -> Ints:
        """Two bins and others, as many as can be settled soon."""
        if a == b:
            b = (a + 1) % self.instance.bins
        bins = [a, b]
        complex_enough = MOST_COMPLEX * (0.5 + 0.5 * self.random.random())
        for other in self.random.permutation(self.instance.bins):
            more = [*bins, int(other)]
            inside = np.isin(self.place, more)
            choices = np.maximum(possible[inside][:, more].sum(axis=1), 1)
            if other not in bins and np.log10(choices).sum() <= complex_enough:
                bins = more
        return np.array(bins)

    def _some_of_two_bins(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Some packages of two bins, pair of bins after pair; False if nothing is left to try."""
        from divulge.reconstruction.local_search import two_bin_resplit_kernels

        del effort  # a call takes a few hundredths of a second
        instance = self.instance
        proofs = np.empty((PROOFS_AT_ONCE, instance.packages), np.int16)
        found, steps, seed = two_bin_resplit_kernels.walk(
            instance.amounts,
            instance.low,
            instance.high,
            possible.astype(np.uint8),
            self.place,
            proved.astype(np.uint8),
            proofs,
            self.of_bins,
            self.of_pairs,
            TRIES_PER_PAIR,
            self.seed,
            STEPS_AT_ONCE,
            SHORTEST_LIST,
            LONGEST_LIST,
        )
        work.charge(tuning.TWO_BIN_RESPLIT, steps)
        self.seed = np.uint64(seed)
        self.enter(proofs[:found])
        self.enter(self.place[None].astype(np.int16))
        return bool(found == PROOFS_AT_ONCE or steps >= STEPS_AT_ONCE)

    def _near_in_lattice(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Some packages of two bins by their lattice; False if nothing is left to try."""
        while not effort.spent:
            work.charge(tuning.MOVE)
            found = self.near.splits(self.place, possible, proved)
            if found is None:
                return False
            self.near.told(self._go_on_from(found, proved))
        return True

    def _aimed(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Bins filled anew with a wanted pair; False if each was tried often enough."""
        while not effort.spent:
            work.charge(tuning.MOVE)
            found = self.aim.allocations(self.place, possible, proved)
            if found is None:
                return False
            self._go_on_from(found, proved)
        return True

    def _go_on_from(self, found: Ints, proved: Bools) -> bool:
        """Enter what is new in allocations, and stand on one of them; False if nothing is."""
        before = int(proved.sum())
        packages = np.arange(len(self.place))
        for other in found[~proved[packages, found].all(axis=1)]:
            if not proved[packages, other].all():
                self.enter(other.astype(np.int16)[None])
        if len(found):
            self.place = found[self.random.integers(len(found))]
        return int(proved.sum()) > before

    def _one_by_one(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """One pair after the other; False if each was tried often enough."""
        while not effort.spent:
            work.charge(tuning.MOVE)
            waiting = possible & ~proved & (self.of_pairs_alone < len(NODES) + 1)
            open_pairs = np.argwhere(waiting)
            if not len(open_pairs):
                return False
            fewest = open_pairs[self.of_pairs_alone[waiting].argsort()]
            package, b = fewest[self.random.integers(min(len(fewest), 8))]
            self._one(possible, int(package), int(b))
        return True

    def _one(self, possible: Bools, package: int, b: int) -> None:
        """A package goes into a bin, and the two bins' others make up for it."""
        instance, random, tries = self.instance, self.random, self.of_pairs_alone
        budget = NODES[min(int(tries[package, b]), len(NODES) - 1)]
        tries[package, b] += 1
        a = int(self.place[package])
        found = some_split(instance, possible, self.place, a, b, package, budget, random)
        if found is None and instance.bins > 2:
            # Two bins split at random, so that the next tries start from elsewhere.
            one, other = (int(x) for x in random.choice(instance.bins, 2, replace=False))
            found = some_split(instance, possible, self.place, one, other, None, NODES[0], random)
        if found is not None:
            self.place = found
            self.enter(found.astype(np.int16)[None])
