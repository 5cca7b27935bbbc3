"""The tables of Favato et al. (2022): success for one target, for all; instances and their time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.reconstruction.auditing.phases import Phase
from divulge.reconstruction.auditing.run import Solved
from divulge.work import DivulgeError

CLASSES = ((0.0, 0.0), (0.0, 20.0), (20.0, 40.0), (40.0, 80.0), (80.0, 200.0), (200.0, np.inf))
"""Complexities (log10 m^n) from above the first to the second; the first class has one bin."""


@dataclass(frozen=True)
class Target:
    """One phase for one record: parties left, the chance to name the right one, and the factor."""

    phase: str
    parties: float
    probability: float
    factor: float


@dataclass(frozen=True)
class PhaseRow:
    """One phase for all records (Favato et al., Table 6b)."""

    phase: str
    probability: float
    by_counting: float
    leakage: float
    certain_places: int
    identified: int
    value: float


@dataclass(frozen=True)
class ClassRow:
    """Instances of one class of complexity (Table 5 and Fig. 5)."""

    above: float
    up_to: float
    instances: int
    closed: int
    packages: int
    with_finding: int
    seconds: float


def of_target(phases: Sequence[Phase], record: int) -> list[Target]:
    """Table 4: the success for one record after every phase."""
    rows = len(phases[0].chance)
    if not 0 <= record < rows:
        raise DivulgeError(f"record {record}: records are 0 to {rows - 1}")
    found: list[Target] = []
    for phase in phases:
        chance = float(phase.chance[record])
        before = found[-1].probability if found else chance
        found.append(Target(phase.name, 1 / chance, chance, chance / before))
    return found


def by_status(solved: Sequence[Solved]) -> dict[str, tuple[int, float, float]]:
    """Table 5: instances by how they ended: how many, mean complexity, mean seconds."""
    found = {}
    for status in ("closed", "open", "infeasible"):
        some = [one for one in solved if one.status == status]
        many = max(1, len(some))
        complexity = sum(s.complexity for s in some) / many
        found[status] = (len(some), complexity, sum(s.seconds for s in some) / many)
    return found


def by_complexity(solved: Sequence[Solved]) -> list[ClassRow]:
    """Fig. 5: instances by class of complexity, how many were closed, and their mean time."""
    rows = []
    for above, up_to in CLASSES:
        some = [
            s for s in solved if (above < s.complexity <= up_to) or (s.complexity == above == up_to)
        ]
        rows.append(
            ClassRow(
                above,
                up_to,
                len(some),
                sum(s.status == "closed" for s in some),
                sum(s.packages for s in some),
                sum(min(s.packages, s.certain + s.ambiguous) for s in some),
                float(np.mean([s.seconds for s in some])) if some else 0.0,
            )
        )
    return rows


def by_phase(phases: Sequence[Phase], value: Any) -> list[PhaseRow]:
    """Table 6b: the success after every phase; `value` is the first amount of every record."""
    prior = float(phases[0].chance.mean())
    return [
        PhaseRow(
            phase.name,
            float(phase.chance.mean()),
            float(phase.counted.mean()),
            float(phase.chance.mean()) / prior,
            int(phase.certain.sum()),
            int(phase.identified.sum()),
            float(value[phase.identified].sum()),
        )
        for phase in phases
    ]
