"""Changes of a dataset's cells: hide, replace, remove; nothing of the original is touched.

What is hidden leaves no trace: a value that no record shows any more is not in the list of a
column's values either, because that list is written into files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.classes.key_codes import encode_keys
from divulge.data import Column, Dataset
from divulge.data.column import HIDDEN_TAG, column_from_codes
from divulge.data.value_texts import format_value
from divulge.protection.changes.kernels import HIDDEN
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import numpy.typing as npt


def build_code_matrix(
    dataset: Dataset, names: list[str], *, absence_apart: bool = False
) -> npt.NDArray[np.int32]:
    """One row per record: its codes, and HIDDEN where a value is missing.

    With `absence_apart` only hidden cells are HIDDEN, and absence is the code after the last.
    """
    codes = np.empty((dataset.rows, len(names)), np.int32)
    for a, key in enumerate(encode_keys(dataset, names, absence_apart=absence_apart)):
        codes[:, a] = key.codes
        codes[key.codes == key.hidden_code, a] = HIDDEN
    return codes


def hide_cells(dataset: Dataset, cells: Mapping[str, Ints]) -> Dataset:
    """The dataset with some cells hidden: by attribute, the places of the records.

    >>> import divulge as dv
    >>> companies = dv.datasets.local_suppression_example()
    >>> hide_cells(companies, {"Sector": np.array([0])}).to_arrow()["Sector"].to_pylist()[:2]
    [None, 'Commerce']
    """
    columns = dict(dataset.columns)
    for name, places in cells.items():
        if len(places):
            columns[name] = hide_values(columns[name], places)
    return replace(dataset, columns=columns)


def hide_values(column: Column, places: Ints) -> Column:
    """A column with some cells hidden, and marked so."""
    codes = column.codes.astype(np.int64)
    codes[places] = column.missing_code
    tags = np.zeros(len(codes), np.uint8) if column.tags is None else column.tags.copy()
    tags[places] = HIDDEN_TAG
    return replace(column_from_codes(codes, column.values), tags=tags)


def replace_values(column: Column, places: Ints, values: list[Any]) -> Column:
    """A column of texts with other values at some places; the others as hierarchies write them."""
    import pyarrow as pa

    texts = [format_value(value) for value in column.values.to_pylist()]
    number = {text: code for code, text in enumerate(texts)}
    for value in map(format_value, values):
        number.setdefault(value, len(number))
    codes = column.codes.astype(np.int64)
    codes[codes == column.missing_code] = len(number)
    codes[places] = [number[format_value(value)] for value in values]
    return replace(column_from_codes(codes, pa.array(list(number), pa.string())), tags=column.tags)


def list_kept_records(rows: int, removed: Ints) -> Ints:
    """The places of all records but some, in rising order.

    >>> list_kept_records(4, np.array([2, 0])).tolist()
    [1, 3]
    """
    is_kept = np.ones(rows, np.bool_)
    is_kept[removed] = False
    return np.flatnonzero(is_kept)


def drop_records(dataset: Dataset, removed: Ints) -> Dataset:
    """The dataset without some records."""
    return select_records(dataset, list_kept_records(dataset.rows, removed))


def select_records(dataset: Dataset, places: Ints) -> Dataset:
    """Some records of a dataset, in the order of the places.

    >>> import divulge as dv
    >>> select_records(dv.datasets.local_suppression_example(), np.array([5, 6])).rows
    2
    """
    columns = {}
    for name, column in dataset.columns.items():
        tags = None if column.tags is None else column.tags[places]
        columns[name] = replace(column_from_codes(column.codes[places], column.values), tags=tags)
    return replace(dataset, columns=columns)


def value_at(column: Column, place: int) -> Any:
    """The value of one record; None if it is missing."""
    return column.value(int(column.codes[place]))
