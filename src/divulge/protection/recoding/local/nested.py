"""Nested local recoding: from the tops downwards, a class splits where that saves most.

All records that may ever look alike are one class at first. For each attribute a class looks one
level down: children that pass every limit may leave; the others stay, and if they fail together,
the smallest child that would leave stays with them. The attribute that saves most is taken, and
children and rest go on alone. Since a split depends only on how many records are where, it says
less to one who knows the method than the tightest classes do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.recoding.class_tests import ClassTest
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.protection.recoding.local.local_outcome import (
    REMOVED,
    LocalOutcome,
    build_outcome,
    draw_node_words,
    find_failing_classes,
    find_hopeless_units,
    find_least_size,
    number_top_classes,
)
from divulge.work.arrays import Array, Bools, Floats, Ints
from divulge.work.context import Step

TIE_SHARE = 1e-9
"""Gains that differ by a smaller share are equal: a sum in another order differs by it."""


def find_nested_levels(
    lattice: GeneralisationLattice, tests: Sequence[ClassTest], *, seed: int
) -> LocalOutcome:
    """Levels of each unit by splits from the tops downwards, all tests holding at each split.

    Units that fail at the tops are removed. Ties are drawn with the seed; where only sizes are
    asked for, nothing but the judged attributes and how many records there are decides.
    """
    hopeless = find_hopeless_units(lattice, tests)
    removed: Ints = np.where(hopeless, lattice.counts, 0)
    least = find_least_size(tests)
    ranks = np.random.default_rng(seed).permutation(len(lattice.names))
    choice = (draw_node_words(lattice, seed), ranks)
    with work.step("Splitting classes") as step:
        if least is None:
            splitter = _TestedSplitter(lattice, tests, lattice.counts - removed, choice)
            while splitter.split_once():
                step.advance()
            levels = splitter.levels
        else:
            levels = _split_by_size(lattice, least, ~hopeless, choice, step)
    return build_outcome(lattice, levels, removed)


def _split_by_size(
    lattice: GeneralisationLattice,
    least: int,
    judged: Bools,
    choice: tuple[Ints, Ints],
    step: Step,
) -> Array:
    """Splits where a class needs no more than enough records."""
    from divulge.protection.recoding.local.local_kernels import split_nested_classes

    ties, ranks = choice
    class_of_unit, _ = number_top_classes(lattice)
    alive = np.flatnonzero(judged)
    order = alive[np.argsort(class_of_unit[alive], kind="stable")].astype(np.int64)
    _, begins = np.unique(class_of_unit[order], return_index=True)
    heights = np.array(lattice.heights, np.int8)
    # An open class has at least one unit, so there are never more of them than units.
    bounds = np.zeros((order.size + 1, 2), np.int64)
    bounds[: begins.size, 0], bounds[: begins.size, 1] = begins, [*begins[1:], order.size]
    class_levels = np.zeros((order.size + 1, heights.size), np.int8)
    class_levels[: begins.size] = heights
    levels = np.repeat(heights[:, None], lattice.units, axis=1)
    open_classes = begins.size
    while open_classes:
        open_classes = int(
            split_nested_classes(
                lattice.codes,
                lattice.counts,
                lattice.nodes,
                lattice.costs,
                lattice.offsets,
                ties,
                ranks,
                least,
                order,
                bounds,
                class_levels,
                open_classes,
                levels,
                tuning.SPLITS_PER_STEP,
            )
        )
        step.advance()
    return levels


class _TestedSplitter:
    """Splits under any tests: all open classes at once, an attribute each, round by round."""

    def __init__(
        self,
        lattice: GeneralisationLattice,
        tests: Sequence[ClassTest],
        counts: Ints,
        choice: tuple[Ints, Ints],
    ) -> None:
        self.lattice, self.tests, self.counts = lattice, tests, counts
        self.ties, self.ranks = choice
        class_of_unit, _ = number_top_classes(lattice)
        self.class_of_unit = np.where(counts > 0, class_of_unit, REMOVED)
        """Open classes; `REMOVED` for units whose class is finished."""
        heights = np.array(lattice.heights, np.int8)
        self.levels = np.repeat(heights[:, None], lattice.units, axis=1)

    def split_once(self) -> bool:
        """Split every open class once; whether any is left."""
        active = np.flatnonzero(self.class_of_unit >= 0)
        if active.size == 0:
            return False
        _, dense = np.unique(self.class_of_unit[active], return_inverse=True)
        dense = dense.reshape(-1)
        classes = int(dense.max()) + 1
        self._descend_together(active, dense, classes)
        best_gain: Floats = np.zeros(classes)
        best = np.full(classes, -1, np.int64)
        best_groups = np.full(active.size, -1, np.int64)
        for a in range(len(self.lattice.heights)):
            gain, groups = self._look_down(a, active, dense, classes)
            slack = TIE_SHARE * best_gain
            tied = (best >= 0) & (gain >= best_gain - slack) & (self.ranks[a] < self.ranks[best])
            better = (gain > best_gain + slack) | (tied & (gain > 0))
            best[better], best_gain[better] = a, gain[better]
            best_groups = np.where(better[dense], groups, best_groups)
        self._apply(active, dense, best, best_groups)
        return True

    def _descend_together(self, active: Ints, dense: Ints, classes: int) -> None:
        """What all units of a class have in common costs nothing to show."""
        lattice = self.lattice
        _, first = np.unique(dense, return_index=True)
        for a, height in enumerate(lattice.heights):
            for _ in range(height):
                level = self.levels[a, active]
                nodes = self._find_nodes(a, active, np.maximum(level - 1, 0))
                differ = nodes != nodes[first][dense]
                together = np.bincount(dense, differ, classes) == 0
                self.levels[a, active] = level - (together[dense] & (level > 0))

    def _find_nodes(self, a: int, units: Ints, levels: Array) -> Ints:
        lattice = self.lattice
        nodes: Ints = lattice.nodes[lattice.offsets[a][levels] + lattice.codes[a, units]]
        return nodes

    def _look_down(self, a: int, active: Ints, dense: Ints, classes: int) -> tuple[Floats, Ints]:
        """What each class saves one level down, and its leaving child of each unit; -1 stays."""
        lattice = self.lattice
        level = self.levels[a, active]
        may_split = level > 0
        coarse = lattice.offsets[a][level] + lattice.codes[a, active]
        fine = lattice.offsets[a][np.maximum(level - 1, 0)] + lattice.codes[a, active]
        width = int(lattice.node_counts[a].max())
        keys, child = np.unique(dense * width + lattice.nodes[fine], return_inverse=True)
        child = child.reshape(-1)
        class_of_child = keys // width
        sizes = np.bincount(child, self.counts[active], keys.size)
        savings = self.counts[active] * (lattice.costs[coarse] - lattice.costs[fine])
        saved = np.bincount(child, savings, keys.size)
        tie_of_child = np.zeros(keys.size, np.int64)
        tie_of_child[child] = self.ties[fine]
        leaves = ~self._find_failing(active, child, keys.size, may_split)
        leaves &= np.bincount(child, may_split, keys.size) > 0
        smallest_first = np.lexsort((tie_of_child, sizes, class_of_child))
        while True:
            stays = ~leaves[child]
            failing = self._find_failing(active, dense, classes, stays & may_split)
            helped = np.flatnonzero(
                leaves[smallest_first] & failing[class_of_child[smallest_first]]
            )
            if helped.size == 0:
                break
            chosen = smallest_first[helped]
            _, first = np.unique(class_of_child[chosen], return_index=True)
            leaves[chosen[first]] = False
        gain: Floats = np.bincount(class_of_child, leaves * saved, classes).astype(np.float64)
        return gain, np.where(leaves[child], child, -1)

    def _find_failing(self, active: Ints, group: Ints, groups: int, chosen: Bools) -> Bools:
        """Groups of the chosen units that fail; what has no unit does not fail.

        All others are one more group, which nobody asks about: shares of all records count them.
        """
        of_unit = np.full(self.counts.size, groups, np.int64)
        of_unit[active[chosen]] = group[chosen]
        return find_failing_classes(self.tests, of_unit, groups + 1, self.counts)[:groups]

    def _apply(self, active: Ints, dense: Ints, best: Ints, groups: Ints) -> None:
        attribute = best[dense]
        finished = attribute < 0
        self.class_of_unit[active[finished]] = REMOVED
        going = ~finished
        number = dense * (active.size + 1) + groups + 1
        self.class_of_unit[active[going]] = number[going]
        leaving = going & (groups >= 0)
        self.levels[attribute[leaving], active[leaving]] -= 1
