"""How a value finds its coarser ones: by rows of a file, by pairs, or by a rule.

A ladder is what a value becomes at levels 1, 2, ... of a hierarchy. All ladders of a hierarchy
nest: two values that are one at some level are one at every level above.
"""

from __future__ import annotations

import csv
import datetime as dt
import itertools
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge.work import DivulgeError, InvalidInput, Problem, Problems, input_file

if TYPE_CHECKING:
    from divulge.data.column import Column

Ancestors = tuple[str, ...]
MAX_PROBLEMS_SHOWN = 10
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


def read_level_rows(path: Path, separator: str) -> list[list[str]]:
    """The rows of a file of levels."""
    if len(separator) != 1:
        message = "the separator must be one character."
        raise InvalidInput(str(path), [Problem("separator", message)])
    try:
        text = input_file(path).read_text(encoding="utf-8-sig")
        return [row for row in csv.reader(text.splitlines(), delimiter=separator) if row]
    except (OSError, UnicodeDecodeError):
        message = "cannot be read as UTF-8 text."
        raise InvalidInput(str(path), [Problem("", message)]) from None
    except (csv.Error, TypeError, ValueError):  # a separator that is a quotation mark or a line end
        message = "cannot be cut into levels; look at its separator and quotation marks."
        raise InvalidInput(str(path), [Problem("", message)]) from None


def build_table_from_rows(
    rows: Iterable[Sequence[str]], problems: Problems
) -> dict[str, Ancestors]:
    """A table of ladders from rows `value, coarser, coarser`; the problems name the rows."""
    table: dict[str, Ancestors] = {}
    parent: dict[tuple[int, str], str] = {}
    width: int | None = None
    for number, row in enumerate(rows, start=1):
        if len(problems) >= MAX_PROBLEMS_SHOWN:
            break
        width = len(row) if width is None else width
        if not row:
            problems.add(f"row {number}", "is empty.")
            continue
        value, *coarser = row
        ancestors = tuple(coarser)
        if len(row) != width:
            problems.add(f"row {number}", f"has {len(row)} levels where row 1 has {width}.")
            continue
        if table.get(value, ancestors) != ancestors:
            problems.add(f"row {number}", "gives other levels for a value that stands above.")
        for level, (here, above) in enumerate(itertools.pairwise(ancestors), start=1):
            if parent.setdefault((level, here), above) != above:
                message = f"one value of level {level} goes to two values of level {level + 1}."
                problems.add(f"row {number}", message)
        table[value] = ancestors
    if width is None:
        problems.add("", "is empty; a hierarchy has one value a line: value;coarser;coarser")
    problems.raise_any()
    return table


def build_table_from_pairs(
    pairs: Iterable[tuple[str, str]], problems: Problems
) -> dict[str, Ancestors]:
    """A table of ladders from pairs (value, parent); short chains repeat their last step."""
    parent: dict[str, str] = {}
    for child, above in pairs:
        if parent.setdefault(child, above) != above:
            problems.add("pairs", "one value has two parents.")
    parents = set(parent.values())
    table: dict[str, Ancestors] = {}
    for leaf in (child for child in parent if child not in parents):
        chain = [leaf]
        while chain[-1] in parent and len(chain) <= len(parent):
            chain.append(parent[chain[-1]])
        table[leaf] = tuple(chain[1:])
    if any(ancestors[-1] in parent for ancestors in table.values()) or (parent and not table):
        problems.add("pairs", "go round in a circle.")
    problems.raise_any()
    height = max(map(len, table.values()), default=0)
    return {leaf: (*steps, *steps[-1:] * (height - len(steps))) for leaf, steps in table.items()}


def make_interval_rule(levels: Sequence[Sequence[float]]) -> Callable[[Any], Ancestors | None]:
    """Numbers to intervals [low, high); edges of a coarser level are edges of the finer."""
    if not levels:
        raise DivulgeError("intervals: give the edges of at least one level")
    for level, edges in enumerate(levels, start=1):
        if not all(math.isfinite(edge) for edge in edges):
            raise DivulgeError(f"intervals: an edge of level {level} is no finite number")
        if list(edges) != sorted(set(edges)) or not edges:
            raise DivulgeError(f"intervals: the edges of level {level} must rise")
        if level > 1 and not set(edges) <= set(levels[level - 2]):
            message = f"intervals: every edge of level {level} must be an edge of the level below"
            raise DivulgeError(message)

    def find_ancestors(value: Any) -> Ancestors | None:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            return None
        return None if math.isnan(number) else tuple(_format_interval(number, e) for e in levels)

    return find_ancestors


def _format_interval(number: float, edges: Sequence[float]) -> str:
    place = bisect_right(edges, number)
    if place == 0:
        return f"< {format_value(edges[0])}"
    if place == len(edges):
        return f">= {format_value(edges[-1])}"
    return f"[{format_value(edges[place - 1])}, {format_value(edges[place])})"


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
