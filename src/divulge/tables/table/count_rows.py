"""A table of counts out of records that are its cells: one row a cell, totals among them or not.

Rows of totals are left out, and the margins computed: a file may have some of them and not others.
Those that are there must be what is computed, or the file is not what it was taken for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from divulge.data import Column, Dataset
from divulge.data.column import column_from_codes
from divulge.tables.table.axis import TOTAL, Axis
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Ints


def build_table_of_counts(
    dataset: Dataset, by: Sequence[str], value: str, totals: Sequence[str] = ()
) -> Table:
    """A frequency table whose inner cells are the records of a dataset; other cells are empty.

    Args:
        dataset: the cells.
        by: the attributes that name a cell.
        value: the attribute that holds its count.
        totals: what stands for the total: one for all attributes, or one for each.

    Raises:
        InvalidInput: for cells that are given twice, counts that are none, totals that are wrong.

    >>> import pyarrow as pa
    >>> cells = {"area": ["N", "S", "T"], "sex": ["f", "f", "f"], "n": [3, 4, 7]}
    >>> records = Dataset.from_arrow(pa.table(cells))
    >>> table = build_table_of_counts(records, ["area", "sex"], "n", ["T"])
    >>> table.values.tolist()
    [[3, 3], [4, 4], [7, 7]]
    """
    names = dataset.attributes(by, "by")
    dataset.attributes([value], "value")
    problems = Problems(f'dataset "{dataset.name}"')
    marks = list(totals) or [""]
    marks = marks * len(names) if len(marks) == 1 else marks
    axes, places = [], []
    for name, mark in zip(names, marks, strict=True):
        axis, coordinates = _place_records(dataset, name, mark, problems)
        axes.append(axis)
        places.append(coordinates)
    counts = _read_counts(dataset, value, problems)
    if all(axis.size == 1 for axis in axes):
        problems.add("by", "names no attribute with a value besides the total: nothing adds up.")
    problems.raise_any()
    shape = tuple(axis.size for axis in axes)
    flat = np.ravel_multi_index(tuple(places), shape)
    for _ in np.flatnonzero(np.bincount(flat) > 1)[:1]:
        problems.add("by", "some cells are there twice; name all attributes that tell cells apart.")
    problems.raise_any()
    inner = np.zeros(tuple(axis.leaves for axis in axes), np.int64)
    is_inner = np.all(
        [place < axis.leaves for place, axis in zip(places, axes, strict=True)], axis=0
    )
    inner[tuple(place[is_inner] for place in places)] = counts[is_inner]
    table = Table.from_cells(inner, axes=axes)
    wrong = int(np.count_nonzero(table.values[tuple(places)] != counts))
    if wrong:
        message = f"{wrong:,} rows of totals are not the sums of the cells."
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("total", message)])
    return table


def list_counted_records(
    dataset: Dataset, by: Sequence[str], value: str, totals: Sequence[str], most: int
) -> Dataset | None:
    """The records that cells count, by the attributes of these; None if they are more than `most`.

    >>> import pyarrow as pa
    >>> cells = Dataset.from_arrow(pa.table({"area": ["N", "S", "T"], "n": [1, 2, 3]}))
    >>> list_counted_records(cells, ["area"], "n", ["T"], 9).to_arrow()["area"].to_pylist()
    ['N', 'S', 'S']
    """
    problems = Problems(f'dataset "{dataset.name}"')
    counts = _read_counts(dataset, value, problems)
    problems.raise_any()
    marks = list(totals) or [""]
    for name, mark in zip(by, marks * len(by) if len(marks) == 1 else marks, strict=True):
        column = dataset.columns[name]
        is_total = [text is None or str(text) == mark for text in map(column.value, _codes(column))]
        counts = np.where(np.append(is_total, True)[column.codes], 0, counts)
    if int(counts.sum()) > most:
        return None
    rows = np.repeat(np.arange(dataset.rows), counts)
    columns = {name: dataset.columns[name] for name in by}
    return replace(
        dataset.select(by),
        columns={n: column_from_codes(c.codes[rows], c.values) for n, c in columns.items()},
    )


def _place_records(
    dataset: Dataset, name: str, total: str, problems: Problems
) -> tuple[Axis, Ints]:
    """The dimension of an attribute, and the place of each record in it; the total is last."""
    column = dataset.columns[name]
    texts = ["" if value is None else str(value) for value in map(column.value, _codes(column))]
    hierarchy = dataset.dictionary[name].hierarchy
    values = [text for text in texts if not total or text != total]
    if hierarchy is None:
        axis = Axis.flat(name, values)
    else:
        lacking = set(hierarchy.lacks(values))
        axis = Axis.hierarchical(name, [v for v in values if v not in lacking], hierarchy)
        if lacking - set(axis.codes):
            message = f"{len(lacking - set(axis.codes))} codes are not in its hierarchy."
            problems.add(f'by, "{name}"', message)
    if TOTAL in values:
        problems.add(f'by, "{name}"', f'contains "{TOTAL}": say what stands for the total.', total)
    place_of = {code: place for place, code in enumerate(axis.codes)}
    if total:
        place_of[total] = axis.size - 1
    of_code = np.array([place_of.get(text, 0) for text in texts], np.int64)
    return axis, of_code[column.codes]


def _codes(column: Column) -> range:
    return range(column.cardinality)


def _read_counts(dataset: Dataset, value: str, problems: Problems) -> Ints:
    """Whole numbers, none below 0; a missing one is a suppressed cell, which cannot be counted."""
    numbers = dataset.columns[value].to_arrow().to_pylist()
    is_count = [
        isinstance(n, int | float) and not isinstance(n, bool) and n >= 0 and n == int(n)
        for n in numbers
    ]
    if not all(is_count):
        message = (
            f'"{value}" is no count in {len(is_count) - sum(is_count):,} rows: a whole number, 0 '
            "or more. Of a table with suppressed cells, see divulge tables audit."
        )
        problems.add("value", message)
        return np.zeros(len(numbers), np.int64)
    return np.array([int(n) for n in numbers], np.int64)
