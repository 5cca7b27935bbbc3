"""Whole-numbered tables as proof that a cell is not unique, and how far it can be from its value.

Bounds of linear programs say what a cell cannot be beyond. Where the cells form no network, a table
of whole numbers need not reach them. Whoever holds the true table need not leave that open: one
other table of whole numbers that keeps every published sum proves that both values are possible,
for each cell in which the two differ. Vertices of the linear program are tried first, because most
of them are whole; a solver of constraints is asked for the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.solvers.cp_sat import solve_model
from divulge.solvers.highs import INFINITE, LinearProgram
from divulge.tables import tuning
from divulge.tables.feasibility.cell_intervals import (
    Intervals,
    build_equations,
    find_components,
    select_relations,
)
from divulge.tables.feasibility.network import build_network
from divulge.tables.feasibility.sensitivity import Protection
from divulge.tables.table.published import Published
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def find_proven_intervals(
    published: Published,
    truth: Ints,
    cell_intervals: Intervals,
    cells: Ints,
    protection: Protection,
    *,
    effort: Effort | None = None,
) -> tuple[Floats, Floats]:
    """The least and the greatest value of each cell that a whole-numbered table is shown to have.

    Args:
        published: what is published.
        truth: the values of all cells; the first of the tables.
        cell_intervals: what no table is beyond, of every suppressed cell.
        cells: the cells that are asked for.
        protection: how far it is worth looking.
        effort: how much to spend, if several searches share it.
    """
    low, high = truth.astype(float), truth.astype(float)
    wanted = np.zeros(len(truth), dtype=bool)
    wanted[cells] = True
    wanted &= published.unknown
    effort = effort or Effort(tuning.WHOLE_TABLE_SECONDS)
    bounds = np.zeros((2, len(truth)))
    bounds[1] = INFINITE  # of cells whose interval was not computed
    bounds[:, cell_intervals.cells] = cell_intervals.lower, cell_intervals.upper
    with work.step("Proving that cells are not unique", int(wanted.sum())) as step:
        for component in find_components(published.structure.relations, published.unknown):
            targets = np.flatnonzero(component & wanted)
            if len(targets) == 0:
                continue
            part = select_relations(published.structure.relations, component)
            if build_network(part, component) is not None:  # its bounds are reached
                low[targets], high[targets] = bounds[:, targets]
            else:
                search = _ComponentSearch(published, truth, component, bounds)
                search.prove(targets, protection, effort)
                low[component] = search.low + published.floor[component]
                high[component] = search.high + published.floor[component]
            step.advance(len(targets))
    return low[cells], high[cells]


class _ComponentSearch:
    """Tables of one connected group of suppressed cells, counted from their smallest values."""

    def __init__(self, published: Published, truth: Ints, component: Bools, bounds: Floats) -> None:
        least = published.floor
        self.inside = np.flatnonzero(component)
        part = select_relations(published.structure.relations, component)
        values = np.where(published.unknown, 0, published.units - least)
        self.matrix: csr_array
        self.matrix, self.right = build_equations(part, values, component, least)
        self.truth = truth[self.inside] - least[self.inside]
        self.most = np.minimum(
            bounds[1, self.inside] - least[self.inside], tuning.LARGEST_SEARCHED_RISE + self.truth
        ).astype(np.int64)
        self.low, self.high = self.truth.astype(float), self.truth.astype(float)
        self.last: Ints | None = None
        count = len(self.inside)
        self.program = LinearProgram(
            self.matrix,
            self.right,
            self.right,
            lower=np.zeros(count),
            upper=np.full(count, INFINITE),
            method="primal simplex",
        )

    def prove(self, targets: Ints, protection: Protection, effort: Effort) -> None:
        """Look for tables that leave each of the cells as uncertain as is asked."""
        for cell in targets.tolist():
            place = int(np.searchsorted(self.inside, cell))
            value = int(self.truth[place])
            sliding = int(protection.sliding[cell])
            rise = max(int(protection.upper[cell]), sliding)
            self.reach(place, value + rise, 1, effort)
            missing = sliding - (int(self.high[place]) - value)
            fall = max(int(protection.lower[cell]), missing)
            self.reach(place, max(value - fall, 0), -1, effort)
            work.check()

    def reach(self, place: int, goal: int, way: int, effort: Effort) -> None:
        """Find a table in which a cell is at the goal or beyond, upwards (1) or downwards (-1)."""
        if self._is_reached(place, goal, way):
            return
        objective = np.zeros(len(self.inside))
        objective[place] = -way
        answer = self.program.minimise(objective)
        if answer.is_optimal:
            self._take(np.round(answer.values).astype(np.int64))
        if not self._is_reached(place, goal, way) and not effort.spent:
            self._solve(place, goal, way, effort)

    def _is_reached(self, place: int, goal: int, way: int) -> bool:
        return bool(self.high[place] >= goal if way > 0 else self.low[place] <= goal)

    def _take(self, values: Ints) -> None:
        """A table proves something if it is whole, possible, and keeps all sums."""
        if values.min(initial=0) >= 0 and np.array_equal(self.matrix @ values, self.right):
            self.last = values
            np.minimum(self.low, values, out=self.low)
            np.maximum(self.high, values, out=self.high)

    def _solve(self, place: int, goal: int, way: int, effort: Effort) -> None:
        """Ask the solver of constraints for the goal, or for as much as it finds on the way."""
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        variables = [model.new_int_var(0, max(int(most), 0), "") for most in self.most]
        for row in range(self.matrix.shape[0]):
            begin, end = self.matrix.indptr[row : row + 2]
            terms = zip(self.matrix.indices[begin:end], self.matrix.data[begin:end], strict=True)
            total = sum(int(sign) * variables[column] for column, sign in terms)
            model.add(total == int(self.right[row]))
        own = variables[place]
        if way > 0:
            model.add(own >= min(goal, int(self.most[place])))
        else:
            model.add(own <= goal)
        for variable, value in zip(variables, self.truth.tolist(), strict=True):
            model.add_hint(variable, value)
        result = solve_model(model, effort.part(tuning.WHOLE_TABLE_SECONDS_PER_CELL))
        if result.is_solution:
            self._take(np.array([result.value(variable) for variable in variables], np.int64))


def find_whole_table(published: Published) -> Ints | None:
    """Some whole-numbered table that agrees with what is published; None if none was found."""
    units, least = published.units.copy(), published.floor
    effort = Effort(tuning.WHOLE_TABLE_SECONDS)
    bounds = np.full((2, len(units)), np.inf)
    for component in find_components(published.structure.relations, published.unknown):
        search = _ComponentSearch(published, np.zeros_like(units) + least, component, bounds)
        search.low[:], search.high[:] = np.inf, -1.0  # nothing is known to be possible yet
        search.most[:] = int(tuning.LARGEST_SEARCHED_RISE)
        search.reach(0, 0, 1, effort)
        if search.last is None:
            return None
        units[component] = search.last + least[component]
    return units
