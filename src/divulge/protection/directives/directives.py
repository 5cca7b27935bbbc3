"""Directives: what people who know the business say must be done or left, whatever the risk.

They come as plain tables, each row with the name of the rule that it is from: cells to keep or to
hide, records to remove, least levels of recoding, thresholds of single records, and what is to be
changed first. What is to be hidden, removed or made coarser goes before what is to be kept, since
what was published cannot be taken back. Whatever cannot be obeyed is told, and nothing is left out
silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from divulge.work import Problem, Problems, checks


class CellDirective(NamedTuple):
    """A cell that is kept, or hidden."""

    record: Any
    attribute: str
    rule: str | None = None


class RecordDirective(NamedTuple):
    """A record that is removed."""

    record: Any
    rule: str | None = None


class LevelDirective(NamedTuple):
    """An attribute that is made coarser, to a level of its hierarchy at the least."""

    attribute: str
    level: int
    rule: str | None = None


class ThresholdDirective(NamedTuple):
    """A record's own limit: a risk (up to 1), or how many must look alike (above 1)."""

    record: Any
    threshold: float
    rule: str | None = None


class PreferenceDirective(NamedTuple):
    """An attribute or a method that comes before those of a higher rank."""

    name: str
    rank: float
    rule: str | None = None


class OrderDirective(NamedTuple):
    """Which records are changed first."""

    order: str
    rule: str | None = None


@dataclass(frozen=True, kw_only=True)
class Directives:
    """What must be done or left, as tables of rows; the last of each row may name its rule.

    Args:
        keep: (record, attribute): cells that are never changed.
        hide: (record, attribute): cells that are hidden first, whatever the risk.
        remove: (record,): records that are removed first.
        recode: (attribute, level): attributes that are made coarser to that level at the least.
        threshold: (record, threshold): a record's own limit instead of the bound of limits on the
            risk of records: a risk, or (above 1) how many must look alike.
        prefer: (attribute, rank): attributes that are changed first, the smallest rank first.
        order: (order,): which records are changed first, `weight` or `risk` ("less significant
            first", "most risky first").
        methods: (method, rank): which method is tried first.
        on: the attribute whose values name records; their number (from 0) if None.

    >>> Directives(keep=[(3, "Area", "listed companies")]).keep[0].rule
    'listed companies'
    """

    keep: Sequence[Any] = ()
    hide: Sequence[Any] = ()
    remove: Sequence[Any] = ()
    recode: Sequence[Any] = ()
    threshold: Sequence[Any] = ()
    prefer: Sequence[Any] = ()
    order: Sequence[Any] = ()
    methods: Sequence[Any] = ()
    on: str | None = None

    def __post_init__(self) -> None:
        problems = Problems("directives")
        for name, kind in _KINDS.items():
            rows = list(_read_rows(getattr(self, name)))
            most, least = len(kind._fields), len(kind._fields) - 1
            if any(not least <= len(row) <= most for row in rows):
                problems.add(name, f"contains a row that is not ({', '.join(kind._fields)}).")
            else:
                object.__setattr__(self, name, tuple(kind(*row) for row in rows))
        problems.extend("", _find_row_problems(self) if not problems else ())
        problems.raise_any()

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self) if each.name != "on")


_KINDS: Mapping[str, Any] = {
    "keep": CellDirective,
    "hide": CellDirective,
    "remove": RecordDirective,
    "recode": LevelDirective,
    "threshold": ThresholdDirective,
    "prefer": PreferenceDirective,
    "order": OrderDirective,
    "methods": PreferenceDirective,
}


def _read_rows(table: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a table: a sequence of rows, or an Arrow table."""
    if hasattr(table, "column_names"):
        yield from zip(*(column.to_pylist() for column in table.columns), strict=True)
        return
    for row in table:
        yield tuple(row) if isinstance(row, list | tuple) else (row,)


def _find_row_problems(directives: Directives) -> Iterator[Problem]:
    """Numbers that cannot be: they would not be obeyed in any data."""
    for level in directives.recode:
        if not checks.is_whole_number(level.level, least=0):
            yield Problem("recode", f'the level of "{level.attribute}" is not a whole number.')
    for row in directives.threshold:
        if not checks.is_number(row.threshold) or not 0 < row.threshold < np.inf:
            yield Problem("threshold", "is not a number above 0.")
            break
    for name in ("prefer", "methods"):
        if any(not checks.is_number(row.rank) for row in getattr(directives, name)):
            yield Problem(name, "contains a rank that is no number.")
