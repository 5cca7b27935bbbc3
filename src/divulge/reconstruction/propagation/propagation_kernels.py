"""Kernels of bounds propagation, connected components and backtracking, in whole numbers.

The sum of attribute i over the c packages of bin b must lie in
[low[b, i] - slack_by_count[i, c], high[b, i] + slack_by_count[i, c] + extra_above[i, c]]; neither
of the two falls with c, so the widest that a branch can still reach is that of all packages left in
it. Sets of packages are words of 64 bits. No kernel changes what it is given, except `allowed`,
which `propagate` narrows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel


@kernel
def propagate(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    slack_by_count: NDArray[Any],
    extra_above: NDArray[Any],
    allowed: NDArray[Any],
    already_in_bin: NDArray[Any],
) -> int:
    """Take away what cannot be, until nothing changes; in how many rounds, or 0 if nothing is left.

    A package larger than its bin's room cannot be there; a bin that cannot reach its total
    without a package must have it; a package with one bin left is in it.

    Invariant: `choices[p]` is how many bins package p has left, and no pair was taken away that an
    allocation has.
    """
    n, k = amounts.shape
    m = low.shape[0]
    choices = np.zeros(n, np.int64)
    for p in range(n):
        for b in range(m):
            choices[p] += allowed[p, b]
        if choices[p] == 0:
            return 0
    changed, rounds = True, 0
    while changed:
        changed = False
        rounds += 1
        for b in range(m):
            most_inside = already_in_bin[b]
            for p in range(n):
                most_inside += allowed[p, b]
            for i in range(k):
                sure, possible = 0, 0
                for p in range(n):
                    if allowed[p, b]:
                        possible += amounts[p, i]
                        if choices[p] == 1:
                            sure += amounts[p, i]
                top = high[b, i] + slack_by_count[i, most_inside] + extra_above[i, most_inside]
                bottom = low[b, i] - slack_by_count[i, most_inside]
                if sure > top or possible < bottom:
                    return 0
                for p in range(n):
                    if not allowed[p, b] or choices[p] == 1:
                        continue
                    if sure + amounts[p, i] > top:
                        allowed[p, b] = 0
                        choices[p] -= 1
                        possible -= amounts[p, i]
                        changed = True
                    elif possible - amounts[p, i] < bottom:
                        for other in range(m):
                            if other != b:
                                allowed[p, other] = 0
                        choices[p] = 1
                        sure += amounts[p, i]
                        changed = True
                if sure > top or possible < bottom:
                    return 0
    return rounds


@kernel
def connected_components(allowed: NDArray[Any]) -> NDArray[Any]:
    """Number the connected components: that of every package, and after them that of every bin.

    A package with one bin left belongs to none (-1), and joins nothing.

    Invariant: (breadth-first search) the nodes in `queue[:tail]` have the number of this component,
    and those before `head` have passed it on to all their neighbours.
    """
    n, m = allowed.shape
    label = np.full(n + m, -1, np.int64)
    queue = np.empty(n + m, np.int64)
    choices = np.zeros(n, np.int64)
    for p in range(n):
        for b in range(m):
            choices[p] += allowed[p, b]
    parts = 0
    for seed in range(n):
        if choices[seed] < 2 or label[seed] >= 0:
            continue
        queue[0] = seed
        label[seed] = parts
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            if node < n:
                for b in range(m):
                    if allowed[node, b] and label[n + b] < 0:
                        label[n + b] = parts
                        queue[tail] = n + b
                        tail += 1
            else:
                for p in range(n):
                    if allowed[p, node - n] and choices[p] > 1 and label[p] < 0:
                        label[p] = parts
                        queue[tail] = p
                        tail += 1
        parts += 1
    return label


@kernel
def count_by_backtracking(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    slack_by_count: NDArray[Any],
    extra_above: NDArray[Any],
    allowed: NDArray[Any],
    already_in_bin: NDArray[Any],
    order: NDArray[Any],
    budget: int,
) -> tuple[bool, int, NDArray[Any], NDArray[Any], int, int]:
    """Walk through all allocations, the packages in the order given.

    Gives whether the walk came to its end, how many allocations there are, in how many each
    package is in each bin, allocations (so many rows) that together have every pair that occurs,
    and how many steps it took. A branch ends where a bin overflows, or cannot be filled by what
    is left for it.

    Invariant: at the head of the loop, `sums` and `inside` are of the packages that have a place,
    and `room[b]` is the sum of those without one that may be in b; `count` and `counts` are of all
    allocations before the one at hand, and every pair that they have is in a row of `proofs`.
    """
    n, k = amounts.shape
    m = low.shape[0]
    counts = np.zeros((n, m), np.int64)
    proofs = np.empty((64, n), np.int16)
    proof_rows = 0
    top = np.empty((m, k), np.int64)
    bottom = np.empty((m, k), np.int64)
    sums = np.zeros((m, k), np.int64)
    room = np.zeros((m, k), np.int64)
    inside = already_in_bin.copy()
    for b in range(m):
        most_inside = already_in_bin[b]
        for p in range(n):
            if allowed[p, b]:
                most_inside += 1
                for i in range(k):
                    room[b, i] += amounts[p, i]
        for i in range(k):
            top[b, i] = high[b, i] + slack_by_count[i, most_inside] + extra_above[i, most_inside]
            bottom[b, i] = low[b, i] - slack_by_count[i, most_inside]
            if room[b, i] < bottom[b, i]:
                return True, 0, counts, proofs, proof_rows, 0
    place = np.full(n, -1, np.int64)
    count, nodes, depth = 0, 0, 0
    while depth >= 0:
        if depth == n:
            is_allocation = True
            for b in range(m):
                for i in range(k):
                    slack, extra = slack_by_count[i, inside[b]], extra_above[i, inside[b]]
                    if sums[b, i] < low[b, i] - slack or sums[b, i] > high[b, i] + slack + extra:
                        is_allocation = False
            if is_allocation:
                count += 1
                new = False
                for p in range(n):
                    new = new or counts[p, place[p]] == 0
                    counts[p, place[p]] += 1
                if new:
                    if proof_rows == proofs.shape[0]:
                        more = np.empty((2 * proof_rows, n), np.int16)
                        more[:proof_rows] = proofs
                        proofs = more
                    for q in range(n):
                        proofs[proof_rows, q] = place[q]
                    proof_rows += 1
            depth -= 1
            continue
        p = order[depth]
        b = place[p]
        if b >= 0:  # take it out of where it stood
            inside[b] -= 1
            for i in range(k):
                sums[b, i] -= amounts[p, i]
        else:  # what is left for the bins does not hold it any more
            for other in range(m):
                if allowed[p, other]:
                    for i in range(k):
                        room[other, i] -= amounts[p, i]
        b += 1
        while b < m:
            if allowed[p, b]:
                nodes += 1
                fits = True
                for i in range(k):
                    if sums[b, i] + amounts[p, i] > top[b, i]:
                        fits = False
                        break
                if fits:
                    for other in range(m):
                        if allowed[p, other] and other != b:
                            for i in range(k):
                                if sums[other, i] + room[other, i] < bottom[other, i]:
                                    fits = False
                                    break
                            if not fits:
                                break
                if fits:
                    break
            b += 1
        if nodes > budget:
            return False, count, counts, proofs, proof_rows, nodes
        if b == m:
            place[p] = -1
            for other in range(m):
                if allowed[p, other]:
                    for i in range(k):
                        room[other, i] += amounts[p, i]
            depth -= 1
        else:
            place[p] = b
            inside[b] += 1
            for i in range(k):
                sums[b, i] += amounts[p, i]
            depth += 1
    return True, count, counts, proofs, proof_rows, nodes
