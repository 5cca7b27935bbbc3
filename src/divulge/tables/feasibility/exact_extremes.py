"""Linear programs with exact dual proofs: the least and the greatest value of a suppressed cell.

A solver computes with rounded numbers, and where amounts are large it has called bounded cells
unbounded. So its answer is only a proposal. What it proposes as prices of the sums is rounded to
small fractions, and if these prove a bound it is computed from them in whole numbers. That a cell
has no bound is believed if a movement shows it that the sums never stop.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from divulge.solvers.highs import INFINITE, LinearProgram, LinearProgramResult, Method
from divulge.tables import tuning
from divulge.work import DivulgeError
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Extremes:
    """Answers for the cells `x >= 0` with `matrix @ x = right`, one after the other."""

    def __init__(self, matrix: csr_array, right: Ints) -> None:
        self._matrix, self._right, self._transpose = matrix, right, matrix.T.tocsr()
        self._count = matrix.shape[1]
        # Each begins from the vertex where the last one ended.
        self._warm_program = _build_program(matrix, right, "primal simplex")

    @cached_property
    def _cold_program(self) -> LinearProgram:
        """The same by another way: simplified first, and not from the last vertex."""
        return _build_program(self._matrix, self._right)

    @cached_property
    def _scaled_program(self) -> LinearProgram:
        """The same with small numbers."""
        most = float(np.abs(self._right).max(initial=1))
        scale = 2.0 ** max(0, ceil(np.log2(max(most, 1) / tuning.MAX_RIGHT_HAND_SIDE)))
        return _build_program(self._matrix, self._right / scale)

    @cached_property
    def _ray_program(self) -> LinearProgram:
        """What can be added to any solution again and again."""
        return _build_program(self._matrix, np.zeros_like(self._right))

    def bound_cell(self, column: int) -> tuple[float, float] | None:
        """The least and the greatest whole number of a cell; None if nothing keeps the sums."""
        objective = np.zeros(self._count, dtype=np.int64)
        objective[column] = 1
        least = self._minimise_proven(objective)
        most = None if least is None else self._minimise_proven(-objective, column)
        return None if least is None or most is None else (least, -most)

    def _minimise_proven(self, objective: Ints, rising: int | None = None) -> float | None:
        """The smallest whole number that an objective can be, proven; None if there is none.

        Of a cell that rises it may be without end.
        """
        answer = self._warm_program.minimise(objective)
        bound = self._prove_bound(objective, answer)
        if bound is None and rising is not None and self._is_unbounded(rising):
            return -INFINITE
        if bound is None:
            answer = self._cold_program.minimise(objective)
            bound = self._prove_bound(objective, answer)
        if bound is None:
            answer = self._scaled_program.minimise(objective)
            bound = self._prove_bound(objective, answer)
        if bound is None and answer.status != "infeasible":
            raise DivulgeError("the solver of linear programs gives no bound that can be proven")
        return None if bound is None else float(ceil(bound))

    def _is_unbounded(self, column: int) -> bool:
        """Whether a cell can rise for ever."""
        upper = np.full(self._count, INFINITE)
        upper[column] = 1
        self._ray_program.bound_columns(np.zeros(self._count), upper)
        objective = np.zeros(self._count)
        objective[column] = -1
        return self._ray_program.minimise(objective).objective < -0.5

    def _prove_bound(self, objective: Ints, answer: LinearProgramResult) -> Fraction | None:
        """What prices prove: no solution is below them times the right-hand sides."""
        if not answer.is_optimal:
            return None
        for denominator in range(1, tuning.MAX_DENOMINATOR + 1):
            exact = answer.prices * denominator
            prices = np.round(exact).astype(np.int64)
            close = np.all(np.abs(exact - prices) <= tuning.PRICE_TOLERANCE * denominator)
            if close and np.all(self._transpose @ prices <= denominator * objective):
                nonzero = np.flatnonzero(prices)
                pairs = zip(prices[nonzero].tolist(), self._right[nonzero].tolist(), strict=True)
                return Fraction(sum(price * right for price, right in pairs), denominator)
        return None


def _build_program(
    matrix: csr_array, right: Ints | Floats, method: Method = "dual simplex"
) -> LinearProgram:
    count = matrix.shape[1]
    unlimited = np.full(count, INFINITE)
    return LinearProgram(
        matrix, right, right, lower=np.zeros(count), upper=unlimited, method=method
    )
