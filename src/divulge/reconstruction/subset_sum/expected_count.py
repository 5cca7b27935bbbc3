"""Saddle-point estimate of how many sets fit a bin, before any is looked for.

Whether the sets of a bin can be listed depends on how many there are: from some packages with sums
of some bits one can tell that within a few bits, in a fraction of a millisecond. So no time is
spent on lists that would never end, and bins whose lists are short come first.
"""

from __future__ import annotations

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.instance import Instance
from divulge.work.arrays import Bools


def estimate_log2_sets(instance: Instance, b: int, candidates: Bools, forced: Bools) -> float:
    """The expected number of sets of a bin, as a power of 2; below 0 if hardly one.

    >>> bit = np.array([[1], [2], [4], [8], [16], [32]])
    >>> low, high = np.array([[16]]), np.array([[31]])
    >>> one = Instance.from_intervals(bit, low, high)  # a quarter of all sums
    >>> all_of_them, none = np.ones(6, bool), np.zeros(6, bool)
    >>> abs(estimate_log2_sets(one, 0, all_of_them, none) - 4) < 1
    True
    """
    from divulge.reconstruction.subset_sum import expected_count_kernels

    free = candidates & ~forced
    base = instance.amounts[forced].sum(axis=0)
    most = int(instance.already_in_bin[b] + forced.sum() + free.sum())
    slack, extra = instance.slack_by_count[:, most], instance.extra_above[:, most]
    bits = expected_count_kernels.estimate_log2_count(
        np.ascontiguousarray(instance.amounts[free]),
        instance.low[b] - base - slack,
        instance.high[b] - base + slack + extra,
    )
    work.charge(tuning.EXPECTED_COUNT, int(free.sum()))
    return float(bits)
