"""The integer programme of Favato et al. (2022, Fig. 4), solved by HiGHS, as the paper has it.

It answers for one package at a time: find an allocation, forbid its bin for the package, and ask
again. Tests and benchmarks compare with it; `allocate` gives the same answers for all packages at
once. And the plainest of all: every allocation, tried.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from divulge.reconstruction.problem.instance import Instance
from divulge.work import DivulgeError
from divulge.work.arrays import Ints


def attack_algorithm(
    instance: Instance, package: int, seconds: float = math.inf
) -> set[int] | None:
    """All bins in which a package can be (the paper's Section 4.2); None if the time is up."""
    end = time.monotonic() + seconds
    found: set[int] = set()
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return None
        place = _place_of(instance, package, found, left)
        if place is None:
            return None
        if place < 0:
            return found
        found.add(place)


def _place_of(instance: Instance, package: int, forbidden: set[int], seconds: float) -> int | None:
    """A bin for the package, -1 if there is none, None if the time is up."""
    import highspy

    if instance.counts_matter:
        raise DivulgeError("the paper's programme knows no tolerance that grows with packages")
    n, m = instance.packages, instance.bins
    model = _figure_4(instance, package, forbidden)
    model.setOptionValue("time_limit", seconds)
    model.run()
    if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return -1
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    if model.getObjectiveValue() > 0.5:
        return -1
    values = np.array(model.getSolution().col_value)[: n * m].reshape(n, m)
    return int(values[package].argmax())


def _figure_4(instance: Instance, package: int, forbidden: set[int]) -> Any:
    """The programme of Fig. 4: one bin a package; an attribute may be violated at a cost of 1."""
    import highspy

    model = _quiet()
    inf = highspy.kHighsInf
    n, m, k = instance.packages, instance.bins, instance.attributes
    _binaries(model, n * m + k)
    for i in range(k):
        model.changeColCost(n * m + i, 1.0)
    for p, b in np.argwhere(~instance.allowed):
        model.changeColBounds(int(p) * m + int(b), 0.0, 0.0)
    for b in forbidden:
        model.changeColBounds(package * m + b, 0.0, 0.0)
    for p in range(n):
        model.addRow(1.0, 1.0, m, np.arange(p * m, p * m + m), np.ones(m))
    for i in range(k):
        column = instance.amounts[:, i].astype(float)
        enough = float(column.sum() + np.abs(instance.high[:, i]).max() + 1)
        for b in range(m):
            columns = np.append(np.arange(n) * m + b, n * m + i)
            low, high = float(instance.low[b, i]), float(instance.high[b, i])
            model.addRow(-inf, high, n + 1, columns, np.append(column, -enough))
            model.addRow(low, inf, n + 1, columns, np.append(column, enough))
    return model


def _quiet() -> Any:
    import highspy

    model = highspy.Highs()
    model.silent()
    model.setOptionValue("threads", 1)
    # Sums are whole numbers and the programme has a large constant: nothing may be a little off.
    model.setOptionValue("mip_feasibility_tolerance", 1e-9)
    model.setOptionValue("primal_feasibility_tolerance", 1e-9)
    model.setOptionValue("mip_rel_gap", 0.0)
    return model


def _binaries(model: Any, count: int) -> None:
    import highspy

    zeros = np.zeros(count)
    model.addVars(count, zeros, np.ones(count))
    kinds = np.array([highspy.HighsVarType.kInteger] * count)
    model.changeColsIntegrality(count, np.arange(count), kinds)


def allocations_of(instance: Instance) -> list[Ints]:
    """All allocations, by trying every one: for instances that are very small."""
    n, m = instance.packages, instance.bins
    every = (np.array(places) for places in np.ndindex(*([m] * n)))
    return [places for places in every if instance.is_allocation(places)]
