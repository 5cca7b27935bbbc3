"""What the files of SPSS, Stata and SAS can hold, told before anything is written.

Their writers cut text at a NUL character, drop blanks at its end, round numbers and moments, or
take a value for a missing one, and say nothing. Records that differ would then be alike, and what
is published would not be what was judged. So a value either comes back as it was, or is refused
here, by the name of its column. The names themselves are looked after in `names`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from divulge.data.formats.dates.timestamps import from_spss, from_stata, to_spss, to_stata
from divulge.data.formats.names import SAS_NAMES, SPSS_NAMES, STATA_NAMES, NameRules
from divulge.work import Problem
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.column import Column

LAST_DAY = dt.date(9999, 12, 31)
MAX_EXACT_INTEGER = 2**53
"""Whole numbers beyond it are rounded by formats that hold all numbers as floating ones."""


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """What one program's files hold: names, columns, texts, numbers, days and moments."""

    program: str
    names: NameRules
    text_bytes: int
    keeps_blanks: bool
    least: float
    largest: float
    infinite: bool
    first_day: dt.date
    moments: Callable[[Ints], Ints]
    """What is read again of moments, in microseconds since 1970."""
    finest: str
    """The part of time of which every multiple is kept."""
    times: bool


SPSS = Capacity(
    program="SPSS",
    names=SPSS_NAMES,
    text_bytes=32_767,
    keeps_blanks=False,
    # The two lowest and the highest double mean missing, "lowest" and "highest".
    least=float(np.nextafter(np.nextafter(-np.finfo(np.float64).max, 0), 0)),
    largest=float(np.nextafter(np.finfo(np.float64).max, 0)),
    infinite=True,
    first_day=dt.date(1582, 10, 15),
    moments=lambda ticks: from_spss(to_spss(ticks)),
    finest="second",
    times=True,
)
STATA = Capacity(
    program="Stata",
    names=STATA_NAMES,
    text_bytes=2_000_000_000,
    keeps_blanks=True,
    # Larger doubles mean `.`, `.a` to `.z`.
    least=-8.9884656743115785e307,
    largest=8.9884656743115785e307,
    infinite=False,
    first_day=dt.date(100, 1, 1),
    moments=lambda ticks: from_stata(to_stata(ticks)),
    finest="millisecond",
    times=False,
)
SAS = Capacity(
    program="SAS",
    names=SAS_NAMES,
    text_bytes=32_767,
    keeps_blanks=False,
    # What the numbers of old IBM machines hold is known where they are made.
    least=-np.inf,
    largest=np.inf,
    infinite=False,
    first_day=dt.date(1582, 1, 1),
    # What comes back is asked of our own reader, where they are written.
    moments=lambda ticks: ticks,
    finest="microsecond",
    times=True,
)


def find_value_problems(column: Column, capacity: Capacity) -> Iterator[Problem]:
    """What a column holds that would not come back as it was; never a value itself.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> [problem.message for problem in find_value_problems(encode_array(pa.array(["a "])), SPSS)]
    ['contains text that ends with a blank, which SPSS drops.']
    """
    import pyarrow as pa

    kind, values = column.values.type, column.values
    if len(values) == 0:
        return
    if is_text_kind(kind):
        messages = _describe_text_loss(values, capacity)
    elif pa.types.is_integer(kind):
        messages = _describe_integer_loss(values, capacity)
    elif pa.types.is_floating(kind):
        messages = _describe_float_loss(values, capacity)
    elif pa.types.is_decimal(kind):
        messages = _describe_decimal_loss(values, capacity)
    elif pa.types.is_date(kind):
        messages = _describe_date_loss(values, capacity)
    elif pa.types.is_timestamp(kind):
        messages = _describe_timestamp_loss(values, capacity)
    elif pa.types.is_time(kind):
        messages = _describe_time_loss(values, capacity)
    else:  # truth values are 0 and 1
        return
    for message in messages:
        yield Problem("", message)


def find_nul_problems(place: str, words: Iterable[str]) -> Iterator[Problem]:
    """Descriptions and labels that would be cut at a NUL character."""
    if any("\0" in text for text in words):
        yield Problem(place, "contains a NUL character, at which text is cut.")


def is_text_kind(kind: pa.DataType) -> bool:
    """Whether a column of this kind holds text.

    >>> import pyarrow as pa
    >>> is_text_kind(pa.large_string()), is_text_kind(pa.int64())
    (True, False)
    """
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _describe_text_loss(values: pa.Array, capacity: Capacity) -> Iterator[str]:
    import pyarrow.compute as pc

    program = capacity.program
    if _is_any_true(pc.match_substring(values, "\0")):
        yield f"contains text with a NUL character, at which {program} cuts it."
    if _is_any_true(pc.equal(pc.binary_length(values), 0)):
        yield f"contains an empty text, which {program} cannot tell from a missing one."
    if not capacity.keeps_blanks and _is_any_true(pc.ends_with(values, " ")):
        yield f"contains text that ends with a blank, which {program} drops."
    if pc.max(pc.binary_length(values)).as_py() > capacity.text_bytes:
        yield f"contains text longer than {capacity.text_bytes:,} bytes."


def _describe_integer_loss(values: pa.Array, capacity: Capacity) -> Iterator[str]:
    import pyarrow.compute as pc

    ends = pc.min_max(values).as_py()
    if max(abs(ends["min"]), abs(ends["max"])) > MAX_EXACT_INTEGER:
        yield f"{capacity.program} rounds whole numbers above 2^53."


def _describe_float_loss(values: pa.Array, capacity: Capacity) -> Iterator[str]:
    numbers = values.to_numpy(zero_copy_only=False)
    finite = numbers[np.isfinite(numbers)]
    if len(finite) < len(numbers) and not capacity.infinite:
        yield f"contains an infinite number, which {capacity.program} does not know."
    if np.any((finite < capacity.least) | (finite > capacity.largest)):
        yield f"contains a number that is too large for {capacity.program}."


def _describe_decimal_loss(values: pa.Array, capacity: Capacity) -> Iterator[str]:
    import pyarrow as pa

    floats = values.cast(pa.float64()).to_pylist()
    if any(Decimal(repr(h)) != v for h, v in zip(floats, values.to_pylist(), strict=True)):
        yield f"{capacity.program} rounds decimal numbers of so many digits."


def _describe_date_loss(values: pa.Array, capacity: Capacity) -> Iterator[str]:
    import pyarrow as pa

    days = values.cast(pa.date32()).view(pa.int32()).to_numpy()
    if np.any((days < _to_unix_day(capacity.first_day)) | (days > _to_unix_day(LAST_DAY))):
        yield _describe_date_range(capacity)


def _describe_timestamp_loss(values: pa.Array, capacity: Capacity) -> Iterator[str]:
    import pyarrow as pa

    if values.type.tz:
        yield f"{capacity.program} knows no time zones."
        return
    try:
        ticks = values.cast(pa.timestamp("us")).view(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        yield f"{capacity.program} rounds moments finer than a microsecond."
        return
    days = ticks // (86_400 * 10**6)
    if np.any((days < _to_unix_day(capacity.first_day)) | (days > _to_unix_day(LAST_DAY))):
        yield _describe_date_range(capacity)
    elif not np.array_equal(capacity.moments(ticks), ticks):
        yield f"{capacity.program} rounds some moments that are finer than a {capacity.finest}."


def _describe_time_loss(values: pa.Array, capacity: Capacity) -> Iterator[str]:
    import pyarrow as pa

    if not capacity.times:
        yield f"{capacity.program} knows no times of day without a date."
        return
    try:
        values.cast(pa.time64("us"))
    except pa.ArrowInvalid:
        yield f"{capacity.program} rounds times finer than a microsecond."


def _describe_date_range(capacity: Capacity) -> str:
    return f"{capacity.program} knows dates from {capacity.first_day} to {LAST_DAY} only."


def _to_unix_day(day: dt.date) -> int:
    return (day - dt.date(1970, 1, 1)).days


def _is_any_true(truths: pa.Array) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(truths).as_py())
