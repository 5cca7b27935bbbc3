"""Local protection: single records hide cells, or show them coarser, until every limit holds.

By count where a limit counts, together where it judges classes, record by record (less significant
first, the attribute that gives most company first) where it judges records. Whom nothing helps is
removed, if that is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from divulge import work
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
from divulge.protection.cycle_request import CycleRequest, CycleState, build_cycle_error
from divulge.protection.limits.per_record import Goal, Standing
from divulge.protection.suppression.class_moves import apply_moves, build_grid
from divulge.protection.suppression.request import Search, SuppressionRequest
from divulge.protection.suppression.suppress import suppress_cells
from divulge.work.arrays import Floats, Ints


def suppress_to_limits(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> None:
    """Help whoever is at risk under some limit, limit by limit, until all hold together."""
    with work.step("Protecting records") as step:
        for _ in range(tuning.MOST_ROUNDS):
            originals = state.select_originals()
            open_goals = [
                goal for goal in goals if not goal.measure_standing(state.current, originals).held
            ]
            if not open_goals:
                return
            goal = open_goals[0]
            cells = sum(len(change) for change in state.changes)
            if _counts_people(state, goal):
                _reach_people_limit(state, goal, plan)
            elif goal.is_count_limit and not plan.local:
                _reach_count_limit(state, goal, plan)
            elif goal.is_count_limit or goal.is_class_limit:
                _reach_class_limit(state, goal, plan)
            else:
                _hide_one_cell_each(state, goal, plan)
            step.advance()
            if sum(len(change) for change in state.changes) == cells:
                _remove_unprotectable(state, goal, plan)


def _reach_count_limit(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """A limit that counts: the fewest cells, under what it takes nulls for."""
    costs = {name: np.array([float(plan.importance.get(name, 1.0))]) for name in goal.among}
    # The cycle of the paper counts possible matches; the other ways have one search each.
    search: Search = plan.search if goal.nulls == "maybe" else "fewest"
    request = SuppressionRequest(
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
    )
    released, log, _ = suppress_cells(state.select_originals(), state.current, request)
    _apply_decisions(state, released, log)


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
    before = goal.measure_standing(state.current, state.select_originals())
    rows, _ = apply_moves(grid, goal, state.select_originals())
    released = grid.build_release(rows)
    after = goal.measure_standing(released, state.select_originals())
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
    standing = goal.measure_standing(state.current, state.select_originals())
    at_risk = np.flatnonzero(standing.at_risk)
    rows = build_code_matrix(state.current, list(goal.among))
    order = _rank_records(state, standing.risk, plan)
    at_risk = at_risk[np.argsort(order[at_risk], kind="stable")]
    allowed = np.array([name not in plan.never for name in goal.among])
    able = at_risk[np.any((rows[at_risk] != HIDDEN) & allowed, axis=1)]
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
    after = goal.measure_standing(released, state.select_originals())
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
            after = goal.measure_standing(
                hide_cells(state.current, cells), state.select_originals()
            )
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


def _remove_unprotectable(state: CycleState, goal: Goal, plan: CycleRequest) -> None:
    """Nothing more can be changed: remove whom nothing helps, if that is allowed."""
    standing = goal.measure_standing(state.current, state.select_originals())
    unprotected = np.flatnonzero(standing.at_risk)
    if unprotected.size == 0:
        return
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
