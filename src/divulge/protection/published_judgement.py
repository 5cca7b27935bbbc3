"""Whether protected records may go out as they would be written: judged after refilling.

A suppression that looks at the quasi-identifiers alone may hide what another published column
tells. So what would go out is refilled first, and every limit is judged by the reading of somebody
who knows their victim and weighs what fits; one that holds by count only holds if that is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any, Literal

import numpy as np

from divulge.assessment import Limit, Outcome, Sentence
from divulge.data.column_fate import Unlisted, find_column_fate
from divulge.protection.limits.goal_list import build_goals
from divulge.protection.limits.limit_kinds import has_protection_method
from divulge.protection.refill.result import Refill
from divulge.protection.resistance.published_view import (
    PublishedView,
    refill_released,
    select_known,
)
from divulge.protection.resistance.refilled_records import remove_refilled
from divulge.protection.result.protected import Protected
from divulge.protection.result.recipe import Recipe
from divulge.protection.result.recipe_application import judge_model
from divulge.protection.suppression.request import OutOfReachError
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True, kw_only=True)
class PublishedJudgement:
    """What hidden cells tell once they are refilled, and whether the limits hold then."""

    at_risk: int
    """Records that do not satisfy the limits, with or without refilling."""
    by_count_only: bool
    """Whether the limits hold only where a hidden cell counts as company for everybody."""
    is_accepted: bool
    refill: Refill | None
    protected: Protected
    needed: int = 0
    """How many records would have to go for the limits to hold then, if that is too many."""

    @property
    def status(self) -> Literal["pass", "fail"]:
        """Whether the records may go out as far as these limits are concerned."""
        if self.by_count_only:
            return "pass" if self.is_accepted else "fail"
        return "fail" if self.at_risk else "pass"

    def sentences(self) -> tuple[Sentence, ...]:
        """What can be read of what was hidden, and what that means for the limits."""
        told = () if self.refill is None else self.refill.sentences()
        values = {
            "count": self.at_risk,
            "total": self.protected.dataset.rows,
            "subjects": self.protected.original.subjects,
            "rule": self.protected.rule,
        }
        if self.by_count_only:
            kind = "accepted" if self.is_accepted else "count_only"
        else:
            kind = "refuted" if self.at_risk else "held"
        if kind == "held" and self.refill is None:
            return ()
        judged = Sentence("divulge.protection", f"published.{kind}", values)
        return (*told, judged, *(self._describe_needed() if kind == "refuted" else ()))

    def _describe_needed(self) -> tuple[Sentence, ...]:
        """That no removal of records that is allowed would help, if that was tried."""
        if not self.needed:
            return ()
        values = {
            "removed": self.needed,
            "total": self.protected.original.rows,
            "subjects": self.protected.original.subjects,
            "limit": self.protected.suppression_limit,
        }
        return (Sentence("divulge.protection", "published.needed", values),)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values; no value of a record."""
        return {
            "status": self.status,
            "by_count_only": self.by_count_only,
            "at_risk": self.at_risk,
            "needed": self.needed,
            "refill": None if self.refill is None else self.refill.to_dict(),
            "sentences": [sentence.render() for sentence in self.sentences()],
        }


def judge_published(
    protected: Protected,
    *,
    publish: Collection[str] = (),
    unlisted: Unlisted | None = None,
    keep_order: bool = False,
    accept_count_only: bool = False,
) -> PublishedJudgement:
    """Refill what protected records hide from the columns that would go out, and judge again.

    Args:
        protected: what a protection made of a dataset.
        publish: ids of persons, households or groups that go out.
        unlisted: what becomes of attributes without a role; taken for published if not given.
        keep_order: whether records go out in the order of the source.
        accept_count_only: whether a limit may hold by count only.

    >>> import divulge as dv
    >>> p = dv.protection.suppress(dv.datasets.school_year_example(), k=2)
    >>> judge_published(p).status
    'pass'
    """
    view = _view_published(protected, publish, unlisted, keep_order=keep_order)
    dataset = protected.dataset
    asked = list(protected.limits)
    weighed = [_read_weighing(limit) for limit in asked]
    found = refill_released(dataset, select_known(protected), protected.among, view)
    at_risk = _count_at_risk(protected, weighed, found)
    return PublishedJudgement(
        at_risk=at_risk,
        by_count_only=at_risk > 0
        and weighed != asked
        and not _count_at_risk(protected, asked, found),
        is_accepted=accept_count_only,
        refill=found,
        protected=protected,
    )


def withstand_published(protected: Protected, unlisted: Unlisted | None = None) -> Protected:
    """A recipe's result without records that can be found once coarse cells are refilled.

    Raises:
        InvalidInput: if more records would have to go than may, or a limit fails then.
    """
    subject, rows = f'recipe for "{protected.original.name}"', protected.original.rows
    try:
        kept, outcomes = _remove_found(protected, unlisted)
    except OutOfReachError as error:
        raise InvalidInput(subject, [Problem("limits", str(error))]) from error
    if kept.removed > floor(protected.suppression_limit * rows + 1e-9):
        message = (
            f"{kept.removed:,} of {rows:,} {protected.original.subjects} would have to be removed, "
            "since other columns that would be published tell what was made coarser: publish fewer "
            "columns, or protect these data anew."
        )
        raise InvalidInput(subject, [Problem("suppression_limit", message)])
    if not all(outcome.held for outcome in outcomes):
        message = "not every limit holds once records are removed that other columns give away."
        raise InvalidInput(subject, [Problem("limits", message)])
    removed = kept.removed - protected.removed
    values = {"removed": removed, "total": rows, "subjects": protected.original.subjects}
    note = Sentence("divulge.protection", "recipe.refilled", values)
    judged = protected.outcomes if not removed else outcomes
    return replace(kept, outcomes=judged, notes=(*kept.notes, note))


def withstand_recoding(
    protected: Protected,
    unlisted: Unlisted | None = None,
    *,
    recode_alike: Callable[[], Protected] | None = None,
) -> tuple[Protected, PublishedJudgement]:
    """A recoding as it may go out, and the judgement on it.

    Records that can be found once coarse cells are refilled are removed, if no more go than the
    suppression limit allows; else all are recoded alike (`recode_alike`), if that was not done and
    withstands it. Else the recoding stays as it is, and the judgement says how many would have to
    go.
    """
    single = _withstand_by_removal(protected, unlisted)
    if single[1].status == "pass" or single[1].by_count_only or recode_alike is None:
        return single
    try:
        alike, judgement = _withstand_by_removal(recode_alike(), unlisted)
    except OutOfReachError:
        return single
    if judgement.status != "pass":
        return single
    values = {"removed": single[1].needed, "loss": alike.loss, "single": protected.loss}
    note = Sentence("divulge.protection", "recoding.alike_withstands", values)
    return replace(alike, notes=(*alike.notes, note)), judgement


def _withstand_by_removal(
    protected: Protected, unlisted: Unlisted | None
) -> tuple[Protected, PublishedJudgement]:
    """The same without records that refilling finds, or as it is if these are too many."""
    judgement = judge_published(protected, unlisted=unlisted)
    if judgement.status == "pass" or judgement.by_count_only:
        return protected, judgement
    try:
        kept, outcomes = _remove_found(protected, unlisted)
    except OutOfReachError:
        return protected, replace(judgement, needed=protected.original.rows)
    is_too_much = kept.removed > floor(protected.suppression_limit * protected.original.rows + 1e-9)
    if is_too_much or not all(outcome.held for outcome in outcomes):
        return protected, replace(judgement, needed=kept.removed if is_too_much else 0)
    values = {"removed": kept.removed - protected.removed, "loss": kept.loss}
    note = Sentence("divulge.protection", "recoding.restored", values)
    # What was proved is of levels, and not of who must go besides.
    kept = replace(kept, outcomes=outcomes, notes=(*kept.notes, note), proved=False)
    return kept, judge_published(kept, unlisted=unlisted)


def _remove_found(
    protected: Protected, unlisted: Unlisted | None
) -> tuple[Protected, tuple[Outcome, ...]]:
    """The same without records that refilling finds, and what limits say of it."""
    view = _view_published(protected, (), unlisted, keep_order=False)
    limits = [limit for limit in protected.limits if has_protection_method(limit)]
    models = [limit for limit in protected.limits if not has_protection_method(limit)]
    goals = build_goals(protected.original, limits) if limits else []
    kept = remove_refilled(protected, goals, view)
    judged = [judge_model(limit, kept.dataset, select_known(kept)) for limit in models]
    return kept, (*kept.outcomes, *judged)


# A recipe is applied on a lower floor than that of the attack.
Recipe.withstand = staticmethod(withstand_published)


def _view_published(
    protected: Protected,
    publish: Collection[str],
    unlisted: Unlisted | None,
    *,
    keep_order: bool,
) -> PublishedView:
    """The columns that would go out, by their roles."""
    dataset = protected.dataset
    names = [
        name
        for name in dataset.names
        if find_column_fate(name, dataset.dictionary[name].role, publish, unlisted)
        not in ("withheld", "dropped")
    ]
    return PublishedView(names, keep_order)


def _count_at_risk(protected: Protected, limits: Sequence[Limit], found: Refill | None) -> int:
    """How many records do not satisfy limits, as they are or with what is filled rightly."""
    released, original = protected.dataset, select_known(protected)
    refilled = () if found is None else (found.refilled_rightly, *found.refilled_partly)
    whole, *partly = [
        replace(released, columns={**released.columns, **part.columns}) for part in refilled
    ] or [released]
    at_risk = np.zeros(released.rows, np.bool_)
    for goal in build_goals(protected.original, limits):
        for version in (released, whole, *(partly if goal.is_crowd_limit else ())):
            at_risk |= goal.measure_standing(version, original, protected.kept).at_risk
    return int(np.count_nonzero(at_risk))


def _read_weighing(limit: Limit) -> Limit:
    """The limit as somebody reads it who knows their victim and weighs what fits."""
    if limit.options.get("nulls", DEFAULT_NULLS) == DEFAULT_NULLS:
        return limit
    return limit.with_options(nulls=DEFAULT_NULLS)
