"""Levels by a figure that is no sum over cells: discernibility, class size, somebody's function.

Nothing is known of such a figure but what it is at some levels, so no bound spares a look. As long
as the combinations are few, every one that the limits allow is measured, and the best is proved to
be so; of more, those that a descent meets are, and the best of them is the best found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.changes.changes import list_kept_records, select_records
from divulge.protection.changes.recodings import coarsen_to_levels
from divulge.protection.recoding.evaluation import ClassNumberer, LevelEvaluator, Levels
from divulge.protection.recoding.lattice_search.branch_and_bound import OPEN, BoundedSearch
from divulge.protection.recoding.lattice_search.level_descent import (
    descend_levels,
    list_exchanges,
    list_single_moves,
)
from divulge.protection.recoding.limit_tests import RecordMeasurer
from divulge.protection.recoding.measured_levels import RecodedLevels, judge_in_full
from divulge.protection.recoding.utilities import ClassUtility, UtilityFunction, call_function
from divulge.protection.result.search_proof import SearchProof
from divulge.work.context import Step
from divulge.work.effort import Effort


def search_by_score(
    evaluator: LevelEvaluator,
    measurer: RecordMeasurer,
    utility: UtilityFunction | ClassUtility,
    effort: Effort,
) -> tuple[RecodedLevels | None, SearchProof]:
    """The levels with the smallest figure that meet every limit; of equal ones the least loss.

    `effort` is for a descent to the levels with the least loss, from which large lattices are
    searched.
    """
    score = (
        _build_function_score(measurer, utility)
        if callable(utility)
        else _build_class_score(evaluator, utility)
    )
    with work.step("Measuring the utility of levels") as step:
        search = _ScoredSearch(evaluator, measurer, score, step)
        if evaluator.lattice.combinations <= tuning.MOST_SCORED_LEVELS:
            proof = search.measure_all()
        else:
            proof = search.descend(effort)
    if search.best is None:
        return None, proof
    return search.best.levels, replace(proof, score=search.best.score)


@dataclass(frozen=True)
class _Scored:
    levels: RecodedLevels
    score: float

    @property
    def rank(self) -> tuple[float, float]:
        return self.score, self.levels.outcome.loss


class _ScoredSearch:
    def __init__(
        self,
        evaluator: LevelEvaluator,
        measurer: RecordMeasurer,
        score: Callable[[RecodedLevels], float],
        step: Step,
    ) -> None:
        self.evaluator, self.measurer, self.score, self.step = evaluator, measurer, score, step
        self.best: _Scored | None = None
        self.scored: dict[Levels, _Scored | None] = {}
        """What was measured; None where a limit does not hold."""

    def measure_all(self) -> SearchProof:
        """Every combination, the coarsest first: what fails excludes all below."""
        bounded = BoundedSearch(self.evaluator)
        for place in np.argsort(-bounded.plain_costs, kind="stable"):
            if bounded.states[place] == OPEN:
                levels = bounded.find_levels(int(place))
                bounded.check(levels)
                self.measure(levels)
        proof = bounded.build_proof(np.inf)
        is_proved = proof.is_complete and self.measurer.limits.are_of_classes
        return replace(proof, lower_bound=0.0, is_complete=is_proved)

    def descend(self, effort: Effort) -> SearchProof:
        """From the top, and from the levels with the least loss, to ever better ones nearby."""
        self._improve(self.evaluator.lattice.top)
        least = descend_levels(
            self.evaluator, effort, lambda levels: self.measure(levels) is not None
        )
        if least.levels is not None:
            self._improve(least.levels)
        return SearchProof(
            combinations=self.evaluator.lattice.combinations, checked=len(self.scored)
        )

    def _improve(self, levels: Levels) -> None:
        current = self.measure(levels)
        while current is not None:
            better = min(
                filter(None, map(self.measure, self._list_neighbours(current))),
                key=lambda each: each.rank,
                default=current,
            )
            if not better.rank < current.rank:
                return
            current = better

    def _list_neighbours(self, current: _Scored) -> Iterator[Levels]:
        """Levels nearby, as long as not too many were measured."""
        levels, heights = current.levels.outcome.levels, self.evaluator.lattice.heights
        nearby: tuple[Iterable[Levels], ...] = (
            list_single_moves(levels, heights),
            list_exchanges(levels, heights),
        )
        for moves in nearby:
            for other in moves:
                if other in self.scored or len(self.scored) < tuning.MOST_SCORED_LEVELS:
                    yield other

    def measure(self, levels: Levels) -> _Scored | None:
        """The figure at some levels, once; None if a limit does not hold."""
        if levels in self.scored:
            return self.scored[levels]
        outcome = self.evaluator.evaluate(levels)
        judged = None
        if self.evaluator.is_allowed(outcome):
            judged = judge_in_full(self.evaluator, self.measurer, outcome)
        scored = None if judged is None else _Scored(judged, self.score(judged))
        self.scored[levels] = scored
        if scored is not None and (self.best is None or scored.rank < self.best.rank):
            self.best = scored
        self.step.advance()
        return scored


def _build_class_score(
    evaluator: LevelEvaluator, utility: ClassUtility
) -> Callable[[RecodedLevels], float]:
    """Discernibility or average class size from units; `measure_utility` tells them of records."""
    lattice = evaluator.lattice
    numberer = ClassNumberer(lattice.units)
    every = np.arange(len(lattice.names))

    def score(levels: RecodedLevels) -> float:
        starts = lattice.find_starts(levels.outcome.levels)
        class_of_unit, classes = numberer.number_classes(lattice, starts, every)
        gone = np.bincount(lattice.unit_of_record[levels.removed], minlength=lattice.units)
        sizes = np.bincount(class_of_unit, lattice.counts - gone, classes)
        removed = levels.removed.size
        if utility == "discernibility":
            return float(sizes @ sizes) + float(removed) * lattice.records
        return lattice.records / (int((sizes > 0).sum()) + (removed > 0))

    return score


def _build_function_score(
    measurer: RecordMeasurer, utility: UtilityFunction
) -> Callable[[RecodedLevels], float]:
    """What a function of the caller's says of the release at some levels."""
    dataset = measurer.dataset

    def score(levels: RecodedLevels) -> float:
        at_levels = dict(zip(measurer.names, levels.outcome.levels, strict=True))
        kept = list_kept_records(dataset.rows, levels.removed)
        released = select_records(coarsen_to_levels(dataset, at_levels), kept)
        return call_function(utility, dataset, released, kept)

    return score
