"""The cycle: measure, change a little, measure again, until every limit holds.

Methods are tried in the order in which they are named. Recoding makes whole columns coarser, one
level of one attribute at a time, always the one after which the fewest records are at risk, until
so few are left that suppression may take care of them (`global_recoding`); where both are allowed,
other levels are tried as well, and those are taken that lose least together with what is hidden
(`joint_levels`). What is left then is suppressed (`local_protection`). At the end every limit is
measured anew, with knowledge from the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any, Literal

import numpy as np

from divulge.assessment import Limit
from divulge.classes.people import require_one_record_each
from divulge.data import Dataset
from divulge.data.dictionary import Dictionary
from divulge.data.missing_kinds import merge_missing_kinds
from divulge.protection.changes.decision_log import DecisionLog
from divulge.protection.changes.recodings import (
    add_hierarchies,
    apply_recoding,
    drop_unfitting_labels,
)
from divulge.protection.cycle.directed_company import add_company
from divulge.protection.cycle.first_changes import (
    add_directives,
    change_directed_records,
    recode_directed,
)
from divulge.protection.cycle.global_recoding import (
    describe_levels,
    recode_greedily,
    recode_to_levels,
)
from divulge.protection.cycle.joint_levels import protect_jointly
from divulge.protection.cycle.local_protection import suppress_to_limits
from divulge.protection.cycle.refill_resistance import (
    DETERMINED_CHOICES,
    DeterminedChoice,
    withstand_refilling,
)
from divulge.protection.cycle.request import (
    METHODS,
    CycleRequest,
    CycleState,
    LocalSearch,
    Method,
    build_cycle_error,
    check_cycle_request,
)
from divulge.protection.cycle.single_records import protect_best, recode_records
from divulge.protection.directives.directives import Directives
from divulge.protection.directives.settlement import SettledDirectives
from divulge.protection.limits.goal_list import build_goals
from divulge.protection.limits.per_record import AttackRunner, Goal
from divulge.protection.method.attack import attack_method
from divulge.protection.method.decoys import DecoyWish, add_decoys, check_decoys
from divulge.protection.recoding.utilities import RecodingUtility
from divulge.protection.resistance.published_view import PublishedView, select_known
from divulge.protection.resistance.refilled_records import withstands_refill
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import Order, Search, refuse_changed_kept
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.work import Problems, checks
from divulge.work.secret_key import SecretKey


def protect(
    dataset: Dataset,
    limits: Sequence[Limit],
    methods: Sequence[Method] = METHODS,
    is_a: Mapping[str, Any] | None = None,
    never: str | Iterable[str] = (),
    *,
    importance: Mapping[str, float] | None = None,
    order: Order = "weight",
    local: bool | LocalSearch = False,
    suppression_limit: float = 0.05,
    utility: RecodingUtility | str = "loss",
    out_of_reach: Literal["raise", "remove"] = "raise",
    links: Any = None,
    on: str | None = None,
    search: Search = "fewest",
    seed: int | None = None,
    attacked: Mapping[str | None, tuple[AttackRunner, Sequence[str]]] | None = None,
    original: Dataset | None = None,
    published: Iterable[str] | None = None,
    keeps_order: bool = False,
    determined: DeterminedChoice = "keep",
    required: Iterable[str] = (),
    tabulated: Mapping[str, Sequence[str]] | None = None,
    decoys: float = 0.0,
    secret: SecretKey | None = None,
    directives: Directives | None = None,
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
        local: whether single records are made coarser instead of whole columns, where that loses
            less: in `nested` classes (what `True` means), or in `clusters`, which lose least and
            reveal most to somebody who knows the method.
        suppression_limit: recoding stops when at most this share of records is at risk.
        utility: by what ways to recode and suppress are compared: `loss`, or another that `recode`
            takes, a function or the name of a registered one included.
        out_of_reach: whom no method helps: `raise` an error, or `remove` them.
        links: pairs of linked records, or an attribute that links them, for all limits that have
            none of their own: everybody is as exposed as their cluster.
        on: the attribute whose values the pairs name; the number of the record (from 0) if None.
        search: how cells are suppressed where a limit counts: `fewest`, or the `cycle`.
        seed: of random choices; keep it secret.
        attacked: by adversary, their attack on a dataset and what they know.
        original: the same records before an earlier protection, if there was one: what an
            adversary who knows their victim knows.
        published: the columns that will go out. Then limits hold also to somebody who refills
            hidden cells from these columns: what they determine is not hidden cell by cell, and
            records whose cells can still be read are removed.
        keeps_order: whether records go out in their order, so that neighbours may tell.
        determined: what happens to attributes that published columns tell: `keep` leaves them as
            they are and hides others, `recode` makes them coarser for all records, and
            `drop_determinants` does not publish the columns that tell them.
        required: columns that must be published, whatever they tell.
        tabulated: attributes of which a table of all records is published too, with the names of
            such tables: what is hidden of them is the table less what is shown, so others are
            hidden.
        decoys: further cells that are suppressed at random, for each that had to be (0.25: one
            for four): those who know the method then cannot exclude values for certain.
        secret: what decoys and ties are drawn with; derived from the data if not given.
        directives: what rules of people who know the business say must be done or left, whatever
            the risk; what of it is out of reach stands in the result (`unobeyed`).

    >>> import divulge as dv
    >>> companies = dv.datasets.local_suppression_example()
    >>> p = protect(
    ...     companies,
    ...     limits=[dv.Limit("k_anonymity", at_least=2, nulls="maybe")],
    ...     is_a={"Area": [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]},
    ... )
    >>> p.levels, p.suppressed_cells, dv.records.frequencies(p.dataset, "maybe").sample.tolist()
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
        utility=utility,
    )
    problems = Problems(f'protection of "{described.name}"')
    problems.extend("", checks.one_of("determined", determined, DETERMINED_CHOICES))
    problems.extend("", check_decoys(decoys))
    problems.raise_any()
    if local:
        require_one_record_each(described, "records made coarser one by one are not judged")
    goals = build_goals(described, limits, attacked, links, on, original=original)
    if directives:
        goals, plan = add_directives(described, goals, plan, directives)
    settled = plan.directives
    wish = DecoyWish(decoys, secret)
    if local:
        key = SecretKey.from_text(described.fingerprint) if secret is None else secret
        tie_seed = key.derive_seed("recoding") if seed is None else seed
        plan = replace(plan, tie_seed=tie_seed)

    def run_jointly(data: Dataset, plan: CycleRequest) -> Protected:
        return protect_jointly(run_cycle, data, goals, plan, known=original)

    if published is None:
        protected = protect_best(run_jointly, described, plan)
        decoyed = add_decoys(protected, replace(wish, kept=settled), _build_check(protected, goals))
        return _finish(decoyed, goals, settled)
    view = PublishedView(
        described.attributes(published, "published"),
        keeps_order,
        frozenset(required),
        {name: tuple(tables) for name, tables in (tabulated or {}).items()},
    )

    def withstand(data: Dataset, plan: CycleRequest) -> Protected:
        cycle = partial(protect_jointly, run_cycle, data, goals, known=original)
        return withstand_refilling(data, cycle, goals, plan, view, choice=determined)

    protected = protect_best(withstand, described, replace(plan, withstands_refill=True))
    seen = view.leave_out(protected.dropped)
    decoyed = add_decoys(
        protected,
        replace(wish, kept=settled),
        partial(withstands_refill, protected, goals, seen),
    )
    return _finish(decoyed, goals, settled)


def _finish(protected: Protected, goals: Sequence[Goal], settled: SettledDirectives) -> Protected:
    """The protection as it is told, if it leaves alone what rules keep."""
    refuse_changed_kept(protected, settled)
    return replace(_measure_again(protected, goals), unobeyed=settled.unobeyed)


def _build_check(protected: Protected, goals: Sequence[Goal]) -> Callable[[Dataset], bool]:
    """Whether all limits hold for the same records with other cells hidden."""
    original = select_known(protected)
    return lambda released: all(
        goal.measure_standing(released, original, protected.kept).held for goal in goals
    )


def _measure_again(protected: Protected, goals: Sequence[Goal]) -> Protected:
    """The protection with what limits say of it now, if decoys were added."""
    if not protected.decoy_cells:
        return protected
    original = select_known(protected)
    standings = [
        goal.measure_standing(protected.dataset, original, protected.kept) for goal in goals
    ]
    return replace(protected, outcomes=tuple(standing.outcome for standing in standings))


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
    before = [state.measure(goal).outcome for goal in goals]
    recode_directed(state, goals, plan.directives)
    if levels:
        recode_to_levels(state, goals, levels)
    change_directed_records(state, goals, plan.directives)
    if plan.withstands_refill and plan.directives.hidden:
        add_company(state, goals, plan)
    for method in plan.methods:
        if method == "recode" and not plan.local:
            recode_greedily(state, goals, plan)
        elif method == "recode" and recode_records(state, goals, plan):
            break
        elif method == "suppress" or plan.local:
            suppress_to_limits(state, goals, plan)
    standings = [state.measure(goal) for goal in goals]
    for goal, standing in zip(goals, standings, strict=True):
        if not standing.held:
            raise build_cycle_error(state, goal, standing.at_risk.sum(), plan)
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
        nulls=count_goals[0].nulls if count_goals else DEFAULT_NULLS,
        limits=tuple(goal.limit for goal in goals),
        among=among,
        rule="; ".join(goal.rule for goal in goals),
        cost=float(log.suppressed_cells),
        seed=plan.seed,
        k=ceil(max((goal.limit.bound for goal in count_goals), default=2)),
        outcomes=tuple(standing.outcome for standing in standings),
        outcomes_before=tuple(before),
        levels=dict(state.levels),
        notes=(*describe_levels(dataset, state.levels), *state.notes),
        suppression_limit=plan.suppression_limit,
        leaves_few="recode" in plan.methods,
        only_at_risk=_is_confined_to_risky(goals, plan),
        # What was known beside the data cannot be told from them: there is no doing it again.
        again=None if known is not None else lambda other: run_cycle(other, goals, plan),
        reseeded=lambda seed: run_cycle(
            dataset, goals, replace(plan, seed=seed, order="random", search="cycle"), known=known
        ),
        known=known,
        attack_method=attack_method,
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
