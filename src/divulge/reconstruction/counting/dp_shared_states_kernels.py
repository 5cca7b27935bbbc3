"""Kernels of meet in the middle for many states at once, with sums in the buckets of a grid.

Large packages make needs: sums that lie in cells as large as the windows. Small ones make points,
for each state by itself, and a point looks at the needs of the few cells that it can meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

INITIAL_ROOM = 2**12  # needs that there is room for
ROOM_GROWTH = 4  # how many times as much there is where it does not suffice


@kernel
def list_needs(
    amounts: NDArray[Any],
    options: NDArray[Any],
    bottom: NDArray[Any],
    top: NDArray[Any],
    longest: int,
) -> tuple[bool, NDArray[Any], NDArray[Any]]:
    """The sums that packages can make in a bin, and which packages make them.

    Options of a package: 1 if it may be elsewhere, 2 if it may be in the bin, 3 if both. A sum must
    lie between bottom and top once all packages are decided upon. False if there are more sums than
    the longest list.

    Invariant: `sums[:count]` are the sums of the packages before p that can still come to lie
    between bottom and top, and `rest` is what the packages from p on can add.
    """
    n, k = amounts.shape
    room = INITIAL_ROOM
    sums, sets = np.zeros((room, k), np.int64), np.zeros(room, np.uint64)
    spare_sums, spare_sets = np.empty((room, k), np.int64), np.empty(room, np.uint64)
    rest = np.zeros(k, np.int64)
    for p in range(n):
        if options[p] & 2:
            rest += amounts[p]
    count = 1
    for p in range(n):
        if 2 * count > room:
            room = ROOM_GROWTH * room
            more_sums, more_sets = np.empty((room, k), np.int64), np.empty(room, np.uint64)
            more_sums[:count], more_sets[:count] = sums[:count], sets[:count]
            sums, sets = more_sums, more_sets
            spare_sums, spare_sets = np.empty((room, k), np.int64), np.empty(room, np.uint64)
        bit = np.uint64(1) << np.uint64(p)
        if options[p] & 2:
            rest -= amounts[p]
        after = 0
        for inside in range(2):
            if not options[p] & (1 + inside):
                continue
            for i in range(count):
                fits = True
                for a in range(k):
                    total = sums[i, a] + inside * amounts[p, a]
                    spare_sums[after, a] = total
                    fits &= (total <= top[a]) & (total + rest[a] >= bottom[a])
                spare_sets[after] = sets[i] | bit if inside else sets[i]
                after += fits
        sums, spare_sums = spare_sums, sums
        sets, spare_sets = spare_sets, sets
        count = after
        if count > longest:
            return False, sums[:0], sets[:0]
    return True, sums[:count], sets[:count]


@kernel
def list_points(
    amounts: NDArray[Any], options: NDArray[Any], sums: NDArray[Any], sets: NDArray[Any]
) -> int:
    """All sums that small packages can make in a bin, where there is room for them.

    Those with a package that may be in it or not come after those without it, in the same order.

    Invariant: `sums[:count]` are all sums of the packages before p.
    """
    n, k = amounts.shape
    sums[0], sets[0] = 0, np.uint64(0)
    count = 1
    for p in range(n):
        if options[p] == 0:
            return 0
        if options[p] == 1:
            continue
        to = count if options[p] == 3 else 0
        for i in range(count):
            for a in range(k):
                sums[to + i, a] = sums[i, a] + amounts[p, a]
            sets[to + i] = sets[i] | (np.uint64(1) << np.uint64(p))
        count += to
    return count


@kernel
def sort_into_cells(
    sums: NDArray[Any], least: NDArray[Any], shifts: NDArray[Any], shape: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Needs in the order of their cells by the first two amounts, and where each cell begins.

    Cells are as large as powers of 2.

    Invariant: (counting sort) `at[cell]` is where the next need of a cell goes; all needs before i
    are in their places.
    """
    rows, columns = shape
    starts = np.zeros(rows * columns + 1, np.int32)
    cells, order = np.empty(sums.shape[0], np.int32), np.empty(sums.shape[0], np.int32)
    for i in range(sums.shape[0]):
        row, column = (sums[i, 0] - least[0]) >> shifts[0], (sums[i, 1] - least[1]) >> shifts[1]
        cells[i] = row * columns + column
        starts[cells[i] + 1] += 1
    for cell in range(rows * columns):
        starts[cell + 1] += starts[cell]
    at = starts[:-1].copy()
    for i in range(sums.shape[0]):
        order[at[cells[i]]] = i
        at[cells[i]] += 1
    return order, starts


@kernel
def count_matches(
    need_sums: NDArray[Any],
    need_sets: NDArray[Any],
    starts: NDArray[Any],
    least: NDArray[Any],
    shifts: NDArray[Any],
    shape: NDArray[Any],
    large: Any,
    small: NDArray[Any],
    states: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    weights: NDArray[Any],
    amounts: NDArray[Any],
    options: NDArray[Any],
    ways: NDArray[Any],
    in_large: NDArray[Any],
    in_small: NDArray[Any],
    first: NDArray[Any],
    proved: NDArray[Any],
    witness_states: NDArray[Any],
    witnesses: NDArray[Any],
    witness_count: NDArray[Any],
    most_looks: int,
) -> int:
    """Count the pairs of a need and a point that meets it, for each of the states that share needs.

    They have the same large packages, and each its own small ones, as words; amounts and options
    are of the small ones, low and high of the bin. Enters ways and a first pair by state; how many
    allocations have each large and each small package in the bin, where a state counts as often as
    it weighs; and pairs that have each package in the bin, and elsewhere, wherever any has. Says
    how many needs were looked at, or -1 if it takes more than at most.

    Invariant: `ways`, `in_small` and `first` are final for all states before s, and `by_need` is of
    these states and of the points before i. `proved` are the packages that a kept pair has in the
    bin and elsewhere: large in, large out, small in, small out.
    """
    k = amounts.shape[1]
    rows, columns = shape
    most_points = 1 << amounts.shape[0]
    sums, sets = np.empty((most_points, k), np.int64), np.empty(most_points, np.uint64)
    by_point, by_need = np.empty(most_points, np.int64), np.zeros(len(need_sets), np.int64)
    looks = 0
    for s in range(len(states)):
        count = list_points(amounts, options[s], sums, sets)
        for i in range(count):
            from_lead, to_lead = low[s, 0] - sums[i, 0], high[s, 0] - sums[i, 0]
            from_other, to_other = low[s, 1] - sums[i, 1], high[s, 1] - sums[i, 1]
            row = max((from_lead - least[0]) >> shifts[0], 0)
            last_row = min((to_lead - least[0]) >> shifts[0], rows - 1)
            column = max((from_other - least[1]) >> shifts[1], 0)
            last = min((to_other - least[1]) >> shifts[1], columns - 1)
            hits = 0
            while row <= last_row and column <= last:
                begin, end = starts[row * columns + column], starts[row * columns + last + 1]
                looks += end - begin
                row += 1
                for q in range(begin, end):
                    in_lead = (need_sums[q, 0] >= from_lead) & (need_sums[q, 0] <= to_lead)
                    in_other = (need_sums[q, 1] >= from_other) & (need_sums[q, 1] <= to_other)
                    if not in_lead & in_other:
                        continue
                    fits = True
                    for a in range(2, k):
                        total = need_sums[q, a] + sums[i, a]
                        fits &= (total >= low[s, a]) & (total <= high[s, a])
                    if not fits:
                        continue
                    if by_need[q] == 0 or hits == 0:
                        if ways[s] == 0 and hits == 0:
                            first[s, 0], first[s, 1] = need_sets[q], sets[i]
                        new = (need_sets[q] & ~proved[0]) | (large & ~need_sets[q] & ~proved[1])
                        new |= (sets[i] & ~proved[2]) | (small[s] & ~sets[i] & ~proved[3])
                        if new != 0:
                            proved[0] |= need_sets[q]
                            proved[1] |= large & ~need_sets[q]
                            proved[2] |= sets[i]
                            proved[3] |= small[s] & ~sets[i]
                            witness_states[witness_count[0]] = states[s]
                            witnesses[witness_count[0], 0], witnesses[witness_count[0], 1] = (
                                need_sets[q],
                                sets[i],
                            )
                            witness_count[0] += 1
                    by_need[q] += weights[s]
                    hits += 1
            ways[s] += hits
            by_point[i] = hits * weights[s]
            if looks > most_looks:
                return -1
        # The second half has the last package that may be there or not, and so on.
        for p in range(amounts.shape[0] - 1, -1, -1):
            if options[s, p] == 3:
                count //= 2
                for i in range(count):
                    in_small[p] += by_point[count + i]
                    by_point[i] += by_point[count + i]
        for p in range(amounts.shape[0]):
            if options[s, p] == 2 and count:
                in_small[p] += by_point[0]
    for q in range(len(need_sets)):
        if by_need[q]:
            for p in range(in_large.shape[0]):
                if need_sets[q] >> np.uint64(p) & np.uint64(1):
                    in_large[p] += by_need[q]
    return looks
