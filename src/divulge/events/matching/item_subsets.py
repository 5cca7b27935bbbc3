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
from divulge.events.history.history import History
from divulge.events.history.ordering import Ints
from divulge.events.knowledge.facets import Facet, coded, combined, items
from divulge.events.matching import kernels
from divulge.events.matching.matching import Floats, Tally, weight_of_record
from divulge.qif.kernels import run
from divulge.work import DivulgeError, MemoryPlan

BYTES_A_SUBSET = 100


@dataclass(frozen=True, eq=False)
class Subsets:
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

    def on_records(self, share: Any) -> Floats:
        """The weights of sets, times a share of each, as the records of their items bear them."""
        size = (self.place >= 0).sum(axis=1)
        # By event the items of a set bear it alike; else, as often as each is the drawn record.
        borne = np.zeros(len(self.copies))
        weights = self.copies if not self.by_event else np.ones(len(self.copies))
        together = np.where(self.place >= 0, weights[self.place], 0).sum(axis=1)
        for column in self.place.T:
            there = column >= 0
            part = weights[column] / np.maximum(together, size.clip(1) * 1e-300)
            amount = self.weight * share * part
            borne += np.bincount(column[there], amount[there], len(borne))
        spread: Floats = (borne / self.copies)[self.pair_of_record]
        return spread


def subsets(
    history: History,
    others: Sequence[Facet],
    several: Facet,
    weight: str | Mapping[Any, float],
) -> Subsets:
    """All sets of so many items of every event of a history."""
    parts = [coded(history, facet) for facet in others]
    if not all(part.of_events for part in parts):
        raise DivulgeError(
            "attacker, knows: several items are known of a whole event, so beside them only what "
            "all of its records share can be known (its day, its number of kinds)"
        )
    key = (history.event_of_record.astype(np.int64) << 32) | items(history, several.level)
    pairs, of_record, copies = np.unique(key, return_inverse=True, return_counts=True)
    starts = np.searchsorted(pairs >> 32, np.arange(history.events + 1))
    kinds = np.diff(starts)
    most = min(several.size, int(kinds.max()))
    event, place, weights = [], [], []
    for size in range(1, most + 1):
        which = kinds >= size if size == most else kinds == size
        if which.any():
            chosen = np.flatnonzero(which)
            found = _of_size(starts, copies, chosen, size)
            event.append(found[0])
            place.append(np.pad(found[1], ((0, 0), (0, most - size)), constant_values=-1))
            weights.append(found[2])
    all_events = np.concatenate(event)
    if weight == "event":
        weigh = np.ones(len(all_events))
    else:
        each = weight_of_record(history, weight)[history.user_of_event[all_events]]
        weigh = np.concatenate(weights) * each
    return Subsets(
        all_events,
        np.concatenate(place),
        weigh,
        weight == "event",
        of_record.astype(np.int64),
        copies,
        pairs & 0xFFFFFFFF,
    )


def _of_size(starts: Ints, copies: Ints, events: Ints, size: int) -> Any:
    kinds = np.diff(starts)[events].astype(np.float64)
    ways = np.ones(len(kinds))
    for step in range(size):
        ways *= np.maximum(kinds - step, 0) / (step + 1)
    MemoryPlan(f"all sets of {size} items", {"sets": int(ways.sum()) * BYTES_A_SUBSET}).require(
        "ask for fewer items, or for a coarser level of them"
    )
    return run(
        kernels.subsets,  # type: ignore[arg-type]  # gives three arrays
        int(ways.sum()),
        starts,
        copies,
        events,
        size,
    )


def matched_alone(
    history: History,
    others: Sequence[Facet],
    several: Facet,
    weight: str | Mapping[Any, float],
) -> tuple[Subsets, Tally, Ints, Any]:
    """Sets of items looked up in the history that they come from: who has an event with all?

    Of each set also how many users match, and whether the best guess finds the right one.
    """
    drawn = subsets(history, others, several, weight)
    event = [coded(history, facet).codes for facet in others]
    tallies = []
    matches = np.zeros(len(drawn.event), np.int64)
    hits = np.zeros(len(drawn.event), bool)
    size_of = (drawn.place >= 0).sum(axis=1)
    kinds = np.bincount(history.event_of_record[drawn.record_of_pair], minlength=history.events)
    starts = np.append(0, np.cumsum(kinds))
    for size in np.unique(size_of):
        targets = np.flatnonzero(size_of == size)
        # An event of few items may lie within the larger event of somebody else.
        held = (drawn.event[targets], drawn.place[targets, :size])
        if size < drawn.place.shape[1]:
            more = _of_size(starts, drawn.copies, np.flatnonzero(kinds >= size), int(size))
            held = (more[0], more[1])
        found = _tally(history, event, drawn, targets, held, int(size))
        tallies.append(found[0])
        matches[targets], hits[targets] = found[1], found[2]
    by_user = np.sum([tally.by_user for tally in tallies], axis=0)
    by_user[:, kernels.MOST] = np.max([tally.by_user[:, kernels.MOST] for tally in tallies], axis=0)
    by_matches = np.sum([tally.by_matches for tally in tallies], axis=0)
    whole = Tally(by_user, by_matches, sum(tally.cells for tally in tallies))
    return drawn, whole, matches, hits


def _tally(
    history: History,
    event: list[Ints],
    drawn: Subsets,
    targets: Ints,
    held: tuple[Ints, Ints],
    size: int,
) -> tuple[Tally, Ints, Any]:
    """Sort both sides by knowledge and user, and let the kernel merge them."""
    rows = np.concatenate([drawn.event[targets], held[0]])
    chosen = drawn.item[np.concatenate([drawn.place[targets, :size], held[1]])]
    shift = max(1, (history.users - 1).bit_length())
    parts = [*(codes[rows] for codes in event), *chosen.T]
    x, _ = combined(parts, len(rows), room=64 - shift)
    user = history.user_of_event[rows].astype(np.uint64)
    keys = (x.astype(np.uint64) << np.uint64(shift)) | user
    mine, theirs = keys[: len(targets)], keys[len(targets) :]
    order = np.argsort(mine)
    with work.step("Matching knowledge with users"):
        found: Any = run(
            kernels.tally_against,  # type: ignore[arg-type]  # gives several arrays
            len(keys),
            mine[order],
            drawn.weight[targets][order],
            np.sort(theirs),
            shift,
            history.users,
        )
    by_user, by_matches, matches, hits = found
    known = mine[order] >> np.uint64(shift)
    cells = int(np.count_nonzero(known[1:] != known[:-1])) + 1
    back, hit = np.empty_like(matches), np.empty_like(hits)
    back[order], hit[order] = matches, hits
    return Tally(by_user, by_matches, cells), back, hit
