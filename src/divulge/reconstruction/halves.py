"""The sets that fit into one bin, by meeting in the middle.

The large packages on one side, the small ones on the other: of each side all sums that can still
lead to the bin's totals. A sum of one side then needs a sum of the other in a narrow window of
every amount, which is looked up in a table ordered by the windows of two amounts at once. Sides of
a million sums decide bins with forty candidates and more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.counting import Words, words_of
from divulge.reconstruction.instance import Instance

MOST_ON_A_SIDE = 63  # packages: a side's sets are words of 64 bits
LARGEST_KEY = 2**62
STEPS_PER_SUM = 16


@dataclass(frozen=True, eq=False)
class Fitting:
    """The sets that fit into a bin.

    How many, the first of them, some that have every package which any has and lack every package
    which any lacks, and how many of all sets have each package.
    """

    count: int
    sets: Words
    telling: Words
    with_package: Ints


@dataclass
class _Side:
    """All sums of some packages that are still of interest, and which packages make them."""

    packages: list[int]
    sums: Ints
    sets: Words

    @property
    def sizes(self) -> Ints:
        """How many packages make each sum."""
        return np.bitwise_count(self.sets).astype(np.int64)

    def reordered(self, order: Ints) -> _Side:
        """The same sums in another order."""
        return _Side(self.packages, self.sums[order], self.sets[order])

    def add(self, times: Ints, with_package: Ints) -> None:
        """Count for each package the sums that have it, each so many times."""
        used = np.flatnonzero(times)
        for place, package in enumerate(self.packages):
            has = (self.sets[used] >> np.uint64(place)) & np.uint64(1) != 0
            with_package[package] += times[used[has]].sum()

    def joined(self, package: int, amounts: Ints, top: Ints, bottom: Ints) -> _Side:
        """The same with and without one more package, where a sum is within bottom and top."""
        more = self.sums + amounts
        bit = np.uint64(1 << len(self.packages))
        without = (self.sums >= bottom).all(axis=1)
        with_it = (more <= top).all(axis=1) & (more >= bottom).all(axis=1)
        return _Side(
            [*self.packages, package],
            np.concatenate([self.sums[without], more[with_it]]),
            np.concatenate([self.sets[without], self.sets[with_it] | bit]),
        )


def fitting(
    instance: Instance, b: int, candidates: Bools, forced: Bools, longest: int, most_sets: int
) -> Fitting | None:
    """All sets of the candidates, with all that are forced, that make the sums of bin b.

    None if a side has more than `longest` sums that cannot be ruled out, or if far more pairs of
    them would have to be looked at. Of the sets only the first `most_sets` are kept.
    """
    from divulge.reconstruction import kernels

    held = int(instance.held[b] + forced.sum())
    most = held + int((candidates & ~forced).sum())
    base = instance.amounts[forced].sum(axis=0)
    top = instance.high[b] + instance.widening[:, most] + instance.deeper[:, most] - base
    bottom = instance.low[b] - instance.widening[:, most] - base
    sides = _sides(instance, candidates & ~forced, top, bottom, longest)
    if sides is None:
        return None
    large, small = sides
    # The attribute that tells most leads, the next is the second by which the table is ordered.
    windows = np.maximum(top - bottom, 0) + 1
    inside = instance.amounts[candidates & ~forced].sum(axis=0)
    lead = np.argsort(-(inside / windows), kind="stable")
    keys, per_first, widths = _keys(small.sums, windows, lead)
    # Both sides in order, so that one look into the table is near the next.
    in_order, falling = np.argsort(keys), np.argsort(-large.sums[:, lead[0]])
    large, small = large.reordered(falling), small.reordered(in_order)
    complete, count, chosen, telling, by_large, by_small = kernels.meeting_halves(
        large.sums,
        large.sets,
        keys[in_order],
        small.sums,
        small.sets,
        large.sizes,
        small.sizes,
        lead,
        widths,
        per_first,
        top,
        bottom,
        instance.low[b] - base,
        instance.high[b] - base,
        instance.widening,
        instance.deeper,
        held,
        STEPS_PER_SUM * longest,
        most_sets,
    )
    if not complete:
        return None
    always = words_of(forced)
    with_package = np.where(forced, int(count), 0)
    large.add(by_large, with_package)
    small.add(by_small, with_package)
    return Fitting(
        int(count),
        _as_words(chosen[: min(count, most_sets)], large, small, instance.packages) | always,
        _as_words(telling, large, small, instance.packages) | always,
        with_package,
    )


def _sides(
    instance: Instance, free: Bools, top: Ints, bottom: Ints, longest: int
) -> tuple[_Side, _Side] | None:
    """Large packages join one side, small ones the other, always the side with fewer sums."""
    amounts = instance.amounts
    k = instance.attributes
    waiting = [int(p) for p in np.flatnonzero(free)]
    size = (amounts / np.maximum(top, 1)).max(axis=1)
    waiting.sort(key=lambda p: -float(size[p]))
    rest = amounts[free].sum(axis=0)  # what is not on the side of the large ones
    anything = np.full(k, np.iinfo(np.int64).min)
    large = _Side([], np.zeros((1, k), np.int64), np.zeros(1, np.uint64))
    small = _Side([], np.zeros((1, k), np.int64), np.zeros(1, np.uint64))
    while waiting:
        if len(large.sums) <= len(small.sums):
            package = waiting.pop(0)
            rest = rest - amounts[package]
            large = large.joined(package, amounts[package], top, bottom - rest)
        else:
            package = waiting.pop()
            small = small.joined(package, amounts[package], top, anything)
        full = max(len(large.packages), len(small.packages)) > MOST_ON_A_SIDE
        if full or max(len(large.sums), len(small.sums)) > longest:
            return None
    return large, small


def _keys(sums: Ints, windows: Ints, lead: Ints) -> tuple[Ints, int, Ints]:
    """Each sum's place by the windows of the two leading amounts, as one number."""
    first = sums[:, lead[0]] // windows[lead[0]]
    if len(lead) == 1:
        return first, 1, np.array([windows[lead[0]], 1], np.int64)
    second = sums[:, lead[1]]
    room = LARGEST_KEY // (int(first.max(initial=0)) + 2)
    width = max(int(windows[lead[1]]), int(second.max(initial=0)) // room + 1)
    second = second // width
    per_first = int(second.max(initial=0)) + 1
    return first * per_first + second, per_first, np.array([windows[lead[0]], width], np.int64)


def _as_words(chosen: Words, large: _Side, small: _Side, packages: int) -> Words:
    """Sets as pairs of words, one a side, as words over all packages."""
    members = np.zeros((len(chosen), ((packages + 63) // 64) * 64), np.uint8)
    for column, side in enumerate((large, small)):
        for place, package in enumerate(side.packages):
            members[:, package] = (chosen[:, column] >> np.uint64(place)) & np.uint64(1)
    packed = np.packbits(members, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint64)
