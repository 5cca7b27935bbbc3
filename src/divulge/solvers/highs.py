"""Linear programs by HiGHS: the one place that speaks to the solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from divulge import work
from divulge.solvers import tuning
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array


INFINITE = float("inf")

Method: TypeAlias = Literal["dual simplex", "primal simplex", "interior point"]


@dataclass(frozen=True, kw_only=True)
class LinearProgramResult:
    """What the solver says: values, objective, prices; and whether it is done."""

    status: str
    values: Floats
    objective: float
    reduced_costs: Floats
    prices: Floats

    @property
    def is_optimal(self) -> bool:
        """Whether the answer is proven best."""
        return self.status == "optimal"


class LinearProgram:
    """A program that is solved again and again with other objectives, bounds or more rows.

    Minimises; rows are `row_lower <= matrix @ x <= row_upper`.

    >>> from scipy.sparse import csr_array
    >>> program = LinearProgram(csr_array([[1.0, 1.0]]), [4], [4], lower=[0, 0], upper=[3, 9])
    >>> program.minimise([-1.0, 0.0]).values.tolist()
    [3.0, 1.0]
    """

    def __init__(
        self,
        matrix: csr_array,
        row_lower: Any,
        row_upper: Any,
        *,
        lower: Any,
        upper: Any,
        method: Method = "dual simplex",
    ) -> None:
        import highspy

        self._highspy = highspy
        self._solver = highspy.Highs()
        for option, value in {**_SOLVER_OPTIONS, **_OPTIONS_BY_METHOD[method]}.items():
            self._solver.setOptionValue(option, value)
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = matrix.shape
        program.col_cost_ = np.zeros(matrix.shape[1])
        program.col_lower_, program.col_upper_ = _as_floats(lower), _as_floats(upper)
        program.row_lower_, program.row_upper_ = _as_floats(row_lower), _as_floats(row_upper)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.asarray(matrix.indptr, dtype=np.int32)
        program.a_matrix_.index_ = np.asarray(matrix.indices, dtype=np.int32)
        program.a_matrix_.value_ = _as_floats(matrix.data)
        self._columns = np.arange(matrix.shape[1], dtype=np.int32)
        self._solver.passModel(program)

    def bound_columns(self, lower: Any, upper: Any) -> None:
        """Other bounds of all columns."""
        count = len(self._columns)
        self._solver.changeColsBounds(count, self._columns, _as_floats(lower), _as_floats(upper))

    def add_row(self, lower: float, upper: float, columns: Any, values: Any) -> None:
        """One more row."""
        indices = np.asarray(columns, dtype=np.int32)
        self._solver.addRow(lower, upper, len(indices), indices, _as_floats(values))

    def minimise(self, costs: Any) -> LinearProgramResult:
        """Minimise an objective; the iterations that it takes are charged."""
        solver = self._solver
        solver.changeColsCost(len(self._columns), self._columns, _as_floats(costs))
        solver.run()
        iterations = max(0, solver.getInfo().simplex_iteration_count)
        size = solver.getNumRow() + solver.getNumCol()
        work.charge(tuning.SIMPLEX, (iterations + 1) * size)
        return self._read_result()

    def _read_result(self) -> LinearProgramResult:
        solver, kinds = self._solver, self._highspy.HighsModelStatus
        status = {
            kinds.kOptimal: "optimal",
            kinds.kInfeasible: "infeasible",
            kinds.kUnbounded: "unbounded",
            kinds.kUnboundedOrInfeasible: "unbounded",
        }.get(solver.getModelStatus(), "stopped")
        solution, info = solver.getSolution(), solver.getInfo()
        has_solution = (
            info.primal_solution_status == self._highspy.SolutionStatus.kSolutionStatusFeasible
        )
        return LinearProgramResult(
            status=status if has_solution or status != "optimal" else "stopped",
            values=np.array(solution.col_value) if has_solution else np.empty(0),
            objective=float(info.objective_function_value),
            reduced_costs=np.array(solution.col_dual),
            prices=np.array(solution.row_dual),
        )


def _as_floats(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)


_SOLVER_OPTIONS: Mapping[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 20190811,
}
_OPTIONS_BY_METHOD: Mapping[Method, Mapping[str, Any]] = {
    "dual simplex": {},
    # Objectives change and bounds do not: the last vertex stays feasible.
    "primal simplex": {"simplex_strategy": 4, "presolve": "off"},
    # With crossover it is as exact as the simplex method.
    "interior point": {
        "solver": "ipm",
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
    },
}
