"""Local protection: single records hide cells, or show them coarser, until every limit holds.

By count where a limit counts, together where it judges classes, record by record (less significant
first, the attribute that gives most company first) where it judges records. Whom nothing helps is
removed, if that is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from divulge import records, work
from divulge.assessment import Sentence
from divulge.assessment.decision import Change as Kind
from divulge.classes.people import find_people
from divulge.data import Dataset
from divulge.protection import tuning
from divulge.protection.changes.changes import (
    build_code_matrix,
    hide_cells,
    select_records,
)
from divulge.protection.changes.decision_log import Change
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.cycle.cluster_search import ClusterSearch, list_cheapest_masks
from divulge.protection.cycle.count_limits import (
    list_cluster_counts,
    reach_count_limit,
    suppress_by_count,
    suppress_by_people,
    suppress_by_weights,
)
from divulge.protection.cycle.figure_limits import find_figure_cells
from divulge.protection.cycle.record_limits import (
    hide_one_cell_each,
    rank_records,
    reach_record_limit,
)
from divulge.protection.cycle.request import CycleRequest, CycleState, build_cycle_error
from divulge.protection.cycle.round_changes import (
    RoundChanges,
    count_equal_records,
    hide_and_log,
    list_cells,
)
from divulge.protection.limits.per_record import Goal, Standing
from divulge.protection.suppression.class_moves import apply_moves, build_grid
from divulge.records.risk.links.clusters import Clusters
from divulge.records.risk.null_readings import DEFAULT_NULLS, SEMANTICS_OF_ALIKE_NULLS
from divulge.work.arrays import Ints


def suppress_to_limits(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> None:
    """Help whoever is at risk under some limit, limit by limit, until all hold together."""
    plan = replace(plan, never=plan.never | plan.never_hidden)
    with work.step("Protecting records") as step:
        for _ in range(tuning.MOST_ROUNDS):
            open_goals = [goal for goal in goals if not state.measure(goal).held]
            if not open_goals:
                return
            goal = open_goals[0]
            cells = sum(len(change) for change in state.changes)
            if _counts_otherwise(state, goal):
                _reach_crowd_limit(state, goal, plan)
            elif goal.is_cluster_limit and not plan.local:
                _reach_cluster_limit(state, goal, plan)
            elif goal.is_count_limit and goal.thresholds is not None and not plan.local:
                reach_record_limit(state, goal, plan)
            elif goal.is_count_limit and not plan.local:
                reach_count_limit(state, goal, plan)
            elif goal.limit.of_assessment and not plan.local:
                _reach_figure_limit(state, goal, plan)
            elif goal.is_count_limit or goal.is_class_limit:
                _reach_class_limit(state, goal, plan)
            else:
                reach_record_limit(state, goal, plan)
            step.advance()
            if sum(len(change) for change in state.changes) == cells:
                remove_unprotectable(state, goal, plan)


def _reach_cluster_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit on linked records: the cells that lower clusters most, whosever they are."""
    names = list(goal.among)
    apart = goal.nulls not in SEMANTICS_OF_ALIKE_NULLS
    rows = build_code_matrix(state.current, names, absence_apart=apart)
    costs = np.array([float(plan.importance.get(name, 1.0)) for name in names])
    allowed = [a for a, name in enumerate(names) if name not in plan.never]
    standing = state.measure(goal)
    search = ClusterSearch(
        before=rows,
        of_record=state.select_clusters(goal).of_record,
        masks=list_cheapest_masks(allowed, costs),
        costs=costs,
        measure=lambda moved: _measure_cluster_standing(
            state, goal, plan, _hide_rows(state.current, names, rows, moved)
        ),
        bound=goal.highest_risk,
        wild=goal.nulls == "maybe",
        preference=rank_records(state, standing.risk, plan),
        kept=state.mark_kept(plan, names),
    )
    if plan.search == "cycle" and search.wild:
        found = search.lower_in_order(rows)
    else:
        starts = [rows]
        # A cluster is at least as exposed as each of its records: they need company anyway, and
        # where all have what a member of the largest cluster needs, every limit holds.
        largest = int(np.bincount(search.of_record).max(initial=1))
        for k in list_cluster_counts(goal.highest_risk, largest):
            counted = suppress_by_count(state, goal, plan, k=k)
            if counted is not None:
                starts.append(build_code_matrix(counted, names, absence_apart=apart))
        found = search.find_rows(starts)
    cells = _list_fresh_cells(names, rows, found)
    if cells:
        hide_and_log(state, goal, standing, cells)
    else:
        hide_one_cell_each(state, goal, plan)


def _measure_cluster_standing(
    state: CycleState, goal: Goal, plan: CycleRequest, released: Dataset
) -> Standing:
    """How records stand, also to somebody who completes the file and counts who is rare in it."""
    standing = state.measure(goal, released)
    weighs = goal.is_count_limit and goal.nulls == DEFAULT_NULLS
    if not (weighs and plan.withstands_refill) or standing.own is None:
        return standing
    counts = records.frequencies(released, "value", among=goal.among).sample
    rare = goal.find_rare_records(counts, state.alive)
    own = np.where(rare, np.maximum(standing.own, 1 / counts), standing.own)
    return replace(standing, at_risk=standing.at_risk | rare, own=own)


def _list_fresh_cells(names: Sequence[str], before: Any, rows: Any) -> dict[str, Ints]:
    fresh = (rows == HIDDEN) & (before != HIDDEN)
    return {name: np.flatnonzero(fresh[:, a]) for a, name in enumerate(names) if fresh[:, a].any()}


def _hide_rows(dataset: Dataset, names: Sequence[str], before: Any, rows: Any) -> Dataset:
    return hide_cells(dataset, _list_fresh_cells(names, before, rows))


def _counts_otherwise(state: CycleState, goal: Goal) -> bool:
    """Whether a limit counts people of whom some have several records, or what records weigh."""
    if goal.counts_population:
        return goal.clusters is None
    return goal.is_count_limit and find_people(state.current) is not None


def _reach_crowd_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """Whole classes hide the same, or as many look alike as it takes: in people, or in weights.

    Whichever hides less. Where all records of a person are known, what hides cells is not judged:
    nothing is hidden, and whom recoding does not help is removed.
    """
    if goal.records_known != "one":
        return
    people = find_people(state.current)
    counted = None
    if "suppress" in plan.methods and not plan.local:
        if goal.counts_population:
            counted = suppress_by_weights(state, goal, plan)
        elif people is not None:
            counted = suppress_by_people(state, goal, plan, people)
    together = replace(state, changes=list(state.changes))
    _reach_class_limit(together, goal, plan)
    if counted is not None:
        names = list(goal.among)
        apart = goal.nulls not in SEMANTICS_OF_ALIKE_NULLS
        before, by_class, by_count = (
            build_code_matrix(dataset, names, absence_apart=apart)
            for dataset in (state.current, together.current, counted)
        )
        costs = np.array([float(plan.importance.get(name, 1.0)) for name in names])
        if not together.measure(goal).held or (
            float(((by_count == HIDDEN) @ costs).sum())
            < float(((by_class == HIDDEN) @ costs).sum())
        ):
            cells = _list_fresh_cells(names, before, by_count)
            hide_and_log(state, goal, state.measure(goal), cells)
            return
    state.current, state.changes = together.current, together.changes


def _reach_figure_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit on what an adversary finds: as many alike as it needs, or groups of who is found.

    Whichever hides less. Groups are looked at as long as they may: where nearly everybody is at
    risk, each of their ways costs more than it takes to make all alike.
    """
    hidden = find_figure_cells(state, goal, plan)
    if hidden is None:
        _reach_class_limit(state, goal, plan)
        return
    names = list(goal.among)
    costs = np.array([float(plan.importance.get(name, 1.0)) for name in names])
    price = float((hidden @ costs).sum())
    moved = replace(state, changes=list(state.changes))
    _reach_class_limit(moved, goal, plan, most_cost=price)
    before, after = (build_code_matrix(each.current, names) for each in (state, moved))
    fresh = (after == HIDDEN) & (before != HIDDEN)
    if moved.measure(goal).held and float((fresh @ costs).sum()) <= price:
        state.current, state.changes = moved.current, moved.changes
    else:
        hide_and_log(state, goal, state.measure(goal), list_cells(names, hidden))


def _reach_class_limit(
    state: CycleState, goal: Goal, plan: CycleRequest, most_cost: float = inf
) -> None:
    """A limit that judges classes: whole groups of records give up the same."""
    grid = build_grid(
        state.current,
        goal.among,
        plan.never,
        importance=plan.importance,
        recode=plan.local and "recode" in plan.methods,
        hide="suppress" in plan.methods,
        kept=state.mark_kept(plan, goal.among),
    )
    if not grid.moves[-1].tables:
        return
    before = state.measure(goal)
    rows, _ = apply_moves(grid, partial(state.measure, goal), goal.limit.measure, most_cost)
    released = grid.build_release(rows)
    after = state.measure(goal, released)
    round_changes = RoundChanges(
        state=state, goal=goal, released=released, before=before, after=after
    )
    for a, name in enumerate(goal.among):
        was, now = grid.rows[:, a], rows[:, a]
        changed: tuple[tuple[Kind, Ints], ...] = (
            ("suppressed", np.flatnonzero((now == HIDDEN) & (was != HIDDEN))),
            ("recoded", np.flatnonzero((now != was) & (now != HIDDEN))),
        )
        for kind, chosen in changed:
            if chosen.size:
                state.changes += round_changes.build_changes(kind, name, chosen)
    state.current = released


def _choose_most_exposed(clusters: Clusters, standing: Standing) -> Ints:
    """The member of each cluster at risk who is found most easily: without them it may be safe."""
    assert standing.own is not None  # noqa: S101  # asked before
    at_risk = np.flatnonzero(standing.at_risk)
    order = at_risk[np.argsort(-standing.own[at_risk], kind="stable")]
    _, first = np.unique(clusters.of_record[order], return_index=True)
    return np.sort(order[first])


def remove_unprotectable(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """Nothing more can be changed: remove whom nothing helps, if that is allowed."""
    standing = state.measure(goal)
    unprotected = np.flatnonzero(standing.at_risk)
    if unprotected.size == 0:
        return
    if goal.is_cluster_limit and standing.own is not None:
        unprotected = _choose_most_exposed(state.select_clusters(goal), standing)
    if plan.out_of_reach == "raise" or unprotected.size == state.current.rows:
        raise build_cycle_error(state, goal, unprotected.size, plan)
    state.changes.append(
        Change(
            kind="removed",
            attribute=None,
            records=state.alive[unprotected],
            was=(),
            became=(),
            rule=goal.rule,
            reason=str(Sentence("divulge.protection", "reason.removed")),
            before=standing.risk[unprotected],
            after=np.zeros(unprotected.size),
            company=count_equal_records(state.current, goal.among)[unprotected],
            among=goal.among,
        )
    )
    remaining = np.delete(np.arange(state.current.rows), unprotected)
    state.current = select_records(state.current, remaining)
    state.alive = state.alive[remaining]
