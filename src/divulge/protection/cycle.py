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
from divulge.classes.keys import FloatArray, IntArray, classes
from divulge.classes.weighing import sampling_weights
from divulge.data import Dataset
from divulge.data.dictionary import Dictionary
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.changes import codes_of, hidden_cells, taken, value_at
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.changes.recodings import recoded, with_fitting_labels, with_hierarchies
from divulge.protection.cycle_request import METHODS, Method, Plan, State, plan_of
from divulge.protection.global_recoding import climb, climb_to, levels_in_words
from divulge.protection.limits.per_record import Attacked, Goal, Standing, goals_of
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.class_moves import grid_of, settle
from divulge.protection.suppression.request import Order, OutOfReachError, Search, Wish
from divulge.protection.suppression.suppress import hide_until

# So often is everything measured anew before the cycle gives up: each round changes something.
MOST_ROUNDS = 200
MOST_DONORS = 30
"""So many are asked to hide the same as somebody whom nothing else helps."""


def protect(
    dataset: Dataset,
    limits: Sequence[Limit],
    methods: Sequence[Method] = METHODS,
    is_a: Mapping[str, Any] | None = None,
    never: str | Iterable[str] = (),
    importance: Mapping[str, float] | None = None,
    order: Order = "weight",
    local: bool = False,
    suppression_limit: float = 0.05,
    out_of_reach: Literal["raise", "remove"] = "raise",
    links: Any = None,
    on: str | None = None,
    search: Search = "fewest",
    seed: int | None = None,
    attacked: Mapping[str | None, tuple[Attacked, Sequence[str]]] | None = None,
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
    described = with_hierarchies(merge_missing_kinds(dataset), is_a or {})
    plan = plan_of(
        described, methods, never, importance, order, local, suppression_limit, out_of_reach,
        search, seed,
    )  # fmt: skip
    goals = goals_of(described, limits, attacked, links, on)
    return run_cycle(described, goals, plan, known=original)


def run_cycle(
    dataset: Dataset,
    goals: Sequence[Goal],
    plan: Plan,
    levels: Mapping[str, int] | None = None,
    known: Dataset | None = None,
) -> Protected:
    """Run the cycle (from levels of hierarchies, if given) and measure everything anew.

    `known` are the same records as an adversary knows them, if not as they are here.
    """
    state = State(dataset, dataset, np.arange(dataset.rows), [], {}, known)
    before = [goal.standing(dataset, state.same_records()).outcome for goal in goals]
    if levels:
        climb_to(state, goals, levels)
    for method in plan.methods:
        if method == "recode" and not plan.local:
            climb(state, goals, plan)
        elif method == "suppress" or plan.local:
            _suppress(state, goals, plan)
    same = state.same_records()
    standings = [goal.standing(state.current, same) for goal in goals]
    for goal, standing in zip(goals, standings, strict=True):
        if not standing.held:
            raise _out_of_reach(state, goal, standing.at_risk.sum(), plan)
    log = DecisionLog(dataset.name, tuple(state.changes), dataset)
    among = tuple(dict.fromkeys(name for goal in goals for name in goal.among))
    released = state.current
    for name, level in state.levels.items():
        described = recoded(dataset, name, released.columns[name], level)
        released = replace(
            described, columns={**released.columns}, dictionary=_with(released, described, name)
        )
    counted = [goal for goal in goals if goal.counts]
    return Protected(
        original=dataset,
        dataset=with_fitting_labels(released, dataset),
        decisions=log,
        nulls=counted[0].nulls if counted else "maybe",
        limits=tuple(goal.limit for goal in goals),
        among=among,
        rule="; ".join(goal.rule for goal in goals),
        cost=float(log.suppressed_cells),
        seed=plan.seed,
        k=ceil(max((goal.limit.bound for goal in counted), default=2)),
        outcomes=tuple(standing.outcome for standing in standings),
        outcomes_before=tuple(before),
        levels=dict(state.levels),
        notes=levels_in_words(dataset, state.levels),
        only_at_risk=_only_at_risk(goals, plan),
        # What was known beside the data cannot be told from them: there is no doing it again.
        again=None if known is not None else lambda other: run_cycle(other, goals, plan),
        reseeded=lambda seed: run_cycle(
            dataset, goals, replace(plan, seed=seed, order="random", search="cycle"), known=known
        ),
        known=known,
    )


def _only_at_risk(goals: Sequence[Goal], plan: Plan) -> bool:
    """Whether nobody was changed who had k that look alike: the cycle of a limit that counts."""
    [goal, *others] = goals
    counts = goal.counts and goal.nulls == "maybe" and not others
    return counts and plan.search == "cycle" and not plan.local


def _with(released: Dataset, described: Dataset, name: str) -> Dictionary:
    """A dictionary with what another says of one attribute."""
    attributes = dict(released.dictionary.attributes)
    attributes[name] = described.dictionary[name]
    return replace(released.dictionary, attributes=attributes)


def _suppress(state: State, goals: Sequence[Goal], plan: Plan) -> None:
    """Help whoever is at risk under some limit, limit by limit, until all hold together."""
    with work.step("Protecting records") as step:
        for _ in range(MOST_ROUNDS):
            same = state.same_records()
            open_goals = [goal for goal in goals if not goal.standing(state.current, same).held]
            if not open_goals:
                return
            goal = open_goals[0]
            cells = sum(len(change) for change in state.changes)
            if goal.counts and not plan.local:
                _count(state, goal, plan)
            elif goal.counts or goal.of_classes:
                _move(state, goal, plan)
            else:
                _one_cell_each(state, goal, plan)
            step.advance()
            if sum(len(change) for change in state.changes) == cells:
                _give_up(state, goal, plan)


def _count(state: State, goal: Goal, plan: Plan) -> None:
    """A limit that counts: the fewest cells, under what it takes nulls for."""
    costs = {name: np.array([float(plan.importance.get(name, 1.0))]) for name in goal.among}
    # The cycle of the paper counts possible matches; the other ways have one search each.
    search: Search = plan.search if goal.nulls == "maybe" else "fewest"
    wish = Wish(
        int(np.ceil(goal.limit.bound)), goal.nulls, (goal.among,), plan.never, costs, None,
        plan.out_of_reach, search, plan.order, plan.seed, goal.rule,
    )  # fmt: skip
    released, log, _ = hide_until(state.same_records(), state.current, wish)
    _take(state, released, log)


def _take(state: State, released: Dataset, log: DecisionLog) -> None:
    state.changes += [replace(c, records=state.alive[c.records]) for c in log.changes]
    gone = log.removed_records
    state.current = released
    if gone.size:
        state.alive = np.delete(state.alive, gone)


def _move(state: State, goal: Goal, plan: Plan) -> None:
    """A limit that judges classes: whole groups of records give up the same."""
    grid = grid_of(
        state.current,
        goal.among,
        plan.never,
        plan.importance,
        recode=plan.local and "recode" in plan.methods,
        hide="suppress" in plan.methods,
    )
    if not grid.moves[-1].tables:
        return
    before = goal.standing(state.current, state.same_records())
    rows, _ = settle(grid, goal, state.same_records())
    released = grid.released(rows)
    after = goal.standing(released, state.same_records())
    told = _Told(state, goal, released, before, after)
    for a, name in enumerate(goal.among):
        was, now = grid.rows[:, a], rows[:, a]
        changed: tuple[tuple[Kind, IntArray], ...] = (
            ("suppressed", np.flatnonzero((now == HIDDEN) & (was != HIDDEN))),
            ("recoded", np.flatnonzero((now != was) & (now != HIDDEN))),
        )
        for kind, chosen in changed:
            if chosen.size:
                state.changes += told.changes(kind, name, chosen)
    state.current = released


@dataclass(frozen=True)
class _Told:
    """What all changes of one round have in common."""

    state: State
    goal: Goal
    released: Dataset
    before: Standing
    after: Standing

    def changes(self, kind: Kind, name: str, chosen: IntArray) -> Iterator[Change]:
        """The decisions to change an attribute: of who was at risk, then of who joins them."""
        company = str(Sentence("divulge.protection", "reason.wildcard"))
        at_risk = self.before.at_risk[chosen]
        for places, reason in ((chosen[at_risk], ""), (chosen[~at_risk], company)):
            if places.size:
                yield self._change(kind, name, places, reason)

    def _change(self, kind: Kind, name: str, chosen: IntArray, reason: str) -> Change:
        column, new = self.state.current.columns[name], self.released.columns[name]
        return Change(
            kind,
            name,
            self.state.alive[chosen],
            tuple(value_at(column, place) for place in chosen.tolist()),
            tuple(value_at(new, place) for place in chosen.tolist()),
            self.goal.rule,
            reason,
            self.before.risk[chosen],
            self.after.risk[chosen],
            _company(self.state.current, self.goal.among)[chosen],
            self.goal.among,
        )


def _company(dataset: Dataset, among: Sequence[str]) -> IntArray:
    columns = [dataset.columns[name] for name in among]
    of = classes([c.codes for c in columns], [len(c.values) + 1 for c in columns], dataset.rows)
    return np.bincount(of)[of]


def _one_cell_each(state: State, goal: Goal, plan: Plan) -> None:
    """A limit on records: half of those at risk, in their order, hide one cell each.

    Half, because what they hide is company for the others too.
    """
    standing = goal.standing(state.current, state.same_records())
    over = np.flatnonzero(standing.at_risk)
    rows = codes_of(state.current, list(goal.among))
    order = _in_order(state, standing.risk, plan)
    over = over[np.argsort(order[over], kind="stable")]
    may = np.array([name not in plan.never for name in goal.among])
    able = over[np.any((rows[over] != HIDDEN) & may, axis=1)]
    chosen = able[: max(1, (able.size + 1) // 2)]
    if chosen.size == 0:
        _bring_company(state, goal, standing, rows, may)
        return
    attribute = _most_company(rows, chosen, goal.among, may, plan)
    cells = {
        name: np.sort(chosen[attribute == a])
        for a, name in enumerate(goal.among)
        if np.any(attribute == a)
    }
    _hide(state, goal, standing, cells)


def _hide(state: State, goal: Goal, standing: Standing, cells: Mapping[str, IntArray]) -> None:
    released = hidden_cells(state.current, cells)
    after = goal.standing(released, state.same_records())
    told = _Told(state, goal, released, standing, after)
    for name, places in cells.items():
        state.changes += told.changes("suppressed", name, places)
    state.current = released


def _bring_company(state: State, goal: Goal, standing: Standing, rows: Any, may: Any) -> None:
    """Who is at risk hides all they may: others hide the same, as few as take somebody out of it.

    Those come first who leave most behind that look alike. Nothing is done if it does not help.
    """
    if not np.any(may):
        return
    held = rows[:, ~may]
    for stuck in np.unique(held[standing.at_risk], axis=0):
        alike = np.all(held == stuck, axis=1) & np.any((rows != HIDDEN) & may, axis=1)
        donors = np.flatnonzero(alike & ~standing.at_risk)
        donors = donors[np.argsort(-_company(state.current, goal.among)[donors], kind="stable")]
        for many in range(1, min(len(donors), MOST_DONORS) + 1):
            cells = {}
            for a in np.flatnonzero(may):
                shown = donors[:many][rows[donors[:many], a] != HIDDEN]
                if shown.size:
                    cells[goal.among[a]] = np.sort(shown)
            after = goal.standing(hidden_cells(state.current, cells), state.same_records())
            if after.at_risk.sum() < standing.at_risk.sum():
                _hide(state, goal, standing, cells)
                return


def _in_order(state: State, risk: FloatArray, plan: Plan) -> FloatArray:
    if plan.order == "random" or plan.seed is not None:
        return np.random.default_rng(plan.seed).random(risk.size)
    if plan.order == "risk":
        return -risk
    weights = sampling_weights(state.current, least=0.0) if plan.order == "weight" else None
    return np.zeros(risk.size) if weights is None else weights


def _most_company(
    rows: Any, chosen: IntArray, among: Sequence[str], may: Any, plan: Plan
) -> IntArray:
    """For each record, the attribute whose hiding leaves most that agree on the rest."""
    best = np.full(chosen.size, -1.0)
    attribute = np.zeros(chosen.size, np.int64)
    for a, name in enumerate(among):
        others = [rows[:, b].astype(np.int64) + 1 for b in range(len(among)) if b != a]
        of = classes(others, [int(c.max(initial=0)) + 1 for c in others], len(rows))
        worth = np.bincount(of)[of][chosen] / float(plan.importance.get(name, 1.0))
        worth = np.where((rows[chosen, a] != HIDDEN) & may[a], worth, -1.0)
        better = worth > best
        best[better], attribute[better] = worth[better], a
    return attribute


def _give_up(state: State, goal: Goal, plan: Plan) -> None:
    """Nothing more can be changed: remove whom nothing helps, if that is allowed."""
    standing = goal.standing(state.current, state.same_records())
    lost = np.flatnonzero(standing.at_risk)
    if lost.size == 0:
        return
    if plan.out_of_reach == "raise" or lost.size == state.current.rows:
        raise _out_of_reach(state, goal, lost.size, plan)
    state.changes.append(
        Change(
            "removed",
            None,
            state.alive[lost],
            (),
            (),
            goal.rule,
            str(Sentence("divulge.protection", "reason.removed")),
            standing.risk[lost],
            np.zeros(lost.size),
            _company(state.current, goal.among)[lost],
            goal.among,
        )
    )
    kept = np.delete(np.arange(state.current.rows), lost)
    state.current = taken(state.current, kept)
    state.alive = state.alive[kept]


def _out_of_reach(state: State, goal: Goal, count: int, plan: Plan) -> OutOfReachError:
    held = [name for name in goal.among if name in plan.never]
    ways = []
    if held:
        kept = ", ".join(f'"{name}"' for name in held)
        ways.append(f"allow {kept} to be changed")
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
