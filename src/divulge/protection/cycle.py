"""The cycle: measure, change a little, measure again, until every limit holds.

Methods are tried in the order in which they are named. Recoding makes whole columns coarser, one
level of one attribute at a time, always the one after which the fewest records are at risk, until
so few are left that suppression may take care of them. What is left then is suppressed: by count
where a limit counts, together where it judges classes, record by record (less significant first,
the attribute that gives most company first) where it judges records. At the end every limit is
measured anew, with knowledge from the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

import numpy as np

from divulge import work
from divulge.assessment import Limit, Sentence
from divulge.assessment.decision import Change as Kind
from divulge.classes.keys import assign_classes
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset
from divulge.data.dictionary import Dictionary
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection import tuning
from divulge.protection.changes.changes import (
    build_code_matrix,
    hide_cells,
    select_records,
    value_at,
)
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.changes.recodings import (
    add_hierarchies,
    apply_recoding,
    drop_unfitting_labels,
)
from divulge.protection.cycle_request import (
    METHODS,
    CycleRequest,
    CycleState,
    Method,
    check_cycle_request,
)
from divulge.protection.global_recoding import describe_levels, recode_greedily, recode_to_levels
from divulge.protection.limits.per_record import AttackRunner, Goal, Standing, build_goals
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.class_moves import apply_moves, build_grid
from divulge.protection.suppression.request import (
    Order,
    OutOfReachError,
    Search,
    SuppressionRequest,
)
from divulge.protection.suppression.suppress import suppress_cells
from divulge.work.arrays import Floats, Ints


def protect(
    dataset: Dataset,
    limits: Sequence[Limit],
    methods: Sequence[Method] = METHODS,
    is_a: Mapping[str, Any] | None = None,
    never: str | Iterable[str] = (),
    *,
    importance: Mapping[str, float] | None = None,
    order: Order = "weight",
    local: bool = False,
    suppression_limit: float = 0.05,
    out_of_reach: Literal["raise", "remove"] = "raise",
    links: Any = None,
    on: str | None = None,
    search: Search = "fewest",
    seed: int | None = None,
    attacked: Mapping[str | None, tuple[AttackRunner, Sequence[str]]] | None = None,
    original: Dataset | None = None,
) -> Protected:
    """Protect records until every limit holds.

    Args:
        dataset: the records; they stay as they are.
        limits: what must hold; a limit of an adversary is of somebody who knows all
            quasi-identifiers, unless `attacked` says otherwise.
        methods: `recode` and `suppress`, in the order of trial.
        is_a: by attribute, a hierarchy, a file of levels, or pairs (value, what it is one of).
        never: attributes that must not be touched.
        importance: by attribute, how dear it is (1 if not given).
        order: which record first: the least `weight`, the highest `risk`, `given`, `random`.
        local: whether single records are made coarser instead of whole columns.
        suppression_limit: recoding stops when at most this share of records is at risk.
        out_of_reach: whom no method helps: `raise` an error, or `remove` them.
        links: pairs of linked records, or an attribute that links them: a record's risk is that
            of its cluster (risks of records only).
        on: the attribute whose values the pairs name.
        search: how cells are suppressed where a limit counts: `fewest`, or the `cycle`.
        seed: of random choices; keep it secret.
        attacked: by adversary, their attack on a dataset and what they know.
        original: the same records before an earlier protection, if there was one: what an
            adversary who knows their victim knows.

    >>> import divulge as dv
    >>> companies = dv.datasets.local_suppression_example()
    >>> p = protect(
    ...     companies,
    ...     limits=[dv.Limit("k_anonymity", at_least=2, nulls="maybe")],
    ...     is_a={"Area": [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]},
    ... )
    >>> p.levels, p.suppressed_cells, dv.records.frequencies(p.dataset).sample.tolist()
    ({'Area': 1}, 1, [5, 3, 3, 3, 3, 2, 2])
    """
    described = add_hierarchies(merge_missing_kinds(dataset), is_a or {})
    plan = check_cycle_request(
        described,
        methods,
        never,
        importance=importance,
        order=order,
        local=local,
        suppression_limit=suppression_limit,
        out_of_reach=out_of_reach,
        search=search,
        seed=seed,
    )
    goals = build_goals(described, limits, attacked, links, on)
    return run_cycle(described, goals, plan, known=original)


def run_cycle(
    dataset: Dataset,
    goals: Sequence[Goal],
    plan: CycleRequest,
    levels: Mapping[str, int] | None = None,
    known: Dataset | None = None,
) -> Protected:
    """Run the cycle (from levels of hierarchies, if given) and measure everything anew.

    `known` are the same records as an adversary knows them, if not as they are here.
    """
    state = CycleState(
        original=dataset,
        current=dataset,
        alive=np.arange(dataset.rows),
        changes=[],
        levels={},
        known=known,
    )
    before = [goal.measure_standing(dataset, state.select_originals()).outcome for goal in goals]
    if levels:
        recode_to_levels(state, goals, levels)
    for method in plan.methods:
        if method == "recode" and not plan.local:
            recode_greedily(state, goals, plan)
        elif method == "suppress" or plan.local:
            _suppress_to_limits(state, goals, plan)
    originals = state.select_originals()
    standings = [goal.measure_standing(state.current, originals) for goal in goals]
    for goal, standing in zip(goals, standings, strict=True):
        if not standing.held:
            raise _build_out_of_reach_error(state, goal, standing.at_risk.sum(), plan)
    log = DecisionLog(dataset.name, tuple(state.changes), dataset)
    among = tuple(dict.fromkeys(name for goal in goals for name in goal.among))
    released = state.current
    for name, level in state.levels.items():
        described = apply_recoding(dataset, name, released.columns[name], level)
        released = replace(
            described,
            columns={**released.columns},
            dictionary=_replace_attribute(released, described, name),
        )
    count_goals = [goal for goal in goals if goal.is_count_limit]
    return Protected(
        original=dataset,
        dataset=drop_unfitting_labels(released, dataset),
        decisions=log,
        nulls=count_goals[0].nulls if count_goals else "maybe",
        limits=tuple(goal.limit for goal in goals),
        among=among,
        rule="; ".join(goal.rule for goal in goals),
        cost=float(log.suppressed_cells),
        seed=plan.seed,
        k=ceil(max((goal.limit.bound for goal in count_goals), default=2)),
        outcomes=tuple(standing.outcome for standing in standings),
        outcomes_before=tuple(before),
        levels=dict(state.levels),
        notes=describe_levels(dataset, state.levels),
        only_at_risk=_is_confined_to_risky(goals, plan),
        # What was known beside the data cannot be told from them: there is no doing it again.
        again=None if known is not None else lambda other: run_cycle(other, goals, plan),
        reseeded=lambda seed: run_cycle(
            dataset, goals, replace(plan, seed=seed, order="random", search="cycle"), known=known
        ),
        known=known,
    )


def _is_confined_to_risky(goals: Sequence[Goal], plan: CycleRequest) -> bool:
    """Whether nobody was changed who had k that look alike: the cycle of a limit that counts."""
    [goal, *others] = goals
    counts = goal.is_count_limit and goal.nulls == "maybe" and not others
    return counts and plan.search == "cycle" and not plan.local


def _replace_attribute(released: Dataset, described: Dataset, name: str) -> Dictionary:
    """A dictionary with what another says of one attribute."""
    attributes = dict(released.dictionary.attributes)
    attributes[name] = described.dictionary[name]
    return replace(released.dictionary, attributes=attributes)


def _suppress_to_limits(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> None:
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
            if goal.is_count_limit and not plan.local:
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
        raise _build_out_of_reach_error(state, goal, unprotected.size, plan)
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


def _build_out_of_reach_error(
    state: CycleState, goal: Goal, count: int, plan: CycleRequest
) -> OutOfReachError:
    untouchable = [name for name in goal.among if name in plan.never]
    ways = []
    if untouchable:
        quoted = ", ".join(f'"{name}"' for name in untouchable)
        ways.append(f"allow {quoted} to be changed")
    if "suppress" not in plan.methods:
        ways.append('add "suppress" to the methods')
    lacking = [n for n in goal.among if state.original.dictionary[n].hierarchy is None]
    if "recode" in plan.methods and lacking:
        ways.append("give hierarchies for " + ", ".join(f'"{name}"' for name in lacking))
    if plan.out_of_reach == "raise":
        ways.append('let out_of_reach="remove" remove them')
    ways.append(f"{'or ' if ways else ''}ask for less than {goal.rule}")
    return OutOfReachError(
        f'dataset "{state.original.name}": {goal.rule} is out of reach for {int(count):,} of '
        f"{state.original.rows:,} {state.original.subjects}: {', '.join(ways)}."
    )
