"""What an adversary may know of an event, in words, and as codes of records or events.

| words | meaning |
|---|---|
| `hour`, `day`, `week`, `month`, `quarter`, `year` | when it was |
| `kinds`, `records` | how many different items, how many records; `kinds by 5`: in bands |
| `item`, `item at 1` | one of the items; at a level of the item's hierarchy |
| `2 items`, `2 items at 1` | so many of the items |
| `all items`, `all items at 1`, `all items as multiset` | the whole basket |
| `amount by 10` | the record's amount, in bands |
| an attribute | its value: a place, a way of payment |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.events.history import ordering
from divulge.events.history.calendar import COARSER, UNITS
from divulge.events.history.history import History
from divulge.events.history.ordering import Ints
from divulge.events.history.reading import amounts
from divulge.work import Problem

WORDS = (*UNITS, "kinds", "records", "item", "2 items", "all items", "all items as multiset")
"""Words that are known whatever the data."""

_BANDS = re.compile(r"(kinds|records|amount)(?: by (\d+(?:\.\d+)?))?$")
_ITEMS = re.compile(r"(?:item|(\d+) items|(all) items)( as multiset)?(?: at (\d+))?$")


@dataclass(frozen=True)
class Facet:
    """One thing that an adversary knows; made from words by `facet`."""

    words: str
    kind: str
    band: float = 1.0
    size: int = 1
    level: int = 0
    every: bool = False


@dataclass(frozen=True)
class Coded:
    """A facet of a history as codes: of its events, or of its records in their order."""

    codes: npt.NDArray[Any]
    of_events: bool


def facet(words: str, names: Sequence[str] = ()) -> Facet | Problem:
    """What words mean, given the attributes of the data; or what is wrong with them.

    >>> facet("kinds by 5")
    Facet(words='kinds by 5', kind='kinds', band=5.0, size=1, level=0, every=False)
    >>> print(facet("dya"))
    knows: "dya" is not something to know of an event. Did you mean "day"?
    """
    if words in UNITS:
        return Facet(words, "when")
    if match := _BANDS.match(words):
        band = float(match[2] or 0 if match[1] == "amount" else match[2] or 1)
        if band > 0:
            return Facet(words, match[1], band=band)
        return Problem("knows", f'"{words}" needs the width of its bands: "{match[1]} by 10".')
    if match := _ITEMS.match(words):
        level = int(match[4] or 0)
        if match[2]:
            return Facet(words, "basket", level=level, every=bool(match[3]))
        size = int(match[1] or 1)
        if size >= 1 and not match[3]:
            return Facet(words, "item" if size == 1 else "items", size=size, level=level)
    if words in names:
        return Facet(words, "attribute")
    message = f'"{words}" is not something to know of an event.'
    return Problem("knows", message, value=words, allowed=[*WORDS, "amount by 10", *names])


def problems_with_facets(history: History, facets: Sequence[Facet]) -> Iterator[Problem]:
    """What these facets ask of a history that it does not have."""
    hierarchy = history.dataset.dictionary[history.item].hierarchy
    for each in facets:
        if each.words == "hour" and not history.has_hours:
            yield Problem("knows", f'"hour": "{history.time}" holds days without hours.')
        if each.kind == "amount" and history.amount is None:
            yield Problem("knows", f'"{each.words}": the history has no amount; give amount=.')
        if each.level and hierarchy is None:
            message = f'"{each.words}": "{history.item}" has no hierarchy in the dataset.'
            yield Problem("knows", message)
        elif each.level and hierarchy is not None and each.level > hierarchy.height:
            message = f'"{each.words}": levels are 0 to {hierarchy.height}.'
            yield Problem("knows", message)
    if sum(each.kind in ("item", "items") for each in facets) > 1:
        yield Problem("knows", 'names items more than once; say how many, as in "2 items".')


def coded(history: History, each: Facet) -> Coded:
    """The codes of one facet."""
    if each.kind == "when":
        return _when(history, each.words)
    if each.kind == "records":
        return Coded(_banded(history.records_of_event - 1, each.band), True)
    if each.kind == "kinds":
        return Coded(_banded(history.baskets[0] - 1, each.band), True)
    if each.kind == "basket":
        return Coded(_baskets(history, each), True)
    if each.kind == "amount":
        assert history.amount is not None  # noqa: S101  # problems_with_facets has said so
        paid = amounts(history.dataset.columns[history.amount])[history.order]
        return Coded(bands(paid, each.band), False)
    if each.kind in ("item", "items"):
        return Coded(items(history, each.level), False)
    return Coded(history.codes(each.words), False)


NO_AMOUNT = -(2**62)
"""The band of a missing amount."""


def bands(paid: npt.NDArray[np.float64], width: float) -> Ints:
    """The number of the band that each amount lies in; all beyond 2^61 bands are one.

    >>> bands(np.array([3.0, 25.0, np.nan, np.inf]), 10.0).tolist() == [0, 2, NO_AMOUNT, 2**61]
    True
    >>> bands(np.array([0.28, 0.29]), 0.01).tolist()
    [28, 29]
    """
    gone = np.isnan(paid)
    exact = np.clip(np.where(gone, 0.0, paid) / width, -(2.0**61), 2.0**61)
    # Decimals are not what they seem in binary: .29 / .01 lies a rounding error below 29.
    whole = np.rint(exact)
    edge = np.abs(exact - whole) <= 4 * np.finfo(np.float64).eps * np.abs(exact)
    numbers = np.where(edge, whole, np.floor(exact))
    found: Ints = np.where(gone, NO_AMOUNT, numbers.astype(np.int64))
    return found


def _banded(numbers: Ints, band: float) -> Ints:
    return numbers if band == 1 else (numbers // band).astype(np.int64)


def of_rows(history: History, parts: Sequence[Coded], of_events: bool) -> list[npt.NDArray[Any]]:
    """The codes of facets row by row: of events, or of records, which inherit their event's."""
    if of_events:
        return [part.codes for part in parts]
    return [
        history.ordered.inherited(part.codes) if part.of_events else part.codes for part in parts
    ]


def items(history: History, level: int) -> npt.NDArray[Any]:
    """The item of each record at a level of its hierarchy, in the order of the history."""
    if not level:
        return history.item_codes
    hierarchy = history.dataset.dictionary[history.item].hierarchy
    assert hierarchy is not None  # noqa: S101  # problems_with_facets has said so
    column = hierarchy.coarsen(history.dataset.columns[history.item], level)
    return column.codes[history.order]


def _when(history: History, unit: str) -> Coded:
    """Of the event, if knowing the event's unit is knowing this one."""
    of_events = unit in COARSER.get(history.event, ())
    return Coded(history.times(unit, of_events), of_events)


def _baskets(history: History, each: Facet) -> Ints:
    """The number of each event's basket: equal baskets, and only they, have the same."""
    if each.level == 0 and not each.every:
        return history.basket_numbers
    item = items(history, each.level)
    if each.level:
        item = item[np.lexsort((item, history.event_of_record))]
    return ordering.numbered(ordering.baskets(history.ordered, item, each.every)[1])


def combined(parts: Sequence[npt.NDArray[Any]], rows: int, room: int) -> tuple[Ints, int]:
    """One number for every combination of codes, in as many bits as it takes, at most `room`.

    >>> combined([np.array([0, 2]), np.array([1, 2])], rows=2, room=40)
    (array([0, 5]), 3)
    """
    key, bits = work.room(rows, np.int64), 0
    key[:] = 0
    for part in parts:
        part, wide = _from_zero(part)
        if bits + wide > 63:
            key, bits = _renumbered(key)
            part, wide = _renumbered(part)
        key <<= wide
        key |= part
        bits += wide
    return (key, bits) if bits <= room else _renumbered(key)


def _from_zero(part: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    lowest, highest = (int(part.min()), int(part.max())) if len(part) else (0, 0)
    return part - lowest if lowest else part, (highest - lowest).bit_length()


def _renumbered(key: npt.NDArray[Any]) -> tuple[Ints, int]:
    """The same distinctions in as few numbers as there are."""
    values, number = np.unique(key, return_inverse=True)
    return number.astype(np.int64), (len(values) - 1).bit_length()
