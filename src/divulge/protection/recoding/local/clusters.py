"""Local recoding by clusters: classes of near records, improved move by move.

The best utility of all methods here, and the one that says most to somebody who knows it: classes
are as tight as can be, so what is not in them is excluded. Units (distinct records with their
number) are put together with their nearest; then each in turn makes the move that saves most, as
long as that is worth the while. Which of equals comes first is drawn with the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.recoding.class_tests import ClassTest, DistinctTest, SizeTest
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.protection.recoding.local.local_outcome import (
    REMOVED,
    LocalOutcome,
    build_outcome,
    find_failing_classes,
    find_hopeless_units,
    find_least_size,
)
from divulge.protection.recoding.local.neighbours import find_neighbours
from divulge.protection.recoding.local.nested import find_nested_levels
from divulge.protection.recoding.local.node_trees import build_node_trees
from divulge.work.arrays import Array, Bools, Floats, Ints
from divulge.work.context import Step
from divulge.work.effort import Effort, charge


class ClusterState(NamedTuple):
    """Classes of units while they change, for compiled loops; one place more than units."""

    counts: Ints
    """By unit, how many records it has."""
    cluster_of_unit: Array
    nexts: Array
    """By unit, the next of its class; -1 ends the list."""
    previous: Array
    heads: Array
    """By class, its first unit; -1 where it has none."""
    members: Array
    """By class, how many units it has."""
    sizes: Ints
    """By class, how many records it has."""
    nodes: Array
    """Classes x attributes: the nodes that cover its units."""
    prices: Floats
    """By class, what a record costs."""
    marks: Array
    visits: Array
    """By class, the last pass in which it was tried to dissolve it."""
    locks: Array
    """By class, the last batch that it is part of."""
    changes: Array
    """By class, when it changed last."""
    looks: Array
    """By unit, when its moves were looked at last."""
    clock: Array
    """How many units were looked at."""
    next_empty: Array
    journal: Array
    """Transfers of the batch: unit, from, to, group."""
    journal_size: Array


def find_clusters(
    lattice: GeneralisationLattice,
    tests: Sequence[ClassTest],
    *,
    seed: int,
    effort: Effort | None = None,
    passes: int = tuning.CLUSTER_PASSES,
) -> LocalOutcome:
    """Levels of each unit by classes of near units, all tests holding after each move.

    Units that fail at the tops are removed. Where only sizes are asked for, units are told apart by
    the judged attributes alone. The search ends when a pass saves little, when its passes are done,
    or when the effort is spent.
    """
    hopeless = find_hopeless_units(lattice, tests)
    merged, place = lattice, np.arange(lattice.units)
    if find_least_size(tests) is not None:
        merged, place = merge_alike_units(lattice)
    # Units that agree in everything fail alike.
    is_hopeless = np.zeros(merged.units, np.bool_)
    is_hopeless[place] = hopeless
    search = _ClusterSearch(merged, tests, is_hopeless, effort or Effort(np.inf))
    draws = np.random.default_rng(seed)
    with work.step("Looking for near records") as step:
        search.meet_neighbours(draws, step)
    with work.step("Improving classes", passes * merged.units) as step:
        search.begin(draws, seed)
        search.improve(draws, passes, step)
    levels = np.ascontiguousarray(search.list_levels()[:, place])
    return build_outcome(lattice, levels, np.where(hopeless, lattice.counts, 0))


def merge_alike_units(lattice: GeneralisationLattice) -> tuple[GeneralisationLattice, Ints]:
    """The lattice with units that agree in all judged attributes as one; where each unit went.

    Units are in the order of their codes: whatever else tells units apart leaves no trace.
    """
    order = np.lexsort(lattice.codes[::-1])
    ordered = lattice.codes[:, order]
    is_first = np.ones(lattice.units, np.bool_)
    is_first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    codes = np.ascontiguousarray(ordered[:, is_first])
    place: Ints = np.empty(lattice.units, np.int64)
    place[order] = np.cumsum(is_first) - 1
    removal_costs = np.zeros(codes.shape[1])
    removal_costs[place] = lattice.removal_costs
    merged = replace(
        lattice,
        codes=codes,
        counts=np.bincount(place, lattice.counts, codes.shape[1]).astype(np.int64),
        unit_of_record=place[lattice.unit_of_record],
        removal_costs=removal_costs,
    )
    return merged, place


class _ClusterSearch:
    """Classes of one lattice, from the first to the last move."""

    def __init__(
        self,
        lattice: GeneralisationLattice,
        tests: Sequence[ClassTest],
        is_hopeless: Bools,
        effort: Effort,
    ) -> None:
        self.lattice, self.tests, self.effort = lattice, tests, effort
        self.trees = build_node_trees(lattice)
        self.counts: Ints = np.where(is_hopeless, 0, lattice.counts)
        self.only_sizes = find_least_size(tests) is not None
        self.least = _find_search_size(tests)
        self.state = _make_state(self.counts, len(lattice.names))
        self.batch = 0

    def meet_neighbours(self, draws: np.random.Generator, step: Step) -> None:
        """Find the near units among which all moves are looked for."""
        self.neighbours = find_neighbours(self.lattice, self.trees, draws, step)
        charge(tuning.NEIGHBOUR_COST, self.lattice.units * len(self.lattice.names))

    def begin(self, draws: np.random.Generator, seed: int) -> None:
        """Build classes of enough records; where more is asked, begin with nested ones."""
        from divulge.protection.recoding.local.cluster_kernels import (
            build_clusters,
            gather_clusters,
        )

        if not self.only_sizes:
            nested = find_nested_levels(self.lattice, self.tests, seed=seed)
            gather_clusters(self.trees, self.state, nested.class_of_unit)
            return
        alive = draws.permutation(np.flatnonzero(self.counts > 0))
        distances = self.neighbours.find_company_distances(self.counts, self.least)
        order = alive[np.argsort(distances[alive], kind="stable")]
        build_clusters(self.trees, self.state, self.neighbours.units, order, self.least)

    def improve(self, draws: np.random.Generator, passes: int, step: Step) -> None:
        """Pass by pass over all units in a random order, until a pass saves too little."""
        alive = np.flatnonzero(self.counts > 0)
        slow_passes = 0
        for number in range(passes):
            change = 0.0
            order = draws.permutation(alive)
            for begin in range(0, order.size, tuning.UNITS_PER_STEP):
                if self.effort.spent:
                    return
                units = order[begin : begin + tuning.UNITS_PER_STEP]
                change += self._improve_units(units, number)
                charge(tuning.CLUSTER_COST, units.size * len(self.lattice.names))
                step.advance(units.size)
            slow_passes = slow_passes + 1 if -change < tuning.LEAST_PASS_GAIN * alive.size else 0
            # Under further tests every second pass makes moves of another kind.
            if slow_passes > (0 if self.only_sizes else 1):
                return

    def _improve_units(self, units: Ints, number: int) -> float:
        from divulge.protection.recoding.local.cluster_kernels import (
            improve_clusters,
            revert_groups,
        )

        change = 0.0
        while units.size:
            self.batch += 0 if self.only_sizes else 1
            deferred = np.zeros(units.size, np.bool_)
            change += improve_clusters(
                self.trees,
                self.state,
                self.neighbours.units,
                units,
                self.least,
                tuning.NEAREST_CLASSES,
                self.batch,
                number + 1,
                not self.only_sizes and number % 2 == 1,
                deferred,
            )
            if not self.only_sizes:
                change += revert_groups(self.trees, self.state, self._find_failing())
            units = units[deferred]
        return change

    def _find_failing(self) -> Array:
        of_unit = np.maximum(self.state.cluster_of_unit, 0).astype(np.int64)
        return find_failing_classes(self.tests, of_unit, self.state.heads.size, self.counts)

    def list_levels(self) -> Array:
        """Attributes x units: the levels of the nodes of each unit's class."""
        levels = np.repeat(
            np.array(self.lattice.heights, np.int8)[:, None], self.lattice.units, axis=1
        )
        alive = np.flatnonzero(self.state.cluster_of_unit >= 0)
        nodes = self.state.nodes[self.state.cluster_of_unit[alive]]
        for a in range(levels.shape[0]):
            levels[a, alive] = self.trees.find_levels(a, nodes[:, a])
        return levels


def _find_search_size(tests: Sequence[ClassTest]) -> int:
    """How many records a class must have, by those tests that say so."""
    sizes = [t.least for t in tests if isinstance(t, SizeTest | DistinctTest)]
    return int(np.ceil(max(sizes, default=1)))


def _make_state(counts: Ints, attributes: int) -> ClusterState:
    units = counts.size
    places = units + 1
    return ClusterState(
        counts=counts,
        cluster_of_unit=np.full(units, REMOVED, np.int32),
        nexts=np.full(units, -1, np.int32),
        previous=np.full(units, -1, np.int32),
        heads=np.full(places, -1, np.int32),
        members=np.zeros(places, np.int32),
        sizes=np.zeros(places, np.int64),
        nodes=np.zeros((places, attributes), np.int32),
        prices=np.zeros(places),
        marks=np.full(places, -1, np.int32),
        visits=np.zeros(places, np.int32),
        locks=np.zeros(places, np.int32),
        changes=np.zeros(places, np.int64),
        looks=np.zeros(units, np.int64),
        clock=np.zeros(1, np.int64),
        next_empty=np.zeros(1, np.int64),
        journal=np.zeros((2 * places, 4), np.int32),
        journal_size=np.zeros(1, np.int64),
    )
