"""Limits on the risk of records: cells of who is at risk, round by round or k alike at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from divulge.classes.keys import assign_classes
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset
from divulge.protection import tuning
from divulge.protection.changes.changes import (
    build_code_matrix,
    hide_cells,
)
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.cycle.count_limits import suppress_by_count
from divulge.protection.cycle.request import CycleRequest, CycleState
from divulge.protection.cycle.round_changes import count_equal_records, hide_and_log, list_cells
from divulge.protection.limits.per_record import Goal, Standing
from divulge.protection.suppression.refinement import CellRefinement, count_affordable_tries
from divulge.work.arrays import Bools, Floats, Ints


def reach_record_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit on the risk of records: round by round, or k alike at once, whichever hides less.

    The first knows what weighs in a risk (weights, say), the second who is company for whom. Of
    few records, what need not be hidden is shown again, unless twins are needed against refilling.
    """
    gradual = replace(state, changes=list(state.changes))
    if goal.is_count_limit:
        _hide_by_bound(gradual, goal, plan)
    _hide_in_rounds(gradual, goal, plan)
    is_reached = gradual.measure(goal).held
    names = list(goal.among)
    before = build_code_matrix(state.current, names)
    hidden = _find_fresh_cells(gradual.current, names, before)
    costs = np.array([float(plan.importance.get(name, 1.0)) for name in names])
    chosen = hidden
    counted = suppress_by_count(state, goal, plan) if plan.search == "fewest" else None
    if counted is not None and state.measure(goal, counted).held:
        together = _find_fresh_cells(counted, names, before)
        price = float((hidden @ costs).sum())
        if not is_reached:
            price += _price_removal(gradual, goal, plan)
        if float((together @ costs).sum()) < price:
            chosen, is_reached = together, True
    if is_reached and plan.search == "fewest" and not plan.withstands_refill:
        chosen = _show_unneeded(state, goal, plan, before, chosen)
    if np.array_equal(chosen, hidden):
        state.current, state.changes = gradual.current, gradual.changes
    else:
        hide_and_log(state, goal, state.measure(goal), list_cells(names, chosen))


def _price_removal(state: CycleState, goal: Goal, plan: CycleRequest) -> float:
    """What it costs to remove whom nothing helps: all cells of theirs; no end if it is forbidden.

    A few people whom nobody is like would otherwise have cells of all others hidden.
    """
    if plan.out_of_reach == "raise":
        return float("inf")
    return float(len(state.current.names) * state.measure(goal).at_risk.sum())


def _hide_by_bound(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """What the bound asks of all: those who have thresholds of their own may need more."""
    counted = suppress_by_count(state, goal, plan, k=ceil(goal.limit.bound))
    if counted is not None:
        names = list(goal.among)
        cells = list_cells(
            names, _find_fresh_cells(counted, names, build_code_matrix(state.current, names))
        )
        if cells:
            hide_and_log(state, goal, state.measure(goal), cells)


def _hide_in_rounds(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    for _ in range(tuning.MOST_ROUNDS):
        changes = len(state.changes)
        hide_one_cell_each(state, goal, plan)
        if len(state.changes) == changes or state.measure(goal).held:
            return


def _show_unneeded(
    state: CycleState, goal: Goal, plan: CycleRequest, before: Any, chosen: Bools
) -> Bools:
    names = list(goal.among)
    costs = np.ones(before.shape) * [float(plan.importance.get(name, 1.0)) for name in names]
    costs[:, [name in plan.never for name in names]] = np.inf
    costs[before == HIDDEN] = np.inf
    kept = state.mark_kept(plan, names)
    if kept is not None:
        costs[kept] = np.inf

    def is_held(hidden: Bools) -> bool:
        released = hide_cells(state.current, list_cells(names, hidden))
        return state.measure(goal, released).held

    tries = count_affordable_tries(len(before))
    return CellRefinement(costs, is_held, tries).find_cheaper(chosen)


def _find_fresh_cells(released: Dataset, names: Sequence[str], before: Any) -> Bools:
    fresh: Bools = (build_code_matrix(released, list(names)) == HIDDEN) & (before != HIDDEN)
    return fresh


def hide_one_cell_each(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit on records: half of those at risk, in their order, hide one cell each.

    Half, because what they hide is company for the others too.
    """
    standing = state.measure(goal)
    at_risk = np.flatnonzero(standing.at_risk)
    rows = build_code_matrix(state.current, list(goal.among))
    order = rank_records(state, standing.risk, plan)
    at_risk = at_risk[np.argsort(order[at_risk], kind="stable")]
    allowed = np.tile([name not in plan.never for name in goal.among], (len(rows), 1))
    kept = state.mark_kept(plan, goal.among)
    if kept is not None:
        allowed &= ~kept
    able = at_risk[np.any((rows[at_risk] != HIDDEN) & allowed[at_risk], axis=1)]
    if standing.own is not None:
        # One of each cluster, who is found most easily.
        able = able[np.argsort(-standing.own[able], kind="stable")]
        cluster = state.select_clusters(goal).of_record[able]
        able = able[np.sort(np.unique(cluster, return_index=True)[1])]
    chosen = able[: max(1, (able.size + 1) // 2)]
    if chosen.size == 0:
        _add_donors(state, goal, standing, rows, allowed)
        return
    attribute = _choose_attributes(rows, chosen, goal.among, allowed, plan)
    cells = {
        name: np.sort(chosen[attribute == a])
        for a, name in enumerate(goal.among)
        if np.any(attribute == a)
    }
    hide_and_log(state, goal, standing, cells)


def _add_donors(state: CycleState, goal: Goal, standing: Standing, rows: Any, allowed: Any) -> None:
    """Who is at risk hides all they may: others hide the same, as few as take somebody out of it.

    Those come first who leave most behind that look alike. Nothing is done if it does not help.
    """
    may_change = np.any(allowed, axis=0)
    if not np.any(may_change):
        return
    fixed_codes = rows[:, ~may_change]
    for fixed_row in np.unique(fixed_codes[standing.at_risk], axis=0):
        alike = np.all(fixed_codes == fixed_row, axis=1) & np.any(
            (rows != HIDDEN) & allowed, axis=1
        )
        alike &= np.all(allowed[:, may_change], axis=1)
        donors = np.flatnonzero(alike & ~standing.at_risk)
        donors = donors[
            np.argsort(-count_equal_records(state.current, goal.among)[donors], kind="stable")
        ]
        for count in range(1, min(len(donors), tuning.MOST_DONORS) + 1):
            cells = {}
            for a in np.flatnonzero(may_change):
                showing = donors[:count][rows[donors[:count], a] != HIDDEN]
                if showing.size:
                    cells[goal.among[a]] = np.sort(showing)
            after = state.measure(goal, hide_cells(state.current, cells))
            if after.at_risk.sum() < standing.at_risk.sum():
                hide_and_log(state, goal, standing, cells)
                return


def rank_records(state: CycleState, risk: Floats, plan: CycleRequest) -> Floats:
    """The order in which records are changed: the lowest first."""
    if plan.order == "random" or plan.seed is not None:
        return np.random.default_rng(plan.seed).random(risk.size)
    if plan.order == "risk":
        return -risk
    weights = sampling_weights(state.current, least=0.0) if plan.order == "weight" else None
    return np.zeros(risk.size) if weights is None else weights


def _choose_attributes(
    rows: Any, chosen: Ints, among: Sequence[str], allowed: Any, plan: CycleRequest
) -> Ints:
    """For each record, the attribute whose hiding leaves most that agree on the rest."""
    best = np.full(chosen.size, -1.0)
    attribute = np.zeros(chosen.size, np.int64)
    for a, name in enumerate(among):
        others = [rows[:, b].astype(np.int64) + 1 for b in range(len(among)) if b != a]
        class_of_record = assign_classes(
            others, [int(c.max(initial=0)) + 1 for c in others], len(rows)
        )
        worth = np.bincount(class_of_record)[class_of_record][chosen] / float(
            plan.importance.get(name, 1.0)
        )
        worth = np.where((rows[chosen, a] != HIDDEN) & allowed[chosen, a], worth, -1.0)
        better = worth > best
        best[better], attribute[better] = worth[better], a
    return attribute
