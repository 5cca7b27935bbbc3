"""Records that are at risk once hidden cells are refilled: found, and removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from divulge import records, work
from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection.changes.changes import drop_records
from divulge.protection.changes.decision_log import Change, DecisionLog
from divulge.protection.limits.per_record import Goal
from divulge.protection.resistance.published_view import (
    PublishedView,
    refill_released,
    select_known,
)
from divulge.protection.result.protected import Protected
from divulge.protection.suppression.request import OutOfReachError
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.work.arrays import Bools


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
        for seen in partly if goal.is_crowd_limit else ():
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
