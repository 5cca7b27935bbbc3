"""What a recoding must reach and how it may go about it; the lattice that answers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Literal, TypeAlias, get_args

from divulge.assessment import Limit
from divulge.data import Dataset
from divulge.protection.cycle.request import CycleRequest
from divulge.protection.limits.per_record import Goal
from divulge.protection.recoding.evaluation import LevelEvaluator
from divulge.protection.recoding.lattice import build_lattice
from divulge.protection.recoding.limit_tests import (
    RecodingLimits,
    build_class_tests,
    list_told_attributes,
    sort_limits,
)
from divulge.protection.recoding.utilities import RecodingUtility, choose_cell_utility
from divulge.protection.suppression.request import OutOfReachError
from divulge.work import InvalidInput, Problem

LevelSearch: TypeAlias = Literal["optimal", "climb", "nested", "clusters"]
SEARCHES: tuple[LevelSearch, ...] = get_args(LevelSearch)


@dataclass(frozen=True, kw_only=True)
class RecodingRequest:
    """What a recoding must reach, and how it may go about it."""

    goals: tuple[Goal, ...]
    models: tuple[Limit, ...]
    plan: CycleRequest
    utility: RecodingUtility
    seconds: float
    search: LevelSearch = "optimal"

    @property
    def rule(self) -> str:
        """All limits in short."""
        rules = [goal.rule for goal in self.goals]
        rules += [f"{m.measure} {m.direction} {m.bound:g}" for m in self.models]
        return "; ".join(rules)

    def list_names(self, dataset: Dataset) -> list[str]:
        """The attributes in question, in their order."""
        names = [name for goal in self.goals for name in goal.among]
        if self.models:
            names += dataset.attributes(None, "among")
        return list(dict.fromkeys(names))


def build_evaluator(
    dataset: Dataset, request: RecodingRequest
) -> tuple[LevelEvaluator, RecodingLimits]:
    """What judges levels by classes of units, and all limits by how they are judged."""
    limits = sort_limits(dataset, request.goals, request.models)
    names = request.list_names(dataset)
    _check_sensitive(dataset, limits, names)
    lattice = build_lattice(
        dataset,
        names,
        fixed=sorted(request.plan.never),
        apart=list_told_attributes(dataset, limits),
        utility=choose_cell_utility(request.utility),
        importance=request.plan.importance,
    )
    share = request.plan.suppression_limit if "suppress" in request.plan.methods else 0.0
    evaluator = LevelEvaluator(
        lattice=lattice,
        tests=build_class_tests(dataset, lattice, limits),
        most_removed=floor(share * dataset.rows + 1e-9),
    )
    return evaluator, limits


def _check_sensitive(dataset: Dataset, limits: RecodingLimits, names: Sequence[str]) -> None:
    both = [name for name in list_told_attributes(dataset, limits) if name in names]
    if both:
        quoted = ", ".join(f'"{name}"' for name in both)
        message = f"{quoted} cannot be sensitive and recoded at once; leave it out of one of them."
        raise InvalidInput(f'recoding of "{dataset.name}"', [Problem("limits", message)])


def build_recoding_error(
    dataset: Dataset, evaluator: LevelEvaluator, request: RecodingRequest
) -> OutOfReachError:
    """Say how far the coarsest levels are from the limits, and what would help."""
    top = evaluator.evaluate(evaluator.lattice.top)
    lacking = [
        name
        for name, height in zip(evaluator.lattice.names, evaluator.lattice.heights, strict=True)
        if height == 0
    ]
    ways = []
    if lacking:
        ways.append("give hierarchies for " + ", ".join(f'"{name}"' for name in lacking))
    ways.append("let more records be removed (suppression_limit)")
    ways.append(f"or ask for less than {request.rule}")
    needed = (
        f"even at the coarsest levels, {top.removed_records:,} of {dataset.rows:,} "
        f"{dataset.subjects} would have to be removed, and {evaluator.most_removed:,} may be"
        if not evaluator.is_allowed(top)
        else "no combination of levels meets every limit"
    )
    return OutOfReachError(
        f'dataset "{dataset.name}": {request.rule} is out of reach: {needed}; {", ".join(ways)}.'
    )
