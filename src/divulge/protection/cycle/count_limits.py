"""Limits that count who looks alike: the fewest cells, and as many alike as a risk asks for."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, expm1, log1p

import numpy as np

from divulge.classes.people import People
from divulge.data import Dataset
from divulge.protection import tuning
from divulge.protection.changes.decision_log import DecisionLog
from divulge.protection.cycle.request import CycleRequest, CycleState
from divulge.protection.limits.per_record import Goal
from divulge.protection.suppression.request import (
    OutOfReachError,
    Search,
    SuppressionRequest,
)
from divulge.protection.suppression.suppress import suppress_cells


def reach_count_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit that counts: the fewest cells, under what it takes nulls for."""
    request = build_count_request(state, goal, plan)
    released, log, _ = suppress_cells(state.select_originals(), state.current, request)
    _apply_decisions(state, released, log)


def build_count_request(state: CycleState, goal: Goal, plan: CycleRequest) -> SuppressionRequest:
    """What suppression is asked for by a limit that counts."""
    costs = {name: np.array([float(plan.importance.get(name, 1.0))]) for name in goal.among}
    kept = state.mark_kept(plan, goal.among)
    # The cycle of the paper counts possible matches; the other ways have one search each.
    search: Search = plan.search if goal.nulls == "maybe" else "fewest"
    return SuppressionRequest(
        k=int(np.ceil(goal.limit.bound)),
        nulls=goal.nulls,
        subsets=(goal.among,),
        never=plan.never,
        costs=costs,
        cells_per_record=None,
        out_of_reach=plan.out_of_reach,
        search=search,
        order=plan.order,
        seed=plan.seed,
        rule=goal.rule,
        keeps_twins=plan.withstands_refill,
        kept={} if kept is None else dict(zip(goal.among, kept.T, strict=True)),
        kept_by=plan.directives.describe_kept(goal.among),
    )


def suppress_by_count(
    state: CycleState, goal: Goal, plan: CycleRequest, *, k: int | None = None
) -> Dataset | None:
    """The records with k alike, or as many as a limit asks of each; None if that is out of reach.

    A limit on risks asks for as many as the risk that it allows is one in.
    """
    k = ceil(1 / max(goal.highest_risk, 1e-9) - 1e-9) if k is None else k
    if not 1 < k <= state.current.rows:
        return None
    request = replace(build_count_request(state, goal, plan), k=k, out_of_reach="raise")
    try:
        released, _, _ = suppress_cells(state.select_originals(), state.current, request)
    except OutOfReachError:
        return None
    return released


def suppress_by_weights(state: CycleState, goal: Goal, plan: CycleRequest) -> Dataset | None:
    """The records with as many alike as it takes until those who are alike weigh enough.

    None if that is out of reach: a record weighs at least as much as itself.
    """
    for alike in (*tuning.FIGURE_COUNTS, ceil(goal.limit.bound)):
        counted = suppress_by_count(state, goal, plan, k=min(alike, ceil(goal.limit.bound)))
        if counted is None:
            return None
        if state.measure(goal, counted).held:
            return counted
    return None


def suppress_by_people(
    state: CycleState, goal: Goal, plan: CycleRequest, people: People
) -> Dataset | None:
    """The records with as many alike as it takes until there are people enough among them.

    Between k records (if all are of different people) and k times as many as anybody has. None if
    that is out of reach.
    """
    names = list(goal.among)
    originals, current = state.select_originals().select(names), state.current.select(names)
    k = ceil(goal.limit.bound)
    most = min(k * int(people.records.max()), current.rows)
    tries = np.linspace(k, most, tuning.MOST_PEOPLE_TRIES)
    for alike in np.unique(tries.astype(np.int64)).tolist():
        request = replace(build_count_request(state, goal, plan), k=alike, out_of_reach="raise")
        try:
            hidden, _, _ = suppress_cells(originals, current, request)
        except OutOfReachError:
            return None
        released = replace(state.current, columns={**state.current.columns, **hidden.columns})
        if state.measure(goal, released).held:
            return released
    return None


def list_cluster_counts(highest_risk: float, largest: int) -> list[int]:
    """How many alike each member of a cluster may need, from one who is alone to all alike.

    A cluster of s members with k alike each is found with a chance of 1 - (1 - 1/k)^s.

    >>> list_cluster_counts(1 / 3, 4)
    [3, 6, 8, 11]
    """
    risk = min(max(highest_risk, 1e-9), 1 - 1e-9)
    counts = {
        ceil(-1 / expm1(log1p(-risk) / members) - 1e-9)
        for members in np.linspace(1, largest, tuning.CLUSTER_STARTS).round().astype(int).tolist()
    }
    return sorted(counts)


def _apply_decisions(state: CycleState, released: Dataset, log: DecisionLog) -> None:
    state.changes += [replace(c, records=state.alive[c.records]) for c in log.changes]
    removed = log.removed_records
    state.current = released
    if removed.size:
        state.alive = np.delete(state.alive, removed)
