"""Integer points by backtracking, or a Markov chain (hit and run): tables that keep all sums.

Cells are decided in order. `of_cell` lists the sums that a cell stands in (sum, sign); what is
left of each sum must lie between what the later cells can add at the least and at the most, so
few values lead nowhere.
"""

from __future__ import annotations

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array


@kernel
def list_points(
    starts: Array, of_cell: Array, signs: Array, later: Array, low: Array, high: Array,
    rest: Array, most: int, steps: int, points: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Count points, and write them to `points` as far as it reaches; (how many, whether all).

    Backtracking. Stops after `most` points or `steps` values tried. `later` holds, for every entry
    of `of_cell`, the least and the most that the later cells of the sum add. Invariant: `remaining`
    is `rest` less what the cells that have a value add to each sum.
    """
    cells = low.size
    value, last = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    remaining = rest.copy()
    count, k, entering = 0, 0, True
    while k >= 0:
        if entering:
            least, greatest = low[k], high[k]
            for entry in range(starts[k], starts[k + 1]):
                lower = remaining[of_cell[entry]] - later[entry, 1]
                upper = remaining[of_cell[entry]] - later[entry, 0]
                if signs[entry] < 0:
                    lower, upper = -upper, -lower
                least, greatest = max(least, lower), min(greatest, upper)
            value[k], last[k] = least, greatest
            for entry in range(starts[k], starts[k + 1]):
                remaining[of_cell[entry]] -= signs[entry] * least
        else:
            value[k] += 1
            for entry in range(starts[k], starts[k + 1]):
                remaining[of_cell[entry]] -= signs[entry]
        steps -= 1
        if steps < 0:
            return count, False
        if value[k] > last[k]:
            for entry in range(starts[k], starts[k + 1]):
                remaining[of_cell[entry]] += signs[entry] * value[k]
            k -= 1
            entering = False
        elif k == cells - 1:
            if count == most:
                return count, False
            if count < points.shape[0]:
                for cell in range(cells):
                    points[count, cell] = value[cell]
            count += 1
            entering = False
        else:
            k += 1
            entering = True
    return count, True


@kernel
def walk_points(
    first: Array, arcs: Array, to: Array, start: Array, points: Array, between: int, seed: int
) -> None:
    """Visit points of a network at random, all equally likely in the long run.

    Hit and run: a random simple cycle does not depend on the point, and the next point is any on
    the line through the present one along it, so the walk is reversible. Simple cycles join all
    points. Invariant: `value` keeps all sums, and no cell of it is below 0.
    """
    np.random.seed(seed)  # noqa: NPY002  # numba's own generator, which no one else sees
    nodes, cells = first.size - 1, start.size
    value = start.copy()
    came_by, path = np.zeros(nodes, np.int64), np.zeros(nodes + 1, np.int64)
    for row in range(points.shape[0]):
        for _ in range(between):
            came_by[:] = -1
            node = to[np.random.randint(2 * cells)]  # noqa: NPY002
            length, previous, cycle_start = 0, -1, -1
            while True:
                came_by[node] = length
                degree = first[node + 1] - first[node]
                if degree == 1 and previous != -1:
                    break
                arc = arcs[first[node] + np.random.randint(degree)]  # noqa: NPY002
                if previous != -1 and arc >> 1 == previous:
                    continue
                path[length] = arc
                length += 1
                previous = arc >> 1
                node = to[arc]
                if came_by[node] != -1:
                    cycle_start = came_by[node]
                    break
            if cycle_start == -1:
                continue
            # Arc 2e raises cell e, arc 2e+1 lowers it: how far may we go, forth and back?
            forth, back = np.int64(2**60), np.int64(2**60)
            for place in range(cycle_start, length):
                if path[place] & 1:
                    forth = min(forth, value[path[place] >> 1])
                else:
                    back = min(back, value[path[place] >> 1])
            shift = np.random.randint(-back, forth + 1)  # noqa: NPY002
            for place in range(cycle_start, length):
                value[path[place] >> 1] += -shift if path[place] & 1 else shift
        for cell in range(cells):
            points[row, cell] = value[cell]
