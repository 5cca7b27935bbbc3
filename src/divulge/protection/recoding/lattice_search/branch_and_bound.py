"""The provably best levels: branch and bound over the whole generalisation lattice.

A node that is checked tells of all nodes below it: where too many records fail, they fail below
too, and whoever fails must be removed below, which costs at least the removal. So the search goes
from the top downwards, to good levels first (greedy descent), and then through whatever the bounds
leave, the coarsest first. At the end every node was checked, is excluded, or cannot be better than
the best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.recoding.evaluation import LevelEvaluator, LevelOutcome, Levels
from divulge.protection.result.search_proof import SearchProof
from divulge.work.arrays import Array, Floats
from divulge.work.context import Step
from divulge.work.effort import Effort, charge

OPEN, CHECKED, EXCLUDED = 0, 1, 2

TIE_TOLERANCE = 1e-12
"""Losses that differ by less are equal: sums of floating numbers in another order do."""


@dataclass(frozen=True, kw_only=True)
class LevelSearchResult:
    """The best levels that were found, and what is proven of them."""

    best: LevelOutcome | None
    proof: SearchProof


def find_optimal_levels(
    evaluator: LevelEvaluator, seconds: float = tuning.PROOF_SECONDS
) -> LevelSearchResult:
    """The levels with the least loss of all combinations, and the proof that there are no better.

    None if no combination meets the tests. After so many nominal seconds the best found is the
    answer, with a bound: where tests do not prune, few combinations are excluded unseen.
    """
    search = BoundedSearch(evaluator, Effort(seconds))
    with work.step("Searching for the best levels") as step:
        search.descend(step)
        search.settle_rest(step)
        least = search.least
        search.lower_ties(step)
    return LevelSearchResult(best=search.best, proof=search.build_proof(least))


class BoundedSearch:
    """The lattice as arrays: a state and a lower bound of each node."""

    def __init__(self, evaluator: LevelEvaluator, effort: Effort | None = None) -> None:
        lattice = evaluator.lattice
        self.evaluator, self.lattice, self.effort = evaluator, lattice, effort
        sizes = [height + 1 for height in lattice.heights]
        self.strides = np.array(
            [int(np.prod(sizes[a + 1 :], dtype=np.int64)) for a in range(len(sizes))], np.int64
        )
        costs: Floats = np.zeros(1)
        for a, size in enumerate(sizes):
            costs = np.add.outer(costs, lattice.level_costs[a, :size]).reshape(-1)
        self.plain_costs = costs
        """What each node costs if nobody is removed."""
        self.bounds = costs.copy()
        self.states: Array = np.zeros(costs.size, np.uint8)
        self.level_counts = np.array(sizes, np.int64)
        self.best: LevelOutcome | None = None

    @property
    def least(self) -> float:
        """What a better combination must lose less than."""
        return np.inf if self.best is None else self.best.loss - TIE_TOLERANCE

    def descend(self, step: Step) -> None:
        """From the top, always to the best child, as long as one is allowed."""
        current: LevelOutcome | None = self.check(self.lattice.top, step)
        while current is not None and self.evaluator.is_allowed(current):
            children = [
                self.check(child, step)
                for child in list_children(current.levels)
                if self.states[self.find_place(child)] != EXCLUDED
            ]
            allowed = [child for child in children if self.evaluator.is_allowed(child)]
            current = min(allowed, key=lambda child: child.loss, default=None)

    def settle_rest(self, step: Step) -> None:
        """Check whatever the bounds leave, the coarsest first: what fails excludes all below."""
        waiting = np.flatnonzero((self.states == OPEN) & (self.bounds < self.least))
        for place in waiting[np.argsort(-self.plain_costs[waiting], kind="stable")]:
            if self.effort is not None and self.effort.spent:
                return
            if self.states[place] == OPEN and self.bounds[place] < self.least:
                self.check(self.find_levels(int(place)), step)

    def lower_ties(self, step: Step) -> None:
        """Of combinations that lose the same, take one below which no other does."""
        if self.best is None:
            return
        most, is_lower = self.best.loss + TIE_TOLERANCE, True
        while is_lower:
            is_lower = False
            for child in list_children(self.best.levels):
                place = self.find_place(child)
                if self.states[place] == EXCLUDED or self.bounds[place] > most:
                    continue
                outcome = self.check(child, step)
                if self.evaluator.is_allowed(outcome) and outcome.loss <= most:
                    self.best, is_lower = outcome, True
                    break

    def check(self, levels: Levels, step: Step | None = None) -> LevelOutcome:
        """Evaluate a node, once, and what it tells of all below it."""
        from divulge.protection.recoding.kernels import mark_below, raise_bounds

        outcome = self.evaluator.evaluate(levels)
        place = self.find_place(levels)
        if self.states[place] == CHECKED:
            return outcome
        charge(tuning.LEVEL_COST, self.lattice.units * len(self.lattice.names))
        box = np.array(levels, np.int64)
        evaluator = self.evaluator
        # Where nobody may be removed, a class that fails lies within one that fails above.
        too_many = outcome.forced_records > evaluator.most_removed or (
            evaluator.most_removed == 0 and outcome.removed_records > 0
        )
        if too_many:
            mark_below(box, self.strides, self.states, EXCLUDED)
        elif outcome.forced_costs is not None and outcome.forced_costs.total > 0:
            costs = outcome.forced_costs
            others = self.lattice.level_costs - costs.kept
            raise_bounds(box, self.strides, costs.total, others, self.bounds)
        self.states[place] = CHECKED
        if evaluator.is_allowed(outcome) and outcome.loss < self.least:
            self.best = outcome
        if step is not None:
            step.advance()
        return outcome

    def build_proof(self, least: float) -> SearchProof:
        """Count how the nodes were settled, if a better one must lose less than `least`."""
        checked = int((self.states == CHECKED).sum())
        excluded = int((self.states == EXCLUDED).sum())
        is_open = self.states == OPEN
        bounded = int((is_open & (self.bounds >= least)).sum())
        return SearchProof(
            combinations=self.lattice.combinations,
            checked=checked,
            excluded=excluded,
            bounded=bounded,
            lower_bound=float(min(least, self.bounds[is_open].min(initial=np.inf))),
            is_complete=checked + excluded + bounded == self.lattice.combinations,
        )

    def find_place(self, levels: Levels) -> int:
        """Where a combination stands in the arrays."""
        return int(self.strides @ np.array(levels, np.int64))

    def find_levels(self, place: int) -> Levels:
        """The combination that stands at a place."""
        return tuple(
            int(place // stride % size)
            for stride, size in zip(self.strides, self.level_counts, strict=True)
        )


def list_children(levels: Levels) -> list[Levels]:
    """One attribute a level finer, in each way."""
    return [
        (*levels[:a], level - 1, *levels[a + 1 :]) for a, level in enumerate(levels) if level > 0
    ]
