"""Lexicographic optimum: the first of all cheapest patterns, without perturbing any cost.

Cells are decided in their order. A cell that the best pattern so far suppresses stays suppressed,
without a question. Of any other cell it is asked whether a cheapest pattern suppresses it that
agrees on all cells before; most are decided many at once by reduced costs, the others by branch
and cut, and what that leaves open by a solver of constraints. Every answer "yes" brings a pattern
that comes before the best so far.
"""

from __future__ import annotations

from divulge import work
from divulge.tables import tuning
from divulge.tables.suppression.branch_and_cut import Bounds, Relaxation, find_within_price
from divulge.tables.suppression.cp_sat_patterns import find_by_cp_sat
from divulge.work import Effort
from divulge.work.arrays import Bools


def find_first_of_ties(
    relaxation: Relaxation, cheapest: Bools, effort: Effort
) -> tuple[Bools, bool]:
    """The first of the patterns as cheap as one that is proven cheapest; and whether it is proven.

    Where it is not (the effort is spent), the pattern comes no later than the one given.
    """
    pool = relaxation.pool
    best, most = cheapest, pool.problem.price(cheapest) - pool.base
    bounds, is_stale = Bounds.all_open(len(pool.free)), True
    with work.step("Deciding between equally cheap patterns", len(pool.free)) as step:
        for column, cell in enumerate(pool.free):
            step.advance()
            if bounds.high[column] == 0:
                continue
            if best[cell]:
                is_stale = is_stale or bounds.low[column] == 0
                bounds = bounds.with_suppressed(column)
                continue
            if is_stale:
                answer = relaxation.solve_within(bounds)
                if answer.is_optimal:
                    bounds, is_stale = relaxation.fix_by_reduced_costs(answer, bounds, most), False
            if bounds.high[column] == 0:
                continue
            branch = bounds.with_suppressed(column)
            pattern = find_within_price(relaxation, branch, most, tuning.MAX_TIE_NODES, effort)
            if isinstance(pattern, str) and pattern == "unknown":
                pattern = find_by_cp_sat(pool, branch, most, best, effort)
            if not isinstance(pattern, str):
                best, bounds, is_stale = pattern, branch, True
            elif pattern == "none":
                bounds = bounds.with_published(column)
            else:
                return best, False
    return best, True
