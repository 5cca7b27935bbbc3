"""The loops of meeting in the middle: lists of sums that grow in order, and pairs of them that fit.

A list has one row a set of packages: its sums, attribute after attribute, and the set as a word of
64 bits. Lists stay ordered by attribute 0, since a list and the same list with one more package
are merged, not sorted: what costs is to write every sum once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

FEW = 12


@kernel
def joined(
    sums: NDArray[Any],
    sets: NDArray[Any],
    amounts: NDArray[Any],
    bit: Any,
    top: NDArray[Any],
    bottom: NDArray[Any],
    most: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """A list with and without one more package, where sums are within bottom and top.

    What is longer than `most` is cut off after the first row too many.
    """
    length, k = sums.shape
    room = min(2 * length, most + 1)
    more_sums = np.empty((room, k), np.int64)
    more_sets = np.empty(room, np.uint64)
    without, with_it, n = 0, 0, 0
    while n < room and with_it < length:
        fits = True
        if without < length and sums[without, 0] <= sums[with_it, 0] + amounts[0]:
            for i in range(k):
                total = sums[without, i]
                more_sums[n, i] = total
                fits &= total >= bottom[i]
            more_sets[n] = sets[without]
            without += 1
        else:
            for i in range(k):
                total = sums[with_it, i] + amounts[i]
                more_sums[n, i] = total
                fits &= (total >= bottom[i]) & (total <= top[i])
            more_sets[n] = sets[with_it] | bit
            with_it += 1
        n += fits
    return more_sums[:n], more_sets[:n]


@kernel
def in_windows(
    sums: NDArray[Any], sets: NDArray[Any], width: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows of each window of attribute 0, so wide, ordered by attribute 1."""
    n, k = sums.shape
    other_sums = np.empty_like(sums)
    other_sets = np.empty_like(sets)
    begin = 0
    while begin < n:
        window = sums[begin, 0] // width
        end = begin + 1
        while end < n and sums[end, 0] // width == window:
            end += 1
        if end - begin <= FEW:
            for row in range(begin, end):
                at = row
                while at > begin and other_sums[at - 1, 1] > sums[row, 1]:
                    for i in range(k):
                        other_sums[at, i] = other_sums[at - 1, i]
                    other_sets[at] = other_sets[at - 1]
                    at -= 1
                for i in range(k):
                    other_sums[at, i] = sums[row, i]
                other_sets[at] = sets[row]
        else:
            order = np.argsort(sums[begin:end, 1])
            for at in range(end - begin):
                for i in range(k):
                    other_sums[begin + at, i] = sums[begin + order[at], i]
                other_sets[begin + at] = sets[begin + order[at]]
        begin = end
    return other_sums, other_sets


@kernel
def end_of_window(sums: NDArray[Any], at: int, width: int) -> int:
    """The first row after `at` that is in another window of attribute 0."""
    n: int = sums.shape[0]
    window = sums[at, 0] // width
    low, high, step = at, at + 1, 1
    while high < n and sums[high, 0] // width == window:
        low = high
        high += step
        step *= 2
    high = min(high, n)
    while high - low > 1:
        middle = (low + high) // 2
        if sums[middle, 0] // width == window:
            low = middle
        else:
            high = middle
    return high


@kernel
def meeting(
    large_sums: NDArray[Any],
    large_sets: NDArray[Any],
    small_sums: NDArray[Any],
    small_sets: NDArray[Any],
    width: int,
    top: NDArray[Any],
    bottom: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    widening: NDArray[Any],
    deeper: NDArray[Any],
    held: int,
    budget: int,
    most_sets: int,
) -> tuple[bool, int, NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """All pairs of a sum of the large packages and one of the small that make a bin's sums.

    The small ones come by windows of attribute 0, so wide, and in a window by attribute 1; the
    large ones in order of attribute 0. Gives whether all pairs were looked at, how many fit, the
    first `most_sets` of them as two words each, those that first had or first lacked a package
    (what is in some is in one of these, what is in all is in all of these), and how many pairs
    each of the large and each of the small sums is in.
    """
    k = top.shape[0]
    n = small_sums.shape[0]
    second = 1 if k > 1 else 0
    chosen = np.zeros((most_sets, 2), np.uint64)
    union = np.zeros(2, np.uint64)
    common = np.full(2, np.uint64(0xFFFFFFFFFFFFFFFF))
    telling = np.zeros((258, 2), np.uint64)
    by_large = np.zeros(large_sums.shape[0], np.int64)
    by_small = np.zeros(n, np.int64)
    counts_matter = widening.any() or deeper.any()
    found, told, steps, begin = 0, 0, 0, 0
    for row in range(large_sums.shape[0] - 1, -1, -1):
        # What the small ones must add: more and more, as the large ones add less and less.
        from_first = bottom[0] - large_sums[row, 0]
        to_first = top[0] - large_sums[row, 0]
        while begin < n and small_sums[begin, 0] // width < from_first // width:
            begin += 1
        from_second = bottom[second] - large_sums[row, second]
        to_second = top[second] - large_sums[row, second]
        steps += 1
        at = begin
        while at < n and small_sums[at, 0] // width <= to_first // width:
            end = end_of_window(small_sums, at, width)
            under, at = at - 1, end
            while at - under > 1:
                middle = (under + at) // 2
                if small_sums[middle, second] < from_second:
                    under = middle
                else:
                    at = middle
            steps += 1
            while at < end and small_sums[at, second] <= to_second:
                steps += 1
                wide = held
                if counts_matter:
                    one, two = large_sets[row], small_sets[at]
                    while one != 0:
                        one &= one - np.uint64(1)
                        wide += 1
                    while two != 0:
                        two &= two - np.uint64(1)
                        wide += 1
                fits = True
                for i in range(k):
                    total = large_sums[row, i] + small_sums[at, i]
                    if (
                        total < low[i] - widening[i, wide]
                        or total > high[i] + widening[i, wide] + deeper[i, wide]
                    ):
                        fits = False
                        break
                if fits:
                    one, two = large_sets[row], small_sets[at]
                    if (
                        found == 0
                        or (one & ~union[0]) | (two & ~union[1]) != 0
                        or (common[0] & ~one) | (common[1] & ~two) != 0
                    ):
                        union[0] |= one
                        union[1] |= two
                        common[0] &= one
                        common[1] &= two
                        telling[told, 0] = one
                        telling[told, 1] = two
                        told += 1
                    by_large[row] += 1
                    by_small[at] += 1
                    if found < most_sets:
                        chosen[found, 0] = one
                        chosen[found, 1] = two
                    found += 1
                at += 1
            at = end
        if steps > budget:
            return False, found, chosen, telling[:told], by_large, by_small
    return True, found, chosen, telling[:told], by_large, by_small
