"""Further cells for linked tables whose attributes go round in a ring.

A pattern that is safe by the sums may not be safe there: tables that agree in all sums may be of no
records, and whoever knows that all tables are of the same records excludes them (`shared_records`).
So for each cell that records leave too close, the cheapest further cells are sought with which two
sets of records show all that is published and lie as far apart in that cell as was asked. In the
end each secondary cell that is not needed is published again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from divulge import work
from divulge.solvers.cp_sat import solve_model
from divulge.tables.feasibility.sensitivity import Protection
from divulge.tables.feasibility.shared_records import (
    find_cells_known_by_records,
    find_empty_cells,
    list_parts,
)
from divulge.tables.suppression.optimal import PatternSolution
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.table.table import Table
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


def withstand_records(
    table: Table, problem: SuppressionProblem, solution: PatternSolution, seconds: float
) -> PatternSolution:
    """The pattern with further cells, until records leave every primary cell uncertain enough.

    Cells that no further ones protect are `hopeless`; of `unsettled` ones nothing is shown.
    """
    effort = Effort(seconds)
    pattern = solution.pattern.copy()
    known, untold = _find_lacking(table, problem, pattern)
    if not (known | untold).any():
        return solution
    hopeless: list[int] = []
    with work.step("Looking for cells that records do not give away"):
        for place in np.flatnonzero(known | untold).tolist():
            answer = _find_company(table, problem, pattern, place, effort)
            if answer is None:
                continue  # too many combinations, or no effort left
            if not answer[0]:
                hopeless.append(int(problem.primary[place]))
            pattern |= answer[1]
        known, untold = _find_lacking(table, problem, pattern)
        if not hopeless and not (known | untold).any():
            pattern = _publish_again(table, problem, pattern, effort)
    unsettled = problem.primary[known | untold]
    return replace(
        solution,
        pattern=pattern,
        cost=problem.price(pattern),
        first=False,
        hopeless=tuple(hopeless),
        unsettled=tuple(unsettled.tolist()),
    )


def _find_lacking(table: Table, problem: SuppressionProblem, pattern: Bools) -> tuple[Bools, Bools]:
    """Which primary cells records leave too close, and of which that was not settled."""
    levels = np.zeros((3, len(problem.values)), np.int64)
    levels[:, problem.primary] = problem.upper, problem.lower, problem.sliding
    published = table.publish(pattern)
    return find_cells_known_by_records(published, table.units, problem.primary, Protection(*levels))


def _find_company(
    table: Table, problem: SuppressionProblem, pattern: Bools, place: int, effort: Effort
) -> tuple[bool, Bools] | None:
    """Whether a primary cell can be protected, and the cheapest cells to suppress besides.

    Two sets of records are sought, one with much in the cell and one with little; None if that was
    not settled.
    """
    from ortools.sat.python import cp_model

    may_hide = problem.open & ~pattern
    published = table.publish(pattern | may_hide)
    parts = list_parts(table.structure, find_empty_cells(published))
    if parts is None or effort.spent:
        return None
    model = cp_model.CpModel()
    hides = {cell: model.new_bool_var(f"h{cell}") for cell in np.flatnonzero(may_hide).tolist()}
    cell = int(problem.primary[place])
    asked = problem.upper[place], problem.lower[place], problem.sliding[place]
    largest = int(table.units.max()) * 2 + sum(map(int, asked)) + 1
    count = 1 + max((int(each.max()) for each in parts if len(each)), default=-1)
    reached = []
    for side in ("high", "low"):
        amounts = [model.new_int_var(0, largest, f"{side}{number}") for number in range(count)]
        for other, own in enumerate(parts):
            total = sum(amounts[number] for number in own)
            if other in hides:
                model.add(total == int(table.units[other])).only_enforce_if(~hides[other])
            elif not pattern[other]:
                model.add(total == int(table.units[other]))
            if published.unknown[other] and int(published.floor[other]) > 0:
                model.add(total >= int(published.floor[other]))
        reached.append(sum(amounts[number] for number in parts[cell]))
    high, low = reached
    truth = int(table.units[cell])
    model.add(high >= truth + int(asked[0]))
    model.add(low <= truth - int(asked[1]))
    model.add(high - low >= int(asked[2]))
    model.minimize(sum(int(problem.cost[each]) * hidden for each, hidden in hides.items()))
    answer = solve_model(model, effort)
    added = np.zeros(len(pattern), bool)
    if answer.is_infeasible:
        return False, added
    if not answer.is_solution:
        return None
    added[[each for each, hidden in hides.items() if answer.value(hidden)]] = True
    return True, added


def _publish_again(
    table: Table, problem: SuppressionProblem, pattern: Bools, effort: Effort
) -> Bools:
    """Without the secondary cells that are not needed, the dearest first."""
    secondary = np.flatnonzero(pattern & ~problem.start)
    for cell in _order_by_price(problem, secondary):
        if effort.spent:
            break
        fewer = pattern.copy()
        fewer[cell] = False
        known, untold = _find_lacking(table, problem, fewer)
        if not (known | untold).any():
            pattern = fewer
    return pattern


def _order_by_price(problem: SuppressionProblem, cells: Ints) -> Sequence[int]:
    order: list[int] = cells[np.argsort(-problem.cost[cells], kind="stable")].tolist()
    return order
