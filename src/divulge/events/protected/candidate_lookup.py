"""Who may have it: every piece of knowledge looked up in a protected release.

What the original's records say is numbered (X); for each way in which the release may show it
(as it was, coarser, hidden), the users or events that show it so stand in posting lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.events.history.calendar import UNITS
from divulge.events.history.history import History
from divulge.events.knowledge.facets import Facet, encode_facet, pack_codes, spread_over_rows
from divulge.events.matching.matching import weigh_record_by_user
from divulge.events.protected import candidate_lookup_kernels as kernels
from divulge.events.protected.facet_compatibility import cover_facet
from divulge.events.protected.value_compatibility import expand_groups
from divulge.qif.kernels import run
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class UserNumbering:
    """The users of both sides under one number: those of the original first."""

    original: History
    release: History

    @cached_property
    def of_release(self) -> Ints:
        """The number of each user of the release."""
        number = {user: place for place, user in enumerate(self.original.user_values())}
        own = self.release.user_values()
        return np.array([number.setdefault(user, len(number)) for user in own], np.int64)

    @property
    def count(self) -> int:
        """How many there are on either side."""
        return max(self.original.users, int(self.of_release.max(initial=-1)) + 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Lookup:
    """Posting lists: for each way and each X, the units whose records may show it."""

    x_of_record: Ints
    """What each record of the original says, as a number."""
    starts: Ints
    stops: Ints
    unit: Ints
    copies: Floats
    record_starts: Ints
    """Where the records begin that let a unit of a list show it."""
    records: Ints
    of_records: int
    """Pieces below it are of single records, so that each needs a record of its own."""
    clear: npt.NDArray[np.bool_]
    """The ways in which a record shows one piece and no other."""
    user_of_unit: Ints
    users: int

    @property
    def pieces(self) -> int:
        """How many different pieces of knowledge there are."""
        return int(self.starts.shape[1])

    def match_draws(self, draws: Ints, target: Ints) -> Any:
        """How many users may have all of a draw, if the target is among them, and likeliest."""
        return run(
            kernels.match_draws,  # type: ignore[arg-type]  # gives three arrays
            len(draws) + len(self.unit),
            draws,
            target,
            self.starts,
            self.stops,
            self.unit,
            self.copies,
            self.record_starts,
            self.records,
            self.of_records,
            self.clear,
            self.user_of_unit,
            self.users,
        )

    def append_lookup(self, other: Lookup) -> Lookup:
        """Both as one: the other's pieces come after this one's, and are not of single records."""
        ways = len(self.starts) + len(other.starts)
        starts = np.zeros((ways, self.pieces + other.pieces), np.int64)
        stops = np.zeros_like(starts)
        own_block, other_pieces = (
            (slice(0, len(self.starts)), slice(0, self.pieces)),
            slice(self.pieces, None),
        )
        starts[own_block], stops[own_block] = self.starts, self.stops
        starts[len(self.starts) :, other_pieces] = other.starts + len(self.unit)
        stops[len(self.starts) :, other_pieces] = other.stops + len(self.unit)
        return replace(
            self,
            starts=starts,
            stops=stops,
            unit=np.concatenate([self.unit, other.unit]),
            copies=np.concatenate([self.copies, other.copies]),
            record_starts=np.concatenate(
                [self.record_starts, other.record_starts[1:] + len(self.records)]
            ),
            records=np.concatenate([self.records, other.records]),
            clear=np.concatenate([self.clear, other.clear]),
        )


def build_lookup(
    people: UserNumbering,
    facets: Sequence[Facet],
    weight: str | Mapping[Any, float],
    by_event: bool = False,
) -> Lookup:
    """Look up all that facets say of the original's records: by user, or by released event."""
    original, release = people.original, people.release
    parts = [encode_facet(original, facet) for facet in facets]
    spread = spread_over_rows(original, parts, of_events=False)
    key, _ = pack_codes(spread, original.records, room=63)
    _, example, x_of_record = np.unique(key, return_index=True, return_inverse=True)
    record, levels, codes = _list_entries(people, facets)
    as_known = tuple(UNITS.index(f.words) if f.kind == "when" else f.level for f in facets)
    way_of = np.zeros(len(record), np.int64)
    ways: list[tuple[int, ...]] = [()]
    if facets:
        ways, way_of = _list_ways(levels, as_known)
    unit = release.event_of_record if by_event else people.of_release[release.user_of_record]
    record_weights = _weigh_guesses(people, weight)[release.user_of_record]
    starts = np.zeros((len(ways), len(example)), np.int64)
    stops = np.zeros_like(starts)
    units, copies, filled = [], [], 0
    sizes, records, clear = [], [], []
    for way, at in enumerate(ways):
        is_chosen = way_of == way
        mine = record[is_chosen]
        original_keys = [
            each.original_codes[level][example] for each, level in zip(codes, at, strict=True)
        ]
        released_keys = [each.code[is_chosen] for each in codes]
        both = [np.concatenate(pair) for pair in zip(original_keys, released_keys, strict=True)]
        joint, _ = pack_codes(both, len(example) + len(mine), room=63)
        posting, first, have, weigh, begins, order = _build_postings(
            joint[len(example) :],
            unit[mine],
            release,
            record=mine,
            worth=record_weights,
            once=weight == "event",
        )
        place = np.searchsorted(first, joint[: len(example)])
        there = np.append(first, -1)[place] == joint[: len(example)]
        bounds = np.append(posting, len(have))
        starts[way] = np.where(there, bounds[place] + filled, 0)
        stops[way] = np.where(there, np.append(bounds, 0)[place + 1] + filled, 0)
        units.append(have)
        copies.append(weigh)
        sizes.append(np.diff(np.append(begins, len(order))))
        records.append(mine[order])
        # A month touches several weeks: it shows more than one, at their own level.
        clear.append(at == as_known and len(np.unique(mine)) == len(mine))
        filled += len(have)
    nothing = np.zeros(0, np.int64)
    user_of_unit = people.of_release[release.user_of_event] if by_event else np.arange(people.count)
    return Lookup(
        x_of_record=x_of_record.astype(np.int64),
        starts=starts,
        stops=stops,
        unit=np.concatenate([nothing, *units]),
        copies=np.concatenate([np.zeros(0), *copies]),
        record_starts=np.append(0, np.cumsum(np.concatenate([nothing, *sizes]))),
        records=np.concatenate([nothing, *records]),
        of_records=len(example),
        clear=np.array(clear, bool),
        user_of_unit=user_of_unit.astype(np.int64),
        users=people.count,
    )


@dataclass(frozen=True, eq=False)
class _ReleasedCodes:
    """The codes of entries by one facet, and how what is known looks at each level."""

    code: Ints
    original_codes: Mapping[int, Ints]


def _list_entries(
    people: UserNumbering, facets: Sequence[Facet]
) -> tuple[Ints, list[Ints], list[_ReleasedCodes]]:
    """All that the records of the release may show: one entry for each combination."""
    record = np.arange(people.release.records)
    levels: list[Ints] = []
    codes: list[_ReleasedCodes] = []
    for facet in facets:
        each = cover_facet(people.original, people.release, facet)
        starts = np.searchsorted(each.record, np.arange(people.release.records + 1))
        row, at = expand_groups(record, starts)
        levels = [*(level[row] for level in levels), each.level[at]]
        codes = [
            *(_ReleasedCodes(c.code[row], c.original_codes) for c in codes),
            _ReleasedCodes(each.code[at], each.original_codes),
        ]
        record = record[row]
    return record, levels, codes


def _list_ways(levels: list[Ints], as_known: tuple[int, ...]) -> tuple[list[tuple[int, ...]], Ints]:
    """The different combinations of levels, as it is known first, and which each entry is."""
    combinations, way_of = np.unique(np.stack(levels, axis=1), axis=0, return_inverse=True)
    ways = [tuple(row) for row in combinations.tolist()]
    order = sorted(range(len(ways)), key=lambda way: ways[way] != as_known)
    place = np.argsort(order)
    return [ways[way] for way in order], place[way_of.reshape(-1)]


def _build_postings(
    key: Ints, unit: Ints, release: History, *, record: Ints, worth: Floats, once: bool
) -> tuple[Ints, Ints, Ints, Floats, Ints, Ints]:
    """Starts and keys of lists of units in order, and what each unit's records there weigh.

    Also where the records of each unit of a list begin, and the order that brings them there.
    """
    weigh = worth[record]
    if once:  # a piece of knowledge counts once an event
        order = np.lexsort((release.event_of_record[record], unit, key))
        event = release.event_of_record[record][order]
        again = (key[order][1:] == key[order][:-1]) & (event[1:] == event[:-1])
        weigh = weigh[order] * ~np.append(False, again)
    else:
        order = np.lexsort((unit, key))
        weigh = weigh[order]
    key, unit = key[order], unit[order].astype(np.int64)
    new = np.append(True, (key[1:] != key[:-1]) | (unit[1:] != unit[:-1]))[: len(key)]
    begins = np.flatnonzero(new)
    total = np.add.reduceat(weigh, begins) if len(begins) else np.zeros(0)
    first, posting = np.unique(key[begins], return_index=True)
    return posting, first, unit[begins], total, begins, order


def _weigh_guesses(people: UserNumbering, weight: str | Mapping[Any, float]) -> Floats:
    """What a released record of each user weighs for the best guess."""
    release = people.release
    if not isinstance(weight, Mapping):
        return weigh_record_by_user(release, "record" if weight == "event" else weight)
    chances = [float(weight.get(user, 0.0)) for user in release.user_values()]
    # Somebody of whom the prior knows nothing is the last to be guessed.
    priors: Floats = np.maximum(np.array(chances), 1e-12)
    return priors / release.records_of_user
