"""Dominance counting for two bins: needs and points are gathered slab by slab, and counted.

A side is all sums of an element of one list and an element of another. What comes of them is
gathered in order of the leading amount, a slab at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting.two_bins_lists import (
    INFINITE_AMOUNT,
    SubsetSums,
)
from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints

MOST_COUNTED = 2**62


class _SumRuns:
    """All sums of an element of one list and an element of another, by leading amount."""

    def __init__(self, first: Ints, second: Ints, least: int, most: int) -> None:
        """Sums whose other amount may be from least to most, of rows of two amounts each."""
        band = max(
            1,
            (most - least + tuning.TWO_BINS_BANDS) // tuning.TWO_BINS_BANDS,
            int(np.ptp(second[:, 1])) // tuning.TWO_BINS_MOST_BANDS + 1,
        )
        base = int(second[:, 1].min())
        of_band = (second[:, 1] - base) // band
        self.order = np.lexsort((second[:, 0], of_band))
        self.first = np.ascontiguousarray(first)
        self.second = np.ascontiguousarray(second[self.order])
        bands = int(of_band.max()) + 1
        edges = np.searchsorted(of_band[self.order], np.arange(bands + 1))
        low = np.clip((least - first[:, 1] - base) // band, 0, bands)
        high = np.clip((most - first[:, 1] - base) // band, -1, bands - 1)
        many = np.maximum(high - low + 1, 0)
        run_first = np.repeat(np.arange(len(first)), many).astype(np.int32)
        offset = np.arange(len(run_first)) - np.repeat(np.cumsum(many) - many, many)
        run_band = np.repeat(low, many) + offset
        filled = edges[run_band] < edges[run_band + 1]
        run_first, run_band = run_first[filled], run_band[filled]
        # Sums come roughly in order of the other amount, so that what is looked up is near.
        by_other = np.argsort(first[run_first, 1] + band * run_band, kind="stable")
        self.run_first, run_band = run_first[by_other], run_band[by_other]
        self.band, self.run_other = band, first[self.run_first, 1] + base + band * run_band
        self.run_at = edges[run_band].astype(np.int32)
        self.run_end = edges[run_band + 1].astype(np.int32)
        self.run_next = np.empty(len(self.run_first), np.int64)
        self.runs_after = np.empty_like(self.run_at), np.empty_like(self.run_next)
        self.buffer = _SlabSums.with_room_for(
            min(tuning.TWO_BINS_LARGEST_SLAB, tuning.TWO_BINS_FIRST_SLAB)
        )

    def skip_below(self, begin: int) -> None:
        """Leave out all sums whose leading amount is less than begin."""
        from divulge.reconstruction.counting import two_bins_gathering_kernels

        runs = self.run_first, self.run_at, self.run_end, self.run_next
        two_bins_gathering_kernels.skip_runs_below(
            *runs, self.first, self.second, begin, INFINITE_AMOUNT
        )

    def gather_slab(self, begin: int, least: Ints, most: Ints) -> _SlabSums | None:
        """The sums from a leading amount on, for as many leading amounts as there are limits.

        Those whose other amount is from least to most; None if there is no room for them. Runs
        stay where they are.
        """
        from divulge.reconstruction.counting import two_bins_gathering_kernels

        while True:
            room = len(self.buffer)
            many = two_bins_gathering_kernels.gather_sums(
                self.run_first,
                self.run_at,
                self.run_end,
                self.run_next,
                self.run_other,
                self.first,
                self.second,
                self.band,
                begin,
                least,
                most,
                INFINITE_AMOUNT,
                *self.runs_after,
                self.buffer.leads,
                self.buffer.others,
                self.buffer.elements,
            )
            if many >= 0:
                return self.buffer.take_first(many)
            if room >= tuning.TWO_BINS_LARGEST_SLAB:
                return None
            self.buffer = _SlabSums.with_room_for(
                min(tuning.TWO_BINS_LARGEST_SLAB, tuning.TWO_BINS_SLAB_GROWTH * room)
            )

    def advance_runs(self) -> None:
        """Runs are now behind the sums that were gathered last."""
        after = self.runs_after
        self.runs_after = self.run_at, self.run_next
        self.run_at, self.run_next = after


@dataclass(frozen=True, eq=False)
class _SlabSums:
    """Leading amounts from where a slab begins, other amounts, and of which elements."""

    leads: Ints
    others: Ints
    elements: Ints

    def __len__(self) -> int:
        return len(self.leads)

    @classmethod
    def with_room_for(cls, many: int) -> _SlabSums:
        return cls(np.empty(many, np.int32), np.empty(many, np.int64), np.empty(many, np.int64))

    def take_first(self, many: int) -> _SlabSums:
        return _SlabSums(self.leads[:many], self.others[:many], self.elements[:many])

    def drop_below(self, begin: int) -> _SlabSums:
        """The sums whose leading amount is at least `begin`, with `begin` taken off it."""
        beyond = self.leads >= begin
        return _SlabSums(
            self.leads[beyond] - np.int32(begin), self.others[beyond], self.elements[beyond]
        )

    def append_later(self, later: _SlabSums, begin: int) -> _SlabSums:
        """These and others that begin later."""
        return _SlabSums(
            np.concatenate([self.leads, later.leads + np.int32(begin)]),
            np.concatenate([self.others, later.others]),
            np.concatenate([self.elements, later.elements]),
        )


class DominanceCounter:
    """Needs of the two large lists and points of the two small ones, and what is counted."""

    def __init__(
        self, lists: tuple[SubsetSums, SubsetSums, SubsetSums, SubsetSums], low: Ints, high: Ints
    ) -> None:
        a, b, c, d = lists
        window, width = (int(size) for size in (high - low + 1)[:2])
        self.window, self.width, self.widths = window, width, (high - low + 1)[2:]
        none = np.empty((0, 0), np.int64)
        self.further_amounts = none, none, none, none
        self.empty = not all(len(some.sums) for some in lists)
        most = c.sums.max(axis=0, initial=0) + d.sums.max(axis=0, initial=0)
        self.last = int(most[0])
        if not self.empty:
            self.needs = _SumRuns((low - a.sums)[:, :2], -b.sums[:, :2], 1 - width, int(most[1]))
            self.points = _SumRuns(c.sums[:, :2], d.sums[:, :2], 0, int(most[1]))
            self.further_amounts = (
                np.ascontiguousarray((low - a.sums)[:, 2:]),
                -b.sums[self.needs.order, 2:],
                np.ascontiguousarray(c.sums[:, 2:]),
                d.sums[self.points.order, 2:],
            )
            b = replace(b, sets=b.sets[self.needs.order])
            d = replace(d, sets=d.sets[self.points.order])
        self.lists = (a, b, c, d)
        self.sets = a.sets, b.sets, c.sets, d.sets
        times = [np.zeros(len(some.sets), np.int64) for some in self.lists]
        self.times = times[0], times[1], times[2], times[3]
        self.count = 0
        self.in_some = np.zeros(4, np.uint64)
        self.in_all = np.full(4, np.iinfo(np.uint64).max)
        # A pair is kept if it is the first, or the first that has or lacks some package.
        self.witnesses = np.zeros((2 * sum(len(some.packages) for some in lists) + 1, 4), np.uint64)
        self.witness_count = np.zeros(1, np.int64)

    def count_all_slabs(self, effort: Effort) -> bool:
        """Count; False if it takes more effort, or if a slab is too large."""
        from divulge.reconstruction.counting import (
            two_bins_dominance_kernels,
            two_bins_gathering_kernels,
        )

        if self.empty:
            return True
        window, width = self.window, self.width
        begin, length = 1 - window, window
        self.needs.skip_below(begin)
        self.points.skip_below(0)
        none = np.empty(0, np.int64)
        old = _SlabSums(none.astype(np.int32), none, none)
        while begin <= self.last:
            if effort.spent:
                return False
            anywhere = np.zeros(length, np.int64), np.full(length, INFINITE_AMOUNT)
            # Points of the first window are there: in the first slab, there are none below zero.
            ahead = window - 1
            new = self.points.gather_slab(begin + ahead, *anywhere)
            points = None if new is None else old.append_later(new, ahead)
            needs = None
            if points is not None:
                limits = two_bins_gathering_kernels.bound_needs(
                    points.leads, points.others, length, window, width, INFINITE_AMOUNT
                )
                needs = self.needs.gather_slab(begin, *limits)
            gathered_sums = (0 if new is None else len(new)) + (0 if needs is None else len(needs))
            work.charge(tuning.TWO_BIN_SUMS, gathered_sums)
            if points is None or needs is None:
                if tuning.TWO_BINS_SLAB_GROWTH * length <= window or length == 1:
                    return False
                length = max(1, length // tuning.TWO_BINS_SLAB_GROWTH)
                continue
            pairs = tuning.TWO_BIN_PAIRS.count_steps(effort.left)
            pairs_met = two_bins_dominance_kernels.count_meeting_pairs(
                needs.leads,
                needs.others,
                needs.elements,
                points.leads,
                points.others,
                points.elements,
                length,
                window,
                width,
                self.widths,
                *self.further_amounts,
                *self.sets,
                *self.times,
                self.in_some,
                self.in_all,
                self.witnesses,
                self.witness_count,
                pairs + tuning.TWO_BINS_SLAB_SIZE,
            )
            if len(self.widths):
                work.charge(tuning.TWO_BIN_PAIRS, pairs if pairs_met < 0 else pairs_met)
            self.count += pairs_met
            if pairs_met < 0 or self.count > MOST_COUNTED:
                return False
            self.points.advance_runs()
            self.needs.advance_runs()
            old = points.drop_below(length)
            begin += length
            length = self._choose_slab_length(length, len(needs), len(points) - len(old))
        return True

    def _choose_slab_length(self, length: int, needs: int, points: int) -> int:
        """How long a slab to take next, if one so long had so many: more sums than runs."""
        growth = tuning.TWO_BINS_SLAB_GROWTH
        most = tuning.TWO_BINS_LARGEST_SLAB // growth
        aim = max(tuning.TWO_BINS_SLAB_SIZE, 2 * len(self.needs.run_first))
        for_needs = length * min(aim, most) // max(needs, 1)
        aim = max(tuning.TWO_BINS_SLAB_SIZE, 2 * len(self.points.run_first))
        for_points = length * min(aim, most) // max(points, 1)
        return max(1, min(growth * length, tuning.TWO_BINS_MOST_LEADS, for_needs, for_points))

    def to_counts(self, forced: Bools) -> AllocationCounts:
        """What was counted, where the first bin has packages that are forced besides."""
        with_package = np.where(forced, self.count, 0)
        members = np.repeat(forced[None], int(self.witness_count[0]), axis=0)
        for column, (sums_list, times) in enumerate(zip(self.lists, self.times, strict=True)):
            for place, package in enumerate(sums_list.packages):
                bit = np.uint64(1 << place)
                with_package[package] = times[(sums_list.sets & bit) != 0].sum()
                members[:, package] = (self.witnesses[: len(members), column] & bit) != 0
        pairs = np.stack([with_package, self.count - with_package], axis=1)
        return AllocationCounts(
            self.count, pairs, pairs / max(self.count, 1), (~members).astype(np.int16)
        )
