"""Meet in the middle for many states at once: what is left is split between the last two bins.

Thousands of states that differ by a few packages have most of their sums in common. Packages that
are in all states, and the largest of the others, are one side: its sums are listed once for all
states that have the same of them. The smallest are the other side, whose sums are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting.two_bins_lists import estimate_list_sizes
from divulge.reconstruction.problem.bitsets import Bitsets, pack_bitsets, unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints

MOST_LARGE = 64  # packages: a set of them is one word
HEAVIEST_STATE, MOST_LOOKS = 2**24, 2**37
"""How often a state may count, and how many ways there may be: all is a number of 62 bits."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedSplits:
    """In how many ways each state is split, and some of the ways, by packages of the second bin.

    `in_other`: how many have a package there, where each state counts as often as it weighs.
    `first` is a way of each state, if it has any; `witnesses` have each package in each of the bins
    wherever any has, and are of the states `witness_states`.
    """

    ways: Ints
    in_other: Ints
    first: Bools
    witness_states: Ints
    witnesses: Bools


@dataclass(frozen=True, eq=False, kw_only=True)
class _StateRemainders:
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


def split_states_at_once(
    instance: Instance, states: Bools, weights: Ints, last: list[int], effort: Effort
) -> SharedSplits | None:
    """Split the packages of each state between the last two bins; None if it takes more effort.

    Only where intervals do not depend on the number of packages in a bin.

    >>> low, high = np.zeros((2, 1), int), np.full((2, 1), 3)
    >>> instance = Instance.from_intervals(np.array([[1], [2], [3]]), low, high)
    >>> states = np.array([[True, True, True], [True, True, False]])
    >>> found = split_states_at_once(instance, states, np.array([1, 10]), [0, 1], Effort(1))
    >>> found.ways.tolist(), found.in_other.tolist()
    ([2, 4], [21, 21, 1])
    """
    if int(weights.max(initial=0)) > HEAVIEST_STATE:
        return None
    remainders = _collect_remainders(instance, states, weights.astype(np.int64), last)
    sides = _choose_sides(remainders, tuning.SHARED_SUMS.count_steps(effort.left))
    if sides is None:
        return None
    counter = _SharedSplitCounter(remainders, *sides)
    for group in counter.group_states():
        if effort.spent or not counter.count_group(group, effort):
            return None
    return counter.to_splits(*states.shape)


def _collect_remainders(
    instance: Instance, states: Bools, weights: Ints, last: list[int]
) -> _StateRemainders:
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
    lead = np.argsort(-(amounts.sum(axis=0) / room), kind="stable")  # the tightest first
    options = instance.allowed[:, a] + 2 * instance.allowed[:, b].astype(np.int64)
    return _StateRemainders(
        numbers=alive,
        members=states[alive],
        options=np.where(states[alive], options, 1),
        amounts=np.ascontiguousarray(amounts[:, lead]),
        low=np.ascontiguousarray(low[:, lead]),
        high=np.ascontiguousarray(high[:, lead]),
        weights=weights[alive],
    )


def _choose_sides(remainders: _StateRemainders, most_sums: float) -> tuple[Ints, Ints] | None:
    """Large and small packages, such that there are fewest sums; None if there are too many."""
    size = (remainders.amounts / np.maximum(remainders.amounts.sum(axis=0), 1)).sum(axis=1)
    always = remainders.members.all(axis=0)
    order = np.lexsort((-size, ~always))
    order = order[np.asarray(remainders.members.any(axis=0))[order]]
    free = remainders.options[:, order] == 3
    best, sides = most_sums, None
    for many in range(min(len(order), tuning.SHARED_MOST_SMALL), -1, -1):
        at = len(order) - many
        points = float((2.0 ** free[:, at:].sum(axis=1)).sum())
        if points > best:
            continue
        large = order[:at][np.argsort(-size[order[:at]], kind="stable")]
        needs = _estimate_needs(remainders, large, order[at:])
        if at > MOST_LARGE or needs > best:  # the fewer small ones, the more needs
            break
        if points + needs <= best:
            best, sides = points + needs, (large, order[at:])
    return sides


def _estimate_needs(remainders: _StateRemainders, large: Ints, small: Ints) -> float:
    """How many sums of the large packages there will be, of all groups of states together."""
    _, first_states = np.unique(
        pack_bitsets(remainders.members[:, large]), axis=0, return_index=True
    )
    if not len(first_states):
        return 0.0
    sampled_states = first_states[
        np.linspace(
            0, len(first_states) - 1, min(len(first_states), tuning.SHARED_SAMPLED_GROUPS)
        ).astype(int)
    ]
    least = remainders.low.min(axis=0) - remainders.amounts[small].sum(axis=0)
    total = 0.0
    for state in sampled_states:
        free = large[remainders.options[state, large] == 3]
        must = large[remainders.options[state, large] == 2]
        base = remainders.amounts[must].sum(axis=0)
        total += max(
            estimate_list_sizes(
                remainders.amounts[free], least - base, remainders.high.max(axis=0) - base
            )
        )
    return total / len(sampled_states) * len(first_states)


class _SharedSplitCounter:
    """What is counted where large and small packages meet, group by group of states."""

    def __init__(self, remainders: _StateRemainders, large: Ints, small: Ints) -> None:
        self.remainders, self.large, self.small = remainders, large, small
        self.large_words, self.small_words = (
            _pack_word(remainders.members[:, large]),
            _pack_word(remainders.members[:, small]),
        )
        self.ways = np.zeros(len(remainders.numbers), np.int64)
        self.first = np.zeros((len(remainders.numbers), 2), np.uint64)
        self.in_large, self.in_small = (
            np.zeros(len(large), np.int64),
            np.zeros(len(small), np.int64),
        )
        # A way is kept if it is the first that has or lacks some package.
        most = 2 * (len(large) + len(small)) + 1
        self.witness_states, self.witnesses = (
            np.zeros(most, np.int64),
            np.zeros((most, 2), np.uint64),
        )
        self.proved, self.witness_count = np.zeros(4, np.uint64), np.zeros(1, np.int64)
        self.looks = 0

    def group_states(self) -> list[Ints]:
        """States that have the same large packages."""
        order = np.argsort(self.large_words, kind="stable")
        edges = np.flatnonzero(np.diff(self.large_words[order])) + 1
        return np.split(order, edges) if len(order) else []

    def count_group(self, group: Ints, effort: Effort) -> bool:
        """Count the ways of some states with the same large packages; False if it takes more."""
        from divulge.reconstruction.counting import dp_shared_states_kernels

        remainders, of_small = self.remainders, self.remainders.amounts[self.small]
        low, high = remainders.low[group], remainders.high[group]
        options = np.ascontiguousarray(remainders.options[group][:, self.small])
        most = (options >= 2).astype(np.int64) @ of_small
        complete, sums, sets = dp_shared_states_kernels.list_needs(
            remainders.amounts[self.large],
            remainders.options[group[0], self.large],
            (low - most).min(axis=0),
            high.max(axis=0),
            tuning.SHARED_LONGEST_LARGE_SIDE,
        )
        work.charge(tuning.SHARED_SUMS, len(sums))
        if not complete:
            return False
        if not len(sums):
            return True
        least, shape, shifts = _choose_cells(sums, (high - low).max(axis=0) + 1)
        order, starts = dp_shared_states_kernels.sort_into_cells(sums, least, shifts, shape)
        ways, first = self.ways[group], self.first[group]
        in_time = tuning.SHARED_SUM_PAIRS.count_steps(effort.left)
        most_looks = min(in_time, MOST_LOOKS - self.looks)
        looks = dp_shared_states_kernels.count_matches(
            sums[order],
            sets[order],
            starts,
            least,
            shifts,
            shape,
            self.large_words[group[0]],
            self.small_words[group],
            remainders.numbers[group],
            low,
            high,
            remainders.weights[group],
            of_small,
            options,
            ways,
            self.in_large,
            self.in_small,
            first,
            self.proved,
            self.witness_states,
            self.witnesses,
            self.witness_count,
            most_looks,
        )
        work.charge(tuning.SHARED_SUM_PAIRS, most_looks if looks < 0 else looks)
        self.ways[group], self.first[group] = ways, first
        self.looks += looks
        return looks >= 0

    def to_splits(self, states: int, packages: int) -> SharedSplits:
        """All that was counted."""
        ways, in_other = np.zeros(states, np.int64), np.zeros(packages, np.int64)
        ways[self.remainders.numbers] = self.ways
        in_other[self.large], in_other[self.small] = self.in_large, self.in_small
        first = np.zeros((states, packages), bool)
        first[self.remainders.numbers] = self._unpack_pairs(self.first)
        witness_count = int(self.witness_count[0])
        return SharedSplits(
            ways=ways,
            in_other=in_other,
            first=first,
            witness_states=self.witness_states[:witness_count],
            witnesses=self._unpack_pairs(self.witnesses[:witness_count]),
        )

    def _unpack_pairs(self, pairs: Bitsets) -> Bools:
        masks = np.zeros((len(pairs), self.remainders.members.shape[1]), bool)
        masks[:, self.large] = unpack_bitsets(pairs[:, :1], len(self.large))
        masks[:, self.small] = unpack_bitsets(pairs[:, 1:], len(self.small))
        return masks


def _pack_word(masks: Bools) -> Bitsets:
    """Sets of at most 64 packages, each as one word."""
    whole = np.zeros((len(masks), 64), bool)
    whole[:, : masks.shape[1]] = masks
    return pack_bitsets(whole)[:, 0]


def _choose_cells(sums: Ints, widths: Ints) -> tuple[Ints, Ints, Ints]:
    """Where cells of the first two amounts begin, how many there are each way, and their sizes.

    Sizes are powers of 2.
    """
    least, span = sums[:, :2].min(axis=0), np.ptp(sums[:, :2], axis=0)
    shifts = np.log2(np.maximum(widths[:2] // tuning.SHARED_CELLS_OF_WINDOW, 1)).astype(np.int64)
    while True:
        shape = (span >> shifts) + 1
        if int(shape[0]) * int(shape[1]) <= tuning.SHARED_MOST_CELLS:
            return least, shape, shifts
        shifts[int(np.argmax(shape))] += 1
