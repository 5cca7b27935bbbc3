"""Local protection: single records hide cells, or show them coarser, until every limit holds.

By count where a limit counts, together where it judges classes, record by record (less significant
first, the attribute that gives most company first) where it judges records. Whom nothing helps is
removed, if that is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from divulge import records, work
from divulge.assessment import Sentence
from divulge.assessment.decision import Change as Kind
from divulge.classes.keys import assign_classes
from divulge.classes.people import find_people
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset
from divulge.protection import tuning
from divulge.protection.changes.changes import (
    build_code_matrix,
    hide_cells,
    select_records,
    value_at,
)
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.cluster_search import ClusterSearch, list_cheapest_masks
from divulge.protection.cycle_request import CycleRequest, CycleState, build_cycle_error
from divulge.protection.limits.per_record import Goal, Standing
from divulge.protection.suppression.class_moves import apply_moves, build_grid
from divulge.protection.suppression.request import (
    OutOfReachError,
    Search,
    SuppressionRequest,
)
from divulge.protection.suppression.suppress import suppress_cells
from divulge.records.risk.frequencies import DEFAULT_NULLS, SEMANTICS_OF_ALIKE_NULLS
from divulge.records.risk.links import Clusters
from divulge.work.arrays import Floats, Ints


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
            if _counts_people(state, goal):
                _reach_people_limit(state, goal, plan)
            elif goal.is_cluster_limit and not plan.local:
                _reach_cluster_limit(state, goal, plan)
            elif goal.is_count_limit and not plan.local:
                _reach_count_limit(state, goal, plan)
            elif goal.is_count_limit or goal.is_class_limit:
                _reach_class_limit(state, goal, plan)
            else:
                _hide_one_cell_each(state, goal, plan)
            step.advance()
            if sum(len(change) for change in state.changes) == cells:
                _remove_unprotectable(state, goal, plan)


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
        preference=_rank_records(state, standing.risk, plan),
    )
    if plan.search == "cycle" and search.wild:
        found = search.lower_in_order(rows)
    else:
        starts = [rows]
        counted = _suppress_by_count(state, goal, plan)
        if counted is not None:
            # A cluster is at least as exposed as each of its records: they need company anyway.
            starts.append(build_code_matrix(counted, names, absence_apart=apart))
        found = search.find_rows(starts)
    cells = _list_fresh_cells(names, rows, found)
    if cells:
        _hide_and_log(state, goal, standing, cells)
    else:
        _hide_one_cell_each(state, goal, plan)


def _measure_cluster_standing(
    state: CycleState, goal: Goal, plan: CycleRequest, released: Dataset
) -> Standing:
    """How records stand, also to somebody who completes the file and counts who is rare in it."""
    standing = state.measure(goal, released)
    weighs = goal.is_count_limit and goal.nulls == DEFAULT_NULLS
    if not (weighs and plan.withstands_refill) or standing.own is None:
        return standing
    counts = records.frequencies(released, "value", among=goal.among).sample
    rare = goal.limit.broken_by(counts)
    own = np.where(rare, np.maximum(standing.own, 1 / counts), standing.own)
    return replace(standing, at_risk=standing.at_risk | rare, own=own)


def _list_fresh_cells(names: Sequence[str], before: Any, rows: Any) -> dict[str, Ints]:
    fresh = (rows == HIDDEN) & (before != HIDDEN)
    return {name: np.flatnonzero(fresh[:, a]) for a, name in enumerate(names) if fresh[:, a].any()}


def _hide_rows(dataset: Dataset, names: Sequence[str], before: Any, rows: Any) -> Dataset:
    return hide_cells(dataset, _list_fresh_cells(names, before, rows))


def _suppress_by_count(state: CycleState, goal: Goal, plan: CycleRequest) -> Dataset | None:
    """The records with as many alike as a limit asks of each; None if that is out of reach.

    A limit on risks asks for as many as the risk that it allows is one in.
    """
    k = ceil(1 / max(goal.highest_risk, 1e-9) - 1e-9)
    if not 1 < k <= state.current.rows:
        return None
    request = replace(_build_count_request(goal, plan), k=k, out_of_reach="raise")
    try:
        released, _, _ = suppress_cells(state.select_originals(), state.current, request)
    except OutOfReachError:
        return None
    return released


def _reach_count_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit that counts: the fewest cells, under what it takes nulls for."""
    request = _build_count_request(goal, plan)
    released, log, _ = suppress_cells(state.select_originals(), state.current, request)
    _apply_decisions(state, released, log)


def _build_count_request(goal: Goal, plan: CycleRequest) -> SuppressionRequest:
    costs = {name: np.array([float(plan.importance.get(name, 1.0))]) for name in goal.among}
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
    )


def _counts_people(state: CycleState, goal: Goal) -> bool:
    """Whether a limit counts people of whom some have several records."""
    return goal.is_count_limit and find_people(state.current) is not None


def _reach_people_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit that counts people: records hide the same, as the count of people allows.

    Where all records of a person are known, what hides cells is not judged: nothing is hidden, and
    whom recoding does not help is removed.
    """
    if goal.records_known == "one":
        _reach_class_limit(state, goal, plan)


def _apply_decisions(state: CycleState, released: Dataset, log: DecisionLog) -> None:
    state.changes += [replace(c, records=state.alive[c.records]) for c in log.changes]
    removed = log.removed_records
    state.current = released
    if removed.size:
        state.alive = np.delete(state.alive, removed)


def _reach_class_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit that judges classes: whole groups of records give up the same."""
    grid = build_grid(
        state.current,
        goal.among,
        plan.never,
        importance=plan.importance,
        recode=plan.local and "recode" in plan.methods,
        hide="suppress" in plan.methods,
    )
    if not grid.moves[-1].tables:
        return
    before = state.measure(goal)
    rows, _ = apply_moves(grid, partial(state.measure, goal), goal.limit.measure)
    released = grid.build_release(rows)
    after = state.measure(goal, released)
    round_changes = _RoundChanges(
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


@dataclass(frozen=True, kw_only=True)
class _RoundChanges:
    """What all changes of one round have in common."""

    state: CycleState
    goal: Goal
    released: Dataset
    before: Standing
    after: Standing

    def build_changes(self, kind: Kind, name: str, chosen: Ints) -> Iterator[Change]:
        """The decisions to change an attribute: of who was at risk, then of who joins them."""
        company = str(Sentence("divulge.protection", "reason.wildcard"))
        at_risk = self.before.at_risk[chosen]
        for places, reason in ((chosen[at_risk], ""), (chosen[~at_risk], company)):
            if places.size:
                yield self._build_change(kind, name, places, reason)

    def _build_change(self, kind: Kind, name: str, chosen: Ints, reason: str) -> Change:
        column, new = self.state.current.columns[name], self.released.columns[name]
        return Change(
            kind=kind,
            attribute=name,
            records=self.state.alive[chosen],
            was=tuple(value_at(column, place) for place in chosen.tolist()),
            became=tuple(value_at(new, place) for place in chosen.tolist()),
            rule=self.goal.rule,
            reason=reason,
            before=self.before.risk[chosen],
            after=self.after.risk[chosen],
            company=_count_equal_records(self.state.current, self.goal.among)[chosen],
            among=self.goal.among,
        )


def _count_equal_records(dataset: Dataset, among: Sequence[str]) -> Ints:
    columns = [dataset.columns[name] for name in among]
    class_of_record = assign_classes(
        [c.codes for c in columns], [len(c.values) + 1 for c in columns], dataset.rows
    )
    return np.bincount(class_of_record)[class_of_record]


def _hide_one_cell_each(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit on records: half of those at risk, in their order, hide one cell each.

    Half, because what they hide is company for the others too.
    """
    standing = state.measure(goal)
    at_risk = np.flatnonzero(standing.at_risk)
    rows = build_code_matrix(state.current, list(goal.among))
    order = _rank_records(state, standing.risk, plan)
    at_risk = at_risk[np.argsort(order[at_risk], kind="stable")]
    allowed = np.array([name not in plan.never for name in goal.among])
    able = at_risk[np.any((rows[at_risk] != HIDDEN) & allowed, axis=1)]
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
    _hide_and_log(state, goal, standing, cells)


def _hide_and_log(
    state: CycleState, goal: Goal, standing: Standing, cells: Mapping[str, Ints]
) -> None:
    released = hide_cells(state.current, cells)
    after = state.measure(goal, released)
    round_changes = _RoundChanges(
        state=state, goal=goal, released=released, before=standing, after=after
    )
    for name, places in cells.items():
        state.changes += round_changes.build_changes("suppressed", name, places)
    state.current = released


def _add_donors(state: CycleState, goal: Goal, standing: Standing, rows: Any, allowed: Any) -> None:
    """Who is at risk hides all they may: others hide the same, as few as take somebody out of it.

    Those come first who leave most behind that look alike. Nothing is done if it does not help.
    """
    if not np.any(allowed):
        return
    fixed_codes = rows[:, ~allowed]
    for fixed_row in np.unique(fixed_codes[standing.at_risk], axis=0):
        alike = np.all(fixed_codes == fixed_row, axis=1) & np.any(
            (rows != HIDDEN) & allowed, axis=1
        )
        donors = np.flatnonzero(alike & ~standing.at_risk)
        donors = donors[
            np.argsort(-_count_equal_records(state.current, goal.among)[donors], kind="stable")
        ]
        for count in range(1, min(len(donors), tuning.MOST_DONORS) + 1):
            cells = {}
            for a in np.flatnonzero(allowed):
                showing = donors[:count][rows[donors[:count], a] != HIDDEN]
                if showing.size:
                    cells[goal.among[a]] = np.sort(showing)
            after = state.measure(goal, hide_cells(state.current, cells))
            if after.at_risk.sum() < standing.at_risk.sum():
                _hide_and_log(state, goal, standing, cells)
                return


def _rank_records(state: CycleState, risk: Floats, plan: CycleRequest) -> Floats:
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
        worth = np.where((rows[chosen, a] != HIDDEN) & allowed[a], worth, -1.0)
        better = worth > best
        best[better], attribute[better] = worth[better], a
    return attribute


def _choose_most_exposed(clusters: Clusters, standing: Standing) -> Ints:
    """The member of each cluster at risk who is found most easily: without them it may be safe."""
    assert standing.own is not None  # noqa: S101  # asked before
    at_risk = np.flatnonzero(standing.at_risk)
    order = at_risk[np.argsort(-standing.own[at_risk], kind="stable")]
    _, first = np.unique(clusters.of_record[order], return_index=True)
    return np.sort(order[first])


def _remove_unprotectable(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
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
            company=_count_equal_records(state.current, goal.among)[unprotected],
            among=goal.among,
        )
    )
    remaining = np.delete(np.arange(state.current.rows), unprotected)
    state.current = select_records(state.current, remaining)
    state.alive = state.alive[remaining]
