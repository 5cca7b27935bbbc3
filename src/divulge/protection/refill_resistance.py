"""Protection that withstands refilling: what other columns tell is not hidden cell by cell.

Suppressing a cell that a published column determines hides nothing. So relations are looked for in
the original; attributes that others determine stay shown, are recoded as a whole, or the columns
that determine them stay behind, as the owner chooses; others are hidden instead. Making an
attribute coarser of which another column tells the finer value hides nothing either. Then the
result is refilled as an attacker would, with the relations that hold on hidden cells; records
whose company was only cells that can be read are removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np

from divulge import records, work
from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection import tuning
from divulge.protection.changes.changes import drop_records, select_records
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.cycle_request import CycleRequest
from divulge.protection.limits.per_record import Goal
from divulge.protection.refill.attack import refill
from divulge.protection.refill.cells import has_secret_cells
from divulge.protection.refill.determinants import find_determined_attributes
from divulge.protection.refill.relations import ColumnRelation
from divulge.protection.refill.result import Refill
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import OutOfReachError
from divulge.records.risk.frequencies import DEFAULT_NULLS
from divulge.work.arrays import Bools

DeterminedChoice: TypeAlias = Literal["keep", "recode", "drop_determinants"]
"""What happens to attributes that other published columns tell: they are kept as they are, made
coarser for all records, or the columns that tell them are not published."""

DETERMINED_CHOICES: tuple[DeterminedChoice, ...] = get_args(DeterminedChoice)


class Cycle(Protocol):
    """The cycle on a dataset, ready to be run by a plan, from levels of hierarchies if given."""

    def __call__(self, plan: CycleRequest, *, levels: Mapping[str, int] | None = None) -> Protected:
        """Run it."""


@dataclass(frozen=True)
class PublishedView:
    """What an attacker sees of a dataset: its published columns, and perhaps their order."""

    columns: Sequence[str]
    ordered: bool = False
    """Whether records go out in the order of the source, so that neighbours tell."""
    required: frozenset[str] = frozenset()
    """Columns that must go out, whatever they tell."""
    tabulated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By attribute of which tables of all records go out too, the names of these tables."""

    def leave_out(self, names: Iterable[str]) -> PublishedView:
        """The same without some columns."""
        dropped = set(names)
        return replace(self, columns=[name for name in self.columns if name not in dropped])


def withstand_refilling(
    dataset: Dataset,
    cycle: Cycle,
    goals: Sequence[Goal],
    plan: CycleRequest,
    published: PublishedView,
    *,
    choice: DeterminedChoice = "keep",
) -> Protected:
    """Protect so that limits hold also after hidden cells were refilled from what is published."""
    naive = _try_cycle(cycle, plan)
    if naive is not None and not _has_secrets(naive):
        return naive
    determined = _find_determined(dataset, goals, published.columns)
    tellers = _Tellers(published=published)
    while choice == "drop_determinants" and determined:
        more = _choose_determinants(determined, goals, plan, tellers.published)
        if not more:
            break
        tellers.leave_out(more)
        determined = _find_determined(dataset, goals, tellers.published.columns)
    tellers.told = {name: relations[0].columns for name, relations in determined.items()}
    protected = _protect_sparing(cycle, goals, plan, tellers, naive, choice=choice)
    if tellers.told or tellers.restored or tellers.dropped:
        protected = replace(
            protected,
            determined={**tellers.told, **tellers.restored},
            naive_cells=None if naive is None else naive.suppressed_cells,
            naive_levels={} if naive is None else dict(naive.levels),
            decisions=_log_dropped(protected, tellers.dropped),
            dropped=tellers.dropped,
        )
    protected = remove_refilled(protected, goals, tellers.published)
    _refuse_many_removed(protected, plan)
    return protected


@dataclass(kw_only=True)
class _Tellers:
    """Which columns tell which attributes, and what is published in the end."""

    published: PublishedView
    told: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By attribute that is not hidden cell by cell, the columns that would tell it."""
    restored: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By attribute that is not made coarser, the columns that would tell the finer value."""
    dropped: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def leave_out(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        """Do not publish some columns."""
        self.dropped |= columns
        self.published = self.published.leave_out(columns)


def _protect_sparing(
    cycle: Cycle,
    goals: Sequence[Goal],
    plan: CycleRequest,
    tellers: _Tellers,
    naive: Protected | None,
    *,
    choice: DeterminedChoice,
) -> Protected:
    """Protect, and again as long as another column tells what was hidden or made coarser."""
    while True:
        told, restored = tellers.told, tellers.restored
        try:
            protected = _run_cycle(cycle, plan, choice, told=told, restored=restored, naive=naive)
        except OutOfReachError as error:
            if not (told or restored):
                raise
            which = _describe_tellers({**told, **restored})
            message = f"{error} Other columns tell what would be hidden or made coarser{which}: "
            raise OutOfReachError(message + f"{_ADVICE}.") from error
        hidden = _find_told_cells(protected, tellers.published)
        coarse = _find_restored(protected, tellers.published)
        coarse |= _find_tabulated(protected, tellers.published)
        if not set(hidden) - set(told) and not set(coarse) - set(restored):
            return protected
        fresh = {**hidden, **coarse}
        droppable = {
            name: tuple(attribute for attribute, others in fresh.items() if name in others)
            for columns in fresh.values()
            for name in columns
            if choice == "drop_determinants" and _may_drop(name, goals, plan, tellers.published)
        }
        if droppable:
            tellers.leave_out(droppable)
        else:
            tellers.told = {**told, **hidden}
            tellers.restored = {**restored, **coarse}


def _run_cycle(
    cycle: Cycle,
    plan: CycleRequest,
    choice: DeterminedChoice,
    *,
    told: Mapping[str, Sequence[str]],
    restored: Mapping[str, Sequence[str]],
    naive: Protected | None,
) -> Protected:
    """Protect without hiding what other columns tell, nor recoding what they restore."""
    if not told and not restored:
        return cycle(plan) if naive is None else naive  # the cycle says what is out of reach
    sparing = replace(plan, never=plan.never | frozenset(restored))
    if choice == "recode" and not plan.local:
        sparing = replace(sparing, never_hidden=frozenset(told))
        return _recode_determined(cycle, sparing, sorted(set(told) - set(restored)))
    return _spare_determined(cycle, replace(sparing, never=sparing.never | frozenset(told)))


def _recode_determined(cycle: Cycle, plan: CycleRequest, names: Sequence[str]) -> Protected:
    """Make determined attributes coarser, level by level, until nobody is beyond help."""
    levels: dict[str, int] = {}
    while True:
        try:
            return cycle(plan, levels=levels)
        except OutOfReachError:
            higher = {
                name: levels.get(name, 0) + 1
                for name in names
                if "recode" in plan.methods
                and name not in plan.never_recoded
                and levels.get(name, 0) < plan.heights.get(name, 0)
            }
        if not higher:
            return cycle(replace(plan, out_of_reach="remove"), levels=levels)
        levels |= higher


def _spare_determined(cycle: Cycle, sparing: CycleRequest) -> Protected:
    """Protect without touching what other columns tell."""
    protected = _try_cycle(cycle, sparing)
    if protected is not None:
        return protected
    # Fewer attributes may be hidden, so some records may be beyond help: they are removed.
    return cycle(replace(sparing, out_of_reach="remove"))


def _find_tabulated(protected: Protected, published: PublishedView) -> dict[str, tuple[str, ...]]:
    """Attributes that were changed in some records though a table of all of them goes out too."""
    if not published.tabulated:
        return {}
    changed = {
        change.attribute
        for change in protected.decisions.changes
        if change.attribute is not None and change.kind != "removed"
    }
    return {name: told for name, told in published.tabulated.items() if name in changed}


def _find_restored(protected: Protected, published: PublishedView) -> dict[str, tuple[str, ...]]:
    """Attributes that were made coarser though other columns tell the finer values of many."""
    changes = protected.decisions.changes
    recoded = {change.attribute for change in changes if change.kind == "recoded"}
    if not recoded:
        return {}
    found = refill_released(protected.dataset, select_known(protected), protected.among, published)
    completion = None if found is None else found.verified_completion
    if found is None or completion is None:
        return {}
    least = tuning.LEAST_DETERMINED_SHARE * protected.dataset.rows
    restored = {}
    for name, figures in found.by_coarse_attribute().items():
        if name in recoded and (figures.verified or 0) >= least:
            telling = [r for r in completion.relations if r.is_finer and r.target == name]
            restored[name] = tuple(dict.fromkeys(n for r in telling for n in r.columns))
    return restored


def _find_told_cells(protected: Protected, published: PublishedView) -> dict[str, tuple[str, ...]]:
    """Attributes that were hidden in many records though other columns tell them.

    Too few records bear that out to be seen before, but the truth is at hand.
    """
    released, original = protected.dataset, select_known(protected)
    least = tuning.LEAST_DETERMINED_SHARE * released.rows
    hidden = [
        name
        for name in protected.among
        if np.count_nonzero(find_hidden_cells(released.columns[name], original.columns[name]))
        >= least
    ]
    found = refill_released(released, original, protected.among, published) if hidden else None
    completion = None if found is None else found.verified_completion
    if found is None or completion is None:
        return {}
    figures = found.by_attribute()
    told = {}
    for name in hidden:
        if name in figures and (figures[name].verified or 0) >= least:
            telling = [r for r in completion.relations if r.key == name]
            told[name] = tuple(dict.fromkeys(n for r in telling for n in r.columns))
    return told


def _choose_determinants(
    determined: Mapping[str, Sequence[ColumnRelation]],
    goals: Sequence[Goal],
    plan: CycleRequest,
    published: PublishedView,
) -> dict[str, tuple[str, ...]]:
    """A column of every relation that tells, each with the attributes that it tells."""
    chosen: dict[str, tuple[str, ...]] = {}
    relations = [relation for told in determined.values() for relation in told]
    while relations:
        counts = Counter(
            name
            for relation in relations
            for name in relation.columns
            if _may_drop(name, goals, plan, published)
        )
        if not counts:
            break
        name = max(counts, key=lambda n: (counts[n], n))
        chosen[name] = tuple(dict.fromkeys(r.target for r in relations if name in r.columns))
        relations = [relation for relation in relations if name not in relation.columns]
    return chosen


def _may_drop(
    name: str, goals: Sequence[Goal], plan: CycleRequest, published: PublishedView
) -> bool:
    """Whether a column may be left out: limits do not look at it, and nobody asked for it."""
    looked_at = {key for goal in goals for key in (*goal.among, goal.limit.attribute)}
    kept = published.required | plan.never
    return name in published.columns and name not in kept and name not in looked_at


def _log_dropped(protected: Protected, dropped: Mapping[str, Sequence[str]]) -> DecisionLog:
    """The decisions, with one for every column that is not published."""
    changes = [
        Change(
            kind="removed",
            attribute=name,
            records=np.empty(0, np.int64),
            was=(),
            became=(),
            rule=protected.rule,
            reason=str(
                Sentence("divulge.protection", "reason.determinant", {"attributes": attributes})
            ),
            before=np.array([1.0]),
            after=np.array([0.0]),
            company=np.empty(0, np.int64),
            among=protected.among,
            whole_column=True,
        )
        for name, attributes in dropped.items()
    ]
    log = protected.decisions
    return replace(log, changes=(*log.changes, *changes))


def _refuse_many_removed(protected: Protected, plan: CycleRequest) -> None:
    """A few records are removed for the sake of all others; more only if that was allowed."""
    rows = protected.original.rows
    if plan.out_of_reach == "remove" or protected.removed <= plan.suppression_limit * rows:
        return
    raise OutOfReachError(
        f'dataset "{protected.original.name}": other columns tell what would be hidden'
        f"{_describe_tellers(protected.determined)}. "
        f"To withstand that, {protected.removed:,} of {rows:,} {protected.original.subjects} would "
        f"have to be removed, more than suppression_limit ({plan.suppression_limit:g}) allows: "
        f'{_ADVICE}, or say out_of_reach = "remove".'
    )


_ADVICE = (
    'do not publish what tells them (of columns: determined = "drop_determinants"), or make these '
    'attributes coarser as a whole (determined = "recode")'
)


def _describe_tellers(determined: Mapping[str, Sequence[str]]) -> str:
    """In brackets, which attributes are told by which columns."""
    told = "; ".join(f"{name} by {' and '.join(columns)}" for name, columns in determined.items())
    return f" ({told})" if told else ""


def refill_released(
    released: Dataset, original: Dataset, keys: Sequence[str], published: PublishedView
) -> Refill | None:
    """The attack on what is published of released records; None if nothing is hidden."""
    names = [name for name in released.names if name in {*published.columns, *keys}]
    shared = [name for name in names if name in original.columns]
    seen, known = released.select(names), original.select(shared)
    if not has_secret_cells(seen, known):
        return None
    return refill(
        seen,
        known,
        keys=[key for key in keys if key in names],
        columns=[name for name in names if name in set(published.columns)],
        ordered=published.ordered,
    )


def _try_cycle(cycle: Cycle, plan: CycleRequest) -> Protected | None:
    try:
        return cycle(plan)
    except OutOfReachError:
        return None


def _has_secrets(protected: Protected) -> bool:
    """Whether something was hidden or made coarser."""
    return has_secret_cells(protected.dataset, select_known(protected))


def _find_determined(
    dataset: Dataset, goals: Sequence[Goal], published: Sequence[str]
) -> dict[str, list[ColumnRelation]]:
    """The attributes in question that other published columns tell, and by which relations."""
    keys = list(dict.fromkeys(name for goal in goals for name in goal.among))
    least = tuning.LEAST_DETERMINED_SHARE * dataset.rows
    relations = {
        name: [relation for relation in told if relation.support.rows >= least]
        for name, told in find_determined_attributes(dataset, keys, published).items()
    }
    return {name: told for name, told in relations.items() if told}


def remove_refilled(
    protected: Protected, goals: Sequence[Goal], published: PublishedView
) -> Protected:
    """Remove records that are at risk once cells are refilled, until nobody is."""
    with work.step("Refilling what was hidden") as step:
        while True:
            at_risk = _find_at_risk(protected, goals, published)
            step.advance()
            if not at_risk.any():
                return protected
            if at_risk.all():
                raise OutOfReachError(
                    f'dataset "{protected.original.name}": after refilling what is hidden, '
                    f"{protected.rule} is out of reach for every record; publish fewer columns, "
                    "or coarser ones."
                )
            protected = _remove_records(protected, goals, at_risk)


def _find_at_risk(protected: Protected, goals: Sequence[Goal], published: PublishedView) -> Bools:
    """Who is at risk with or without refilling."""
    released, original = protected.dataset, select_known(protected)
    at_risk = np.zeros(released.rows, np.bool_)
    for goal in goals:
        at_risk |= goal.measure_standing(released, original, protected.kept).at_risk
    found = refill_released(released, original, protected.among, published)
    if found is None:
        return at_risk
    filled = replace(released, columns={**released.columns, **found.refilled_rightly.columns})
    partly = [
        replace(released, columns={**released.columns, **part.columns})
        for part in found.refilled_partly
    ]
    verified = found.refilled_verified
    for goal in goals:
        at_risk |= goal.measure_standing(filled, original, protected.kept).at_risk
        for seen in partly if goal.is_count_limit else ():
            at_risk |= goal.measure_standing(seen, original, protected.kept).at_risk
        if goal.is_count_limit and goal.nulls == DEFAULT_NULLS and verified is not None:
            # Also who looks rare in the file as relations complete it, be it wrongly.
            shown = replace(released, columns={**released.columns, **verified.columns})
            counts = records.frequencies(
                shown, "value", among=goal.among, records_known=goal.records_known
            )
            at_risk |= goal.find_rare_records(counts.sample, protected.kept)
    return at_risk


def withstands_refill(
    protected: Protected, goals: Sequence[Goal], published: PublishedView, released: Dataset
) -> bool:
    """Whether nobody is at risk, with or without refilling, if other cells are hidden.

    Nor may a table of all records tell cells that were shown before.
    """
    for name in published.tabulated:
        column = released.columns.get(name)
        if column is not None and find_hidden_cells(column, protected.dataset.columns[name]).any():
            return False
    return not _find_at_risk(replace(protected, dataset=released), goals, published).any()


def select_known(protected: Protected) -> Dataset:
    """The records that are released, as an adversary knows them."""
    original = protected.original if protected.known is None else protected.known
    return select_records(original, protected.kept) if protected.removed else original


def _remove_records(protected: Protected, goals: Sequence[Goal], at_risk: Bools) -> Protected:
    removed = np.flatnonzero(at_risk)
    change = Change(
        kind="removed",
        attribute=None,
        records=protected.kept[removed],
        was=(),
        became=(),
        rule=protected.rule,
        reason=str(Sentence("divulge.protection", "reason.refilled")),
        before=np.ones(removed.size),
        after=np.zeros(removed.size),
        company=np.ones(removed.size, np.int64),
        among=protected.among,
    )
    log = DecisionLog(
        protected.decisions.dataset, (*protected.decisions.changes, change), protected.original
    )
    dataset = drop_records(protected.dataset, removed)
    reduced = replace(protected, dataset=dataset, decisions=log)
    original = select_known(reduced)
    outcomes = [goal.measure_standing(dataset, original, reduced.kept).outcome for goal in goals]
    return replace(reduced, outcomes=tuple(outcomes))
