"""The cheapest protecting pattern, proven: cut generation around relaxations and whole patterns.

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
from divulge.tables.suppression.branch_and_cut import Bounds, Relaxation, within_price
from divulge.tables.suppression.cp_sat_patterns import Satisfying
from divulge.tables.suppression.cut_pool import Pool
from divulge.tables.suppression.heuristic import Scopes, fast_pattern
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.tie_breaking import first_of_ties
from divulge.tables.table.axis import FloatArray
from divulge.tables.table.structure import BoolArray
from divulge.work import Effort

NODES = 60
"""Subproblems of one question about a price, before the solver of constraints is asked."""

RISES = 100
"""How often the bound rises by one unit of the costs; where amounts are the costs, units are tiny
beside what separates two patterns, and the solver of constraints is asked instead."""

STALE = 40
"""Rounds of cutting the relaxation without gain, after which it is left as it is."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A protecting pattern with its price, a proven bound, and whether it is first among ties.

    `is_cut` says that the clock stopped the search before its effort was spent.
    """

    pattern: BoolArray
    cost: int
    bound: int
    first: bool
    hopeless: tuple[int, ...] = ()
    is_cut: bool = False

    @property
    def gap(self) -> float:
        """By how much the price may exceed the best one, as a share of the price."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0


def optimal_pattern(
    problem: SuppressionProblem, seconds: float = 60.0, scopes: Scopes | None = None
) -> Solution:
    """The cheapest protecting pattern, first among ties; with some effort, and with its bound.

    A pure function on arrays. A pattern that is `first` is the only one there is. Where the effort
    is spent before that is proven, the pattern is the best that so many steps have found.
    """
    effort = Effort(seconds)
    incumbent, hopeless = fast_pattern(problem, scopes)
    floor = problem.price(problem.start)
    if hopeless:
        return Solution(incumbent, problem.price(incumbent), floor, False, tuple(hopeless))
    if len(problem.primary) == 0:
        return Solution(incumbent, 0, 0, True)
    search = _Search(problem, effort, scopes, incumbent)
    with work.partial_results(), work.step("Looking for the cheapest pattern"):
        search.relax()
        search.branch()
        if not search.proven:
            search.satisfy()
        best, first = search.incumbent, False
        if search.proven:
            best, first = first_of_ties(search.relaxation, best, effort)
        is_cut = work.is_stopped()
    cost = problem.price(best)
    return Solution(best, cost, min(search.bound, cost), first, is_cut=is_cut)


class _Search:
    """The state of one search: cuts so far, the best pattern so far, the bound so far."""

    def __init__(
        self,
        problem: SuppressionProblem,
        effort: Effort,
        scopes: Scopes | None,
        incumbent: BoolArray,
    ) -> None:
        self.problem, self.effort, self.scopes = problem, effort, scopes
        self.incumbent = incumbent
        self.pool = Pool(problem)
        self.relaxation = Relaxation(self.pool)
        self.bound = self.pool.base

    @property
    def proven(self) -> bool:
        """Whether no pattern is cheaper than the best so far."""
        return self.bound >= self.problem.price(self.incumbent)

    def relax(self) -> None:
        """Cut the linear relaxation until nothing is violated, or little is gained."""
        everything = Bounds.open(len(self.pool.free))
        columns, stale, last = everything.low, 0, -1.0
        while not self.effort.spent and stale < STALE:
            if not self.pool.separate(columns, 1e-3):
                break
            answer = self.relaxation.solve(everything)
            if not answer.optimal:
                break
            self._raise_bound(answer.objective)
            stale = stale + 1 if answer.objective < last + 1e-4 * (1 + abs(last)) else 0
            last, columns = answer.objective, answer.values
            work.check()
        if not self.proven and not self.effort.spent:
            self._repair(self.pool.pattern(columns))
            self._guided(self.pool.shares(columns))

    def branch(self) -> None:
        """Ask for a pattern at the bound; where there is none, the bound rises."""
        everything = Bounds.open(len(self.pool.free))
        for _ in range(RISES):
            if self.proven or self.effort.spent:
                return
            most = self.bound - self.pool.base
            found = within_price(self.relaxation, everything, most, NODES, self.effort)
            if not isinstance(found, str):
                self.incumbent = found
            elif found == "none":
                self.bound += self.pool.unit
            else:
                return

    def satisfy(self) -> None:
        """Solve for whole patterns and cut them until one protects."""
        model = Satisfying(self.pool, Bounds.open(len(self.pool.free)), None)
        while not self.proven and not self.effort.spent:
            work.check()
            found, bound = model.ask(self.incumbent, self.effort)
            if isinstance(found, str):
                return
            self._raise_bound(bound)
            if self.pool.protects(found):
                self._consider(found)
            elif self.pool.forbid(found):
                self._repair(found)
            else:
                return

    def _repair(self, pattern: BoolArray) -> None:
        """Make a pattern protect by the heuristic; it may be the new incumbent."""
        repaired, hopeless = fast_pattern(self.problem, self.scopes, begin=pattern)
        if not hopeless:
            self._consider(repaired)

    def _guided(self, share: FloatArray) -> None:
        """The heuristic with cells the cheaper, the more the relaxation wants them suppressed."""
        price = np.round(1000 * self.problem.cost * (1 - share)).astype(np.int64)
        guided, hopeless = fast_pattern(replace(self.problem, cost=price + 1), self.scopes)
        if not hopeless:
            self._consider(guided)

    def _consider(self, pattern: BoolArray) -> None:
        if self.problem.price(pattern) < self.problem.price(self.incumbent):
            self.incumbent = pattern

    def _raise_bound(self, objective: float) -> None:
        if np.isfinite(objective):
            self.bound = max(self.bound, self.pool.at_least(objective))
