"""What no combination of levels can lose less than: boxes of levels, the lowest bound first.

A box holds all combinations between two. Whoever must be removed at its coarsest must be at all of
them, which costs the removal; everybody else costs at least what the finest costs. Boxes are cut in
two where their levels differ most, until the effort is spent; if none is left that could be better
than the best, that is the proof.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.recoding.evaluation import LevelEvaluator, LevelOutcome, Levels
from divulge.protection.recoding.lattice_search.branch_and_bound import TIE_TOLERANCE
from divulge.work.effort import Effort, charge


@dataclass(frozen=True, kw_only=True)
class BoxBound:
    """A bound of every loss, and whether it is reached by what was found."""

    value: float
    boxes: int
    is_closed: bool
    """Whether no box is left that could be better than the best."""
    best: LevelOutcome | None
    """Better levels than those that were given, where some were met on the way."""


def bound_by_boxes(evaluator: LevelEvaluator, least: float, effort: Effort) -> BoxBound:
    """The least that any combination of levels can lose, as far as the effort goes.

    `least` is the loss of the best that is known. Valid for tests that prune, and for others as
    far as what they imply does.
    """
    lattice, best = evaluator.lattice, None
    finest: Levels = (0,) * len(lattice.names)
    top = evaluator.evaluate(lattice.top)
    waiting: list[tuple[float, int, Levels, LevelOutcome]] = []
    boxes = 0

    def add_box(low: Levels, high: LevelOutcome) -> None:
        nonlocal boxes
        boxes += 1
        if high.forced_costs is not None:
            heapq.heappush(waiting, (_bound_box(evaluator, low, high), boxes, low, high))

    if evaluator.is_allowed(top) and top.loss < least - TIE_TOLERANCE:
        best, least = top, top.loss
    add_box(finest, top)
    with work.step("Bounding what can be reached") as step:
        while waiting and not effort.spent:
            bound, _, low, high = waiting[0]
            if bound >= least - TIE_TOLERANCE:
                break
            heapq.heappop(waiting)
            if low == high.levels:
                continue  # a single combination: it was compared when it was evaluated
            a = _choose_attribute(evaluator, low, high.levels)
            middle = (low[a] + high.levels[a]) // 2
            below = (*high.levels[:a], middle, *high.levels[a + 1 :])
            charge(tuning.BOX_COST, lattice.units * len(lattice.names))
            coarsest = evaluator.evaluate(below)
            evaluator.evaluated.pop(below, None)
            if evaluator.is_allowed(coarsest) and coarsest.loss < least - TIE_TOLERANCE:
                best, least = coarsest, coarsest.loss
            add_box(low, coarsest)
            add_box((*low[:a], middle + 1, *low[a + 1 :]), high)
            step.advance()
    value = min([least, *(box[0] for box in waiting)])
    is_closed = not waiting or waiting[0][0] >= least - TIE_TOLERANCE
    return BoxBound(value=float(value), boxes=boxes, is_closed=is_closed, best=best)


def _bound_box(evaluator: LevelEvaluator, low: Levels, high: LevelOutcome) -> float:
    costs = high.forced_costs
    assert costs is not None  # noqa: S101  # asked before
    kept = sum(costs.kept[a, level] for a, level in enumerate(low))
    return evaluator.lattice.sum_level_costs(low) + costs.total - float(kept)


def _choose_attribute(evaluator: LevelEvaluator, low: Levels, high: Levels) -> int:
    """The attribute whose levels differ most in what they cost."""
    costs = evaluator.lattice.level_costs
    spans = [
        costs[a, high[a]] - costs[a, low[a]] if high[a] > low[a] else -1.0 for a in range(len(low))
    ]
    return int(np.argmax(spans))
