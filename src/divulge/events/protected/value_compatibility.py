"""When a single value in a protected release may stand for what is known.

Every value of a release stands at a level: as known, at some coarser level, or nowhere. At each
level, what is known is compared as it looks from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from divulge.data import Column, Hierarchy
from divulge.data.value_texts import format_value, match_value_texts
from divulge.events.history.calendar import (
    COARSER,
    NOT_A_TIME,
    SPANS,
    UNITS,
    find_overlapping_units,
)
from divulge.events.history.history import History
from divulge.events.history.values import find_blank_values, read_amounts
from divulge.events.knowledge.facets import number_bands
from divulge.work import DivulgeError
from divulge.work.arrays import Ints

SUPPRESSED_LEVEL = -1
"""The level of a suppressed value."""


@dataclass(frozen=True, eq=False)
class Cover:
    """What the records of a release say of one facet, and how what is known looks from there.

    Entry by entry: which record (in the order of the release; one may have several entries), its
    level, its code there. `original_codes` has, for every level, the code of each record of the
    original.
    """

    record: Ints
    level: Ints
    code: Ints
    original_codes: Mapping[int, Ints] = field(default_factory=dict)


def has_only_omissions(original: History, release: History) -> bool:
    """Whether a release only leaves records out: whatever it says, the original says as well."""
    if release.calendar.spans.max(initial=0) > original.calendar.spans.max(initial=0):
        return False
    for name in set(original.dataset.names) & set(release.dataset.names):
        ours, theirs = original.dataset.columns[name], release.dataset.columns[name]
        hidden = theirs.has_missing or find_blank_values(theirs).any()
        if hidden or not set(theirs.values.to_pylist()) <= set(ours.values.to_pylist()):
            return False
    return True


def expand_groups(groups: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """For each row of a group, all of the group's entries: the rows, and the entries' places.

    >>> expand_groups(np.array([1, 0]), np.array([0, 1, 3]))
    (array([0, 0, 1]), array([1, 2, 0]))
    """
    many = np.diff(starts)[groups]
    row = np.repeat(np.arange(len(groups)), many)
    within = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    return row, starts[groups][row] + within


def cover_time(original: History, release: History, unit: str) -> Cover:
    """A day is known and the release says the month: it must be the month of the day."""
    times = release.calendar
    column = release.dataset.columns[release.time]
    of_value: list[tuple[Ints, Ints, Ints]] = []
    original_codes: dict[int, Ints] = {}
    for span in np.unique(times.spans):
        values = np.flatnonzero((times.spans == span) & (times.moments != NOT_A_TIME))
        name = SPANS[span]
        compared_unit = unit if name == "moment" or unit in COARSER[name] else name
        if compared_unit != unit and name not in COARSER[unit]:
            value, period = _list_overlaps(times.moments, values, name, unit)
            compared_unit = unit
        else:
            value, period = values, times.period_numbers(compared_unit)[values]
        level = UNITS.index(compared_unit)
        original_codes[level] = original.times(compared_unit)
        of_value.append((value, np.full(len(value), level), period))
    unreadable = np.append(np.flatnonzero(times.moments == NOT_A_TIME), len(times.moments))
    of_value.append(
        (
            unreadable,
            np.full(len(unreadable), SUPPRESSED_LEVEL),
            np.zeros(len(unreadable), np.int64),
        )
    )
    original_codes[SUPPRESSED_LEVEL] = np.zeros(original.records, np.int64)
    return _cover_from_values(release, column, of_value, original_codes)


def _list_overlaps(moments: Ints, values: Ints, span: str, unit: str) -> tuple[Ints, Ints]:
    """Weeks and months overlap: a released one may stand for each that it touches."""
    value, period = [], []
    for each in values.tolist():
        first, last = find_overlapping_units(int(moments[each]), span, unit)
        value += [each] * (last - first + 1)
        period += list(range(first, last + 1))
    return np.array(value, np.int64), np.array(period, np.int64)


def _cover_from_values(
    release: History,
    column: Column,
    of_value: list[tuple[Ints, Ints, Ints]],
    original_codes: Mapping[int, Ints],
) -> Cover:
    """Entries of distinct values as entries of the records that have them."""
    value, level, code = (np.concatenate(part) for part in zip(*of_value, strict=True))
    order = np.argsort(value, kind="stable")
    starts = np.searchsorted(value[order], np.arange(len(column.values) + 2))
    record, at = expand_groups(column.codes[release.order].astype(np.int64), starts)
    return Cover(record, level[order][at], code[order][at], original_codes)


def cover_values(
    original: History, release: History, attribute: str, released: str, level: int
) -> Cover:
    """A good is known and the release says its kind: it must be the kind of the good."""
    column, other = original.dataset.columns[attribute], release.dataset.columns[released]
    ours, theirs = match_value_texts(column, other)
    attribute_levels = AttributeLevels.from_history(original, attribute, theirs)
    number: dict[tuple[int, str], int] = {}
    empty = np.append(find_blank_values(other), True)
    entries = []
    for place, value in enumerate([*theirs, ""]):
        at, label = attribute_levels.locate_value(value, level)
        here = number.setdefault((at, label), len(number))
        entries.append((SUPPRESSED_LEVEL, 0) if empty[place] else (at, here))
    original_codes = {SUPPRESSED_LEVEL: np.zeros(original.records, np.int64)}
    for at in {level, *(at for at, _ in entries if at != SUPPRESSED_LEVEL)}:
        labels = [attribute_levels.label_at(value, at) for value in ours]
        codes = [number.setdefault((at, label), len(number)) for label in labels]
        # A value that is missing in the original is known as missing: nothing looks like it.
        original_codes[at] = np.array([*codes, -1], np.int64)[original.codes(attribute)]
    levels, own = np.array(entries, np.int64).T
    return _cover_from_values(
        release, other, [(np.arange(len(entries)), levels, own)], original_codes
    )


@dataclass(frozen=True, eq=False)
class AttributeLevels:
    """The levels of an attribute over the values of the original; none without a hierarchy.

    A kind may be called as one of its goods. `kinds` are such names that a release means as kinds:
    it shows none of the other goods of that kind.
    """

    hierarchy: Hierarchy | None
    leaves_by_level: tuple[Mapping[str, list[str]], ...]
    by_rule: bool = False
    kinds: frozenset[str] = frozenset()

    @classmethod
    def from_history(
        cls, original: History, attribute: str, released: Sequence[str] = ()
    ) -> AttributeLevels:
        """The levels that the dictionary of the original gives an attribute; of what is shown."""
        hierarchy = original.dataset.dictionary[attribute].hierarchy
        if hierarchy is None:
            return cls(None, ())
        if not set(hierarchy.renamed.values()) & set(released):
            hierarchy = hierarchy.with_given_labels()  # somebody else's release has these
        values = [format_value(v) for v in original.dataset.columns[attribute].values.to_pylist()]
        lacking = set(hierarchy.lacks(values))
        over = hierarchy.over(value for value in values if value not in lacking)
        uppers = tuple(over.leaves(at) for at in range(1, over.height + 1))
        by_rule = hierarchy.table is None
        # A table also knows values that the original has not; a rule would climb from any text.
        own, there = set(values), set(released)
        kinds = {
            label
            for upper in uppers
            for label, leaves in upper.items()
            if label in own & there and len(leaves) > 1 and not there & (set(leaves) - {label})
        }
        return cls(over if by_rule else hierarchy, uppers, by_rule, frozenset(kinds))

    def locate_value(self, value: str, level: int) -> tuple[int, str]:
        """The level at which a released value is compared, and its label there."""
        if self.hierarchy is None or self._is_leaf(value):
            return level, self.label_at(value, level)
        at = self._find_level(value)
        if not at:
            return level, value
        return (
            (at, value)
            if at >= level
            else (level, self.label_at(self.values_under(value)[0], level))
        )

    def label_at(self, value: str, level: int) -> str:
        """How a value of the original looks at a level."""
        if self.hierarchy is None or not level or self.hierarchy.lacks([value]):
            return value
        return str(self.hierarchy.at(value, level))

    def values_under(self, value: str) -> list[str]:
        """The values of the original beneath a label, or the value itself."""
        at = self._find_level(value)
        return self.leaves_by_level[at - 1][value] if at else [value]

    def count_possible_values(self, value: str) -> float:
        """How many different values a label may stand for: a rule lets it be any number."""
        at = self._find_level(value)
        if not at or self.hierarchy is None:
            return 1
        return inf if self.by_rule else len(self.hierarchy.leaves(at)[value])

    def _is_leaf(self, value: str) -> bool:
        is_listed = self.hierarchy is not None and not self.hierarchy.lacks([value])
        return is_listed and value not in self.kinds

    def _find_level(self, value: str) -> int:
        """The level of a label; where it stands for more at a higher one, that; 0: none."""
        if self.hierarchy is None or self._is_leaf(value):
            return 0
        beneath = [len(leaves.get(value, ())) for leaves in self.leaves_by_level]
        widest = max(beneath, default=0)
        return beneath.index(widest) + 1 if widest else 0


def cover_amount(original: History, release: History, band: float) -> Cover:
    """An amount is known in bands: it must lie in the same band, or be hidden."""

    def read_bands(history: History) -> tuple[Ints, Any]:
        if history.amount is None:
            raise DivulgeError("attacker, knows: the release has no amount; give amount=")
        paid = read_amounts(history.dataset.columns[history.amount])[history.order]
        hidden = np.isnan(paid)
        return number_bands(paid, band), hidden

    original_bands, _ = read_bands(original)
    code, hidden = read_bands(release)
    level = np.where(hidden, SUPPRESSED_LEVEL, 0)
    nothing = np.zeros(original.records, np.int64)
    return Cover(
        np.arange(release.records),
        level,
        np.where(hidden, 0, code),
        {0: original_bands, SUPPRESSED_LEVEL: nothing},
    )
