"""What directives change before anything else: levels, then hidden cells, then removed records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from divulge.data import Dataset
from divulge.protection.cycle.global_recoding import recode_to_levels
from divulge.protection.cycle.request import CycleRequest, CycleState
from divulge.protection.directives.directed_changes import (
    hide_directed,
    mark_directed,
    remove_directed,
)
from divulge.protection.directives.directives import Directives
from divulge.protection.directives.settlement import (
    DirectiveFailure,
    SettledDirectives,
    settle_directives,
    weigh_preferences,
)
from divulge.protection.limits.per_record import Goal
from divulge.protection.suppression.request import OutOfReachError
from divulge.work.arrays import Floats


def add_directives(
    dataset: Dataset, goals: Sequence[Goal], plan: CycleRequest, directives: Directives
) -> tuple[list[Goal], CycleRequest]:
    """The goals with thresholds of single records, and the plan with all else."""
    among = list(dict.fromkeys(name for goal in goals for name in goal.among))
    settled = settle_directives(
        dataset,
        directives,
        never=plan.never,
        looked_at=among,
        methods=plan.methods,
        takes_thresholds=any(goal.takes_thresholds for goal in goals),
    )
    settled = replace(
        settled, unobeyed=(*settled.unobeyed, *_list_orders_in_vain(goals, plan, settled))
    )
    goals = [_add_thresholds(goal, settled) for goal in goals]
    methods = (*settled.methods, *(each for each in plan.methods if each not in settled.methods))
    plan = replace(
        plan,
        directives=settled,
        order=settled.order or plan.order,
        methods=tuple(each for each in methods if each in plan.methods),
        importance=weigh_preferences(settled, plan.importance, among),
    )
    return goals, plan


def _list_orders_in_vain(
    goals: Sequence[Goal], plan: CycleRequest, settled: SettledDirectives
) -> Iterator[DirectiveFailure]:
    """Limits for which records change in groups, or whole columns do: no record comes first."""
    for goal in goals if settled.order is not None else ():
        if plan.local or goal.is_class_limit or "suppress" not in plan.methods:
            yield DirectiveFailure(
                directive="order",
                reason="no_turns",
                rule=settled.order_rule,
                attribute=goal.rule,
            )


def add_thresholds(dataset: Dataset, goal: Goal, directives: Directives) -> Goal:
    """A goal with the thresholds that directives give single records of a dataset."""
    takes = goal.takes_thresholds
    return _add_thresholds(goal, settle_directives(dataset, directives, takes_thresholds=takes))


def _add_thresholds(goal: Goal, settled: SettledDirectives) -> Goal:
    if settled.thresholds is None or not goal.takes_thresholds:
        return goal
    return replace(goal, thresholds=settled.thresholds, threshold_rules=settled.threshold_rules)


def recode_directed(state: CycleState, goals: Sequence[Goal], settled: SettledDirectives) -> None:
    """Make attributes as coarse as directives ask at the least."""
    for name, directive in settled.levels.items():
        before = len(state.changes)
        recode_to_levels(state, goals, {name: directive.level})
        fresh = list(mark_directed(state.changes[before:], directive.rule or "recode"))
        state.changes[before:] = fresh


def change_directed_records(
    state: CycleState, goals: Sequence[Goal], settled: SettledDirectives
) -> None:
    """Hide the cells and remove the records that directives name."""
    among = tuple(dict.fromkeys(name for goal in goals for name in goal.among))

    def measure(dataset: Dataset) -> Floats:
        highest: Floats = np.max([state.measure(goal, dataset).risk for goal in goals], axis=0)
        return highest

    state.current, changes = hide_directed(state.current, settled, among, measure)
    state.changes += changes
    current, left, changes = remove_directed(state.current, settled, among, measure)
    if left.size == 0:
        subjects = state.original.subjects
        raise OutOfReachError(
            f'dataset "{state.original.name}": rules remove every one of '
            f"{state.original.rows:,} {subjects}, so nothing is left to release."
        )
    state.changes += changes
    state.current, state.alive = current, left
