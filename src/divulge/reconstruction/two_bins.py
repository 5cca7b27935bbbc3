"""How many allocations to two bins there are, where there are far too many to list them.

A set of packages fits one bin, and what it leaves the other, if its sums lie in two windows. Four
lists: the largest packages and the next on one side, the small ones and the smallest on the other,
each list with the sums of all its sets that can still lead to the windows. What a set of large
packages lacks is a need, a set of small ones is a point, and a need is met by all points in a
rectangle. Needs and points come slab by slab of the leading amount, so that neither are in memory
all at once, and no pair is ever looked at: needs ask how many points meet them. (Where there are
more than two amounts, those that meet in three are looked at: they are far fewer.) What is in
memory grows with the fourth root of the number of sets, what takes time with its square root.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.counted import Counted
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.words import Words

_Array: TypeAlias = npt.NDArray[Any]

SAMPLE = 2**14
"""Sums that stand for all of a list while its length is foretold."""

LONGEST = 2**22  # of the first list
MOST_SECOND, MOST_SMALL = 20, 30  # packages
AT_ONCE, MOST_AT_ONCE = 2**19, 2**24
"""Needs and points of a chunk: how many are aimed at, and how many there is memory for."""

NEVER = 2**62
MOST_LEADS = 2**20
COST_OF_SLAB = 300.0
WIDEST = 2**22
MOST_COUNTED = 2**62
FEW = 1_000_000
"""Allocations of more than two amounts that are listed sooner than counted."""

COST_OF_PAIR = 0.01  # of packages that fit in two amounts where there are more
COST_OF_POINT, COST_OF_LISTING = 7.0, 10.0  # in needs
BANDS = 16  # a need's reach in the other amount, in bands of the second list


@dataclass(frozen=True, eq=False)
class _List:
    """Sets of some packages: their sums, and the sets as words."""

    packages: Ints
    sums: Ints
    sets: Words


class _Side:
    """All sums of an element of one list and an element of another, by leading amount."""

    def __init__(self, first: Ints, second: Ints, least: int, most: int) -> None:
        """Sums whose other amount may be from least to most, of rows of two amounts each."""
        band = max(1, (most - least + BANDS) // BANDS, int(np.ptp(second[:, 1])) // 256 + 1)
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
        near = np.argsort(first[run_first, 1] + band * run_band, kind="stable")
        self.run_first, run_band = run_first[near], run_band[near]
        self.band, self.run_other = band, first[self.run_first, 1] + base + band * run_band
        self.run_at = edges[run_band].astype(np.int32)
        self.run_end = edges[run_band + 1].astype(np.int32)
        self.run_next = np.empty(len(self.run_first), np.int64)
        self.moved = np.empty_like(self.run_at), np.empty_like(self.run_next)
        self.room = _Sums.room_for(min(MOST_AT_ONCE, 2**16))

    def begin(self, begin: int) -> None:
        """Leave out all sums whose leading amount is less than begin."""
        from divulge.reconstruction import two_bins_kernels

        runs = self.run_first, self.run_at, self.run_end, self.run_next
        two_bins_kernels.begun(*runs, self.first, self.second, begin, NEVER)

    def gathered(self, begin: int, least: Ints, most: Ints) -> _Sums | None:
        """The sums from a leading amount on, for as many leading amounts as there are limits.

        Those whose other amount is from least to most; None if there is no room for them. Runs
        stay where they are.
        """
        from divulge.reconstruction import two_bins_kernels

        while True:
            room = len(self.room)
            many = two_bins_kernels.gathered(
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
                NEVER,
                *self.moved,
                self.room.leads,
                self.room.others,
                self.room.who,
            )
            if many >= 0:
                return self.room.up_to(many)
            if room >= MOST_AT_ONCE:
                return None
            self.room = _Sums.room_for(min(MOST_AT_ONCE, 4 * room))

    def move_on(self) -> None:
        """Runs are now behind the sums that were gathered last."""
        after = self.moved
        self.moved = self.run_at, self.run_next
        self.run_at, self.run_next = after


@dataclass(frozen=True, eq=False)
class _Sums:
    """Leading amounts from where a slab begins, other amounts, and of which elements."""

    leads: Ints
    others: Ints
    who: Ints

    def __len__(self) -> int:
        return len(self.leads)

    @classmethod
    def room_for(cls, many: int) -> _Sums:
        return cls(np.empty(many, np.int32), np.empty(many, np.int64), np.empty(many, np.int64))

    def up_to(self, many: int) -> _Sums:
        return _Sums(self.leads[:many], self.others[:many], self.who[:many])

    def from_on(self, begin: int) -> _Sums:
        """Those whose leading amount is not less, which is from there on."""
        kept = self.leads >= begin
        return _Sums(self.leads[kept] - np.int32(begin), self.others[kept], self.who[kept])

    def and_after(self, later: _Sums, begin: int) -> _Sums:
        """These and others that begin later."""
        return _Sums(
            np.concatenate([self.leads, later.leads + np.int32(begin)]),
            np.concatenate([self.others, later.others]),
            np.concatenate([self.who, later.who]),
        )


def counted(instance: Instance, possible: Bools, most_sums: float, end: float) -> Counted | None:
    """Count all allocations to two bins; None if it takes too many sums or until after `end`.

    Only where intervals do not depend on the number of packages in a bin. How many sums there will
    be is foretold from a sample, so that what is hopeless is refused at once.

    >>> import math
    >>> amounts = np.array([[1, 10], [2, 20], [3, 30], [4, 40]])
    >>> low, high = np.array([[4, 0], [4, 0]]), np.array([[6, 99], [6, 99]])
    >>> found = counted(Instance.of(amounts, low, high), np.ones((4, 2), bool), 1e6, math.inf)
    >>> found.count, found.pairs[:, 0].tolist()
    (6, [3, 3, 3, 3])
    """
    if instance.bins != 2 or instance.counts_matter:
        return None
    free, forced = possible[:, 0] & possible[:, 1], possible[:, 0] & ~possible[:, 1]
    low, high = _windows(instance, free, forced)
    if (low > high).any() or not possible.any(axis=1).all():
        return _none(instance)
    amounts, low, high = _different(instance.amounts, low, high)
    if (low > high).any():
        return _none(instance)
    if amounts.shape[1] == 1:
        amounts = np.concatenate([amounts, np.zeros_like(amounts)], axis=1)
        low, high = np.append(low, 0), np.append(high, 0)
    lead = _order(amounts[free], high - low)
    amounts, low, high = amounts[:, lead], low[lead], high[lead]
    packages = np.flatnonzero(free)
    spread = np.maximum(np.sqrt((amounts[free] ** 2.0).sum(axis=0)), 1.0)
    packages = packages[np.argsort(-(amounts[free] / spread).sum(axis=1), kind="stable")]
    lists = _four_lists(amounts, packages, low, high, most_sums)
    if lists is None:
        return None
    met = _Meeting(lists, low, high)
    if not met.finished(end):
        return None
    return met.counted(forced)


def _different(amounts: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """Amounts without repetition: those that are equal for all packages keep to both windows."""
    columns, which = np.unique(amounts, axis=1, return_inverse=True)
    lows = np.full(columns.shape[1], np.iinfo(np.int64).min)
    highs = np.full(columns.shape[1], np.iinfo(np.int64).max)
    np.maximum.at(lows, which, low)
    np.minimum.at(highs, which, high)
    return np.ascontiguousarray(columns), lows, highs


def _order(amounts: Ints, widths: Ints) -> Ints:
    """The two amounts that tell most come first, and of these the one with the narrow window.

    Narrow windows make small slabs.
    """
    told = amounts.sum(axis=0) / (widths + 1)
    order = np.argsort(-told, kind="stable")
    order[:2] = sorted(order[:2], key=lambda i: (not told[i], int(widths[i])))
    return order


def _windows(instance: Instance, free: Bools, forced: Bools) -> tuple[Ints, Ints]:
    """Between what the free packages that join the forced ones in bin 0 must sum up to."""
    everything, base = instance.amounts.sum(axis=0), instance.amounts[forced].sum(axis=0)
    low = np.maximum(instance.low[0], everything - instance.high[1]) - base
    high = np.minimum(instance.high[0], everything - instance.low[1]) - base
    return np.maximum(low, 0), np.minimum(high, instance.amounts[free].sum(axis=0))


def _none(instance: Instance) -> Counted:
    nothing = np.zeros((instance.packages, 2), np.int64)
    proofs = np.empty((0, instance.packages), np.int16)
    return Counted(0, nothing, nothing.astype(np.float64), proofs)


def _four_lists(
    amounts: Ints, packages: Ints, low: Ints, high: Ints, most_sums: float
) -> tuple[_List, _List, _List, _List] | None:
    """The packages, which come from the largest, in four lists such that least is to be done."""
    n = len(packages)
    if int(high[0] - low[0]) > WIDEST:
        return None  # a slab is as wide as the window, and this takes too much memory
    if amounts.shape[1] > 2 and not _tells_cells_apart(amounts[packages], high - low + 1):
        return None
    sizes = _foretold(amounts[packages], low, high)
    least, first, small = _cheapest(sizes)
    if amounts.shape[1] > 2:
        if sizes[-1] < FEW:
            return None
        least += COST_OF_PAIR * _foretold(amounts[packages, :2], low[:2], high[:2])[-1]
    slabs = int(amounts[packages, 0].sum()) / MOST_LEADS
    if least + COST_OF_SLAB * slabs > most_sums:
        return None
    halved = n - small + small // 2
    parts = np.split(packages, [first, n - small, halved])
    rest = amounts[packages].sum(axis=0)
    return (
        _listed(amounts, parts[0], high, low - rest),
        _listed(amounts, parts[1], high),
        _listed(amounts, parts[2], high),
        _listed(amounts, parts[3], high),
    )


def _tells_cells_apart(amounts: Ints, widths: Ints) -> bool:
    """Whether a cell of three amounts and a place in it are one number of 64 bits."""
    lead, other, third = (int(amounts[:, i].sum()) for i in range(3))
    cells = (lead // int(widths[0]) + 4) * (2 * third // int(widths[2]) + 4)
    return cells * 2 * (other + int(widths[1])) < NEVER


def _cheapest(sizes: list[float]) -> tuple[float, int, int]:
    """What counting costs, in needs, with so many packages in the first list and so many small."""
    n = len(sizes) - 1
    best = (math.inf, n, 0)
    for small in range(min(n, MOST_SMALL) + 1):
        meeting = sizes[n - small] + COST_OF_POINT * 2.0**small
        chunks = 1 + meeting / AT_ONCE
        for second in range(min(n - small, MOST_SECOND) + 1):
            first = n - small - second
            lists = COST_OF_LISTING * (max(sizes[: first + 1]) + 2.0**second)
            if max(sizes[: first + 1]) <= LONGEST:
                best = min(best, (meeting + lists + chunks * sizes[first], first, small))
    return best


def _foretold(amounts: Ints, low: Ints, high: Ints) -> list[float]:
    """How many sums of the first package, the first two and so on can lead to the windows.

    Exactly while they are few, then from a sample of them that grows as the list would.
    """
    chance = np.random.default_rng(0)
    sums, size, sizes = np.zeros((1, amounts.shape[1]), np.int64), 1.0, [1.0]
    rest = amounts.sum(axis=0)
    for of_package in amounts:
        rest = rest - of_package
        more = np.concatenate([sums, sums + of_package])
        more = more[((more <= high) & (more >= low - rest)).all(axis=1)]
        size *= len(more) / max(len(sums), 1)
        sizes.append(size)
        sums = more if len(more) <= SAMPLE else more[chance.permutation(len(more))[:SAMPLE]]
    return sizes


def _listed(amounts: Ints, packages: Ints, top: Ints, bottom: Ints | None = None) -> _List:
    """The sets of some packages whose sums are not above the top.

    Nor too far below, if there is a bottom: what they must sum up to less all that could come,
    which rises by every package that is decided upon.
    """
    sums, sets = np.zeros((1, amounts.shape[1]), np.int64), np.zeros(1, np.uint64)
    for place, package in enumerate(packages):
        sums = np.concatenate([sums, sums + amounts[package]])
        sets = np.concatenate([sets, sets | np.uint64(1 << place)])
        fits = (sums <= top).all(axis=1)
        if bottom is not None:
            bottom = bottom + amounts[package]
            fits &= (sums >= bottom).all(axis=1)
        sums, sets = sums[fits], sets[fits]
    return _List(packages, sums, sets)


class _Meeting:
    """Needs of the two large lists and points of the two small ones, and what is counted."""

    def __init__(self, lists: tuple[_List, _List, _List, _List], low: Ints, high: Ints) -> None:
        a, b, c, d = lists
        window, width = (int(size) for size in (high - low + 1)[:2])
        self.window, self.width, self.widths = window, width, (high - low + 1)[2:]
        none = np.empty((0, 0), np.int64)
        self.more = none, none, none, none
        self.empty = not all(len(some.sums) for some in lists)
        most = c.sums.max(axis=0, initial=0) + d.sums.max(axis=0, initial=0)
        self.last = int(most[0])
        if not self.empty:
            self.needs = _Side((low - a.sums)[:, :2], -b.sums[:, :2], 1 - width, int(most[1]))
            self.points = _Side(c.sums[:, :2], d.sums[:, :2], 0, int(most[1]))
            self.more = (
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
        self.some = np.zeros(4, np.uint64)
        self.all_of = np.full(4, np.iinfo(np.uint64).max)
        # A pair is kept if it is the first, or the first that has or lacks some package.
        self.telling = np.zeros((2 * sum(len(some.packages) for some in lists) + 1, 4), np.uint64)
        self.told = np.zeros(1, np.int64)

    def finished(self, end: float) -> bool:
        """Count; False if it takes until after `end`, or if a slab is too large."""
        from divulge.reconstruction import two_bins_kernels

        if self.empty:
            return True
        window, width = self.window, self.width
        begin, length = 1 - window, window
        self.needs.begin(begin)
        self.points.begin(0)
        none = np.empty(0, np.int64)
        old = _Sums(none.astype(np.int32), none, none)
        while begin <= self.last:
            if time.monotonic() > end:
                return False
            anywhere = np.zeros(length, np.int64), np.full(length, NEVER)
            # Points of the first window are there: in the first slab, there are none below zero.
            ahead = window - 1
            new = self.points.gathered(begin + ahead, *anywhere)
            points = None if new is None else old.and_after(new, ahead)
            needs = None
            if points is not None:
                limits = two_bins_kernels.reach(
                    points.leads, points.others, length, window, width, NEVER
                )
                needs = self.needs.gathered(begin, *limits)
            if points is None or needs is None:
                if 4 * length <= window or length == 1:
                    return False
                length = max(1, length // 4)
                continue
            self.count += two_bins_kernels.met(
                needs.leads,
                needs.others,
                needs.who,
                points.leads,
                points.others,
                points.who,
                length,
                window,
                width,
                self.widths,
                *self.more,
                *self.sets,
                *self.times,
                self.some,
                self.all_of,
                self.telling,
                self.told,
            )
            if self.count > MOST_COUNTED:
                return False
            self.points.move_on()
            self.needs.move_on()
            old = points.from_on(length)
            begin += length
            length = self._next(length, len(needs), len(points) - len(old))
        return True

    def _next(self, length: int, needs: int, points: int) -> int:
        """How long a slab to take next, if one so long had so many: more sums than runs."""
        aim = max(AT_ONCE, 2 * len(self.needs.run_first))
        for_needs = length * min(aim, MOST_AT_ONCE // 4) // max(needs, 1)
        aim = max(AT_ONCE, 2 * len(self.points.run_first))
        for_points = length * min(aim, MOST_AT_ONCE // 4) // max(points, 1)
        return max(1, min(4 * length, MOST_LEADS, for_needs, for_points))

    def counted(self, forced: Bools) -> Counted:
        with_package = np.where(forced, self.count, 0)
        members = np.repeat(forced[None], int(self.told[0]), axis=0)
        for column, (some, times) in enumerate(zip(self.lists, self.times, strict=True)):
            for place, package in enumerate(some.packages):
                bit = np.uint64(1 << place)
                with_package[package] = times[(some.sets & bit) != 0].sum()
                members[:, package] = (self.telling[: len(members), column] & bit) != 0
        pairs = np.stack([with_package, self.count - with_package], axis=1)
        return Counted(self.count, pairs, pairs / max(self.count, 1), (~members).astype(np.int16))
