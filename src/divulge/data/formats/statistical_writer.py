"""Writing for SPSS and Stata: what a format cannot hold is said before anything is written."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data.column import Column
from divulge.data.formats.capacity import (
    SPSS,
    STATA,
    Capacity,
    find_nul_problems,
    find_value_problems,
    is_text_kind,
)
from divulge.data.formats.dates.timestamps import to_spss, to_stata
from divulge.data.formats.file_signature import SPSS_COMPRESSED
from divulge.data.formats.file_signature import STATA as STATA_FILE
from divulge.data.formats.names import describe_column, find_name_rule_problems
from divulge.work import DivulgeError, Problem, Problems, filesystem
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.dictionary import Attribute, MissingCode
    from divulge.data.formats.format import EncodedRecords, Options

_TAG = re.compile(r"\.[a-z_]")
_SPSS_TEXT_CODE = 8
"""How many bytes a text that means missing may have in SPSS."""


_HEADER_BYTES = 1024
"""In which the header of a file that we write lies."""
_STATA_TIME = re.compile(
    rb".*?<timestamp>\x11(?P<time>\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d)</timestamp>", re.DOTALL
)
_SPSS_TIME = re.compile(rb"\$FL[23].{88}(?P<time>\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d)", re.DOTALL)
"""The date and, right behind it, the time of day; at a fixed place."""


@dataclass(frozen=True)
class _Bounds:
    """What else one format can hold: how long descriptions and labels may be."""

    capacity: Capacity
    description: int
    label: int


_BOUNDS_OF_SPSS = _Bounds(SPSS, 256, 120)
_BOUNDS_OF_STATA = _Bounds(STATA, 80, 32_000)


def write_statistical(records: EncodedRecords, path: Path, kind: str, options: Options) -> None:  # noqa: ARG001  # text only
    """Write an SPSS or Stata file.

    Raises:
        InvalidInput: with all names, labels and values that the format cannot hold.
    """
    is_stata = kind == STATA_FILE
    bounds = _BOUNDS_OF_STATA if is_stata else _BOUNDS_OF_SPSS
    program = bounds.capacity.program
    columns = {n: _settle_type(c, records.attributes.get(n)) for n, c in records.columns.items()}
    problems = Problems(f"writing for {program}")
    problems.extend("", find_name_rule_problems(list(columns), bounds.capacity.names))
    places = {name: describe_column(name, n) for n, name in enumerate(columns, start=1)}
    for name, column in columns.items():
        place = places[name]
        problems.extend(place, find_value_problems(column, bounds.capacity))
        if is_stata and not _find_tag_letters(column) <= set(string.ascii_lowercase):
            problems.add(place, "Stata tags missing values with letters only.")
    for name, attribute in records.attributes.items():
        find_problems = _find_stata_problems if is_stata else _find_spss_problems
        problems.extend(places[name], _find_length_problems(attribute, bounds))
        problems.extend(places[name], find_problems(attribute, columns[name]))
    problems.raise_any()
    with _translate_errors(program):
        if is_stata:
            _write_stata(columns, records.attributes, path)
        else:
            _write_spss(columns, records.attributes, path, kind == SPSS_COMPRESSED)
    _remove_time_of_writing(path, is_stata)


def _remove_time_of_writing(path: Path, is_stata: bool) -> None:
    """Set a fixed time into the header, so that the same records always give the same file."""
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    time = (_STATA_TIME if is_stata else _SPSS_TIME).match(head)
    if time is not None:
        fixed = b"01 Jan 2000 00:00" if is_stata else b"01 Jan 0000:00:00"
        filesystem.overwrite_bytes(path, time.start("time"), fixed)


def _settle_type(column: Column, attribute: Attribute | None) -> Column:
    """A column as it is written: text has no tags, and one without values may be numbers.

    A column of nothing but missing values has no kind of its own; its tags, labels and codes tell.
    """
    import pyarrow as pa

    if not is_text_kind(column.values.type):
        return column
    if len(column.values):
        return replace(column, tags=None)
    keys = [] if attribute is None else [*attribute.labels, *_list_missing_bounds(attribute)]
    has_number_keys = any(not isinstance(key, str) or _TAG.fullmatch(key) for key in keys)
    is_tagged = column.tags is not None and bool(column.tags.any())
    return (
        replace(column, values=pa.array([], pa.float64()))
        if has_number_keys or is_tagged
        else column
    )


def _find_length_problems(attribute: Attribute, bounds: _Bounds) -> Iterator[Problem]:
    of_stata = bounds is _BOUNDS_OF_STATA
    size: Callable[[str], int] = len if of_stata else lambda text: len(text.encode())
    if size(attribute.description) > bounds.description:
        yield Problem("description", f"is longer than {bounds.description}.")
    if any(size(label) > bounds.label for label in attribute.labels.values()):
        yield Problem("labels", f"one is longer than {bounds.label}.")
    yield from find_nul_problems("description", [attribute.description])
    yield from find_nul_problems("labels", attribute.labels.values())


def _find_stata_problems(attribute: Attribute, column: Column) -> Iterator[Problem]:
    has_text = is_text_kind(column.values.type)
    if not all(
        _is_tag(key, column) or (_is_number(key) and int(key) == key and abs(key) < 2**31)
        for key in attribute.labels
    ) or (has_text and attribute.labels):
        yield Problem("labels", "Stata labels whole numbers and tagged missing values only.")


def _find_spss_problems(attribute: Attribute, column: Column) -> Iterator[Problem]:
    has_text = is_text_kind(column.values.type)
    keys = [key for key in attribute.labels if not _is_tag(key, column)]
    if has_text and any("\0" in str(key) or str(key).endswith(" ") for key in keys):
        yield Problem("labels", "one is of a text that SPSS does not allow.")
    if not has_text and not all(map(_is_number, keys)):
        yield Problem("labels", "SPSS labels numbers and texts only.")
    ranges = sum(code.low != code.high for code in attribute.missing)
    if ranges > 1 or len(attribute.missing) > (2 if ranges else 3):
        message = "SPSS takes three values that mean missing, or a range and one value."
        yield Problem("missing", message)
    if has_text and (
        ranges
        or any(len(str(e).encode()) > _SPSS_TEXT_CODE for e in _list_missing_bounds(attribute))
    ):
        message = f"SPSS takes single texts of at most {_SPSS_TEXT_CODE} bytes to mean missing."
        yield Problem("missing", message)
    if not has_text and not all(
        isinstance(end, int | float) for end in _list_missing_bounds(attribute)
    ):
        yield Problem("missing", "SPSS takes numbers and texts only to mean missing.")


@contextmanager
def _translate_errors(program: str) -> Iterator[None]:
    """What the writer itself refuses after all, in our words: its own may quote the data."""
    import pyreadstat

    try:
        yield
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
        message = f"{program}'s format cannot store these records; write them in another one"
        raise DivulgeError(message) from None


def _write_stata(
    columns: Mapping[str, Column], attributes: Mapping[str, Attribute], path: Path
) -> None:
    import pyreadstat

    tags_by_name = {
        n: tags for n, c in columns.items() if (tags := _list_tags(c, attributes.get(n)))
    }
    arrays = {name: _to_writable_array(column, to_stata) for name, column in columns.items()}
    labels = {n: _build_value_labels(a, columns[n], int) for n, a in attributes.items() if a.labels}
    pyreadstat.write_dta(
        _build_frame(
            arrays, {name: _insert_tags(arrays[name], columns[name]) for name in tags_by_name}
        ),
        path,
        missing_user_values=tags_by_name,
        variable_format=dict.fromkeys(_list_timestamp_columns(columns), "%tc"),
        column_labels=_list_descriptions(attributes),
        variable_value_labels=labels,
    )


def _write_spss(
    columns: Mapping[str, Column], attributes: Mapping[str, Attribute], path: Path, compress: bool
) -> None:
    import pyreadstat

    labels = {}
    for name, attribute in attributes.items():
        # SPSS has no tags, and so no labels of them.
        untagged_labels = {
            k: v for k, v in attribute.labels.items() if not _is_tag(k, columns[name])
        }
        number = int if _is_truth(columns[name]) else float
        labels[name] = _build_value_labels(
            replace(attribute, labels=untagged_labels), columns[name], number
        )
    pyreadstat.write_sav(
        _build_frame(
            {name: _to_writable_array(column, to_spss) for name, column in columns.items()}, {}
        ),
        path,
        variable_format=dict.fromkeys(_list_timestamp_columns(columns), "DATETIME20"),
        missing_ranges={
            n: [_to_missing_range(m) for m in a.missing] for n, a in attributes.items() if a.missing
        },
        compress=compress,
        column_labels=_list_descriptions(attributes),
        variable_value_labels={
            name: value_labels for name, value_labels in labels.items() if value_labels
        },
    )


def _list_descriptions(attributes: Mapping[str, Attribute]) -> dict[str, str | None]:
    return {
        name: attribute.description
        for name, attribute in attributes.items()
        if attribute.description
    }


def _build_value_labels(
    attribute: Attribute, column: Column, to_number: Callable[[Any], int | float]
) -> dict[Any, str]:
    """Value labels as the writer wants them: by letter, by text, or by numbers of one kind."""
    value_labels: dict[Any, str] = {}
    for key, label in attribute.labels.items():
        if _is_tag(key, column):
            value_labels[key[1:]] = label
        else:
            value_labels[str(key) if is_text_kind(column.values.type) else to_number(key)] = label
    return value_labels


def _is_tag(key: Any, column: Column) -> bool:
    text = is_text_kind(column.values.type)
    return isinstance(key, str) and not text and bool(_TAG.fullmatch(key))


def _is_number(key: Any) -> bool:
    return isinstance(key, int | float) and bool(np.isfinite(key))


def _is_truth(column: Column) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_boolean(column.values.type))


def _list_missing_bounds(attribute: Attribute) -> list[Any]:
    """The values that mean missing, and those at the ends of ranges that do."""
    return [end for code in attribute.missing for end in (code.low, code.high)]


def _to_missing_range(code: MissingCode) -> Any:
    low, high = (int(end) if isinstance(end, bool) else end for end in (code.low, code.high))
    return low if low == high else {"lo": low, "hi": high}


def _find_tag_letters(column: Column) -> set[str]:
    """The tags of missing values."""
    if column.tags is None or not column.has_missing:
        return set()
    tags = np.unique(column.tags[column.codes == column.missing_code])
    return {chr(tag) for tag in tags if tag}


def _list_tags(column: Column, attribute: Attribute | None) -> list[str]:
    """The letters of a column's missing values, and those that have a label."""
    labels = {} if attribute is None else attribute.labels
    return sorted(_find_tag_letters(column) | {key[1:] for key in labels if _is_tag(key, column)})


def _list_timestamp_columns(columns: Mapping[str, Column]) -> list[str]:
    import pyarrow as pa

    return [n for n, column in columns.items() if pa.types.is_timestamp(column.values.type)]


def _build_frame(arrays: Mapping[str, pa.Array], mixed: Mapping[str, list[Any]]) -> Any:
    """A data frame, which is what the writer takes; polars or pandas, whichever is there."""
    import pyarrow as pa

    try:
        import polars as pl

        frame = pl.from_arrow(pa.table(arrays))
        assert isinstance(frame, pl.DataFrame)  # noqa: S101  # a table never gives a series
        objects = [pl.Series(name, values, dtype=pl.Object) for name, values in mixed.items()]
        return frame.with_columns(objects) if objects else frame
    except ImportError:
        pass
    try:
        import pandas as pd
    except ImportError:
        message = "writing for SPSS and Stata needs a data frame: pip install divulge[frames]"
        raise DivulgeError(message) from None
    table = pa.table(arrays).to_pandas(date_as_object=True)
    for name, values in mixed.items():
        table[name] = pd.Series(values, dtype=object)
    return table


def _insert_tags(array: pa.Array, column: Column) -> list[Any]:
    """Values with the letters of tagged missing ones among them."""
    values: list[Any] = array.to_pylist()
    if column.tags is None:
        return values
    return [chr(t) if t and v is None else v for v, t in zip(values, column.tags, strict=True)]


def _to_writable_array(column: Column, to_program_time: Callable[[Ints], Floats]) -> pa.Array:
    """The values in the order of the records, of a kind that the writer takes as it is."""
    import pyarrow as pa

    kind = column.values.type
    if is_text_kind(kind):
        return column.to_arrow().fill_null("")
    values = column.values
    if pa.types.is_decimal(kind) or pa.types.is_uint64(kind):
        values = values.cast(pa.float64())
    elif pa.types.is_timestamp(kind):
        ticks = values.cast(pa.timestamp("us")).view(pa.int64()).to_numpy()
        values = pa.array(to_program_time(ticks))
    elif pa.types.is_time(kind):
        values = values.cast(pa.time64("us"))
    elif pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    return replace(column, values=values).to_arrow()
