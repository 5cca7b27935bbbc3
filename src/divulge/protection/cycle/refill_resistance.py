"""Protection that withstands refilling: what other columns tell is not hidden cell by cell.

Suppressing a cell that a published column determines hides nothing. So relations are looked for in
the original; attributes that others determine stay shown, are recoded as a whole, or the columns
that determine them stay behind, as the owner chooses; others are hidden instead. Making an
attribute coarser of which another column tells the finer value hides nothing either. Then the
result is refilled as an attacker would, with the relations that hold on hidden cells; records
whose company was only cells that can be read are removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.cycle.request import CycleRequest
from divulge.protection.cycle.utility_score import sum_loss
from divulge.protection.limits.per_record import Goal
from divulge.protection.refill.cells import has_secret_cells
from divulge.protection.resistance.published_view import PublishedView, select_known
from divulge.protection.resistance.refilled_records import remove_refilled
from divulge.protection.resistance.telling_columns import (
    choose_determinants,
    find_determined,
    find_restored,
    find_tabulated,
    find_told_cells,
    may_drop,
)
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import OutOfReachError

DeterminedChoice: TypeAlias = Literal["keep", "recode", "drop_determinants"]
"""What happens to attributes that other published columns tell: they are kept as they are, made
coarser for all records, or the columns that tell them are not published."""

DETERMINED_CHOICES: tuple[DeterminedChoice, ...] = get_args(DeterminedChoice)


class Cycle(Protocol):
    """The cycle on a dataset, ready to be run by a plan, from levels of hierarchies if given."""

    def __call__(self, plan: CycleRequest, *, levels: Mapping[str, int] | None = None) -> Protected:
        """Run it."""


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
    determined = find_determined(dataset, goals, published.columns)
    tellers = _Tellers(published=published)
    while choice == "drop_determinants" and determined:
        more = choose_determinants(determined, goals, plan, tellers.published)
        if not more:
            break
        tellers.leave_out(more)
        determined = find_determined(dataset, goals, tellers.published.columns)
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
    withstanding = remove_refilled(protected, goals, tellers.published)
    _refuse_many_removed(withstanding, plan)
    return _tell_what_removal_costs(withstanding, protected.removed, plan)


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
        hidden = find_told_cells(protected, tellers.published)
        coarse = find_restored(protected, tellers.published)
        coarse |= find_tabulated(protected, tellers.published)
        if not set(hidden) - set(told) and not set(coarse) - set(restored):
            return protected
        fresh = {**hidden, **coarse}
        droppable = {
            name: tuple(attribute for attribute, others in fresh.items() if name in others)
            for columns in fresh.values()
            for name in columns
            if choice == "drop_determinants" and may_drop(name, goals, plan, tellers.published)
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


def _tell_what_removal_costs(protected: Protected, before: int, plan: CycleRequest) -> Protected:
    """The same with a note if records were removed after levels had been compared by their loss."""
    removed = protected.removed - before
    if not removed or not any(note.key == "recoding.joint" for note in protected.notes):
        return protected
    values = {"removed": removed, "loss": sum_loss(protected, plan)}
    note = Sentence("divulge.protection", "recoding.removed_after", values)
    return replace(protected, notes=(*protected.notes, note))


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


def _try_cycle(cycle: Cycle, plan: CycleRequest) -> Protected | None:
    try:
        return cycle(plan)
    except OutOfReachError:
        return None


def _has_secrets(protected: Protected) -> bool:
    """Whether something was hidden or made coarser."""
    return has_secret_cells(protected.dataset, select_known(protected))
