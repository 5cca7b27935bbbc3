"""Codes that only totals have: how many there are, and what they may add to finer totals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from divulge.data import Dataset
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.auditing.totals import Matched
from divulge.reconstruction.problem.amounts import Ints
from divulge.reconstruction.problem.generalisation import Generalised

SUPPRESSED = " (not of the records)"
"""What is added to a key of which there is no record, so that it stays apart from others."""


def suppressed_codes(tables: Sequence[Matched], records: Dataset) -> int:
    """Values of ungeneralised key attributes that only totals have."""
    found = 0
    for table in tables[1:] or tables:
        for column, of in table.totals.key.items():
            if of.prefix is None and of.level is None:
                mine = {str(v) for v in table.totals.dataset.columns[column].values.to_pylist()}
                theirs = {str(v) for v in records.columns[of.attribute].values.to_pylist()}
                found += len(mine - theirs)
    return found


def spread_all(levels: Sequence[Level]) -> None:
    """What codes that only one table has may add to the totals of each other table."""
    for onto, of in itertools.permutations(levels, 2):
        spread_slack(onto, of)


def spread_slack(onto: Level, of: Level) -> None:
    """What codes that only one table has may add to the totals of another.

    Rows whose key no record has are of records that are not published. Another table holds them
    too, where key and place agree as far as they can be compared; so a bin may hold less than its
    total by as much. How much that is at most can be told if both tables add up before they round,
    or both round every amount in the same way; else it depends on how many records there are,
    which nobody is told.
    """
    if not len(of.matched.totals_without_records):
        return
    hidden = _Hidden(onto, of)
    for row in of.matched.totals_without_records:
        hidden.add(int(row))
    for row in range(len(onto.matched.key_of_row)):
        found = hidden.within(row)
        if found is not None:
            # Another table may tell of other records.
            onto.slack[row] += found


class _Hidden:
    """What rows without records of one table hold, by key and place as far as another has them."""

    def __init__(self, onto: Level, of: Level) -> None:
        self.onto, self.of = onto, of
        self.columns = _comparable(of.matched.totals.key, onto.matched.totals.key)
        self.place_of_onto, self.place_of_other = _places_by(onto, of), _places_by(of, onto)
        self.in_both = (set(self.place_of_onto) & set(self.place_of_other)) - {None}
        self.shared = [
            (i, of.attributes.index(name))
            for i, name in enumerate(onto.attributes)
            if name in of.attributes and onto.measures_as(of)
        ]
        self.at_place: dict[tuple[Any, ...], Ints] = {}
        self.anywhere: dict[tuple[Any, ...], Ints] = {}
        self.of_key: dict[tuple[Any, ...], Ints] = {}

    def add(self, row: int) -> None:
        """One more row of the other table."""
        held = np.zeros(len(self.onto.attributes), np.int64)
        for i, j in self.shared:
            held[i] = max(0, int(self.of.readings[j].high[row]))
        own = self.of.matched.key_of_row[row]
        key = tuple(own[i].removesuffix(SUPPRESSED)[:cut] for i, _, cut in self.columns)
        place = self.place_of_other[row]
        _enter(self.of_key, key, held)
        if place in self.in_both:
            _enter(self.at_place, (*key, place), held)
        else:
            _enter(self.anywhere, key, held)

    def within(self, row: int) -> Ints | None:
        """What a row may hold of them; None if it cannot hold any."""
        own = self.onto.matched.key_of_row[row]
        key = tuple(own[j].removesuffix(SUPPRESSED)[:cut] for _, j, cut in self.columns)
        place = self.place_of_onto[row]
        if place in self.in_both:
            found = [self.at_place.get((*key, place)), self.anywhere.get(key)]
        else:
            found = [self.of_key.get(key)]  # a place that the other does not know: all of them
        held = [some for some in found if some is not None]
        if not held:
            return None
        total: Ints = np.sum(held, axis=0)
        told = {i for i, _ in self.shared}
        for i, reading in enumerate(self.onto.readings):
            if i not in told:  # nothing is known of how much: the bin may be empty
                total[i] = max(0, int(reading.low[row]))
        return total


def _enter(slack: dict[tuple[Any, ...], Ints], at: tuple[Any, ...], held: Ints) -> None:
    slack[at] = slack.get(at, np.zeros_like(held)) + held


def _places_by(level: Level, other: Level) -> list[str | None]:
    """The place of every row by the coarser of two tables' places; None if they share none."""
    mine, theirs = level.matched.totals, other.matched.totals
    for column in (mine.finest, theirs.finest):
        if column in mine.places and column in theirs.places:
            codes, names = level.matched.within(column)
            return [names[code] for code in codes]
    return [None] * mine.dataset.rows


def _comparable(
    of: dict[str, Generalised], onto: dict[str, Generalised]
) -> list[tuple[int, int, int | None]]:
    """Columns of two keys that tell of the same: where they are, and how many characters agree."""
    found = []
    for i, one in enumerate(of.values()):
        for j, other in enumerate(onto.values()):
            if one.at_least_as_fine_as(other):
                found.append((i, j, other.prefix))
            elif other.at_least_as_fine_as(one):
                found.append((i, j, one.prefix))
    return found
