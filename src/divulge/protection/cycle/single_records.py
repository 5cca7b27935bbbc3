"""Local recoding in a protection: records become coarser one by one, by nested classes or clusters.

Limits that classes tell are reached by the searches that `recode` has, with a hidden cell as the
level above all others, so that nobody need be removed for lack of a hierarchy. What other limits
still ask, and whom no class can take, is left to suppression. Whatever comes of it, levels for all
records alike are tried as well, and the one that loses less is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from divulge import work
from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.protection import tuning
from divulge.protection.changes.decision_log import Change
from divulge.protection.cycle.figure_limits import find_most_shown, list_figure_counts, rank_groups
from divulge.protection.cycle.local_protection import remove_unprotectable, suppress_to_limits
from divulge.protection.cycle.request import CycleRequest, CycleState
from divulge.protection.cycle.utility_score import score_protection, sum_loss
from divulge.protection.limits.per_record import Goal
from divulge.protection.recoding.class_tests import ClassTest, SizeTest
from divulge.protection.recoding.lattice import GeneralisationLattice, build_lattice
from divulge.protection.recoding.limit_tests import (
    RecodingLimits,
    build_class_tests,
    list_told_attributes,
    sort_limits,
)
from divulge.protection.recoding.local.clusters import find_clusters
from divulge.protection.recoding.local.local_outcome import LocalOutcome, build_outcome
from divulge.protection.recoding.local.local_release import build_local_release
from divulge.protection.recoding.local.nested import find_nested_levels
from divulge.protection.recoding.utilities import choose_cell_utility
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import OutOfReachError, refuse_changed_kept

_MOVES_NOTE = "recoding.moves"
"""The key of what is told where no classes were searched."""

PlanRunner: TypeAlias = Callable[[Dataset, CycleRequest], Protected]
"""A whole protection of a dataset by a plan, refilling included where it is asked for."""


def recode_records(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> bool:
    """Make single records coarser until every limit holds; False where no class tells a limit.

    Nor where directives name records. Then nothing was changed, and the cycle must do it by moves
    of whole groups, which a note tells. What an adversary finds is told by no class, but falls as
    classes grow: these are searched anew for more and more records alike, until it is within the
    limit.
    """
    # The searches take records as they came, and change any of them.
    is_directed = plan.directives.names_records
    limits = None if is_directed else _select_limits(state, goals)
    if limits is None:
        if not is_directed and all(goal.limit.of_assessment for goal in goals):
            return _recode_to_figures(state, goals, plan)
        cause = "directives" if is_directed else "limits"
        state.notes.append(Sentence("divulge.protection", f"{_MOVES_NOTE}.{cause}"))
        return False
    lattice = _build_space(state, limits.counted[0].among, plan, limits)
    tests = build_class_tests(state.current, lattice, limits)
    outcome = _search_classes(lattice, tests, plan)
    rule = _join_rules(limits.counted)
    state.current, changes = build_local_release(
        state.current, lattice, outcome, tests=tests, rule=rule
    )
    state.changes += changes
    _protect_others(state, goals, plan)
    return True


def _recode_to_figures(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> bool:
    """Classes of as many records as it takes until what adversaries find is within the limits."""
    names = tuple(dict.fromkeys(name for goal in goals for name in goal.among))
    lattice = _build_space(state, names, plan, RecodingLimits())

    def release(outcome: LocalOutcome) -> tuple[Dataset, list[Change]]:
        return build_local_release(state.current, lattice, outcome, rule=_join_rules(goals))

    def is_held(outcome: LocalOutcome) -> bool:
        released, _ = release(outcome)
        return all(state.measure(goal, released).held for goal in goals)

    for k in list_figure_counts(state.current.rows, goals):
        outcome = _search_classes(lattice, [SizeTest(names, k)], plan)
        if is_held(outcome):
            state.current, changes = release(_show_classes(lattice, outcome, is_held))
            state.changes += changes
            return True
    state.notes.append(Sentence("divulge.protection", f"{_MOVES_NOTE}.limits"))
    return False


def _show_classes(
    lattice: GeneralisationLattice, outcome: LocalOutcome, is_held: Callable[[LocalOutcome], bool]
) -> LocalOutcome:
    """The same with as many classes as they were as the limits allow, the coarsest first."""
    costs = sum(
        lattice.costs[lattice.offsets[a, outcome.levels[a]] + lattice.codes[a]]
        for a in range(len(lattice.names))
    )
    place, dearest = rank_groups(outcome.class_of_unit, costs, lattice.counts)

    def show(first: int) -> LocalOutcome:
        levels = outcome.levels.copy()
        levels[:, place[outcome.class_of_unit] < first] = 0
        return build_outcome(lattice, levels, outcome.removed)

    return show(find_most_shown(dearest, lambda first: is_held(show(first))))


def _search_classes(
    lattice: GeneralisationLattice, tests: Sequence[ClassTest], plan: CycleRequest
) -> LocalOutcome:
    search = find_clusters if plan.local_search == "clusters" else find_nested_levels
    return _keep_removed(lattice, search(lattice, tests, seed=plan.tie_seed))


def _join_rules(goals: Sequence[Goal]) -> str:
    return "; ".join(goal.rule for goal in goals)


def _select_limits(state: CycleState, goals: Sequence[Goal]) -> RecodingLimits | None:
    """The limits that classes of all attributes in question tell; None where there is none.

    One that looks at fewer attributes judges unions of such classes, and is measured afterwards.
    """
    limits = sort_limits(state.current, goals)
    names = {name for goal in limits.counted for name in goal.among}
    counted = tuple(goal for goal in limits.counted if set(goal.among) == names)
    sensitive = set(list_told_attributes(state.current, limits))
    if not counted or sensitive & names:
        return None
    return RecodingLimits(counted=counted)


def _build_space(
    state: CycleState, names: Sequence[str], plan: CycleRequest, limits: RecodingLimits
) -> GeneralisationLattice:
    """The lattice, in which hiding is the highest level where it is allowed."""
    may_hide = set(names) - plan.never - plan.never_hidden if "suppress" in plan.methods else ()
    return build_lattice(
        state.current,
        names,
        fixed=sorted(plan.never),
        apart=list_told_attributes(state.current, limits),
        utility=choose_cell_utility(plan.utility),
        importance=plan.importance,
        hidden=may_hide,
    )


def _keep_removed(lattice: GeneralisationLattice, outcome: LocalOutcome) -> LocalOutcome:
    """The same with units that no class can take as they were: suppression may help them."""
    is_left = outcome.removed > 0
    if not is_left.any():
        return outcome
    levels = np.where(is_left, np.zeros_like(outcome.levels), outcome.levels)
    return build_outcome(lattice, levels, np.zeros_like(lattice.counts))


def _protect_others(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> None:
    """Hide what is still needed, or remove whom nothing helps."""
    if "suppress" in plan.methods:
        suppress_to_limits(state, goals, replace(plan, methods=("suppress",), local=False))
        return
    for goal in goals:
        remove_unprotectable(state, goal, plan)


def protect_best(protect: PlanRunner, dataset: Dataset, plan: CycleRequest) -> Protected:
    """Records made coarser one by one, or levels for all alike if these lose no more.

    Both are protected in full, with whatever they must still hide or remove.
    """
    if not plan.local or "recode" not in plan.methods:
        return protect(dataset, plan)
    with work.step("Weighing single records against all alike"):
        single = _try_plan(protect, dataset, plan)
        alike = _try_plan(protect, dataset, replace(plan, local=False))
    ways = (single, alike)
    losses = [np.inf if each is None else sum_loss(each, plan) for each in ways]
    scores = [np.inf if each is None else score_protection(each, plan) for each in ways]
    # Of two that lose the same, levels for all say less to one who knows the method.
    is_single = scores[0] < scores[1] - tuning.LEAST_JOINT_GAIN
    chosen = single if is_single else alike
    if chosen is None:
        return protect(dataset, plan)  # it says what is out of reach
    moves = [] if single is None else [n for n in single.notes if n.key.startswith(_MOVES_NOTE)]
    if is_single:
        key: str = "alone" if alike is None else "moves" if moves else plan.local_search
    else:
        utility_key = "alike" if plan.utility == "loss" else "alike_utility"
        key = "alike_alone" if single is None else utility_key
    values = {"loss": losses[0], "everywhere": losses[1]}
    note = Sentence("divulge.protection", f"recoding.single.{key}", values)
    again = None
    if chosen.again is not None:
        again = lambda other: protect_best(protect, other, plan)  # noqa: E731
    told = () if is_single else moves
    return replace(chosen, notes=(*chosen.notes, *told, note), again=again)


def _try_plan(protect: PlanRunner, dataset: Dataset, plan: CycleRequest) -> Protected | None:
    """The protection by a plan; None where it is out of reach, or changes what rules keep."""
    try:
        protected = protect(dataset, plan)
        refuse_changed_kept(protected, plan.directives)
    except OutOfReachError:
        return None
    return protected
