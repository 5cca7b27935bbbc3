"""Writing for SPSS and Stata: what a format cannot hold is said before anything is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data.column import Column
from divulge.data.formats.contents import SPSS_COMPRESSED, STATA
from divulge.work import DivulgeError, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.dictionary import Attribute
    from divulge.data.formats import Options, Records


@dataclass(frozen=True)
class _Bounds:
    """What names and labels may be in one format."""

    program: str
    name: re.Pattern[str]
    names_are: str
    description: int
    label: int


_SPSS = _Bounds(
    "SPSS",
    re.compile(r"^[^\W\d_][\w.$#@]{0,63}$"),
    "begin with a letter and hold letters, digits, and . _ $ # @, at most 64",
    256,
    120,
)
_STATA = _Bounds(
    "Stata",
    re.compile(r"^[^\W\d]\w{0,31}$"),
    "begin with a letter and hold letters, digits and _, at most 32",
    80,
    32_000,
)


def write(records: Records, path: Path, kind: str, options: Options) -> None:  # noqa: ARG001  # text only
    """Write an SPSS or Stata file.

    Raises:
        InvalidInput: with all names, labels and values that the format cannot hold.
    """
    import pyreadstat

    stata = kind == STATA
    bounds = _STATA if stata else _SPSS
    problems = Problems(f"writing for {bounds.program}")
    _check_names(records, bounds, problems)
    for name, column in records.columns.items():
        problems.extend(f'column "{name}"', _problems_with_values(column, bounds, stata))
    for name, about in records.said.items():
        place = f'column "{name}"'
        problems.extend(place, _problems_with_labels(about, records.columns[name], bounds, stata))
    problems.raise_any()
    given: dict[str, Any] = {
        "column_labels": {n: a.description for n, a in records.said.items() if a.description},
        "variable_value_labels": {
            n: _labels(a, records.columns[n], stata) for n, a in records.said.items() if a.labels
        },
    }
    if stata:
        tagged = {name: _tags(name, records) for name in records.columns if _tags(name, records)}
        frame = _frame(records, tagged)
        pyreadstat.write_dta(frame, path, missing_user_values=tagged, **given)
    else:
        ranges = {n: [_range(m) for m in a.missing] for n, a in records.said.items() if a.missing}
        compress = kind == SPSS_COMPRESSED
        frame = _frame(records, ())
        pyreadstat.write_sav(frame, path, missing_ranges=ranges, compress=compress, **given)


def _check_names(records: Records, bounds: _Bounds, problems: Problems) -> None:
    seen: dict[str, str] = {}
    for name in records.columns:
        if not bounds.name.match(name):
            problems.add(f'column "{name}"', f"names {bounds.names_are}.")
        if bounds.program == "SPSS" and seen.setdefault(name.lower(), name) != name:
            problems.add(f'column "{name}"', f'differs from "{seen[name.lower()]}" only by case.')


def _problems_with_values(column: Column, bounds: _Bounds, stata: bool) -> Iterator[Problem]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if pa.types.is_integer(kind) and len(column.values):
        ends = pc.min_max(column.values).as_py()
        if max(abs(ends["min"]), abs(ends["max"])) > 2**53:
            yield Problem("", f"{bounds.program} rounds whole numbers above 2^53.")
    if pa.types.is_timestamp(kind) and kind.tz:
        yield Problem("", f"{bounds.program} knows no time zones.")
    if stata and pa.types.is_time(kind):
        yield Problem("", "Stata knows no times of day without a date.")


def _problems_with_labels(
    about: Attribute, column: Column, bounds: _Bounds, stata: bool
) -> Iterator[Problem]:
    size: Callable[[str], int] = len if stata else lambda text: len(text.encode())
    if size(about.description) > bounds.description:
        yield Problem("description", f"is longer than {bounds.description}.")
    if any(size(label) > bounds.label for label in about.labels.values()):
        yield Problem("labels", f"one is longer than {bounds.label}.")
    if stata and not all(
        (isinstance(key, int) and abs(key) < 2**31) or _is_tag(key, column) for key in about.labels
    ):
        yield Problem("labels", "Stata labels whole numbers and tagged missing values only.")
    if not stata and about.missing:
        ranges = sum(code.low != code.high for code in about.missing)
        if ranges > 1 or len(about.missing) > (2 if ranges else 3):
            message = "SPSS takes three values that mean missing, or a range and one value."
            yield Problem("missing", message)


def _labels(about: Attribute, column: Column, stata: bool) -> Mapping[Any, str]:
    """Value labels as the writer wants them: SPSS has no tags, Stata none but letters."""
    found: dict[Any, str] = {}
    for key, label in about.labels.items():
        if _is_tag(key, column):
            if stata:
                found[key[1:]] = label
        else:
            found[float(key) if isinstance(key, int) and not stata else key] = label
    return found


def _is_tag(key: Any, column: Column) -> bool:
    import pyarrow as pa

    return isinstance(key, str) and not pa.types.is_string(column.values.type) and len(key) == 2


def _range(code: Any) -> Any:
    return code.low if code.low == code.high else {"lo": code.low, "hi": code.high}


def _tags(name: str, records: Records) -> list[str]:
    """The letters of a column's missing values, and those that have a label."""
    column = records.columns[name]
    found = set() if column.tags is None else {chr(tag) for tag in np.unique(column.tags) if tag}
    labels = records.said[name].labels if name in records.said else {}
    return sorted(found | {key[1:] for key in labels if _is_tag(key, column)})


def _frame(records: Records, tagged: Iterable[str]) -> Any:
    """A data frame, which is what the writer takes; polars or pandas, whichever is there."""
    import pyarrow as pa

    arrays = {name: _writable(column.to_arrow()) for name, column in records.columns.items()}
    mixed = {name: _mixed(records.columns[name]) for name in tagged}
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


def _mixed(column: Column) -> list[Any]:
    """Values with the letters of tagged missing ones among them."""
    values: list[Any] = column.to_arrow().to_pylist()
    if column.tags is None:
        return values
    return [chr(t) if t and v is None else v for v, t in zip(values, column.tags, strict=True)]


def _writable(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_decimal(kind) or pa.types.is_uint64(kind):
        return array.cast(pa.float64())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array.fill_null("")
    return array.cast(pa.int8()) if pa.types.is_boolean(kind) else array
