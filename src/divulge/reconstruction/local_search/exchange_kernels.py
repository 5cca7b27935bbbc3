"""Kernel of local search by swaps of few packages, drawn by a linear congruential generator.

Intervals are as in `propagation_kernels`: they may widen with the number of packages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

PACKAGES_PER_STEP = 16
"""Packages looked through, when it is listed who else could move, that count as one step. An
estimate; no benchmark isolates it."""


@kernel
def next_lcg31(chance: int) -> int:
    """Next state of a linear congruential generator modulo 2^31; use the high bits."""
    return (chance * 1103515245 + 12345) & 0x7FFFFFFF


@kernel
def exchange_packages(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    slack_by_count: NDArray[Any],
    extra_above: NDArray[Any],
    allowed: NDArray[Any],
    already_in_bin: NDArray[Any],
    start: NDArray[Any],
    proved: NDArray[Any],
    proofs: NDArray[Any],
    seed: int,
    tries: int,
) -> tuple[int, int]:
    """Walk from one allocation to others by moving and swapping few packages.

    Every allocation on the way proves its pairs; one that has a pair not yet `proved` is written
    into the next row of `proofs`, and its pairs are marked. Gives how many rows were written, and
    how many steps it took.

    Invariant: `place` is an allocation, `sums` and `inside` are those of its bins, and all pairs of
    the rows written are marked in `proved`.
    """
    n, k = amounts.shape
    m = low.shape[0]
    place = start.copy()
    sums = np.zeros((m, k), np.int64)
    inside = already_in_bin.copy()
    for p in range(n):
        inside[place[p]] += 1
        for i in range(k):
            sums[place[p], i] += amounts[p, i]
    random_state = seed
    here = np.empty(n, np.int64)
    there = np.empty(n, np.int64)
    moved_packages = np.empty(4, np.int64)
    shift = np.empty(k, np.int64)
    new, steps = 0, 0
    while steps < tries:
        random_state = next_lcg31(random_state)
        first = (random_state >> 8) % n
        random_state = next_lcg31(random_state)
        b = (random_state >> 8) % m
        a = place[first]
        steps += 1
        if b == a or not allowed[first, b]:
            continue
        # Who else could move between the two bins, in which direction.
        in_a, in_b = 0, 0
        for p in range(n):
            if place[p] == a and p != first and allowed[p, b]:
                here[in_a] = p
                in_a += 1
            elif place[p] == b and allowed[p, a]:
                there[in_b] = p
                in_b += 1
        steps += n // PACKAGES_PER_STEP
        # `first` goes to b; with it none or one of a; back come none, one or two of b.
        has_move = False
        for with_one in range(-1, in_a):
            for back in range(-1, in_b):
                for more in range(-1, back):
                    steps += 1
                    out = 1 + (with_one >= 0)
                    home = (back >= 0) + (more >= 0)
                    for i in range(k):
                        shift[i] = amounts[first, i]
                        if with_one >= 0:
                            shift[i] += amounts[here[with_one], i]
                        if back >= 0:
                            shift[i] -= amounts[there[back], i]
                        if more >= 0:
                            shift[i] -= amounts[there[more], i]
                    fits = True
                    c_a, c_b = inside[a] - out + home, inside[b] + out - home
                    for i in range(k):
                        slack, extra = slack_by_count[i, c_a], extra_above[i, c_a]
                        total = sums[a, i] - shift[i]
                        if total < low[a, i] - slack or total > high[a, i] + slack + extra:
                            fits = False
                            break
                        slack, extra = slack_by_count[i, c_b], extra_above[i, c_b]
                        total = sums[b, i] + shift[i]
                        if total < low[b, i] - slack or total > high[b, i] + slack + extra:
                            fits = False
                            break
                    if fits:
                        moved_packages[0] = first
                        moved_packages[1] = here[with_one] if with_one >= 0 else -1
                        moved_packages[2] = there[back] if back >= 0 else -1
                        moved_packages[3] = there[more] if more >= 0 else -1
                        has_move = True
                        break
                if has_move or steps >= tries:
                    break
            if has_move or steps >= tries:
                break
        if not has_move:
            continue
        for j in range(4):
            p = moved_packages[j]
            if p >= 0:
                to = b if j < 2 else a
                inside[place[p]] -= 1
                inside[to] += 1
                for i in range(k):
                    sums[place[p], i] -= amounts[p, i]
                    sums[to, i] += amounts[p, i]
                place[p] = to
        fresh = False
        for p in range(n):
            if not proved[p, place[p]]:
                proved[p, place[p]] = 1
                fresh = True
        if fresh:
            for q in range(n):
                proofs[new, q] = place[q]
            new += 1
            if new == proofs.shape[0]:
                return new, steps
    return new, steps
