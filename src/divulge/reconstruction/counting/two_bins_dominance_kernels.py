"""The loops that count which needs and points of a slab meet.

Needs and points come in order of the other amount. While a need is looked at, those points are
open whose other amount meets it, and it asks how many of them have a leading amount that does:
counts of open points by leading amount, in blocks of blocks, tell it at once. How many needs ask
for a point is counted the other way round: each need enters where its window begins and ends, and a
point looks at all that was entered up to it when it opens and when it closes. Where windows are
narrow, it is quicker to go through all leading amounts of a need's window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

SECOND = 2**32 - 1
DIGIT = 11  # bits that are put in order at once
BLOCK = 5  # leading amounts of a block: 2 to this power
LAST = 2**BLOCK - 1
NARROW = 512
"""Leading amounts of a window that are gone through one by one."""


@kernel
def in_order(others: NDArray[Any]) -> NDArray[Any]:
    """The order of the other amounts."""
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
    rounds = max(1, (bits + DIGIT - 1) // DIGIT)
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
def blocks(leads: int) -> NDArray[Any]:
    """Where the levels of so many leading amounts begin: blocks of them, blocks of blocks, and on.

    The last number is where all of them end.
    """
    begins = np.zeros(16, np.int64)
    levels = 0
    while True:
        begins[levels + 1] = begins[levels] + (leads >> BLOCK) + 1
        levels += 1
        if leads <= LAST:
            return begins[: levels + 1]
        leads >>= BLOCK


@kernel
def turn(counts: NDArray[Any], begins: NDArray[Any], signs: NDArray[Any], lead: Any) -> None:
    """A point opens or closes: of each level, what comes after it in its block is one more or less.

    signs[i, j] is what that is for place j if the point is at place i.
    """
    for level in range(begins.shape[0] - 1):
        block, inside = begins[level] + (lead >> BLOCK), lead & LAST
        for i in range(counts.shape[1]):
            counts[block, i] += signs[inside, i]
        lead >>= BLOCK


@kernel
def open_before(counts: NDArray[Any], begins: NDArray[Any], lead: Any) -> int:
    """How many open points have a smaller leading amount."""
    total = 0
    for level in range(begins.shape[0] - 1):
        total += counts[begins[level] + (lead >> BLOCK), lead & LAST]
        lead >>= BLOCK
    return total


@kernel
def enter(asks: NDArray[Any], begins: NDArray[Any], lead: Any, times: Any) -> None:
    """From this leading amount on, a point is asked for so many times more."""
    for level in range(begins.shape[0] - 1):
        asks[begins[level] + (lead >> BLOCK), lead & LAST] += times
        lead >>= BLOCK


@kernel
def asked_at(asks: NDArray[Any], begins: NDArray[Any], before: NDArray[Any], lead: Any) -> Any:
    """How many times a point has been asked for: all that was entered up to its leading amount."""
    total = np.int32(0)
    lead += 1
    for level in range(begins.shape[0] - 1):
        block, inside = begins[level] + (lead >> BLOCK), lead & LAST
        for i in range(asks.shape[1]):
            total = np.int32(total + np.int32(asks[block, i] & before[inside, i]))
        lead >>= BLOCK
    return total


@kernel
def asked(
    need_leads: NDArray[Any],
    need_others: NDArray[Any],
    point_leads: NDArray[Any],
    point_others: NDArray[Any],
    length: int,
    window: int,
    width: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """How many points meet each need, and how many needs each point meets."""
    n, m = need_leads.shape[0], point_leads.shape[0]
    by_need, by_point = np.empty(n, np.int32), np.zeros(m, np.int32)
    need_order, order = in_order(need_others), in_order(point_others)
    wanted, wanting = need_others[need_order], need_leads[need_order]
    others, leads = point_others[order], point_leads[order]
    begins = blocks(length + window)
    size = LAST + 1
    counts, asks = np.zeros((begins[-1], size), np.int32), np.zeros((begins[-1], size), np.int32)
    opening, before = np.zeros((size, size), np.int32), np.zeros((size, size), np.int32)
    for i in range(size):
        for j in range(size):
            opening[i, j] = j > i
            before[i, j] = -1 if j < i else 0
    closing = -opening
    closed, opened = 0, 0
    for q in range(n):
        other = wanted[q]
        while opened < m and others[opened] < other + width:
            turn(counts, begins, opening, np.int64(leads[opened]))
            by_point[order[opened]] = -asked_at(asks, begins, before, np.int64(leads[opened]))
            opened += 1
        while closed < opened and others[closed] < other:
            turn(counts, begins, closing, np.int64(leads[closed]))
            by_point[order[closed]] += asked_at(asks, begins, before, np.int64(leads[closed]))
            closed += 1
        lead = np.int64(wanting[q])
        many = open_before(counts, begins, lead + window) - open_before(counts, begins, lead)
        by_need[need_order[q]] = many
        enter(asks, begins, lead, 1)
        enter(asks, begins, lead + window, -1)
    for p in range(closed, opened):
        by_point[order[p]] += asked_at(asks, begins, before, np.int64(leads[p]))
    return by_need, by_point


@kernel
def asked_narrowly(
    need_leads: NDArray[Any],
    need_others: NDArray[Any],
    point_leads: NDArray[Any],
    point_others: NDArray[Any],
    length: int,
    window: int,
    width: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same where windows are narrow: open points, and how often each is asked for, by lead."""
    n, m = need_leads.shape[0], point_leads.shape[0]
    by_need, by_point = np.empty(n, np.int32), np.zeros(m, np.int32)
    need_order, order = in_order(need_others), in_order(point_others)
    wanted, wanting = need_others[need_order], need_leads[need_order]
    others, leads = point_others[order], point_leads[order]
    counts, asks = np.zeros(length + window, np.int32), np.zeros(length + window, np.int32)
    before = np.empty(m, np.int32)  # how often a point had been asked for when it opened
    closed, opened = 0, 0
    for q in range(n):
        other = wanted[q]
        while opened < m and others[opened] < other + width:
            counts[leads[opened]] += 1
            before[opened] = asks[leads[opened]]
            opened += 1
        while closed < opened and others[closed] < other:
            counts[leads[closed]] -= 1
            by_point[order[closed]] = asks[leads[closed]] - before[closed]
            closed += 1
        # Slices, and sums of 32 bits, are what the compiler goes through many at a time.
        inside = counts[wanting[q] : wanting[q] + window]
        total = np.int32(0)
        for i in range(inside.shape[0]):
            total = np.int32(total + inside[i])
        by_need[need_order[q]] = total
        inside = asks[wanting[q] : wanting[q] + window]
        for i in range(inside.shape[0]):
            inside[i] = np.int32(inside[i] + np.int32(1))
    for p in range(closed, opened):
        by_point[order[p]] = asks[leads[p]] - before[p]
    return by_need, by_point


@kernel
def asked_in_all(
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
    """
    n, m = need_leads.shape[0], point_leads.shape[0]
    by_need, by_point = np.zeros(n, np.int32), np.zeros(m, np.int32)
    if n == 0 or m == 0:
        return by_need, by_point
    need_thirds = thirds_of(need_who, more_a, more_b)
    point_thirds = thirds_of(point_who, more_c, more_d)
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
    order, need_order = in_order(keys), in_order(need_keys)
    keys, who = keys[order], point_who[order]
    leads, thirds = point_leads[order], point_thirds[order]
    looked = 0
    for step in (0, 1, cells, cells + 1):
        closed, opened = 0, 0
        for q in need_order:
            key = need_keys[q] + step * cell
            while opened < m and keys[opened] < key + width:
                opened += 1
            while closed < opened and keys[closed] < key:
                closed += 1
            looked += opened - closed
            if looked > most_pairs:
                return by_need[:0], by_point
            for p in range(closed, opened):
                in_lead = need_leads[q] <= leads[p] < need_leads[q] + window
                in_third = need_thirds[q] <= thirds[p] < need_thirds[q] + third_width
                if (in_lead & in_third) and meets(
                    need_who[q], who[p], widths, more_a, more_b, more_c, more_d
                ):
                    by_need[q] += 1
                    by_point[order[p]] += 1
    return by_need, by_point


@kernel
def thirds_of(who: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """The third amount of sums."""
    thirds = np.empty(who.shape[0], np.int64)
    for i in range(who.shape[0]):
        thirds[i] = first[who[i] >> 32, 0] + second[who[i] & SECOND, 0]
    return thirds


@kernel
def meets(
    need: Any,
    point: Any,
    widths: NDArray[Any],
    more_a: NDArray[Any],
    more_b: NDArray[Any],
    more_c: NDArray[Any],
    more_d: NDArray[Any],
) -> bool:
    """Whether a point meets a need in all amounts but the first two."""
    a, b, c, d = need >> 32, need & SECOND, point >> 32, point & SECOND
    for i in range(widths.shape[0]):
        beyond = more_c[c, i] + more_d[d, i] - more_a[a, i] - more_b[b, i]
        if beyond < 0 or beyond >= widths[i]:
            return False
    return True


@kernel
def tell(
    elements: Any,
    sets_a: NDArray[Any],
    sets_b: NDArray[Any],
    sets_c: NDArray[Any],
    sets_d: NDArray[Any],
    some: NDArray[Any],
    all_of: NDArray[Any],
    telling: NDArray[Any],
    told: NDArray[Any],
) -> None:
    """Keep a pair of sums, and enter what it has and what it lacks."""
    a, b, c, d = elements
    words = (sets_a[a], sets_b[b], sets_c[c], sets_d[d])
    for i in range(4):
        some[i] |= words[i]
        all_of[i] &= words[i]
        telling[told[0], i] = words[i]
    told[0] += 1


@kernel
def met(
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
    some: NDArray[Any],
    all_of: NDArray[Any],
    telling: NDArray[Any],
    told: NDArray[Any],
    most_pairs: int,
) -> int:
    """Count the pairs of a need and a point that meets it, and those of each list's elements.

    A need of leading amount t is met by points of leading amounts t to t + window - 1 whose other
    amount is from the need to width - 1 beyond. Needs have leading amounts less than length.
    Of further amounts there are the widths, and what they are for the elements of each list; -1 if
    more pairs than at most have to be looked at for them.
    """
    if widths.shape[0] == 0 and window <= NARROW:
        asked_by, asked_for = asked_narrowly(
            need_leads, need_others, point_leads, point_others, length, window, width
        )
    elif widths.shape[0] == 0:
        asked_by, asked_for = asked(
            need_leads, need_others, point_leads, point_others, length, window, width
        )
    else:
        asked_by, asked_for = asked_in_all(
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
        if asked_by.shape[0] != need_leads.shape[0]:
            return -1
    total = 0
    # In the order of runs, elements that come one after the other are next to each other.
    for q in range(need_leads.shape[0]):
        if asked_by[q] == 0:
            continue
        a, b = need_who[q] >> 32, need_who[q] & SECOND
        if by_a[a] == 0 or by_b[b] == 0:
            new = (sets_a[a] & ~some[0]) | (sets_b[b] & ~some[1])
            new |= (all_of[0] & ~sets_a[a]) | (all_of[1] & ~sets_b[b])
            if new != 0 or told[0] == 0:
                p = 0
                while not (
                    need_leads[q] <= point_leads[p] < need_leads[q] + window
                    and need_others[q] <= point_others[p] < need_others[q] + width
                    and meets(need_who[q], point_who[p], widths, more_a, more_b, more_c, more_d)
                ):
                    p += 1
                elements = (a, b, point_who[p] >> 32, point_who[p] & SECOND)
                tell(elements, sets_a, sets_b, sets_c, sets_d, some, all_of, telling, told)
        by_a[a] += asked_by[q]
        by_b[b] += asked_by[q]
        total += asked_by[q]
    for p in range(point_leads.shape[0]):
        if asked_for[p] == 0:
            continue
        c, d = point_who[p] >> 32, point_who[p] & SECOND
        if by_c[c] == 0 or by_d[d] == 0:
            new = (sets_c[c] & ~some[2]) | (sets_d[d] & ~some[3])
            new |= (all_of[2] & ~sets_c[c]) | (all_of[3] & ~sets_d[d])
            if new != 0:
                q = 0
                while not (
                    need_leads[q] <= point_leads[p] < need_leads[q] + window
                    and need_others[q] <= point_others[p] < need_others[q] + width
                    and meets(need_who[q], point_who[p], widths, more_a, more_b, more_c, more_d)
                ):
                    q += 1
                elements = (need_who[q] >> 32, need_who[q] & SECOND, c, d)
                tell(elements, sets_a, sets_b, sets_c, sets_d, some, all_of, telling, told)
        by_c[c] += asked_for[p]
        by_d[d] += asked_for[p]
    return total
