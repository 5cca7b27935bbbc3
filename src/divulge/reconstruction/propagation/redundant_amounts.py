"""The amounts of an instance that tell something of their own.

Weight and quantity are one amount where goods are counted in kilograms, and an insurance that is
next to nothing limits no bin. Whoever takes them for amounts of their own works more, and takes
allocations for rarer than they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge.reconstruction.problem.amounts import Ints
from divulge.reconstruction.problem.instance import Instance


def telling(instance: Instance) -> Instance:
    """The same allocations with fewer amounts: equal ones once, and none that limits no bin.

    >>> amounts = np.array([[5, 5, 1], [4, 4, 0]])
    >>> low, high = np.array([[4, 3, 0], [0, 0, 0]]), np.array([[9, 5, 9], [9, 9, 9]])
    >>> one = telling(Instance.of(amounts, low, high))
    >>> one.amounts.tolist(), one.low.tolist(), one.high.tolist()
    ([[5], [4]], [[4], [0]], [[5], [9]])
    """
    low, high = instance.low.copy(), instance.high.copy()
    kept: list[int] = []
    for i in range(instance.attributes):
        same = next((j for j in kept if _are_one(instance, i, j)), None)
        if same is None:
            kept.append(i)
        else:
            np.maximum(low[:, same], low[:, i], out=low[:, same])
            np.minimum(high[:, same], high[:, i], out=high[:, same])
    limiting = np.any((low > 0) | (_at_most(instance) > high), axis=0).tolist()
    kept = [i for i in kept if limiting[i]] or kept[:1]
    if len(kept) == instance.attributes:
        return instance
    return replace(
        instance,
        amounts=np.ascontiguousarray(instance.amounts[:, kept]),
        low=np.ascontiguousarray(low[:, kept]),
        high=np.ascontiguousarray(high[:, kept]),
        widening=np.ascontiguousarray(instance.widening[kept]),
        deeper=np.ascontiguousarray(instance.deeper[kept]),
    )


def tells(instance: Instance) -> bool:
    """Whether some bin may not have just any of the packages that are allowed in it.

    >>> tells(Instance.of(np.array([[5], [4]]), np.array([[0], [0]]), np.array([[9], [9]])))
    False
    """
    return bool(((instance.low > 0) | (_at_most(instance) > instance.high)).any())


def _at_most(instance: Instance) -> Ints:
    """What all packages that are allowed in a bin add up to."""
    found: Ints = instance.allowed.T.astype(np.int64) @ instance.amounts
    return found


def _are_one(instance: Instance, i: int, j: int) -> bool:
    """Whether two amounts are the same of every package, and their intervals widen alike."""
    return (
        np.array_equal(instance.amounts[:, i], instance.amounts[:, j])
        and np.array_equal(instance.widening[i], instance.widening[j])
        and np.array_equal(instance.deeper[i], instance.deeper[j])
    )
