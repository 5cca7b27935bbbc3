"""Certificates of the dynamic program: allocations traced through its states, proofs of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.counting.dp_final_bins import FinalSplits
from divulge.reconstruction.problem.bitsets import Bitsets, unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.proofs import Proofs
from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One bin's transitions: from a state, by a set, to a state."""

    place: int
    source: Ints
    set_rows: Ints
    target: Ints
    sets: Bitsets


def build_proofs(
    instance: Instance,
    stages: list[Stage],
    states: list[Bitsets],
    *,
    end: FinalSplits,
    into: list[npt.NDArray[Any]],
    out: list[npt.NDArray[Any]],
) -> Ints:
    """Allocations that together have every pair that is possible."""
    n = instance.packages
    if not stages:
        return np.full((int(end.ways.any()), n), end.last, np.int16)
    routes = _Routes(stages, states, into, out=out, packages=n, end=end)
    proofs = Proofs(np.zeros((n, instance.bins), bool))

    def add_per_package(place: int, number: int, steps: Ints, rows: Bools) -> None:
        """One allocation for every package that these steps put into a place."""
        proofs.add_per_package(
            place, rows, lambda row: routes.allocation_through(number, int(steps[row]))
        )

    for number, stage in enumerate(stages):
        alive = (into[number][stage.source] > 0) & (out[number + 1][stage.target] > 0)
        steps = np.flatnonzero(alive)
        add_per_package(
            stage.place, number, steps, unpack_bitsets(stage.sets[stage.set_rows[steps]], n)
        )
    final = stages[-1]
    reached = into[-2][final.source] > 0
    if end.other < 0:
        steps = np.flatnonzero((end.ways[final.target] > 0) & reached)
        add_per_package(
            end.last, len(stages) - 1, steps, unpack_bitsets(states[-1][final.target[steps]], n)
        )
    for state, in_other in zip(end.witness_states, end.witnesses, strict=True):
        step = int(np.argmax((final.target == state) & reached))
        of_package = routes.allocation_through(len(stages) - 1, step)
        of_package[unpack_bitsets(states[-1][state], n)] = end.last
        of_package[in_other] = end.other
        proofs.add_allocation(of_package)
    return proofs.to_array()


class _Routes:
    """Whole allocations through given steps: back to the first stage, and on to the last."""

    def __init__(
        self,
        stages: list[Stage],
        states: list[Bitsets],
        into: list[npt.NDArray[Any]],
        *,
        out: list[npt.NDArray[Any]],
        packages: int,
        end: FinalSplits,
    ) -> None:
        sizes = [len(some) for some in states]
        self.stages, self.packages, self.end = stages, packages, end
        self.first = dict(zip(end.alive.tolist(), end.first, strict=False))
        self.backward = _link_backward(stages, into, sizes)
        self.forward = _link_forward(stages, out, sizes)

    def allocation_through(self, number: int, step: int) -> Ints:
        """The allocation that takes this step of this stage."""
        of_package = np.full(self.packages, self.end.last, np.int16)
        current = step
        for at in range(number, -1, -1):
            stage = self.stages[at]
            of_package[unpack_bitsets(stage.sets[stage.set_rows[current]], self.packages)] = (
                stage.place
            )
            current = self.backward[at][stage.source[current]]
        state = self.stages[number].target[step]
        for at in range(number + 1, len(self.stages)):
            stage = self.stages[at]
            current = self.forward[at][state]
            of_package[unpack_bitsets(stage.sets[stage.set_rows[current]], self.packages)] = (
                stage.place
            )
            state = stage.target[current]
        if self.end.other >= 0:
            of_package[self.first[int(state)]] = self.end.other
        return of_package


def _link_backward(
    stages: list[Stage], into: list[npt.NDArray[Any]], sizes: list[int]
) -> list[Ints]:
    """For each stage, and each state before it, a step of the stage before that leads there."""
    steps_by_stage = [np.full(1, -1)]
    for number, stage in enumerate(stages[:-1]):
        alive = np.flatnonzero(into[number][stage.source] > 0)
        steps = np.full(sizes[number + 1], -1)
        steps[stage.target[alive]] = alive
        steps_by_stage.append(steps)
    return steps_by_stage


def _link_forward(stages: list[Stage], out: list[npt.NDArray[Any]], sizes: list[int]) -> list[Ints]:
    """For each stage, and each state before it, a step that leads on to an end."""
    steps_by_stage = []
    for number, stage in enumerate(stages):
        alive = np.flatnonzero(out[number + 1][stage.target] > 0)
        steps = np.full(sizes[number], -1)
        steps[stage.source[alive]] = alive
        steps_by_stage.append(steps)
    return steps_by_stage
