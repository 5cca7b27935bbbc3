"""Values of a column as numbers, also dates and times."""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.work.arrays import Bools, Floats, Ints

MOST_DECIMALS = 4
"""Digits after the point to which calculated numbers are rounded, where a column keeps to them."""


def convert_numbers(values: Any) -> Floats | None:
    """The values as numbers, also dates and times; None if they are none."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.int64())
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64(), safe=False)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    numbers: Floats = values.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def are_close(numbers: Floats, others: Floats) -> Bools:
    """Whether numbers are equal but for what calculating adds in the last places."""
    with np.errstate(invalid="ignore", over="ignore"):
        close: Bools = np.abs(numbers - others) <= 1e-9 * np.maximum(np.abs(others), 1.0)
    return close


def count_decimals(numbers: Floats) -> int | None:
    """The digits after the point that all numbers keep to; None if they need more than a few.

    >>> count_decimals(np.array([3.0, 12.0])), count_decimals(np.array([0.25, 1.5]))
    (0, 2)
    """
    for decimals in range(MOST_DECIMALS + 1):
        if np.all(are_close(np.round(numbers, decimals), numbers)):
            return decimals
    return None


def find_nearest(ascending: Floats, wanted: Floats) -> Ints:
    """For each number wanted, the place of the nearest in an ascending list."""
    if not ascending.size:
        return np.zeros(wanted.size, np.int64)
    above = np.minimum(np.searchsorted(ascending, wanted), ascending.size - 1)
    below = np.maximum(above - 1, 0)
    is_below = np.abs(ascending[below] - wanted) < np.abs(ascending[above] - wanted)
    return np.where(is_below, below, above)
