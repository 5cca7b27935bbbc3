"""Several items of one event: all sets of so many of its items, each with its weight.

By record (or user), a record is drawn, then the rest of the set from the event's other items; by
event, every set counts alike. An event with fewer items is known by all that it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from divulge import work
from divulge.events import tuning
from divulge.events.history.history import History
from divulge.events.knowledge.facets import Facet, encode_facet, encode_items, pack_codes
from divulge.events.matching import kernels
from divulge.events.matching.matching import Tally, weigh_record_by_user
from divulge.qif.kernels import run
from divulge.work import DivulgeError, MemoryPlan
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemSubsets:
    """Sets of items of events: where their items stand among all pairs of event and item."""

    event: Ints
    place: Ints
    """Places in the list of pairs, one column an item; -1 where an event has fewer."""
    weight: Floats
    by_event: bool
    pair_of_record: Ints
    copies: Ints
    item: Ints

    @cached_property
    def record_of_pair(self) -> Ints:
        """A record of each pair of event and item."""
        first = np.zeros(len(self.copies), np.int64)
        first[self.pair_of_record[::-1]] = np.arange(len(self.pair_of_record))[::-1]
        return first

    def spread_on_records(self, share: Any) -> Floats:
        """The weights of sets, times a share of each, as the records of their items bear them."""
        size = (self.place >= 0).sum(axis=1)
        # By event the items of a set bear it alike; else, as often as each is the drawn record.
        amount_by_pair = np.zeros(len(self.copies))
        weights = self.copies if not self.by_event else np.ones(len(self.copies))
        together = np.where(self.place >= 0, weights[self.place], 0).sum(axis=1)
        for column in self.place.T:
            there = column >= 0
            part = weights[column] / np.maximum(together, size.clip(1) * 1e-300)
            amount = self.weight * share * part
            amount_by_pair += np.bincount(column[there], amount[there], len(amount_by_pair))
        spread: Floats = (amount_by_pair / self.copies)[self.pair_of_record]
        return spread


def enumerate_item_subsets(
    history: History,
    others: Sequence[Facet],
    items_facet: Facet,
    weight: str | Mapping[Any, float],
) -> ItemSubsets:
    """All sets of so many items of every event of a history."""
    parts = [encode_facet(history, facet) for facet in others]
    if not all(part.of_events for part in parts):
        raise DivulgeError(
            "attacker, knows: several items are known of a whole event, so beside them only what "
            "all of its records share can be known (its day, its number of kinds)"
        )
    key = (history.event_of_record.astype(np.int64) << 32) | encode_items(
        history, items_facet.level
    )
    pairs, of_record, copies = np.unique(key, return_inverse=True, return_counts=True)
    starts = np.searchsorted(pairs >> 32, np.arange(history.events + 1))
    kinds = np.diff(starts)
    most = min(items_facet.size, int(kinds.max()))
    event, place, weights = [], [], []
    for size in range(1, most + 1):
        which = kinds >= size if size == most else kinds == size
        if which.any():
            events = np.flatnonzero(which)
            arrays = _enumerate_of_size(starts, copies, events, size)
            event.append(arrays[0])
            place.append(np.pad(arrays[1], ((0, 0), (0, most - size)), constant_values=-1))
            weights.append(arrays[2])
    all_events = np.concatenate(event)
    if weight == "event":
        weigh = np.ones(len(all_events))
    else:
        each = weigh_record_by_user(history, weight)[history.user_of_event[all_events]]
        weigh = np.concatenate(weights) * each
    return ItemSubsets(
        event=all_events,
        place=np.concatenate(place),
        weight=weigh,
        by_event=weight == "event",
        pair_of_record=of_record.astype(np.int64),
        copies=copies,
        item=pairs & 0xFFFFFFFF,
    )


def _enumerate_of_size(starts: Ints, copies: Ints, events: Ints, size: int) -> Any:
    kinds = np.diff(starts)[events].astype(np.float64)
    ways = np.ones(len(kinds))
    for step in range(size):
        ways *= np.maximum(kinds - step, 0) / (step + 1)
    MemoryPlan(
        f"all sets of {size} items", {"sets": int(ways.sum()) * tuning.BYTES_PER_SUBSET}
    ).require("ask for fewer items, or for a coarser level of them")
    return run(
        kernels.enumerate_subsets,  # type: ignore[arg-type]  # gives three arrays
        int(ways.sum()),
        starts,
        copies,
        events,
        size,
    )


def match_item_subsets(
    history: History,
    others: Sequence[Facet],
    items_facet: Facet,
    weight: str | Mapping[Any, float],
) -> tuple[ItemSubsets, Tally, Ints, Any]:
    """Sets of items looked up in the history that they come from: who has an event with all?

    Of each set also how many users match, and whether the best guess finds the right one.
    """
    item_subsets = enumerate_item_subsets(history, others, items_facet, weight)
    event = [encode_facet(history, facet).codes for facet in others]
    tallies = []
    matches = np.zeros(len(item_subsets.event), np.int64)
    hits = np.zeros(len(item_subsets.event), bool)
    size_of = (item_subsets.place >= 0).sum(axis=1)
    kinds = np.bincount(
        history.event_of_record[item_subsets.record_of_pair], minlength=history.events
    )
    starts = np.append(0, np.cumsum(kinds))
    for size in np.unique(size_of):
        targets = np.flatnonzero(size_of == size)
        # An event of few items may lie within the larger event of somebody else.
        candidates = (item_subsets.event[targets], item_subsets.place[targets, :size])
        if size < item_subsets.place.shape[1]:
            more = _enumerate_of_size(
                starts, item_subsets.copies, np.flatnonzero(kinds >= size), int(size)
            )
            candidates = (more[0], more[1])
        result = _tally_subsets(
            history, event, item_subsets, targets=targets, candidates=candidates, size=int(size)
        )
        tallies.append(result[0])
        matches[targets], hits[targets] = result[1], result[2]
    by_user = np.sum([tally.by_user for tally in tallies], axis=0)
    by_user[:, kernels.WORST_CASE] = np.max(
        [tally.by_user[:, kernels.WORST_CASE] for tally in tallies], axis=0
    )
    by_matches = np.sum([tally.by_matches for tally in tallies], axis=0)
    whole = Tally(by_user, by_matches, sum(tally.cells for tally in tallies))
    return item_subsets, whole, matches, hits


def _tally_subsets(
    history: History,
    event: list[Ints],
    item_subsets: ItemSubsets,
    *,
    targets: Ints,
    candidates: tuple[Ints, Ints],
    size: int,
) -> tuple[Tally, Ints, Any]:
    """Sort both sides by knowledge and user, and let the kernel merge them."""
    rows = np.concatenate([item_subsets.event[targets], candidates[0]])
    members = item_subsets.item[np.concatenate([item_subsets.place[targets, :size], candidates[1]])]
    shift = max(1, (history.users - 1).bit_length())
    parts = [*(codes[rows] for codes in event), *members.T]
    x, _ = pack_codes(parts, len(rows), room=64 - shift)
    user = history.user_of_event[rows].astype(np.uint64)
    keys = (x.astype(np.uint64) << np.uint64(shift)) | user
    mine, theirs = keys[: len(targets)], keys[len(targets) :]
    order = np.argsort(mine)
    with work.step("Matching knowledge with users"):
        arrays: Any = run(
            kernels.tally_subsets,  # type: ignore[arg-type]  # gives several arrays
            len(keys),
            mine[order],
            item_subsets.weight[targets][order],
            np.sort(theirs),
            shift,
            history.users,
        )
    by_user, by_matches, matches, hits = arrays
    knowledge = mine[order] >> np.uint64(shift)
    cells = int(np.count_nonzero(knowledge[1:] != knowledge[:-1])) + 1
    back, hit = np.empty_like(matches), np.empty_like(hits)
    back[order], hit[order] = matches, hits
    return Tally(by_user, by_matches, cells), back, hit
