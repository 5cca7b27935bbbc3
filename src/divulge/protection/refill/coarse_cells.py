"""Recoded cells as secrets of the refill attack: finer values are sought as suppressed ones are.

A column that was recoded, for all records or for some, is read twice: as it is published, and by
its finer values, of which those that still show are known and the others are sought. A hierarchy
(or, where there is none, what became of the values) says which finer values remain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from divulge.data import Column, Dataset, Hierarchy
from divulge.data.value_texts import format_value, match_value_texts
from divulge.protection.changes.changes import replace_values
from divulge.protection.refill.columns import AllowedValues, CodedColumn
from divulge.protection.refill.kernels import ABSENT, HIDDEN
from divulge.protection.refill.search.discovery import CompletedColumn
from divulge.protection.refill.search.numbers import convert_numbers
from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class FinerCells:
    """A column by its finer values: which cells are coarser, and what they were, if known."""

    column: CodedColumn
    lifted: CodedColumn | None
    """All cells at the coarsest level that is published, where some show finer values."""
    values: Any
    """The finer values by their codes (an Arrow array)."""
    truth: Ints | None
    is_coarse: Bools

    @property
    def rows(self) -> Ints:
        """The records whose cell was made coarser."""
        return np.flatnonzero(self.is_coarse)

    def find_told(self, completed: CompletedColumn) -> Bools:
        """By coarse cell, whether a finer value is told."""
        return np.asarray(completed.codes[self.rows] >= 0, np.bool_)

    def find_right(self, completed: CompletedColumn) -> Bools:
        """By coarse cell, whether its true finer value is told."""
        assert self.truth is not None  # noqa: S101  # asked before
        rows = self.rows
        is_true = completed.codes[rows] == self.truth[rows]
        return np.asarray(self.find_told(completed) & is_true, np.bool_)

    def fill_column(self, column: Column, completed: CompletedColumn, *, rightly: bool) -> Column:
        """The published column with the finer values that are told, or told rightly."""
        is_told = (self.column.codes == HIDDEN) & (completed.codes >= 0)
        is_told &= completed.codes < len(self.values)
        if rightly and self.truth is not None:
            is_told &= completed.codes == self.truth
        rows = np.flatnonzero(is_told)
        if not rows.size:
            return column
        texts = [format_value(value) for value in self.values.to_pylist()]
        filled = replace_values(column, rows, [texts[code] for code in completed.codes[rows]])
        tags = filled.tags
        if tags is not None:
            tags = np.where(is_told, 0, tags).astype(np.uint8)
        return replace(filled, tags=tags)


def find_finer_cells(
    released: Dataset, original: Dataset | None, name: str, is_hidden: Bools
) -> FinerCells | None:
    """The finer values of a published column; None if no cell of it was made coarser.

    With the original, cells that show something else than their value, and less; without it, cells
    with a value that others of the hierarchy are under.
    """
    column = released.columns[name]
    hierarchy = released.dictionary[name].hierarchy
    if original is None:
        if hierarchy is None or hierarchy.table is None:
            return None
        return _read_by_hierarchy(name, column, hierarchy, is_hidden)
    before = original.columns.get(name)
    if before is None or before is column or _has_same_values(column, before):
        return None
    own_hierarchy = original.dictionary[name].hierarchy
    return _read_by_original(name, column, before, own_hierarchy or hierarchy, is_hidden=is_hidden)


def find_copies(finer: FinerCells, released: Dataset) -> CodedColumn:
    """The finer column, with the other columns that hold the same values as it."""
    place_of = {format_value(v): code for code, v in enumerate(finer.values.to_pylist())}
    copies = {}
    for name, column in released.columns.items():
        if name == finer.column.name or len(column.values) > 2 * len(place_of) + 2:
            continue
        texts = [format_value(value) for value in column.values.to_pylist()]
        codes = np.array([place_of.get(text, -1) for text in texts], np.int64)
        if codes.size and np.mean(codes >= 0) > 0.5:
            copies[name] = codes
    return replace(finer.column, copies=copies)


def _has_same_values(column: Column, before: Column) -> bool:
    """Whether every cell that is shown shows what it was."""
    import pyarrow.compute as pc

    if column.values.type != before.values.type:
        return False
    places = pc.index_in(column.values, before.values).to_pylist()
    if any(place is None for place in places):
        return False
    code_of = np.array([*places, -1], np.int64)
    shown = column.codes != column.missing_code
    return bool(np.all(code_of[column.codes[shown]] == before.codes[shown]))


def _read_by_original(
    name: str, column: Column, before: Column, hierarchy: Hierarchy | None, *, is_hidden: Bools
) -> FinerCells | None:
    finer_texts, published_texts = match_value_texts(before, column)
    place_of = {text: code for code, text in enumerate(published_texts)}
    shown = (column.codes != column.missing_code) & (before.codes != before.missing_code)
    same = np.array([place_of.get(text, -1) for text in finer_texts] + [-1], np.int64)
    differs = shown & (same[before.codes] != column.codes)
    if not differs.any():
        return None
    ancestors = _list_ancestors(before.values.to_pylist(), hierarchy, place_of)
    if ancestors is None:
        ancestors = _list_what_became(column, before, differs, set(finer_texts))
    published = np.where(column.codes == column.missing_code, -1, column.codes.astype(np.int64))
    own = np.where(before.codes == before.missing_code, 0, before.codes.astype(np.int64))
    is_coarse = differs & (ancestors[:, own] == published).any(axis=0)
    if not is_coarse.any():
        return None
    codes = np.where(shown & ~differs, own, ABSENT)
    codes[is_coarse | is_hidden] = HIDDEN
    truth = np.where(before.codes == before.missing_code, ABSENT, own).astype(np.int32)
    return _build_cells(
        name, codes, before.values, truth, is_coarse=is_coarse, published=published,
        ancestors=_add_themselves(ancestors, same[:-1]),
    )  # fmt: skip


def _read_by_hierarchy(
    name: str, column: Column, hierarchy: Hierarchy, is_hidden: Bools
) -> FinerCells | None:
    import pyarrow as pa

    leaves = list(hierarchy.table or {})
    leaf_of = {text: code for code, text in enumerate(leaves)}
    texts = [format_value(value) for value in column.values.to_pylist()]
    place_of = {text: code for code, text in enumerate(texts)}
    ancestors = _list_ancestors(leaves, hierarchy, place_of)
    if ancestors is None:
        return None
    leaf = np.array([leaf_of.get(text, -1) for text in texts] + [-1], np.int64)[column.codes]
    published = np.where(column.codes == column.missing_code, -1, column.codes.astype(np.int64))
    nodes = np.unique(ancestors[ancestors >= 0])
    is_coarse = (leaf < 0) & (published >= 0) & np.isin(published, nodes)
    if not is_coarse.any():
        return None
    codes = np.where(leaf >= 0, leaf, ABSENT)
    codes[is_coarse | is_hidden] = HIDDEN
    same = np.array([place_of.get(text, -1) for text in leaves], np.int64)
    return _build_cells(
        name, codes, pa.array(leaves, pa.string()), None, is_coarse=is_coarse, published=published,
        ancestors=_add_themselves(ancestors, same),
    )  # fmt: skip


def _list_ancestors(
    values: Sequence[Any], hierarchy: Hierarchy | None, place_of: Mapping[str, int]
) -> Ints | None:
    """By level and value, the published code of what it becomes; what nobody shows comes after.

    A level that repeats the one below adds nothing. None if the hierarchy does not have them all.
    """
    if hierarchy is None or not hierarchy.height or hierarchy.lacks(values):
        return None
    number = dict(place_of)
    ancestors = np.full((hierarchy.height, len(values)), -1, np.int64)
    for code, value in enumerate(values):
        last = format_value(value)
        for level in range(1, hierarchy.height + 1):
            text = format_value(hierarchy.at(value, level))
            if text != last:
                ancestors[level - 1, code] = number.setdefault(text, len(number))
            last = text
    return ancestors


def _list_what_became(column: Column, before: Column, differs: Bools, own_texts: set[str]) -> Ints:
    """The same without a hierarchy: by value, what it is shown as that is no value of its own."""
    texts = [format_value(value) for value in column.values.to_pylist()]
    is_other = np.array([text not in own_texts for text in texts] + [False], np.bool_)
    rows = np.flatnonzero(differs & is_other[column.codes])
    size = len(texts) + 1
    pairs = np.unique(before.codes[rows].astype(np.int64) * size + column.codes[rows])
    became: dict[int, list[int]] = {}
    for pair in pairs.tolist():
        became.setdefault(pair // size, []).append(pair % size)
    width = max((len(codes) for codes in became.values()), default=1)
    ancestors = np.full((width, len(before.values)), -1, np.int64)
    for code, places in became.items():
        ancestors[: len(places), code] = places
    return ancestors


def _add_themselves(ancestors: Ints, same: Ints) -> Ints:
    """With what a value is where it is shown as it is, as level 0."""
    return np.vstack([same[None, :], ancestors])


def _build_cells(
    name: str,
    codes: Ints,
    values: Any,
    truth: Ints | None,
    *,
    is_coarse: Bools,
    published: Ints,
    ancestors: Ints,
) -> FinerCells:
    column = CodedColumn(
        name=name,
        codes=codes.astype(np.int32),
        cardinality=max(1, len(values)),
        numbers=convert_numbers(values),
        origin="finer",
        allowed=AllowedValues(published=published, ancestors=ancestors),
    )
    return FinerCells(
        column=column,
        lifted=_lift_cells(column, published, ancestors) if (codes >= 0).any() else None,
        values=values,
        truth=truth,
        is_coarse=is_coarse,
    )


def _lift_cells(column: CodedColumn, published: Ints, ancestors: Ints) -> CodedColumn:
    """Every cell at the highest level that is published."""
    levels = np.arange(ancestors.shape[0])[:, None]
    coarse_nodes = np.unique(published[(column.codes == HIDDEN) & (published >= 0)])
    is_coarse = np.isin(ancestors, coarse_nodes) & (ancestors >= 0)
    top = int(np.max(np.where(is_coarse, levels, 0)))
    nodes = ancestors[0].copy()
    for level in range(1, top + 1):  # a level that adds nothing keeps the one below
        nodes = np.where(ancestors[level] >= 0, ancestors[level], nodes)
    size = int(max(ancestors.max(initial=0), published.max(initial=0), nodes.max(initial=0))) + 1
    lifted_of = np.full(size, ABSENT, np.int64)
    for level in range(top + 1):
        known = ancestors[level] >= 0
        lifted_of[ancestors[level][known]] = nodes[known]
    codes = np.where(published >= 0, lifted_of[np.maximum(published, 0)], ABSENT)
    return CodedColumn(
        name=column.name, codes=codes.astype(np.int32), cardinality=size, origin="coarser"
    )
