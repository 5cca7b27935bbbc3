"""Bounds propagation to a fixpoint, one amount at a time: no bin overflows, none falls short."""

from __future__ import annotations

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.instance import Instance
from divulge.work.arrays import Bools


def propagate(instance: Instance, possible: Bools) -> Bools | None:
    """What stays possible; None if nothing can be.

    >>> goods, sums = np.array([[5], [4], [2]]), np.array([[6], [5]])
    >>> one = Instance.from_intervals(goods, sums, sums)
    >>> propagate(one, np.array([[True, True], [True, False], [True, True]])).astype(int).tolist()
    [[0, 1], [1, 0], [1, 0]]
    """
    from divulge.reconstruction.propagation import propagation_kernels

    remaining = possible.astype(np.uint8, order="C")
    rounds = propagation_kernels.propagate(*instance.arrays, remaining, instance.already_in_bin)
    work.charge(tuning.PROPAGATION, max(rounds, 1) * remaining.size * instance.attributes)
    return remaining.astype(bool) if rounds else None
