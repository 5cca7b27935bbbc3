"""Values as hierarchies write them, and rules for dates and codes: where any value goes."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from divulge.data.hierarchy_tables import Ancestors
from divulge.work import DivulgeError, Problems

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


_DATE_LEVELS: dict[str, Callable[[dt.datetime], str]] = {
    "hour": lambda when: when.strftime("%Y-%m-%d %H"),
    "day": lambda when: when.strftime("%Y-%m-%d"),
    "week": lambda when: "{}-W{:02}".format(*when.isocalendar()[:2]),
    "month": lambda when: when.strftime("%Y-%m"),
    "quarter": lambda when: f"{when.year}-Q{(when.month + 2) // 3}",
    "year": lambda when: f"{when.year}",
    "decade": lambda when: f"{when.year // 10}0s",
}


def make_date_rule(levels: Sequence[str]) -> Callable[[Any], Ancestors | None]:
    """Dates, times and ISO text to calendar units, finest first."""
    order = list(_DATE_LEVELS)
    problems = Problems("dates")
    for level in levels:
        if level not in order:
            problems.add("", f'"{level}" is not a unit.', value=level, allowed=order)
    problems.raise_any()
    places = [order.index(level) for level in levels]
    if not places or places != sorted(set(places)):
        raise DivulgeError(f"dates: give units from fine to coarse, of: {', '.join(order)}")
    if "week" in levels[:-1]:
        raise DivulgeError("dates: a week can lie in two months, so nothing comes above it")

    def find_ancestors(value: Any) -> Ancestors | None:
        when = _parse_datetime(value)
        return None if when is None else tuple(_DATE_LEVELS[level](when) for level in levels)

    return find_ancestors


def _parse_datetime(value: Any) -> dt.datetime | None:
    if isinstance(value, dt.datetime):
        return value
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time())
    try:
        return dt.datetime.fromisoformat(str(value))
    except ValueError:
        return None


def make_prefix_rule(lengths: Sequence[int]) -> Callable[[Any], Ancestors | None]:
    """Codes to their first characters, longest first; what is cut off becomes a star."""
    if not lengths or list(lengths) != sorted(set(lengths), reverse=True) or lengths[-1] < 0:
        raise DivulgeError("prefixes: give lengths that fall, none below 0, such as 4, 2")

    def find_ancestors(value: Any) -> Ancestors:
        text = format_value(value)
        return tuple(text if len(text) <= n else f"{text[:n]}*" for n in lengths)

    return find_ancestors
