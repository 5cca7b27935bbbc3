"""What events of a protected release may hold, where some of their items are hidden or coarser.

The number of kinds and the basket of such an event are known only within bounds: it may be all
that its hidden items allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from divulge.data.value_texts import match_value_texts
from divulge.events.history.calendar import COARSER, NOT_A_TIME, SPANS, UNITS
from divulge.events.history.history import History
from divulge.events.knowledge.facets import Facet, encode_facet
from divulge.events.protected.basket_compatibility import list_possible_baskets
from divulge.events.protected.value_compatibility import (
    SUPPRESSED_LEVEL,
    AttributeLevels,
    Cover,
    cover_values,
    expand_groups,
)
from divulge.work import DivulgeError
from divulge.work.arrays import Ints


def cover_event(original: History, release: History, facet: Facet) -> Cover:
    """How the events of a release cover what is known of a whole event."""
    _require_known_events(release, facet)
    original_codes = encode_facet(original, facet).codes[original.event_of_record]
    if facet.kind == "basket":
        event, code = list_possible_baskets(original, release, facet)
    else:
        event, code = list_possible_counts(original, release, facet)
    return _cover_from_events(release, event, code, original_codes)


def _cover_from_events(release: History, event: Ints, code: Ints, original_codes: Ints) -> Cover:
    """Entries of events as entries of their records."""
    order = np.argsort(event, kind="stable")
    event, code = event[order], code[order]
    starts = np.searchsorted(event, np.arange(release.events + 1))
    record, at = expand_groups(release.event_of_record.astype(np.int64), starts)
    return Cover(record, np.zeros(len(record), np.int64), code[at], {0: original_codes})


def has_unclear_events(release: History) -> bool:
    """Whether some record of a release does not say which event it belongs to."""
    if release.event not in UNITS:
        return release.dataset.columns[release.event].has_missing
    times = release.calendar
    readable = times.moments != NOT_A_TIME
    if release.dataset.columns[release.time].has_missing or not readable.all():
        return True
    spans = [SPANS[span] for span in np.unique(times.spans)]
    return any(span != "moment" and release.event not in COARSER[span] for span in spans)


def _require_known_events(release: History, facet: Facet) -> None:
    """What an event holds can only be asked if the release tells its events apart."""
    if has_unclear_events(release):
        raise DivulgeError(
            f'attacker, knows: "{facet.words}" is of a whole event, and in the release not every '
            f'record says its {release.event}; know "item" and when it was, or give event= an '
            "attribute that was left as it was"
        )


def _find_hidden_items(original: History, release: History, level: int) -> tuple[Any, Any, Ints]:
    """Which released records hide their item, which say it too coarsely; the items' codes."""
    cover = cover_values(original, release, original.item, release.item, level)
    return (
        cover.level == SUPPRESSED_LEVEL,
        (cover.level != SUPPRESSED_LEVEL) & (cover.level > level),
        cover.code,
    )


def list_possible_counts(original: History, release: History, facet: Facet) -> tuple[Ints, Ints]:
    """All numbers that an event may have: hidden items may be new ones or not."""
    if facet.kind == "records":
        low = high = release.records_of_event
    else:
        low, high = _bound_kinds(original, release)
    least = ((low - 1) // facet.band).astype(np.int64)
    many = ((high - 1) // facet.band).astype(np.int64) - least + 1
    event = np.repeat(np.arange(release.events), many)
    within = np.arange(len(event)) - np.repeat(np.cumsum(many) - many, many)
    return event, least[event] + within


def _bound_kinds(original: History, release: History) -> tuple[Ints, Ints]:
    """The least and the largest number of kinds in each event.

    A hidden item may be one that is seen or another; so may a coarser one, beneath it. At least
    there is one kind for each set of values that no other lies within; at most one for each
    record, and no more than there are values.
    """
    hidden, coarse, _ = _find_hidden_items(original, release, 0)
    event, item = release.event_of_record, release.item_codes
    first = np.append(True, (event[1:] != event[:-1]) | (item[1:] != item[:-1]))
    least = np.bincount(event, first & ~hidden & ~coarse, release.events).astype(np.int64)
    most = least + np.bincount(event, hidden, release.events).astype(np.int64)
    ours, theirs = (h.dataset.columns[h.item] for h in (original, release))
    _, values = match_value_texts(ours, theirs)
    attribute_levels = AttributeLevels.from_history(original, original.item, values)
    for each in np.unique(event[coarse]):
        rows = slice(release.ordered.starts[each], release.ordered.starts[each + 1])
        labels, copies = np.unique(item[rows][~hidden[rows]], return_counts=True)
        records: dict[frozenset[str], int] = {}
        room: dict[frozenset[str], float] = {}
        for code, many in zip(labels.tolist(), copies.tolist(), strict=True):
            beneath = frozenset(attribute_levels.values_under(values[code]))
            records[beneath] = records.get(beneath, 0) + many
            room[beneath] = max(
                room.get(beneath, 0), attribute_levels.count_possible_values(values[code])
            )
        least[each] = sum(not any(other < own for other in records) for own in records)
        most[each] = _count_most_kinds(records, room) + int(hidden[rows].sum())
    return np.maximum(least, 1), most


def _count_most_kinds(
    records: Mapping[frozenset[str], int], room: Mapping[frozenset[str], float]
) -> int:
    """How many kinds so many records of each set can be; sets lie within each other or apart.

    >>> apple, fruit = frozenset({"apple"}), frozenset({"apple", "pear"})
    >>> _count_most_kinds({apple: 3, fruit: 1}, {apple: 1, fruit: 2})
    2
    """
    most: dict[frozenset[str], int] = {}
    for own in sorted(records, key=len):
        within = [other for other in most if other < own]
        inner = [one for one in within if not any(one < other for other in within)]
        record_count = records[own] + sum(most[each] for each in inner)
        most[own] = int(min(room[own], record_count))
    return sum(most[own] for own in most if not any(own < other for other in most))
