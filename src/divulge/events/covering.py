"""When a value in a protected release may stand for what an adversary knows.

A value that was left as it was stands for itself, a suppressed one for any, a coarser one for all
that lies beneath it: a month for its days, a kind of goods for its goods. Of an event with
suppressed items, the number of kinds and the basket are known only within bounds.

Every value of a release stands at a level: as known, at some coarser level, or nowhere. At each
level, what is known is compared as it looks from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from divulge.data import Column, Hierarchy
from divulge.events.calendar import COARSER, NOT_A_TIME, SPANS, UNITS, overlapped
from divulge.events.facets import Facet
from divulge.events.history import History
from divulge.events.ordering import Ints
from divulge.events.reading import amounts, blanks
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


def cover(original: History, release: History, facet: Facet) -> Cover:
    """How the records of a release cover what is known by one facet."""
    if facet.kind == "when":
        return _when(original, release, facet.words)
    if facet.kind == "amount":
        return _amount(original, release, facet.band)
    if facet.kind in ("item", "items"):
        return _values(original, release, original.item, release.item, facet.level)
    if facet.kind == "attribute":
        return _values(original, release, facet.words, facet.words, 0)
    _require_known_events(release, facet)
    known = _spread(original, coded_events(original, facet))
    if facet.kind == "basket":
        event, code = _baskets(original, release, facet)
    else:
        event, code = _counts(original, release, facet)
    return _of_events(release, event, code, known)


def _spread(history: History, of_events: Ints) -> Ints:
    return of_events[history.event_of_record]


def coded_events(history: History, facet: Facet) -> Ints:
    """A facet of events, as codes."""
    from divulge.events.facets import coded

    return coded(history, facet).codes


def _of_events(release: History, event: Ints, code: Ints, known: Ints) -> Cover:
    """Entries of events as entries of their records."""
    order = np.argsort(event, kind="stable")
    event, code = event[order], code[order]
    starts = np.searchsorted(event, np.arange(release.events + 1))
    record, at = repeated(release.event_of_record.astype(np.int64), starts)
    return Cover(record, np.zeros(len(record), np.int64), code[at], {0: known})


def repeated(groups: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """For each row of a group, all of the group's entries: the rows, and the entries' places.

    >>> repeated(np.array([1, 0]), np.array([0, 1, 3]))
    (array([0, 0, 1]), array([1, 2, 0]))
    """
    many = np.diff(starts)[groups]
    row = np.repeat(np.arange(len(groups)), many)
    within = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    return row, starts[groups][row] + within


# When.


def _when(original: History, release: History, unit: str) -> Cover:
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


# What, and other attributes.


def _values(
    original: History, release: History, attribute: str, released: str, level: int
) -> Cover:
    """A good is known and the release says its kind: it must be the kind of the good."""
    column, other = original.dataset.columns[attribute], release.dataset.columns[released]
    ladder = _Ladder.of(original, attribute)
    number: dict[tuple[int, str], int] = {}
    empty = np.append(blanks(other), True)
    entries = []
    for place, value in enumerate([*map(str, other.values.to_pylist()), ""]):
        at, label = ladder.standing(value, level)
        here = number.setdefault((at, label), len(number))
        entries.append((ANY, 0) if empty[place] else (at, here))
    known = {ANY: np.zeros(original.records, np.int64)}
    for at in {level, *(at for at, _ in entries if at != ANY)}:
        labels = [ladder.seen(value, at) for value in map(str, column.values.to_pylist())]
        codes = [number.setdefault((at, label), len(number)) for label in labels]
        # A value that is missing in the original is known as missing: nothing looks like it.
        known[at] = np.array([*codes, -1], np.int64)[original.codes(attribute)]
    levels, own = np.array(entries, np.int64).T
    return _of_values(release, other, [(np.arange(len(entries)), levels, own)], known)


@dataclass(frozen=True, eq=False)
class _Ladder:
    """The levels of an attribute over the values of the original; none without a hierarchy."""

    hierarchy: Hierarchy | None
    uppers: tuple[Mapping[str, list[str]], ...]

    @classmethod
    def of(cls, original: History, attribute: str) -> _Ladder:
        hierarchy = original.dataset.dictionary[attribute].hierarchy
        if hierarchy is None:
            return cls(None, ())
        values = [str(v) for v in original.dataset.columns[attribute].values.to_pylist()]
        lacking = set(hierarchy.lacks(values))
        over = hierarchy.over(value for value in values if value not in lacking)
        return cls(over, tuple(over.leaves(at) for at in range(1, over.height + 1)))

    def standing(self, value: str, level: int) -> tuple[int, str]:
        """The level at which a released value is compared, and its label there."""
        if self.hierarchy is None or not self.hierarchy.lacks([value]):
            return level, self.seen(value, level)
        for at, leaves in enumerate(self.uppers, start=1):
            if value in leaves:
                return (at, value) if at >= level else (level, self.seen(leaves[value][0], level))
        return level, value

    def seen(self, value: str, level: int) -> str:
        """How a value of the original looks at a level."""
        if self.hierarchy is None or not level or self.hierarchy.lacks([value]):
            return value
        return str(self.hierarchy.at(value, level))

    def under(self, value: str) -> list[str]:
        """The values of the original beneath a label, or the value itself."""
        return next((leaves[value] for leaves in self.uppers if value in leaves), [value])


def _amount(original: History, release: History, band: float) -> Cover:
    def banded(history: History) -> tuple[Ints, Any]:
        if history.amount is None:
            raise DivulgeError("attacker, knows: the release has no amount; give amount=")
        paid = amounts(history.dataset.columns[history.amount])[history.order]
        hidden = np.isnan(paid)
        return np.floor(np.where(hidden, -1e15, paid) / band).astype(np.int64), hidden

    known, _ = banded(original)
    code, hidden = banded(release)
    level = np.where(hidden, ANY, 0)
    nothing = np.zeros(original.records, np.int64)
    return Cover(
        np.arange(release.records), level, np.where(hidden, 0, code), {0: known, ANY: nothing}
    )


# How many, and all of them: of events whose items are partly hidden.


def _require_known_events(release: History, facet: Facet) -> None:
    """What an event holds can only be asked if the release tells its events apart."""
    if event_unclear(release):
        raise DivulgeError(
            f'attacker, knows: "{facet.words}" is of a whole event, and in the release not every '
            f'record says its {release.event}; know "item" and when it was, or give event= an '
            "attribute that was left as it was"
        )


def event_unclear(release: History) -> bool:
    """Whether some record of a release does not say which event it belongs to."""
    if release.event not in UNITS:
        return release.dataset.columns[release.event].has_missing
    times = release.calendar
    readable = times.moments != NOT_A_TIME
    if release.dataset.columns[release.time].has_missing or not readable.all():
        return True
    spans = [SPANS[span] for span in np.unique(times.spans)]
    return any(span != "moment" and release.event not in COARSER[span] for span in spans)


def _hidden_items(original: History, release: History, level: int) -> tuple[Any, Any, Ints]:
    """Which released records hide their item, which say it too coarsely; the items' codes."""
    seen = _values(original, release, original.item, release.item, level)
    return seen.level == ANY, (seen.level != ANY) & (seen.level > level), seen.code


def _counts(original: History, release: History, facet: Facet) -> tuple[Ints, Ints]:
    """All numbers that an event may have: hidden items may be new ones or not."""
    if facet.kind == "records":
        low = high = release.records_of_event
    else:
        low, high = _possible_kinds(original, release)
    least = ((low - 1) // facet.band).astype(np.int64)
    many = ((high - 1) // facet.band).astype(np.int64) - least + 1
    event = np.repeat(np.arange(release.events), many)
    within = np.arange(len(event)) - np.repeat(np.cumsum(many) - many, many)
    return event, least[event] + within


def _possible_kinds(original: History, release: History) -> tuple[Ints, Ints]:
    """The least and the largest number of kinds in each event.

    A hidden item may be one that is seen or another; so may a coarser one, beneath it. At least
    there is one kind for each value that no other stands beneath.
    """
    hidden, coarse, _ = _hidden_items(original, release, 0)
    event, item = release.event_of_record, release.item_codes
    first = np.append(True, (event[1:] != event[:-1]) | (item[1:] != item[:-1]))
    seen = np.bincount(event, first & ~hidden & ~coarse, release.events).astype(np.int64)
    unclear = np.bincount(event, hidden | coarse, release.events).astype(np.int64)
    least = seen.copy()
    ladder = _Ladder.of(original, original.item)
    values = [str(value) for value in release.dataset.columns[release.item].values.to_pylist()]
    for each in np.unique(event[coarse]):
        rows = slice(release.ordered.starts[each], release.ordered.starts[each + 1])
        beneath = [
            frozenset(ladder.under(values[code]))
            for code in np.unique(item[rows][~hidden[rows]]).tolist()
        ]
        least[each] = sum(not any(other < own for other in beneath) for own in beneath)
    return np.maximum(least, 1), seen + unclear


def _baskets(original: History, release: History, facet: Facet) -> tuple[Ints, Ints]:
    """The baskets of the original that an event of the release may be."""
    hidden, coarse, code = _hidden_items(original, release, facet.level)
    if coarse.any():
        raise DivulgeError(
            f'attacker, knows: "{facet.words}": the release holds coarser items; ask for all '
            'items at their level, as in "all items at 1"'
        )
    of_basket = coded_events(original, facet)
    _, representative = np.unique(of_basket, return_index=True)
    item = _values(original, release, original.item, release.item, facet.level).known[facet.level]
    known = [
        _content(item[original.ordered.starts[e] : original.ordered.starts[e + 1]], facet.every)
        for e in representative
    ]
    exactly = {content: number for number, content in enumerate(known)}
    events, codes = [], []
    for event, content, spare in _released_contents(release, code, hidden, facet.every):
        if not spare:
            fits: Iterator[int] = iter([exactly[content]] if content in exactly else [])
        else:
            fits = (n for n, each in enumerate(known) if _may_be(content, spare, each, facet.every))
        for number in fits:
            events.append(event)
            codes.append(int(of_basket[representative[number]]))
    return np.array(events, np.int64), np.array(codes, np.int64)


Content = frozenset[tuple[int, int]]
"""Items and how often each is there (once, where baskets are sets)."""


def _content(item: Ints, every: bool) -> Content:
    value, copies = np.unique(item, return_counts=True)
    return frozenset(
        zip(value.tolist(), copies.tolist() if every else [1] * len(value), strict=True)
    )


def _released_contents(
    release: History, code: Ints, hidden: Any, every: bool
) -> Iterator[tuple[int, Content, int]]:
    starts = release.ordered.starts
    for event in range(release.events):
        rows = slice(starts[event], starts[event + 1])
        open_to_see = code[rows][~hidden[rows]]
        yield event, _content(open_to_see, every), int(hidden[rows].sum())


def _may_be(content: Content, spare: int, basket: Content, every: bool) -> bool:
    """Whether hidden records can fill up what is seen to the whole basket, and no more."""
    wanted, seen = dict(basket), dict(content)
    if any(copies > wanted.get(item, 0) for item, copies in seen.items()):
        return False
    lacking = sum(wanted.values()) - sum(seen.values())
    return lacking == spare if every else lacking <= spare
