"""Large neighbourhood search for a wanted pair: some bins are emptied and filled anew.

What a bin gets is drawn. Every package has a chance, such that with the package that is wanted in
the bin its sums are right in the mean; most packages are drawn by it, and the few that decide most
are then chosen so that the sums are exact. So a dear package finds cheap ones beside it, which
packages taken at random would hardly ever be. What is not found proves nothing.
"""

from __future__ import annotations

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.bitsets import unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration
from divulge.work.arrays import Bools, Ints


class TargetedRefill:
    """How often each pair was aimed at so far; it goes on where it was left."""

    def __init__(self, instance: Instance, random: np.random.Generator) -> None:
        self.instance, self.random = instance, random
        self.tries = np.zeros((instance.packages, instance.bins), np.int64)
        self.pair_queue: list[tuple[int, int]] = []
        self.sums = np.empty(
            (3, tuning.REFILL_LONGEST_LIST << tuning.REFILL_MOST_DOUBLINGS, instance.attributes),
            np.int64,
        )
        self.sets = np.empty(
            (3, tuning.REFILL_LONGEST_LIST << tuning.REFILL_MOST_DOUBLINGS), np.uint64
        )

    def find_allocations(self, place: Ints, possible: Bools, proved: Bools) -> Ints | None:
        """Some allocations with a pair that is not proved; None if each was tried often enough."""
        pair = self._choose_next_pair(possible, proved)
        if pair is None:
            return None
        package, goal = pair
        attempt = int(self.tries[package, goal])
        self.tries[package, goal] += 1
        if place[package] == goal:
            return place[None]
        bins = self._choose_bins(
            place, package, goal, tuning.REFILL_EXTRA_BINS[attempt % len(tuning.REFILL_EXTRA_BINS)]
        )
        harder = min(attempt // len(tuning.REFILL_EXTRA_BINS), tuning.REFILL_MOST_DOUBLINGS)
        return self._refill_bins(place, np.ascontiguousarray(possible), bins, package, harder)

    def _choose_next_pair(self, possible: Bools, proved: Bools) -> tuple[int, int] | None:
        """A pair that was tried least, those first that show a package to be ambiguous."""
        while True:
            while self.pair_queue:
                package, b = self.pair_queue.pop()
                if possible[package, b] and not proved[package, b]:
                    return package, b
            pairs = np.argwhere(possible & ~proved & (self.tries < tuning.REFILL_TRIES_PER_PAIR))
            if not len(pairs):
                return None
            ambiguous = proved[pairs[:, 0]].sum(axis=1) > 1
            rank = (
                self.tries[pairs[:, 0], pairs[:, 1]] + tuning.REFILL_AMBIGUOUS_PENALTY * ambiguous
            )
            first = self.random.permutation(pairs[rank == rank.min()])
            self.pair_queue = [(int(package), int(b)) for package, b in first]

    def _choose_bins(self, place: Ints, package: int, goal: int, more: int) -> Ints:
        """Bins to be filled anew: the goal, where the package is, and others; large ones last."""
        size = np.bincount(place, minlength=self.instance.bins)
        weight = np.sqrt(size)
        weight[[goal, place[package]]] = 0
        others = [int(place[package])]
        for _ in range(min(more, int((weight > 0).sum()))):
            upto = np.cumsum(weight)
            drawn_bin = int(np.searchsorted(upto, self.random.random() * upto[-1], side="right"))
            others.append(drawn_bin)
            weight[drawn_bin] = 0
        return np.array([goal, *sorted(others, key=lambda b: size[b])])

    def _refill_bins(
        self, place: Ints, possible: Bools, bins: Ints, package: int, harder: int
    ) -> Ints:
        """Allocations that differ from one in these bins; the package is in the first of them."""
        nothing = np.empty((0, len(place)), np.int64)
        allocation, unplaced = place.copy(), np.isin(place, bins)
        while True:
            sets = self._draw_sets(
                possible, place, unplaced, bins=bins, package=package, harder=harder
            )
            if not len(sets):
                return nothing
            if len(bins) == 2:
                return np.where(sets, bins[0], np.where(unplaced, bins[1], allocation))
            members = sets[self.random.integers(len(sets))]
            allocation[members] = bins[0]
            unplaced &= ~members
            bins, package = bins[1:], -1

    def _draw_sets(
        self,
        possible: Bools,
        place: Ints,
        unplaced: Bools,
        *,
        bins: Ints,
        package: int,
        harder: int,
    ) -> Bools:
        """Some sets that fill the first of the bins, most of them drawn; none if none was found."""
        from divulge.reconstruction.local_search import targeted_refill_kernels
        from divulge.reconstruction.subset_sum import expected_count_kernels

        instance = self.instance
        is_fillable, role, low, high, aim = targeted_refill_kernels.prepare_refill(
            instance.amounts, instance.low, instance.high, possible, place, unplaced, bins, package
        )
        must, free = role == 2, np.flatnonzero(role == 1)
        nothing = np.empty((0, len(place)), bool)
        if not is_fillable or not len(free):
            return np.array([must]) if is_fillable else nothing
        amounts = instance.amounts[free]
        chance = expected_count_kernels.compute_inclusion_chances(amounts, low, high, aim)
        doubt = tuning.REFILL_CHANCE_BITS * self.random.random(len(free))
        decide, surplus = targeted_refill_kernels.select_deciding(
            amounts,
            low,
            high,
            chance,
            doubt,
            tuning.REFILL_SURPLUS_BITS + harder,
            tuning.REFILL_MOST_DECIDING,
        )
        if surplus < tuning.REFILL_LEAST_SURPLUS_BITS:
            return nothing
        is_drawn = self.random.random(len(free)) < chance
        is_drawn[decide] = False
        base = amounts[is_drawn].sum(axis=0)
        sets = self._find_exact_sets(amounts[decide], low - base, high - base, harder)
        members = np.repeat(must[None], len(sets), axis=0)
        members[:, free[is_drawn]] = True
        members[:, free[decide]] = sets
        return members

    def _find_exact_sets(self, amounts: Ints, low: Ints, high: Ints, harder: int) -> Bools:
        """Sets of a few packages that make the sums exact: by their lists, or by their lattice."""
        from divulge.reconstruction.local_search import targeted_refill_kernels

        nothing = np.empty((0, len(amounts)), bool)
        if (high < 0).any():
            return nothing
        if len(amounts) <= tuning.REFILL_MOST_TO_MEET:
            members = np.empty((tuning.REFILL_ENOUGH_SETS, len(amounts)), bool)
            longest = tuning.REFILL_LONGEST_LIST << harder
            number, steps = targeted_refill_kernels.match_sums(
                amounts, low, high, self.sums, self.sets, longest, members
            )
            work.charge(tuning.TARGETED_REFILL, steps)
            return members[:number]
        one = Instance.from_intervals(amounts, low[None], high[None])
        everything, none = np.ones(len(amounts), bool), np.zeros(len(amounts), bool)
        fitting_sets = lattice_enumeration.enumerate_fitting_sets(
            one,
            0,
            everything,
            forced=none,
            most_steps=tuning.REFILL_MOST_STEPS,
            most_sets=tuning.REFILL_ENOUGH_SETS,
            enough=tuning.REFILL_ENOUGH_SETS,
            random=self.random,
        )
        return nothing if fitting_sets is None else unpack_bitsets(fitting_sets.sets, len(amounts))
