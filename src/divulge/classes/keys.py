"""Mixed-radix keys of combinations of codes: records that look alike, and sums over equal keys.

A key is one number for one combination of codes. Keys are exact: where the product of the
cardinalities would not fit into 62 bits, the keys so far are first made dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from divulge.classes import tuning
from divulge.work.arrays import Array, Floats, Ints

LARGEST_KEY = 2**62


def combine_codes(
    columns: Sequence[Array], cardinalities: Sequence[int], rows: int
) -> tuple[Any, int]:
    """One key for every row's combination of codes, and a number above all keys.

    >>> combine_codes([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3], 3)
    (array([2, 3, 5]), 6)
    """
    joint: Ints = np.zeros(rows, np.int64)
    size = 1
    for column, cardinality in zip(columns, cardinalities, strict=True):
        if size * cardinality > LARGEST_KEY:
            joint, size = densify_keys(joint, size)
        joint = joint * np.int64(cardinality) + column
        size *= cardinality
    return joint, size


def densify_keys(joint: Ints, size: int) -> tuple[Ints, int]:
    """The same distinctions with keys from 0 to the number of different ones.

    >>> densify_keys(np.array([7, 2, 7]), 100)
    (array([1, 0, 1]), 2)
    """
    if size <= max(tuning.FEWEST_PLACES, tuning.PLACES_PER_KEY * joint.size):
        used = np.zeros(size, np.bool_)
        used[joint] = True
        places = np.cumsum(used, dtype=np.int64) - 1
        return places[joint], int(places[-1]) + 1 if size else 0
    values, inverse = np.unique(joint, return_inverse=True)
    return inverse.astype(np.int64).reshape(-1), int(values.size)


def assign_classes(columns: Sequence[Array], cardinalities: Sequence[int], rows: int) -> Ints:
    """The class of each record: records that agree in all columns have the same number."""
    return densify_keys(*combine_codes(columns, cardinalities, rows))[0]


def sum_over_equal_keys(
    query_keys: Ints, stored_keys: Ints, size: int, amounts: Sequence[Floats]
) -> list[Floats]:
    """For every key asked for, the sum of each amount over the equal keys that are held.

    >>> sum_over_equal_keys(np.array([3, 1]), np.array([1, 1, 2]), 4, [np.array([1.0, 2.0, 4.0])])
    [array([0., 3.])]
    """
    if size <= max(
        tuning.FEWEST_PLACES, tuning.PLACES_PER_KEY * (query_keys.size + stored_keys.size)
    ):
        return [sum_by_place(stored_keys, amount, size)[query_keys] for amount in amounts]
    if not stored_keys.size:
        return [np.zeros(query_keys.size) for _ in amounts]
    values, inverse = np.unique(stored_keys, return_inverse=True)
    place = np.minimum(np.searchsorted(values, query_keys), values.size - 1)
    is_stored = values[place] == query_keys
    sums = [sum_by_place(inverse.reshape(-1), amount, values.size) for amount in amounts]
    return [np.where(is_stored, total[place], 0.0) for total in sums]


def sum_by_place(places: Array, amounts: Array, size: int) -> Floats:
    """The sum of the amounts at every place from 0 to size - 1.

    >>> sum_by_place(np.array([1, 1]), np.array([1.0, 2.0]), 3).tolist()
    [0.0, 3.0, 0.0]
    """
    return np.bincount(places, amounts, minlength=size).astype(np.float64, copy=False)
