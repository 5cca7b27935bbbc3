"""The walk from one allocation to others: two bins at a time are put together and split anew.

All splits of some of their packages are looked at by meeting in the middle: of each half all sums,
in order, and both lists run through from two ends. So a step finds all allocations that differ
from where it stands in these packages only, and every one of them is a proof of its pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

MOST_ON_A_SIDE = 62
DIRECT = 0.5
"""How often a step takes two bins that promise much, rather than one pair that is wanted."""

WANTED_FIRST = 0.3
LARGER_LATER = 0.3
LOOKS_PER_SUM = 30
AMBIGUOUS_LATER = 2


@kernel
def drawn(state: Any) -> Any:
    """Give the next of a sequence of made-up words of 64 bits; it never comes to nought."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@kernel
def chance(state: Any) -> float:
    """Give a number from 0 to 1 for a word."""
    return float(state >> np.uint64(11)) / 9007199254740992.0


@kernel
def joined(
    sums: NDArray[Any],
    sets: NDArray[Any],
    length: int,
    amounts: NDArray[Any],
    bit: Any,
    top: NDArray[Any],
    more_sums: NDArray[Any],
    more_sets: NDArray[Any],
) -> int:
    """Write a list with and without one more package, in order; sums above the top are left out."""
    k = amounts.shape[0]
    without, with_it, n = 0, 0, 0
    while with_it < length:
        if without < length and sums[without, 0] <= sums[with_it, 0] + amounts[0]:
            for i in range(k):
                more_sums[n, i] = sums[without, i]
            more_sets[n] = sets[without]
            without += 1
            n += 1
        else:
            fits = True
            for i in range(k):
                total = sums[with_it, i] + amounts[i]
                more_sums[n, i] = total
                fits &= total <= top[i]
            more_sets[n] = sets[with_it] | bit
            with_it += 1
            n += fits
    return n


@kernel
def promising(
    allowed: NDArray[Any],
    proved: NDArray[Any],
    place: NDArray[Any],
    tries: NDArray[Any],
    weight: NDArray[Any],
    state: Any,
) -> tuple[int, int]:
    """Two bins, by how many pairs between them are not proved and how often they were tried."""
    n, m = allowed.shape
    weight[:] = 0.0
    for p in range(n):
        for b in range(m):
            if allowed[p, b] and not proved[p, b]:
                low, high = min(place[p], b), max(place[p], b)
                weight[low, high] += 1.0
    total = 0.0
    for a in range(m):
        for b in range(a + 1, m):
            weight[a, b] /= (1.0 + tries[a, b]) ** 2
            total += weight[a, b]
    point = chance(state) * total
    for a in range(m):
        for b in range(a + 1, m):
            point -= weight[a, b]
            if point < 0:
                return a, b
    return -1, -1


@kernel
def wanted(
    allowed: NDArray[Any], proved: NDArray[Any], tries: NDArray[Any], state: Any
) -> tuple[int, int, Any]:
    """Of the pairs that are not proved, one of those that were tried least.

    Packages that are not known to be ambiguous yet come before those that are.
    """
    n, m = allowed.shape
    package, goal, least, seen = -1, -1, 1 << 30, 0
    for p in range(n):
        places = 0
        for b in range(m):
            places += proved[p, b]
        later = AMBIGUOUS_LATER if places > 1 else 0
        for b in range(m):
            if allowed[p, b] and not proved[p, b] and tries[p, b] + later <= least:
                seen = seen + 1 if tries[p, b] + later == least else 1
                least = tries[p, b] + later
                state = drawn(state)
                if (state >> np.uint64(11)) % np.uint64(seen) == 0:
                    package, goal = p, b
    return package, goal, state


@kernel
def roomy(
    allowed: NDArray[Any], place: NDArray[Any], package: int, goal: int, state: Any
) -> tuple[int, Any]:
    """A bin with many packages through which one can go from where it is to its goal."""
    n, m = allowed.shape
    inside = np.zeros(m, np.int64)
    for p in range(n):
        inside[place[p]] += 1
    found, most = -1, -1.0
    for b in range(m):
        if b != goal and b != place[package] and allowed[package, b]:
            state = drawn(state)
            much = inside[b] * chance(state)
            if much > most:
                found, most = b, much
    return found, state


@kernel
def walk(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    allowed: NDArray[Any],
    place: NDArray[Any],
    proved: NDArray[Any],
    proofs: NDArray[Any],
    tries: NDArray[Any],
    pair_tries: NDArray[Any],
    most_tries: int,
    seed: Any,
    budget: int,
    shortest: int,
    longest: int,
) -> tuple[int, int, Any]:
    """Go from `place` from allocation to allocation, for a budget of steps.

    An allocation that has a pair not yet `proved` is written into the next row of `proofs`.
    `place`, `proved` and the numbers of tries are left as they then are, so that a next call goes
    on. Gives the rows written, the steps made (fewer than the budget: nothing is left to try), and
    the seed to go on with.
    """
    n, k = amounts.shape
    m = low.shape[0]
    sums = np.zeros((m, k), np.int64)
    for p in range(n):
        for i in range(k):
            sums[place[p], i] += amounts[p, i]
    state = seed
    one, none = np.uint64(1), np.uint64(0)
    first_sums = np.empty((longest, k), np.int64)
    other_sums = np.empty((longest, k), np.int64)
    spare_sums = np.empty((longest, k), np.int64)
    first_sets = np.empty(longest, np.uint64)
    other_sets = np.empty(longest, np.uint64)
    spare_sets = np.empty(longest, np.uint64)
    weight = np.empty((m, m), np.float64)
    size = np.zeros(n, np.float64)
    for p in range(n):
        for i in range(k):
            size[p] += np.log(1.0 + amounts[p, i]) / k
    movable = np.empty(n, np.int64)
    urgency = np.empty(n, np.float64)
    in_first = np.empty(MOST_ON_A_SIDE + 1, np.int64)
    in_other = np.empty(MOST_ON_A_SIDE + 1, np.int64)
    from_shift, to_shift, top = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    bottom_sum, top_sum = np.empty(k, np.int64), np.empty(k, np.int64)
    added, column = np.empty(k, np.int64), np.empty(k, np.int64)
    rows, steps, then, then_goal = 0, 0, -1, -1
    while steps < budget and rows < proofs.shape[0]:
        # Which two bins, and which package must change its bin (-1: any may).
        steps += n * m // 8 + 100
        state = drawn(state)
        forced, goal, a, b = -1, -1, -1, -1
        if then >= 0:
            if not proved[then, then_goal] and place[then] != then_goal:
                forced, goal = then, then_goal
            then = -1
        elif chance(state) < DIRECT:
            state = drawn(state)
            a, b = promising(allowed, proved, place, tries, weight, state)
        if forced < 0 and a < 0:
            forced, goal, state = wanted(allowed, proved, pair_tries, state)
            if forced < 0 or pair_tries[forced, goal] >= most_tries:
                return rows, min(steps, budget - 1), state
            pair_tries[forced, goal] += 1
            if pair_tries[forced, goal] % 2 == 0:
                through, state = roomy(allowed, place, forced, goal, state)
                if through >= 0:
                    then, then_goal, goal = forced, goal, through
        if forced >= 0:
            a, b = place[forced], goal
        tried = tries[min(a, b), max(a, b)]
        if forced >= 0:
            tried = pair_tries[forced, goal] // 2
        # The sums of bin b are to be made; let it be the smaller one.
        by_size = 0.0
        for i in range(k):
            by_size += np.log((sums[b, i] + 1.0) / (sums[a, i] + 1.0))
        if by_size > 0:
            a, b = b, a
        # By how much the sums of b may change, and those of a with them.
        for i in range(k):
            from_shift[i] = max(low[b, i] - sums[b, i], sums[a, i] - high[a, i])
            to_shift[i] = min(high[b, i] - sums[b, i], sums[a, i] - low[a, i])
            if forced >= 0:
                change = amounts[forced, i] if goal == b else -amounts[forced, i]
                from_shift[i] -= change
                to_shift[i] -= change
            top[i] = to_shift[i]
        count = 0
        for p in range(n):
            if (place[p] == a or place[p] == b) and allowed[p, a] and allowed[p, b] and p != forced:
                state = drawn(state)
                urgency[count] = chance(state)
                if not (proved[p, a] and proved[p, b]):
                    urgency[count] -= WANTED_FIRST
                movable[count] = p
                count += 1
                if place[p] == b:
                    for i in range(k):
                        top[i] += amounts[p, i]
        hopeless = count == 0
        for i in range(k):
            hopeless |= top[i] < 0
        if hopeless:
            then = -1
            if forced < 0:
                tries[min(a, b), max(a, b)] += 1
            continue
        if k > 2 or tried % 2 == 1:
            # What is much larger than a package can hardly help to make up for it.
            state = drawn(state)
            measure = size[movable[(state >> np.uint64(11)) % np.uint64(count)]]
            if forced >= 0:
                measure = size[forced]
            for c in range(count):
                urgency[c] += LARGER_LATER * max(0.0, size[movable[c]] - measure)
        # The attribute that tells most leads.
        lead, telling = 0, -1.0
        for i in range(k):
            inside = 0.0
            for c in range(count):
                inside += amounts[movable[c], i]
            tells = min(inside, top[i] + 1.0) / (to_shift[i] - from_shift[i] + 1)
            if tells > telling:
                lead, telling = i, tells
        for i in range(k):
            column[i] = i
        column[0], column[lead] = lead, 0
        for i in range(k):
            first_sums[0, i] = 0
            other_sums[0, i] = 0
            added[i] = top[column[i]]
            bottom_sum[i] = from_shift[column[i]]
            top_sum[i] = to_shift[column[i]]
        for i in range(k):
            top[i] = added[i]
        first_sets[0] = none
        other_sets[0] = none
        # Both lists grow, as far as they may; what is then left stays where it is.
        most = min(longest, shortest << (2 * min(tried, 8)))
        first_length, other_length, firsts, others = 1, 1, 0, 0
        first_in, first_out, first_now = none, none, none
        other_in, other_out, other_now = none, none, none
        whole = True
        for c in np.argsort(urgency[:count]):
            p = movable[c]
            if 2 * min(first_length, other_length) > most:
                whole = False
                break
            on_first = first_length <= other_length
            if max(firsts, others) > MOST_ON_A_SIDE:
                whole = False
                break
            for i in range(k):
                added[i] = amounts[p, column[i]]
                if place[p] == b:
                    bottom_sum[i] += added[i]
                    top_sum[i] += added[i]
            if on_first:
                bit = one << np.uint64(firsts)
                first_length = joined(
                    first_sums, first_sets, first_length, added, bit, top, spare_sums, spare_sets
                )
                first_sums, spare_sums = spare_sums, first_sums
                first_sets, spare_sets = spare_sets, first_sets
                in_first[firsts] = p
                firsts += 1
                steps += first_length
                first_in |= none if proved[p, b] else bit
                first_out |= none if proved[p, a] else bit
                first_now |= bit if place[p] == b else none
            else:
                bit = one << np.uint64(others)
                other_length = joined(
                    other_sums, other_sets, other_length, added, bit, top, spare_sums, spare_sets
                )
                other_sums, spare_sums = spare_sums, other_sums
                other_sets, spare_sets = spare_sets, other_sets
                in_other[others] = p
                others += 1
                steps += other_length
                other_in |= none if proved[p, b] else bit
                other_out |= none if proved[p, a] else bit
                other_now |= bit if place[p] == b else none
        # Both lists from two ends: each pair whose sums are right is an allocation.
        stop = steps + LOOKS_PER_SUM * (first_length + other_length)
        begun, found = rows, 0
        next_first, next_other = first_now, other_now
        end = other_length - 1
        for row in range(first_length):
            while end >= 0 and first_sums[row, 0] + other_sums[end, 0] > top_sum[0]:
                end -= 1
            if end < 0 or steps > stop:
                break
            steps += 1
            at = end
            while at >= 0 and first_sums[row, 0] + other_sums[at, 0] >= bottom_sum[0]:
                steps += 1
                fits = True
                for i in range(1, k):
                    total = first_sums[row, i] + other_sums[at, i]
                    if total < bottom_sum[i] or total > top_sum[i]:
                        fits = False
                        break
                if fits:
                    in_b, also_in_b = first_sets[row], other_sets[at]
                    found += 1
                    state = drawn(state)
                    if (state >> np.uint64(11)) % np.uint64(found) == 0:
                        next_first, next_other = in_b, also_in_b
                    new = (in_b & first_in) | (~in_b & first_out)
                    new |= (also_in_b & other_in) | (~also_in_b & other_out)
                    if forced >= 0 and not proved[forced, goal]:
                        new |= one
                    if new != none and rows < proofs.shape[0]:
                        first_in &= ~in_b
                        first_out &= in_b
                        other_in &= ~also_in_b
                        other_out &= also_in_b
                        for p in range(n):
                            proofs[rows, p] = place[p]
                        for c in range(firsts):
                            to = b if (in_b >> np.uint64(c)) & one else a
                            proofs[rows, in_first[c]] = to
                            proved[in_first[c], to] = 1
                        for c in range(others):
                            to = b if (also_in_b >> np.uint64(c)) & one else a
                            proofs[rows, in_other[c]] = to
                            proved[in_other[c], to] = 1
                        if forced >= 0:
                            proofs[rows, forced] = goal
                            proved[forced, goal] = 1
                        rows += 1
                at -= 1
        if forced < 0:
            pair = min(a, b), max(a, b)
            if rows > begun:
                tries[pair] = max(0, tried - 1)
            else:
                tries[pair] += 3 if whole else 1
        elif found == 0:
            then = -1
            continue
        else:
            for i in range(k):
                sums[place[forced], i] -= amounts[forced, i]
                sums[goal, i] += amounts[forced, i]
            place[forced] = goal
        for c in range(firsts + others):
            p = in_first[c] if c < firsts else in_other[c - firsts]
            word = next_first >> np.uint64(c) if c < firsts else next_other >> np.uint64(c - firsts)
            to = b if word & one else a
            for i in range(k):
                sums[place[p], i] -= amounts[p, i]
                sums[to, i] += amounts[p, i]
            place[p] = to
    return rows, steps, state
