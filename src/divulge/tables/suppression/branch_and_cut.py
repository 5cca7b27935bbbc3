"""Branch and cut: is there a protecting pattern of at most this price? With an answer or none.

The linear relaxation over the pool of cuts is solved again and again with other bounds: of each
subproblem the violated cuts are added, then the most decided of the undecided cells is suppressed
first and published second. Subproblems are counted, not timed, so the same question always takes
the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from divulge import work
from divulge.solvers.highs import LinearProgram, LinearProgramResult
from divulge.tables import tuning
from divulge.tables.suppression.cut_pool import CutPool
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats

PRICE_SLACK = 1e-3
"""Prices are multiples of a unit: no rounding error of a relaxation is as large a share of it."""

INTEGRALITY_TOLERANCE = 1e-6

NoPatternReason = Literal["none", "unknown"]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Which free cells are suppressed for sure (`low` 1), which published for sure (`high` 0)."""

    low: Floats
    high: Floats

    @classmethod
    def all_open(cls, cells: int) -> Bounds:
        """Nothing is decided."""
        return cls(np.zeros(cells), np.ones(cells))

    def with_suppressed(self, column: int) -> Bounds:
        """The same, with one cell suppressed."""
        low = self.low.copy()
        low[column] = 1
        return Bounds(low, self.high)

    def with_published(self, column: int) -> Bounds:
        """The same, with one cell published."""
        high = self.high.copy()
        high[column] = 0
        return Bounds(self.low, high)


class Relaxation:
    """The linear relaxation over a pool of cuts; cuts that the pool gains are fed to it."""

    def __init__(self, pool: CutPool) -> None:
        from scipy.sparse import csr_array

        self.pool = pool
        count = len(pool.free)
        self._program = LinearProgram(
            csr_array((0, count)), [], [], lower=np.zeros(count), upper=np.ones(count)
        )
        self._added_cuts = 0

    def solve_within(self, bounds: Bounds) -> LinearProgramResult:
        """The cheapest shares within bounds that keep all cuts."""
        for cut in self.pool.cuts[self._added_cuts :]:
            # All of one size, whatever the unit of the table: the solver's tolerances are fixed.
            scale = cut.right if cut.right > 0 else 1.0
            columns = self.pool.column[cut.cells]
            self._program.add_row(cut.right / scale, np.inf, columns, cut.coefficients / scale)
        self._added_cuts = len(self.pool.cuts)
        self._program.bound_columns(bounds.low, bounds.high)
        return self._program.minimise(self.pool.cost)

    def exceeds_price(self, answer: LinearProgramResult, most: int) -> bool:
        """Whether no pattern within the bounds costs at most this, by proof."""
        too_dear = most + PRICE_SLACK * self.pool.unit
        return answer.status == "infeasible" or (answer.is_optimal and answer.objective > too_dear)

    def fix_by_reduced_costs(
        self, answer: LinearProgramResult, bounds: Bounds, most: int
    ) -> Bounds:
        """Decide the cells of which reduced costs prove that the other choice costs too much."""
        too_dear = most + PRICE_SLACK * self.pool.unit
        price, shares = answer.objective, answer.values
        never = (shares < INTEGRALITY_TOLERANCE) & (price + answer.reduced_costs > too_dear)
        always = (shares > 1 - INTEGRALITY_TOLERANCE) & (price - answer.reduced_costs > too_dear)
        return Bounds(np.where(always, 1.0, bounds.low), np.where(never, 0.0, bounds.high))


def find_within_price(
    relaxation: Relaxation, bounds: Bounds, most: int, nodes: int, effort: Effort
) -> Bools | NoPatternReason:
    """A protecting pattern within bounds that costs at most this beside the primary cells.

    "none" is proven; "unknown" means that the subproblems allowed, or the effort, are used up.
    """
    pool, waiting = relaxation.pool, [bounds]
    while waiting:
        nodes -= 1
        if nodes < 0 or effort.spent:
            return "unknown"
        work.check()
        node = waiting.pop()
        answer = _solve_with_cuts(relaxation, node, most, effort)
        if answer is None:
            return "unknown"
        if relaxation.exceeds_price(answer, most):
            continue
        undecided = (answer.values > INTEGRALITY_TOLERANCE) & (
            answer.values < 1 - INTEGRALITY_TOLERANCE
        )
        if not undecided.any():
            pattern = pool.to_pattern(answer.values)
            # Rounded shares may differ from what was asked; the price and the flows decide.
            if pool.problem.price(pattern) <= most + pool.base and pool.is_protecting(pattern):
                return pattern
            return "unknown"
        node = relaxation.fix_by_reduced_costs(answer, node, most)
        column = int(np.argmax(np.where(undecided, answer.values, -1)))
        waiting.append(node.with_published(column))
        waiting.append(node.with_suppressed(column))
    return "none"


def _solve_with_cuts(
    relaxation: Relaxation, bounds: Bounds, most: int, effort: Effort
) -> LinearProgramResult | None:
    """The relaxation within bounds, cut until it is too dear or nothing is violated by much."""
    pool = relaxation.pool
    rounds = 0
    while not effort.spent:
        answer = relaxation.solve_within(bounds)
        if relaxation.exceeds_price(answer, most):
            return answer
        if not answer.is_optimal:
            return None
        rounds += 1
        is_integral = np.all(
            (answer.values < INTEGRALITY_TOLERANCE) | (answer.values > 1 - INTEGRALITY_TOLERANCE)
        )
        if is_integral:
            new_cuts = pool.forbid_pattern(pool.to_pattern(answer.values))
        else:
            new_cuts = (
                pool.separate_shares(answer.values, tuning.BRANCH_VIOLATION)
                if rounds <= tuning.MAX_CUT_ROUNDS
                else 0
            )
        if not new_cuts:
            return answer
    return None
