"""Values as text: as hierarchy files write them, and alike in two files of the same values."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from divulge.data.column import Column

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def format_value(value: Any) -> str:
    """A value as a hierarchy file writes it.

    >>> format_value(25), format_value(25.0), format_value("F"), format_value(True)
    ('25', '25', 'F', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def match_value_texts(ours: Column, theirs: Column) -> tuple[list[str], list[str]]:
    """The values of two columns as texts that are the same where the values are.

    In a file with a word among them, or without fractions, the same numbers are written otherwise:
    if one column holds numbers, the texts of the other are taken for these.

    >>> import pyarrow as pa
    >>> from divulge.data import Dataset
    >>> of = [pa.table({"x": [1.0, 2.5]}), pa.table({"x": ["1.0", "low"]}), pa.table({"x": [1]})]
    >>> floats, texts, integers = (Dataset.from_arrow(table).columns["x"] for table in of)
    >>> match_value_texts(floats, texts), match_value_texts(texts, integers)
    ((['1', '2.5'], ['1', 'low']), (['1.0', 'low'], ['1.0']))
    """
    our_values = ours.values.to_pylist()
    our_texts = [format_value(value) for value in our_values]
    their_values = theirs.values.to_pylist()
    if all(isinstance(value, str) for value in [*our_values, *their_values]):
        return our_texts, their_values
    text_by_number = {
        _format_as_number(value): text for value, text in zip(our_values, our_texts, strict=True)
    }
    return our_texts, [
        text_by_number.get(_format_as_number(value), format_value(value)) for value in their_values
    ]


def _format_as_number(value: Any) -> str:
    """A value, or the number that it says, as text."""
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return value
    is_whole = isinstance(value, int) or (isinstance(value, str) and value.lstrip("+-").isdecimal())
    if isinstance(value, str | Decimal | float):
        return str(int(value)) if is_whole else format_value(float(value))
    return format_value(value)
