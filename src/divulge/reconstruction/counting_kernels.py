"""The loops of counting: which sets are in what is left, and how what is left splits in two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel


@kernel
def transitions(
    states: NDArray[Any], sets: NDArray[Any], must: NDArray[Any], most: int
) -> tuple[bool, NDArray[Any], NDArray[Any]]:
    """All (state, set) pairs where the set is in the state and has what the state must give.

    False if there are more than `most`.
    """
    words = states.shape[1]
    source = np.empty(1024, np.int64)
    chosen = np.empty(1024, np.int64)
    found = 0
    for state in range(states.shape[0]):
        for row in range(sets.shape[0]):
            bad = np.uint64(0)
            for w in range(words):
                bad |= sets[row, w] & ~states[state, w]
                bad |= states[state, w] & must[w] & ~sets[row, w]
            if bad != 0:
                continue
            if found == most:
                return False, source[:found], chosen[:found]
            if found == source.shape[0]:
                more, also = np.empty(2 * found, np.int64), np.empty(2 * found, np.int64)
                more[:found] = source
                also[:found] = chosen
                source, chosen = more, also
            source[found] = state
            chosen[found] = row
            found += 1
    return True, source[:found], chosen[:found]


@kernel
def grown(
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
    """Write a list with and without one more package, in order, where sums are in the limits."""
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
def splits(
    states: NDArray[Any],
    amounts: NDArray[Any],
    by_size: NDArray[Any],
    allowed: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    longest: int,
    budget: int,
) -> tuple[bool, Any, Any, Any, Any, Any, Any]:
    """In how many ways what is left in each state splits between two bins, 0 and 1.

    Meeting in the middle, large packages (`by_size` from the largest) against small ones. Gives
    whether all states were settled, the ways of each state, the states that have any, with the
    number of ways that have each package in bin 1 and one of the ways, and splits (state, packages
    in bin 1) that together have each package in each of the two bins wherever any has.
    """
    count = states.shape[0]
    n, k = amounts.shape
    ways = np.zeros(count, np.int64)
    alive = np.empty(16, np.int64)
    in_one = np.zeros((16, n), np.int64)
    first = np.zeros((16, n), np.uint8)
    settled = 0
    shown_state = np.empty(2 * n, np.int64)
    shown = np.zeros((2 * n, n), np.uint8)
    seen = np.zeros((n, 2), np.uint8)
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
        # What the first states took tells what all will take.
        if state % 16 == 15 and steps / state * count > budget:
            return False, ways, alive[:settled], in_one[:settled], first, shown_state, shown[:rows]
        steps += 4 * n
        both, held = np.zeros(k, np.int64), np.zeros(k, np.int64)
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
            possible &= bool(allowed[p, 0]) or bool(allowed[p, 1])
            fixed[fixes] = p
            side[fixes] = allowed[p, 1]
            fixes += 1
            if allowed[p, 1]:
                for i in range(k):
                    held[i] += amounts[p, i]
        for i in range(k):
            bottom[i] = max(low[1, i], both[i] - high[0, i]) - held[i]
            top[i] = min(high[1, i], both[i] - low[0, i]) - held[i]
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
                    alive[:settled],
                    in_one[:settled],
                    first,
                    shown_state,
                    shown[:rows],
                )
            if large_length <= small_length:
                p = free[larges]
                for i in range(k):
                    rest[i] -= amounts[p, i]
                    floor[i] = bottom[i] - rest[i]
                steps += 2 * large_length
                bit = one << np.uint64(larges)
                large_length = grown(
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
                small_length = grown(
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
                        if settled == alive.shape[0]:
                            more = np.empty(2 * settled, np.int64)
                            more[:settled] = alive
                            alive = more
                            also = np.zeros((2 * settled, n), np.int64)
                            also[:settled] = in_one
                            in_one = also
                            firsts = np.zeros((2 * settled, n), np.uint8)
                            firsts[:settled] = first
                            first = firsts
                        alive[settled] = state
                        settled += 1
                    ways[state] += 1
                    new = False
                    for c in range(larges + smalls):
                        if c < larges:
                            p, word = large[c], large_sets[row] >> np.uint64(c)
                        else:
                            p, word = small[c - larges], small_sets[at] >> np.uint64(c - larges)
                        inside = np.int64(word & one)
                        in_one[settled - 1, p] += inside
                        if ways[state] == 1:
                            first[settled - 1, p] = inside
                        new |= seen[p, inside] == 0
                        seen[p, inside] = 1
                    if new or ways[state] == 1:
                        for c in range(fixes):
                            new |= seen[fixed[c], side[c]] == 0
                            seen[fixed[c], side[c]] = 1
                    if new:
                        shown_state[rows] = state
                        for c in range(larges + smalls):
                            if c < larges:
                                p, word = large[c], large_sets[row] >> np.uint64(c)
                            else:
                                p, word = small[c - larges], small_sets[at] >> np.uint64(c - larges)
                            shown[rows, p] = np.int64(word & one)
                        for c in range(fixes):
                            shown[rows, fixed[c]] = side[c]
                        rows += 1
                at -= 1
            if steps > budget:
                return (
                    False,
                    ways,
                    alive[:settled],
                    in_one[:settled],
                    first,
                    shown_state,
                    shown[:rows],
                )
        if ways[state] > 0:
            for c in range(fixes):
                in_one[settled - 1, fixed[c]] = ways[state] * side[c]
                first[settled - 1, fixed[c]] = side[c]
    return True, ways, alive[:settled], in_one[:settled], first, shown_state, shown[:rows]
