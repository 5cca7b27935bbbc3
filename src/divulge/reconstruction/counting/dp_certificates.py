"""Whole allocations through the states of the dynamic programme: proofs of what is possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.counting.dp_final_bins import End
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import Words, masks_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.proofs import Proofs


@dataclass(frozen=True)
class Stage:
    """One bin's transitions: from a state, by a set, to a state."""

    place: int
    source: Ints
    chosen: Ints
    target: Ints
    sets: Words


def proofs_of(
    instance: Instance,
    stages: list[Stage],
    states: list[Words],
    end: End,
    into: list[npt.NDArray[Any]],
    out: list[npt.NDArray[Any]],
) -> Ints:
    """Allocations that together have every pair that is possible."""
    n = instance.packages
    if not stages:
        return np.full((int(end.ways.any()), n), end.last, np.int16)
    route = _Routes(stages, states, into, out, n, end)
    proofs = Proofs(np.zeros((n, instance.bins), bool))

    def enter(place: int, number: int, steps: Ints, rows: Bools) -> None:
        """One allocation for every package that these steps put into a place."""
        proofs.enter(place, rows, lambda row: route.through(number, int(steps[row])))

    for number, stage in enumerate(stages):
        alive = (into[number][stage.source] > 0) & (out[number + 1][stage.target] > 0)
        steps = np.flatnonzero(alive)
        enter(stage.place, number, steps, masks_of(stage.sets[stage.chosen[steps]], n))
    final = stages[-1]
    reached = into[-2][final.source] > 0
    if end.other < 0:
        steps = np.flatnonzero((end.ways[final.target] > 0) & reached)
        enter(end.last, len(stages) - 1, steps, masks_of(states[-1][final.target[steps]], n))
    for state, in_other in zip(end.shown_states, end.shown, strict=True):
        step = int(np.argmax((final.target == state) & reached))
        of_package = route.through(len(stages) - 1, step)
        of_package[masks_of(states[-1][state], n)] = end.last
        of_package[in_other] = end.other
        proofs.show(of_package)
    return proofs.all_kept()


class _Routes:
    """Whole allocations through given steps: back to the first stage, and on to the last."""

    def __init__(
        self,
        stages: list[Stage],
        states: list[Words],
        into: list[npt.NDArray[Any]],
        out: list[npt.NDArray[Any]],
        packages: int,
        end: End,
    ) -> None:
        sizes = [len(some) for some in states]
        self.stages, self.packages, self.end = stages, packages, end
        self.first = dict(zip(end.alive.tolist(), end.first, strict=False))
        self.back = _first_steps(stages, into, sizes)
        self.forth = _last_steps(stages, out, sizes)

    def through(self, number: int, step: int) -> Ints:
        """The allocation that takes this step of this stage."""
        of_package = np.full(self.packages, self.end.last, np.int16)
        by = step
        for at in range(number, -1, -1):
            stage = self.stages[at]
            of_package[masks_of(stage.sets[stage.chosen[by]], self.packages)] = stage.place
            by = self.back[at][stage.source[by]]
        state = self.stages[number].target[step]
        for at in range(number + 1, len(self.stages)):
            stage = self.stages[at]
            by = self.forth[at][state]
            of_package[masks_of(stage.sets[stage.chosen[by]], self.packages)] = stage.place
            state = stage.target[by]
        if self.end.other >= 0:
            of_package[self.first[int(state)]] = self.end.other
        return of_package


def _first_steps(stages: list[Stage], into: list[npt.NDArray[Any]], sizes: list[int]) -> list[Ints]:
    """For each stage, and each state before it, a step of the stage before that leads there."""
    found = [np.full(1, -1)]
    for number, stage in enumerate(stages[:-1]):
        alive = np.flatnonzero(into[number][stage.source] > 0)
        steps = np.full(sizes[number + 1], -1)
        steps[stage.target[alive]] = alive
        found.append(steps)
    return found


def _last_steps(stages: list[Stage], out: list[npt.NDArray[Any]], sizes: list[int]) -> list[Ints]:
    """For each stage, and each state before it, a step that leads on to an end."""
    found = []
    for number, stage in enumerate(stages):
        alive = np.flatnonzero(out[number + 1][stage.target] > 0)
        steps = np.full(sizes[number], -1)
        steps[stage.source[alive]] = alive
        found.append(steps)
    return found
