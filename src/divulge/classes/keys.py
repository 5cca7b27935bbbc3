"""Records that look alike, as arrays: keys of combinations, and sums over equal keys.

A key is one number for one combination of codes. Keys are exact: where the product of the
cardinalities would not fit into 62 bits, the keys so far are first made dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
AnyArray: TypeAlias = npt.NDArray[Any]

LARGEST_KEY = 2**62
# Up to here a table with a place for every key is faster than sorting the keys.
PLACES_PER_KEY = 8
FEWEST_PLACES = 1 << 16


def keys(columns: Sequence[AnyArray], cardinalities: Sequence[int], rows: int) -> tuple[Any, int]:
    """One key for every row's combination of codes, and a number above all keys.

    >>> keys([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3], 3)
    (array([2, 3, 5]), 6)
    """
    joint: IntArray = np.zeros(rows, np.int64)
    size = 1
    for column, cardinality in zip(columns, cardinalities, strict=True):
        if size * cardinality > LARGEST_KEY:
            joint, size = dense(joint, size)
        joint = joint * np.int64(cardinality) + column
        size *= cardinality
    return joint, size


def dense(joint: IntArray, size: int) -> tuple[IntArray, int]:
    """The same distinctions with keys from 0 to the number of different ones.

    >>> dense(np.array([7, 2, 7]), 100)
    (array([1, 0, 1]), 2)
    """
    if size <= max(FEWEST_PLACES, PLACES_PER_KEY * joint.size):
        used = np.zeros(size, np.bool_)
        used[joint] = True
        places = np.cumsum(used, dtype=np.int64) - 1
        return places[joint], int(places[-1]) + 1 if size else 0
    values, inverse = np.unique(joint, return_inverse=True)
    return inverse.astype(np.int64).reshape(-1), int(values.size)


def classes(columns: Sequence[AnyArray], cardinalities: Sequence[int], rows: int) -> IntArray:
    """The class of each record: records that agree in all columns have the same number."""
    return dense(*keys(columns, cardinalities, rows))[0]


def sums_of_equals(
    asked: IntArray, held: IntArray, size: int, amounts: Sequence[FloatArray]
) -> list[FloatArray]:
    """For every key asked for, the sum of each amount over the equal keys that are held.

    >>> sums_of_equals(np.array([3, 1]), np.array([1, 1, 2]), 4, [np.array([1.0, 2.0, 4.0])])
    [array([0., 3.])]
    """
    if size <= max(FEWEST_PLACES, PLACES_PER_KEY * (asked.size + held.size)):
        return [weighed_count(held, amount, size)[asked] for amount in amounts]
    values, inverse = np.unique(held, return_inverse=True)
    place = np.minimum(np.searchsorted(values, asked), values.size - 1)
    found = values[place] == asked
    sums = [weighed_count(inverse.reshape(-1), amount, values.size) for amount in amounts]
    return [np.where(found, total[place], 0.0) for total in sums]


def weighed_count(places: AnyArray, amounts: AnyArray, size: int) -> FloatArray:
    """The sum of the amounts at every place from 0 to size - 1.

    >>> weighed_count(np.array([1, 1]), np.array([1.0, 2.0]), 3).tolist()
    [0.0, 3.0, 0.0]
    """
    return np.bincount(places, amounts, minlength=size).astype(np.float64, copy=False)
