"""The loops over packages and bins: what fits, counted one by one. Whole numbers only.

The sum of attribute i over the c packages of bin b must lie in
[low[b, i] - widening[i, c], high[b, i] + widening[i, c] + deeper[i, c]]; widening and deeper never
fall with c, so the widest that a branch can still reach is that of all packages left in it. Sets
of packages are words of 64 bits. No kernel changes what it is given, except `allowed`, which
`propagate` narrows, and what `exchange` fills.
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
    widening: NDArray[Any],
    deeper: NDArray[Any],
    allowed: NDArray[Any],
    held: NDArray[Any],
) -> bool:
    """Take away what cannot be, until nothing changes; False if nothing is left.

    A package larger than its bin's room cannot be there; a bin that cannot reach its total
    without a package must have it; a package with one bin left is in it.
    """
    n, k = amounts.shape
    m = low.shape[0]
    choices = np.zeros(n, np.int64)
    for p in range(n):
        for b in range(m):
            choices[p] += allowed[p, b]
        if choices[p] == 0:
            return False
    changed = True
    while changed:
        changed = False
        for b in range(m):
            most = held[b]
            for p in range(n):
                most += allowed[p, b]
            for i in range(k):
                sure, possible = 0, 0
                for p in range(n):
                    if allowed[p, b]:
                        possible += amounts[p, i]
                        if choices[p] == 1:
                            sure += amounts[p, i]
                top = high[b, i] + widening[i, most] + deeper[i, most]
                bottom = low[b, i] - widening[i, most]
                if sure > top or possible < bottom:
                    return False
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
                    return False
    return True


@kernel
def parts_of(allowed: NDArray[Any]) -> NDArray[Any]:
    """Number the parts that hang together: of every package, and after them of every bin.

    A package with one bin left belongs to none (-1); it stands where it stands.
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
def backtrack(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    widening: NDArray[Any],
    deeper: NDArray[Any],
    allowed: NDArray[Any],
    held: NDArray[Any],
    order: NDArray[Any],
    budget: int,
) -> tuple[bool, int, NDArray[Any], NDArray[Any], int]:
    """Walk through all allocations, the packages in the order given.

    Gives whether the walk came to its end, how many allocations there are, in how many each
    package is in each bin, and allocations (so many rows) that together have every pair that
    occurs. A branch ends where a bin overflows, or cannot be filled by what is left for it.
    """
    n, k = amounts.shape
    m = low.shape[0]
    counts = np.zeros((n, m), np.int64)
    proofs = np.empty((64, n), np.int16)
    kept = 0
    top = np.empty((m, k), np.int64)
    bottom = np.empty((m, k), np.int64)
    sums = np.zeros((m, k), np.int64)
    room = np.zeros((m, k), np.int64)
    inside = held.copy()
    for b in range(m):
        most = held[b]
        for p in range(n):
            if allowed[p, b]:
                most += 1
                for i in range(k):
                    room[b, i] += amounts[p, i]
        for i in range(k):
            top[b, i] = high[b, i] + widening[i, most] + deeper[i, most]
            bottom[b, i] = low[b, i] - widening[i, most]
            if room[b, i] < bottom[b, i]:
                return True, 0, counts, proofs, kept
    place = np.full(n, -1, np.int64)
    found, nodes, depth = 0, 0, 0
    while depth >= 0:
        if depth == n:
            good = True
            for b in range(m):
                for i in range(k):
                    wide, deep = widening[i, inside[b]], deeper[i, inside[b]]
                    if sums[b, i] < low[b, i] - wide or sums[b, i] > high[b, i] + wide + deep:
                        good = False
            if good:
                found += 1
                new = False
                for p in range(n):
                    new = new or counts[p, place[p]] == 0
                    counts[p, place[p]] += 1
                if new:
                    if kept == proofs.shape[0]:
                        more = np.empty((2 * kept, n), np.int16)
                        more[:kept] = proofs
                        proofs = more
                    for q in range(n):
                        proofs[kept, q] = place[q]
                    kept += 1
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
            return False, found, counts, proofs, kept
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
    return True, found, counts, proofs, kept


@kernel
def fitting_sets(
    amounts: NDArray[Any],
    free: NDArray[Any],
    base: NDArray[Any],
    base_count: int,
    low: NDArray[Any],
    high: NDArray[Any],
    widening: NDArray[Any],
    deeper: NDArray[Any],
    tail: int,
    words: int,
    budget: int,
    most_sets: int,
    enough: int,
) -> tuple[bool, int, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """All sets of the free packages that make one bin's sums.

    `base` is the sum of what is in the bin anyway (`base_count` packages). The free packages come
    largest first; depth first over all but the last `tail`, whose 2^tail sums stand in a table
    sorted by attribute 0. Gives whether all were found, how many there are, the first `most_sets`
    of them, the packages that occur in some, and those that occur in all. The search ends when
    `enough` were found, or the budget of steps is spent.
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
    left = np.zeros((heads + 1, k), np.int64)
    for i in range(k):
        left[heads, i] = table[rows - 1, i]
        for j in range(heads - 1, -1, -1):
            left[j, i] = left[j + 1, i] + amounts[free[j], i]
    top = np.empty(k, np.int64)
    bottom = np.empty(k, np.int64)
    for i in range(k):
        top[i] = high[i] + widening[i, base_count + count] + deeper[i, base_count + count]
        bottom[i] = low[i] - widening[i, base_count + count]
    sets = np.zeros((most_sets, words), np.uint64)
    union = np.zeros(words, np.uint64)
    common = np.full(words, np.uint64(0xFFFFFFFFFFFFFFFF))
    mask = np.zeros(words, np.uint64)
    full = np.zeros(words, np.uint64)
    sums = base.copy()
    inside = base_count
    choice = np.zeros(heads + 1, np.int8)  # 0: not tried, 1: taken, 2: left out
    found, nodes, depth = 0, 0, 0
    one = np.uint64(1)
    while depth >= 0:
        nodes += 1
        if nodes > budget:
            return False, found, sets, union, common
        alive = True
        if choice[depth] == 0:
            for i in range(k):
                if sums[i] > top[i] or sums[i] + left[depth, i] < bottom[i]:
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
                        return False, found, sets, union, common
                    row = by_first[at]
                    c = inside + sizes[row]
                    fits = True
                    for i in range(k):
                        total = sums[i] + table[row, i]
                        if (
                            total < low[i] - widening[i, c]
                            or total > high[i] + widening[i, c] + deeper[i, c]
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
                            if found < most_sets:
                                sets[found, w] = full[w]
                        found += 1
                        if found == enough:
                            return False, found, sets, union, common
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
    return True, found, sets, union, common


@kernel
def drawn(chance: int) -> int:
    """Give the next of a sequence of made-up numbers of 31 bits; the upper ones are good enough."""
    return (chance * 1103515245 + 12345) & 0x7FFFFFFF


@kernel
def exchange(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    widening: NDArray[Any],
    deeper: NDArray[Any],
    allowed: NDArray[Any],
    held: NDArray[Any],
    start: NDArray[Any],
    proved: NDArray[Any],
    proofs: NDArray[Any],
    seed: int,
    tries: int,
) -> int:
    """Walk from one allocation to others by moving and swapping few packages.

    Every allocation on the way proves its pairs; one that has a pair not yet `proved` is written
    into the next row of `proofs`, and its pairs are marked. Gives how many rows were written.
    """
    n, k = amounts.shape
    m = low.shape[0]
    place = start.copy()
    sums = np.zeros((m, k), np.int64)
    inside = held.copy()
    for p in range(n):
        inside[place[p]] += 1
        for i in range(k):
            sums[place[p], i] += amounts[p, i]
    chance = seed
    here = np.empty(n, np.int64)
    there = np.empty(n, np.int64)
    moved = np.empty(4, np.int64)
    shift = np.empty(k, np.int64)
    new, steps = 0, 0
    while steps < tries:
        chance = drawn(chance)
        first = (chance >> 8) % n
        chance = drawn(chance)
        b = (chance >> 8) % m
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
        steps += n // 16
        # `first` goes to b; with it none or one of a; back come none, one or two of b.
        found = False
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
                    good = True
                    c_a, c_b = inside[a] - out + home, inside[b] + out - home
                    for i in range(k):
                        wide, deep = widening[i, c_a], deeper[i, c_a]
                        total = sums[a, i] - shift[i]
                        if total < low[a, i] - wide or total > high[a, i] + wide + deep:
                            good = False
                            break
                        wide, deep = widening[i, c_b], deeper[i, c_b]
                        total = sums[b, i] + shift[i]
                        if total < low[b, i] - wide or total > high[b, i] + wide + deep:
                            good = False
                            break
                    if good:
                        moved[0] = first
                        moved[1] = here[with_one] if with_one >= 0 else -1
                        moved[2] = there[back] if back >= 0 else -1
                        moved[3] = there[more] if more >= 0 else -1
                        found = True
                        break
                if found or steps >= tries:
                    break
            if found or steps >= tries:
                break
        if not found:
            continue
        for j in range(4):
            p = moved[j]
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
                return new
    return new
