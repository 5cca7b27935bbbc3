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
    """The trees of all attributes, for compiled loops.

    A node is written as the place where its row of joins begins, or, of a wide attribute, as a
    number below zero: -1 less its place in the flat arrays of nodes.
    """

    leaves: Array
    """Units x attributes: the leaf of each unit."""
    leaf_nodes: Array
    """Units x attributes: the same leaf as a node."""
    joins: Array
    """Flat, node x leaf: their lowest common ancestor."""
    join_prices: Array
    """Flat, node x leaf: what that costs one record, where all attributes at their tops cost 1."""
    starts: Ints
    """By attribute, where its nodes begin in the flat arrays of nodes."""
    levels: Array
    """Flat: the level of each node; above all, for what has nothing in common."""
    parents: Array
    """Flat: the place of the node above each."""
    prices: Array
    """Flat: what a node costs one record."""
    row_starts: Ints
    """By attribute, where its rows of joins begin; -1 of a wide one."""
    widths: Ints
    """By attribute, how many leaves it has."""

    def find_levels(self, attribute: int, nodes: Array) -> Array:
        """The levels of some nodes of an attribute."""
        row = self.row_starts[attribute]
        places = -1 - nodes
        if row >= 0:
            places = self.starts[attribute] + (nodes - row) // self.widths[attribute]
        levels: Array = self.levels[places]
        return levels


def build_node_trees(lattice: GeneralisationLattice) -> NodeTrees:
    """The trees of a lattice's attributes."""
    trees = [_build_tree(lattice, a, height) for a, height in enumerate(lattice.heights)]
    widths = [int(lattice.node_counts[a, 0]) for a in range(len(trees))]
    starts = np.cumsum([0, *(tree.levels.size for tree in trees)])[:-1]
    row_starts, joins, join_prices = [], [np.empty(0, np.int32)], [np.empty(0)]
    entries = 0
    for tree, width in zip(trees, widths, strict=True):
        size = width * tree.levels.size
        if entries + size > tuning.JOIN_TABLE_ENTRIES:
            row_starts.append(-1)
            continue
        table = _join_with_leaves(tree, width).reshape(-1)
        row_starts.append(entries)
        joins.append(entries + table * width)
        join_prices.append(tree.prices[table])
        entries += size
    leaves = np.stack(
        [lattice.nodes[lattice.offsets[a, 0] + codes] for a, codes in enumerate(lattice.codes)],
        axis=1,
    )
    leaf_nodes = [
        -1 - (starts[a] + leaves[:, a]) if row < 0 else row + leaves[:, a] * widths[a]
        for a, row in enumerate(row_starts)
    ]
    return NodeTrees(
        leaves=np.ascontiguousarray(leaves, np.int32),
        leaf_nodes=np.ascontiguousarray(np.stack(leaf_nodes, axis=1), np.int32),
        joins=np.concatenate(joins).astype(np.int32),
        join_prices=np.concatenate(join_prices).astype(np.float32),
        starts=starts.astype(np.int64),
        levels=np.concatenate([tree.levels for tree in trees]),
        parents=np.concatenate(
            [tree.parents + start for tree, start in zip(trees, starts, strict=True)]
        ).astype(np.int32),
        prices=np.concatenate([tree.prices for tree in trees]).astype(np.float32),
        row_starts=np.array(row_starts, np.int64),
        widths=np.array(widths, np.int64),
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
