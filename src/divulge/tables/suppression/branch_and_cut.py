"""Is there a protecting pattern of at most this price? Branch and cut, with an answer or none.

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
from divulge.solvers.highs import Answer, Program
from divulge.tables.suppression.cut_pool import Pool
from divulge.tables.table.axis import FloatArray
from divulge.tables.table.structure import BoolArray
from divulge.work import Effort

ROUNDS = 15
"""How often one subproblem is cut before it is divided."""

SLACK = 1e-3
"""Prices are multiples of a unit: no rounding error of a relaxation is as large a share of it."""

WHOLE = 1e-6

Given = Literal["none", "unknown"]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Which free cells are suppressed for sure (`low` 1), which published for sure (`high` 0)."""

    low: FloatArray
    high: FloatArray

    @classmethod
    def open(cls, cells: int) -> Bounds:
        """Nothing is decided."""
        return cls(np.zeros(cells), np.ones(cells))

    def suppressing(self, column: int) -> Bounds:
        """The same, with one cell suppressed."""
        low = self.low.copy()
        low[column] = 1
        return Bounds(low, self.high)

    def publishing(self, column: int) -> Bounds:
        """The same, with one cell published."""
        high = self.high.copy()
        high[column] = 0
        return Bounds(self.low, high)


class Relaxation:
    """The linear relaxation over a pool of cuts; cuts that the pool gains are fed to it."""

    def __init__(self, pool: Pool) -> None:
        from scipy.sparse import csr_array

        self.pool = pool
        count = len(pool.free)
        self._program = Program(csr_array((0, count)), [], [], np.zeros(count), np.ones(count))
        self._fed = 0

    def solve(self, bounds: Bounds) -> Answer:
        """The cheapest shares within bounds that keep all cuts."""
        for cut in self.pool.cuts[self._fed :]:
            # All of one size, whatever the unit of the table: the solver's tolerances are fixed.
            scale = cut.right if cut.right > 0 else 1.0
            columns = self.pool.column[cut.cells]
            self._program.add_row(cut.right / scale, np.inf, columns, cut.coefficients / scale)
        self._fed = len(self.pool.cuts)
        self._program.bound_columns(bounds.low, bounds.high)
        return self._program.minimise(self.pool.cost)

    def exceeds(self, answer: Answer, most: int) -> bool:
        """Whether no pattern within the bounds costs at most this, by proof."""
        too_dear = most + SLACK * self.pool.unit
        return answer.status == "infeasible" or (answer.optimal and answer.objective > too_dear)

    def settled(self, answer: Answer, bounds: Bounds, most: int) -> Bounds:
        """Decide the cells of which reduced costs prove that the other choice costs too much."""
        too_dear = most + SLACK * self.pool.unit
        price, shares = answer.objective, answer.values
        never = (shares < WHOLE) & (price + answer.reduced_costs > too_dear)
        always = (shares > 1 - WHOLE) & (price - answer.reduced_costs > too_dear)
        return Bounds(np.where(always, 1.0, bounds.low), np.where(never, 0.0, bounds.high))


def within_price(
    relaxation: Relaxation, bounds: Bounds, most: int, nodes: int, effort: Effort
) -> BoolArray | Given:
    """A protecting pattern within bounds that costs at most this beside the primary cells.

    "none" is proven; "unknown" means that the subproblems allowed, or the effort, are used up.
    """
    pool, waiting = relaxation.pool, [bounds]
    while waiting:
        nodes -= 1
        if nodes < 0 or effort.spent:
            return "unknown"
        work.check()
        here = waiting.pop()
        answer = _cut(relaxation, here, most, effort)
        if answer is None:
            return "unknown"
        if relaxation.exceeds(answer, most):
            continue
        undecided = (answer.values > WHOLE) & (answer.values < 1 - WHOLE)
        if not undecided.any():
            pattern = pool.pattern(answer.values)
            # Rounded shares may differ from what was asked; the price and the flows decide.
            if pool.problem.price(pattern) <= most + pool.base and pool.protects(pattern):
                return pattern
            return "unknown"
        here = relaxation.settled(answer, here, most)
        column = int(np.argmax(np.where(undecided, answer.values, -1)))
        waiting.append(here.publishing(column))
        waiting.append(here.suppressing(column))
    return "none"


def _cut(relaxation: Relaxation, bounds: Bounds, most: int, effort: Effort) -> Answer | None:
    """The relaxation within bounds, cut until it is too dear or nothing is violated by much."""
    pool = relaxation.pool
    rounds = 0
    while not effort.spent:
        answer = relaxation.solve(bounds)
        if relaxation.exceeds(answer, most):
            return answer
        if not answer.optimal:
            return None
        rounds += 1
        whole = np.all((answer.values < WHOLE) | (answer.values > 1 - WHOLE))
        if whole:
            fresh = pool.forbid(pool.pattern(answer.values))
        else:
            fresh = pool.separate(answer.values, 1e-2) if rounds <= ROUNDS else 0
        if not fresh:
            return answer
    return None
