"""A whole instance from its parts, each of which was solved for itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.problem.amounts import Bools, Ints, Shares
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.solution import Solution
from divulge.reconstruction.propagation.state import Known


def join_parts(
    instance: Instance, possible: Bools, solved: list[tuple[Ints, Ints, Known]], seconds: float
) -> Solution:
    """The whole instance from its parts: counts multiply, certificates are laid side by side."""
    n, m = instance.packages, instance.bins
    possible = possible.copy()
    settled = possible.sum(axis=1) == 1
    base = np.where(settled, possible.argmax(axis=1), -1)
    complete = all(known.proved.any() for _, _, known in solved)
    rows = max([1, *(len(known.certificates) for _, _, known in solved)]) if complete else 0
    certificates = np.repeat(base[None].astype(np.int16), rows, axis=0)
    total: int | None = 1
    for packages, bins, known in solved:
        possible[np.ix_(packages, bins)] = known.possible
        for row in range(rows):
            of_part = known.certificates[min(row, len(known.certificates) - 1)]
            certificates[row, packages] = bins[of_part]
        total = None if total is None or known.counted is None else total * known.counted.count
    proved = np.zeros((n, m), bool)
    for of_package in certificates:
        proved[np.arange(n), of_package] = True
    closed = bool((proved == possible).all())
    pairs, shares = None, None
    if total is not None:
        pairs, shares = _shares(possible, solved, total)
    return Solution(
        "closed" if closed else "open",
        possible,
        proved,
        certificates,
        total,
        pairs,
        shares,
        seconds,
    )


def _shares(
    possible: Bools, solved: list[tuple[Ints, Ints, Known]], total: int
) -> tuple[npt.NDArray[np.object_], Shares]:
    pairs = np.zeros(possible.shape, object)
    pairs[possible] = total
    shares = possible.astype(np.float64)
    for packages, bins, known in solved:
        assert known.counted is not None  # noqa: S101  # there is a total
        others = total // known.counted.count
        where = np.ix_(packages, bins)
        pairs[where] = known.counted.pairs.astype(object) * others
        shares[where] = known.counted.shares
    return pairs, shares
