"""Loops that compare units pair by pair: windows of a sort, neighbours of neighbours, a bound.

A distance is what the nodes cost that two units have in common; arrays are those of `NodeTrees`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

if TYPE_CHECKING:
    from divulge.protection.recoding.node_trees import NodeTrees


@kernel
def measure_distance(trees: NodeTrees, one: int, other: int, cutoff: float) -> float:
    """What two units cost a record if they show the same, or anything from `cutoff` on.

    Invariant: `total` is right for the attributes before a.
    """
    total = np.float32(0.0)
    leaf_nodes, leaves, join_prices = trees.leaf_nodes, trees.leaves, trees.join_prices
    for a in range(leaves.shape[1]):
        node = leaf_nodes[one, a]
        if node >= 0:
            total += join_prices[node + leaves[other, a]]
        else:
            x, y = -1 - node, -1 - leaf_nodes[other, a]
            while x != y:
                x, y = trees.parents[x], trees.parents[y]
            total += trees.prices[x]
        if total >= cutoff:
            break
    return float(total)


@kernel
def keep_neighbour(
    neighbours: Array, distances: Array, unit: int, other: int, distance: float
) -> bool:
    """Put a unit among another's nearest, if it is near enough and not there yet.

    Invariant: a row of `distances` rises, and -1 in `neighbours` stands at its end.
    """
    last = neighbours.shape[1] - 1
    if distance >= distances[unit, last]:
        return False
    for place in range(last + 1):
        if neighbours[unit, place] == other:
            return False
    place = last
    while place > 0 and distances[unit, place - 1] > distance:
        distances[unit, place] = distances[unit, place - 1]
        neighbours[unit, place] = neighbours[unit, place - 1]
        place -= 1
    distances[unit, place] = distance
    neighbours[unit, place] = other
    return True


@kernel
def compare_windows(
    trees: NodeTrees,
    order: Array,
    window: int,
    begin: int,
    end: int,
    neighbours: Array,
    distances: Array,
) -> None:
    """Compare each unit with those that follow it in an order, for places `begin` to `end` of it.

    Invariant: all pairs of the window whose first is before `place` are compared.
    """
    last = neighbours.shape[1] - 1
    for place in range(begin, end):
        one = order[place]
        for far in range(place + 1, min(order.size, place + 1 + window)):
            other = order[far]
            cutoff = max(distances[one, last], distances[other, last])
            distance = measure_distance(trees, one, other, cutoff)
            if distance < cutoff:
                keep_neighbour(neighbours, distances, one, other, distance)
                keep_neighbour(neighbours, distances, other, one, distance)


@kernel
def compare_neighbours_of_neighbours(
    trees: NodeTrees, units: Array, seen: Array, neighbours: Array, distances: Array
) -> int:
    """Compare units with the neighbours of their neighbours; return how many pairs were compared.

    Invariant: `seen[v]` is u where v was compared with u.
    """
    compared = 0
    size = neighbours.shape[1]
    for i in range(units.size):
        u = units[i]
        seen[u] = u
        for place in range(size):
            if neighbours[u, place] >= 0:
                seen[neighbours[u, place]] = u
        for place in range(size):
            near = neighbours[u, place]
            if near < 0:
                break
            for far in range(size):
                v = neighbours[near, far]
                if v < 0:
                    break
                if seen[v] == u:
                    continue
                seen[v] = u
                compared += 1
                cutoff = max(distances[u, size - 1], distances[v, size - 1])
                distance = measure_distance(trees, u, v, cutoff)
                if distance < cutoff:
                    keep_neighbour(neighbours, distances, u, v, distance)
                    keep_neighbour(neighbours, distances, v, u, distance)
    return compared


@kernel
def find_least_costs(
    trees: NodeTrees, counts: Array, least: int, begin: int, end: int, costs: Array
) -> None:
    """What a record of each unit costs at least: the distance of the other that makes it enough.

    Invariant: `near` holds the nearest units so far, by rising distance, until they are enough.
    """
    near = np.empty(least + 1, np.float32)
    room = np.empty(least + 1, np.int64)
    for u in range(begin, end):
        costs[u] = measure_distance(trees, u, u, np.inf)
        if counts[u] >= least:
            continue
        found = 0
        total = counts[u]
        for v in range(counts.size):
            if v == u or counts[v] == 0:
                continue
            cutoff = near[found - 1] if total >= least else np.inf
            distance = measure_distance(trees, u, v, cutoff)
            if distance >= cutoff:
                continue
            place = found
            while place > 0 and near[place - 1] > distance:
                near[place], room[place] = near[place - 1], room[place - 1]
                place -= 1
            near[place], room[place] = distance, counts[v]
            found += 1
            total += counts[v]
            while total - room[found - 1] >= least:
                found -= 1
                total -= room[found]
        costs[u] = near[found - 1] if total >= least else np.inf
