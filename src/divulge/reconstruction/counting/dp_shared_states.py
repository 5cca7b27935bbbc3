"""What is left in many states, split between two bins all at once.

Thousands of states that differ by a few packages have most of their sums in common. Packages that
are in all states, and the largest of the others, are one side: its sums are listed once for all
states that have the same of them. The smallest are the other side, whose sums are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting.two_bins_lists import foretold
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import Words, masks_of, words_of
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort

MOST_SMALL, MOST_LARGE = 20, 64  # packages
LONGEST = 2**23  # sums of the large side
MOST_CELLS = 2**22
CELLS_OF_WINDOW = np.array([4, 8])  # of the first two amounts
GROUPS_TRIED = 3
HEAVIEST, MOST_LOOKED = 2**24, 2**37
"""How often a state may count, and how many ways there may be: all is a number of 62 bits."""

A_LONG_WHILE = 1e6  # nominal seconds, where there is no end


@dataclass(frozen=True, eq=False)
class Shared:
    """In how many ways each state is split, and some of the ways, by packages of the second bin.

    `in_other`: how many have a package there, where each state counts as often as it weighs.
    `first` is a way of each state, if it has any; `shown` have each package in each of the bins
    wherever any has, and are of the states `shown_states`.
    """

    ways: Ints
    in_other: Ints
    first: Bools
    shown_states: Ints
    shown: Bools


@dataclass(frozen=True, eq=False)
class _Left:
    """What is left in states that two bins may take: windows of the second bin, by state.

    Options by state and package: 1 if it may be elsewhere than in the second bin, 2 if it may be
    there, 3 if both. A package that a state has not is elsewhere.
    """

    numbers: Ints
    members: Bools
    options: Ints
    amounts: Ints
    low: Ints
    high: Ints
    weights: Ints


def shared(
    instance: Instance, states: Bools, weights: Ints, last: list[int], effort: Effort
) -> Shared | None:
    """Split the packages of each state between the last two bins; None if it takes more effort.

    Only where intervals do not depend on the number of packages in a bin.

    >>> low, high = np.zeros((2, 1), int), np.full((2, 1), 3)
    >>> instance = Instance.of(np.array([[1], [2], [3]]), low, high)
    >>> states = np.array([[True, True, True], [True, True, False]])
    >>> found = shared(instance, states, np.array([1, 10]), [0, 1], Effort(1))
    >>> found.ways.tolist(), found.in_other.tolist()
    ([2, 4], [21, 21, 1])
    """
    if int(weights.max(initial=0)) > HEAVIEST:
        return None
    left = _left(instance, states, weights.astype(np.int64), last)
    sides = _sides(left, min(effort.left, A_LONG_WHILE) / tuning.SHARED_SUMS.per_step)
    if sides is None:
        return None
    met = _Met(left, *sides)
    for group in met.groups():
        if effort.spent or not met.add(group, effort):
            return None
    return met.found(*states.shape)


def _left(instance: Instance, states: Bools, weights: Ints, last: list[int]) -> _Left:
    a, b = last
    both = states.astype(np.int64) @ instance.amounts
    low = np.maximum(instance.low[b], both - instance.high[a])
    high = np.minimum(instance.high[b], both - instance.low[a])
    alive = np.flatnonzero((low <= high).all(axis=1))
    amounts, low, high = instance.amounts, low[alive], high[alive]
    if amounts.shape[1] == 1:  # there are two at least
        nothing = np.zeros((len(alive), 1), np.int64)
        amounts = np.hstack([amounts, np.zeros_like(amounts)])
        low, high = np.hstack([low, nothing]), np.hstack([high, nothing])
    room = (high - low).max(axis=0, initial=0) + 1
    lead = np.argsort(-(amounts.sum(axis=0) / room), kind="stable")  # what tells most comes first
    options = instance.allowed[:, a] + 2 * instance.allowed[:, b].astype(np.int64)
    return _Left(
        alive,
        states[alive],
        np.where(states[alive], options, 1),
        np.ascontiguousarray(amounts[:, lead]),
        np.ascontiguousarray(low[:, lead]),
        np.ascontiguousarray(high[:, lead]),
        weights[alive],
    )


def _sides(left: _Left, most_sums: float) -> tuple[Ints, Ints] | None:
    """Large and small packages, such that there are fewest sums; None if there are too many."""
    size = (left.amounts / np.maximum(left.amounts.sum(axis=0), 1)).sum(axis=1)
    always = left.members.all(axis=0)
    order = np.lexsort((-size, ~always))
    order = order[np.asarray(left.members.any(axis=0))[order]]
    free = left.options[:, order] == 3
    best, sides = most_sums, None
    for many in range(min(len(order), MOST_SMALL), -1, -1):
        at = len(order) - many
        points = float((2.0 ** free[:, at:].sum(axis=1)).sum())
        if points > best:
            continue
        large = order[:at][np.argsort(-size[order[:at]], kind="stable")]
        needs = _needs(left, large, order[at:])
        if at > MOST_LARGE or needs > best:  # the fewer small ones, the more needs
            break
        if points + needs <= best:
            best, sides = points + needs, (large, order[at:])
    return sides


def _needs(left: _Left, large: Ints, small: Ints) -> float:
    """How many sums of the large packages there will be, of all groups of states together."""
    _, some = np.unique(words_of(left.members[:, large]), axis=0, return_index=True)
    if not len(some):
        return 0.0
    tried = some[np.linspace(0, len(some) - 1, min(len(some), GROUPS_TRIED)).astype(int)]
    least = left.low.min(axis=0) - left.amounts[small].sum(axis=0)
    total = 0.0
    for state in tried:
        free = large[left.options[state, large] == 3]
        must = large[left.options[state, large] == 2]
        base = left.amounts[must].sum(axis=0)
        total += max(foretold(left.amounts[free], least - base, left.high.max(axis=0) - base))
    return total / len(tried) * len(some)


class _Met:
    """What is counted where large and small packages meet, group by group of states."""

    def __init__(self, left: _Left, large: Ints, small: Ints) -> None:
        self.left, self.large, self.small = left, large, small
        self.large_of, self.small_of = _word(left.members[:, large]), _word(left.members[:, small])
        self.ways = np.zeros(len(left.numbers), np.int64)
        self.first = np.zeros((len(left.numbers), 2), np.uint64)
        self.in_large, self.in_small = (
            np.zeros(len(large), np.int64),
            np.zeros(len(small), np.int64),
        )
        # A way is kept if it is the first that has or lacks some package.
        most = 2 * (len(large) + len(small)) + 1
        self.shown_states, self.shown = np.zeros(most, np.int64), np.zeros((most, 2), np.uint64)
        self.seen, self.told = np.zeros(4, np.uint64), np.zeros(1, np.int64)
        self.looked = 0

    def groups(self) -> list[Ints]:
        """States that have the same large packages."""
        order = np.argsort(self.large_of, kind="stable")
        edges = np.flatnonzero(np.diff(self.large_of[order])) + 1
        return np.split(order, edges) if len(order) else []

    def add(self, group: Ints, effort: Effort) -> bool:
        """Count the ways of some states with the same large packages; False if it takes more."""
        from divulge.reconstruction.counting import dp_shared_states_kernels

        left, of_small = self.left, self.left.amounts[self.small]
        low, high = left.low[group], left.high[group]
        options = np.ascontiguousarray(left.options[group][:, self.small])
        most = (options >= 2).astype(np.int64) @ of_small
        complete, sums, sets = dp_shared_states_kernels.needs_of(
            left.amounts[self.large],
            left.options[group[0], self.large],
            (low - most).min(axis=0),
            high.max(axis=0),
            LONGEST,
        )
        work.charge(tuning.SHARED_SUMS, len(sums))
        if not complete:
            return False
        if not len(sums):
            return True
        least, shape, shifts = _cells(sums, (high - low).max(axis=0) + 1)
        order, starts = dp_shared_states_kernels.in_cells(sums, least, shifts, shape)
        ways, first = self.ways[group], self.first[group]
        in_time = int(min(effort.left, A_LONG_WHILE) / tuning.SHARED_LOOKS.per_step)
        most_looked = min(in_time, MOST_LOOKED - self.looked)
        looked = dp_shared_states_kernels.met(
            sums[order],
            sets[order],
            starts,
            least,
            shifts,
            shape,
            self.large_of[group[0]],
            self.small_of[group],
            left.numbers[group],
            low,
            high,
            left.weights[group],
            of_small,
            options,
            ways,
            self.in_large,
            self.in_small,
            first,
            self.seen,
            self.shown_states,
            self.shown,
            self.told,
            most_looked,
        )
        work.charge(tuning.SHARED_LOOKS, most_looked if looked < 0 else looked)
        self.ways[group], self.first[group] = ways, first
        self.looked += looked
        return looked >= 0

    def found(self, states: int, packages: int) -> Shared:
        """All that was counted."""
        ways, in_other = np.zeros(states, np.int64), np.zeros(packages, np.int64)
        ways[self.left.numbers] = self.ways
        in_other[self.large], in_other[self.small] = self.in_large, self.in_small
        first = np.zeros((states, packages), bool)
        first[self.left.numbers] = self._masks(self.first)
        told = int(self.told[0])
        return Shared(
            ways, in_other, first, self.shown_states[:told], self._masks(self.shown[:told])
        )

    def _masks(self, pairs: Words) -> Bools:
        masks = np.zeros((len(pairs), self.left.members.shape[1]), bool)
        masks[:, self.large] = masks_of(pairs[:, :1], len(self.large))
        masks[:, self.small] = masks_of(pairs[:, 1:], len(self.small))
        return masks


def _word(masks: Bools) -> Words:
    """Sets of at most 64 packages, each as one word."""
    whole = np.zeros((len(masks), 64), bool)
    whole[:, : masks.shape[1]] = masks
    return words_of(whole)[:, 0]


def _cells(sums: Ints, widths: Ints) -> tuple[Ints, Ints, Ints]:
    """Where cells of the first two amounts begin, how many there are each way, and their sizes.

    Sizes are powers of 2.
    """
    least, span = sums[:, :2].min(axis=0), np.ptp(sums[:, :2], axis=0)
    shifts = np.log2(np.maximum(widths[:2] // CELLS_OF_WINDOW, 1)).astype(np.int64)
    while True:
        shape = (span >> shifts) + 1
        if int(shape[0]) * int(shape[1]) <= MOST_CELLS:
            return least, shape, shifts
        shifts[int(np.argmax(shape))] += 1
