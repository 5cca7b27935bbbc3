"""Codes that only totals have: how many there are, and what they may add to finer totals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from divulge.data import Dataset
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.auditing.totals import TotalsMatch
from divulge.reconstruction.problem.generalisation import Generalised
from divulge.work.arrays import Ints

SUPPRESSED = " (not of the records)"
"""What is added to a key of which there is no record, so that it stays apart from others."""


def count_suppressed_codes(tables: Sequence[TotalsMatch], records: Dataset) -> int:
    """Values of ungeneralised key attributes that only totals have."""
    count = 0
    for table in tables[1:] or tables:
        for column, of in table.totals.key.items():
            if of.prefix is None and of.level is None:
                mine = {str(v) for v in table.totals.dataset.columns[column].values.to_pylist()}
                theirs = {str(v) for v in records.columns[of.attribute].values.to_pylist()}
                count += len(mine - theirs)
    return count


def spread_slack_across(levels: Sequence[TableState]) -> None:
    """What codes that only one table has may add to the totals of each other table."""
    for onto, of in itertools.permutations(levels, 2):
        spread_slack(onto, of)


def spread_slack(onto: TableState, of: TableState) -> None:
    """What codes that only one table has may add to the totals of another.

    Rows whose key no record has are of records that are not published. Another table holds them
    too, where key and place agree as far as they can be compared; so a bin may hold less than its
    total by as much. How much that is at most is known if both tables add up before they round,
    or both round every amount in the same way; else it depends on how many records there are,
    which nobody is told.
    """
    if not len(of.totals_match.totals_without_records):
        return
    hidden = _HiddenAmounts(onto, of)
    for row in of.totals_match.totals_without_records:
        hidden.add_row(int(row))
    for row in range(len(onto.totals_match.key_of_row)):
        amounts = hidden.bound_row(row)
        if amounts is not None:
            # Another table may tell of other records.
            onto.slack[row] += amounts


class _HiddenAmounts:
    """What rows without records of one table hold, by key and place as far as another has them."""

    def __init__(self, onto: TableState, of: TableState) -> None:
        self.onto, self.of = onto, of
        self.columns = _match_key_columns(of.totals_match.totals.key, onto.totals_match.totals.key)
        self.place_of_onto, self.place_of_other = (
            _list_shared_places(onto, of),
            _list_shared_places(of, onto),
        )
        self.in_both = (set(self.place_of_onto) & set(self.place_of_other)) - {None}
        self.shared = [
            (i, of.attributes.index(name))
            for i, name in enumerate(onto.attributes)
            if name in of.attributes and onto.has_same_measure(of)
        ]
        self.at_place: dict[tuple[Any, ...], Ints] = {}
        self.anywhere: dict[tuple[Any, ...], Ints] = {}
        self.of_key: dict[tuple[Any, ...], Ints] = {}

    def add_row(self, row: int) -> None:
        """One more row of the other table."""
        amounts = np.zeros(len(self.onto.attributes), np.int64)
        for i, j in self.shared:
            amounts[i] = max(0, int(self.of.readings[j].high[row]))
        own = self.of.totals_match.key_of_row[row]
        key = tuple(own[i].removesuffix(SUPPRESSED)[:cut] for i, _, cut in self.columns)
        place = self.place_of_other[row]
        _add_amounts(self.of_key, key, amounts)
        if place in self.in_both:
            _add_amounts(self.at_place, (*key, place), amounts)
        else:
            _add_amounts(self.anywhere, key, amounts)

    def bound_row(self, row: int) -> Ints | None:
        """What a row may hold of them; None if it cannot hold any."""
        own = self.onto.totals_match.key_of_row[row]
        key = tuple(own[j].removesuffix(SUPPRESSED)[:cut] for _, j, cut in self.columns)
        place = self.place_of_onto[row]
        if place in self.in_both:
            candidates = [self.at_place.get((*key, place)), self.anywhere.get(key)]
        else:
            candidates = [self.of_key.get(key)]  # a place that the other does not know: all of them
        amounts = [candidate for candidate in candidates if candidate is not None]
        if not amounts:
            return None
        total: Ints = np.sum(amounts, axis=0)
        shared_amounts = {i for i, _ in self.shared}
        for i, reading in enumerate(self.onto.readings):
            if i not in shared_amounts:  # nothing is known of how much: the bin may be empty
                total[i] = max(0, int(reading.low[row]))
        return total


def _add_amounts(slack: dict[tuple[Any, ...], Ints], at: tuple[Any, ...], amounts: Ints) -> None:
    slack[at] = slack.get(at, np.zeros_like(amounts)) + amounts


def _list_shared_places(level: TableState, other: TableState) -> list[str | None]:
    """The place of every row by the coarser of two tables' places; None if they share none."""
    mine, theirs = level.totals_match.totals, other.totals_match.totals
    for column in (mine.finest, theirs.finest):
        if column in mine.places and column in theirs.places:
            codes, names = level.totals_match.look_up_places(column)
            return [names[code] for code in codes]
    return [None] * mine.dataset.rows


def _match_key_columns(
    of: dict[str, Generalised], onto: dict[str, Generalised]
) -> list[tuple[int, int, int | None]]:
    """Columns of two keys that tell of the same: where they are, and how many characters agree."""
    columns = []
    for i, one in enumerate(of.values()):
        for j, other in enumerate(onto.values()):
            if one.at_least_as_fine_as(other):
                columns.append((i, j, other.prefix))
            elif other.at_least_as_fine_as(one):
                columns.append((i, j, one.prefix))
    return columns
