"""The tables of Favato et al. (2022): success for one target, for all; instances and their time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.reconstruction.auditing.phases import Phase
from divulge.reconstruction.auditing.run import InstanceSummary
from divulge.work import DivulgeError

COMPLEXITY_CLASSES = (
    (0.0, 0.0),
    (0.0, 20.0),
    (20.0, 40.0),
    (40.0, 80.0),
    (80.0, 200.0),
    (200.0, np.inf),
)
"""Complexities (log10 m^n) from above the first to the second; the first class has one bin."""


@dataclass(frozen=True)
class TargetRow:
    """One phase for one record: parties left, the chance to name the right one, and the factor."""

    phase: str
    parties: float
    probability: float
    factor: float


@dataclass(frozen=True, kw_only=True)
class PhaseRow:
    """One phase for all records (Favato et al., Table 6b)."""

    phase: str
    probability: float
    by_counting: float
    leakage: float
    certain_places: int
    identified: int
    value: float


@dataclass(frozen=True, kw_only=True)
class ClassRow:
    """Instances of one class of complexity (Table 5 and Fig. 5)."""

    above: float
    up_to: float
    instances: int
    closed: int
    packages: int
    with_finding: int
    seconds: float


def tabulate_target(phases: Sequence[Phase], record: int) -> list[TargetRow]:
    """Table 4: the success for one record after every phase."""
    rows = len(phases[0].chance)
    if not 0 <= record < rows:
        raise DivulgeError(f"record {record}: records are 0 to {rows - 1}")
    target_rows: list[TargetRow] = []
    for phase in phases:
        chance = float(phase.chance[record])
        before = target_rows[-1].probability if target_rows else chance
        target_rows.append(TargetRow(phase.name, 1 / chance, chance, chance / before))
    return target_rows


def tabulate_by_status(instances: Sequence[InstanceSummary]) -> dict[str, tuple[int, float, float]]:
    """Table 5: instances by how they ended: how many, mean complexity, mean seconds."""
    figures = {}
    for status in ("closed", "open", "infeasible"):
        members = [one for one in instances if one.status == status]
        count = max(1, len(members))
        complexity = sum(s.complexity for s in members) / count
        figures[status] = (len(members), complexity, sum(s.seconds for s in members) / count)
    return figures


def tabulate_by_complexity(instances: Sequence[InstanceSummary]) -> list[ClassRow]:
    """Fig. 5: instances by class of complexity, how many were closed, and their mean time."""
    rows = []
    for above, up_to in COMPLEXITY_CLASSES:
        members = [
            s
            for s in instances
            if (above < s.complexity <= up_to) or (s.complexity == above == up_to)
        ]
        rows.append(
            ClassRow(
                above=above,
                up_to=up_to,
                instances=len(members),
                closed=sum(s.status == "closed" for s in members),
                packages=sum(s.packages for s in members),
                with_finding=sum(min(s.packages, s.certain + s.ambiguous) for s in members),
                seconds=float(np.mean([s.seconds for s in members])) if members else 0.0,
            )
        )
    return rows


def tabulate_by_phase(phases: Sequence[Phase], value: Any) -> list[PhaseRow]:
    """Table 6b: the success after every phase; `value` is the first amount of every record."""
    prior = float(phases[0].chance.mean())
    return [
        PhaseRow(
            phase=phase.name,
            probability=float(phase.chance.mean()),
            by_counting=float(phase.guess_chance.mean()),
            leakage=float(phase.chance.mean()) / prior,
            certain_places=int(phase.certain.sum()),
            identified=int(phase.identified.sum()),
            value=float(value[phase.identified].sum()),
        )
        for phase in phases
    ]
