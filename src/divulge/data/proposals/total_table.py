"""Tables of totals in files: a row for each cell, or a crosstab with its margins.

A file of cells has some attributes that name the cell, each combination once, and numbers. Rows of
totals are among them or not; where they are, they must be the sums, or they are no totals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.work.arrays import Bools, Floats

TOTAL_WORDS = frozenset(
    {"total", "totals", "all", "sum", "overall", "insgesamt", "gesamt", "zusammen", "totale",
     "somma", "totaux", "ensemble", "suma", "soma", "_t"}
)  # fmt: skip
"""What stands for a total where a code would stand, in six languages; `_T` is SDMX's."""

COUNT_WORDS = frozenset(
    {"n", "count", "counts", "freq", "frequency", "number", "obs_value", "anzahl", "haeufigkeit",
     "conteggio", "numero", "nombre", "effectif", "frecuencia", "contagem", "frequencia"}
)  # fmt: skip
"""What a column of counts is called, in six languages; `OBS_VALUE` is SDMX's."""


@dataclass(frozen=True, kw_only=True)
class TotalTable:
    """A table of totals, one row a cell."""

    by: tuple[str, ...]
    value: str
    totals: tuple[str, ...]
    """What stands for the total in each dimension; empty where no row is a total."""
    is_count: bool
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def find_total_table(dataset: Dataset, keys: Sequence[str] = ()) -> TotalTable | None:
    """The dimensions and the measure of a file whose records are cells; None if it is none.

    >>> import pyarrow as pa
    >>> cells = {"region": ["N", "N", "S", "S"], "sex": ["f", "m", "f", "m"], "n": [3, 9, 8, 2]}
    >>> found = find_total_table(Dataset.from_arrow(pa.table(cells)))
    >>> found.by, found.value
    (('region', 'sex'), 'n')
    """
    if keys or not tuning.MIN_CELLS <= dataset.rows <= tuning.MAX_CELLS:
        return None
    measures = [name for name in dataset.names if _is_measure(dataset.columns[name])]
    by = [name for name in dataset.names if name not in measures]
    counts = [name for name in measures if _is_whole(dataset.columns[name])]
    # A year or a class of ages may be written in numbers: what is constant over cells is none.
    while len(measures) > 1 and not _is_complete(dataset, by):
        if _has_more_cells(dataset, by):
            return None  # another dimension has no fewer
        by.append(measures.pop(0))
        counts = [name for name in measures if _is_whole(dataset.columns[name])]
    if not by or not measures or not _is_complete(dataset, by):
        return None
    by = [name for name in by if dataset.columns[name].cardinality > 1]
    value = (counts or measures)[-1]
    totals = tuple(_find_total(dataset.columns[name]) for name in by)
    has_totals = any(totals)
    if has_totals and not _add_up(dataset, by, totals, value):
        return None
    others = [name for name in measures if name != value]
    if not has_totals and (len(by) < 2 or others):
        return None  # several numbers of everybody at every moment are a panel
    reasons = [f"every combination of {_quote(by)} has one row: it is a cell"]
    if has_totals:
        reasons.append("rows of totals are the sums of the others")
    doubts = []
    if others:
        doubts.append(f"{_quote(others)} are not looked at: a draft is of one measure")
    if not has_totals and value.casefold() not in COUNT_WORDS:
        doubts.append("no row is a total, so they may be records that happen to differ")
    return TotalTable(
        by=tuple(by),
        value=value,
        totals=totals,
        is_count=value in counts,
        reasons=tuple(reasons),
        doubts=tuple(doubts),
    )


def is_crosstab(dataset: Dataset) -> bool:
    """Whether a file is a crosstab with its margins: codes, numbers, and sums in the last row.

    >>> import pyarrow as pa
    >>> table = {"area": ["N", "S", "Total"], "f": [1, 2, 3], "m": [4, 4, 8], "all": [5, 6, 11]}
    >>> is_crosstab(Dataset.from_arrow(pa.table(table)))
    True
    """
    if not 3 <= dataset.rows <= tuning.MAX_CELLS or len(dataset.names) < 3:
        return False
    label, *others = dataset.names
    if _list_numbers(dataset.columns[label]) is not None:
        return False
    columns = [_list_numbers(dataset.columns[name]) for name in others]
    if any(numbers is None for numbers in columns):
        return False
    cells = np.column_stack([numbers for numbers in columns if numbers is not None])
    return bool(
        np.allclose(cells[:-1].sum(axis=0), cells[-1], rtol=1e-9)
        and np.allclose(cells[:, :-1].sum(axis=1), cells[:, -1], rtol=1e-9)
        and cells[-1].any()
    )


def _is_measure(column: Column) -> bool:
    numbers = _list_numbers(column)
    return numbers is not None and bool(np.all(numbers >= 0))


def _is_whole(column: Column) -> bool:
    numbers = _list_numbers(column)
    return numbers is not None and bool(np.all(numbers == np.floor(numbers)))


def _list_numbers(column: Column) -> Floats | None:
    """The number of each record; None if some are none."""
    import pyarrow as pa

    kind = column.values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not is_number or column.has_missing or not len(column.values):
        return None
    values = np.array([float(value) for value in column.values.to_pylist()])
    return values[column.codes] if bool(np.all(np.isfinite(values))) else None


def _is_complete(dataset: Dataset, by: Sequence[str]) -> bool:
    """Whether each combination is there once, and nearly all that could be are there."""
    if not by or any(dataset.columns[name].has_missing for name in by):
        return False
    if _has_more_cells(dataset, by):
        return False
    sizes = [dataset.columns[name].cardinality for name in by]
    if dataset.rows > math.prod(sizes):
        return False
    codes = np.ravel_multi_index(
        tuple(dataset.columns[name].codes.astype(np.int64) for name in by), tuple(sizes)
    )
    return len(np.unique(codes)) == dataset.rows


def _has_more_cells(dataset: Dataset, by: Sequence[str]) -> bool:
    """Whether there are more combinations than rows could fill; over as soon as there are."""
    cells = 1
    for name in by:
        cells *= dataset.columns[name].cardinality
        if cells * tuning.MIN_CELLS_SHARE > dataset.rows:
            return True
    return False


def _find_total(column: Column) -> str:
    words = [value for value in column.values.to_pylist() if isinstance(value, str)]
    found = [word for word in words if word.strip().casefold() in TOTAL_WORDS]
    return found[0] if len(found) == 1 else ""


def _add_up(dataset: Dataset, by: Sequence[str], totals: Sequence[str], value: str) -> bool:
    """Whether the rows of totals hold the sums of the cells that they stand for."""
    numbers = _list_numbers(dataset.columns[value])
    assert numbers is not None  # noqa: S101  # a measure is all numbers
    is_total = list(_list_totals(dataset, by, totals))
    inner = ~np.logical_or.reduce(is_total)
    patterns = np.column_stack(is_total)
    for pattern in np.unique(patterns[~inner], axis=0):
        others = [name for name, flag in zip(by, pattern, strict=True) if not flag]
        stated = _sum_by(dataset, others, np.all(patterns == pattern, axis=1), numbers)
        sums = _sum_by(dataset, others, inner, numbers)
        if any(not math.isclose(sums.get(key, 0.0), stated[key], abs_tol=1e-9) for key in stated):
            return False
    return True


def _list_totals(dataset: Dataset, by: Sequence[str], totals: Sequence[str]) -> Iterator[Bools]:
    for name, total in zip(by, totals, strict=True):
        column = dataset.columns[name]
        values = column.values.to_pylist()
        code = values.index(total) if total else -1
        yield column.codes.astype(np.int64) == code


def _sum_by(
    dataset: Dataset, names: Sequence[str], rows: Bools, numbers: Floats
) -> dict[tuple[int, ...], float]:
    keys = [dataset.columns[name].codes[rows].tolist() for name in names]
    sums: dict[tuple[int, ...], float] = {}
    for place, number in enumerate(numbers[rows].tolist()):
        key = tuple(codes[place] for codes in keys)
        sums[key] = sums.get(key, 0.0) + number
    return sums


def _quote(names: Sequence[str]) -> str:
    return " and ".join(f'"{name}"' for name in names)
