"""Counts of allocations: how many there are in all, and for each pair of package and bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.work.arrays import Ints


@dataclass(frozen=True, eq=False)
class AllocationCounts:
    """The number of allocations, of those with each pair, and how probable each pair is.

    `proofs` are allocations that together have every pair which any has.
    """

    count: int
    pairs: npt.NDArray[Any]
    shares: npt.NDArray[np.float64]
    proofs: Ints
