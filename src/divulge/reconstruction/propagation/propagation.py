"""What one amount excludes, to a fixpoint: no bin overflows, and none falls short."""

from __future__ import annotations

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Bools
from divulge.reconstruction.problem.instance import Instance


def propagate(instance: Instance, possible: Bools) -> Bools | None:
    """What stays possible; None if nothing can be.

    >>> goods, sums = np.array([[5], [4], [2]]), np.array([[6], [5]])
    >>> one = Instance.of(goods, sums, sums)
    >>> propagate(one, np.array([[True, True], [True, False], [True, True]])).astype(int).tolist()
    [[0, 1], [1, 0], [1, 0]]
    """
    from divulge.reconstruction.propagation import propagation_kernels

    left = possible.astype(np.uint8, order="C")
    rounds = propagation_kernels.propagate(*instance.arrays, left, instance.held)
    work.charge(tuning.PROPAGATION, max(rounds, 1) * left.size * instance.attributes)
    return left.astype(bool) if rounds else None
