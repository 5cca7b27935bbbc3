"""The solution of one instance, put together from its connected components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.problem.instance import Instance
from divulge.work.arrays import Bools, Floats, Ints

Status: TypeAlias = Literal["closed", "open", "infeasible"]


@dataclass(frozen=True, eq=False, kw_only=True)
class InstanceSolution:
    """What is known of one instance: pairs of package and bin as truth values (n x m).

    `certificates` are allocations that were found, one per row. Shares are those of all
    allocations, None where they were not counted.
    """

    status: Status
    possible: Bools
    proved: Bools
    certificates: Ints
    count: int | None = None
    pairs: npt.NDArray[np.object_] | None = None
    shares: Floats | None = None
    seconds: float = 0.0


def build_infeasible_solution(instance: Instance, seconds: float = 0.0) -> InstanceSolution:
    """That no allocation fits: no package may be anywhere."""
    none = np.zeros((instance.packages, instance.bins), bool)
    return InstanceSolution(
        status="infeasible",
        possible=none,
        proved=none.copy(),
        certificates=np.empty((0, instance.packages), np.int16),
        count=0,
        seconds=seconds,
    )
