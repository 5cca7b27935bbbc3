"""Faithfulness of a written file: it tells the same records apart as the dataset that was judged.

An assessment looks at which records share a value, and at which values are missing; it does not
look at how a value is written. So a file is faithful if it tells records apart as the dataset
does, attribute by attribute. A format that cuts or rounds what it is given does not.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.encoding import Tags
from divulge.data.files import read_files
from divulge.data.formats import Options, find_format, find_separator
from divulge.data.formats.capacity import is_text_kind
from divulge.data.formats.file_signature import SAS_TRANSPORT, STATA
from divulge.data.formats.formulas import guard_formulas
from divulge.data.formats.text.text_style import choose_style
from divulge.work import InvalidInput

if TYPE_CHECKING:
    from divulge.data.dataset import Dataset

FORMATS_WITH_TAGS = (STATA, SAS_TRANSPORT)
"""The formats that say why a value is missing; in all others a tag becomes a plain missing one."""


def is_same_partition(one: Column, other: Column) -> bool:
    """Whether two columns tell records apart in the same way, whatever their values are.

    Records that share a value in one share a value in the other, and the same values are missing,
    with the same tags.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> towns = encode_array(pa.array(["Roma", "Bari", None, "Roma"]))
    >>> is_same_partition(towns, encode_array(pa.array([7.5, 0.1, None, 7.5])))
    True
    >>> is_same_partition(towns, encode_array(pa.array(["R", "B", "", "R"])))
    False
    """
    if len(one.codes) != len(other.codes):
        return False
    # Codes are a one-to-one relation if each of the two is a function of the other.
    other_by_one = np.zeros(one.missing_code + 1, dtype=other.codes.dtype)
    one_by_other = np.zeros(other.missing_code + 1, dtype=one.codes.dtype)
    blocks = [
        slice(start, start + tuning.PLACES_AT_A_TIME)
        for start in range(0, len(one.codes), tuning.PLACES_AT_A_TIME)
    ]
    for block in blocks:
        mine, theirs = one.codes[block], other.codes[block]
        other_by_one[mine] = theirs
        one_by_other[theirs] = mine
    for block in blocks:
        mine, theirs = one.codes[block], other.codes[block]
        if not (
            np.array_equal(other_by_one[mine], theirs)
            and np.array_equal(one_by_other[theirs], mine)
        ):
            return False
        if not np.array_equal(
            _list_missing_reasons(one, block), _list_missing_reasons(other, block)
        ):
            return False
    return True


def find_writing_differences(
    dataset: Dataset, path: Path, options: Options | None = None
) -> list[str]:
    r"""The columns that a file, read again, tells otherwise than the dataset that was judged.

    A column that is only in one of the two is among them; if the file cannot be read at all, or
    has another number of records, every column is.

    Args:
        dataset: the records as they were meant to be written.
        path: the file that they were written to.
        options: the separator and the table that they were written with.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> from divulge.data import Dataset
    >>> people = Dataset.from_arrow(pa.table({"age": [25, 31], "town": ["Roma", "Bari"]}))
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> people.write(path)
    >>> find_writing_differences(people, path)
    []
    >>> _ = path.write_text("age,town\n25,Roma\n31,Roma\n")
    >>> find_writing_differences(people, path)
    ['town']
    """
    reading_options = _build_reading_options(dataset, path, options or Options())
    try:
        format_ = find_format(path)
        written_names = dict.fromkeys(format_.read_names(path, reading_options))
        shared = [name for name in dataset.names if name in written_names]
        reading_options = replace(
            reading_options,
            text=[name for name in shared if is_text_kind(dataset.columns[name].values.type)],
        )
        columns = read_files([path], shared, reading_options).columns if shared else {}
    except InvalidInput:
        return dataset.names
    has_tags = format_.kind in FORMATS_WITH_TAGS
    differing = [
        name
        for name, column in dataset.columns.items()
        if name not in columns
        or not is_same_partition(
            # Text has no tags in any format; a column without values may be one of numbers.
            column
            if has_tags and not (is_text_kind(column.values.type) and len(column.values))
            else _drop_tags(column),
            columns[name],
        )
    ]
    return differing + [name for name in written_names if name not in dataset.columns]


def _list_missing_reasons(column: Column, block: slice) -> Tags:
    """Per record 0 for a value, 1 for a plain missing one, and the tag of any other."""
    codes = column.codes[block]
    if not column.has_missing:
        return np.zeros(len(codes), dtype=np.uint8)
    tags = np.uint8(1) if column.tags is None else np.maximum(column.tags[block], 1)
    return np.where(codes == column.missing_code, tags, np.uint8(0))


def _build_reading_options(dataset: Dataset, path: Path, options: Options) -> Options:
    """How the file is to be read: nothing that was settled in writing is guessed at again."""
    columns = {name: guard_formulas(column) for name, column in dataset.columns.items()}
    styled = choose_style(dataset.style, columns, options)
    return replace(styled, separator=find_separator(path, styled), header=True)


def _drop_tags(column: Column) -> Column:
    return replace(column, tags=None)
