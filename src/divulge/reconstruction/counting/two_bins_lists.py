"""Four lists of subset sums (Schroeppel-Shamir): packages of two bins, cut where it costs least.

How long lists get, and how many sums there will be, is estimated from a sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.bitsets import Bitsets
from divulge.work.arrays import Ints

INFINITE_AMOUNT = 2**62


@dataclass(frozen=True, eq=False)
class SubsetSums:
    """Sets of some packages: their sums, and the sets as words."""

    packages: Ints
    sums: Ints
    sets: Bitsets


def split_into_four_lists(
    amounts: Ints, packages: Ints, low: Ints, high: Ints, most_sums: float
) -> tuple[SubsetSums, SubsetSums, SubsetSums, SubsetSums] | None:
    """The packages, which come from the largest, in four lists such that least is to be done."""
    n = len(packages)
    if int(high[0] - low[0]) > tuning.TWO_BINS_WIDEST_WINDOW:
        return None  # a slab is as wide as the window, and this takes too much memory
    if amounts.shape[1] > 2 and not _can_number_cells(amounts[packages], high - low + 1):
        return None
    sizes = estimate_list_sizes(amounts[packages], low, high)
    least, first, small = _find_cheapest_split(sizes)
    if amounts.shape[1] > 2:
        if sizes[-1] < tuning.TWO_BINS_MOST_LISTED:
            return None
        least += (
            tuning.TWO_BINS_PAIR_COST
            * estimate_list_sizes(amounts[packages, :2], low[:2], high[:2])[-1]
        )
    slabs = int(amounts[packages, 0].sum()) / tuning.TWO_BINS_MOST_LEADS
    if least + tuning.TWO_BINS_SLAB_COST * slabs > most_sums:
        return None
    halved = n - small + small // 2
    parts = np.split(packages, [first, n - small, halved])
    rest = amounts[packages].sum(axis=0)
    return (
        _list_subset_sums(amounts, parts[0], high, low - rest),
        _list_subset_sums(amounts, parts[1], high),
        _list_subset_sums(amounts, parts[2], high),
        _list_subset_sums(amounts, parts[3], high),
    )


def _can_number_cells(amounts: Ints, widths: Ints) -> bool:
    """Whether a cell of three amounts and a place in it are one number of 64 bits."""
    lead, other, third = (int(amounts[:, i].sum()) for i in range(3))
    cells = (lead // int(widths[0]) + 4) * (2 * third // int(widths[2]) + 4)
    return cells * 2 * (other + int(widths[1])) < INFINITE_AMOUNT


def _find_cheapest_split(sizes: list[float]) -> tuple[float, int, int]:
    """What counting costs, in needs, with so many packages in the first list and so many small."""
    n = len(sizes) - 1
    best = (math.inf, n, 0)
    for small in range(min(n, tuning.TWO_BINS_MOST_SMALL) + 1):
        meeting = sizes[n - small] + tuning.TWO_BINS_POINT_COST * 2.0**small
        chunks = 1 + meeting / tuning.TWO_BINS_SLAB_SIZE
        for second in range(min(n - small, tuning.TWO_BINS_MOST_SECOND) + 1):
            first = n - small - second
            lists = tuning.TWO_BINS_LISTING_COST * (max(sizes[: first + 1]) + 2.0**second)
            if first <= 64 and max(sizes[: first + 1]) <= tuning.TWO_BINS_LONGEST_FIRST_LIST:
                best = min(best, (meeting + lists + chunks * sizes[first], first, small))
    return best


def estimate_list_sizes(amounts: Ints, low: Ints, high: Ints) -> list[float]:
    """How many sums of the first package, the first two and so on can lead to the windows.

    Exactly while they are few, then from a sample of them that grows as the list would.
    """
    random = np.random.default_rng(0)
    sums, size, sizes = np.zeros((1, amounts.shape[1]), np.int64), 1.0, [1.0]
    rest = amounts.sum(axis=0)
    for of_package in amounts:
        rest = rest - of_package
        work.charge(tuning.SUM_COUNT_ESTIMATE, len(sums))
        more = np.concatenate([sums, sums + of_package])
        more = more[((more <= high) & (more >= low - rest)).all(axis=1)]
        size *= len(more) / max(len(sums), 1)
        sizes.append(size)
        sums = (
            more
            if len(more) <= tuning.TWO_BINS_SAMPLE_SIZE
            else more[random.permutation(len(more))[: tuning.TWO_BINS_SAMPLE_SIZE]]
        )
    return sizes


def _list_subset_sums(
    amounts: Ints, packages: Ints, top: Ints, bottom: Ints | None = None
) -> SubsetSums:
    """The sets of some packages whose sums are not above the top.

    Nor too far below, if there is a bottom: what they must sum up to less all that could come,
    which rises by every package that is decided upon.
    """
    sums, sets = np.zeros((1, amounts.shape[1]), np.int64), np.zeros(1, np.uint64)
    for place, package in enumerate(packages):
        work.charge(tuning.SUM_COUNT_ESTIMATE, len(sums))
        sums = np.concatenate([sums, sums + amounts[package]])
        sets = np.concatenate([sets, sets | np.uint64(1 << place)])
        fits = (sums <= top).all(axis=1)
        if bottom is not None:
            bottom = bottom + amounts[package]
            fits &= (sums >= bottom).all(axis=1)
        sums, sets = sums[fits], sets[fits]
    return SubsetSums(packages, sums, sets)
