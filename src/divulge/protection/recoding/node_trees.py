"""Hierarchies as trees of numbered nodes: what two nodes have in common, and what it costs.

Nodes of an attribute are numbered over all its levels, its leaves first; what has nothing in common
meets in a last one that is too dear for anybody. Where attributes are narrow, the lowest common
ancestor of a node and a leaf is looked up in a table; where they are wide, both climb.

A cell costs the price of its node less something that only its own code decides (nothing, but for
entropy), so classes are compared by the prices of their nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from divulge.protection import tuning
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.work.arrays import Array, Floats, Ints


class NodeTrees(NamedTuple):
    """The trees of all attributes, for compiled loops; flat arrays begin at `starts` of each."""

    leaves: Array
    """Units x attributes: the leaf of each unit."""
    starts: Ints
    """By attribute, where its nodes begin in the flat arrays of nodes."""
    levels: Array
    """Flat: the level of each node; above all, for what has nothing in common."""
    parents: Array
    """Flat: the node above each."""
    prices: Array
    """Flat: what a node costs one record, where all attributes at their tops cost 1."""
    table_starts: Ints
    """By attribute, where its joins begin in the flat arrays of joins; -1 where both climb."""
    widths: Ints
    """By attribute, how many leaves it has."""
    joins: Array
    """Flat, node x leaf: their lowest common ancestor."""
    join_prices: Array
    """Flat, node x leaf: what that costs."""


def build_node_trees(lattice: GeneralisationLattice) -> NodeTrees:
    """The trees of a lattice's attributes."""
    levels, parents, prices, joins = [], [], [], []
    starts, table_starts, widths = [], [], []
    room = tuning.JOIN_TABLE_ENTRIES
    node_place = table_place = 0
    for a, height in enumerate(lattice.heights):
        tree = _build_tree(lattice, a, height)
        width, size = int(lattice.node_counts[a, 0]), tree.levels.size
        starts.append(node_place)
        widths.append(width)
        levels.append(tree.levels)
        parents.append(tree.parents)
        prices.append(tree.prices)
        node_place += size
        if width * size <= room:
            room -= width * size
            table_starts.append(table_place)
            table_place += width * size
            table = _join_with_leaves(tree, width)
            joins.append((table.reshape(-1), tree.prices[table.reshape(-1)]))
        else:
            table_starts.append(-1)
    leaves = np.stack(
        [
            lattice.nodes[lattice.offsets[a, 0] + lattice.codes[a]]
            for a in range(len(lattice.heights))
        ],
        axis=1,
    )
    return NodeTrees(
        leaves=np.ascontiguousarray(leaves, np.int32),
        starts=np.array(starts, np.int64),
        levels=np.concatenate(levels),
        parents=np.concatenate(parents),
        prices=np.concatenate(prices).astype(np.float32),
        table_starts=np.array(table_starts, np.int64),
        widths=np.array(widths, np.int64),
        joins=np.concatenate([np.empty(0, np.int32), *(table for table, _ in joins)]),
        join_prices=np.concatenate([np.empty(0), *(each for _, each in joins)]).astype(np.float32),
    )


class _Tree(NamedTuple):
    levels: Array
    parents: Array
    prices: Floats


def _build_tree(lattice: GeneralisationLattice, a: int, height: int) -> _Tree:
    codes = int(lattice.code_counts[a])
    by_level = [
        slice(int(lattice.offsets[a, level]), int(lattice.offsets[a, level]) + codes)
        for level in range(height + 1)
    ]
    first = np.cumsum([0, *lattice.node_counts[a, : height + 1]])
    size = int(first[-1]) + 1
    levels = np.full(size, height + 1, np.int8)
    parents = np.full(size, size - 1, np.int32)
    prices = np.full(size, tuning.PRICE_OF_NOTHING_COMMON)
    tops, top_costs = lattice.nodes[by_level[height]], lattice.costs[by_level[height]]
    dearest = np.zeros(int(lattice.node_counts[a, height]))
    np.maximum.at(dearest, tops, top_costs)
    own_share = dearest[tops] - top_costs  # what only the code decides
    for level in range(height + 1):
        nodes = lattice.nodes[by_level[level]] + first[level]
        levels[nodes] = level
        prices[nodes] = (lattice.costs[by_level[level]] + own_share) * lattice.records
        if level < height:
            parents[nodes] = lattice.nodes[by_level[level + 1]] + first[level + 1]
    return _Tree(levels, parents, prices)


def _join_with_leaves(tree: _Tree, width: int) -> Array:
    """Nodes x leaves: the lowest common ancestor of each pair."""
    joins = np.empty((tree.levels.size, width), np.int32)
    climbing = np.arange(width, dtype=np.int32)
    waiting = np.ones(joins.shape, np.bool_)
    # A leaf climbs level by level; a node above it is met on the way, any other climbs too.
    meeting = np.repeat(np.arange(tree.levels.size, dtype=np.int32)[:, None], width, axis=1)
    for level in range(int(tree.levels.max()) + 1):
        below = waiting & (tree.levels[meeting] < level)
        meeting[below] = tree.parents[meeting[below]]
        met = waiting & (meeting == climbing)
        joins[met] = meeting[met]
        waiting &= ~met
        climbing = tree.parents[climbing]
    return joins
