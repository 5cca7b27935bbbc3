"""Of all cheapest patterns, the lexicographically first: exactly, without perturbing any cost.

Cells are decided in their order. A cell that the best pattern so far suppresses stays suppressed,
without a question. Of any other cell it is asked whether a cheapest pattern suppresses it that
agrees on all cells before; most are decided many at once by reduced costs, the others by branch
and cut, and what that leaves open by a solver of constraints. Every answer "yes" brings a pattern
that comes before the best so far.
"""

from __future__ import annotations

from divulge import work
from divulge.tables.suppression.branch_and_cut import Bounds, Relaxation, within_price
from divulge.tables.suppression.cp_sat_patterns import satisfied
from divulge.tables.table.structure import BoolArray
from divulge.work import Effort

NODES = 100


def first_of_ties(
    relaxation: Relaxation, cheapest: BoolArray, effort: Effort
) -> tuple[BoolArray, bool]:
    """The first of the patterns as cheap as one that is proven cheapest; and whether it is proven.

    Where it is not (the effort is spent), the pattern comes no later than the one given.
    """
    pool = relaxation.pool
    best, most = cheapest, pool.problem.price(cheapest) - pool.base
    bounds, stale = Bounds.open(len(pool.free)), True
    with work.step("Deciding between equally cheap patterns", len(pool.free)) as step:
        for column, cell in enumerate(pool.free):
            step.advance()
            if bounds.high[column] == 0:
                continue
            if best[cell]:
                stale = stale or bounds.low[column] == 0
                bounds = bounds.suppressing(column)
                continue
            if stale:
                answer = relaxation.solve(bounds)
                if answer.optimal:
                    bounds, stale = relaxation.settled(answer, bounds, most), False
            if bounds.high[column] == 0:
                continue
            asked = bounds.suppressing(column)
            found = within_price(relaxation, asked, most, NODES, effort)
            if isinstance(found, str) and found == "unknown":
                found = satisfied(pool, asked, most, best, effort)
            if not isinstance(found, str):
                best, bounds, stale = found, asked, True
            elif found == "none":
                bounds = bounds.publishing(column)
            else:
                return best, False
    return best, True
