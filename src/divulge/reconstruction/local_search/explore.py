"""Local search from one allocation to others; its moves are chosen as by a multi-armed bandit.

Where there are very many allocations, most of what is not excluded is possible, and the proof is
an allocation that has it. Most moves take two bins between which something is not proved yet, and
look for other splits of their packages that make both sums. What is found is an allocation; what is
not found proves nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.local_search.lattice_resplit import LatticeResplit
from divulge.reconstruction.local_search.targeted_refill import TargetedRefill
from divulge.reconstruction.local_search.two_bin_resplit import (
    find_all_splits,
    find_split,
)
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints

SearchMove: TypeAlias = Callable[[Bools, Bools, Effort], bool]
"""A way to go on with some effort; False if there is no sense in going on with it."""


class LocalSearch:
    """From one allocation to others, two bins at a time; it goes on where it was left.

    `add_certificates` is called with each allocation that has a pair not proved before, and
    marks it; `find_allocations` gives allocations of a small instance that have all of its pairs,
    or as many as are found with some effort.
    """

    def __init__(
        self,
        instance: Instance,
        start: Ints,
        add_certificates: Callable[[Ints], None],
        find_allocations: Callable[[Instance, Effort], Ints],
    ) -> None:
        self.instance, self.add_certificates, self.find_allocations = (
            instance,
            add_certificates,
            find_allocations,
        )
        self.place = start.astype(np.int64)
        self.tries_of_bins = np.zeros((instance.bins, instance.bins), np.int64)
        self.tries_of_pairs = np.zeros((instance.packages, instance.bins), np.int64)
        self.tries_of_pairs_alone = np.zeros_like(self.tries_of_pairs)
        self.seed = np.uint64(88172645463325252)
        self.random = np.random.default_rng(1)
        self.lattice_resplit = LatticeResplit(instance, self.random)
        self.targeted_refill = TargetedRefill(instance, self.random)

    def explore_allocations(self, possible: Bools, proved: Bools, effort: Effort) -> None:
        """Until all that is possible is proved, nothing promises more, or the effort is spent.

        There are several ways to go on, and which is good differs from instance to instance: the
        way that has proved most with its effort is taken, for a while.
        """
        moves: list[SearchMove] = [self._resplit_pair_by_pair]
        if (
            not self.instance.counts_matter
            and self.instance.packages > tuning.WALK_MOST_PACKAGES_IN_FULL
        ):
            moves = [self._walk_two_bins]
        elif not self.instance.counts_matter:
            moves = [self._resplit_short_halves, self._resplit_several_bins, *moves]
            moves += [self._walk_two_bins, self._resplit_long_halves]
        if not self.instance.counts_matter:
            moves += [self._resplit_by_lattice, self._refill_for_pairs]
        # How much each has proved of late, and with what effort. One that proves nothing is given
        # up the sooner the more others there are.
        patience = 1 / len(moves) ** 2
        proofs, effort_used = dict.fromkeys(moves, 0.0), dict.fromkeys(moves, 0.0)
        while moves and not (possible == proved).all():
            move = max(
                moves,
                key=lambda move: (
                    (patience + proofs[move]) / max(effort_used[move], tuning.WALK_LEAST_EFFORT)
                ),
            )
            seconds_left, before = effort.left, int(proved.sum())
            if not seconds_left or (patience + proofs[move]) * seconds_left < effort_used[move] / 2:
                return
            turn = Effort(max(tuning.WALK_SHORTEST_TURN, tuning.WALK_TURN_SHARE * seconds_left))
            work.charge(tuning.MOVE)
            is_promising = move(possible, proved, turn)
            proofs[move] = tuning.WALK_MEMORY_DECAY * proofs[move] + int(proved.sum()) - before
            effort_used[move] = tuning.WALK_MEMORY_DECAY * effort_used[move] + turn.used
            if not is_promising:
                moves.remove(move)

    def _resplit_short_halves(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        return self._resplit_in_full(possible, proved, tuning.WALK_SHORT_HALF, effort)

    def _resplit_long_halves(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        return self._resplit_in_full(possible, proved, tuning.WALK_LONG_HALF, effort)

    def _resplit_in_full(
        self, possible: Bools, proved: Bools, longest: int, effort: Effort
    ) -> bool:
        """All splits of two bins, pair of bins after pair; False if a round proved nothing new."""
        instance, random = self.instance, self.random
        before = int(proved.sum())
        for a, b in random.permutation(list(itertools.combinations(range(instance.bins), 2))):
            if effort.spent:
                return True
            inside = (self.place == a) | (self.place == b)
            if (possible[inside] <= proved[inside]).all():
                continue
            allocations = find_all_splits(
                instance, possible, self.place, a=int(a), b=int(b), longest=longest, effort=effort
            )
            self._continue_from(allocations, proved)
        return int(proved.sum()) > before

    def _resplit_several_bins(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Three bins and more: all allocations of what is in them, as far as they are few."""
        instance, random = self.instance, self.random
        idle = 0
        while instance.bins > 2 and not effort.spent:
            work.charge(tuning.MOVE)
            waiting = np.argwhere(possible & ~proved)
            if not len(waiting) or idle > tuning.WALK_IDLE_TRIES:
                return False
            package, goal = waiting[random.integers(len(waiting))]
            bins = self._choose_bins_around(possible, int(self.place[package]), int(goal))
            packages = np.flatnonzero(np.isin(self.place, bins))
            part = Instance(
                amounts=np.ascontiguousarray(instance.amounts[packages]),
                low=instance.low[bins],
                high=instance.high[bins],
                slack_by_count=instance.slack_by_count,
                extra_above=instance.extra_above,
                allowed=possible[np.ix_(packages, bins)],
                already_in_bin=instance.already_in_bin[bins],
            )
            rows = self.find_allocations(part, effort)
            idle += 1
            for row in rows:
                if not proved[packages, bins[row]].all():
                    allocation = self.place.copy()
                    allocation[packages] = bins[row]
                    self.add_certificates(allocation.astype(np.int16)[None])
                    idle = 0
            if len(rows):
                self.place[packages] = bins[rows[random.integers(len(rows))]]
        return instance.bins > 2

    def _choose_bins_around(self, possible: Bools, a: int, b: int) -> Ints:
        """Two bins and others, as many as can be settled soon."""
        if a == b:
            b = (a + 1) % self.instance.bins
        bins = [a, b]
        most_complexity = tuning.WALK_MOST_COMPLEXITY * (0.5 + 0.5 * self.random.random())
        for other in self.random.permutation(self.instance.bins):
            more = [*bins, int(other)]
            inside = np.isin(self.place, more)
            choices = np.maximum(possible[inside][:, more].sum(axis=1), 1)
            if other not in bins and np.log10(choices).sum() <= most_complexity:
                bins = more
        return np.array(bins)

    def _walk_two_bins(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Some packages of two bins, pair of bins after pair; False if nothing is left to try."""
        from divulge.reconstruction.local_search import two_bin_resplit_kernels

        del effort  # a call takes a few hundredths of a second
        instance = self.instance
        proofs = np.empty((tuning.WALK_PROOFS_AT_ONCE, instance.packages), np.int16)
        proof_rows, steps, seed = two_bin_resplit_kernels.walk_allocations(
            instance.amounts,
            instance.low,
            instance.high,
            possible.astype(np.uint8),
            self.place,
            proved.astype(np.uint8),
            proofs,
            self.tries_of_bins,
            self.tries_of_pairs,
            tuning.WALK_TRIES_PER_PAIR,
            self.seed,
            tuning.WALK_STEPS_AT_ONCE,
            tuning.WALK_SHORTEST_LIST,
            tuning.WALK_LONGEST_LIST,
        )
        work.charge(tuning.TWO_BIN_RESPLIT, steps)
        self.seed = np.uint64(seed)
        self.add_certificates(proofs[:proof_rows])
        self.add_certificates(self.place[None].astype(np.int16))
        return bool(proof_rows == tuning.WALK_PROOFS_AT_ONCE or steps >= tuning.WALK_STEPS_AT_ONCE)

    def _resplit_by_lattice(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Some packages of two bins by their lattice; False if nothing is left to try."""
        while not effort.spent:
            work.charge(tuning.MOVE)
            allocations = self.lattice_resplit.find_splits(self.place, possible, proved)
            if allocations is None:
                return False
            self.lattice_resplit.record_outcome(self._continue_from(allocations, proved))
        return True

    def _refill_for_pairs(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """Bins filled anew with a wanted pair; False if each was tried often enough."""
        while not effort.spent:
            work.charge(tuning.MOVE)
            allocations = self.targeted_refill.find_allocations(self.place, possible, proved)
            if allocations is None:
                return False
            self._continue_from(allocations, proved)
        return True

    def _continue_from(self, allocations: Ints, proved: Bools) -> bool:
        """Enter what is new in allocations, and stand on one of them; False if nothing is."""
        before = int(proved.sum())
        packages = np.arange(len(self.place))
        for other in allocations[~proved[packages, allocations].all(axis=1)]:
            if not proved[packages, other].all():
                self.add_certificates(other.astype(np.int16)[None])
        if len(allocations):
            self.place = allocations[self.random.integers(len(allocations))]
        return int(proved.sum()) > before

    def _resplit_pair_by_pair(self, possible: Bools, proved: Bools, effort: Effort) -> bool:
        """One pair after the other; False if each was tried often enough."""
        while not effort.spent:
            work.charge(tuning.MOVE)
            waiting = (
                possible
                & ~proved
                & (self.tries_of_pairs_alone < len(tuning.RESPLIT_NODE_BUDGETS) + 1)
            )
            open_pairs = np.argwhere(waiting)
            if not len(open_pairs):
                return False
            fewest = open_pairs[self.tries_of_pairs_alone[waiting].argsort()]
            package, b = fewest[
                self.random.integers(min(len(fewest), tuning.RESPLIT_PAIRS_IN_TURN))
            ]
            self._move_package(possible, int(package), int(b))
        return True

    def _move_package(self, possible: Bools, package: int, b: int) -> None:
        """A package goes into a bin, and the two bins' others make up for it."""
        instance, random, tries = self.instance, self.random, self.tries_of_pairs_alone
        budget = tuning.RESPLIT_NODE_BUDGETS[
            min(int(tries[package, b]), len(tuning.RESPLIT_NODE_BUDGETS) - 1)
        ]
        tries[package, b] += 1
        a = int(self.place[package])
        allocation = find_split(
            instance, possible, self.place, a=a, b=b, package=package, budget=budget, random=random
        )
        if allocation is None and instance.bins > 2:
            # Two bins split at random, so that the next tries start from elsewhere.
            one, other = (int(x) for x in random.choice(instance.bins, 2, replace=False))
            allocation = find_split(
                instance,
                possible,
                self.place,
                a=one,
                b=other,
                package=None,
                budget=tuning.RESPLIT_NODE_BUDGETS[0],
                random=random,
            )
        if allocation is not None:
            self.place = allocation
            self.add_certificates(allocation.astype(np.int16)[None])
