"""Good levels of large lattices: steepest descent from the top, exchanges, and random kicks.

Where there are too many combinations to list, the search goes from the coarsest levels to the best
that differ in one attribute, until none is better; then in two (one coarser, one finer); then it
changes some attributes at random and descends again, until its effort is spent. Loss need not fall
along the way from any node to the best, so what is found is the best found, with a bound beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.recoding.class_tests import SizeTest
from divulge.protection.recoding.evaluation import LevelEvaluator, Levels
from divulge.work.context import Step
from divulge.work.effort import Effort, charge

Acceptance = Callable[[Levels], bool]
"""Whether levels that would be the best so far meet the limits that only records can tell."""


@dataclass(frozen=True, kw_only=True)
class DescentResult:
    """The best levels that were found."""

    levels: Levels | None
    loss: float
    measured: int
    """How many combinations were measured."""


def descend_levels(
    evaluator: LevelEvaluator, effort: Effort, accept: Acceptance, seed: int = 0
) -> DescentResult:
    """The best levels that were found with some effort; None if none was allowed."""
    with work.step("Searching for good levels") as step:
        search = _Descent(evaluator, effort, accept, step)
        search.run(np.random.default_rng(seed))
    return DescentResult(levels=search.best, loss=search.least, measured=len(search.losses))


class _Descent:
    def __init__(
        self, evaluator: LevelEvaluator, effort: Effort, accept: Acceptance, step: Step
    ) -> None:
        self.evaluator, self.lattice, self.effort = evaluator, evaluator.lattice, effort
        self.accept, self.step = accept, step
        self.losses: dict[Levels, float] = {}
        """What each combination loses, without end where too many records would be removed."""
        self.refused: set[Levels] = set()
        self.best: Levels | None = None
        self.least = np.inf
        is_plain = len(evaluator.tests) == 1 and isinstance(evaluator.tests[0], SizeTest)
        is_plain = is_plain and evaluator.tests[0].among == self.lattice.names
        self.moves = _MoveMeasurer(evaluator) if is_plain else None

    def run(self, draws: np.random.Generator) -> None:
        """Descend, and again from nearby, as long as there is effort."""
        current = self._improve(self.lattice.top)
        while not self.effort.spent and len(self.losses) < self.lattice.combinations:
            start = list(self.best or current)
            for a in draws.permutation(len(start))[
                : int(draws.integers(*tuning.KICKED_ATTRIBUTES))
            ]:
                start[a] = int(draws.integers(0, self.lattice.heights[a] + 1))
            before = len(self.losses)
            current = self._improve(tuple(start))
            if len(self.losses) == before and not np.isfinite(self._measure(current)):
                current = self.best or self.lattice.top

    def _improve(self, levels: Levels) -> Levels:
        """To the best neighbour as long as there is a better one."""
        self._move_to(levels)
        loss = self._measure(levels)
        self._note(levels, loss)
        for neighbours in (list_single_moves, list_exchanges):
            while True:
                better, least = self._find_better(neighbours, levels, loss)
                if better is None:
                    break
                levels, loss = better, least
                self._move_to(levels)
                self._note(levels, loss)
        return levels

    def _find_better(
        self, neighbours: Callable[..., Iterator[Levels]], levels: Levels, loss: float
    ) -> tuple[Levels | None, float]:
        best, least = None, loss
        for other in neighbours(levels, self.lattice.heights):
            if self.effort.spent:
                break
            found = self._measure(other)
            if found < least - 1e-12 and other not in self.refused:
                best, least = other, found
        return best, least

    def _note(self, levels: Levels, loss: float) -> None:
        if not loss < self.least - 1e-12:
            return
        if self.accept(levels):
            self.best, self.least = levels, loss
        else:
            self.refused.add(levels)

    def _move_to(self, levels: Levels) -> None:
        if self.moves is not None:
            self.moves.move_to(levels)

    def _measure(self, levels: Levels) -> float:
        loss = self.losses.get(levels)
        if loss is not None:
            return loss
        charge(tuning.LEVEL_COST, self.lattice.units * len(self.lattice.names))
        self.step.advance()
        if self.moves is not None:
            removed, loss = self.moves.measure(levels)
        else:
            outcome = self.evaluator.evaluate(levels)
            self.evaluator.evaluated.pop(levels, None)
            removed, loss = outcome.removed_records, outcome.loss
        if removed > min(self.evaluator.most_removed, self.lattice.records - 1):
            loss = np.inf
        self.losses[levels] = loss
        return loss


class _MoveMeasurer:
    """Measures levels near some others by what differs."""

    def __init__(self, evaluator: LevelEvaluator) -> None:
        self.lattice = lattice = evaluator.lattice
        [test] = evaluator.tests
        assert isinstance(test, SizeTest)  # noqa: S101  # asked before
        self.least = test.least
        places = 1 << max(1, (2 * lattice.units - 1).bit_length())
        self.table = np.empty(places, np.int64)
        self.owners = np.full(places, -1, np.int32)
        self.sizes = np.empty(lattice.units, np.int64)
        self.class_of_unit = np.empty(lattice.units, np.int32)
        self.levels = lattice.top
        starts = lattice.find_starts(self.levels)
        self.keys = np.zeros(lattice.units, np.int64)
        self.unit_costs = np.zeros(lattice.units)
        for a, start in enumerate(starts):
            self.keys += lattice.words[start + lattice.codes[a]]
            self.unit_costs += lattice.costs[start + lattice.codes[a]]

    def measure(self, levels: Levels) -> tuple[int, float]:
        """How many records are removed at some levels, and the loss."""
        from divulge.protection.recoding.lattice_search.descent_kernels import measure_move

        lattice = self.lattice
        moved = [a for a, level in enumerate(levels) if level != self.levels[a]]
        removed, added, _ = measure_move(
            lattice.codes,
            lattice.words,
            lattice.costs,
            self.keys,
            self.unit_costs,
            lattice.counts,
            lattice.removal_costs,
            np.array(moved, np.int64),
            np.array([lattice.offsets[a, self.levels[a]] for a in moved], np.int64),
            np.array([lattice.offsets[a, levels[a]] for a in moved], np.int64),
            self.least,
            self.table,
            self.owners,
            self.sizes,
            self.class_of_unit,
        )
        return int(removed), lattice.sum_level_costs(levels) + float(added)

    def move_to(self, levels: Levels) -> None:
        """Make these the levels that others are compared with."""
        from divulge.protection.recoding.lattice_search.descent_kernels import apply_move

        lattice = self.lattice
        for a, level in enumerate(levels):
            if level != self.levels[a]:
                apply_move(
                    lattice.codes,
                    lattice.words,
                    lattice.costs,
                    self.keys,
                    self.unit_costs,
                    a,
                    int(lattice.offsets[a, self.levels[a]]),
                    int(lattice.offsets[a, level]),
                )
        self.levels = levels


def list_single_moves(levels: Levels, heights: Levels) -> Iterator[Levels]:
    """One attribute at any other level."""
    for a, height in enumerate(heights):
        for level in range(height + 1):
            if level != levels[a]:
                yield (*levels[:a], level, *levels[a + 1 :])


def list_exchanges(levels: Levels, heights: Levels) -> Iterator[Levels]:
    """One attribute a level coarser, another a level finer."""
    for up, down in permutations(range(len(levels)), 2):
        if levels[up] < heights[up] and levels[down] > 0:
            yield tuple(level + (a == up) - (a == down) for a, level in enumerate(levels))
