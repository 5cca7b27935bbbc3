"""Which search for levels: to the end, in the order of loss, or as far as the effort goes."""

from __future__ import annotations

from dataclasses import replace

from divulge.protection import tuning
from divulge.protection.recoding.evaluation import LevelEvaluator
from divulge.protection.recoding.lattice_search.box_bound import bound_by_boxes
from divulge.protection.recoding.lattice_search.branch_and_bound import find_optimal_levels
from divulge.protection.recoding.lattice_search.level_descent import descend_levels
from divulge.protection.recoding.lattice_search.ordered_search import search_in_order
from divulge.protection.recoding.limit_tests import RecordMeasurer
from divulge.protection.recoding.measured_levels import RecodedLevels, judge_in_full
from divulge.protection.result.search_proof import SearchProof
from divulge.work.effort import Effort


def search_levels(
    evaluator: LevelEvaluator, measurer: RecordMeasurer, seconds: float
) -> tuple[RecodedLevels | None, SearchProof]:
    """The best levels that meet every limit, and what is proven of them."""
    limits, lattice = measurer.limits, evaluator.lattice
    if lattice.combinations > tuning.MOST_LEVEL_COMBINATIONS:
        return _search_large_lattice(evaluator, measurer, seconds)
    if limits.are_counted:
        result = find_optimal_levels(evaluator)
        if result.best is None:
            return None, result.proof
        return judge_in_full(evaluator, measurer, result.best), result.proof
    ordered = search_in_order(evaluator, measurer, tuning.MOST_JUDGED_LEVELS)
    is_proved = ordered.proof.is_complete and limits.are_of_classes
    return ordered.best, replace(ordered.proof, is_complete=is_proved)


def _search_large_lattice(
    evaluator: LevelEvaluator, measurer: RecordMeasurer, seconds: float
) -> tuple[RecodedLevels | None, SearchProof]:
    accepted: dict[tuple[int, ...], RecodedLevels] = {}

    def accept(levels: tuple[int, ...]) -> bool:
        if measurer.limits.are_counted:
            return True
        judged = judge_in_full(evaluator, measurer, evaluator.evaluate(levels))
        if judged is not None:
            accepted[levels] = judged
        return judged is not None

    effort = Effort(seconds)
    descent = descend_levels(evaluator, effort.share(tuning.DESCENT_SHARE), accept)
    bound = bound_by_boxes(evaluator, descent.loss, effort)
    levels = descent.levels
    if bound.best is not None and accept(bound.best.levels):
        levels = bound.best.levels
    combinations = evaluator.lattice.combinations
    checked = min(descent.measured + bound.boxes, combinations)
    is_proved = bound.is_closed and measurer.limits.are_counted
    proof = SearchProof(
        combinations=combinations,
        checked=checked,
        # Where the boxes leave no gap, what was not checked lies in one that loses no less.
        bounded=combinations - checked if is_proved else 0,
        lower_bound=bound.value,
        is_complete=is_proved,
    )
    if levels is None:
        return None, proof
    if levels in accepted:
        return accepted[levels], proof
    return judge_in_full(evaluator, measurer, evaluator.evaluate(levels)), proof
