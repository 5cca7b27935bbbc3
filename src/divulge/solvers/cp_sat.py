"""CP-SAT (OR-tools) with one worker, a fixed seed and its deterministic time.

Several workers race each other, and seconds of the clock are not the same everywhere: neither could
be repeated. Equal answers are promised for one version of OR-tools on one kind of processor.
"""

from __future__ import annotations

from typing import Any

from divulge import work
from divulge.solvers import tuning
from divulge.work import Effort


class CpSatResult:
    """What CP-SAT says of a model: a solution, that there is none, or neither."""

    def __init__(self, solver: Any, status: Any) -> None:
        from ortools.sat.python import cp_model

        self._solver = solver
        self.is_optimal = status == cp_model.OPTIMAL
        self.is_solution = self.is_optimal or status == cp_model.FEASIBLE
        self.is_infeasible = status == cp_model.INFEASIBLE

    @property
    def bound(self) -> float:
        """A proven bound of the objective."""
        return float(self._solver.best_objective_bound)

    @property
    def objective(self) -> float:
        """The objective of the solution."""
        return float(self._solver.objective_value)

    def value(self, variable: Any) -> int:
        """A variable's value in the solution."""
        return int(self._solver.value(variable))

    def holds(self, literal: Any) -> bool:
        """Whether a truth value holds in the solution."""
        return bool(self._solver.boolean_value(literal))


def solve_model(
    model: Any, effort: Effort, *, seed: int = 1, linearisation: int | None = None
) -> CpSatResult:
    """Solve a model with at most some effort, which is charged with what it took."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = seed
    if linearisation is not None:
        parameters.linearization_level = linearisation
    parameters.max_deterministic_time = max(
        tuning.MIN_CP_SAT_TIME, effort.left / tuning.CP_SAT_SEARCH.per_step
    )
    budget = work.current().budget
    if budget is not None:
        parameters.max_time_in_seconds = max(tuning.MIN_CP_SAT_TIME, budget.left)
    status = solver.solve(model)
    work.charge(tuning.CP_SAT_SEARCH, solver.response_proto.deterministic_time)
    return CpSatResult(solver, status)
