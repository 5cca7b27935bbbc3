"""The dataset that a local recoding releases, and its decisions: which cells became coarser, why.

Columns are made of codes as a whole: of each attribute, what a code becomes at each level is looked
up once, whatever the number of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from divulge.assessment import Sentence
from divulge.assessment.decision import Change as Kind
from divulge.data import Column, Dataset
from divulge.data.column import column_from_codes
from divulge.data.value_texts import format_value
from divulge.protection.changes.changes import drop_records, hide_values
from divulge.protection.changes.coded_values import CodedValues
from divulge.protection.changes.decision_log import Change
from divulge.protection.changes.recodings import drop_unfitting_labels
from divulge.protection.recoding.class_tests import ClassTest
from divulge.protection.recoding.lattice import GeneralisationLattice
from divulge.protection.recoding.local.local_outcome import (
    REMOVED,
    LocalOutcome,
    build_outcome,
    find_failing_classes,
)
from divulge.work.arrays import Array, Bools, Floats, Ints


def build_local_release(
    dataset: Dataset,
    lattice: GeneralisationLattice,
    outcome: LocalOutcome,
    *,
    tests: Sequence[ClassTest] = (),
    rule: str = "",
) -> tuple[Dataset, list[Change]]:
    """The dataset with the cells of each record at the levels of its unit; and all decisions.

    Args:
        dataset: the records that the lattice was built from.
        lattice: units and levels.
        outcome: the levels of each unit, and which units are removed.
        tests: the limits; who fails them as it is, is told apart from who only joins them.
        rule: the limits in words, for the decisions.
    """
    standing = _measure_standing(lattice, outcome, tests)
    columns, changes = dict(dataset.columns), []
    for a, name in enumerate(lattice.names):
        levels = outcome.levels[a][lattice.unit_of_record]
        if not levels.any():
            continue
        cells = _coarsen_cells(dataset, name, levels)
        columns[name] = cells.column
        changes += _list_changes(name, cells, standing, lattice.names, rule)
    released = drop_unfitting_labels(replace(dataset, columns=columns), dataset)
    if standing.is_removed.any():
        removed = np.flatnonzero(standing.is_removed)
        released = drop_records(released, removed)
        reason = str(Sentence("divulge.protection", "reason.too_coarse"))
        changes.append(
            Change(
                kind="removed",
                attribute=None,
                records=removed,
                was=(),
                became=(),
                rule=rule,
                reason=reason,
                before=1 / standing.company[removed],
                after=np.zeros(removed.size),
                company=standing.company[removed],
                among=lattice.names,
            )
        )
    return released, changes


@dataclass(frozen=True, kw_only=True, eq=False)
class _Standing:
    """By record, how it stands before and after."""

    company: Ints
    """How many looked like it."""
    after: Floats
    """One over how many look like it now."""
    is_failing: Bools
    """Whether its class failed some test."""
    is_removed: Bools


def _measure_standing(
    lattice: GeneralisationLattice, outcome: LocalOutcome, tests: Sequence[ClassTest]
) -> _Standing:
    nothing = np.zeros_like(lattice.counts)
    before = build_outcome(lattice, np.zeros_like(outcome.levels), nothing)
    sizes = np.bincount(before.class_of_unit, lattice.counts, before.classes).astype(np.int64)
    failing = find_failing_classes(tests, before.class_of_unit, before.classes, lattice.counts)
    kept = lattice.counts - outcome.removed
    # Removed units are the last class, of no records.
    of_unit = np.where(outcome.class_of_unit == REMOVED, outcome.classes, outcome.class_of_unit)
    new_sizes = np.bincount(of_unit, kept, outcome.classes + 1)
    of_record = lattice.unit_of_record
    return _Standing(
        company=sizes[before.class_of_unit][of_record],
        after=(1 / np.maximum(new_sizes, 1))[of_unit][of_record],
        is_failing=failing[before.class_of_unit][of_record],
        is_removed=(outcome.class_of_unit == REMOVED)[of_record],
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _CoarseCells:
    """A column at the levels of its records."""

    column: Column
    changed: Bools
    """By record, whether it shows another text than before."""
    was: CodedValues
    became: CodedValues
    is_hidden: Bools
    """By record, whether its cell is hidden: the level above all of its hierarchy."""


def _coarsen_cells(dataset: Dataset, name: str, levels: Array) -> _CoarseCells:
    import pyarrow as pa

    column, hierarchy = dataset.columns[name], dataset.dictionary[name].hierarchy
    values = column.values.to_pylist()
    height = 0 if hierarchy is None else hierarchy.height
    is_hidden = (levels > height) & (column.codes != column.missing_code)
    shown = np.where(is_hidden, 0, np.minimum(levels, height))
    coarse, codes, texts = column, column.codes.astype(np.int64), values
    is_recoded = np.zeros(len(codes), np.bool_)
    if hierarchy is not None and shown.any():
        shape = (int(shown.max()) + 1, len(values))
        texts = [
            format_value(hierarchy.at(value, level) if level else value)
            for level in range(shape[0])
            for value in values
        ]
        # Equal texts have one number, so a text that stays is no change; no text is the last one.
        number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        table = np.full((shape[0], shape[1] + 1), len(number), np.int64)
        table[:, :-1] = np.array([number[text] for text in texts], np.int64).reshape(shape)
        codes, texts = table[shown, column.codes], list(number)
        is_recoded = codes != table[0, column.codes]
        coarse = replace(column_from_codes(codes, pa.array(texts, pa.string())), tags=column.tags)
    if is_hidden.any():
        coarse = hide_values(coarse, np.flatnonzero(is_hidden))
    return _CoarseCells(
        column=coarse,
        changed=is_recoded | is_hidden,
        was=CodedValues(column.codes, [*values, None]),
        became=CodedValues(np.where(is_hidden, len(texts), codes), [*texts, None]),
        is_hidden=is_hidden,
    )


def _list_changes(
    name: str, cells: _CoarseCells, standing: _Standing, among: tuple[str, ...], rule: str
) -> list[Change]:
    """The decisions to change cells: of who fails, then of who joins them; coarser, then hidden."""
    changed = cells.changed & ~standing.is_removed
    joined = str(Sentence("divulge.protection", "reason.joined"))
    kinds: tuple[tuple[Kind, Bools], ...] = (
        ("recoded", ~cells.is_hidden),
        ("suppressed", cells.is_hidden),
    )
    changes = []
    for kind, of_kind in kinds:
        for chosen, reason in ((standing.is_failing, ""), (~standing.is_failing, joined)):
            places = np.flatnonzero(changed & of_kind & chosen)
            if places.size:
                changes.append(
                    Change(
                        kind=kind,
                        attribute=name,
                        records=places,
                        was=cells.was.select(places),
                        became=cells.became.select(places),
                        rule=rule,
                        reason=reason,
                        before=1 / standing.company[places],
                        after=standing.after[places],
                        company=standing.company[places],
                        among=among,
                    )
                )
    return changes
