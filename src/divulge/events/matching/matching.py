"""Group-by on packed keys: whom knowledge fits, Pr(X), |R_X| and |U_X| for every X at once.

X and its event are packed into 64 bits and sorted, so that one pass over the runs sees, for
every X, which users it fits and with what weight. Knowledge that is the same for all records of
an event is counted by event, with the event's weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.events import tuning
from divulge.events.history import ordering
from divulge.events.history.history import History
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge.facets import (
    Facet,
    encode_facet,
    encode_items,
    pack_codes,
    spread_over_rows,
)
from divulge.events.matching import kernels
from divulge.qif.kernels import run
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Tally:
    """What one attacker finds, by user and in all. Shares are of the weight that was drawn."""

    by_user: Floats
    by_matches: Floats
    cells: int

    @property
    def weight(self) -> float:
        """All that can be drawn: records, events (or pairs), users."""
        return float(self.by_user[:, kernels.WEIGHT].sum())

    @property
    def right_uniform(self) -> float:
        """How much of it a guess among those who match gets right."""
        return float(self.by_user[:, kernels.RIGHT_UNIFORM].sum())

    @property
    def right_best(self) -> float:
        """How much of it the best guess gets right."""
        return float(self.by_user[:, kernels.RIGHT_BEST].sum())

    @property
    def certain(self) -> float:
        """How much of it fits one user only."""
        return float(self.by_user[:, kernels.CERTAIN].sum())

    @property
    def users_singled_out(self) -> int:
        """Users of whom something may be known that fits nobody else."""
        return int((self.by_user[:, kernels.WORST_CASE] == 1).sum())

    @property
    def largest_user(self) -> float:
        """The largest share of one user: what the best guess finds before."""
        return float(self.by_user[:, kernels.WEIGHT].max() / self.weight)


@dataclass(frozen=True, eq=False)
class KnowledgeMatching:
    """Knowledge of some facets, drawn from a history by a weight, and looked up in it."""

    history: History
    facets: Sequence[Facet]
    weight: str | Mapping[Any, float]

    @classmethod
    def from_attacker(cls, history: History, attacker: Attacker) -> KnowledgeMatching:
        """The matching of an attacker; checks what they know."""
        return cls(history, attacker.facets(history), attacker.weight)

    @cached_property
    def tally(self) -> Tally:
        """The figures, by one sort and one pass."""
        keys, shift = self._keys
        with work.step("Matching knowledge with users"):
            by_user, by_matches, _, _, cells = self._run_tally(np.sort(keys), shift, each=False)
        return Tally(by_user, by_matches, cells)

    def compute_shares(self, best: bool = True) -> tuple[float, float, float]:
        """Guessed right by a uniform guess and by the best, and certain: no more than totals.

        Where the best guess is not wanted it may be left out (and is then 0).
        """
        shares = self._count_shares(best)
        if shares is not None:
            return shares
        keys, shift = self._keys
        keys.sort()
        sums: Any = run(
            kernels.sum_knowledge,
            len(keys),
            keys,
            shift,
            self.history.user_of_event,
            self._weights,
            self._counts_once,
        )
        right, best, certain, total, _ = sums.tolist()
        return right / total, best / total, certain / total

    def _count_shares(self, best: bool) -> tuple[float, float, float] | None:
        """The totals where one item is known, by counting; None where it has to be by sorting.

        Beside the item all facets must be of the event, and have few enough values to count in.
        """
        history = self.history
        of_event = [facet for facet in self.facets if facet.kind != "item"]
        if len(of_event) != len(self.facets) - 1:
            return None
        parts = [encode_facet(history, facet) for facet in of_event]
        if not all(part.of_events for part in parts):
            return None
        cell, cells = _number_cells([part.codes for part in parts], history.events)
        if cells >> tuning.MAX_COUNTED_BITS or max(history.users, history.records) >= 2**31:
            return None
        [item] = [facet for facet in self.facets if facet.kind == "item"]
        starts, event = (
            ordering.list_events_by_item(history.ordered, encode_items(history, item.level))
            if item.level
            else history.by_item
        )
        cell <<= 32
        cell |= history.user_of_event
        postings = (starts, event, cell.view(np.uint64), cells)
        sums: Any
        if self.weight in ("record", "event") and not best:
            sums = run(kernels.count_by_item, len(event), *postings, self._counts_once)
        else:
            weights = np.zeros(0)
            if self.weight not in ("record", "event"):
                weights = weigh_record_by_user(history, self.weight)[history.user_of_event]
            sums = run(kernels.sum_by_item, len(event), *postings, weights, self._counts_once, best)
        right, guessed, certain, total, _ = sums.tolist()
        return right / total, guessed / total, certain / total

    def match_each_record(self) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """How many match each record, in the history's order, and if the best guess hits."""
        keys, shift = self._keys
        order = np.argsort(keys)
        _, _, matches, sorted_hits, _ = self._run_tally(keys[order], shift, each=True)
        at_place, hit = np.empty_like(matches), np.empty_like(sorted_hits)
        at_place[order], hit[order] = matches, sorted_hits
        if not self._of_events:
            return at_place, hit
        event = self.history.event_of_record
        return at_place[event], hit[event]

    def list_users_and_weights(self) -> tuple[Ints, Floats]:
        """|U_X| and the weight of X, for every X."""
        keys, shift = self._keys
        keys = np.sort(keys)
        event = (keys & np.uint64((1 << shift) - 1)).astype(np.int64)
        x = keys >> np.uint64(shift)
        user = self.history.user_of_event[event]
        new_x = np.append(True, x[1:] != x[:-1])
        new_user = new_x | np.append(True, user[1:] != user[:-1])
        is_counted = (
            np.append(True, keys[1:] != keys[:-1]) if self._counts_once else np.ones(len(x), bool)
        )
        cell = np.cumsum(new_x) - 1
        weights: Floats = np.bincount(cell, self._weights[event] * is_counted).astype(np.float64)
        return np.bincount(cell, new_user).astype(np.int64), weights

    def list_record_keys(self) -> npt.NDArray[np.uint64]:
        """X and event of each record, in the order of the history, as one number."""
        keys, _ = self._keys
        return keys[self.history.event_of_record] if self._of_events else keys

    def weigh_records(self) -> Floats:
        """What each record weighs when one is drawn, in the order of the history."""
        history = self.history
        weights: Floats = np.ones(history.records)
        if self.weight == "event":
            # Knowledge that several records of an event share is known once of the event.
            _, first = np.unique(self.list_record_keys(), return_index=True)
            weights = np.zeros(history.records)
            weights[first] = 1.0
        elif self.weight != "record":
            weights = weigh_record_by_user(history, self.weight)[
                history.user_of_event[history.event_of_record]
            ]
        return weights

    @cached_property
    def _codes_by_row(self) -> tuple[list[Ints], bool]:
        parts = [encode_facet(self.history, facet) for facet in self.facets]
        of_events = all(part.of_events for part in parts)
        return spread_over_rows(self.history, parts, of_events), of_events

    @property
    def _of_events(self) -> bool:
        return self._codes_by_row[1]

    @property
    def _keys(self) -> tuple[npt.NDArray[np.uint64], int]:
        """X above the event, in 64 bits; and how many bits the event has."""
        parts, of_events = self._codes_by_row
        events = self.history.events
        rows = events if of_events else self.history.records
        shift = max(1, (events - 1).bit_length())
        x, _ = pack_codes(parts, rows, room=64 - shift)
        event = np.arange(events) if of_events else self.history.event_of_record
        x <<= shift
        x |= event
        return x.view(np.uint64), shift

    @property
    def _counts_once(self) -> bool:
        return self.weight == "event"

    @property
    def _weights(self) -> Floats:
        """The weight of a row of each event."""
        history = self.history
        rows = history.records_of_event if self._of_events else np.ones(history.events, np.int64)
        if self.weight == "record":
            return rows.astype(np.float64)
        if self.weight == "event":
            return np.ones(history.events)
        return rows * weigh_record_by_user(history, self.weight)[history.user_of_event]

    def _run_tally(self, keys: npt.NDArray[np.uint64], shift: int, each: bool) -> Any:
        return run(
            kernels.tally_knowledge,  # type: ignore[arg-type]  # gives several arrays
            len(keys),
            keys,
            shift,
            self.history.user_of_event,
            self._weights,
            self._counts_once,
            self.history.users,
            each,
        )


def _number_cells(parts: Sequence[Ints], events: int) -> tuple[Ints, int]:
    """The cell of each event by all of some codes, numbered without gaps; and how many there are.

    So the counts of neighbouring cells share lines of the cache.
    """
    x, bits = pack_codes(parts, events, room=63)
    if bits > tuning.MAX_COUNTED_BITS:
        values, number = np.unique(x, return_inverse=True)
        return number.astype(np.int64), len(values)
    occurs = np.zeros(1 << bits, bool)
    occurs[x] = True
    numbers = np.cumsum(occurs) - 1
    return numbers[x], int(numbers[-1]) + 1


def weigh_record_by_user(history: History, weight: str | Mapping[Any, float]) -> Floats:
    """What one record of each user weighs if users are drawn; all users together weigh n."""
    chances = np.ones(history.users)
    if isinstance(weight, Mapping):
        chances = np.array([float(weight[user]) for user in history.user_values()])
        chances = chances * history.users / chances.sum()
    elif weight == "record":
        return np.ones(history.users)
    return chances / history.records_of_user
