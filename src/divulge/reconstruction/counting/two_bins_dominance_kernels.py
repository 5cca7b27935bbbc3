"""Kernels of dominance counting: a plane sweep over a tree of prefix sums in blocks of 32.

Needs and points come in order of the other amount. While a need is looked at, those points are open
whose other amount meets it, and the question is how many of them have a leading amount in its
window. A block holds prefix counts of its 32 places, blocks are the places of larger blocks, and so
on: an update writes one block a level, a query reads one number a level. (A Fenwick tree has the
same use; this one has wider nodes.) How many needs a point meets is counted the other way round,
with differences in a tree of the same shape: a need adds one where its window begins and takes one
away where it ends, and a point reads the sum up to its place when it opens and when it closes.
Where windows are narrow, it is quicker to go through all leading amounts of a window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

LOW_32_BITS = 2**32 - 1
RADIX_BITS = 11  # bits that are put in order at once
BLOCK_BITS = 5  # leading amounts of a block: 2 to this power
LAST_IN_BLOCK = 2**BLOCK_BITS - 1
WIDEST_NARROW_WINDOW = 512
"""Leading amounts of a window that are gone through one by one."""


@kernel
def radix_argsort(others: NDArray[Any]) -> NDArray[Any]:
    """The order of the other amounts, by radix sort from the lowest digit.

    Invariant: before each round, keys are in order of all digits below the one at hand.
    """
    n = others.shape[0]
    order = np.empty(n, np.int32)
    if n == 0:
        return order
    least, most = others.min(), others.max()
    number = 0  # bits of a number of a sum; those of its amount come before
    while n >> number:
        number += 1
    shift = 0
    while (most - least) >> shift >> (62 - number):
        shift += 1
    bits = 0
    while (most - least) >> shift >> bits:
        bits += 1
    rounds = max(1, (bits + RADIX_BITS - 1) // RADIX_BITS)
    digit = (bits + rounds - 1) // rounds
    keys, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        keys[i] = ((others[i] - least) >> shift << number) | i
    for round_ in range(rounds):
        at, mask = number + round_ * digit, (1 << digit) - 1
        starts = np.zeros(mask + 2, np.int64)
        for i in range(n):
            starts[((keys[i] >> at) & mask) + 1] += 1
        for value in range(mask + 1):
            starts[value + 1] += starts[value]
        for i in range(n):
            value = (keys[i] >> at) & mask
            spare[starts[value]] = keys[i]
            starts[value] += 1
        keys, spare = spare, keys
    for i in range(n):
        order[i] = keys[i] & ((1 << number) - 1)
    if shift:  # amounts that were told apart by their last bits alone
        for i in range(1, n):
            one, to = order[i], i
            while to > 0 and others[order[to - 1]] > others[one]:
                order[to] = order[to - 1]
                to -= 1
            order[to] = one
    return order


@kernel
def build_block_offsets(leads: int) -> NDArray[Any]:
    """Where the levels of so many leading amounts begin: blocks of them, blocks of blocks, and on.

    The last number is where all of them end.

    Invariant: `begins[levels]` is where the next level begins, and `leads` is the largest place in
    it.
    """
    begins = np.zeros(16, np.int64)
    levels = 0
    while True:
        begins[levels + 1] = begins[levels] + (leads >> BLOCK_BITS) + 1
        levels += 1
        if leads <= LAST_IN_BLOCK:
            return begins[: levels + 1]
        leads >>= BLOCK_BITS


@kernel
def add_to_prefix_tree(
    counts: NDArray[Any], begins: NDArray[Any], signs: NDArray[Any], lead: Any
) -> None:
    """A point opens or closes: on each level, places after it in its block are one more or less.

    signs[i, j] is by how much place j changes if the point is at place i of the block. Invariant of
    the tree: `counts[block, j]` is how many open points lie in the places before j of the block.
    """
    for level in range(begins.shape[0] - 1):
        block, inside = begins[level] + (lead >> BLOCK_BITS), lead & LAST_IN_BLOCK
        for i in range(counts.shape[1]):
            counts[block, i] += signs[inside, i]
        lead >>= BLOCK_BITS


@kernel
def query_prefix_tree(counts: NDArray[Any], begins: NDArray[Any], lead: Any) -> int:
    """How many open points have a smaller leading amount.

    Invariant: `total` is of the smaller points in the block that the levels so far have reached.
    """
    total = 0
    for level in range(begins.shape[0] - 1):
        total += counts[begins[level] + (lead >> BLOCK_BITS), lead & LAST_IN_BLOCK]
        lead >>= BLOCK_BITS
    return total


@kernel
def add_to_difference_tree(
    demand: NDArray[Any], begins: NDArray[Any], lead: Any, times: Any
) -> None:
    """From this leading amount on, points meet so many needs more.

    Invariant of the tree: `demand[block, j]` is the sum of all differences in place j of the block.
    """
    for level in range(begins.shape[0] - 1):
        demand[begins[level] + (lead >> BLOCK_BITS), lead & LAST_IN_BLOCK] += times
        lead >>= BLOCK_BITS


@kernel
def query_difference_tree(
    demand: NDArray[Any], begins: NDArray[Any], before: NDArray[Any], lead: Any
) -> Any:
    """How many needs so far have a leading amount in their window: the sum of differences up to it.

    Invariant: `total` is of the differences up to it in the block that the levels have reached.
    """
    total = np.int32(0)
    lead += 1
    for level in range(begins.shape[0] - 1):
        block, inside = begins[level] + (lead >> BLOCK_BITS), lead & LAST_IN_BLOCK
        for i in range(demand.shape[1]):
            total = np.int32(total + np.int32(demand[block, i] & before[inside, i]))
        lead >>= BLOCK_BITS
    return total


@kernel
def count_dominance(
    need_leads: NDArray[Any],
    need_others: NDArray[Any],
    point_leads: NDArray[Any],
    point_others: NDArray[Any],
    length: int,
    window: int,
    width: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """How many points meet each need, and how many needs each point meets.

    Invariant: the points from `closed` to `opened` are open, and `counts` is the tree of them;
    `demand` is the tree of the windows of all needs before q. An open point has entered minus the
    needs before it opened, so that a closed one has the number of needs that it meets.
    """
    n, m = need_leads.shape[0], point_leads.shape[0]
    by_need, by_point = np.empty(n, np.int32), np.zeros(m, np.int32)
    need_order, order = radix_argsort(need_others), radix_argsort(point_others)
    ordered_others, ordered_leads = need_others[need_order], need_leads[need_order]
    others, leads = point_others[order], point_leads[order]
    begins = build_block_offsets(length + window)
    size = LAST_IN_BLOCK + 1
    counts, demand = np.zeros((begins[-1], size), np.int32), np.zeros((begins[-1], size), np.int32)
    opening, before = np.zeros((size, size), np.int32), np.zeros((size, size), np.int32)
    for i in range(size):
        for j in range(size):
            opening[i, j] = j > i
            before[i, j] = -1 if j < i else 0
    closing = -opening
    closed, opened = 0, 0
    for q in range(n):
        other = ordered_others[q]
        while opened < m and others[opened] < other + width:
            add_to_prefix_tree(counts, begins, opening, np.int64(leads[opened]))
            by_point[order[opened]] = -query_difference_tree(
                demand, begins, before, np.int64(leads[opened])
            )
            opened += 1
        while closed < opened and others[closed] < other:
            add_to_prefix_tree(counts, begins, closing, np.int64(leads[closed]))
            by_point[order[closed]] += query_difference_tree(
                demand, begins, before, np.int64(leads[closed])
            )
            closed += 1
        lead = np.int64(ordered_leads[q])
        many = query_prefix_tree(counts, begins, lead + window) - query_prefix_tree(
            counts, begins, lead
        )
        by_need[need_order[q]] = many
        add_to_difference_tree(demand, begins, lead, 1)
        add_to_difference_tree(demand, begins, lead + window, -1)
    for p in range(closed, opened):
        by_point[order[p]] += query_difference_tree(demand, begins, before, np.int64(leads[p]))
    return by_need, by_point


@kernel
def count_dominance_narrow(
    need_leads: NDArray[Any],
    need_others: NDArray[Any],
    point_leads: NDArray[Any],
    point_others: NDArray[Any],
    length: int,
    window: int,
    width: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same where windows are narrow: open points, and needs whose window has a lead, by lead.

    Invariant: the points from `closed` to `opened` are open, `counts` are of them by leading
    amount, and `demand` is how many needs before q have that leading amount in their window.
    """
    n, m = need_leads.shape[0], point_leads.shape[0]
    by_need, by_point = np.empty(n, np.int32), np.zeros(m, np.int32)
    need_order, order = radix_argsort(need_others), radix_argsort(point_others)
    ordered_others, ordered_leads = need_others[need_order], need_leads[need_order]
    others, leads = point_others[order], point_leads[order]
    counts, demand = np.zeros(length + window, np.int32), np.zeros(length + window, np.int32)
    before = np.empty(m, np.int32)  # the needs of its leading amount before it opened
    closed, opened = 0, 0
    for q in range(n):
        other = ordered_others[q]
        while opened < m and others[opened] < other + width:
            counts[leads[opened]] += 1
            before[opened] = demand[leads[opened]]
            opened += 1
        while closed < opened and others[closed] < other:
            counts[leads[closed]] -= 1
            by_point[order[closed]] = demand[leads[closed]] - before[closed]
            closed += 1
        # Slices, and sums of 32 bits, are what the compiler goes through many at a time.
        inside = counts[ordered_leads[q] : ordered_leads[q] + window]
        total = np.int32(0)
        for i in range(inside.shape[0]):
            total = np.int32(total + inside[i])
        by_need[need_order[q]] = total
        inside = demand[ordered_leads[q] : ordered_leads[q] + window]
        for i in range(inside.shape[0]):
            inside[i] = np.int32(inside[i] + np.int32(1))
    for p in range(closed, opened):
        by_point[order[p]] = demand[leads[p]] - before[p]
    return by_need, by_point


@kernel
def count_dominance_all_amounts(
    need_leads: NDArray[Any],
    need_others: NDArray[Any],
    need_who: NDArray[Any],
    point_leads: NDArray[Any],
    point_others: NDArray[Any],
    point_who: NDArray[Any],
    window: int,
    width: int,
    widths: NDArray[Any],
    more_a: NDArray[Any],
    more_b: NDArray[Any],
    more_c: NDArray[Any],
    more_d: NDArray[Any],
    most_pairs: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same where there are more amounts: points that meet a need in three are looked at.

    By cells as large as the windows of the leading and of the third amount: a need is met by
    points of its own cell and of the next in either direction. Nothing if more pairs have to be
    looked at than at most.

    Invariant: the points from `closed` to `opened` are those whose key is from that of the need to
    `width` - 1 beyond, in the neighbouring cell at hand; pairs with needs before q, and those in
    the cells before, are counted.
    """
    n, m = need_leads.shape[0], point_leads.shape[0]
    by_need, by_point = np.zeros(n, np.int32), np.zeros(m, np.int32)
    if n == 0 or m == 0:
        return by_need, by_point
    need_thirds = sum_third_amounts(need_who, more_a, more_b)
    point_thirds = sum_third_amounts(point_who, more_c, more_d)
    third, third_width = min(need_thirds.min(), point_thirds.min()), widths[0]
    cells = (max(need_thirds.max(), point_thirds.max()) - third) // third_width + 2
    least = min(need_others.min(), point_others.min())
    cell = max(need_others.max(), point_others.max()) - least + width
    need_keys, keys = np.empty(n, np.int64), np.empty(m, np.int64)
    for q in range(n):
        place = need_leads[q] // window * cells + (need_thirds[q] - third) // third_width
        need_keys[q] = place * cell + need_others[q] - least
    for p in range(m):
        place = point_leads[p] // window * cells + (point_thirds[p] - third) // third_width
        keys[p] = place * cell + point_others[p] - least
    order, need_order = radix_argsort(keys), radix_argsort(need_keys)
    keys, elements = keys[order], point_who[order]
    leads, thirds = point_leads[order], point_thirds[order]
    looks = 0
    for step in (0, 1, cells, cells + 1):
        closed, opened = 0, 0
        for q in need_order:
            key = need_keys[q] + step * cell
            while opened < m and keys[opened] < key + width:
                opened += 1
            while closed < opened and keys[closed] < key:
                closed += 1
            looks += opened - closed
            if looks > most_pairs:
                return by_need[:0], by_point
            for p in range(closed, opened):
                in_lead = need_leads[q] <= leads[p] < need_leads[q] + window
                in_third = need_thirds[q] <= thirds[p] < need_thirds[q] + third_width
                if (in_lead & in_third) and is_need_met(
                    need_who[q], elements[p], widths, more_a, more_b, more_c, more_d
                ):
                    by_need[q] += 1
                    by_point[order[p]] += 1
    return by_need, by_point


@kernel
def sum_third_amounts(
    elements: NDArray[Any], first: NDArray[Any], second: NDArray[Any]
) -> NDArray[Any]:
    """The third amount of sums.

    Invariant: `thirds[:i]` is done.
    """
    thirds = np.empty(elements.shape[0], np.int64)
    for i in range(elements.shape[0]):
        thirds[i] = first[elements[i] >> 32, 0] + second[elements[i] & LOW_32_BITS, 0]
    return thirds


@kernel
def is_need_met(
    need: Any,
    point: Any,
    widths: NDArray[Any],
    more_a: NDArray[Any],
    more_b: NDArray[Any],
    more_c: NDArray[Any],
    more_d: NDArray[Any],
) -> bool:
    """Whether a point meets a need in all amounts but the first two.

    Invariant: the point meets the need in all further amounts before i.
    """
    a, b, c, d = need >> 32, need & LOW_32_BITS, point >> 32, point & LOW_32_BITS
    for i in range(widths.shape[0]):
        beyond = more_c[c, i] + more_d[d, i] - more_a[a, i] - more_b[b, i]
        if beyond < 0 or beyond >= widths[i]:
            return False
    return True


@kernel
def store_witness(
    elements: Any,
    sets_a: NDArray[Any],
    sets_b: NDArray[Any],
    sets_c: NDArray[Any],
    sets_d: NDArray[Any],
    in_some: NDArray[Any],
    in_all: NDArray[Any],
    witnesses: NDArray[Any],
    witness_count: NDArray[Any],
) -> None:
    """Keep a pair of sums, and enter what it has and what it lacks.

    Invariant: `in_some` and `in_all` are the union and the intersection of all witnesses, which are
    the first `witness_count[0]` rows.
    """
    a, b, c, d = elements
    words = (sets_a[a], sets_b[b], sets_c[c], sets_d[d])
    for i in range(4):
        in_some[i] |= words[i]
        in_all[i] &= words[i]
        witnesses[witness_count[0], i] = words[i]
    witness_count[0] += 1


@kernel
def count_meeting_pairs(
    need_leads: NDArray[Any],
    need_others: NDArray[Any],
    need_who: NDArray[Any],
    point_leads: NDArray[Any],
    point_others: NDArray[Any],
    point_who: NDArray[Any],
    length: int,
    window: int,
    width: int,
    widths: NDArray[Any],
    more_a: NDArray[Any],
    more_b: NDArray[Any],
    more_c: NDArray[Any],
    more_d: NDArray[Any],
    sets_a: NDArray[Any],
    sets_b: NDArray[Any],
    sets_c: NDArray[Any],
    sets_d: NDArray[Any],
    by_a: NDArray[Any],
    by_b: NDArray[Any],
    by_c: NDArray[Any],
    by_d: NDArray[Any],
    in_some: NDArray[Any],
    in_all: NDArray[Any],
    witnesses: NDArray[Any],
    witness_count: NDArray[Any],
    most_pairs: int,
) -> int:
    """Count the pairs of a need and a point that meets it, and those of each list's elements.

    A need of leading amount t is met by points of leading amounts t to t + window - 1 whose other
    amount is from the need to width - 1 beyond. Needs have leading amounts less than length.
    Of further amounts there are the widths, and what they are for the elements of each list; -1 if
    more pairs than at most have to be looked at for them.

    Invariant: `by_a` and `by_b` are of all needs before q, `by_c` and `by_d` of all points before
    p; `in_some` and `in_all` are the union and the intersection of the witnesses so far. An element
    that was counted before has nothing new for them.
    """
    if widths.shape[0] == 0 and window <= WIDEST_NARROW_WINDOW:
        points_per_need, needs_per_point = count_dominance_narrow(
            need_leads, need_others, point_leads, point_others, length, window, width
        )
    elif widths.shape[0] == 0:
        points_per_need, needs_per_point = count_dominance(
            need_leads, need_others, point_leads, point_others, length, window, width
        )
    else:
        points_per_need, needs_per_point = count_dominance_all_amounts(
            need_leads,
            need_others,
            need_who,
            point_leads,
            point_others,
            point_who,
            window,
            width,
            widths,
            more_a,
            more_b,
            more_c,
            more_d,
            most_pairs,
        )
        if points_per_need.shape[0] != need_leads.shape[0]:
            return -1
    total = 0
    # In the order of runs, elements that come one after the other are next to each other.
    for q in range(need_leads.shape[0]):
        if points_per_need[q] == 0:
            continue
        a, b = need_who[q] >> 32, need_who[q] & LOW_32_BITS
        if by_a[a] == 0 or by_b[b] == 0:
            new = (sets_a[a] & ~in_some[0]) | (sets_b[b] & ~in_some[1])
            new |= (in_all[0] & ~sets_a[a]) | (in_all[1] & ~sets_b[b])
            if new != 0 or witness_count[0] == 0:
                p = 0
                while not (
                    need_leads[q] <= point_leads[p] < need_leads[q] + window
                    and need_others[q] <= point_others[p] < need_others[q] + width
                    and is_need_met(
                        need_who[q], point_who[p], widths, more_a, more_b, more_c, more_d
                    )
                ):
                    p += 1
                elements = (a, b, point_who[p] >> 32, point_who[p] & LOW_32_BITS)
                store_witness(
                    elements,
                    sets_a,
                    sets_b,
                    sets_c,
                    sets_d,
                    in_some,
                    in_all,
                    witnesses,
                    witness_count,
                )
        by_a[a] += points_per_need[q]
        by_b[b] += points_per_need[q]
        total += points_per_need[q]
    for p in range(point_leads.shape[0]):
        if needs_per_point[p] == 0:
            continue
        c, d = point_who[p] >> 32, point_who[p] & LOW_32_BITS
        if by_c[c] == 0 or by_d[d] == 0:
            new = (sets_c[c] & ~in_some[2]) | (sets_d[d] & ~in_some[3])
            new |= (in_all[2] & ~sets_c[c]) | (in_all[3] & ~sets_d[d])
            if new != 0:
                q = 0
                while not (
                    need_leads[q] <= point_leads[p] < need_leads[q] + window
                    and need_others[q] <= point_others[p] < need_others[q] + width
                    and is_need_met(
                        need_who[q], point_who[p], widths, more_a, more_b, more_c, more_d
                    )
                ):
                    q += 1
                elements = (need_who[q] >> 32, need_who[q] & LOW_32_BITS, c, d)
                store_witness(
                    elements,
                    sets_a,
                    sets_b,
                    sets_c,
                    sets_d,
                    in_some,
                    in_all,
                    witnesses,
                    witness_count,
                )
        by_c[c] += needs_per_point[p]
        by_d[d] += needs_per_point[p]
    return total
