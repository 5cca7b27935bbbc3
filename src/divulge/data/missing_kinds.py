"""Kinds of missing values: tags that say why (Stata, SAS), and empty texts beside missing ones.

A reader of the published file tells them apart. So either the judgement tells them apart too
(`separate_missing_kinds`: a tagged value is a value of its own, as a refusal coded 9 is in SPSS),
or what is written does not (`merge_missing_kinds`: missing is missing).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.data.column import HIDDEN_TAG, Column, column_from_codes
from divulge.data.dataset import Dataset

if TYPE_CHECKING:
    import pyarrow as pa

_NUMERIC_ROLES = ("weight", "time")
"""Roles of attributes that are reckoned with: a value of its own would be taken for an amount."""


def merge_missing_kinds(dataset: Dataset) -> Dataset:
    """The same records, whose missing values all look alike: no tags, no empty texts.

    >>> import pyarrow as pa
    >>> kinds = Dataset.from_arrow(pa.table({"town": ["Roma", "", None]}))
    >>> merge_missing_kinds(kinds).to_arrow()["town"].to_pylist()
    ['Roma', None, None]
    """
    columns = {name: _merge_column_kinds(column) for name, column in dataset.columns.items()}
    if all(columns[name] is dataset.columns[name] for name in columns):
        return dataset
    return replace(dataset, columns=columns)


def mark_hidden(dataset: Dataset) -> Dataset:
    """The same records, protected by somebody before: every missing value is a hidden one.

    >>> import pyarrow as pa
    >>> from divulge.data.column import find_hidden_cells
    >>> towns = Dataset.from_arrow(pa.table({"town": ["Roma", None]}))
    >>> find_hidden_cells(mark_hidden(towns).columns["town"]).tolist()
    [False, True]
    """
    columns = dict(dataset.columns)
    for name, column in columns.items():
        if column.has_missing:
            tags = np.where(column.codes == column.missing_code, HIDDEN_TAG, 0).astype(np.uint8)
            columns[name] = replace(column, tags=tags)
    return replace(dataset, columns=columns)


def list_merged_names(dataset: Dataset) -> list[str]:
    """The attributes of which `merge_missing_kinds` makes different missing values one."""
    return [
        name
        for name, column in dataset.columns.items()
        if _merge_column_kinds(column) is not column
    ]


def separate_missing_kinds(dataset: Dataset) -> Dataset:
    """The same records with each tagged missing value as a value of its own, for judging.

    The values stand for the tags in counting alone: numbers below all others, one a tag.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> tags = np.array([0, ord("a"), ord("b"), 0], np.uint8)
    >>> column = replace(encode_array(pa.array([7, None, None, None])), tags=tags)
    >>> separated = separate_missing_kinds(Dataset({"age": column}))
    >>> separated.to_arrow()["age"].to_pylist()
    [7, 5, 6, None]
    """
    numeric_names = {name for role in _NUMERIC_ROLES for name in dataset.dictionary.having(role)}  # type: ignore[arg-type]  # roles of the house
    columns = {
        name: column if name in numeric_names else _separate_tagged_values(column)
        for name, column in dataset.columns.items()
    }
    if all(columns[name] is dataset.columns[name] for name in columns):
        return dataset
    return replace(dataset, columns=columns)


def _merge_column_kinds(column: Column) -> Column:
    import pyarrow as pa

    plain = _keep_hidden(column)
    kind = column.values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return plain
    # Values are sorted, so an empty text is the first of them.
    if len(column.values) == 0 or column.values[0].as_py() != "":
        return plain
    codes = column.codes.astype(np.int64)
    codes = np.where(codes == 0, column.missing_code, codes)
    return replace(column_from_codes(codes, column.values), tags=plain.tags)


def _keep_hidden(column: Column) -> Column:
    """Only the tags of what protection has hidden: that is told apart from what was absent."""
    tags = column.tags
    if tags is None or np.isin(tags, (0, HIDDEN_TAG)).all():
        return column
    is_hidden = tags == HIDDEN_TAG
    kept = np.where(is_hidden, tags, np.uint8(0)) if is_hidden.any() else None
    return replace(column, tags=kept)


def _separate_tagged_values(column: Column) -> Column:
    tags = column.tags
    if tags is None or not column.has_missing:
        return column
    is_tagged = (tags != 0) & (tags != HIDDEN_TAG) & (column.codes == column.missing_code)
    letters = np.unique(tags[is_tagged])
    if len(letters) == 0:
        return column
    codes = column.codes.astype(np.int64)
    # A place after the last is a missing value, so that one moves up.
    codes[codes == column.missing_code] += len(letters)
    codes[is_tagged] = len(column.values) + np.searchsorted(letters, tags[is_tagged])
    return column_from_codes(codes, _add_lower_values(column.values, len(letters)))


def _add_lower_values(values: pa.Array, count: int) -> pa.Array:
    """The values, and so many new ones below them."""
    import pyarrow as pa

    numbers = _to_numbers(values)
    lowest = numbers.min() if len(numbers) else 0
    new_numbers = [lowest - count + number for number in range(count)]
    if pa.types.is_floating(values.type):
        return pa.concat_arrays([values, pa.array([float(v) for v in new_numbers], values.type)])
    days = pa.types.is_date32(values.type)
    storage_type = pa.int32() if days else pa.int64()
    new_values = pa.array([int(v) for v in new_numbers], storage_type)
    if days or pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        return pa.concat_arrays([values, new_values.cast(values.type)])
    return pa.concat_arrays([values.cast(pa.int64()), new_values])


def _to_numbers(values: pa.Array) -> npt.NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_floating(values.type):
        finite = np.asarray(values.to_numpy(), np.float64)
        return np.floor(finite[np.isfinite(finite)])
    storage_type = pa.int32() if pa.types.is_date32(values.type) else pa.int64()
    return np.asarray(values.cast(storage_type).to_numpy(zero_copy_only=False), np.int64)
