"""CP-SAT asked for a protecting pattern within a price, for what branch and cut leaves open.

CP-SAT learns from conflicts where the linear relaxation says little. It knows the cuts as clauses
or as sums of whole numbers, and is asked again while its patterns do not protect. One worker and
a fixed seed: the same question always takes the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge import work
from divulge.solvers import cp_sat
from divulge.solvers import tuning as solver_tuning
from divulge.tables import tuning
from divulge.tables.suppression.branch_and_cut import Bounds, NoPatternReason
from divulge.tables.suppression.cut_pool import CutPool
from divulge.tables.suppression.problem import Cut
from divulge.work import Effort
from divulge.work.arrays import Bools


class PatternModel:
    """A model of the pool's cuts that grows with the pool."""

    def __init__(self, pool: CutPool, bounds: Bounds, most: int | None) -> None:
        from ortools.sat.python import cp_model

        self.pool = pool
        self._model = cp_model.CpModel()
        self._variables = [
            self._model.new_int_var(int(low), int(high), "")
            for low, high in zip(bounds.low, bounds.high, strict=True)
        ]
        price = cp_model.LinearExpr.weighted_sum(self._variables, pool.cost.tolist())
        if most is None:
            self._model.minimize(price)
        else:
            self._model.add(price <= most)
        self._added_cuts = 0

    def find_pattern(self, hint: Bools, effort: Effort) -> tuple[Bools | NoPatternReason, float]:
        """A pattern that keeps the cuts so far, and a bound of its price."""
        new_cuts = self.pool.cuts[self._added_cuts :]
        for cut in new_cuts:
            self._add_cut(cut)
        work.charge(solver_tuning.CP_SAT_MODEL, sum(len(cut.cells) for cut in new_cuts))
        self._added_cuts = len(self.pool.cuts)
        self._model.clear_hints()  # type: ignore[no-untyped-call]
        for variable, hint_value in zip(
            self._variables, hint[self.pool.free].tolist(), strict=True
        ):
            self._model.add_hint(variable, hint_value)
        answer = cp_sat.solve_model(self._model, effort, seed=20190811, linearisation=2)
        if answer.is_infeasible:
            return "none", np.inf
        if not answer.is_solution:
            return "unknown", -np.inf
        columns = np.array([float(answer.value(variable)) for variable in self._variables])
        return self.pool.to_pattern(columns), answer.bound

    def _add_cut(self, cut: Cut) -> None:
        from ortools.sat.python import cp_model

        variables: list[Any] = [self._variables[column] for column in self.pool.column[cut.cells]]
        if cut.right == 0:  # company for the last cell, or it is published
            *others, cell = variables
            self._model.add_bool_or([*others, cell.negated()])
            return
        scaled = cut.coefficients / cut.right * tuning.COEFFICIENT_SCALE
        weights = np.ceil(scaled - tuning.COEFFICIENT_SLACK).astype(np.int64)
        if np.all(weights >= tuning.COEFFICIENT_SCALE):
            self._model.add_bool_or(variables)
        else:
            total = cp_model.LinearExpr.weighted_sum(variables, weights.tolist())
            self._model.add(total >= tuning.COEFFICIENT_SCALE)


def find_by_cp_sat(
    pool: CutPool, bounds: Bounds, most: int, hint: Bools, effort: Effort
) -> Bools | NoPatternReason:
    """A protecting pattern within bounds that costs at most this; asked until it protects."""
    model = PatternModel(pool, bounds, most)
    while not effort.spent:
        work.check()
        pattern, _ = model.find_pattern(hint, effort)
        if isinstance(pattern, str):
            return pattern
        if pool.is_protecting(pattern):
            return pattern
        if not pool.forbid_pattern(pattern):
            return "unknown"
    return "unknown"
