"""What directives change at once: cells that are hidden, records that are removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.protection.changes.changes import drop_records, hide_cells, value_at
from divulge.protection.changes.decision_log import Change
from divulge.protection.directives.settlement import CellGroup, SettledDirectives
from divulge.work.arrays import Floats, Ints

RiskOfRecords = Callable[[Dataset], Floats]
"""The risk of each record, as a decision tells it."""

_REASON = Sentence("divulge.protection", "reason.directive")


def hide_directed(
    dataset: Dataset, settled: SettledDirectives, among: Sequence[str], measure: RiskOfRecords
) -> tuple[Dataset, list[Change]]:
    """Hide what must be hidden, each cell once, and the decisions that tell so."""
    current, changes = dataset, []
    for group in settled.hidden:
        name = str(group.attribute)
        column = current.columns[name]
        shown = group.records[column.codes[group.records] != column.missing_code]
        if shown.size:
            was = tuple(value_at(column, place) for place in shown.tolist())
            current = hide_cells(current, {name: shown})
            change = _build_change(group, shown, among)
            changes.append(replace(change, was=was, became=(None,) * shown.size))
    if not changes:
        return current, changes
    before, after = measure(dataset), measure(current)
    return current, [
        replace(each, before=before[each.records], after=after[each.records]) for each in changes
    ]


def remove_directed(
    dataset: Dataset, settled: SettledDirectives, among: Sequence[str], measure: RiskOfRecords
) -> tuple[Dataset, Ints, list[Change]]:
    """Remove whom directives remove; who is left, by number, and the decisions that tell so."""
    gone, changes = np.empty(0, np.int64), []
    for group in settled.removed:
        fresh = np.setdiff1d(group.records, gone)
        if fresh.size:
            gone = np.union1d(gone, fresh)
            changes.append(_build_change(group, fresh, among))
    left = np.setdiff1d(np.arange(dataset.rows), gone)
    if not changes:
        return dataset, left, changes
    before = measure(dataset)
    changes = [replace(each, before=before[each.records]) for each in changes]
    return drop_records(dataset, gone), left, changes


def mark_directed(changes: Sequence[Change], rule: str) -> Iterator[Change]:
    """The same decisions as made by a directive, and not for a limit."""
    return (replace(each, rule=rule, origin="directive", reason=str(_REASON)) for each in changes)


def _build_change(group: CellGroup, records: Ints, among: Sequence[str]) -> Change:
    is_removal = group.attribute is None
    return Change(
        kind="removed" if is_removal else "suppressed",
        attribute=group.attribute,
        records=records,
        was=(),
        became=(),
        rule=group.rule or ("remove" if is_removal else "hide"),
        origin="directive",
        reason=str(_REASON),
        before=np.zeros(records.size),
        after=np.zeros(records.size),
        company=np.zeros(records.size, np.int64),
        among=tuple(among),
    )
