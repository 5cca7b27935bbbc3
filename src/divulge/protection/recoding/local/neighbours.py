"""The nearest units of each unit, and the least that a class must cost its records.

Near are units whose common nodes are cheap. Units are sorted in several random orders (attributes
from coarse to fine, mixed), compared with those that follow them, and with the neighbours of their
neighbours: most of the true neighbours at a small part of all comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.protection.recoding.local.node_trees import NodeTrees, build_node_trees
from divulge.work.arrays import Array, Floats, Ints
from divulge.work.context import Step

NO_NEIGHBOUR = -1


@dataclass(frozen=True, eq=False)
class Neighbours:
    """By unit, other units that are near it, the nearest first; -1 where there are no more."""

    units: Array
    distances: Array

    def find_company_distances(self, counts: Ints, least: int) -> Floats:
        """How far each unit must look for records that are enough with its own."""
        own = counts[self.units] * (self.units != NO_NEIGHBOUR)
        enough = counts[:, None] + np.cumsum(own, axis=1) >= least
        first = np.where(enough.any(axis=1), enough.argmax(axis=1), enough.shape[1] - 1)
        distances: Floats = self.distances[np.arange(counts.size), first].astype(np.float64)
        distances[counts >= least] = 0.0
        return distances


def find_neighbours(
    lattice: GeneralisationLattice,
    trees: NodeTrees,
    draws: np.random.Generator,
    step: Step,
    *,
    size: int = tuning.NEIGHBOURS,
) -> Neighbours:
    """Up to `size` near units of each unit; which of equally near ones is drawn."""
    from divulge.protection.recoding.local.neighbour_kernels import (
        compare_neighbours_of_neighbours,
        compare_windows,
    )

    units = lattice.units
    neighbours = np.full((units, size), NO_NEIGHBOUR, np.int32)
    distances = np.full((units, size), tuning.PRICE_OF_NOTHING_COMMON / 2, np.float32)
    for _ in range(tuning.NEIGHBOUR_SORTS):
        order = sort_units_at_random(lattice, draws)
        for begin in range(0, units, tuning.UNITS_PER_STEP):
            end = min(units, begin + tuning.UNITS_PER_STEP)
            compare_windows(
                trees, order, tuning.NEIGHBOUR_WINDOW, begin, end, neighbours, distances
            )
            step.advance()
    for _ in range(tuning.NEIGHBOUR_ROUNDS):
        seen = np.full(units, NO_NEIGHBOUR, np.int32)
        order = draws.permutation(units)
        for begin in range(0, units, tuning.UNITS_PER_STEP):
            chunk = order[begin : begin + tuning.UNITS_PER_STEP]
            compare_neighbours_of_neighbours(trees, chunk, seen, neighbours, distances)
            step.advance()
    return Neighbours(neighbours, distances)


def sort_units_at_random(lattice: GeneralisationLattice, draws: np.random.Generator) -> Ints:
    """Units in an order in which those that follow each other have nodes in common.

    Keys are the nodes from coarse to fine, the levels of the attributes mixed at random; as many of
    them as fit into two words. What is then equal is in a random order.
    """
    shuffled = draws.permutation(lattice.units)
    waiting = np.repeat(np.arange(len(lattice.heights)), np.array(lattice.heights) + 1)
    level = list(lattice.heights)
    words: list[Ints] = []
    word, bits = np.zeros(lattice.units, np.int64), 0
    for a in draws.permutation(waiting):
        digits = int(lattice.node_counts[a, level[a]] - 1).bit_length()
        if bits + digits > 62:
            words.append(word)
            word, bits = np.zeros(lattice.units, np.int64), 0
        if len(words) == 2:
            break
        start = lattice.offsets[a, level[a]]
        names = draws.permutation(int(lattice.node_counts[a, level[a]]))
        table = names[lattice.nodes[start : start + lattice.code_counts[a]]]
        word = (word << digits) | table[lattice.codes[a, shuffled]]
        bits += digits
        level[a] -= 1
    else:
        words.append(word)
    order: Ints = shuffled[np.lexsort(words[::-1])]
    return order


def bound_local_loss(
    lattice: GeneralisationLattice, least: int, *, may_remove: bool = False
) -> float | None:
    """No local recoding in classes of `least` records loses less; None of too many units.

    A class costs each of its records at least what it has in common with the farthest of its
    `least` - 1 nearest others. All pairs of units are compared: the bound is exact, or not given.
    Infinite if some unit cannot be in such a class, and none may be removed.
    """
    from divulge.protection.recoding.local.neighbour_kernels import find_least_costs

    if lattice.units > tuning.MOST_BOUNDED_UNITS:
        return None
    trees = build_node_trees(lattice)
    prices = np.zeros(lattice.units)
    with work.step("Bounding the loss", lattice.units) as step:
        for begin in range(0, lattice.units, tuning.UNITS_PER_BOUND_STEP):
            end = min(lattice.units, begin + tuning.UNITS_PER_BOUND_STEP)
            find_least_costs(trees, lattice.counts, least, begin, end, prices)
            step.advance(end - begin)
    own = np.zeros(lattice.units)
    for a, start in enumerate(lattice.offsets[:, 0]):
        flat_prices = trees.prices[trees.starts[a] + trees.leaves[:, a]].astype(np.float64)
        own += flat_prices / lattice.records - lattice.costs[start + lattice.codes[a]]
    costs = np.where(
        prices >= tuning.PRICE_OF_NOTHING_COMMON / 2, np.inf, prices / lattice.records - own
    )
    if may_remove:
        costs = np.minimum(costs, lattice.removal_costs)
    # Prices are of single precision: a bound must not claim what rounding has added.
    slack = float(np.finfo(np.float32).eps) * len(lattice.names)
    return max(0.0, float((lattice.counts * costs).sum()) * (1 - slack))
