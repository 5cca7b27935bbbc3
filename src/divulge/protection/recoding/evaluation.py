"""What becomes of a combination of levels: who must be removed, and what that costs.

Records of classes that fail are removed, and classes are judged again without them, until none
fails: limits on different attributes, or on shares of all records, change with who is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from divulge.protection import tuning
from divulge.protection.recoding.class_tests import ClassTest
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.work.arrays import Bools, Floats, Ints

Levels = tuple[int, ...]


@dataclass(frozen=True)
class RemovalCosts:
    """What some removed records cost: in all, and (attributes x levels) if they were kept."""

    total: float
    kept: Floats


@dataclass(frozen=True, kw_only=True)
class LevelOutcome:
    """What a combination of levels comes to."""

    levels: Levels
    removed_records: int
    """How many records must be removed."""
    forced_records: int
    """How many of them must be removed at all finer levels too."""
    forced_costs: RemovalCosts | None = None
    """What the forced removals cost; None where more must be removed than may be."""
    loss: float = inf


class ClassNumberer:
    """Numbers classes of units; keeps the room that this needs from call to call."""

    def __init__(self, units: int) -> None:
        # A power of two, with some places free: of many units, this is the most memory.
        places = 1 << max(1, int(units / tuning.CLASS_TABLE_SHARE).bit_length())
        self._keys = np.empty(units, np.int64)
        self._table = np.empty(places, np.int64)
        self._owners = np.full(places, -1, np.int64)
        self._generation = 0

    def number_classes(
        self, lattice: GeneralisationLattice, starts: Ints, chosen: Ints
    ) -> tuple[Ints, int]:
        """The class of each unit on the chosen attributes at their levels, and how many."""
        from divulge.protection.recoding.kernels import combine_words, number_classes

        class_of_unit = np.empty(lattice.units, np.int32)
        combine_words(lattice.codes, lattice.words, starts, chosen, self._keys)
        classes = int(
            number_classes(self._keys, self._table, self._owners, self._generation, class_of_unit)
        )
        self._generation += classes
        return class_of_unit, classes


@dataclass(kw_only=True, eq=False)
class LevelEvaluator:
    """Judges combinations of levels of one lattice by one set of tests, each once."""

    lattice: GeneralisationLattice
    tests: Sequence[ClassTest]
    most_removed: int
    """How many records may be removed."""
    flat_cost: float | None = None
    """What each record that fails adds to the loss, instead of its removal: an estimate where such
    records are kept, and some of their cells hidden."""
    evaluated: dict[Levels, LevelOutcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numberer = ClassNumberer(self.lattice.units)

    def evaluate(self, levels: Levels) -> LevelOutcome:
        """Who must go at these levels, and what everything costs then."""
        known = self.evaluated.get(levels)
        if known is not None:
            return known
        forced, removed = self._find_removed(levels)
        forced_records, removed_records = int(forced.sum()), int(removed.sum())
        if forced_records > self.most_removed:  # of no use, whatever it costs
            outcome = LevelOutcome(
                levels=levels, removed_records=removed_records, forced_records=forced_records
            )
        else:
            forced_costs = self._sum_removal(forced)
            costs = forced_costs if removed is forced else self._sum_removal(removed)
            outcome = LevelOutcome(
                levels=levels,
                removed_records=removed_records,
                forced_records=forced_records,
                forced_costs=forced_costs,
                loss=self.sum_loss(levels, costs),
            )
        self.evaluated[levels] = outcome
        return outcome

    def _sum_removal(self, removed: Ints) -> RemovalCosts:
        if self.flat_cost is None:
            return sum_removal(self.lattice, removed)
        total = self.flat_cost * float(removed.sum())
        return RemovalCosts(total, np.zeros(self.lattice.offsets.shape))

    def find_removed(self, levels: Levels) -> Ints:
        """By unit, how many records must be removed."""
        return self._find_removed(levels)[1]

    def _find_removed(self, levels: Levels) -> tuple[Ints, Ints]:
        """Who must be removed at all finer levels too, and who in all."""
        starts, counts = self.lattice.find_starts(levels), self.lattice.counts
        pruning = [test for test in self.tests if test.prunes]
        left = self.remove_failing(starts, pruning, counts)
        forced = counts - left
        if len(pruning) == len(self.tests) or int(forced.sum()) > self.most_removed:
            return forced, forced
        return forced, counts - self.remove_failing(starts, self.tests, left)

    def is_allowed(self, outcome: LevelOutcome) -> bool:
        """Whether few enough records are removed, and some are left."""
        return outcome.removed_records <= min(self.most_removed, self.lattice.records - 1)

    def remove_failing(self, starts: Ints, tests: Sequence[ClassTest], counts: Ints) -> Ints:
        """How many records of each unit are left once no class fails any more."""
        classes = self._classify(starts, tests)
        left = counts
        while True:
            failing: Bools = np.zeros(left.size, np.bool_)
            for test in tests:
                class_of_unit, number = classes[test.among]
                failing |= test.find_failing(class_of_unit, number, left)[class_of_unit]
            failing &= left > 0
            if not failing.any():
                return left
            left = np.where(failing, 0, left)
            if len(tests) == 1 and tests[0].prunes:
                return left  # whole classes went: the others are as they were

    def _classify(
        self, starts: Ints, tests: Sequence[ClassTest]
    ) -> dict[tuple[str, ...], tuple[Ints, int]]:
        classes = {}
        for among in dict.fromkeys(test.among for test in tests):
            chosen = np.array([self.lattice.names.index(name) for name in among], np.int64)
            classes[among] = self._numberer.number_classes(self.lattice, starts, chosen)
        return classes

    def sum_loss(self, levels: Levels, removal: RemovalCosts) -> float:
        """What levels cost if some records are removed."""
        kept = sum(removal.kept[a, level] for a, level in enumerate(levels))
        return self.lattice.sum_level_costs(levels) + removal.total - float(kept)


def sum_removal(lattice: GeneralisationLattice, removed: Ints) -> RemovalCosts:
    """What it costs to remove some records of each unit, instead of keeping them at a level."""
    from divulge.protection.recoding.kernels import sum_removed_costs

    kept = np.zeros(lattice.offsets.shape)
    total = sum_removed_costs(
        lattice.codes,
        lattice.costs,
        lattice.offsets,
        np.array(lattice.heights, np.int64) + 1,
        removed,
        lattice.removal_costs,
        kept,
    )
    return RemovalCosts(float(total), kept)
