"""Levels in the order of their loss, for limits that only the records can tell.

Such a limit is dear to judge and says nothing of other levels. So levels are taken in the order of
what they lose by the limits that classes tell (A* with the bounds of branch and bound), and judged
in full one after the other. The first that holds is the best, unless removals made it dearer: then
those that might still be better are judged as well.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.protection.recoding.evaluation import LevelEvaluator, LevelOutcome
from divulge.protection.recoding.lattice_search.branch_and_bound import (
    EXCLUDED,
    TIE_TOLERANCE,
    BoundedSearch,
    list_children,
)
from divulge.protection.recoding.limit_tests import RecordMeasurer
from divulge.protection.recoding.measured_levels import RecodedLevels, judge_in_full
from divulge.protection.result.search_proof import SearchProof
from divulge.work.context import Step

_BOUNDED, _COUNTED = 0, 1
"""What is known of a waiting combination: a bound of its loss, or its loss by counts."""


@dataclass(frozen=True, kw_only=True)
class OrderedResult:
    """The best levels that meet every limit, and how far the search came."""

    best: RecodedLevels | None
    proof: SearchProof
    judged: int
    """How many combinations were judged in full."""


def search_in_order(
    evaluator: LevelEvaluator, measurer: RecordMeasurer, most_judged: int
) -> OrderedResult:
    """The levels with the least loss that meet every limit.

    At most `most_judged` combinations are judged in full; if these do not suffice, the best of
    them is the answer, with a bound of what a better one could lose at the least.
    """
    search = _OrderedSearch(evaluator, measurer, most_judged)
    with work.step("Judging levels in the order of their loss", most_judged) as step:
        search.descend(step)
        search.take_in_order(step)
    return search.build_result()


class _OrderedSearch:
    def __init__(
        self, evaluator: LevelEvaluator, measurer: RecordMeasurer, most_judged: int
    ) -> None:
        self.evaluator, self.measurer, self.most_judged = evaluator, measurer, most_judged
        self.bounded = BoundedSearch(evaluator)
        self.best: RecodedLevels | None = None
        self.judged: dict[tuple[int, ...], RecodedLevels | None] = {}
        self.lowest_open = np.inf
        """The least that a combination could lose that was not settled."""

    def descend(self, step: Step) -> None:
        """From the top to ever better levels that hold, so that there is something to beat."""
        current: LevelOutcome | None = self.bounded.check(self.evaluator.lattice.top)
        while current is not None and self._judge(current, step) is not None:
            children = [
                outcome
                for outcome in map(self.bounded.check, list_children(current.levels))
                if self.evaluator.is_allowed(outcome)
            ]
            children.sort(key=lambda outcome: outcome.loss)
            current = next((each for each in children if self._judge(each, step)), None)

    def take_in_order(self, step: Step) -> None:
        """Judge whatever may be better, the least loss first."""
        bounded = self.bounded
        waiting = [
            (float(bounded.bounds[place]), _BOUNDED, int(place))
            for place in np.flatnonzero(bounded.states != EXCLUDED)
        ]
        heapq.heapify(waiting)
        while waiting:
            loss, stage, place = heapq.heappop(waiting)
            if loss >= self._least or len(self.judged) >= self.most_judged:
                self.lowest_open = min(loss, self._least)
                return
            if stage == _COUNTED:
                self._judge(self.evaluator.evaluate(bounded.find_levels(place)), step)
            elif bounded.states[place] != EXCLUDED:
                if bounded.bounds[place] > loss:  # it was raised meanwhile
                    heapq.heappush(waiting, (float(bounded.bounds[place]), _BOUNDED, place))
                    continue
                outcome = bounded.check(bounded.find_levels(place))
                if self.evaluator.is_allowed(outcome):
                    heapq.heappush(waiting, (outcome.loss, _COUNTED, place))
        self.lowest_open = self._least

    @property
    def _least(self) -> float:
        return np.inf if self.best is None else self.best.outcome.loss - TIE_TOLERANCE

    def _judge(self, outcome: LevelOutcome, step: Step) -> RecodedLevels | None:
        if outcome.levels in self.judged or not self.evaluator.is_allowed(outcome):
            return self.judged.get(outcome.levels)
        levels = judge_in_full(self.evaluator, self.measurer, outcome)
        self.judged[outcome.levels] = levels
        if levels is not None and levels.outcome.loss < self._least:
            self.best = levels
        step.advance()
        return levels

    def build_result(self) -> OrderedResult:
        """The best, and how the others were settled."""
        proof = self.bounded.build_proof(self._least)
        if self.lowest_open < self._least:  # the judged ones did not suffice
            settled = proof.checked + proof.excluded
            proof = replace(
                proof,
                bounded=min(proof.bounded, proof.combinations - settled),
                lower_bound=float(self.lowest_open),
                is_complete=False,
            )
        return OrderedResult(best=self.best, proof=proof, judged=len(self.judged))
