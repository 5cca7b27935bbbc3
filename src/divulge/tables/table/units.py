"""Exact numbers: values as whole numbers of the smallest decimal unit they are written in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.work import InvalidInput, Problem

MOST_DECIMALS = 6

NEARLY_WHOLE = 1e-3
"""No number is taken for whole that is further off: large ones have decimals too."""


LARGEST_SUM = 2.0**60


def to_units(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Whole numbers, and how many decimals they were freed of (six at the most).

    >>> units, decimals = to_units(np.array([1.5, 2.25]))
    >>> units.tolist(), decimals
    ([150, 225], 2)
    """
    if np.issubdtype(values.dtype, np.integer) or values.dtype == bool:
        _refuse_too_large(values)
        return values.astype(np.int64), 0
    for decimals in range(MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        rounded = np.round(scaled)
        if decimals == MOST_DECIMALS or np.all(
            np.abs(scaled - rounded) <= np.minimum(1e-9 * (1 + np.abs(rounded)), NEARLY_WHOLE)
        ):
            break
    _refuse_too_large(rounded)
    return rounded.astype(np.int64), decimals


def _refuse_too_large(units: npt.NDArray[Any]) -> None:
    """Sums beyond what whole numbers of 64 bits hold would come out wrong, and nobody told."""
    if float(np.abs(units.astype(float)).sum()) >= LARGEST_SUM:
        message = "the amounts are too large for their decimals: round them, or change the unit."
        raise InvalidInput("table", [Problem("cells", message)])


def to_common_units(
    values: npt.NDArray[Any], lowest: float
) -> tuple[npt.NDArray[np.int64], int, int]:
    """Whole numbers, their decimals, and the lowest possible value in the same units.

    >>> units, decimals, lowest = to_common_units(np.array([1, 2]), -0.5)
    >>> units.tolist(), decimals, lowest
    ([10, 20], 1, -5)
    """
    units, decimals = to_units(values)
    [least], finest = to_units(np.array([lowest]))
    common = max(decimals, finest)
    return units * 10 ** (common - decimals), common, int(least) * 10 ** (common - finest)


def from_units(units: npt.NDArray[np.int64], decimals: int) -> npt.NDArray[Any]:
    """Back to the numbers as they were given: whole ones stay whole.

    >>> from_units(np.array([150]), 2).tolist()
    [1.5]
    """
    return units / 10**decimals if decimals else units
