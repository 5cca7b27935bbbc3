"""Meet in the middle (Horowitz-Sahni): the sets of packages that fit one bin.

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
from divulge.reconstruction.problem.bitsets import Bitsets, pack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints

MOST_ON_A_SIDE = 63  # packages: a side's sets are words of 64 bits


@dataclass(frozen=True, eq=False, kw_only=True)
class FittingSets:
    """The sets that fit into a bin.

    How many, the first of them, some that have every package which any has and lack every package
    which any lacks, and how many of all sets have each package; how many steps it took, and
    whether these are all sets.
    """

    count: int
    sets: Bitsets
    witnesses: Bitsets
    with_package: Ints
    steps: int = 0
    complete: bool = True


@dataclass
class _HalfSums:
    """All sums of some packages that are still of interest, and which packages make them.

    In order of the first attribute.
    """

    packages: list[int]
    sums: Ints
    sets: Bitsets

    def add_counts(self, times: Ints, with_package: Ints) -> None:
        """Count for each package the sums that have it, each so many times."""
        used = np.flatnonzero(times)
        for place, package in enumerate(self.packages):
            has = (self.sets[used] >> np.uint64(place)) & np.uint64(1) != 0
            with_package[package] += times[used[has]].sum()

    def join_package(self, package: int, amounts: Ints, top: Ints, bottom: Ints) -> _HalfSums:
        """The same with and without one more package, where a sum is within bottom and top."""
        from divulge.reconstruction.subset_sum import meet_in_middle_kernels

        bit = np.uint64(1 << len(self.packages))
        sums, sets = meet_in_middle_kernels.extend_list(
            self.sums, self.sets, amounts, bit, top, bottom
        )
        work.charge(tuning.MEET_IN_MIDDLE_SUMS, 2 * len(self.sums))
        return _HalfSums([*self.packages, package], sums, sets)


def enumerate_sets_by_halves(
    instance: Instance,
    b: int,
    candidates: Bools,
    *,
    forced: Bools,
    longest: int,
    most_sets: int,
    effort: Effort | None = None,
) -> FittingSets | None:
    """All sets of the candidates, with all that are forced, that make the sums of bin b.

    None if a side has more than `longest` sums that cannot be ruled out, if far more pairs of
    them would have to be looked at, or if the effort is spent before. Of the sets only the first
    `most_sets` are kept.
    """
    from divulge.reconstruction.subset_sum import meet_in_middle_kernels

    already_in_bin = int(instance.already_in_bin[b] + forced.sum())
    free = candidates & ~forced
    most = already_in_bin + int(free.sum())
    base = instance.amounts[forced].sum(axis=0)
    top = instance.high[b] + instance.slack_by_count[:, most] + instance.extra_above[:, most] - base
    bottom = instance.low[b] - instance.slack_by_count[:, most] - base
    # The tightest attribute leads: by its windows the table is ordered, then by the next.
    windows = np.maximum(top - bottom, 0) + 1
    lead = np.argsort(-(instance.amounts[free].sum(axis=0) / windows), kind="stable")
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    top, bottom, base, width = top[lead], bottom[lead], base[lead], int(windows[lead[0]])
    sides = _split_into_halves(amounts, free, top, bottom=bottom, longest=longest, effort=effort)
    if sides is None:
        return None
    large, small = sides
    if len(lead) > 1:
        small.sums, small.sets = meet_in_middle_kernels.sort_within_windows(
            small.sums, small.sets, width
        )
    complete, count, word_pairs, witnesses, by_large, by_small, steps = (
        meet_in_middle_kernels.match_halves(
            large.sums,
            large.sets,
            small.sums,
            small.sets,
            width,
            top,
            bottom,
            instance.low[b, lead] - base,
            instance.high[b, lead] - base,
            np.ascontiguousarray(instance.slack_by_count[lead]),
            np.ascontiguousarray(instance.extra_above[lead]),
            already_in_bin,
            tuning.MEET_IN_MIDDLE_STEPS_PER_SUM * longest,
            most_sets,
        )
    )
    work.charge(tuning.MEET_IN_MIDDLE_PAIRS, steps + len(large.sums) + len(small.sums))
    if not complete:
        return None
    always = pack_bitsets(forced)
    with_package = np.where(forced, int(count), 0)
    large.add_counts(by_large, with_package)
    small.add_counts(by_small, with_package)
    return FittingSets(
        count=int(count),
        sets=_pack_word_pairs(word_pairs[: min(count, most_sets)], large, small, instance.packages)
        | always,
        witnesses=_pack_word_pairs(witnesses, large, small, instance.packages) | always,
        with_package=with_package,
    )


def _split_into_halves(
    amounts: Ints, free: Bools, top: Ints, *, bottom: Ints, longest: int, effort: Effort | None
) -> tuple[_HalfSums, _HalfSums] | None:
    """Large packages join one side, small ones the other, always the side with fewer sums."""
    k = amounts.shape[1]
    waiting = [int(p) for p in np.flatnonzero(free)]
    size = (amounts / np.maximum(top, 1)).max(axis=1)
    waiting.sort(key=lambda p: -float(size[p]))
    rest = amounts[free].sum(axis=0)  # what is not on the side of the large ones
    anything = np.full(k, np.iinfo(np.int64).min)
    large = _HalfSums([], np.zeros((1, k), np.int64), np.zeros(1, np.uint64))
    small = _HalfSums([], np.zeros((1, k), np.int64), np.zeros(1, np.uint64))
    while waiting:
        if len(large.sums) <= len(small.sums):
            package = waiting.pop(0)
            rest = rest - amounts[package]
            large = large.join_package(package, amounts[package], top, bottom - rest)
        else:
            package = waiting.pop()
            small = small.join_package(package, amounts[package], top, anything)
        full = max(len(large.packages), len(small.packages)) > MOST_ON_A_SIDE
        late = effort is not None and effort.spent
        if full or late or max(len(large.sums), len(small.sums)) > longest:
            return None
    return large, small


def _pack_word_pairs(
    word_pairs: Bitsets, large: _HalfSums, small: _HalfSums, packages: int
) -> Bitsets:
    """Sets as pairs of words, one a side, as words over all packages."""
    members = np.zeros((len(word_pairs), packages), np.uint8)
    for column, side in enumerate((large, small)):
        for place, package in enumerate(side.packages):
            members[:, package] = (word_pairs[:, column] >> np.uint64(place)) & np.uint64(1)
    return pack_bitsets(members)
