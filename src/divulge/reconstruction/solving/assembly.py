"""A whole instance from its parts, each of which was solved for itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.solution import InstanceSolution
from divulge.reconstruction.propagation.state import SearchState
from divulge.work.arrays import Bools, Floats, Ints


def join_parts(
    instance: Instance, possible: Bools, parts: list[tuple[Ints, Ints, SearchState]], seconds: float
) -> InstanceSolution:
    """The whole instance from its parts: counts multiply, certificates are laid side by side."""
    n, m = instance.packages, instance.bins
    possible = possible.copy()
    settled = possible.sum(axis=1) == 1
    base = np.where(settled, possible.argmax(axis=1), -1)
    complete = all(state.proved.any() for _, _, state in parts)
    rows = max([1, *(len(state.certificates) for _, _, state in parts)]) if complete else 0
    certificates = np.repeat(base[None].astype(np.int16), rows, axis=0)
    total: int | None = 1
    for packages, bins, state in parts:
        possible[np.ix_(packages, bins)] = state.possible
        for row in range(rows):
            part_certificate = state.certificates[min(row, len(state.certificates) - 1)]
            certificates[row, packages] = bins[part_certificate]
        total = (
            None
            if total is None or state.allocation_counts is None
            else total * state.allocation_counts.count
        )
    proved = np.zeros((n, m), bool)
    for of_package in certificates:
        proved[np.arange(n), of_package] = True
    closed = bool((proved == possible).all())
    pairs, shares = None, None
    if total is not None:
        pairs, shares = _combine_shares(possible, parts, total)
    return InstanceSolution(
        status="closed" if closed else "open",
        possible=possible,
        proved=proved,
        certificates=certificates,
        count=total,
        pairs=pairs,
        shares=shares,
        seconds=seconds,
    )


def _combine_shares(
    possible: Bools, parts: list[tuple[Ints, Ints, SearchState]], total: int
) -> tuple[npt.NDArray[np.object_], Floats]:
    pairs = np.zeros(possible.shape, object)
    pairs[possible] = total
    shares = possible.astype(np.float64)
    for packages, bins, state in parts:
        assert state.allocation_counts is not None  # noqa: S101  # there is a total
        others = total // state.allocation_counts.count
        where = np.ix_(packages, bins)
        pairs[where] = state.allocation_counts.pairs.astype(object) * others
        shares[where] = state.allocation_counts.shares
    return pairs, shares
