"""How a file says that a value was hidden, and not merely absent.

Stata and SAS have tagged missing values: `.s`; SPSS declares a number to mean missing, and labels
it with a word. In other formats a column of text has the word in the place of what is hidden; a
column of numbers or dates stays one, and a column `NAME_status` beside it has the word. So whoever
reads the file tells what was suppressed from what was never there, as it was judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data.column import (
    HIDDEN_TAG,
    Column,
    column_from_codes,
    encode_array,
    find_hidden_cells,
)
from divulge.data.dictionary import Attribute, Dictionary, MissingCode
from divulge.work.arrays import Bools

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.dataset import Dataset

HIDDEN_WORD = "suppressed"
"""What stands in a column of text for a value that was hidden."""
STATUS_SUFFIX = "_status"
TAG_LETTER = "s"
"""Of a tagged missing value, `.s`, in formats that have such."""
HIDDEN_CODES = (-9, -99, -999, -9999, -99999, -999999)
"""Numbers by which SPSS may say that a value was hidden: the first that is none of the data."""
MOST_CODES = 3
"""How many numbers may mean missing in a column for SPSS."""


def has_hidden_cells(dataset: Dataset) -> bool:
    """Whether protection has hidden something in a dataset."""
    return any(np.any(find_hidden_cells(column)) for column in dataset.columns.values())


def encode_hidden(dataset: Dataset, *, has_tags: bool = False, has_codes: bool = False) -> Dataset:
    """The dataset with hidden cells as files have them.

    The format may have tagged missing values, or numbers that are declared to mean missing.

    >>> import pyarrow as pa
    >>> from divulge.data.dataset import Dataset
    >>> from divulge.data.missing_kinds import mark_hidden
    >>> table = pa.table({"town": ["Roma", None], "age": [31, None]})
    >>> encode_hidden(mark_hidden(Dataset.from_arrow(table))).to_arrow().to_pydict()
    {'town': ['Roma', 'suppressed'], 'age': [31, None], 'age_status': [None, 'suppressed']}
    """
    if not has_hidden_cells(dataset):
        return dataset
    word = choose_word(dataset)
    columns: dict[str, Column] = {}
    attributes = dict(dataset.dictionary.attributes)
    for name, column in dataset.columns.items():
        is_hidden = find_hidden_cells(column)
        if not np.any(is_hidden):
            columns[name] = column
        elif _is_text(column.values.type):
            columns[name] = _write_word(column, is_hidden, word)
        elif has_tags and column.tags is not None:
            tags = np.where(is_hidden, np.uint8(ord(TAG_LETTER)), column.tags)
            columns[name] = replace(column, tags=tags)
        elif has_codes and (code := choose_code(column, attributes.get(name))) is not None:
            columns[name] = _write_code(column, is_hidden, code)
            about = attributes.get(name) or Attribute(name)
            attributes[name] = replace(
                about,
                missing=(*about.missing, MissingCode(code, code)),
                labels={**about.labels, code: word},
            )
        else:
            columns[name] = replace(column, tags=None)
            status = choose_status_name(name, dataset.columns)
            columns[status] = _build_status(is_hidden, word)
            attributes[status] = Attribute(status, role="non_identifying")
    return replace(dataset, columns=columns, dictionary=Dictionary(attributes))


def list_marks(
    dataset: Dataset, has_tags: bool, has_codes: bool = False
) -> dict[tuple[str, str], list[str]]:
    """How a file says which cells of which attributes are hidden: the kind of mark, and the mark.

    >>> import pyarrow as pa
    >>> from divulge.data.dataset import Dataset
    >>> from divulge.data.missing_kinds import mark_hidden
    >>> table = pa.table({"town": ["Roma", None], "age": [31, None]})
    >>> list_marks(mark_hidden(Dataset.from_arrow(table)), has_tags=False)
    {('word', 'suppressed'): ['town'], ('status', 'suppressed'): ['age']}
    """
    word = choose_word(dataset)
    marks: dict[tuple[str, str], list[str]] = {}
    for name, column in dataset.columns.items():
        if not np.any(find_hidden_cells(column)):
            continue
        if _is_text(column.values.type):
            mark = "word", word
        elif has_tags:
            mark = "tag", f".{TAG_LETTER}"
        else:
            code = choose_code(column, dataset.dictionary.attributes.get(name))
            mark = ("code", f"{code}") if has_codes and code is not None else ("status", word)
        marks.setdefault(mark, []).append(name)
    return marks


def decode_hidden(dataset: Dataset, word: str) -> Dataset:
    """The dataset that `encode_hidden` was given: words and columns of status become marks.

    >>> import pyarrow as pa
    >>> from divulge.data.dataset import Dataset
    >>> table = pa.table({"age": [31, None], "age_status": [None, "suppressed"]})
    >>> read = decode_hidden(Dataset.from_arrow(table), "suppressed")
    >>> read.names, find_hidden_cells(read.columns["age"]).tolist()
    (['age'], [False, True])
    """
    columns = dict(dataset.columns)
    for status in dataset.names:
        name = _find_marked(status)
        if name is not None and name in columns and _is_status(columns[status], word):
            marks = columns[status]
            is_marked = marks.codes != marks.missing_code
            is_missing = columns[name].codes == columns[name].missing_code
            columns[name] = _mark(columns[name], is_marked & is_missing)
            del columns[status]
    for name, column in list(columns.items()):
        code = _find_declared(dataset.dictionary.attributes.get(name), word)
        if code is not None and code in column.values.to_pylist():
            columns[name] = _read_mark(column, column.values.to_pylist().index(code))
            continue
        if column.tags is not None and word == f".{TAG_LETTER}":
            columns[name] = _mark(column, column.tags == ord(TAG_LETTER))
        texts = column.values.to_pylist() if _is_text(column.values.type) else []
        if word in texts:
            columns[name] = _read_mark(column, texts.index(word))
    return replace(dataset, columns=columns, dictionary=dataset.dictionary.only(columns))


def drop_status_names(names: Sequence[str]) -> list[str]:
    """The names of attributes, without those of columns that say which cells are hidden.

    >>> drop_status_names(["age", "age_status", "marital_status"])
    ['age', 'marital_status']
    """
    present = set(names)
    return [name for name in names if _find_marked(name) not in present]


def _find_marked(status: str) -> str | None:
    """The column whose hidden cells a column of this name may mark."""
    stem = status.rstrip("_")
    name = stem.removesuffix(STATUS_SUFFIX)
    return None if name == stem else name


def choose_word(dataset: Dataset) -> str:
    """A word for what is hidden that no column of text holds."""
    texts = {
        value
        for column in dataset.columns.values()
        if _is_text(column.values.type)
        for value in column.values.to_pylist()
    }
    word = HIDDEN_WORD
    while word in texts:
        word = f"({word})"
    return word


def choose_code(column: Column, about: Attribute | None) -> int | None:
    """A number that no cell of a column of numbers has, to be declared as missing by SPSS.

    None if the column has no such numbers, or has as many codes as SPSS takes.

    >>> import pyarrow as pa
    >>> choose_code(encode_array(pa.array([1, -9])), None)
    -99
    """
    import pyarrow as pa

    kind = column.values.type
    missing = () if about is None else about.missing
    is_number = pa.types.is_signed_integer(kind) or pa.types.is_float64(kind)
    if not is_number or len(missing) >= MOST_CODES or any(c.low != c.high for c in missing):
        return None
    labels = {} if about is None else about.labels
    taken = {*column.values.to_pylist(), *labels, *(c.low for c in missing)}
    return next((code for code in HIDDEN_CODES if code not in taken), None)


def _find_declared(about: Attribute | None, word: str) -> Any:
    """The number that is declared to be missing, and labelled with the word for what is hidden."""
    if about is None:
        return None
    declared = [c.low for c in about.missing if about.labels.get(c.low) == word]
    return declared[0] if declared and not isinstance(declared[0], str) else None


def choose_status_name(name: str, taken: Mapping[str, object]) -> str:
    """The name of the column that says which cells of another are hidden."""
    status = f"{name}{STATUS_SUFFIX}"
    while status in taken:
        status += "_"
    return status


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_status(column: Column, word: str) -> bool:
    return _is_text(column.values.type) and column.values.to_pylist() == [word]


def _write_word(column: Column, is_hidden: Bools, word: str) -> Column:
    import pyarrow as pa

    values = pa.concat_arrays([column.values.cast(pa.string()), pa.array([word])])
    codes = column.codes.astype(np.int64)
    codes[column.codes == column.missing_code] += 1
    codes[is_hidden] = len(values) - 1
    return column_from_codes(codes, values)


def _write_code(column: Column, is_hidden: Bools, code: int) -> Column:
    """The column with a number where values are hidden."""
    import pyarrow as pa

    is_whole = pa.types.is_signed_integer(column.values.type)
    wide = pa.int64() if is_whole else pa.float64()
    values = pa.concat_arrays([column.values.cast(wide), pa.array([code]).cast(wide)])
    codes = column.codes.astype(np.int64)
    codes[column.codes == column.missing_code] += 1
    codes[is_hidden] = len(values) - 1
    return column_from_codes(codes, values)


def _read_mark(column: Column, code: int) -> Column:
    """The column in which the value of this code is hidden."""
    is_hidden = column.codes == code
    codes = column.codes.astype(np.int64)
    codes[is_hidden] = column.missing_code
    return _mark(replace(column_from_codes(codes, column.values), tags=column.tags), is_hidden)


def _build_status(is_hidden: Bools, word: str) -> Column:
    import pyarrow as pa

    return encode_array(pa.array([word if hidden else None for hidden in is_hidden], pa.string()))


def _mark(column: Column, is_hidden: Bools) -> Column:
    tags = np.zeros(len(column.codes), np.uint8) if column.tags is None else column.tags.copy()
    tags[is_hidden] = HIDDEN_TAG
    return replace(column, tags=tags)
