"""Recoding and suppression chosen together: levels after which hiding cells costs least.

Coarser levels leave fewer records at risk, and fewer cells to be hidden. What hiding costs is known
only once it is done, so levels are ranked by an estimate (some cells for each record at risk), the
best for several estimates are protected in full, and then their neighbours, as long as one loses
less. The levels that climbing one at a time finds are always among those that are tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor
from typing import Protocol, TypeAlias

import numpy as np

from divulge import work
from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection import tuning
from divulge.protection.changes.recodings import coarsen_to_levels
from divulge.protection.cycle.global_recoding import describe_levels
from divulge.protection.cycle.request import CycleRequest
from divulge.protection.cycle.utility_score import score_protection
from divulge.protection.limits.per_record import Goal
from divulge.protection.recoding.class_tests import ClassTest, SizeTest
from divulge.protection.recoding.evaluation import LevelEvaluator, Levels
from divulge.protection.recoding.lattice import GeneralisationLattice, build_lattice
from divulge.protection.recoding.lattice_search.branch_and_bound import find_optimal_levels
from divulge.protection.recoding.lattice_search.ordered_search import search_in_order
from divulge.protection.recoding.limit_tests import (
    RecodingLimits,
    RecordMeasurer,
    build_class_tests,
    list_told_attributes,
    sort_limits,
)
from divulge.protection.recoding.utilities import choose_cell_utility, name_utility
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import OutOfReachError, refuse_changed_kept
from divulge.work import InvalidInput

LevelKey: TypeAlias = tuple[tuple[str, int], ...]
"""Levels by attribute, those of 0 left out."""

_CLIMBED: LevelKey = (("", -1),)
"""Stands for the levels that climbing comes to."""


class CycleRunner(Protocol):
    """The cycle: from a dataset, goals and a plan (and levels to begin with) to a protection."""

    def __call__(
        self,
        dataset: Dataset,
        goals: Sequence[Goal],
        plan: CycleRequest,
        levels: Mapping[str, int] | None = None,
        known: Dataset | None = None,
    ) -> Protected:
        """Protect the records."""


def protect_jointly(
    run_cycle: CycleRunner,
    dataset: Dataset,
    goals: Sequence[Goal],
    plan: CycleRequest,
    *,
    levels: Mapping[str, int] | None = None,
    known: Dataset | None = None,
) -> Protected:
    """Protect by the levels that lose least together with what is hidden after them."""
    space = None if levels else _build_space(dataset, goals, plan)
    if space is None:
        climbed = run_cycle(dataset, goals, plan, levels, known)
        return _explain_levels(climbed, dataset, goals, plan, {}, known=known)
    with work.step("Weighing recoding against suppression") as step:
        search = _JointSearch(run_cycle, dataset, goals, plan, known=known)
        search.try_levels(None)
        for candidate in (*_rank_levels(space), *_find_sufficient(space, dataset, goals)):
            search.try_levels(_name_levels(space.lattice, candidate))
            step.advance()
        while search.best is not None and (
            neighbours := search.list_neighbours(space, len(search.losses))
        ):
            before = search.least
            for candidate in neighbours:
                search.try_levels(_name_levels(space.lattice, candidate))
                step.advance()
            if search.least >= before:
                break
    if search.best is None:
        return run_cycle(dataset, goals, plan, None, known)  # it says what is out of reach
    values = {
        "tried": len(search.losses),
        "loss": search.least,
        "utility": name_utility(plan.utility),
    }
    key = "joint" if plan.utility == "loss" else "joint_utility"
    note = Sentence("divulge.protection", f"recoding.{key}", values)
    again = None
    if known is None:
        again = lambda other: protect_jointly(run_cycle, other, goals, plan)  # noqa: E731
    best = _explain_levels(search.best, dataset, goals, plan, search.losses, known=known)
    return replace(best, notes=(*best.notes, note), again=again)


def _explain_levels(
    protected: Protected,
    dataset: Dataset,
    goals: Sequence[Goal],
    plan: CycleRequest,
    losses: Mapping[LevelKey, float],
    *,
    known: Dataset | None,
) -> Protected:
    """The same, with what the level below each would have cost as the reason of its decision."""
    changes = list(protected.decisions.changes)
    for name in protected.levels:
        places = [
            place
            for place, change in enumerate(changes)
            if change.kind == "recoded" and change.whole_column and change.attribute == name
        ]
        if places:  # of the steps of a climb, the last one came to the level
            finer = {**protected.levels, name: protected.levels[name] - 1}
            at_risk = _count_at_risk(dataset, goals, finer, known)
            reason = _explain_level(
                finer[name],
                at_risk,
                plan=plan,
                records=dataset.rows,
                losses=(losses.get(_build_key(finer)), score_protection(protected, plan)),
            )
            changes[places[-1]] = replace(changes[places[-1]], reason=str(reason))
    described = {
        str(each.values["attribute"]): each
        for each in describe_levels(dataset, protected.levels, changes)
    }
    notes = tuple(
        described.get(str(note.values["attribute"]), note) if note.key == "recoded.level" else note
        for note in protected.notes
    )
    decisions = replace(protected.decisions, changes=tuple(changes))
    return replace(protected, decisions=decisions, notes=notes)


def _count_at_risk(
    dataset: Dataset, goals: Sequence[Goal], levels: Mapping[str, int], known: Dataset | None
) -> int:
    """How many records keep some limit from holding at these levels."""
    coarse = coarsen_to_levels(dataset, levels)
    at_risk = np.zeros(dataset.rows, np.bool_)
    for goal in goals:
        at_risk |= goal.measure_standing(coarse, dataset if known is None else known).at_risk
    return int(np.count_nonzero(at_risk))


def _explain_level(
    level: int,
    at_risk: int,
    *,
    plan: CycleRequest,
    records: int,
    losses: tuple[float | None, float],
) -> Sentence:
    """Why not this level: too many are at risk at it, or more is lost, as was found out.

    `losses` are what it loses, if that was tried, and what is lost instead.
    """
    share = plan.suppression_limit if "suppress" in plan.methods else 0.0
    most = floor(share * records + 1e-9)
    loss, chosen = losses
    values = {"level": level, "removed": at_risk, "most": most, "loss": loss, "chosen": chosen}
    if at_risk > most:
        key = "level_at_risk" if "suppress" in plan.methods else "level_fails"
    elif loss is None:
        key = "level_left"
    elif not np.isfinite(loss):
        key = "level_unreachable"
    else:
        key = "level_together" if plan.utility == "loss" else "level_utility"
    return Sentence("divulge.protection", f"reason.{key}", values)


def _build_key(levels: Mapping[str, int]) -> LevelKey:
    return tuple(sorted((name, level) for name, level in levels.items() if level))


class _JointSearch:
    """Levels that were protected in full, and the best of them."""

    def __init__(
        self,
        run_cycle: CycleRunner,
        dataset: Dataset,
        goals: Sequence[Goal],
        plan: CycleRequest,
        *,
        known: Dataset | None,
    ) -> None:
        self.run_cycle, self.dataset, self.goals, self.plan = run_cycle, dataset, goals, plan
        self.known = known
        self.losses: dict[LevelKey, float] = {}
        self.best: Protected | None = None
        self.least = np.inf
        self.most = max(2, min(tuning.MOST_JOINT_TRIALS, tuning.JOINT_ROWS // max(1, dataset.rows)))

    def try_levels(self, levels: Mapping[str, int] | None) -> None:
        """Protect from some levels on, or (None) by climbing, and keep it if it loses less."""
        key = _CLIMBED if levels is None else _build_key(levels)
        if key in self.losses or len(self.losses) >= self.most:
            return
        plan = self.plan
        if levels is not None:
            plan = replace(plan, methods=tuple(m for m in plan.methods if m != "recode"))
        try:
            protected = self.run_cycle(self.dataset, self.goals, plan, levels, self.known)
            # What cannot be released is not the best, however little it loses.
            refuse_changed_kept(protected, plan.directives)
        except OutOfReachError:
            self.losses[key] = np.inf
            return
        self.losses[key] = loss = score_protection(protected, plan)
        # What was climbed comes first, and is kept unless another loses clearly less.
        if loss < self.least - tuning.LEAST_JOINT_GAIN:
            self.best, self.least = protected, loss

    def list_neighbours(self, space: LevelEvaluator, tried: int) -> list[Levels]:
        """One attribute a level finer or coarser than the best, where few enough are at risk."""
        assert self.best is not None  # noqa: S101  # asked before
        if tried >= self.most:
            return []
        names = space.lattice.names
        current = tuple(self.best.levels.get(name, 0) for name in names)
        neighbours = [
            (*current[:a], level, *current[a + 1 :])
            for a, height in enumerate(space.lattice.heights)
            for level in (current[a] - 1, current[a] + 1)
            if 0 <= level <= height
        ]
        allowed = [space.evaluate(each) for each in neighbours]
        allowed = [each for each in allowed if space.is_allowed(each)]
        return [each.levels for each in sorted(allowed, key=lambda each: each.loss)]


def _build_space(
    dataset: Dataset, goals: Sequence[Goal], plan: CycleRequest
) -> LevelEvaluator | None:
    """The lattice with the limits that classes tell; None where there is nothing to choose."""
    names = list(dict.fromkeys(name for goal in goals for name in goal.among))
    is_recoded = [
        name not in plan.never_recoded and dataset.dictionary[name].hierarchy is not None
        for name in names
    ]
    if plan.local or "recode" not in plan.methods or not any(is_recoded):
        return None
    if dataset.rows > tuning.MOST_JOINT_RECORDS:
        return None
    if any(np.any(find_hidden_cells(dataset.columns[name])) for name in names):
        return None
    limits = sort_limits(dataset, goals)
    told = list_told_attributes(dataset, limits)
    stand_ins = [] if limits.counted else _list_stand_ins(goals)
    if not (limits.counted or stand_ins) or set(told) & set(names):
        return None
    try:
        lattice = build_lattice(
            dataset,
            names,
            fixed=sorted(plan.never_recoded),
            apart=told,
            utility=choose_cell_utility(plan.utility),
            importance=plan.importance,
        )
    except InvalidInput:  # climbing says which values a hierarchy lacks
        return None
    if lattice.combinations > tuning.MOST_LEVEL_COMBINATIONS:
        return None
    share = plan.suppression_limit if "suppress" in plan.methods else 0.0
    return LevelEvaluator(
        lattice=lattice,
        tests=build_class_tests(dataset, lattice, limits) or stand_ins,
        most_removed=floor(share * dataset.rows + 1e-9),
        flat_cost=_price_record(lattice, 1.0),
    )


def _list_stand_ins(goals: Sequence[Goal]) -> list[ClassTest]:
    """What is counted to rank levels where no class tells a limit on what an adversary finds.

    Nobody may be alone: those are found for certain. Whatever is ranked so is measured in full.
    """
    if not all(goal.limit.of_assessment for goal in goals):
        return []
    return [SizeTest(among, tuning.STAND_IN_SIZE) for among in {goal.among: None for goal in goals}]


def _find_sufficient(
    space: LevelEvaluator, dataset: Dataset, goals: Sequence[Goal]
) -> list[Levels]:
    """The levels after which nothing need be hidden, where only an adversary's attack tells it."""
    if not all(goal.limit.of_assessment for goal in goals):
        return []
    alone = LevelEvaluator(lattice=space.lattice, tests=(), most_removed=0)
    measurer = RecordMeasurer(
        dataset=dataset, names=space.lattice.names, limits=RecodingLimits(figures=tuple(goals))
    )
    best = search_in_order(alone, measurer, tuning.MOST_SUFFICIENT_LEVELS).best
    return [] if best is None else [best.outcome.levels]


def _price_record(lattice: GeneralisationLattice, cells: float) -> float:
    """What so many hidden cells of a record cost, on average."""
    return cells / max(1, len(lattice.names)) / max(1, lattice.records)


def _rank_levels(space: LevelEvaluator) -> list[Levels]:
    """The best levels if each record at risk needs one hidden cell, or two, or three."""
    ranked: list[Levels] = []
    for cells in tuning.HIDDEN_CELL_ESTIMATES:
        evaluator = replace(space, flat_cost=_price_record(space.lattice, cells), evaluated={})
        best = find_optimal_levels(evaluator).best
        if best is not None and best.levels not in ranked:
            ranked.append(best.levels)
    return ranked


def _name_levels(lattice: GeneralisationLattice, levels: Levels) -> dict[str, int]:
    return {name: level for name, level in zip(lattice.names, levels, strict=True) if level}
