"""Depth-first search for subset sums of one bin, with a table of all sums of the last packages.

Intervals are as in `propagation_kernels`: they may widen with the number of packages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel


@kernel
def enumerate_sets_depth_first(
    amounts: NDArray[Any],
    free: NDArray[Any],
    base: NDArray[Any],
    base_count: int,
    low: NDArray[Any],
    high: NDArray[Any],
    slack_by_count: NDArray[Any],
    extra_above: NDArray[Any],
    tail: int,
    words: int,
    budget: int,
    most_sets: int,
    enough: int,
) -> tuple[bool, int, NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """All sets of the free packages that make one bin's sums.

    `base` is the sum of what is in the bin anyway (`base_count` packages). The free packages come
    largest first; depth first over all but the last `tail`, whose 2^tail sums stand in a table
    sorted by attribute 0. Gives whether all were found, how many there are, the first `most_sets`
    of them, the packages that occur in some, those that occur in all, and how many steps it took.
    The search ends when `enough` were found, or the budget of steps is spent.

    Invariant: at the head of the loop, `mask` has all packages whose choice is 1, and `inside` and
    `sums` are of these and of the base; every set of an earlier branch was found; `union` and
    `common` are of all sets found.
    """
    k = amounts.shape[1]
    count = free.shape[0]
    heads = count - tail
    rows = 1 << tail
    table = np.zeros((rows, k), np.int64)
    sizes = np.zeros(rows, np.int64)
    for row in range(1, rows):
        bit = 0
        while (row >> bit) & 1 == 0:
            bit += 1
        rest = row & (row - 1)
        sizes[row] = sizes[rest] + 1
        for i in range(k):
            table[row, i] = table[rest, i] + amounts[free[heads + bit], i]
    by_first = np.argsort(table[:, 0])
    firsts = table[:, 0][by_first]
    sums_to_come = np.zeros((heads + 1, k), np.int64)
    for i in range(k):
        sums_to_come[heads, i] = table[rows - 1, i]
        for j in range(heads - 1, -1, -1):
            sums_to_come[j, i] = sums_to_come[j + 1, i] + amounts[free[j], i]
    top = np.empty(k, np.int64)
    bottom = np.empty(k, np.int64)
    for i in range(k):
        top[i] = (
            high[i] + slack_by_count[i, base_count + count] + extra_above[i, base_count + count]
        )
        bottom[i] = low[i] - slack_by_count[i, base_count + count]
    sets = np.zeros((most_sets, words), np.uint64)
    union = np.zeros(words, np.uint64)
    common = np.full(words, np.uint64(0xFFFFFFFFFFFFFFFF))
    mask = np.zeros(words, np.uint64)
    full = np.zeros(words, np.uint64)
    sums = base.copy()
    inside = base_count
    choice = np.zeros(heads + 1, np.int8)  # 0: not tried, 1: taken, 2: left out
    count_found, nodes, depth = 0, 0, 0
    one = np.uint64(1)
    while depth >= 0:
        nodes += 1
        if nodes > budget:
            return False, count_found, sets, union, common, nodes
        alive = True
        if choice[depth] == 0:
            for i in range(k):
                if sums[i] > top[i] or sums[i] + sums_to_come[depth, i] < bottom[i]:
                    alive = False
                    break
        if not alive or depth == heads:
            if alive:
                begin = np.searchsorted(firsts, bottom[0] - sums[0])
                for at in range(begin, rows):
                    if firsts[at] > top[0] - sums[0]:
                        break
                    nodes += 1
                    if nodes > budget:
                        return False, count_found, sets, union, common, nodes
                    row = by_first[at]
                    c = inside + sizes[row]
                    fits = True
                    for i in range(k):
                        total = sums[i] + table[row, i]
                        if (
                            total < low[i] - slack_by_count[i, c]
                            or total > high[i] + slack_by_count[i, c] + extra_above[i, c]
                        ):
                            fits = False
                            break
                    if fits:
                        for w in range(words):
                            full[w] = mask[w]
                        for bit in range(tail):
                            if (row >> bit) & 1:
                                p = free[heads + bit]
                                full[p >> 6] |= one << np.uint64(p & 63)
                        for w in range(words):
                            union[w] |= full[w]
                            common[w] &= full[w]
                            if count_found < most_sets:
                                sets[count_found, w] = full[w]
                        count_found += 1
                        if count_found == enough:
                            return False, count_found, sets, union, common, nodes
            choice[depth] = 0
            depth -= 1
            continue
        p = free[depth]
        if choice[depth] == 0:
            choice[depth] = 1
            mask[p >> 6] |= one << np.uint64(p & 63)
            inside += 1
            for i in range(k):
                sums[i] += amounts[p, i]
            depth += 1
        elif choice[depth] == 1:
            choice[depth] = 2
            mask[p >> 6] ^= one << np.uint64(p & 63)
            inside -= 1
            for i in range(k):
                sums[i] -= amounts[p, i]
            depth += 1
        else:
            choice[depth] = 0
            depth -= 1
    return True, count_found, sets, union, common, nodes
