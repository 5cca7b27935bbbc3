"""Edmonds-Karp max flow, successive cheapest paths (Dijkstra): how far a cell can move, and how.

A network has two arcs a cell: arc 2e raises cell e and leads from its tail to its head, arc 2e+1
lowers it and leads back. `first` and `arcs` list the arcs that leave each node, `to` says where
an arc leads. What keeps all sums is a circulation, so a cell can rise by as much as flows from
its head back to its tail through the others. Plain Python over arrays: small tables run it as it
stands, large ones through numba. No kernel writes to its arguments or calls another function.

Maximum flow stands here and in `pattern_kernels`. Here it serves networks of any size, whole and
floating capacities, many cells a call, and runs without numba; the other one is for patterns of at
most 64 cells as bits, where it is the innermost loop. A test holds both equal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Up to here (asked cells times arcs) a plain loop takes less than loading numba.
WORTH_COMPILING = 15_000
# Once numba is there, calling it costs next to nothing.
WORTH_CALLING = 1_000


def run_kernel(kernel: Callable[..., Any], work: int, *arguments: Any) -> Any:
    """Run a kernel on arrays, compiled if there is enough work."""
    if work <= (WORTH_CALLING if "numba" in sys.modules else WORTH_COMPILING):
        return kernel(*arguments)
    from divulge.qif.kernels import compiled

    return compiled(kernel)(*arguments)


def max_flows(  # one loop for numba, which compiles no nest of ours
    first: NDArray[Any],
    arcs: NDArray[Any],
    to: NDArray[Any],
    capacity: NDArray[Any],
    targets: NDArray[Any],
    falling: NDArray[Any],
    limit: NDArray[Any],
    tiny: Any,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give, for every asked cell, how far it can rise (or fall), up to a limit.

    Edmonds-Karp: shortest augmenting paths, by breadth-first search. The second array marks the
    nodes that are still reached when nothing more flows: they are the cut that bounds the flow
    (empty where the limit was met). Invariant: `residual` is the capacity less a circulation that
    carries `flow` of the cell, and never negative.

    >>> first, arcs = np.array([0, 2, 4]), np.array([0, 2, 1, 3])  # two cells between two nodes
    >>> to, capacity = np.array([1, 0, 1, 0]), np.array([9, 3, 9, 5])
    >>> asked, falling, limit = np.array([0]), np.array([0]), np.array([99])
    >>> max_flows(first, arcs, to, capacity, asked, falling, limit, 0)[0].tolist()
    [5]
    """
    nodes = first.size - 1
    flow_amounts = np.zeros(targets.size, capacity.dtype)
    reached = np.zeros((targets.size, nodes), np.uint8)
    came_by = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    for k in range(targets.size):
        residual = capacity.copy()
        cell = targets[k]
        residual[2 * cell] = 0
        residual[2 * cell + 1] = 0
        source, sink = to[2 * cell], to[2 * cell + 1]
        if falling[k]:
            source, sink = sink, source
        flow = flow_amounts[k]
        while flow < limit[k]:
            came_by[:] = -1
            came_by[source] = -2
            queue[0] = source
            head, tail = 0, 1
            while head < tail and came_by[sink] == -1:
                node = queue[head]
                head += 1
                for place in range(first[node], first[node + 1]):
                    arc = arcs[place]
                    neighbour = to[arc]
                    if came_by[neighbour] == -1 and residual[arc] > tiny:
                        came_by[neighbour] = arc
                        queue[tail] = neighbour
                        tail += 1
            if came_by[sink] == -1:
                for node in range(nodes):
                    reached[k, node] = came_by[node] != -1
                break
            most = limit[k] - flow
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
        flow_amounts[k] = flow
    return flow_amounts, reached


def cheapest_cycles(  # one loop for numba
    first: NDArray[Any],
    arcs: NDArray[Any],
    to: NDArray[Any],
    capacity: NDArray[Any],
    cost: NDArray[Any],
    suppressed: NDArray[Any],
    cell: int,
    falling: int,
    amount: int,
) -> tuple[int, NDArray[Any]]:
    """Let a cell rise (or fall) by an amount through cells that are cheap to suppress.

    Successive cheapest paths, each by Dijkstra's algorithm: a cell that is chosen already, or that
    an earlier path used, is free. Gives how far the cell moves, and the cells chosen then.
    Invariant: the cells of `pattern` alone let the cell move by `movement`.

    >>> first, arcs = np.array([0, 2, 4]), np.array([0, 2, 1, 3])
    >>> to, capacity = np.array([1, 0, 1, 0]), np.array([9, 3, 9, 5])
    >>> moved, chosen = cheapest_cycles(
    ...     first, arcs, to, capacity, np.array([1, 1]), np.array([True, False]), 0, 0, 4)
    >>> moved, chosen.tolist()
    (4, [True, True])
    """
    nodes = first.size - 1
    residual = capacity.copy()
    pattern = suppressed.copy()
    residual[2 * cell] = 0
    residual[2 * cell + 1] = 0
    source, sink = to[2 * cell], to[2 * cell + 1]
    if falling:
        source, sink = sink, source
    movement = 0
    while movement < amount:
        distance = np.full(nodes, np.inf)
        hops = np.zeros(nodes, np.int64)
        is_settled = np.zeros(nodes, np.uint8)
        came_by = np.full(nodes, -1)
        distance[source] = 0.0
        while True:
            node = -1
            for other in range(nodes):
                if is_settled[other] == 0 and distance[other] < np.inf:
                    nearer = node == -1 or distance[other] < distance[node]
                    if nearer or (distance[other] == distance[node] and hops[other] < hops[node]):
                        node = other
            if node == -1 or node == sink:
                break
            is_settled[node] = 1
            for place in range(first[node], first[node + 1]):
                arc = arcs[place]
                if residual[arc] <= 0:
                    continue
                neighbour = to[arc]
                # An arc that carries little needs company: its cost counts for what it carries.
                length = 0.0
                if not pattern[arc >> 1]:
                    arc_cost = float(cost[arc >> 1])  # whole numbers of two amounts would overflow
                    length = arc_cost * (amount - movement) / min(amount - movement, residual[arc])
                new_distance = distance[node] + length
                if new_distance < distance[neighbour] or (
                    new_distance == distance[neighbour]
                    and hops[node] + 1 < hops[neighbour]
                    and is_settled[neighbour] == 0
                ):
                    distance[neighbour] = new_distance
                    hops[neighbour] = hops[node] + 1
                    came_by[neighbour] = arc
        if distance[sink] == np.inf:
            break
        most = amount - movement
        node = sink
        while node != source:
            arc = came_by[node]
            most = min(most, residual[arc])
            node = to[arc ^ 1]
        node = sink
        while node != source:
            arc = came_by[node]
            pattern[arc >> 1] = True
            residual[arc] -= most
            residual[arc ^ 1] += most
            node = to[arc ^ 1]
        movement += most
    return movement, pattern
