"""A release as the attack reads it: which cells are hidden, which absent, and what they were.

A cell is hidden if protection took its value away: the original has one, or the cell is marked as
suppressed. A cell that was missing before is absent, and an attacker can tell the two apart. A cell
that shows a coarser value than the original is a secret too (`coarse_cells`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.data import Column, Dataset, Hierarchy
from divulge.data.column import column_from_codes, find_hidden_cells
from divulge.data.dictionary import WITHHELD_ROLES, find_name_problems
from divulge.data.value_texts import format_value
from divulge.protection.changes.changes import select_records
from divulge.protection.refill.coarse_cells import FinerCells, find_copies, find_finer_cells
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.kernels import ABSENT, HIDDEN
from divulge.protection.refill.search.discovery import CompletedColumn
from divulge.protection.refill.search.numbers import convert_numbers
from divulge.protection.refill.text_parts import build_text_parts
from divulge.work import Problems
from divulge.work.arrays import Bools, Floats, Ints

HiddenCells: TypeAlias = Literal["marked", "all"]
"""Which missing values are hidden where no original tells it: those marked, or all of the keys."""

NO_VALUE = -9
"""The truth of a cell whose value the released column cannot have."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseCells:
    """The columns of a release as integers, and the truth of hidden cells if it is known."""

    dataset: Dataset
    keys: tuple[str, ...]
    columns: tuple[CodedColumn, ...]
    truth: Mapping[str, Ints] | None
    values: Mapping[str, Any]
    """By column with hidden cells, the values of its codes (an Arrow array)."""
    finer: Mapping[str, FinerCells] = field(default_factory=dict)
    """By column with cells that were made coarser, its finer values."""
    was_absent: Mapping[str, Bools] = field(default_factory=dict)
    """By column, cells that look hidden though nobody hid them: they are no secrets."""

    def list_hidden(self, name: str) -> Ints:
        """The records of which a cell is hidden."""
        is_hidden = self.find_column(name).codes == HIDDEN
        if name in self.was_absent:
            is_hidden &= ~self.was_absent[name]
        return np.flatnonzero(is_hidden)

    def find_column(self, name: str) -> CodedColumn:
        """A published column by its name."""
        return next(c for c in self.columns if c.name == name and c.origin == "published")

    @property
    def targets(self) -> list[str]:
        """The columns with hidden cells."""
        return list(self.values)

    def fill_dataset(
        self,
        completed: Mapping[str, CompletedColumn],
        *,
        rightly: bool = False,
        names: Collection[str] | None = None,
    ) -> Dataset:
        """The dataset with the cells that relations tell; or with those that they tell rightly.

        Of some attributes, or of all if none are named.
        """
        columns = dict(self.dataset.columns)
        for name, values in self.values.items():
            if names is not None and name not in names:
                continue
            column = completed[name]
            if rightly:
                column = replace(column, codes=self._hide_wrong(name, column))
            columns[name] = _fill_column(columns[name], column, values)
        for name, finer in self.finer.items():
            if names is not None and name not in names:
                continue
            told = completed[finer.column.key]
            columns[name] = finer.fill_column(columns[name], told, rightly=rightly)
        return replace(self.dataset, columns=columns)

    def list_told(self, completed: Mapping[str, CompletedColumn]) -> list[str]:
        """The attributes of which a hidden or coarser cell is told rightly."""
        assert self.truth is not None  # noqa: S101  # asked before
        told = [
            name
            for name in self.values
            if name in self.truth
            and np.any((completed[name].teller >= 0) & (completed[name].codes == self.truth[name]))
        ]
        told += [
            name
            for name, finer in self.finer.items()
            if finer.truth is not None and finer.find_right(completed[finer.column.key]).any()
        ]
        return list(dict.fromkeys(told))

    def _hide_wrong(self, name: str, column: CompletedColumn) -> Ints:
        """The codes without those that are filled and not true."""
        truth = None if self.truth is None else self.truth.get(name)
        is_wrong = column.teller >= 0
        if truth is not None:
            is_wrong &= column.codes != truth
        return np.where(is_wrong, HIDDEN, column.codes)


def read_cells(
    released: Dataset,
    original: Dataset | None,
    keys: Sequence[str],
    *,
    hidden: HiddenCells = "marked",
    groups: Mapping[str, Ints] | None = None,
) -> ReleaseCells:
    """Turn a release into integers; the original has the same records in the same order."""
    columns: list[CodedColumn] = []
    truth: dict[str, Ints] = {}
    values: dict[str, Any] = {}
    finer: dict[str, FinerCells] = {}
    for name, column in released.columns.items():
        before = None if original is None else original.columns.get(name)
        is_hidden = find_secret_cells(column, before, hidden == "all" and name in keys)
        numbers_of: Any = column.values
        if is_hidden.any():
            if before is not None:
                attribute = (original or released).dictionary[name]
                truth[name], numbers_of = _map_truth(column, before, attribute.hierarchy)
            values[name] = numbers_of
        codes = encode_cells(column, is_hidden)
        columns.append(
            CodedColumn(
                name=name,
                codes=codes,
                cardinality=max(1, len(numbers_of)),
                numbers=convert_numbers(numbers_of),
                is_id=released.dictionary[name].role in WITHHELD_ROLES,
            )
        )
        columns += build_text_parts(name, codes, column.values)
        cells = find_finer_cells(released, original, name, is_hidden)
        if cells is not None:
            finer[name] = cells
    for cells in finer.values():
        columns.append(find_copies(cells, released))
        if cells.lifted is not None:
            columns.append(cells.lifted)
        if cells.truth is not None:
            truth[cells.column.key] = cells.truth
    for name, group in (groups or {}).items():
        columns.append(
            CodedColumn(
                name=name,
                codes=group.astype(np.int32),
                cardinality=int(group.max(initial=0)) + 1,
                origin="group",
            )
        )
    return ReleaseCells(
        dataset=released,
        keys=tuple(keys),
        columns=tuple(columns),
        truth=None if original is None else truth,
        values=values,
        finer=finer,
    )


def has_secret_cells(released: Dataset, original: Dataset | None = None) -> bool:
    """Whether some cell is hidden, or coarser than it was."""
    for name, column in released.columns.items():
        before = None if original is None else original.columns.get(name)
        is_hidden = find_hidden_cells(column, before)
        if is_hidden.any() or find_finer_cells(released, original, name, is_hidden) is not None:
            return True
    return False


def leave_out_absent(cells: ReleaseCells, original: Dataset) -> ReleaseCells:
    """The cells where every missing one counts as hidden, of which the original lacks some."""
    shared = [original.columns.get(name) for name in cells.targets]
    return replace(
        cells,
        was_absent={
            name: np.asarray(before.codes == before.missing_code, np.bool_)
            for name, before in zip(cells.targets, shared, strict=True)
            if before is not None and before.has_missing
        },
    )


def gather_groups(
    dataset: Dataset,
    original: Dataset | None,
    links: Sequence[str],
    known_groups: Mapping[str, npt.ArrayLike],
) -> dict[str, Ints]:
    """Groups that an attacker knows from elsewhere: numbers by record, negative if unknown."""
    problems = Problems(f'refill of "{dataset.name}"')
    groups: dict[str, Ints] = {}
    unpublished = [name for name in links if name not in dataset.columns]
    if unpublished:
        available = dataset.names if original is None else original.names
        problems.extend("", find_name_problems("links", unpublished, available))
        problems.raise_any()
        assert original is not None  # noqa: S101  # it has the names
        for name in unpublished:
            column = original.columns[name]
            groups[name] = encode_cells(column, np.zeros(original.rows, np.bool_))
    for name, given in known_groups.items():
        numbers = np.asarray(given)
        if numbers.shape != (dataset.rows,) or numbers.dtype.kind not in "iu":
            message = (
                f'"{name}" must contain one whole number for each of {dataset.rows:,} records.'
            )
            problems.add("known_groups", message)
        else:
            _, places = np.unique(numbers, return_inverse=True)
            groups[name] = np.where(numbers < 0, -1, places.reshape(-1)).astype(np.int32)
    problems.raise_any()
    return groups


def find_secret_cells(column: Column, original: Column | None, hides_all: bool) -> Bools:
    """Which cells protection took away."""
    if original is None and hides_all:
        return np.asarray(column.codes == column.missing_code, np.bool_)
    return find_hidden_cells(column, original)


def encode_cells(column: Column, is_hidden: Bools) -> Ints:
    """The codes of a column, with ABSENT and HIDDEN for what is missing."""
    codes: Ints = column.codes.astype(np.int32)
    if column.has_missing:
        codes[column.codes == column.missing_code] = ABSENT
        codes[is_hidden] = HIDDEN
    return codes


def select_rows(original: Dataset, kept: Ints) -> Dataset:
    """The records of the original that are in the release."""
    return original if kept.size == original.rows else select_records(original, kept)


def _map_truth(column: Column, original: Column, hierarchy: Hierarchy | None) -> tuple[Ints, Any]:
    """What cells were, as codes of the released column; values that nobody shows come after them.

    Where the released column has other values (it was made coarser), a value of the original is
    what it mostly became, or what is above it in its hierarchy if no shown record has it.
    """
    import pyarrow as pa

    values = column.values
    became = np.full(len(original.values) + 1, NO_VALUE, np.int64)
    place_of = {format_value(value): place for place, value in enumerate(values.to_pylist())}
    texts = [format_value(value) for value in original.values.to_pylist()]
    if set(place_of) <= set(texts):
        new = [text not in place_of for text in texts]
        fresh = original.values.filter(pa.array(new, pa.bool_()))
        if len(fresh):
            # Numbers of which only whole ones are left are whole numbers in the release.
            kind = original.values.type if _is_number(values.type) else values.type
            values = pa.concat_arrays([values.cast(kind), fresh.cast(kind)])
        numbers = iter(range(len(column.values), len(values)))
        became[:-1] = [
            next(numbers) if is_new else place_of[text]
            for text, is_new in zip(texts, new, strict=True)
        ]
    else:
        shown = np.flatnonzero(
            (column.codes != column.missing_code) & (original.codes != original.missing_code)
        )
        pairs = original.codes[shown].astype(np.int64) * len(values) + column.codes[shown]
        distinct, counts = np.unique(pairs, return_counts=True)
        for pair in distinct[np.argsort(counts, kind="stable")].tolist():
            became[pair // len(values)] = pair % len(values)
        for code, value in enumerate(original.values.to_pylist()):
            if became[code] == NO_VALUE:
                became[code] = _find_coarser(value, place_of, hierarchy)
    became[-1] = ABSENT
    return became[original.codes].astype(np.int32), values


def _find_coarser(value: Any, place_of: Mapping[str, int], hierarchy: Hierarchy | None) -> int:
    """The code of what a value is one of in the released column; NO_VALUE if nothing is."""
    if hierarchy is None or hierarchy.lacks([value]):
        return NO_VALUE
    levels = range(1, hierarchy.height + 1)
    texts = [format_value(hierarchy.at(value, level)) for level in levels]
    return next((place_of[text] for text in texts if text in place_of), NO_VALUE)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _fill_column(column: Column, completed: CompletedColumn, values: Any) -> Column:
    import pyarrow as pa

    if completed.numbers is not None and completed.numbers.size > len(values):
        values = pa.concat_arrays(
            [values, _convert_values(completed.numbers[len(values) :], values.type)]
        )
    codes = completed.codes.astype(np.int64)
    tags = column.tags
    if tags is not None:
        tags = np.where(completed.codes >= 0, 0, tags).astype(np.uint8)
    codes[codes < 0] = len(values)
    return replace(column_from_codes(codes, values), tags=tags)


def _convert_values(numbers: Floats, kind: Any) -> Any:
    """Calculated numbers as values of a column."""
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return pa.array(numbers.astype(np.int32)).cast(kind)
    if pa.types.is_timestamp(kind) or pa.types.is_integer(kind):
        return pa.array(numbers.astype(np.int64)).cast(kind)
    return pa.array(numbers).cast(kind, safe=False)
