"""Kernels of filling a bin anew: packages that decide (maximum entropy), meet in the middle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

# Tuned, but compiled in, so that they stand here and not in `tuning`. Chosen by hand; no benchmark
# isolates them.
WEIGHT_RANK_FACTOR = 3.0
"""How late a package comes for each one before it by its part in the variance of the sums."""
DOUBT_RANK_FACTOR = 1.5
"""How late a package comes for each one before it by how unsure it is where it is."""
LOOKS_PER_SUM = 8
"""Pairs of sums looked at for each sum that a list may have, before a set is given up."""

MOST_ON_A_SIDE = 62  # packages: a set of a side is one word


@kernel
def prepare_refill(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    possible: NDArray[Any],
    place: NDArray[Any],
    unplaced: NDArray[Any],
    bins: NDArray[Any],
    package: int,
) -> tuple[bool, NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """What the first of some bins can be filled with, of the packages that are left to all.

    Gives whether that may succeed; who must be in it (2) and who may (1); and, beside what must,
    between which sums it is to be filled, and what to aim at: the sums that it had, and the wanted
    package (-1: none) with them. The others must be able to hold the rest.

    Invariant: `both` is the sum of the packages before p that are left, `base` of those that must
    be in the bin; then, `reach` is what packages before p that may be in it can add.
    """
    n, k = amounts.shape
    b = bins[0]
    role = np.zeros(n, np.uint8)
    lowest, highest, aim = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.float64)
    both, base = np.zeros(k, np.int64), np.zeros(k, np.int64)
    is_fillable = True
    for p in range(n):
        if not unplaced[p]:
            continue
        elsewhere = False
        for at in range(1, len(bins)):
            elsewhere |= possible[p, bins[at]] != 0
        must = p == package or not elsewhere
        if must and not possible[p, b]:
            is_fillable = False
        role[p] = 2 if must else int(possible[p, b])
        for i in range(k):
            both[i] += amounts[p, i]
            if must:
                base[i] += amounts[p, i]
            elif place[p] == b:
                aim[i] += amounts[p, i]
    for i in range(k):
        less, more = 0, 0
        for at in range(1, len(bins)):
            less += low[bins[at], i]
            more += high[bins[at], i]
        lowest[i] = max(low[b, i], both[i] - more) - base[i]
        highest[i] = min(high[b, i], both[i] - less) - base[i]
        aim[i] = min(max(aim[i], float(lowest[i])), float(highest[i]))
        is_fillable &= lowest[i] <= highest[i] and highest[i] >= 0
    reach = np.zeros(k, np.int64)
    for p in range(n):
        if role[p] == 1:
            for i in range(k):
                if amounts[p, i] > highest[i]:
                    role[p] = 0
            for i in range(k):
                reach[i] += role[p] * amounts[p, i]
    for i in range(k):
        is_fillable &= reach[i] >= lowest[i]
    return is_fillable, role, lowest, highest, aim


@kernel
def select_deciding(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    chance: NDArray[Any],
    doubt: NDArray[Any],
    surplus: float,
    most: int,
) -> tuple[NDArray[Any], float]:
    """Packages to choose among exactly, first those that decide most, and the surplus they have.

    On some the sums depend much, and of others it is unsure where they are: as many as have bits
    to choose among beyond those that their sums must meet. `doubt` (0 to 1 each) mixes them.

    Invariant: `order[:selected_count]` are selected, `bits_so_far` and `squares` are theirs, and
    `best` is the largest surplus of any beginning of them.
    """
    n, k = amounts.shape
    total, weight, bits = np.zeros(k), np.zeros(n), np.zeros(n)
    for p in range(n):
        unsure = chance[p] * (1 - chance[p])
        bits[p] = -chance[p] * math.log2(chance[p]) - (1 - chance[p]) * math.log2(1 - chance[p])
        for i in range(k):
            total[i] += unsure * float(amounts[p, i]) ** 2
    for p in range(n):
        for i in range(k):
            square = chance[p] * (1 - chance[p]) * float(amounts[p, i]) ** 2
            weight[p] += square / max(total[i], 1e-9)
    rank = np.empty(n)
    by_weight, by_doubt = np.argsort(-weight), np.argsort(-(bits + doubt))
    for place in range(n):
        rank[by_weight[place]] = WEIGHT_RANK_FACTOR * place
    for place in range(n):
        rank[by_doubt[place]] = min(rank[by_doubt[place]], DOUBT_RANK_FACTOR * place)
    order = np.argsort(rank)
    squares, bits_so_far, best = np.zeros(k), 0.0, -1e9
    selected_count = 0
    while selected_count < min(n, most) and best <= surplus:
        p = order[selected_count]
        bits_so_far += bits[p]
        to_meet = 0.0
        for i in range(k):
            squares[i] += chance[p] * (1 - chance[p]) * float(amounts[p, i]) ** 2
            spread = math.sqrt(2 * math.pi * squares[i]) / (high[i] - low[i] + 1.0)
            to_meet += math.log2(max(spread, 1.0))
        best = max(best, bits_so_far - to_meet)
        selected_count += 1
    return order[:selected_count], best


@kernel
def extend_list(
    sums: NDArray[Any],
    sets: NDArray[Any],
    length: int,
    added: NDArray[Any],
    bit: Any,
    top: NDArray[Any],
    more_sums: NDArray[Any],
    more_sets: NDArray[Any],
) -> int:
    """Write a list with and without one more package, in order of the first amount.

    Invariant: the first n rows are those not above the top of `sums[:without]` as they are and of
    `sums[:with_it]` with the package, in order of the first amount.
    """
    k = added.shape[0]
    without, with_it, n = 0, 0, 0
    while with_it < length:
        if without < length and sums[without, 0] <= sums[with_it, 0] + added[0]:
            for i in range(k):
                more_sums[n, i] = sums[without, i]
            more_sets[n] = sets[without]
            without += 1
            n += 1
        else:
            fits = True
            for i in range(k):
                more_sums[n, i] = sums[with_it, i] + added[i]
                fits &= more_sums[n, i] <= top[i]
            more_sets[n] = sets[with_it] | bit
            with_it += 1
            n += fits
    return n


@kernel
def order_columns(
    amounts: NDArray[Any], low: NDArray[Any], high: NDArray[Any], column: NDArray[Any]
) -> None:
    """Put the tightest amount first.

    Invariant: `lead` is the tightest amount before i.
    """
    lead, tightest = 0, -1.0
    for i in range(amounts.shape[1]):
        total = 0.0
        for p in range(amounts.shape[0]):
            total += amounts[p, i]
        if total / (high[i] - low[i] + 1.0) > tightest:
            lead, tightest = i, total / (high[i] - low[i] + 1.0)
        column[i] = i
    column[0], column[lead] = lead, 0


@kernel
def match_sums(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    sums: NDArray[Any],
    sets: NDArray[Any],
    longest: int,
    members: NDArray[Any],
) -> tuple[int, int]:
    """Sets of packages whose sums lie between low and high, by meeting in the middle.

    Writes into the rows of `members` who is in, as many sets as there are rows; gives how many
    there are, and how many steps it took.
    `sums` and `sets` are room for three lists, which may become as long as `longest`; a package
    that would make them longer is in no set.

    Invariant: both lists are in order of the first amount and have all sums of their packages up to
    the top; the sums of the second after `end` are too large for this row and all that follow.
    """
    n, k = amounts.shape
    column, top, bottom = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    order_columns(amounts, low, high, column)
    at, length, of_side = np.array([0, 1]), np.array([1, 1]), np.array([0, 0])
    for i in range(k):
        top[i], bottom[i] = high[column[i]], low[column[i]]
        sums[0, 0, i], sums[1, 0, i] = 0, 0
    sets[0, 0], sets[1, 0] = np.uint64(0), np.uint64(0)
    side_of, bit_of, added = np.full(n, -1), np.zeros(n, np.int64), np.empty(k, np.int64)
    spare = 2
    for p in range(n):
        side = 0 if length[0] <= length[1] else 1
        if 2 * length[side] > longest or of_side[side] == MOST_ON_A_SIDE:
            break
        for i in range(k):
            added[i] = amounts[p, column[i]]
        now, bit = at[side], np.uint64(1) << np.uint64(of_side[side])
        length[side] = extend_list(
            sums[now], sets[now], length[side], added, bit, top, sums[spare], sets[spare]
        )
        at[side], spare = spare, now
        side_of[p], bit_of[p] = side, of_side[side]
        of_side[side] += 1
    count, looks, end = 0, 0, length[1] - 1
    first, other = sums[at[0]], sums[at[1]]
    for row in range(length[0]):
        while end >= 0 and first[row, 0] + other[end, 0] > top[0]:
            end -= 1
        if end < 0 or looks > LOOKS_PER_SUM * longest:
            break
        partner = end
        while partner >= 0 and first[row, 0] + other[partner, 0] >= bottom[0]:
            looks += 1
            fits = True
            for i in range(1, k):
                total = first[row, i] + other[partner, i]
                fits &= bottom[i] <= total <= top[i]
            if fits:
                # When all rows are full, later sets replace some: they should not be all alike.
                into = count if count < len(members) else looks % len(members)
                count += 1
                for p in range(n):
                    word = sets[at[0], row] if side_of[p] == 0 else sets[at[1], partner]
                    inside = (word >> np.uint64(bit_of[p])) & np.uint64(1)
                    members[into, p] = side_of[p] >= 0 and inside == np.uint64(1)
            partner -= 1
    return min(count, len(members)), looks + length[0] + length[1]
