"""The sets that fit into one bin, by meeting in the middle.

The large packages on one side, the small ones on the other: of each side all sums that can still
lead to the bin's totals. A sum of one side then needs a sum of the other in a narrow window of
every amount, which is looked up in a table ordered by windows of one amount and, in a window, by
another. Sides of a million sums decide bins with forty candidates and more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import Words, words_of
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort

MOST_ON_A_SIDE = 63  # packages: a side's sets are words of 64 bits
STEPS_PER_SUM = 16


@dataclass(frozen=True, eq=False)
class Fitting:
    """The sets that fit into a bin.

    How many, the first of them, some that have every package which any has and lack every package
    which any lacks, and how many of all sets have each package; how many steps it took, and
    whether these are all sets.
    """

    count: int
    sets: Words
    telling: Words
    with_package: Ints
    steps: int = 0
    complete: bool = True


@dataclass
class _Side:
    """All sums of some packages that are still of interest, and which packages make them.

    In order of the first attribute.
    """

    packages: list[int]
    sums: Ints
    sets: Words

    def add(self, times: Ints, with_package: Ints) -> None:
        """Count for each package the sums that have it, each so many times."""
        used = np.flatnonzero(times)
        for place, package in enumerate(self.packages):
            has = (self.sets[used] >> np.uint64(place)) & np.uint64(1) != 0
            with_package[package] += times[used[has]].sum()

    def joined(self, package: int, amounts: Ints, top: Ints, bottom: Ints) -> _Side:
        """The same with and without one more package, where a sum is within bottom and top."""
        from divulge.reconstruction.subset_sum import meet_in_middle_kernels

        bit = np.uint64(1 << len(self.packages))
        sums, sets = meet_in_middle_kernels.joined(self.sums, self.sets, amounts, bit, top, bottom)
        work.charge(tuning.HALVES, 2 * len(self.sums))
        return _Side([*self.packages, package], sums, sets)


def fitting(
    instance: Instance,
    b: int,
    candidates: Bools,
    forced: Bools,
    longest: int,
    most_sets: int,
    effort: Effort | None = None,
) -> Fitting | None:
    """All sets of the candidates, with all that are forced, that make the sums of bin b.

    None if a side has more than `longest` sums that cannot be ruled out, if far more pairs of
    them would have to be looked at, or if the effort is spent before. Of the sets only the first
    `most_sets` are kept.
    """
    from divulge.reconstruction.subset_sum import meet_in_middle_kernels

    held = int(instance.held[b] + forced.sum())
    free = candidates & ~forced
    most = held + int(free.sum())
    base = instance.amounts[forced].sum(axis=0)
    top = instance.high[b] + instance.widening[:, most] + instance.deeper[:, most] - base
    bottom = instance.low[b] - instance.widening[:, most] - base
    # The attribute that tells most leads: by its windows the table is ordered, then by the next.
    windows = np.maximum(top - bottom, 0) + 1
    lead = np.argsort(-(instance.amounts[free].sum(axis=0) / windows), kind="stable")
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    top, bottom, base, width = top[lead], bottom[lead], base[lead], int(windows[lead[0]])
    sides = _sides(amounts, free, top, bottom, longest, effort)
    if sides is None:
        return None
    large, small = sides
    if len(lead) > 1:
        small.sums, small.sets = meet_in_middle_kernels.in_windows(small.sums, small.sets, width)
    complete, count, chosen, telling, by_large, by_small, steps = meet_in_middle_kernels.meeting(
        large.sums,
        large.sets,
        small.sums,
        small.sets,
        width,
        top,
        bottom,
        instance.low[b, lead] - base,
        instance.high[b, lead] - base,
        np.ascontiguousarray(instance.widening[lead]),
        np.ascontiguousarray(instance.deeper[lead]),
        held,
        STEPS_PER_SUM * longest,
        most_sets,
    )
    work.charge(tuning.HALVES_MEET, steps + len(large.sums) + len(small.sums))
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
    amounts: Ints, free: Bools, top: Ints, bottom: Ints, longest: int, effort: Effort | None
) -> tuple[_Side, _Side] | None:
    """Large packages join one side, small ones the other, always the side with fewer sums."""
    k = amounts.shape[1]
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
        late = effort is not None and effort.spent
        if full or late or max(len(large.sums), len(small.sums)) > longest:
            return None
    return large, small


def _as_words(chosen: Words, large: _Side, small: _Side, packages: int) -> Words:
    """Sets as pairs of words, one a side, as words over all packages."""
    members = np.zeros((len(chosen), packages), np.uint8)
    for column, side in enumerate((large, small)):
        for place, package in enumerate(side.packages):
            members[:, package] = (chosen[:, column] >> np.uint64(place)) & np.uint64(1)
    return words_of(members)
