"""Types of text columns, told from all their distinct values at once."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from divulge.data import tuning
from divulge.data.column import Column, replace_values

if TYPE_CHECKING:
    import pyarrow as pa

# A whole number is written without leading zeros: "007" is a code, and so is a postcode "01234".
_WHOLE = r"^-?(0|[1-9][0-9]{0,18})$"
# Programs write exponents with their sign (1e-05); "1E5" is rather a code.
_DECIMAL = r"^-?((0|[1-9][0-9]*)(\.[0-9]+)?|\.[0-9]+)([eE][+-][0-9]{1,3})?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$"
_TRUTH = r"^(true|false|True|False|TRUE|FALSE)$"


class NoSuchDate(ValueError):
    """A column of dates holds one that no calendar has; `place` is that value's place."""

    def __init__(self, place: int) -> None:
        self.place = place
        super().__init__("a date that does not exist")


def infer_type(column: Column) -> Column:
    """The same column as numbers, dates or truth values if every value is one; else as text.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> infer_type(encode_array(pa.array(["9", None, "10"]))).to_arrow().to_pylist()
    [9, None, 10]
    >>> infer_type(encode_array(pa.array(["007", "10"]))).to_arrow().to_pylist()
    ['007', '10']
    """
    import pyarrow as pa

    kinds = (
        (_WHOLE, pa.int64()),
        (_DECIMAL, pa.float64()),
        (_TRUTH, pa.bool_()),
        (_DATE, pa.date32()),
        (_MOMENT, pa.timestamp("us")),
    )
    if len(column.values) == 0:
        return column
    for pattern, kind in kinds:
        if all_match(column.values, pattern):
            try:
                # A sign alone is like a number and is none: then too, all is text.
                if pattern == _DECIMAL and not _are_distinct_as_floats(column.values):
                    return column
                return replace_values(column, column.values.cast(kind))
            except pa.ArrowInvalid:
                if pattern in (_DATE, _MOMENT):
                    raise NoSuchDate(_find_first_invalid(column.values, kind)) from None
                return column
    return column


def all_match(values: pa.Array, pattern: str) -> bool:
    """Whether every text matches, and none is empty."""
    import pyarrow.compute as pc

    if len(values) <= tuning.MAX_RECORDS_ENCODED_SINGLY:
        match = re.compile(pattern).fullmatch
        return all(text and match(text) for text in values.to_pylist())
    # Most columns of text are told by their first value.
    first = values.slice(0, 1)
    if not pc.all(pc.match_substring_regex(first, pattern)).as_py():
        return False
    has_no_empty_text = pc.all(pc.greater(pc.utf8_length(values), 0)).as_py()
    return bool(has_no_empty_text and pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _are_distinct_as_floats(numbers: pa.Array) -> bool:
    """Whether different numbers stay different, and finite, as floating numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(numbers) <= tuning.MAX_RECORDS_ENCODED_SINGLY:
        return _are_few_distinct_as_floats(numbers.to_pylist())
    if not pc.any(pc.match_substring_regex(numbers, r"[.eE]")).as_py():
        return False  # whole numbers, too long for one: codes
    floating = numbers.cast(pa.float64())
    if not pc.all(pc.is_finite(floating)).as_py():
        return False
    distinct_floats = len(pc.unique(floating))
    # 1.5 and 1.50 become one because they are one; other numbers may not.
    return distinct_floats == len(numbers) or distinct_floats == len(
        {Decimal(n) for n in numbers.to_pylist()}
    )


def _are_few_distinct_as_floats(numbers: Sequence[str]) -> bool:
    """The same of a few, one by one."""
    if not any(mark in number for number in numbers for mark in ".eE"):
        return False
    try:
        floating = set(map(float, numbers))
    except ValueError:  # a sign or an exponent alone: no number, as the cast will find
        return True
    if not all(map(math.isfinite, floating)):
        return False
    return len(floating) in (len(numbers), len(set(map(Decimal, numbers))))


def _find_first_invalid(values: pa.Array, kind: pa.DataType) -> int:
    """The place of the first text that is none of this kind."""
    import pyarrow as pa

    for place in range(len(values)):
        try:
            values.slice(place, 1).cast(kind)
        except pa.ArrowInvalid:
            return place
    return 0
