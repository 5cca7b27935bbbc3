"""Kernels of meet in the middle: sorted lists of subset sums that are merged, and pairs that fit.

A list has one row a set of packages: its sums, attribute after attribute, and the set as a word of
64 bits. Lists stay ordered by attribute 0, since a list and the same list with one more package
are merged, not sorted: what costs is to write every sum once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

INSERTION_SORT_ROWS = 12
"""Rows of a window up to which insertion sort is used. Chosen by hand; no benchmark isolates it."""
STATES_PER_FORECAST = 16
"""States after which it is asked again whether the others can be split with the effort: less lost
on what fails against a forecast from few. Chosen by hand; no benchmark isolates it."""
STEPS_PER_PACKAGE = 4
"""Steps that a package of a state counts for before sums are listed. An estimate; no benchmark
isolates it."""
MOST_WITNESSES = 258
"""Each witness adds a bit to the union of two words or takes one from their intersection: 256, and
room for the first."""


@kernel
def extend_list_into(
    sums: NDArray[Any],
    sets: NDArray[Any],
    length: int,
    amounts: NDArray[Any],
    bit: Any,
    bottom: NDArray[Any],
    top: NDArray[Any],
    more_sums: NDArray[Any],
    more_sets: NDArray[Any],
) -> int:
    """Write a list with and without one more package, in order, where sums are in the limits.

    Invariant: the first n rows are those within the limits of `sums[:without]` as they are and of
    `sums[:with_it]` with the package, in order of attribute 0. As no amount is negative, the first
    list ends before the second.
    """
    k = amounts.shape[0]
    without, with_it, n = 0, 0, 0
    while with_it < length:
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
    return n


@kernel
def extend_list(
    sums: NDArray[Any],
    sets: NDArray[Any],
    amounts: NDArray[Any],
    bit: Any,
    top: NDArray[Any],
    bottom: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """A list with and without one more package, where sums are within bottom and top."""
    length, k = sums.shape
    more_sums = np.empty((2 * length, k), np.int64)
    more_sets = np.empty(2 * length, np.uint64)
    n = extend_list_into(sums, sets, length, amounts, bit, bottom, top, more_sums, more_sets)
    return more_sums[:n], more_sets[:n]


@kernel
def sort_within_windows(
    sums: NDArray[Any], sets: NDArray[Any], width: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows of each window of attribute 0, so wide, ordered by attribute 1.

    Invariant: the rows before `begin` are done: whole windows, each in order of attribute 1.
    """
    n, k = sums.shape
    other_sums = np.empty_like(sums)
    other_sets = np.empty_like(sets)
    begin = 0
    while begin < n:
        window = sums[begin, 0] // width
        end = begin + 1
        while end < n and sums[end, 0] // width == window:
            end += 1
        if end - begin <= INSERTION_SORT_ROWS:
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
def find_window_end(sums: NDArray[Any], at: int, width: int) -> int:
    """The first row after `at` that is in another window of attribute 0, by galloping search.

    Invariant: row `low` is in the window; in the second loop, row `high` is not, or is the end.
    """
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
def match_halves(
    large_sums: NDArray[Any],
    large_sets: NDArray[Any],
    small_sums: NDArray[Any],
    small_sets: NDArray[Any],
    width: int,
    top: NDArray[Any],
    bottom: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    slack_by_count: NDArray[Any],
    extra_above: NDArray[Any],
    already_in_bin: int,
    budget: int,
    most_sets: int,
) -> tuple[bool, int, NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """All pairs of a sum of the large packages and one of the small that make a bin's sums.

    The small ones come by windows of attribute 0, so wide, and in a window by attribute 1; the
    large ones in order of attribute 0. Gives whether all pairs were looked at, how many fit, the
    first `most_sets` of them as two words each, those that first had or first lacked a package
    (what is in some is in one of these, what is in all is in all of these), how many pairs each of
    the large and each of the small sums is in, and how many steps it took.

    Invariant: the small sums before `begin` are too small for this row and all that follow;
    `by_large` and `by_small` are of the pairs so far; `union` and `common` are those of the
    witnesses, and of all pairs so far.
    """
    k = top.shape[0]
    n = small_sums.shape[0]
    second = 1 if k > 1 else 0
    word_pairs = np.zeros((most_sets, 2), np.uint64)
    union = np.zeros(2, np.uint64)
    common = np.full(2, np.uint64(0xFFFFFFFFFFFFFFFF))
    witnesses = np.zeros((MOST_WITNESSES, 2), np.uint64)
    by_large = np.zeros(large_sums.shape[0], np.int64)
    by_small = np.zeros(n, np.int64)
    counts_matter = slack_by_count.any() or extra_above.any()
    count, witness_count, steps, begin = 0, 0, 0, 0
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
            end = find_window_end(small_sums, at, width)
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
                inside = already_in_bin
                if counts_matter:
                    one, two = large_sets[row], small_sets[at]
                    while one != 0:
                        one &= one - np.uint64(1)
                        inside += 1
                    while two != 0:
                        two &= two - np.uint64(1)
                        inside += 1
                fits = True
                for i in range(k):
                    total = large_sums[row, i] + small_sums[at, i]
                    if (
                        total < low[i] - slack_by_count[i, inside]
                        or total > high[i] + slack_by_count[i, inside] + extra_above[i, inside]
                    ):
                        fits = False
                        break
                if fits:
                    one, two = large_sets[row], small_sets[at]
                    if (
                        count == 0
                        or (one & ~union[0]) | (two & ~union[1]) != 0
                        or (common[0] & ~one) | (common[1] & ~two) != 0
                    ):
                        union[0] |= one
                        union[1] |= two
                        common[0] &= one
                        common[1] &= two
                        witnesses[witness_count, 0] = one
                        witnesses[witness_count, 1] = two
                        witness_count += 1
                    by_large[row] += 1
                    by_small[at] += 1
                    if count < most_sets:
                        word_pairs[count, 0] = one
                        word_pairs[count, 1] = two
                    count += 1
                at += 1
            at = end
        if steps > budget:
            return False, count, word_pairs, witnesses[:witness_count], by_large, by_small, steps
    return True, count, word_pairs, witnesses[:witness_count], by_large, by_small, steps


@kernel
def count_splits(
    states: NDArray[Any],
    amounts: NDArray[Any],
    by_size: NDArray[Any],
    allowed: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    longest: int,
    budget: int,
) -> tuple[bool, Any, Any, Any, Any, Any, Any, int]:
    """In how many ways what is left in each state splits between two bins, 0 and 1.

    Meeting in the middle, large packages (`by_size` from the largest) against small ones. Gives
    whether all states were settled, the ways of each state, the states that have any, with the
    number of ways that have each package in bin 1 and one of the ways, splits (state, packages in
    bin 1) that together have each package in each of the two bins wherever any has, and the steps.

    Invariant: all that is given is final for the states before this one; each list has, in order of
    attribute 0, all sums of its packages that can still lead to the window; the small sums after
    `end` are too large for this row and all that follow.
    """
    count = states.shape[0]
    n, k = amounts.shape
    ways = np.zeros(count, np.int64)
    alive = np.empty(16, np.int64)
    in_one = np.zeros((16, n), np.int64)
    first = np.zeros((16, n), np.uint8)
    alive_count = 0
    witness_states = np.empty(2 * n, np.int64)
    witnesses = np.zeros((2 * n, n), np.uint8)
    proved = np.zeros((n, 2), np.uint8)
    rows = 0
    large_sums = np.empty((longest, k), np.int64)
    small_sums = np.empty((longest, k), np.int64)
    spare_sums = np.empty((longest, k), np.int64)
    large_sets = np.empty(longest, np.uint64)
    small_sets = np.empty(longest, np.uint64)
    spare_sets = np.empty(longest, np.uint64)
    free = np.empty(n, np.int64)
    fixed = np.empty(n, np.int64)
    side = np.empty(n, np.int64)
    large, small = np.empty(64, np.int64), np.empty(64, np.int64)
    top, bottom = np.empty(k, np.int64), np.empty(k, np.int64)
    rest, floor = np.empty(k, np.int64), np.empty(k, np.int64)
    nothing = np.full(k, np.iinfo(np.int64).min)
    one = np.uint64(1)
    steps = 0
    for state in range(count):
        # What the first states took is what the others will take, about.
        if (
            state % STATES_PER_FORECAST == STATES_PER_FORECAST - 1
            and steps / state * count > budget
        ):
            return (
                False,
                ways,
                alive[:alive_count],
                in_one[:alive_count],
                first,
                witness_states,
                witnesses[:rows],
                steps,
            )
        steps += STEPS_PER_PACKAGE * n
        both, fixed_sums = np.zeros(k, np.int64), np.zeros(k, np.int64)
        frees, fixes = 0, 0
        possible = True
        for place in range(n):
            p = by_size[place]
            if (states[state, p >> 6] >> np.uint64(p & 63)) & one == 0:
                continue
            for i in range(k):
                both[i] += amounts[p, i]
            if allowed[p, 0] and allowed[p, 1]:
                free[frees] = p
                frees += 1
                continue
            possible &= allowed[p, 0] + allowed[p, 1] > 0
            fixed[fixes] = p
            side[fixes] = allowed[p, 1]
            fixes += 1
            if allowed[p, 1]:
                for i in range(k):
                    fixed_sums[i] += amounts[p, i]
        for i in range(k):
            bottom[i] = max(low[1, i], both[i] - high[0, i]) - fixed_sums[i]
            top[i] = min(high[1, i], both[i] - low[0, i]) - fixed_sums[i]
            possible &= top[i] >= max(0, bottom[i])
            rest[i] = 0
            for c in range(frees):
                rest[i] += amounts[free[c], i]
            possible &= rest[i] >= bottom[i]
            large_sums[0, i] = 0
            small_sums[0, i] = 0
        if not possible:
            continue
        large_sets[0] = 0
        small_sets[0] = 0
        large_length, small_length, larges, smalls = 1, 1, 0, 0
        while larges + smalls < frees:
            if 2 * max(large_length, small_length) > longest or max(larges, smalls) > 62:
                return (
                    False,
                    ways,
                    alive[:alive_count],
                    in_one[:alive_count],
                    first,
                    witness_states,
                    witnesses[:rows],
                    steps,
                )
            if large_length <= small_length:
                p = free[larges]
                for i in range(k):
                    rest[i] -= amounts[p, i]
                    floor[i] = bottom[i] - rest[i]
                steps += 2 * large_length
                bit = one << np.uint64(larges)
                large_length = extend_list_into(
                    large_sums,
                    large_sets,
                    large_length,
                    amounts[p],
                    bit,
                    floor,
                    top,
                    spare_sums,
                    spare_sets,
                )
                large_sums, spare_sums = spare_sums, large_sums
                large_sets, spare_sets = spare_sets, large_sets
                large[larges] = p
                larges += 1
            else:
                p = free[frees - 1 - smalls]
                steps += 2 * small_length
                bit = one << np.uint64(smalls)
                small_length = extend_list_into(
                    small_sums,
                    small_sets,
                    small_length,
                    amounts[p],
                    bit,
                    nothing,
                    top,
                    spare_sums,
                    spare_sets,
                )
                small_sums, spare_sums = spare_sums, small_sums
                small_sets, spare_sets = spare_sets, small_sets
                small[smalls] = p
                smalls += 1
        end = small_length - 1
        for row in range(large_length):
            while end >= 0 and large_sums[row, 0] + small_sums[end, 0] > top[0]:
                end -= 1
            if end < 0:
                break
            at = end
            while at >= 0 and large_sums[row, 0] + small_sums[at, 0] >= bottom[0]:
                steps += 1
                fits = True
                for i in range(1, k):
                    total = large_sums[row, i] + small_sums[at, i]
                    if total < bottom[i] or total > top[i]:
                        fits = False
                        break
                if fits:
                    if ways[state] == 0:
                        if alive_count == alive.shape[0]:
                            more = np.empty(2 * alive_count, np.int64)
                            more[:alive_count] = alive
                            alive = more
                            also = np.zeros((2 * alive_count, n), np.int64)
                            also[:alive_count] = in_one
                            in_one = also
                            firsts = np.zeros((2 * alive_count, n), np.uint8)
                            firsts[:alive_count] = first
                            first = firsts
                        alive[alive_count] = state
                        alive_count += 1
                    ways[state] += 1
                    new = False
                    for c in range(larges + smalls):
                        if c < larges:
                            p, word = large[c], large_sets[row] >> np.uint64(c)
                        else:
                            p, word = small[c - larges], small_sets[at] >> np.uint64(c - larges)
                        inside = np.int64(word & one)
                        in_one[alive_count - 1, p] += inside
                        if ways[state] == 1:
                            first[alive_count - 1, p] = inside
                        new |= proved[p, inside] == 0
                        proved[p, inside] = 1
                    if new or ways[state] == 1:
                        for c in range(fixes):
                            new |= proved[fixed[c], side[c]] == 0
                            proved[fixed[c], side[c]] = 1
                    if new:
                        witness_states[rows] = state
                        for c in range(larges + smalls):
                            if c < larges:
                                p, word = large[c], large_sets[row] >> np.uint64(c)
                            else:
                                p, word = small[c - larges], small_sets[at] >> np.uint64(c - larges)
                            witnesses[rows, p] = np.int64(word & one)
                        for c in range(fixes):
                            witnesses[rows, fixed[c]] = side[c]
                        rows += 1
                at -= 1
            if steps > budget:
                return (
                    False,
                    ways,
                    alive[:alive_count],
                    in_one[:alive_count],
                    first,
                    witness_states,
                    witnesses[:rows],
                    steps,
                )
        if ways[state] > 0:
            for c in range(fixes):
                in_one[alive_count - 1, fixed[c]] = ways[state] * side[c]
                first[alive_count - 1, fixed[c]] = side[c]
    return (
        True,
        ways,
        alive[:alive_count],
        in_one[:alive_count],
        first,
        witness_states,
        witnesses[:rows],
        steps,
    )
