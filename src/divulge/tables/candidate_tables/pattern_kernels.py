"""Branch and bound over patterns as bitsets of 64 cells: does another one beat the released one?

Bit e of a pattern is cell e of a network (two arcs a cell, as in `network_kernels`), and cells
stand in the order by which ties are broken. A pattern is a signed 64-bit number used for its bits
alone.

`_search_better_pattern` decides whether some pattern beats a rival: it costs less, or as much and
comes first. Its invariant: every beating pattern has all cells of `included` and none of
`excluded`. Where a primary cell lacks protection, the cuts of its two flows name the cells that
can help, and at least one of them is needed; the branches are disjoint, so no pattern is met
twice.

Maximum flow stands here and in `network_kernels`. Here it is asked millions of times for one cell
of a small network of whole numbers: it reads bits, writes into arrays of its caller, and leaves
there what remains, which the cuts are found from. The other one, called for each cell, takes a
third to a half more time, and a kernel calls only kernels of its own file. A test holds both equal.
"""

from __future__ import annotations

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

LEXICOGRAPHIC, ANY_OPTIMUM, MINIMAL, RESISTING = 0, 1, 2, 3
"""Rules by which a candidate gives a pattern: the first optimum, some optimum, no cell to spare at
the width asked, no cell to spare at some greater width."""

EXCLUDED, POSSIBLE, SKIPPED, OPEN = 0, 1, 2, 3
"""What is known of a candidate: it gives another pattern, this one, cannot matter, undecided."""


SMALL_HELPER_SET = 7
"""A set of helpers that is taken at once: about a line of a small table."""


@kernel
def _max_flow(
    first: Array, arcs: Array, to: Array, values: Array, pattern: int, cell: int, falling: int,
    limit: int, residual: Array, came_by: Array, queue: Array,
) -> int:  # fmt: skip
    """Edmonds-Karp: how far a cell can rise (or fall) under a pattern, up to a limit.

    Afterwards, where the limit was not met, the nodes with `came_by` other than -1 are the cut.
    Invariant: `residual` is the capacity under the pattern less `flow`, and never negative.
    """
    nodes = first.size - 1
    for e in range(values.size):
        if (pattern >> e) & 1 and e != cell:
            residual[2 * e] = limit
            residual[2 * e + 1] = min(values[e], limit)
        else:
            residual[2 * e] = 0
            residual[2 * e + 1] = 0
    source, sink = to[2 * cell], to[2 * cell + 1]
    if falling:
        source, sink = sink, source
    flow = 0
    while flow < limit:
        for node in range(nodes):
            came_by[node] = -1
        came_by[source] = -2
        queue[0] = source
        head, tail = 0, 1
        while head < tail and came_by[sink] == -1:
            node = queue[head]
            head += 1
            for place in range(first[node], first[node + 1]):
                arc = arcs[place]
                if residual[arc] > 0 and came_by[to[arc]] == -1:
                    came_by[to[arc]] = arc
                    queue[tail] = to[arc]
                    tail += 1
        if came_by[sink] == -1:
            break
        most = limit - flow
        node = sink
        while node != source:
            arc = came_by[node]
            most = min(most, residual[arc])
            node = to[arc ^ 1]
        node = sink
        while node != source:
            arc = came_by[node]
            residual[arc] -= most
            residual[arc ^ 1] += most
            node = to[arc ^ 1]
        flow += most
    return flow


@kernel
def is_protecting(
    first: Array, arcs: Array, to: Array, values: Array, pattern: int, primary: int, width: int,
    residual: Array, came_by: Array, queue: Array,
) -> bool:  # fmt: skip
    """Whether a pattern holds all primary cells and makes each interval wide enough.

    Invariant: every primary cell before e can rise and fall by `width` in all.
    """
    if primary & ~pattern:
        return False
    for e in range(values.size):
        if (primary >> e) & 1:
            up = _max_flow(
                first, arcs, to, values, pattern, e, 0, width, residual, came_by, queue
            )  # fmt: skip
            lacking = width - up
            if lacking > values[e]:
                return False
            if lacking > 0 and lacking > _max_flow(
                first, arcs, to, values, pattern, e, 1, lacking, residual, came_by, queue
            ):
                return False
    return True


@kernel
def _find_reachable_nodes(
    first: Array, arcs: Array, to: Array, residual: Array, start: int, backwards: int, queue: Array
) -> int:  # fmt: skip
    """The nodes that something can still flow to (or from, backwards), as bits.

    Breadth-first search. Invariant: `reached` holds the nodes of `queue` up to `tail`, and all
    that neighbour on those before `head`.
    """
    reached = 1 << start
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for place in range(first[node], first[node + 1]):
            arc = arcs[place]
            if residual[arc ^ backwards] > 0 and (reached >> to[arc]) & 1 == 0:
                reached |= 1 << to[arc]
                queue[tail] = to[arc]
                tail += 1
    return reached


@kernel
def _add_cut_gains(
    to: Array, values: Array, shut: int, inside: int, width: int, gain: Array
) -> None:
    """Add what each cell would let through a cut: it may leave `inside`, raised or lowered.

    Invariant: the gains of all cells before e are whole, and cells of `shut` gain nothing.
    """
    for e in range(values.size):
        if (shut >> e) & 1 == 0:
            tail, head = (inside >> to[2 * e + 1]) & 1, (inside >> to[2 * e]) & 1
            if tail > head:
                gain[e] += width
            elif head > tail:
                gain[e] += min(values[e], width)


@kernel
def _measure_lacking_width(
    first: Array, arcs: Array, to: Array, values: Array, pattern: int, excluded: int, cell: int,
    width: int, gains: Array, residual: Array, came_by: Array, queue: Array,
) -> int:  # fmt: skip
    """How much width a primary cell lacks; `gains[0]` says how much each other cell could add.

    A flow has a cut near where it begins and one near where it ends. Rising begins where falling
    ends, so the two cuts at one end have their cells in common: the end with fewer helpers counts.
    Invariant: whatever is added to the pattern, the cell gains no more than the gains of it add up
    to, at either end.
    """
    up = _max_flow(first, arcs, to, values, pattern, cell, 0, width, residual, came_by, queue)
    if up >= width:
        return 0
    head, tail = to[2 * cell], to[2 * cell + 1]
    up_near_head = _find_reachable_nodes(first, arcs, to, residual, head, 0, queue)
    up_near_tail = ~_find_reachable_nodes(first, arcs, to, residual, tail, 1, queue)
    limit, down = min(width - up, values[cell]), 0
    if limit > 0:
        down = _max_flow(first, arcs, to, values, pattern, cell, 1, limit, residual, came_by, queue)
        if up + down >= width:
            return 0
    for e in range(values.size):
        gains[0, e] = 0
        gains[1, e] = 0
    shut = pattern | excluded
    _add_cut_gains(to, values, shut, up_near_head, width, gains[0])
    _add_cut_gains(to, values, shut, up_near_tail, width, gains[1])
    if down < limit:  # otherwise the cell itself is the bound, and nothing is gained
        down_near_tail = _find_reachable_nodes(first, arcs, to, residual, tail, 0, queue)
        down_near_head = ~_find_reachable_nodes(first, arcs, to, residual, head, 1, queue)
        _add_cut_gains(to, values, shut, down_near_head, width, gains[0])
        _add_cut_gains(to, values, shut, down_near_tail, width, gains[1])
    sizes = 0
    for e in range(values.size):
        sizes += (gains[0, e] > 0) * 1 - (gains[1, e] > 0) * 1
    if sizes > 0:
        for e in range(values.size):
            gains[0, e] = gains[1, e]
    return width - up - down


@kernel
def _is_before(pattern: int, rival: int) -> bool:
    """At the first cell where two patterns differ, the first one suppresses it."""
    difference = pattern ^ rival
    return (difference & -difference) & pattern != 0


@kernel
def _may_be_before(excluded: int, rival: int, cells: int) -> bool:
    """Some pattern without the excluded cells comes before the rival."""
    ahead = ~rival & ~excluded & cells
    behind = rival & excluded
    return ahead != 0 and ((ahead & -ahead) - 1) & behind == 0


@kernel
def _sum_weights(pattern: int, weights: Array) -> int:
    """What a pattern costs. Invariant: `total` is the cost of its cells before e."""
    total = 0
    for e in range(weights.size):
        if (pattern >> e) & 1:
            total += weights[e]
    return total


@kernel
def _examine_branch(
    first: Array, arcs: Array, to: Array, values: Array, primary: int, width: int,
    weights: Array, cells: int, rival: int, budget: int, included: int, excluded: int,
    weight: int, order: Array, gains: Array, residual: Array, came_by: Array, queue: Array,
) -> int:  # fmt: skip
    """Look at a branch: -1 nothing in it beats the rival, 0 `included` protects, or go on.

    To go on, one of so many cells is needed; they stand in `order`, the most helpful first. Any
    protecting pattern has a cell of every set of helpers, and the sets are disjoint: what their
    cheapest cells cost together is a bound. Invariant: every protecting pattern of the branch costs
    `bound` or more, and `pretended` is `included` with all helpers so far.
    """
    pretended, bound, branches = included, weight, 0
    gain, small = gains[2], SMALL_HELPER_SET
    while True:
        lacking, fewest = 0, 0
        for e in range(values.size):  # the smallest set first: the more sets find room
            if (primary >> e) & 1:
                cell_lacking = _measure_lacking_width(
                    first, arcs, to, values, pretended, excluded, e, width,
                    gains, residual, came_by, queue,
                )  # fmt: skip
                if cell_lacking > 0:
                    size = 0
                    for other in range(values.size):
                        size += (gains[0, other] > 0) * 1
                    if lacking == 0 or size < fewest:
                        lacking, fewest = cell_lacking, size
                        gain[:] = gains[0]
                    if size <= small:
                        break
        if lacking == 0:
            break
        helpers, size, remaining, used, needed = 0, 0, lacking, 0, 0
        for e in range(values.size):
            if gain[e] > 0:
                helpers |= 1 << e
                size += 1
        while remaining > 0:  # how many helpers are needed at the least: the strongest first
            strongest = -1
            for e in range(values.size):
                fresh = gain[e] > 0 and (used >> e) & 1 == 0
                if fresh and (strongest == -1 or gain[e] > gain[strongest]):
                    strongest = e
            if strongest == -1:
                return -1
            used |= 1 << strongest
            remaining -= gain[strongest]
            needed += 1
        used = 0
        for _ in range(needed):  # and what so many cost at the least
            cheapest = -1
            for e in range(values.size):
                fresh = gain[e] > 0 and (used >> e) & 1 == 0
                if fresh and (cheapest == -1 or weights[e] < weights[cheapest]):
                    cheapest = e
            used |= 1 << cheapest
            bound += weights[cheapest]
        if bound > budget:
            return -1
        if branches == 0 or size < branches:
            branches = 0
            for e in range(values.size):
                if gain[e] > 0:
                    place = branches
                    while place > 0 and gain[order[place - 1]] < gain[e]:
                        order[place] = order[place - 1]
                        place -= 1
                    order[place] = e
                    branches += 1
        pretended |= helpers
    if branches and bound == budget and not _may_be_before(excluded, rival, cells):
        return -1
    return branches


@kernel
def _search_better_pattern(
    first: Array, arcs: Array, to: Array, values: Array, primary: int, width: int,
    weights: Array, cells: int, rival: int, budget: int, skip: int, progress: Array,
    gains: Array, orders: Array, state: Array, residual: Array, came_by: Array, queue: Array,
) -> int:  # fmt: skip
    """Look for a beating pattern: 0 there is none, 1 it is `progress[1]`, 2 out of steps.

    Branch and bound, depth first. The first so many patterns are passed over (`skip`). `progress`
    holds the steps left, the last beating pattern, and how many there were. A row of `state` is a
    branch under way: included, excluded, weight, cells to try, cells tried. Invariant: every
    beating pattern that was not met yet is in a branch of rows 0 to `depth`, and in one only.
    """
    depth = 0
    state[0, 0], state[0, 1], state[0, 2] = primary, 0, _sum_weights(primary, weights)
    if state[0, 2] > budget:
        return 0
    entering = True
    while depth >= 0:
        included, weight = state[depth, 0], state[depth, 2]
        if entering:
            progress[0] -= 1
            if progress[0] < 0:
                return 2
            branches = _examine_branch(
                first, arcs, to, values, primary, width, weights, cells, rival, budget,
                included, state[depth, 1], weight, orders[depth], gains, residual, came_by, queue,
            )  # fmt: skip
            if branches == 0 and (weight < budget or _is_before(included, rival)):
                progress[1] = included
                progress[2] += 1
                if progress[2] > skip:
                    return 1
            state[depth, 3], state[depth, 4] = max(branches, 0), 0
        entering = False
        while state[depth, 4] < state[depth, 3] and not entering:
            e = orders[depth, state[depth, 4]]
            state[depth, 4] += 1
            if weight + weights[e] <= budget:
                state[depth + 1, 0] = included | (1 << e)
                state[depth + 1, 1] = state[depth, 1]
                state[depth + 1, 2] = weight + weights[e]
                entering = True
            state[depth, 1] |= 1 << e
        depth += 1 if entering else -1
    return 0


@kernel
def search_first_optimum(
    first: Array, arcs: Array, to: Array, values: Array, primary: int, width: int,
    weights: Array, cells: int, start: int, steps: int,
) -> tuple[int, int]:  # fmt: skip
    """The lexicographic optimum: the first of the cheapest protecting patterns; (status, pattern).

    It begins at `start`, a protecting pattern. Status 0: proven; 2: out of steps. Invariant: `best`
    protects, and beats every pattern that it was before.
    """
    size, nodes = values.size, first.size - 1
    gains, residual = np.zeros((3, size), np.int64), np.zeros(2 * size, np.int64)
    came_by, queue = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    orders, state = np.zeros((size + 1, size), np.int64), np.zeros((size + 2, 5), np.int64)
    progress = np.array([steps, 0, 0])
    best = start
    while True:
        progress[2] = 0
        outcome = _search_better_pattern(
            first, arcs, to, values, primary, width, weights, cells, best,
            _sum_weights(best, weights), 0, progress,
            gains, orders, state, residual, came_by, queue,
        )  # fmt: skip
        if outcome != 1:
            return outcome, best
        best = progress[1]


@kernel
def search_all_optima(
    first: Array, arcs: Array, to: Array, values: Array, primary: int, width: int,
    weights: Array, cells: int, best: int, skip: int, steps: int,
) -> tuple[int, int]:  # fmt: skip
    """Of the patterns that cost as little as an optimal one: the one after `skip` others.

    Gives how many were met and the last of them: a large `skip` counts all. -1 if out of steps.
    The search keeps the invariant: every pattern comes before the rival 0, so none is left out.
    """
    size, nodes = values.size, first.size - 1
    gains, residual = np.zeros((3, size), np.int64), np.zeros(2 * size, np.int64)
    came_by, queue = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    orders, state = np.zeros((size + 1, size), np.int64), np.zeros((size + 2, 5), np.int64)
    progress = np.array([steps, 0, 0])
    outcome = _search_better_pattern(
        first, arcs, to, values, primary, width, weights, cells, 0, _sum_weights(best, weights),
        skip, progress, gains, orders, state, residual, came_by, queue,
    )  # fmt: skip
    return -1 if outcome == 2 else progress[2], progress[1]


@kernel
def _is_minimal(
    first: Array, arcs: Array, to: Array, values: Array, pattern: int, primary: int, width: int,
    residual: Array, came_by: Array, queue: Array,
) -> bool:  # fmt: skip
    """No single cell can be spared (and so no set of cells: more suppressed cells protect more).

    Invariant: no cell before e that is not primary can be spared.
    """
    for e in range(values.size):
        if ((pattern & ~primary) >> e) & 1 and is_protecting(
            first, arcs, to, values, pattern & ~(1 << e), primary, width, residual, came_by, queue
        ):
            return False
    return True


@kernel
def try_candidates(
    first: Array, arcs: Array, to: Array, values: Array, weights: Array, by_value: int,
    cells: int, released: int, places: Array, candidates: Array, threshold: int, zeros: int,
    width: int, widths: Array, wide: int, needed: int, labels: int, labelled: int, rule: int,
    intervals: int, steps: int, status: Array, box: Array, pool: Array, pooled: int,
) -> tuple[int, int]:  # fmt: skip
    """Which candidates give the released pattern; how many patterns the pool then holds, and steps.

    `widths` are those of the suppressed cells by the sums alone. Cells of `wide` may be primary
    (their interval is wide enough), those of `needed` must be. `values` and `weights` are written
    to at the `places` of the suppressed cells. `box` holds the least and the greatest value of
    each suppressed cell among possible candidates so far; with `intervals`, a candidate inside it
    is skipped. The pool holds patterns that beat the released one for some candidate, the last
    successful first. Invariant: the candidates before c have their status, and `box` is the hull
    of those that are possible.
    """
    size, nodes, hidden = values.size, first.size - 1, places.size
    gains, residual = np.zeros((3, size), np.int64), np.zeros(2 * size, np.int64)
    came_by, queue = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    orders, state = np.zeros((size + 1, size), np.int64), np.zeros((size + 2, 5), np.int64)
    progress = np.zeros(3, np.int64)
    steps_done = 0
    for c in range(candidates.shape[0]):
        steps_done += 1
        inside, primary, least = intervals * (hidden > 0), 0, 1 << 60
        for k in range(hidden):
            x = candidates[c, k]
            values[places[k]] = x
            if by_value:
                weights[places[k]] = max(x, 1)
            if x < box[0, k] or x > box[1, k]:
                inside = 0
            if x < threshold and (zeros or x > 0):
                primary |= 1 << places[k]
                least = min(least, widths[k])
        if inside:
            status[c] = SKIPPED
            continue
        status[c] = EXCLUDED
        # The widths under the released pattern are the same for every candidate.
        if primary & ~wide or needed & ~primary or (primary == 0 and released != 0):
            continue
        if labelled and primary != labels:
            continue
        if rule >= MINIMAL:
            # If no cell can be spared at some width, then none at the greatest that it gives.
            at = least if rule == RESISTING and primary else width
            if not _is_minimal(
                first, arcs, to, values, released, primary, at, residual, came_by, queue
            ):
                continue
        else:
            # Any optimum will do: only cheaper patterns beat it. Every pattern comes before none.
            budget = _sum_weights(released, weights)
            rival = released
            if rule == ANY_OPTIMUM:
                rival = 0
                budget -= 1
            beaten = False
            for k in range(pooled):
                pattern = pool[k]
                if primary & ~pattern:
                    continue
                weight = _sum_weights(pattern, weights)
                if weight > budget or (weight == budget and not _is_before(pattern, rival)):
                    continue
                steps_done += 1
                if is_protecting(
                    first, arcs, to, values, pattern, primary, width, residual, came_by, queue
                ):
                    for place in range(k, 0, -1):
                        pool[place] = pool[place - 1]
                    pool[0] = pattern
                    beaten = True
                    break
            if beaten:
                continue
            progress[0], progress[2] = steps, 0
            outcome = _search_better_pattern(
                first, arcs, to, values, primary, width, weights, cells, rival, budget,
                0, progress, gains, orders, state, residual, came_by, queue,
            )  # fmt: skip
            steps_done += steps - progress[0]
            if outcome == 1:
                last = min(pooled, pool.size - 1)
                for place in range(last, 0, -1):
                    pool[place] = pool[place - 1]
                pool[0] = progress[1]
                pooled = last + 1
                continue
            if outcome == 2:
                status[c] = OPEN
                continue
        status[c] = POSSIBLE
        for k in range(hidden):
            box[0, k] = min(box[0, k], candidates[c, k])
            box[1, k] = max(box[1, k], candidates[c, k])
    return pooled, steps_done


@kernel
def count_draws(
    first: Array, arcs: Array, to: Array, values: Array, cells: int, released: int,
    places: Array, candidates: Array, threshold: int, zeros: int, widths: Array,
    drawn_widths: Array, drawn_costs: Array, steps: int,
) -> Array:  # fmt: skip
    """For every candidate, under how many draws its optimum is the released pattern.

    A draw is a width and costs. `widths` are those of the suppressed cells by the sums alone.
    `values` is written to at the places of the suppressed cells; -1 where steps ran out.
    Invariant: `counts[c]` counts the draws before `draw`.
    """
    size, nodes = values.size, first.size - 1
    gains, residual = np.zeros((3, size), np.int64), np.zeros(2 * size, np.int64)
    came_by, queue = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    orders, state = np.zeros((size + 1, size), np.int64), np.zeros((size + 2, 5), np.int64)
    progress = np.zeros(3, np.int64)
    counts = np.zeros(candidates.shape[0], np.int64)
    for c in range(candidates.shape[0]):
        primary, least = 0, 1 << 60
        for k in range(places.size):
            x = candidates[c, k]
            values[places[k]] = x
            if x < threshold and (zeros or x > 0):
                primary |= 1 << places[k]
                least = min(least, widths[k])
        for draw in range(drawn_costs.shape[0]):
            if drawn_widths[draw] > least:
                continue
            progress[0], progress[2] = steps, 0
            outcome = _search_better_pattern(
                first, arcs, to, values, primary, drawn_widths[draw], drawn_costs[draw], cells,
                released, _sum_weights(released, drawn_costs[draw]), 0, progress,
                gains, orders, state, residual, came_by, queue,
            )  # fmt: skip
            if outcome == 2:
                counts[c] = -1
                break
            if outcome == 0:
                counts[c] += 1
    return counts
