"""The loops of counting allocations to two bins: sums gathered slab by slab, pairs counted.

A side is given by two lists, and its sums are all sums of an element of one and an element of the
other; they are never there all at once. A run is one element of the first list with a stretch of
the second that is in order of the leading amount, and remembers how far it has got.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

FEW = 24
AHEAD = 4
SECOND = 2**32 - 1
BLOCK = 6  # places whose covers are summed up: 2 to this power


@kernel
def begun(
    run_first: NDArray[Any],
    run_at: NDArray[Any],
    run_end: NDArray[Any],
    run_next: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    begin: int,
    past: Any,
) -> None:
    """Move every run to its first sum whose leading amount is not less than begin."""
    for run in range(run_first.shape[0]):
        lead = first[run_first[run], 0]
        low, high = run_at[run], run_end[run]
        while low < high:
            middle = (low + high) // 2
            if lead + second[middle, 0] < begin:
                low = middle + 1
            else:
                high = middle
        run_at[run] = low
        run_next[run] = lead + second[low, 0] if low < run_end[run] else past


@kernel
def counts_by_lead(
    run_first: NDArray[Any],
    run_at: NDArray[Any],
    run_end: NDArray[Any],
    run_next: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    begin: int,
    end: int,
    least: NDArray[Any],
    most: NDArray[Any],
) -> NDArray[Any]:
    """Where the sums of each leading amount from begin to end will start, if laid end to end.

    Only sums count whose other amount is from least to most, as the leading one has it.
    """
    starts = np.zeros(end - begin + 1, np.int64)
    for run in range(run_first.shape[0]):
        if run_next[run] >= end:
            continue
        lead = first[run_first[run], 0] - begin
        other = first[run_first[run], 1]
        for at in range(run_at[run], run_end[run]):
            here = lead + second[at, 0]
            if here >= end - begin:
                break
            total = other + second[at, 1]
            starts[here + 1] += (total >= least[here]) & (total <= most[here])
    for here in range(end - begin):
        starts[here + 1] += starts[here]
    return starts


@kernel
def gathered(
    run_first: NDArray[Any],
    run_at: NDArray[Any],
    run_end: NDArray[Any],
    run_next: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    begin: int,
    end: int,
    least: NDArray[Any],
    most: NDArray[Any],
    starts: NDArray[Any],
    past: Any,
) -> NDArray[Any]:
    """The sums whose leading amount is from begin to end, in its order; runs move on.

    Gives the other amount of each sum and, as one number, which elements it is of: the number of
    the one of the first list times 2^32, and of the second.
    """
    sums = np.empty((starts[end - begin], 2), np.int64)
    free = starts.copy()
    for run in range(run_first.shape[0]):
        if run_next[run] >= end:
            continue
        element = np.int64(run_first[run])
        lead = first[element, 0] - begin
        other = first[element, 1]
        at = np.int64(run_at[run])
        beyond = run_end[run]
        while at < beyond:
            here = lead + second[at, 0]
            if here >= end - begin:
                break
            total = other + second[at, 1]
            if (total >= least[here]) & (total <= most[here]):
                to = free[here]
                sums[to, 0] = total
                sums[to, 1] = (element << 32) | at
                free[here] = to + 1
            at += 1
        run_at[run] = at
        run_next[run] = first[element, 0] + second[at, 0] if at < beyond else past
    return sums


@kernel
def reach(
    points: NDArray[Any], starts: NDArray[Any], window: int, width: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """From where to where a need's other amount can be, for each leading amount, to be met."""
    n = starts.shape[0] - 1 - window
    least, most = np.ones(n, np.int64), np.zeros(n, np.int64)
    for slab in range(0, n, window):
        begin, end = starts[slab], starts[slab + 2 * window]
        if begin == end:
            continue
        low, high = points[begin, 0], points[begin, 0]
        for at in range(begin, end):
            low = min(low, points[at, 0])
            high = max(high, points[at, 0])
        least[slab : slab + window] = low - width + 1
        most[slab : slab + window] = high
    return least, most


@kernel
def ordered(
    points: NDArray[Any], begin: int, end: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], int, int]:
    """Points from begin to end by their other amount: amounts, who, buckets, least and shift.

    Bucket b starts at buckets[b] and has the amounts from least + (b << shift).
    """
    n = end - begin
    least = points[begin, 0]
    most = points[begin, 0]
    for at in range(begin, end):
        least = min(least, points[at, 0])
        most = max(most, points[at, 0])
    shift = 0
    while ((most - least) >> shift) + 1 > 2 * n:
        shift += 1
    width = ((most - least) >> shift) + 1
    buckets = np.zeros(width + 2, np.int32)
    for at in range(begin, end):
        buckets[((points[at, 0] - least) >> shift) + 2] += 1
    for b in range(2, width + 2):
        buckets[b] += buckets[b - 1]
    # Beyond the last there are some more, so that AHEAD of any can be looked at.
    amounts = np.full(n + AHEAD, np.iinfo(np.int64).max)
    who = np.empty(n, np.int32)
    for at in range(begin, end):
        b = ((points[at, 0] - least) >> shift) + 1
        to = buckets[b]
        buckets[b] = to + 1
        amounts[to] = points[at, 0]
        who[to] = at - begin
    for b in range(width):
        low, high = buckets[b], buckets[b + 1]
        if high - low > FEW:
            order = np.argsort(amounts[low:high])
            amounts[low:high] = amounts[low:high][order]
            who[low:high] = who[low:high][order]
        else:
            for at in range(low + 1, high):
                amount, point = amounts[at], who[at]
                to = at
                while to > low and amounts[to - 1] > amount:
                    amounts[to] = amounts[to - 1]
                    who[to] = who[to - 1]
                    to -= 1
                amounts[to] = amount
                who[to] = point
    return amounts, who, buckets, least, shift


@kernel
def look_up(
    needs: NDArray[Any],
    begin: int,
    end: int,
    beyond: int,
    amounts: NDArray[Any],
    buckets: NDArray[Any],
    least: int,
    shift: int,
    places: NDArray[Any],
) -> None:
    """For each need from begin to end, how many amounts are less than it and so much beyond."""
    last, n = buckets.shape[0] - 2, amounts.shape[0] - AHEAD
    for q in range(begin, end):
        amount = needs[q, 0] + beyond
        b = (amount - least) >> shift
        if b < 0 or b >= last:
            places[q - begin] = 0 if b < 0 else n
            continue
        low = np.int64(buckets[b])
        # Most buckets have few amounts: to look at all without a branch takes less time.
        less = 0
        for i in range(AHEAD):
            less += amounts[low + i] < amount
        low += less
        if less == AHEAD:
            high = np.int64(buckets[b + 1])
            while low < high:
                middle = (low + high) >> 1
                if amounts[middle] < amount:
                    low = middle + 1
                else:
                    high = middle
        places[q - begin] = low


@kernel
def ones(word: Any) -> Any:
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def open_before(place: Any, bits: NDArray[Any], before: NDArray[Any]) -> Any:
    """How many points before a place are open, from bits and the count before each word."""
    word = place >> 6
    mask = (np.uint64(1) << np.uint64(place & 63)) - np.uint64(1)
    return before[word] + ones(bits[word] & mask)


@kernel
def turn(
    place: NDArray[Any],
    begin: int,
    end: int,
    sign: int,
    bits: NDArray[Any],
    steps: NDArray[Any],
    blocks: NDArray[Any],
    asked: NDArray[Any],
) -> None:
    """Open or close the points from begin to end, and note how many needs have covered them.

    That is the sum of the steps up to a point's place, of which blocks are summed up already.
    """
    for point in range(begin, end):
        at = np.int64(place[point])
        bits[at >> 6] ^= np.uint64(1) << np.uint64(at & 63)
        covers = blocks[at >> BLOCK]
        for step in range((at >> BLOCK) << BLOCK, at + 1):
            covers += steps[step]
        asked[point] += sign * covers


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
def swept(
    needs: NDArray[Any],
    need_starts: NDArray[Any],
    points: NDArray[Any],
    point_starts: NDArray[Any],
    window: int,
    width: int,
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
) -> int:
    """Count the pairs of a need and a point that meets it, and those of each list's elements.

    A need of leading amount t (needs from need_starts[t] to need_starts[t + 1]) is met by points
    of leading amounts t to t + window - 1 whose other amount is from the need to width - 1 beyond.
    Slab by slab, each as wide as the window: the points of a slab and of the next in order of the
    other amount, with a bit for those that are open, that is in the window of the needs whose turn
    it is. A need asks how many open points are between two places. How many needs ask for a point
    is counted the other way round: needs leave a step up and a step down, and a point looks at
    the sum of steps when it opens and when it closes.
    """
    one = np.uint64(1)
    total = 0
    most = 0
    for t in range(need_starts.shape[0] - 1):
        most = max(most, need_starts[t + 1] - need_starts[t])
    lows, highs = np.empty(most, np.int32), np.empty(most, np.int32)
    for slab in range(0, need_starts.shape[0] - 1, window):
        first, middle = point_starts[slab], point_starts[slab + window]
        n = point_starts[slab + 2 * window] - first
        needed = need_starts[slab + window] - need_starts[slab]
        if n == 0 or needed == 0:
            continue
        amounts, who, buckets, least, shift = ordered(points, first, first + n)
        place = np.empty(n, np.int32)
        for at in range(n):
            place[who[at]] = at
        bits = np.zeros((n >> 6) + 1, np.uint64)
        before = np.zeros((n >> 6) + 1, np.int64)
        steps = np.zeros(n + 1, np.int32)
        step_sums = np.zeros((n >> BLOCK) + 1, np.int64)
        blocks = np.zeros((n >> BLOCK) + 1, np.int64)
        asked = np.zeros(n, np.int64)
        for point in range(middle - first):
            bits[place[point] >> 6] |= one << np.uint64(place[point] & 63)
        changed, asked_since = True, False
        for t in range(slab, slab + window):
            begin, end = need_starts[t], need_starts[t + 1]
            if end > begin:
                if changed:
                    for word in range(1, bits.shape[0]):
                        before[word] = before[word - 1] + ones(bits[word - 1])
                    changed = False
                asked_since = True
                table = amounts, buckets, least, shift
                look_up(needs, begin, end, 0, *table, lows)
                look_up(needs, begin, end, width, *table, highs)
                for q in range(begin, end):
                    low, high = np.int64(lows[q - begin]), np.int64(highs[q - begin])
                    met = open_before(high, bits, before) - open_before(low, bits, before)
                    if met == 0:
                        continue
                    steps[low] += 1
                    steps[high] -= 1
                    step_sums[low >> BLOCK] += 1
                    step_sums[high >> BLOCK] -= 1
                    a, b = needs[q, 1] >> 32, needs[q, 1] & SECOND
                    if by_a[a] == 0 or by_b[b] == 0:
                        news = (sets_a[a] & ~some[0]) | (sets_b[b] & ~some[1])
                        news |= (all_of[0] & ~sets_a[a]) | (all_of[1] & ~sets_b[b])
                        if news != 0 or told[0] == 0:
                            # The first open point from `low` on: there is one, since some meet.
                            while (bits[low >> 6] >> np.uint64(low & 63)) & one == 0:
                                low += 1
                            met_by = points[first + who[low], 1]
                            elements = (a, b, met_by >> 32, met_by & SECOND)
                            tell(
                                elements,
                                sets_a,
                                sets_b,
                                sets_c,
                                sets_d,
                                some,
                                all_of,
                                telling,
                                told,
                            )
                    by_a[a] += met
                    by_b[b] += met
                    total += met
            closing, opened = point_starts[t], point_starts[t + 1]
            opening, beyond = point_starts[t + window], point_starts[t + window + 1]
            if opened > closing or beyond > opening:
                changed = True
                if asked_since:
                    for block in range(1, blocks.shape[0]):
                        blocks[block] = blocks[block - 1] + step_sums[block - 1]
                    asked_since = False
                turn(place, closing - first, opened - first, 1, bits, steps, blocks, asked)
                turn(place, opening - first, beyond - first, -1, bits, steps, blocks, asked)
        covers = 0
        for at in range(n):
            covers += steps[at]
            if who[at] >= middle - first:
                asked[who[at]] += covers
        for point in range(n):
            if asked[point] == 0:
                continue
            c, d = points[first + point, 1] >> 32, points[first + point, 1] & SECOND
            if by_c[c] == 0 or by_d[d] == 0:
                news = (sets_c[c] & ~some[2]) | (sets_d[d] & ~some[3])
                news |= (all_of[2] & ~sets_c[c]) | (all_of[3] & ~sets_d[d])
                if news != 0:
                    q = asking(
                        points[first + point, 0],
                        first + point,
                        slab,
                        needs,
                        need_starts,
                        point_starts,
                        window,
                        width,
                    )
                    elements = (needs[q, 1] >> 32, needs[q, 1] & SECOND, c, d)
                    tell(
                        elements,
                        sets_a,
                        sets_b,
                        sets_c,
                        sets_d,
                        some,
                        all_of,
                        telling,
                        told,
                    )
            by_c[c] += asked[point]
            by_d[d] += asked[point]
    return total


@kernel
def asking(
    amount: int,
    point: int,
    slab: int,
    needs: NDArray[Any],
    need_starts: NDArray[Any],
    point_starts: NDArray[Any],
    window: int,
    width: int,
) -> int:
    """The first need of a slab that a point meets; there is one."""
    for t in range(slab, slab + window):
        if point_starts[t] <= point < point_starts[t + window]:
            for q in range(need_starts[t], need_starts[t + 1]):
                if needs[q, 0] <= amount < needs[q, 0] + width:
                    return q
    return -1
