"""Loops that compare units pair by pair: windows of a sort, neighbours of neighbours, a bound.

A distance is what the nodes cost that two units have in common; arrays are those of `NodeTrees`. It
is measured in each loop itself, up to where it is too far: a call takes longer than most of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

if TYPE_CHECKING:
    from divulge.protection.recoding.local.node_trees import NodeTrees


@kernel
def climb_together(trees: NodeTrees, one: int, other: int) -> float:
    """What the lowest common ancestor of two leaves of a wide attribute costs, by their places.

    Invariant: `x` and `y` are of one level, and at or below their ancestor.
    """
    x, y = one, other
    while x != y:
        x, y = trees.parents[x], trees.parents[y]
    return float(trees.prices[x])


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
    leaves, leaf_nodes, join_prices = trees.leaves, trees.leaf_nodes, trees.join_prices
    attributes = leaves.shape[1]
    last = neighbours.shape[1] - 1
    for place in range(begin, end):
        one = order[place]
        for far in range(place + 1, min(order.size, place + 1 + window)):
            other = order[far]
            cutoff = max(distances[one, last], distances[other, last])
            distance = 0.0
            for a in range(attributes):
                node = leaf_nodes[one, a]
                if node >= 0:
                    distance += join_prices[node + leaves[other, a]]
                else:
                    distance += climb_together(trees, -1 - node, -1 - leaf_nodes[other, a])
                if distance >= cutoff:
                    break
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
    leaves, leaf_nodes, join_prices = trees.leaves, trees.leaf_nodes, trees.join_prices
    attributes = leaves.shape[1]
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
                distance = 0.0
                for a in range(attributes):
                    node = leaf_nodes[u, a]
                    if node >= 0:
                        distance += join_prices[node + leaves[v, a]]
                    else:
                        distance += climb_together(trees, -1 - node, -1 - leaf_nodes[v, a])
                    if distance >= cutoff:
                        break
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
    near = np.empty(least + 1, np.float64)
    room = np.empty(least + 1, np.int64)
    leaves, leaf_nodes, join_prices = trees.leaves, trees.leaf_nodes, trees.join_prices
    attributes = leaves.shape[1]
    own = np.empty(attributes, np.int64)
    for u in range(begin, end):
        for a in range(attributes):
            own[a] = leaf_nodes[u, a]
        costs[u] = 0.0
        for a in range(attributes):
            if own[a] >= 0:
                costs[u] += join_prices[own[a] + leaves[u, a]]
            else:
                costs[u] += trees.prices[-1 - own[a]]
        if counts[u] >= least:
            continue
        found = 0
        total = counts[u]
        # Units of near numbers have most in common: who is compared first makes the others short.
        for turn in range(2 * counts.size):
            v = u + turn // 2 + 1 if turn % 2 == 0 else u - turn // 2 - 1
            if v < 0 or v >= counts.size or counts[v] == 0:
                continue
            cutoff = near[found - 1] if total >= least else np.inf
            distance = 0.0
            for a in range(attributes):
                if own[a] >= 0:
                    distance += join_prices[own[a] + leaves[v, a]]
                else:
                    distance += climb_together(trees, -1 - own[a], -1 - leaf_nodes[v, a])
                if distance >= cutoff:
                    break
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
