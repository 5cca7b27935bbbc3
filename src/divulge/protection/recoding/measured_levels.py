"""Feasibility of a combination of levels, judged in full: classes of units first, then records.

Records that are over a limit are removed, which leaves fewer of their classes, and so on until
nobody is over; then the figures of the whole must hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from divulge.protection.recoding.evaluation import LevelEvaluator, LevelOutcome, sum_removal
from divulge.protection.recoding.limit_tests import RecordMeasurer
from divulge.work.arrays import Ints


@dataclass(frozen=True, kw_only=True)
class RecodedLevels:
    """Levels that meet every limit, and the records that are removed for it."""

    outcome: LevelOutcome
    removed: Ints
    """Places of the records, in rising order."""


def judge_in_full(
    evaluator: LevelEvaluator, measurer: RecordMeasurer, outcome: LevelOutcome
) -> RecodedLevels | None:
    """Whom all limits remove; None if that is too many, or a figure of the whole does not hold."""
    lattice, levels = evaluator.lattice, outcome.levels
    is_alive = (evaluator.find_removed(levels) == 0)[lattice.unit_of_record]
    while measurer.limits.measured:
        over = measurer.find_failing_records(levels, np.flatnonzero(is_alive))
        if not over.size:
            break
        is_alive[over] = False
        if is_too_many(evaluator, is_alive):
            return None
        left = np.bincount(lattice.unit_of_record[is_alive], minlength=lattice.units)
        left = evaluator.remove_failing(lattice.find_starts(levels), evaluator.tests, left)
        is_alive &= left[lattice.unit_of_record] > 0
    if is_too_many(evaluator, is_alive):
        return None
    if not measurer.holds(levels, np.flatnonzero(is_alive)):
        return None
    return RecodedLevels(
        outcome=_recount(evaluator, outcome, is_alive), removed=np.flatnonzero(~is_alive)
    )


def is_too_many(evaluator: LevelEvaluator, is_alive: Sequence[bool] | np.ndarray) -> bool:
    """Whether more records are gone than may be, or all are."""
    alive = int(np.count_nonzero(is_alive))
    return alive == 0 or evaluator.lattice.records - alive > evaluator.most_removed


def _recount(
    evaluator: LevelEvaluator, outcome: LevelOutcome, is_alive: np.ndarray
) -> LevelOutcome:
    lattice = evaluator.lattice
    removed = np.bincount(lattice.unit_of_record[~is_alive], minlength=lattice.units)
    return replace(
        outcome,
        removed_records=int(removed.sum()),
        loss=evaluator.sum_loss(outcome.levels, sum_removal(lattice, removed)),
    )
