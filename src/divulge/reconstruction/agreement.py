"""How well records and totals agree: the largest error of the best allocation (one attribute).

The integer programme of Favato et al. (2022, Fig. 4) with the errors as what is made small.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge import work
from divulge.solvers import cp_sat
from divulge.solvers import tuning as solver_tuning
from divulge.work import DivulgeError, Effort

MOST_DECIMALS = 9
LARGEST = 2**60
"""Sums of the solver are whole numbers of 64 bits."""


def agreement(amounts: Sequence[float], totals: Sequence[float], seconds: float = 60.0) -> float:
    """The largest error that the best allocation leaves in any total (one attribute).

    Small where records and totals are of the same things; large where something was changed.
    Numbers are taken with nine decimals.

    Args:
        amounts: of the records.
        totals: of the places.
        seconds: the effort, in nominal seconds.

    Raises:
        DivulgeError: if the best allocation is not found with this effort.

    >>> agreement([3.2, 4.1, 9.0], [7, 9])
    0.3
    """
    from ortools.sat.python import cp_model

    numbers = np.array([*amounts, *totals], float)
    if not np.isfinite(numbers).all():
        raise DivulgeError("agreement: amounts and totals must be numbers")
    decimals = _count_decimals(numbers)
    units = np.rint(numbers * 10**decimals)
    if np.abs(units).sum() >= LARGEST:
        raise DivulgeError("agreement: the amounts are too large for their decimals")
    whole = [int(unit) for unit in units]
    parts, sums = whole[: len(amounts)], whole[len(amounts) :]
    model = cp_model.CpModel()
    worst = model.new_int_var(0, LARGEST, "")
    placed = [[model.new_bool_var("") for _ in sums] for _ in parts]
    for bins in placed:
        model.add_exactly_one(bins)
    for b, total in enumerate(sums):
        inside = cp_model.LinearExpr.weighted_sum([bins[b] for bins in placed], parts)
        model.add(inside - worst <= total)
        model.add(inside + worst >= total)
    model.minimize(worst)
    work.charge(solver_tuning.CP_SAT_MODEL, 3 * len(parts) * len(sums))
    answer = cp_sat.solve_model(model, Effort(seconds))
    if not answer.is_optimal:
        raise DivulgeError("agreement: the best allocation was not found with the effort given")
    return float(answer.value(worst) / 10**decimals)


def _count_decimals(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """With how many decimals all numbers are as with the most."""
    exact = np.round(numbers, MOST_DECIMALS)
    for decimals in range(MOST_DECIMALS):
        if (np.round(numbers, decimals) == exact).all():
            return decimals
    return MOST_DECIMALS
