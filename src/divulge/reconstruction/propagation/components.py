"""Connected components of an instance, once it is known where some of its packages are."""

from __future__ import annotations

import numpy as np

from divulge.reconstruction.problem.instance import Instance
from divulge.work.arrays import Bools, Ints


def find_components(possible: Bools) -> list[tuple[Ints, Ints]]:
    """Packages and bins that are connected through packages with a choice.

    A package with one bin left stands in it; it is no part's, and neither is a bin that has no
    package with a choice.
    """
    from divulge.reconstruction.propagation import propagation_kernels

    n = len(possible)
    label = propagation_kernels.connected_components(possible.astype(np.uint8))
    return [
        (np.flatnonzero(label[:n] == part), np.flatnonzero(label[n:] == part))
        for part in range(int(label.max(initial=-1)) + 1)
    ]


def build_component_instance(
    instance: Instance, possible: Bools, packages: Ints, bins: Ints
) -> Instance:
    """One part as an instance of its own: what stands in its bins is taken off their sums."""
    has_one_bin = possible.sum(axis=1) == 1
    low, high = instance.low[bins].copy(), instance.high[bins].copy()
    already_in_bin = instance.already_in_bin[bins].copy()
    for place, b in enumerate(bins):
        inside = has_one_bin & possible[:, b]
        settled_sums = instance.amounts[inside].sum(axis=0)
        low[place] -= settled_sums
        high[place] -= settled_sums
        already_in_bin[place] += int(inside.sum())
    allowed = possible[np.ix_(packages, bins)]
    amounts = np.ascontiguousarray(instance.amounts[packages])
    return Instance(
        amounts=amounts,
        low=low,
        high=high,
        slack_by_count=instance.slack_by_count,
        extra_above=instance.extra_above,
        allowed=allowed,
        already_in_bin=already_in_bin,
    )
