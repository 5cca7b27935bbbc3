"""Optimal cell suppression by cut generation (Fischetti-Salazar): the cheapest pattern, proven.

A master problem chooses cells; the adversary answers with cuts that any protecting pattern keeps
(Fischetti and Salazar 2000). First the linear relaxation is cut until nothing more is violated.
Then it is asked whether a pattern exists at the price that the relaxation proves: often it does,
and is cheapest. What branching does not answer in a fixed number of subproblems goes to a solver
of constraints. A heuristic pattern comes first, so that there is an answer at any effort, and
the bound is a bound whenever the search stops.

Ties are broken exactly (`tie_breaking`), so that the same table always gives the same pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.tables import tuning
from divulge.tables.suppression.branch_and_cut import Bounds, Relaxation, find_within_price
from divulge.tables.suppression.cp_sat_patterns import PatternModel
from divulge.tables.suppression.cut_pool import CutPool
from divulge.tables.suppression.heuristic import Scopes, find_fast_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.tie_breaking import find_first_of_ties
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class PatternSolution:
    """A protecting pattern with its price, a proven bound, and whether it is first among ties.

    `hopeless` cells cannot be protected; of `unsettled` ones of linked tables it is not shown that
    records leave them uncertain enough. `is_cut` says that the clock stopped the search before its
    effort was spent.
    """

    pattern: Bools
    cost: int
    bound: int
    first: bool
    hopeless: tuple[int, ...] = ()
    unsettled: tuple[int, ...] = ()
    is_cut: bool = False

    @property
    def gap(self) -> float:
        """By how much the price may exceed the best one, as a share of the price."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0


def optimal_pattern(
    problem: SuppressionProblem, seconds: float = 60.0, scopes: Scopes | None = None
) -> PatternSolution:
    """The cheapest protecting pattern, first among ties; with some effort, and with its bound.

    A pure function on arrays. A pattern that is `first` is the only one there is. Where the effort
    is spent before that is proven, the pattern is the best that so many steps have found.
    """
    effort = Effort(seconds)
    incumbent, hopeless = find_fast_pattern(problem, scopes)
    floor = problem.price(problem.start)
    if hopeless:
        return PatternSolution(
            pattern=incumbent,
            cost=problem.price(incumbent),
            bound=floor,
            first=False,
            hopeless=tuple(hopeless),
        )
    if len(problem.primary) == 0:
        return PatternSolution(pattern=incumbent, cost=0, bound=0, first=True)
    search = _PatternSearch(problem, effort, scopes, incumbent)
    with work.partial_results(), work.step("Looking for the cheapest pattern"):
        search.cut_relaxation()
        search.branch_at_bound()
        if not search.is_proven:
            search.solve_by_cp_sat()
        best, first = search.incumbent, False
        if search.is_proven:
            best, first = find_first_of_ties(search.relaxation, best, effort)
        is_cut = work.is_stopped()
    cost = problem.price(best)
    return PatternSolution(
        pattern=best, cost=cost, bound=min(search.bound, cost), first=first, is_cut=is_cut
    )


class _PatternSearch:
    """The state of one search: cuts so far, the best pattern so far, the bound so far."""

    def __init__(
        self,
        problem: SuppressionProblem,
        effort: Effort,
        scopes: Scopes | None,
        incumbent: Bools,
    ) -> None:
        self.problem, self.effort, self.scopes = problem, effort, scopes
        self.incumbent = incumbent
        self.pool = CutPool(problem)
        self.relaxation = Relaxation(self.pool)
        self.bound = self.pool.base

    @property
    def is_proven(self) -> bool:
        """Whether no pattern is cheaper than the best so far."""
        return self.bound >= self.problem.price(self.incumbent)

    def cut_relaxation(self) -> None:
        """Cut the linear relaxation until nothing is violated, or little is gained."""
        everything = Bounds.all_open(len(self.pool.free))
        columns, stale_rounds, last = everything.low, 0, -1.0
        while not self.effort.spent and stale_rounds < tuning.MAX_STALE_ROUNDS:
            if not self.pool.separate_shares(columns, tuning.ROOT_VIOLATION):
                break
            answer = self.relaxation.solve_within(everything)
            if not answer.is_optimal:
                break
            self._raise_bound(answer.objective)
            least_gain = tuning.STALE_GAIN * (1 + abs(last))
            stale_rounds = stale_rounds + 1 if answer.objective < last + least_gain else 0
            last, columns = answer.objective, answer.values
            work.check()
        if not self.is_proven and not self.effort.spent:
            self._repair_pattern(self.pool.to_pattern(columns))
            self._try_guided_heuristic(self.pool.to_shares(columns))

    def branch_at_bound(self) -> None:
        """Ask for a pattern at the bound; where there is none, the bound rises."""
        everything = Bounds.all_open(len(self.pool.free))
        for _ in range(tuning.MAX_BOUND_RISES):
            if self.is_proven or self.effort.spent:
                return
            most = self.bound - self.pool.base
            pattern = find_within_price(
                self.relaxation, everything, most, tuning.MAX_BRANCH_NODES, self.effort
            )
            if not isinstance(pattern, str):
                self.incumbent = pattern
            elif pattern == "none":
                self.bound += self.pool.unit
            else:
                return

    def solve_by_cp_sat(self) -> None:
        """Solve for whole patterns and cut them until one protects."""
        model = PatternModel(self.pool, Bounds.all_open(len(self.pool.free)), None)
        while not self.is_proven and not self.effort.spent:
            work.check()
            pattern, bound = model.find_pattern(self.incumbent, self.effort)
            if isinstance(pattern, str):
                return
            self._raise_bound(bound)
            if self.pool.is_protecting(pattern):
                self._update_incumbent(pattern)
            elif self.pool.forbid_pattern(pattern):
                self._repair_pattern(pattern)
            else:
                return

    def _repair_pattern(self, pattern: Bools) -> None:
        """Make a pattern protect by the heuristic; it may be the new incumbent."""
        repaired, hopeless = find_fast_pattern(self.problem, self.scopes, begin=pattern)
        if not hopeless:
            self._update_incumbent(repaired)

    def _try_guided_heuristic(self, share: Floats) -> None:
        """The heuristic with cells the cheaper, the more the relaxation wants them suppressed."""
        price = np.round(tuning.GUIDED_COST_UNIT * self.problem.cost * (1 - share)).astype(np.int64)
        guided, hopeless = find_fast_pattern(replace(self.problem, cost=price + 1), self.scopes)
        if not hopeless:
            self._update_incumbent(guided)

    def _update_incumbent(self, pattern: Bools) -> None:
        if self.problem.price(pattern) < self.problem.price(self.incumbent):
            self.incumbent = pattern

    def _raise_bound(self, objective: float) -> None:
        if np.isfinite(objective):
            self.bound = max(self.bound, self.pool.round_up_bound(objective))
