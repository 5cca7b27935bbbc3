"""Kernels of a random walk over allocations: two bins are split anew by meet in the middle.

All splits of some of their packages are looked at by meeting in the middle: of each half all sums,
in order, and both lists run through from two ends. So a step finds all allocations that differ
from where it stands in these packages only, and every one of them is a proof of its pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

MOST_ON_A_SIDE = 62  # packages: a set of a side is one word

# Tuned, but compiled in, so that they stand here and not in `tuning`. Chosen by hand; no benchmark
# isolates them.
BIN_PAIR_SHARE = 0.5
"""How often a step takes two bins between which much is open, rather than one open pair."""
OPEN_PAIR_BONUS = 0.3
"""How far packages with something to prove come forward, where 1 is the whole order."""
LARGER_PENALTY = 0.3
"""How far packages go back for each unit of log size by which they are larger than the mover."""
LOOKS_PER_SUM = 30
"""Pairs of sums looked at for each sum of the lists, before a split is given up."""
AMBIGUOUS_PENALTY = 6
"""How many tries a pair comes later whose package is known to be ambiguous."""
UNAMBIGUOUS_WEIGHT = 10.0
"""How many pairs a pair counts for whose package has one place proved only."""
PAIRS_PER_STEP = 8
"""Pairs of package and bin looked at for the choice of a move that count as one step."""
STEPS_PER_MOVE = 100
"""Steps that every move counts for besides."""
MOST_LENGTHENINGS = 8
"""Tries in vain after which lists do not become four times as long any more."""
WHOLE_TRIES = 3
"""How many tries it counts for that two bins were split in all ways and nothing was new."""


@kernel
def next_xorshift64(state: Any) -> Any:
    """Next state of a xorshift generator of 64 bits (Marsaglia); it never comes to 0."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@kernel
def to_unit_interval(state: Any) -> float:
    """Give a number from 0 to 1 for a word."""
    return float(state >> np.uint64(11)) / 9007199254740992.0


@kernel
def extend_list(
    sums: NDArray[Any],
    sets: NDArray[Any],
    length: int,
    amounts: NDArray[Any],
    bit: Any,
    top: NDArray[Any],
    more_sums: NDArray[Any],
    more_sets: NDArray[Any],
) -> int:
    """Write a list with and without one more package, in order; sums above the top are left out.

    Invariant: the first n rows are those not above the top of `sums[:without]` as they are and of
    `sums[:with_it]` with the package, in order of attribute 0.
    """
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
def draw_bin_pair(
    allowed: NDArray[Any],
    proved: NDArray[Any],
    place: NDArray[Any],
    tries: NDArray[Any],
    weight: NDArray[Any],
    state: Any,
) -> tuple[int, int]:
    """Two bins, by how many pairs between them are not proved and how often they were tried.

    Invariant: `point` is what is left of the number drawn after the weights of all pairs before: it
    falls below 0 in the pair that was drawn.
    """
    n, m = allowed.shape
    weight[:] = 0.0
    for p in range(n):
        places = 0
        for b in range(m):
            places += proved[p, b]
        weight_of_pair = 1.0 if places > 1 else UNAMBIGUOUS_WEIGHT
        for b in range(m):
            if allowed[p, b] and not proved[p, b]:
                low, high = min(place[p], b), max(place[p], b)
                weight[low, high] += weight_of_pair
    total = 0.0
    for a in range(m):
        for b in range(a + 1, m):
            weight[a, b] /= (1.0 + tries[a, b]) ** 2
            total += weight[a, b]
    point = to_unit_interval(state) * total
    for a in range(m):
        for b in range(a + 1, m):
            point -= weight[a, b]
            if point < 0:
                return a, b
    return -1, -1


@kernel
def draw_open_pair(
    allowed: NDArray[Any], proved: NDArray[Any], tries: NDArray[Any], state: Any
) -> tuple[int, int, Any]:
    """Of the pairs that are not proved, one of those that were tried least.

    Packages that are not known to be ambiguous yet come before those that are.

    Invariant: (reservoir sampling) the pair at hand is drawn evenly from the `ties` pairs seen so
    far that were tried least.
    """
    n, m = allowed.shape
    package, goal, least, ties = -1, -1, 1 << 30, 0
    for p in range(n):
        places = 0
        for b in range(m):
            places += proved[p, b]
        later = AMBIGUOUS_PENALTY if places > 1 else 0
        for b in range(m):
            if allowed[p, b] and not proved[p, b] and tries[p, b] + later <= least:
                ties = ties + 1 if tries[p, b] + later == least else 1
                least = tries[p, b] + later
                state = next_xorshift64(state)
                if (state >> np.uint64(11)) % np.uint64(ties) == 0:
                    package, goal = p, b
    return package, goal, state


@kernel
def draw_transit_bin(
    allowed: NDArray[Any], place: NDArray[Any], package: int, goal: int, state: Any
) -> tuple[int, Any]:
    """A bin with many packages through which one can go from where it is to its goal.

    Invariant: `best_bin` has the largest score of the bins before b.
    """
    n, m = allowed.shape
    inside = np.zeros(m, np.int64)
    for p in range(n):
        inside[place[p]] += 1
    best_bin, best_score = -1, -1.0
    for b in range(m):
        if b != goal and b != place[package] and allowed[package, b]:
            state = next_xorshift64(state)
            score = inside[b] * to_unit_interval(state)
            if score > best_score:
                best_bin, best_score = b, score
    return best_bin, state


@kernel
def move_package(
    amounts: NDArray[Any], in_bin: NDArray[Any], place: NDArray[Any], package: int, to: int
) -> None:
    """A package goes to a bin, and its amounts with it.

    Invariant: before and after, `in_bin` are the sums of the bins by `place`.
    """
    for i in range(amounts.shape[1]):
        in_bin[place[package], i] -= amounts[package, i]
        in_bin[to, i] += amounts[package, i]
    place[package] = to


@kernel
def choose_move(
    allowed: NDArray[Any],
    proved: NDArray[Any],
    place: NDArray[Any],
    tries: NDArray[Any],
    pair_tries: NDArray[Any],
    most_tries: int,
    weight: NDArray[Any],
    next_leg: NDArray[Any],
    state: Any,
) -> tuple[int, int, int, int, int, Any]:
    """Which two bins a step takes, and which package must go where (-1: any may go).

    Gives the bins, the package and its goal, how often this was tried, and the state; the first
    bin is -1 if nothing is left to try. A package that goes to its goal through a third bin has
    its second leg in `next_leg`.
    """
    a, b, package, goal = -1, -1, -1, -1
    state = next_xorshift64(state)
    if next_leg[0] >= 0:
        if not proved[next_leg[0], next_leg[1]] and place[next_leg[0]] != next_leg[1]:
            package, goal = next_leg
        next_leg[0] = -1
    elif to_unit_interval(state) < BIN_PAIR_SHARE:
        state = next_xorshift64(state)
        a, b = draw_bin_pair(allowed, proved, place, tries, weight, state)
    if package < 0 and a < 0:
        package, goal, state = draw_open_pair(allowed, proved, pair_tries, state)
        if package < 0 or pair_tries[package, goal] >= most_tries:
            return -1, -1, -1, -1, 0, state
        pair_tries[package, goal] += 1
        if pair_tries[package, goal] % 2 == 0:
            through, state = draw_transit_bin(allowed, place, package, goal, state)
            if through >= 0:
                next_leg[0], next_leg[1] = package, goal
                goal = through
    if package < 0:
        return a, b, -1, -1, tries[a, b], state
    return place[package], goal, package, goal, pair_tries[package, goal] // 2, state


@kernel
def list_movable(
    amounts: NDArray[Any],
    allowed: NDArray[Any],
    proved: NDArray[Any],
    place: NDArray[Any],
    size: NDArray[Any],
    a: int,
    b: int,
    package: int,
    by_size: bool,
    shift: NDArray[Any],
    movable: NDArray[Any],
    urgency: NDArray[Any],
    top: NDArray[Any],
    state: Any,
) -> tuple[int, Any]:
    """Who can move between two bins: how many, in which order, and the most that b can then have.

    At random, but those with something to prove before others; `by_size`: and those before that
    are no larger than the package in question, since larger ones can hardly make up for it.

    Invariant: `movable[:count]` are those before p who can move, and `top` is the highest shift of
    b and the amounts of those of them that are in b.
    """
    k = amounts.shape[1]
    count = 0
    for i in range(k):
        top[i] = shift[1, i]
    for p in range(amounts.shape[0]):
        if (place[p] == a or place[p] == b) and allowed[p, a] and allowed[p, b] and p != package:
            state = next_xorshift64(state)
            urgency[count] = to_unit_interval(state)
            if not (proved[p, a] and proved[p, b]):
                urgency[count] -= OPEN_PAIR_BONUS
            movable[count] = p
            count += 1
            if place[p] == b:
                for i in range(k):
                    top[i] += amounts[p, i]
    for i in range(k):
        if top[i] < 0:
            return 0, state
    if by_size and count > 0:
        state = next_xorshift64(state)
        measure = size[movable[(state >> np.uint64(11)) % np.uint64(count)]]
        if package >= 0:
            measure = size[package]
        for c in range(count):
            urgency[c] += LARGER_PENALTY * max(0.0, size[movable[c]] - measure)
    return count, state


@kernel
def order_columns(
    amounts: NDArray[Any],
    movable: NDArray[Any],
    count: int,
    shift: NDArray[Any],
    top: NDArray[Any],
    column: NDArray[Any],
) -> None:
    """Put the tightest attribute first.

    Invariant: `lead` is the tightest attribute before i.
    """
    lead, tightest = 0, -1.0
    for i in range(amounts.shape[1]):
        inside = 0.0
        for c in range(count):
            inside += amounts[movable[c], i]
        tightness = min(inside, top[i] + 1.0) / (shift[1, i] - shift[0, i] + 1)
        if tightness > tightest:
            lead, tightest = i, tightness
        column[i] = i
    column[0], column[lead] = lead, 0


@kernel
def build_half_lists(
    amounts: NDArray[Any],
    place: NDArray[Any],
    b: int,
    movable: NDArray[Any],
    order: NDArray[Any],
    column: NDArray[Any],
    top: NDArray[Any],
    wanted_sum: NDArray[Any],
    most: int,
    sums: NDArray[Any],
    sets: NDArray[Any],
    inside: NDArray[Any],
    lists: NDArray[Any],
) -> bool:
    """Two lists of sums for bin b, of packages in an order, as far as the lists may grow.

    `lists` has for each of the two: which of the three buffers, its length, and how many packages
    it is of, which stand in `inside`. `wanted_sum` (from, to) is raised by what is in b now. False
    if not all packages are in the lists; the others stay where they are.

    Invariant: each list has, in order of the first column, all sums up to the top of the packages
    that joined it, and `wanted_sum` is raised by those of them that are in b.
    """
    k = amounts.shape[1]
    added = np.empty(k, np.int64)
    spare = 2
    for side in range(2):
        lists[side, 0], lists[side, 1], lists[side, 2] = side, 1, 0
        sets[side, 0] = 0
        for i in range(k):
            sums[side, 0, i] = 0
    for c in order:
        p = movable[c]
        side = 0 if lists[0, 1] <= lists[1, 1] else 1
        if 2 * lists[side, 1] > most or lists[side, 2] == MOST_ON_A_SIDE:
            return False
        for i in range(k):
            added[i] = amounts[p, column[i]]
            if place[p] == b:
                wanted_sum[0, i] += added[i]
                wanted_sum[1, i] += added[i]
        now = lists[side, 0]
        bit = np.uint64(1) << np.uint64(lists[side, 2])
        lists[side, 1] = extend_list(
            sums[now], sets[now], lists[side, 1], added, bit, top, sums[spare], sets[spare]
        )
        lists[side, 0], spare = spare, now
        inside[side, lists[side, 2]] = p
        lists[side, 2] += 1
    return True


@kernel
def write_allocation(
    place: NDArray[Any],
    proved: NDArray[Any],
    row: NDArray[Any],
    a: int,
    b: int,
    package: int,
    goal: int,
    inside: NDArray[Any],
    lists: NDArray[Any],
    words: NDArray[Any],
) -> None:
    """Write an allocation that differs from where one stands in these packages; mark its pairs.

    Invariant: each package that was moved in `row` is marked in `proved` where it went.
    """
    for p in range(place.shape[0]):
        row[p] = place[p]
    for side in range(2):
        for c in range(lists[side, 2]):
            to = b if (words[side] >> np.uint64(c)) & np.uint64(1) else a
            row[inside[side, c]] = to
            proved[inside[side, c], to] = 1
    if package >= 0:
        row[package] = goal
        proved[package, goal] = 1


@kernel
def match_half_lists(
    sums: NDArray[Any],
    sets: NDArray[Any],
    lists: NDArray[Any],
    inside: NDArray[Any],
    wanted_sum: NDArray[Any],
    a: int,
    b: int,
    package: int,
    goal: int,
    place: NDArray[Any],
    proved: NDArray[Any],
    proofs: NDArray[Any],
    rows: int,
    after: NDArray[Any],
    state: Any,
) -> tuple[int, int, int, Any]:
    """Run through both lists from two ends: each pair whose sums are right is an allocation.

    Those with something new are written into `proofs`; one of all, at random, is left in `after`
    as words. Gives how many there are, the rows written so far, the steps made, and the state.

    Invariant: the sums of the second list after `end` are too large for this row and all that
    follow; `new_in` and `new_out` have a bit for each package that is not proved in b, or in a, by
    now; `after` is drawn evenly from the `count` splits so far.
    """
    one, none = np.uint64(1), np.uint64(0)
    k = wanted_sum.shape[1]
    first, other = sums[lists[0, 0]], sums[lists[1, 0]]
    new_in, new_out = np.zeros(2, np.uint64), np.zeros(2, np.uint64)
    words = np.zeros(2, np.uint64)
    for side in range(2):
        for c in range(lists[side, 2]):
            new_in[side] |= none if proved[inside[side, c], b] else one << np.uint64(c)
            new_out[side] |= none if proved[inside[side, c], a] else one << np.uint64(c)
    steps, count, end = 0, 0, lists[1, 1] - 1
    stop = LOOKS_PER_SUM * (lists[0, 1] + lists[1, 1])
    for row in range(lists[0, 1]):
        while end >= 0 and first[row, 0] + other[end, 0] > wanted_sum[1, 0]:
            end -= 1
        if end < 0 or steps > stop:
            break
        steps += 1
        at = end
        while at >= 0 and first[row, 0] + other[at, 0] >= wanted_sum[0, 0]:
            steps += 1
            fits = True
            for i in range(1, k):
                total = first[row, i] + other[at, i]
                if total < wanted_sum[0, i] or total > wanted_sum[1, i]:
                    fits = False
                    break
            if fits:
                words[0], words[1] = sets[lists[0, 0], row], sets[lists[1, 0], at]
                count += 1
                state = next_xorshift64(state)
                if (state >> np.uint64(11)) % np.uint64(count) == 0:
                    after[:] = words
                new = package >= 0 and not proved[package, goal]
                for side in range(2):
                    fresh = (words[side] & new_in[side]) | (~words[side] & new_out[side])
                    new |= fresh != none
                if new and rows < proofs.shape[0]:
                    for side in range(2):
                        new_in[side] &= ~words[side]
                        new_out[side] &= words[side]
                    write_allocation(
                        place, proved, proofs[rows], a, b, package, goal, inside, lists, words
                    )
                    rows += 1
            at -= 1
    return count, rows, steps, state


@kernel
def walk_allocations(
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

    Invariant: `place` is an allocation and `in_bin` its sums; all pairs of the rows written are
    marked in `proved`.
    """
    n, k = amounts.shape
    m = low.shape[0]
    state = seed
    in_bin = np.zeros((m, k), np.int64)
    size = np.zeros(n, np.float64)
    for p in range(n):
        for i in range(k):
            in_bin[place[p], i] += amounts[p, i]
            size[p] += np.log(1.0 + amounts[p, i]) / k
    sums = np.empty((3, longest, k), np.int64)
    sets = np.empty((3, longest), np.uint64)
    inside = np.empty((2, MOST_ON_A_SIDE), np.int64)
    lists = np.empty((2, 3), np.int64)
    weight = np.empty((m, m), np.float64)
    movable, urgency = np.empty(n, np.int64), np.empty(n, np.float64)
    shift, wanted_sum = np.empty((2, k), np.int64), np.empty((2, k), np.int64)
    top, most_in_b, column = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    next_leg, after = np.full(2, -1, np.int64), np.zeros(2, np.uint64)
    rows, steps = 0, 0
    while steps < budget and rows < proofs.shape[0]:
        steps += n * m // PAIRS_PER_STEP + STEPS_PER_MOVE
        a, b, package, goal, attempts, state = choose_move(
            allowed, proved, place, tries, pair_tries, most_tries, weight, next_leg, state
        )
        if a < 0:
            return rows, min(steps, budget - 1), state
        # The sums of bin b are to be made; let it be the smaller one.
        larger = 0.0
        for i in range(k):
            larger += np.log((in_bin[b, i] + 1.0) / (in_bin[a, i] + 1.0))
        if larger > 0:
            a, b = b, a
        # By how much the sums of b may change, and those of a with them.
        for i in range(k):
            shift[0, i] = max(low[b, i] - in_bin[b, i], in_bin[a, i] - high[a, i])
            shift[1, i] = min(high[b, i] - in_bin[b, i], in_bin[a, i] - low[a, i])
            if package >= 0:
                change = amounts[package, i] if goal == b else -amounts[package, i]
                shift[0, i] -= change
                shift[1, i] -= change
        by_size = k > 2 or attempts % 2 == 1
        count, state = list_movable(
            amounts,
            allowed,
            proved,
            place,
            size,
            a,
            b,
            package,
            by_size,
            shift,
            movable,
            urgency,
            most_in_b,
            state,
        )
        count_found, whole, rows_before = 0, True, rows
        if count == 0 and package >= 0:
            # Nobody else can move; perhaps it may go alone.
            count_found = 1
            for i in range(k):
                count_found &= shift[0, i] <= 0 <= shift[1, i]
            lists[:, 2] = 0
            if count_found and not proved[package, goal]:
                write_allocation(
                    place, proved, proofs[rows], a, b, package, goal, inside, lists, after
                )
                rows += 1
        if count > 0:
            order_columns(amounts, movable, count, shift, most_in_b, column)
            for i in range(k):
                top[i] = most_in_b[column[i]]
                wanted_sum[0, i] = shift[0, column[i]]
                wanted_sum[1, i] = shift[1, column[i]]
            whole = build_half_lists(
                amounts,
                place,
                b,
                movable,
                np.argsort(urgency[:count]),
                column,
                top,
                wanted_sum,
                min(longest, shortest << (2 * min(attempts, MOST_LENGTHENINGS))),
                sums,
                sets,
                inside,
                lists,
            )
            count_found, rows, looks, state = match_half_lists(
                sums,
                sets,
                lists,
                inside,
                wanted_sum,
                a,
                b,
                package,
                goal,
                place,
                proved,
                proofs,
                rows,
                after,
                state,
            )
            steps += looks + 2 * (lists[0, 1] + lists[1, 1])
        if package < 0:
            low_bin, high_bin = min(a, b), max(a, b)
            if rows > rows_before:
                tries[low_bin, high_bin] = max(0, attempts - 1)
            else:
                tries[low_bin, high_bin] += WHOLE_TRIES if whole else 1
        if count_found == 0:
            next_leg[0] = -1
            continue
        if package >= 0:
            move_package(amounts, in_bin, place, package, goal)
        for side in range(2):
            for c in range(lists[side, 2]):
                to = b if (after[side] >> np.uint64(c)) & np.uint64(1) else a
                move_package(amounts, in_bin, place, inside[side, c], to)
    return rows, steps, state
