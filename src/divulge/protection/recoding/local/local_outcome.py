"""What local recoding comes to: levels of single records, classes, and their loss.

Records of one class show the same values; of two classes that show the same, nobody outside can
tell which is which, so classes are counted by what they show. The best levels for all records
alike (`LevelOutcome`) are a local recoding too, and the yardstick of every other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.protection.recoding.class_tests import ClassTest, SizeTest
from divulge.protection.recoding.evaluation import LevelEvaluator, LevelOutcome
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.work.arrays import Array, Bools, Ints

REMOVED = -1
"""The class of a unit whose records are removed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalOutcome:
    """Levels of every unit, and what they come to."""

    levels: Array
    """Attributes x units: the level of each attribute."""
    class_of_unit: Ints
    """Units of one class show the same values; `REMOVED` where none is left."""
    classes: int
    removed: Ints
    """By unit, how many records are removed."""
    loss: float

    @property
    def removed_records(self) -> int:
        """How many records are removed."""
        return int(self.removed.sum())


def build_outcome(lattice: GeneralisationLattice, levels: Array, removed: Ints) -> LocalOutcome:
    """Count classes by what units show at their levels, and sum up what that costs."""
    from divulge.protection.recoding.local.local_kernels import sum_local_loss

    alive = lattice.counts > removed
    _, dense = np.unique(_number_shown_tuples(lattice, levels)[alive], return_inverse=True)
    class_of_unit = np.full(lattice.units, REMOVED, np.int64)
    class_of_unit[alive] = dense.reshape(-1)
    loss = sum_local_loss(
        lattice.codes,
        lattice.costs,
        lattice.offsets,
        levels,
        lattice.counts - removed,
        lattice.removal_costs,
        removed,
    )
    return LocalOutcome(
        levels=levels,
        class_of_unit=class_of_unit,
        classes=int(dense.max(initial=REMOVED)) + 1,
        removed=removed,
        loss=float(loss),
    )


def _number_shown_tuples(lattice: GeneralisationLattice, levels: Array) -> Ints:
    """A number for each unit: the same for units that show the same nodes."""
    from divulge.protection.recoding.kernels import number_classes
    from divulge.protection.recoding.local.local_kernels import (
        combine_local_words,
        count_false_members,
    )

    keys = np.empty(lattice.units, np.int64)
    places = 1 << max(1, (2 * lattice.units - 1).bit_length())
    table, owners = np.empty(places, np.int64), np.empty(places, np.int64)
    number = np.empty(lattice.units, np.int64)
    seed = 0
    while True:
        words = draw_node_words(lattice, seed)
        combine_local_words(lattice.codes, words, lattice.offsets, levels, keys)
        owners[:] = -1
        number_classes(keys, table, owners, 0, number)
        _, firsts = np.unique(number, return_index=True)
        if not count_false_members(
            lattice.codes, lattice.nodes, lattice.offsets, levels, number, firsts
        ):
            return number
        seed += 1


def draw_node_words(lattice: GeneralisationLattice, seed: int) -> Ints:
    """Flat: a random word of 63 bits for every node of every level, the same for all its codes."""
    draws = np.random.default_rng(seed)
    words = np.empty(lattice.nodes.size, np.int64)
    for a, height in enumerate(lattice.heights):
        for level in range(height + 1):
            start = lattice.offsets[a, level]
            own = lattice.nodes[start : start + lattice.code_counts[a]]
            words[start : start + own.size] = draws.integers(
                0, 2**63 - 1, int(lattice.node_counts[a, level])
            )[own]
    return words


def build_global_outcome(evaluator: LevelEvaluator, outcome: LevelOutcome) -> LocalOutcome:
    """The same levels for all records, as a local recoding."""
    lattice = evaluator.lattice
    levels = np.repeat(np.array(outcome.levels, np.int8)[:, None], lattice.units, axis=1)
    return build_outcome(lattice, levels, evaluator.find_removed(outcome.levels))


def choose_better(
    evaluator: LevelEvaluator, local: LocalOutcome | None, best: LevelOutcome | None
) -> LocalOutcome | None:
    """The local recoding, or the best levels for all alike if they lose no more.

    None where there is neither, or where the local one removes more records than may be. Of two
    that lose the same, the levels for all alike say less to one who knows the method.
    """
    most = min(evaluator.most_removed, evaluator.lattice.records - 1)
    if local is not None and local.removed_records > most:
        local = None
    if best is None:
        return local
    everywhere = build_global_outcome(evaluator, best)
    return everywhere if local is None or everywhere.loss <= local.loss else local


def find_least_size(tests: Sequence[ClassTest]) -> int | None:
    """How many records a class must have, if sizes are all that is asked; else None."""
    if not all(isinstance(test, SizeTest) for test in tests):
        return None
    return max(
        (int(np.ceil(test.least)) for test in tests if isinstance(test, SizeTest)), default=1
    )


def find_hopeless_units(lattice: GeneralisationLattice, tests: Sequence[ClassTest]) -> Bools:
    """Units that fail even if everything is as coarse as can be: local levels do not help them.

    Records that differ at the tops can never look alike: in an attribute without a hierarchy or
    without a single top, or since a value is absent. A class of a local recoding never reaches
    beyond; where one of several tests removes some, the others judge who is left.
    """
    class_of_unit, classes = number_top_classes(lattice)
    counts = lattice.counts
    while True:
        failing = find_failing_classes(tests, class_of_unit, classes, counts)[class_of_unit]
        failing &= counts > 0
        if not failing.any():
            return np.asarray(counts == 0)
        counts = np.where(failing, 0, counts)


def number_top_classes(lattice: GeneralisationLattice) -> tuple[Ints, int]:
    """The class of each unit where every attribute is as coarse as can be, and how many."""
    tops = np.stack(
        [
            lattice.nodes[lattice.offsets[a, height] + lattice.codes[a]]
            for a, height in enumerate(lattice.heights)
        ]
    )
    different = [row for row in tops if row.size and row.min() != row.max()]
    if not different:
        return np.zeros(lattice.units, np.int64), min(1, lattice.units)
    _, class_of_unit = np.unique(np.stack(different), axis=1, return_inverse=True)
    flat: Ints = class_of_unit.reshape(-1).astype(np.int64)
    return flat, int(flat.max()) + 1


def find_failing_classes(
    tests: Sequence[ClassTest], class_of_unit: Ints, classes: int, counts: Ints
) -> Bools:
    """Classes that fail some test, whatever the attributes are that it asks about.

    A test of fewer attributes judges unions of these classes, which pass if all of them do.
    """
    failing: Bools = np.zeros(classes, np.bool_)
    for test in tests:
        failing |= test.find_failing(class_of_unit, classes, counts)
    return failing
