"""The cheapest protecting pattern, proven: cut generation around an integer program.

A master program chooses cells; the adversary answers with cuts that any protecting pattern keeps
(Fischetti and Salazar 2000). First the linear relaxation is cut until nothing more is violated,
then whole patterns are solved for and cut. A heuristic pattern comes first, so that there is an
answer at any time limit, and the master's bound is a bound whenever it stops.

Ties are broken exactly: among the cheapest patterns, the lexicographically first over the order
of the cells (at the first cell where two differ, the one that suppresses it). No costs are
perturbed: cells that no cheapest pattern has are ruled out by proof, and the others are decided
in blocks small enough for powers of two to be exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, gcd
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.tables.axis import IntArray
from divulge.tables.fast import Scopes, fast_pattern
from divulge.tables.linear import FloatArray, Program
from divulge.tables.problem import Adversary, Cut, SuppressionProblem
from divulge.tables.structure import BoolArray
from divulge.work import Budget

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BLOCK = 20
"""Cells decided at once among ties: 2**20 is exact and far from the solver's tolerances."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A protecting pattern with its price, a proven bound, and whether it is first among ties."""

    pattern: BoolArray
    cost: int
    bound: int
    first: bool
    hopeless: tuple[int, ...] = ()

    @property
    def gap(self) -> float:
        """By how much the price may exceed the best one, as a share of the price."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0


def optimal_pattern(
    problem: SuppressionProblem, seconds: float = 60.0, scopes: Scopes | None = None
) -> Solution:
    """The cheapest protecting pattern, first among ties; within the time, with its bound.

    A pure function on arrays: the same problem gives the same pattern in every process (where
    the time limit does not strike).
    """
    budget = Budget(seconds)
    incumbent, hopeless = fast_pattern(problem, scopes)
    floor = problem.price(problem.start)
    if hopeless:
        return Solution(incumbent, problem.price(incumbent), floor, False, tuple(hopeless))
    if len(problem.primary) == 0:
        return Solution(incumbent, 0, 0, True)
    search = _Search(problem, budget, scopes, incumbent)
    with work.step("Looking for the cheapest pattern"):
        search.relax()
        search.solve()
        first = search.bound >= problem.price(search.incumbent) and search.break_ties()
    cost = problem.price(search.incumbent)
    return Solution(search.incumbent, cost, min(search.bound, cost), first)


class _Search:
    """The state of one search: cuts so far, the best pattern so far, the bound so far."""

    def __init__(
        self,
        problem: SuppressionProblem,
        budget: Budget,
        scopes: Scopes | None,
        incumbent: BoolArray,
    ) -> None:
        self.problem, self.budget, self.scopes = problem, budget, scopes
        self.adversary = Adversary(problem)
        self.incumbent = incumbent
        # Cells that may be added to the primary ones; the columns of all programs.
        self.free = np.flatnonzero(problem.open & ~problem.start)
        self.column = np.full(len(problem.values), -1)
        self.column[self.free] = np.arange(len(self.free))
        self.base = problem.price(problem.start)
        self.cost = problem.cost[self.free]
        self.unit = gcd(*self.cost.tolist()) if len(self.free) else 1
        self.bound = self.base
        self.cuts: list[Cut] = []
        self._seen: set[bytes] = set()
        # Whether the solver ever gave up: then "nothing found" proves nothing.
        self.stopped = False

    def relax(self) -> None:
        """Cut the linear relaxation until nothing is violated, or little is gained."""
        program = Program(
            _empty(len(self.free)), [], [], np.zeros(len(self.free)), np.ones(len(self.free))
        )
        stale, last = 0, -1.0
        share = self._shares(np.zeros(len(self.free)))
        while not self.budget.spent and stale < 40:
            fresh = self._add(self.adversary.cuts(share, tolerance=1e-3))
            if not fresh:
                break
            for cut in fresh:
                program.add_row(cut.right, np.inf, self.column[cut.cells], cut.coefficients)
            answer = program.minimise(self.cost, max(0.1, self.budget.left))
            if not answer.optimal:
                break
            self._raise_bound(answer.objective)
            stale = stale + 1 if answer.objective < last + 1e-4 * (1 + abs(last)) else 0
            last = answer.objective
            share = self._shares(answer.values)
            work.check()

    def solve(self) -> None:
        """Solve for whole patterns and cut them until one protects."""
        while self.bound < self.problem.price(self.incumbent) and not self.budget.spent:
            answer_pattern, bound = self._master(self.cost, [], self.incumbent)
            self._raise_bound(bound)
            if answer_pattern is None:
                break
            self._learn(answer_pattern)
            work.check()

    def break_ties(self) -> bool:
        """Make the incumbent the lexicographically first of the cheapest; False if out of time."""
        best = self.problem.price(self.incumbent) - self.base
        exactly = [Cut(self.free, -self.cost.astype(float), -float(best))]
        possible = self._possible(exactly)
        if possible is None:
            return False
        never = np.setdiff1d(self.free, possible)
        fixed = [Cut(never, -np.ones(len(never)), 0.0)] if len(never) else []
        for begin in range(0, len(possible), BLOCK):
            block = possible[begin : begin + BLOCK]
            weights = np.zeros(len(self.free))
            weights[self.column[block]] = -(2.0 ** np.arange(len(block))[::-1])
            found = self._protecting(weights, [*exactly, *fixed])
            if found is None:
                return False
            self.incumbent = found
            for cell in block:
                chosen = bool(found[cell])
                sign = 1.0 if chosen else -1.0
                fixed.append(Cut(np.array([cell]), np.array([sign]), 1.0 if chosen else 0.0))
        return True

    def _possible(self, exactly: list[Cut]) -> IntArray | None:
        """All free cells that some cheapest pattern has; None if out of time."""
        seen = self.incumbent.copy()
        while True:
            unseen = self.free[~seen[self.free]]
            if len(unseen) == 0:
                return self.free
            objective = np.zeros(len(self.free))
            objective[self.column[unseen]] = -1
            some = Cut(unseen, np.ones(len(unseen)), 1.0)
            found = self._protecting(objective, [*exactly, some])
            if found is None:
                if self.stopped or self.budget.spent:
                    return None
                return self.free[seen[self.free]]
            seen |= found

    def _protecting(self, objective: FloatArray, rows: list[Cut]) -> BoolArray | None:
        """The best protecting pattern for another objective; None if there is none (or no time)."""
        while not self.budget.spent:
            pattern, _ = self._master(objective, rows, None)
            if pattern is None:
                return None
            if not self._add(self._violated(pattern)):
                return pattern
            work.check()
        return None

    def _master(
        self, objective: FloatArray | IntArray, rows: list[Cut], begin: BoolArray | None
    ) -> tuple[BoolArray | None, float]:
        """Solve the integer program of all cuts; the pattern, and a bound of its objective."""
        from scipy.sparse import csr_array

        cuts = [*self.cuts, *rows]
        matrix = csr_array(
            (
                np.concatenate([c.coefficients for c in cuts] or [np.empty(0)]),
                np.concatenate([self.column[c.cells] for c in cuts] or [np.empty(0, int)]),
                np.concatenate([[0], np.cumsum([len(c.cells) for c in cuts])]),
            ),
            shape=(len(cuts), len(self.free)),
        )
        right = [cut.right for cut in cuts]
        ones = np.ones(len(self.free))
        program = Program(matrix, right, np.full(len(cuts), np.inf), 0 * ones, ones, integer=True)
        if begin is not None:
            program.start_from(begin[self.free].astype(float))
        close = 0.9 * self.unit if objective is self.cost else 0.9
        answer = program.minimise(objective, self.budget.left, close_enough=close)
        self.stopped = self.stopped or answer.status not in ("optimal", "infeasible")
        if len(answer.values) == 0 or (begin is None and not answer.optimal):
            return None, -np.inf if answer.status != "infeasible" else answer.bound
        pattern = self.problem.start.copy()
        pattern[self.free] = answer.values > 0.5
        return pattern, answer.bound

    def _learn(self, pattern: BoolArray) -> None:
        """Cut a pattern that does not protect; a protecting one may be the new incumbent."""
        if not self._add(self._violated(pattern)):
            if self.problem.price(pattern) < self.problem.price(self.incumbent):
                self.incumbent = pattern
            return
        repaired, hopeless = fast_pattern(self.problem, self.scopes, begin=pattern)
        if not hopeless and self.problem.price(repaired) < self.problem.price(self.incumbent):
            self.incumbent = repaired

    def _violated(self, pattern: BoolArray) -> list[Cut]:
        """The adversary's cuts; and of each, that some cell outside the pattern is needed."""
        cuts = self.adversary.cuts(pattern.astype(float))
        covers = []
        for cut in cuts:
            outside = cut.cells[~pattern[cut.cells]]
            covers.append(Cut(outside, np.ones(len(outside)), 1.0))
        return [*cuts, *covers]

    def _add(self, cuts: list[Cut]) -> list[Cut]:
        fresh = []
        for cut in cuts:
            name = cut.cells.tobytes() + np.round(cut.coefficients / cut.right, 9).tobytes()
            if name not in self._seen:
                self._seen.add(name)
                fresh.append(cut)
        self.cuts.extend(fresh)
        return fresh

    def _shares(self, columns: FloatArray) -> FloatArray:
        share = self.problem.start.astype(float)
        share[self.free] = np.clip(columns, 0, 1)
        return share

    def _raise_bound(self, objective: float) -> None:
        """No pattern costs less than this; costs are multiples of their greatest divisor."""
        if np.isfinite(objective):
            steps = ceil(objective / self.unit - 1e-6)
            self.bound = max(self.bound, self.base + steps * self.unit)


def _empty(columns: int) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((0, columns))
