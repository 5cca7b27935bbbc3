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
from divulge.data.ladders import text_of, texts_alike
from divulge.events.history.calendar import COARSER, NOT_A_TIME, SPANS, UNITS, overlapped
from divulge.events.history.history import History
from divulge.events.history.ordering import Ints
from divulge.events.history.reading import amounts, blanks
from divulge.events.knowledge.facets import bands
from divulge.work import DivulgeError

ANY = -1
"""The level of a suppressed value."""


@dataclass(frozen=True, eq=False)
class Cover:
    """What the records of a release say of one facet, and how what is known looks from there.

    Entry by entry: which record (in the order of the release; one may have several entries), its
    level, its code there. `known` has, for every level, the code of each record of the original.
    """

    record: Ints
    level: Ints
    code: Ints
    known: Mapping[int, Ints] = field(default_factory=dict)


def as_it_was(original: History, release: History) -> bool:
    """Whether a release only leaves records out: whatever it says, the original says as well."""
    if release.calendar.spans.max(initial=0) > original.calendar.spans.max(initial=0):
        return False
    for name in set(original.dataset.names) & set(release.dataset.names):
        ours, theirs = original.dataset.columns[name], release.dataset.columns[name]
        hidden = theirs.has_missing or blanks(theirs).any()
        if hidden or not set(theirs.values.to_pylist()) <= set(ours.values.to_pylist()):
            return False
    return True


def repeated(groups: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """For each row of a group, all of the group's entries: the rows, and the entries' places.

    >>> repeated(np.array([1, 0]), np.array([0, 1, 3]))
    (array([0, 0, 1]), array([1, 2, 0]))
    """
    many = np.diff(starts)[groups]
    row = np.repeat(np.arange(len(groups)), many)
    within = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    return row, starts[groups][row] + within


def when_covered(original: History, release: History, unit: str) -> Cover:
    """A day is known and the release says the month: it must be the month of the day."""
    times = release.calendar
    column = release.dataset.columns[release.time]
    of_value: list[tuple[Ints, Ints, Ints]] = []
    known: dict[int, Ints] = {}
    for span in np.unique(times.spans):
        values = np.flatnonzero((times.spans == span) & (times.moments != NOT_A_TIME))
        name = SPANS[span]
        seen = unit if name == "moment" or unit in COARSER[name] else name
        if seen != unit and name not in COARSER[unit]:
            value, period = _overlaps(times.moments, values, name, unit)
            seen = unit
        else:
            value, period = values, times.period(seen)[values]
        level = UNITS.index(seen)
        known[level] = original.times(seen)
        of_value.append((value, np.full(len(value), level), period))
    gone = np.append(np.flatnonzero(times.moments == NOT_A_TIME), len(times.moments))
    of_value.append((gone, np.full(len(gone), ANY), np.zeros(len(gone), np.int64)))
    known[ANY] = np.zeros(original.records, np.int64)
    return _of_values(release, column, of_value, known)


def _overlaps(moments: Ints, values: Ints, span: str, unit: str) -> tuple[Ints, Ints]:
    """Weeks and months overlap: a released one may stand for each that it touches."""
    value, period = [], []
    for each in values.tolist():
        first, last = overlapped(int(moments[each]), span, unit)
        value += [each] * (last - first + 1)
        period += list(range(first, last + 1))
    return np.array(value, np.int64), np.array(period, np.int64)


def _of_values(
    release: History,
    column: Column,
    of_value: list[tuple[Ints, Ints, Ints]],
    known: Mapping[int, Ints],
) -> Cover:
    """Entries of distinct values as entries of the records that have them."""
    value, level, code = (np.concatenate(part) for part in zip(*of_value, strict=True))
    order = np.argsort(value, kind="stable")
    starts = np.searchsorted(value[order], np.arange(len(column.values) + 2))
    record, at = repeated(column.codes[release.order].astype(np.int64), starts)
    return Cover(record, level[order][at], code[order][at], known)


def values_covered(
    original: History, release: History, attribute: str, released: str, level: int
) -> Cover:
    """A good is known and the release says its kind: it must be the kind of the good."""
    column, other = original.dataset.columns[attribute], release.dataset.columns[released]
    ours, theirs = texts_alike(column, other)
    ladder = Ladder.of(original, attribute, theirs)
    number: dict[tuple[int, str], int] = {}
    empty = np.append(blanks(other), True)
    entries = []
    for place, value in enumerate([*theirs, ""]):
        at, label = ladder.standing(value, level)
        here = number.setdefault((at, label), len(number))
        entries.append((ANY, 0) if empty[place] else (at, here))
    known = {ANY: np.zeros(original.records, np.int64)}
    for at in {level, *(at for at, _ in entries if at != ANY)}:
        labels = [ladder.seen(value, at) for value in ours]
        codes = [number.setdefault((at, label), len(number)) for label in labels]
        # A value that is missing in the original is known as missing: nothing looks like it.
        known[at] = np.array([*codes, -1], np.int64)[original.codes(attribute)]
    levels, own = np.array(entries, np.int64).T
    return _of_values(release, other, [(np.arange(len(entries)), levels, own)], known)


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of an attribute over the values of the original; none without a hierarchy.

    A kind may be called as one of its goods. `kinds` are such names that a release means as kinds:
    it shows none of the other goods of that kind.
    """

    hierarchy: Hierarchy | None
    uppers: tuple[Mapping[str, list[str]], ...]
    by_rule: bool = False
    kinds: frozenset[str] = frozenset()

    @classmethod
    def of(cls, original: History, attribute: str, shown: Sequence[str] = ()) -> Ladder:
        """The levels that the dictionary of the original gives an attribute; of what is shown."""
        hierarchy = original.dataset.dictionary[attribute].hierarchy
        if hierarchy is None:
            return cls(None, ())
        values = [text_of(v) for v in original.dataset.columns[attribute].values.to_pylist()]
        lacking = set(hierarchy.lacks(values))
        over = hierarchy.over(value for value in values if value not in lacking)
        uppers = tuple(over.leaves(at) for at in range(1, over.height + 1))
        by_rule = hierarchy.table is None
        # A table also knows values that the original has not; a rule would climb from any text.
        own, there = set(values), set(shown)
        kinds = {
            label
            for upper in uppers
            for label, leaves in upper.items()
            if label in own & there and len(leaves) > 1 and not there & (set(leaves) - {label})
        }
        return cls(over if by_rule else hierarchy, uppers, by_rule, frozenset(kinds))

    def standing(self, value: str, level: int) -> tuple[int, str]:
        """The level at which a released value is compared, and its label there."""
        if self.hierarchy is None or self._is_leaf(value):
            return level, self.seen(value, level)
        at = self._level(value)
        if not at:
            return level, value
        return (at, value) if at >= level else (level, self.seen(self.under(value)[0], level))

    def seen(self, value: str, level: int) -> str:
        """How a value of the original looks at a level."""
        if self.hierarchy is None or not level or self.hierarchy.lacks([value]):
            return value
        return str(self.hierarchy.at(value, level))

    def under(self, value: str) -> list[str]:
        """The values of the original beneath a label, or the value itself."""
        at = self._level(value)
        return self.uppers[at - 1][value] if at else [value]

    def room(self, value: str) -> float:
        """How many different values a label may stand for: a rule lets it be any number."""
        at = self._level(value)
        if not at or self.hierarchy is None:
            return 1
        return inf if self.by_rule else len(self.hierarchy.leaves(at)[value])

    def _is_leaf(self, value: str) -> bool:
        known = self.hierarchy is not None and not self.hierarchy.lacks([value])
        return known and value not in self.kinds

    def _level(self, value: str) -> int:
        """The level of a label; where it stands for more at a higher one, that; 0: none."""
        if self.hierarchy is None or self._is_leaf(value):
            return 0
        beneath = [len(leaves.get(value, ())) for leaves in self.uppers]
        widest = max(beneath, default=0)
        return beneath.index(widest) + 1 if widest else 0


def amount_covered(original: History, release: History, band: float) -> Cover:
    """An amount is known in bands: it must lie in the same band, or be hidden."""

    def banded(history: History) -> tuple[Ints, Any]:
        if history.amount is None:
            raise DivulgeError("attacker, knows: the release has no amount; give amount=")
        paid = amounts(history.dataset.columns[history.amount])[history.order]
        hidden = np.isnan(paid)
        return bands(paid, band), hidden

    known, _ = banded(original)
    code, hidden = banded(release)
    level = np.where(hidden, ANY, 0)
    nothing = np.zeros(original.records, np.int64)
    return Cover(
        np.arange(release.records), level, np.where(hidden, 0, code), {0: known, ANY: nothing}
    )
