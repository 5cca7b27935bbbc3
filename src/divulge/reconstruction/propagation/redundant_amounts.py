"""Redundant constraints: amounts of an instance that limit nothing by themselves are dropped.

Weight and quantity are one amount where goods are counted in kilograms, and an insurance that is
next to nothing limits no bin. Whoever takes them for amounts of their own works more, and takes
allocations for rarer than they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge.reconstruction.problem.instance import Instance
from divulge.work.arrays import Ints


def drop_redundant_amounts(instance: Instance) -> Instance:
    """The same allocations with fewer amounts: equal ones once, and none that limits no bin.

    >>> amounts = np.array([[5, 5, 1], [4, 4, 0]])
    >>> low, high = np.array([[4, 3, 0], [0, 0, 0]]), np.array([[9, 5, 9], [9, 9, 9]])
    >>> one = drop_redundant_amounts(Instance.from_intervals(amounts, low, high))
    >>> one.amounts.tolist(), one.low.tolist(), one.high.tolist()
    ([[5], [4]], [[4], [0]], [[5], [9]])
    """
    low, high = instance.low.copy(), instance.high.copy()
    columns: list[int] = []
    for i in range(instance.attributes):
        same = next((j for j in columns if _is_duplicate_amount(instance, i, j)), None)
        if same is None:
            columns.append(i)
        else:
            np.maximum(low[:, same], low[:, i], out=low[:, same])
            np.minimum(high[:, same], high[:, i], out=high[:, same])
    limiting = np.any((low > 0) | (_sum_allowed_amounts(instance) > high), axis=0).tolist()
    columns = [i for i in columns if limiting[i]] or columns[:1]
    if len(columns) == instance.attributes:
        return instance
    return replace(
        instance,
        amounts=np.ascontiguousarray(instance.amounts[:, columns]),
        low=np.ascontiguousarray(low[:, columns]),
        high=np.ascontiguousarray(high[:, columns]),
        slack_by_count=np.ascontiguousarray(instance.slack_by_count[columns]),
        extra_above=np.ascontiguousarray(instance.extra_above[columns]),
    )


def has_binding_totals(instance: Instance) -> bool:
    """Whether some bin may not have just any of the packages that are allowed in it.

    >>> low, high = np.array([[0], [0]]), np.array([[9], [9]])
    >>> has_binding_totals(Instance.from_intervals(np.array([[5], [4]]), low, high))
    False
    """
    return bool(((instance.low > 0) | (_sum_allowed_amounts(instance) > instance.high)).any())


def _sum_allowed_amounts(instance: Instance) -> Ints:
    """What all packages that are allowed in a bin add up to."""
    sums: Ints = instance.allowed.T.astype(np.int64) @ instance.amounts
    return sums


def _is_duplicate_amount(instance: Instance, i: int, j: int) -> bool:
    """Whether two amounts are the same of every package, and their intervals widen alike."""
    return (
        np.array_equal(instance.amounts[:, i], instance.amounts[:, j])
        and np.array_equal(instance.slack_by_count[i], instance.slack_by_count[j])
        and np.array_equal(instance.extra_above[i], instance.extra_above[j])
    )
