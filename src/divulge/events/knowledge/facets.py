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
from divulge.classes.keys import densify_keys
from divulge.events.history import ordering
from divulge.events.history.calendar import COARSER, UNITS
from divulge.events.history.history import History
from divulge.events.history.values import read_amounts
from divulge.work import Problem
from divulge.work.arrays import Ints

FACET_WORDS = (*UNITS, "kinds", "records", "item", "2 items", "all items", "all items as multiset")
"""Words that are known whatever the data."""

_BANDS = re.compile(r"(kinds|records|amount)(?: by (\d+(?:\.\d+)?))?$")
_ITEMS = re.compile(r"(?:item|(\d+) items|(all) items)( as multiset)?(?: at (\d+))?$")


@dataclass(frozen=True, kw_only=True)
class Facet:
    """One thing that an adversary knows; made from words by `parse_facet`."""

    words: str
    kind: str
    band: float = 1.0
    size: int = 1
    level: int = 0
    every: bool = False


@dataclass(frozen=True)
class FacetCodes:
    """A facet of a history as codes: of its events, or of its records in their order."""

    codes: npt.NDArray[Any]
    of_events: bool


def parse_facet(words: str, names: Sequence[str] = ()) -> Facet | Problem:
    """What words mean, given the attributes of the data; or what is wrong with them.

    >>> parse_facet("kinds by 5")
    Facet(words='kinds by 5', kind='kinds', band=5.0, size=1, level=0, every=False)
    >>> print(parse_facet("dya"))
    knows: "dya" is not something to know of an event. Did you mean "day"?
    """
    if words in UNITS:
        return Facet(words=words, kind="when")
    if match := _BANDS.match(words):
        band = float(match[2] or 0 if match[1] == "amount" else match[2] or 1)
        if band > 0:
            return Facet(words=words, kind=match[1], band=band)
        return Problem("knows", f'"{words}" needs the width of its bands: "{match[1]} by 10".')
    if match := _ITEMS.match(words):
        level = int(match[4] or 0)
        if match[2]:
            return Facet(words=words, kind="basket", level=level, every=bool(match[3]))
        size = int(match[1] or 1)
        if size >= 1 and not match[3]:
            return Facet(words=words, kind="item" if size == 1 else "items", size=size, level=level)
    if words in names:
        return Facet(words=words, kind="attribute")
    message = f'"{words}" is not something to know of an event.'
    return Problem("knows", message, value=words, allowed=[*FACET_WORDS, "amount by 10", *names])


def problems_with_facets(history: History, facets: Sequence[Facet]) -> Iterator[Problem]:
    """What these facets ask of a history that it does not have."""
    hierarchy = history.dataset.dictionary[history.item].hierarchy
    for each in facets:
        if each.words == "hour" and not history.has_hours:
            yield Problem("knows", f'"hour": "{history.time}" contains days without hours.')
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


def encode_facet(history: History, facet: Facet) -> FacetCodes:
    """The codes of one facet."""
    if facet.kind == "when":
        return _encode_time(history, facet.words)
    if facet.kind == "records":
        return FacetCodes(_group_into_bands(history.records_of_event - 1, facet.band), True)
    if facet.kind == "kinds":
        return FacetCodes(_group_into_bands(history.baskets[0] - 1, facet.band), True)
    if facet.kind == "basket":
        return FacetCodes(_number_baskets(history, facet), True)
    if facet.kind == "amount":
        assert history.amount is not None  # noqa: S101  # problems_with_facets has said so
        paid = read_amounts(history.dataset.columns[history.amount])[history.order]
        return FacetCodes(number_bands(paid, facet.band), False)
    if facet.kind in ("item", "items"):
        return FacetCodes(encode_items(history, facet.level), False)
    return FacetCodes(history.codes(facet.words), False)


NO_AMOUNT = -(2**62)
"""The band of a missing amount."""


def number_bands(paid: npt.NDArray[np.float64], width: float) -> Ints:
    """The number of the band that each amount lies in; all beyond 2^61 bands are one.

    >>> numbers = number_bands(np.array([3.0, 25.0, np.nan, np.inf]), 10.0)
    >>> numbers.tolist() == [0, 2, NO_AMOUNT, 2**61]
    True
    >>> number_bands(np.array([0.28, 0.29]), 0.01).tolist()
    [28, 29]
    """
    is_missing = np.isnan(paid)
    exact = np.clip(np.where(is_missing, 0.0, paid) / width, -(2.0**61), 2.0**61)
    # Decimals are not what they seem in binary: .29 / .01 lies a rounding error below 29.
    whole = np.rint(exact)
    edge = np.abs(exact - whole) <= 4 * np.finfo(np.float64).eps * np.abs(exact)
    numbers = np.where(edge, whole, np.floor(exact))
    band_numbers: Ints = np.where(is_missing, NO_AMOUNT, numbers.astype(np.int64))
    return band_numbers


def _group_into_bands(numbers: Ints, band: float) -> Ints:
    return numbers if band == 1 else (numbers // band).astype(np.int64)


def spread_over_rows(
    history: History, parts: Sequence[FacetCodes], of_events: bool
) -> list[npt.NDArray[Any]]:
    """The codes of facets row by row: of events, or of records, which inherit their event's."""
    if of_events:
        return [part.codes for part in parts]
    return [
        history.ordered.spread_to_records(part.codes) if part.of_events else part.codes
        for part in parts
    ]


def encode_items(history: History, level: int) -> npt.NDArray[Any]:
    """The item of each record at a level of its hierarchy, in the order of the history."""
    if not level:
        return history.item_codes
    hierarchy = history.dataset.dictionary[history.item].hierarchy
    assert hierarchy is not None  # noqa: S101  # problems_with_facets has said so
    column = hierarchy.coarsen(history.dataset.columns[history.item], level)
    return column.codes[history.order]


def _encode_time(history: History, unit: str) -> FacetCodes:
    """Of the event, if knowing the event's unit is knowing this one."""
    of_events = unit in COARSER.get(history.event, ())
    return FacetCodes(history.times(unit, of_events), of_events)


def _number_baskets(history: History, facet: Facet) -> Ints:
    """The number of each event's basket: equal baskets, and only they, have the same."""
    if facet.level == 0 and not facet.every:
        return history.basket_numbers
    item = encode_items(history, facet.level)
    if facet.level:
        item = item[np.lexsort((item, history.event_of_record))]
    return ordering.number_hashes(ordering.hash_baskets(history.ordered, item, facet.every)[1])


def pack_codes(parts: Sequence[npt.NDArray[Any]], rows: int, room: int) -> tuple[Ints, int]:
    """One number for every combination of codes, in as many bits as it takes, at most `room`.

    >>> pack_codes([np.array([0, 2]), np.array([1, 2])], rows=2, room=40)
    (array([0, 5]), 3)
    """
    key, bits = work.allocate_array(rows, np.int64), 0
    key[:] = 0
    for part in parts:
        part, wide = _shift_to_zero(part)
        if bits + wide > 63:
            key, bits = _renumber_key(key)
            part, wide = _renumber_key(part)
        key <<= wide
        key |= part
        bits += wide
    return (key, bits) if bits <= room else _renumber_key(key)


def _shift_to_zero(part: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    lowest, highest = (int(part.min()), int(part.max())) if len(part) else (0, 0)
    return part - lowest if lowest else part, (highest - lowest).bit_length()


def _renumber_key(key: npt.NDArray[Any]) -> tuple[Ints, int]:
    """The same distinctions in as few numbers as there are, and the bits that they take."""
    number, count = densify_keys(key, int(key.max(initial=0)) + 1)
    return number, (count - 1).bit_length()
