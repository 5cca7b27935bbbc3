"""An instance falls into parts, once it is known where some of its packages are."""

from __future__ import annotations

import numpy as np

from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.instance import Instance


def parts_of(possible: Bools) -> list[tuple[Ints, Ints]]:
    """Packages and bins that hang together through packages with a choice.

    A package with one bin left stands in it; it is no part's, and neither is a bin that has no
    package with a choice.
    """
    from divulge.reconstruction.propagation import propagation_kernels

    n = len(possible)
    label = propagation_kernels.parts_of(possible.astype(np.uint8))
    return [
        (np.flatnonzero(label[:n] == part), np.flatnonzero(label[n:] == part))
        for part in range(int(label.max(initial=-1)) + 1)
    ]


def restricted(instance: Instance, possible: Bools, packages: Ints, bins: Ints) -> Instance:
    """One part as an instance of its own: what stands in its bins is taken off their sums."""
    settled = possible.sum(axis=1) == 1
    low, high = instance.low[bins].copy(), instance.high[bins].copy()
    held = instance.held[bins].copy()
    for place, b in enumerate(bins):
        inside = settled & possible[:, b]
        taken = instance.amounts[inside].sum(axis=0)
        low[place] -= taken
        high[place] -= taken
        held[place] += int(inside.sum())
    allowed = possible[np.ix_(packages, bins)]
    amounts = np.ascontiguousarray(instance.amounts[packages])
    return Instance(amounts, low, high, instance.widening, instance.deeper, allowed, held)
