"""Protection that withstands refilling: what other columns tell is not hidden cell by cell.

Suppressing a cell that a published column determines hides nothing. So relations are looked for in
the original; attributes that others determine stay shown (they may be recoded as a whole), and
others are hidden instead. Then the result is refilled as an attacker would, with the relations
that hold on hidden cells; records whose company was only hidden cells that can be read are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from divulge.protection.refill.determinants import find_determined_attributes
from divulge.protection.refill.result import Refill
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import OutOfReachError
from divulge.records.risk.frequencies import DEFAULT_NULLS
from divulge.work.arrays import Bools

Cycle = Callable[[CycleRequest], Protected]
"""The cycle on a dataset, ready to be run by a plan."""


@dataclass(frozen=True)
class PublishedView:
    """What an attacker sees of a dataset: its published columns, and perhaps their order."""

    columns: Sequence[str]
    ordered: bool = False
    """Whether records go out in the order of the source, so that neighbours tell."""


def withstand_refilling(
    dataset: Dataset,
    cycle: Cycle,
    goals: Sequence[Goal],
    plan: CycleRequest,
    published: PublishedView,
) -> Protected:
    """Protect so that limits hold also after hidden cells were refilled from what is published."""
    naive = _try_cycle(cycle, plan)
    if naive is not None and not _hides_any(naive.dataset):
        return naive
    determined = _find_determined(dataset, goals, published.columns)
    if determined:
        protected = replace(
            _spare_determined(cycle, plan, frozenset(determined)),
            determined=determined,
            naive_cells=None if naive is None else naive.suppressed_cells,
        )
    else:
        protected = cycle(plan) if naive is None else naive  # the cycle says what is out of reach
    protected = _remove_refilled(protected, goals, published)
    _refuse_many_removed(protected, plan)
    return protected


def _spare_determined(cycle: Cycle, plan: CycleRequest, determined: frozenset[str]) -> Protected:
    """Protect without hiding what other columns tell."""
    sparing = replace(plan, never=plan.never | determined)
    protected = _try_cycle(cycle, sparing)
    if protected is not None:
        return protected
    # Fewer attributes may be hidden, so some records may be beyond help: they are removed.
    return cycle(replace(sparing, out_of_reach="remove"))


def _refuse_many_removed(protected: Protected, plan: CycleRequest) -> None:
    """A few records are removed for the sake of all others; more only if that was allowed."""
    rows = protected.original.rows
    if plan.out_of_reach == "remove" or protected.removed <= plan.suppression_limit * rows:
        return
    told = "; ".join(
        f"{name} by {' and '.join(columns)}" for name, columns in protected.determined.items()
    )
    which = f" ({told})" if told else ""
    raise OutOfReachError(
        f'dataset "{protected.original.name}": other columns tell what would be hidden{which}. '
        f"To withstand that, {protected.removed:,} of {rows:,} {protected.original.subjects} would "
        f"have to be removed, more than suppression_limit ({plan.suppression_limit:g}) allows: "
        "do not publish those columns, make these attributes coarser, or say "
        'out_of_reach = "remove".'
    )


def refill_released(
    released: Dataset, original: Dataset, keys: Sequence[str], published: PublishedView
) -> Refill | None:
    """The attack on what is published of released records; None if nothing is hidden."""
    if not _hides_any(released):
        return None
    names = [name for name in released.names if name in {*published.columns, *keys}]
    shared = [name for name in names if name in original.columns]
    return refill(
        released.select(names),
        original.select(shared),
        keys=[key for key in keys if key in names],
        columns=[name for name in names if name in set(published.columns)],
        ordered=published.ordered,
    )


def _try_cycle(cycle: Cycle, plan: CycleRequest) -> Protected | None:
    try:
        return cycle(plan)
    except OutOfReachError:
        return None


def _hides_any(dataset: Dataset) -> bool:
    return any(np.any(find_hidden_cells(column)) for column in dataset.columns.values())


def _find_determined(
    dataset: Dataset, goals: Sequence[Goal], published: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The attributes in question that other published columns tell, and which columns."""
    keys = list(dict.fromkeys(name for goal in goals for name in goal.among))
    least = tuning.LEAST_DETERMINED_SHARE * dataset.rows
    return {
        name: tuple(told[0].columns)
        for name, told in find_determined_attributes(dataset, keys, published).items()
        if told and told[0].support.rows >= least
    }


def _remove_refilled(
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
    released, original = protected.dataset, _select_original(protected)
    at_risk = np.zeros(released.rows, np.bool_)
    for goal in goals:
        at_risk |= goal.measure_standing(released, original).at_risk
    found = refill_released(released, original, protected.among, published)
    if found is None:
        return at_risk
    filled = replace(released, columns={**released.columns, **found.refilled_rightly.columns})
    verified = found.refilled_verified
    for goal in goals:
        at_risk |= goal.measure_standing(filled, original).at_risk
        if goal.is_count_limit and goal.nulls == DEFAULT_NULLS and verified is not None:
            # Also who looks rare in the file as relations complete it, be it wrongly.
            shown = replace(released, columns={**released.columns, **verified.columns})
            counts = records.frequencies(
                shown, "value", among=goal.among, records_known=goal.records_known
            )
            at_risk |= goal.limit.broken_by(counts.sample)
    return at_risk


def _select_original(protected: Protected) -> Dataset:
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
    original = _select_original(reduced)
    outcomes = [goal.measure_standing(dataset, original).outcome for goal in goals]
    return replace(reduced, outcomes=tuple(outcomes))
