"""Codes that only totals have: how many there are, and what they may add to finer totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from divulge.data import Dataset
from divulge.reconstruction.amounts import Ints
from divulge.reconstruction.generalised import Generalised
from divulge.reconstruction.level import Level
from divulge.reconstruction.totals import Matched

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


def spread_slack(onto: Level, of: Level) -> None:
    """What codes that only one table has may add to the totals of another.

    Rows whose key no record has are of records that are not published. Another table with coarser
    keys holds them too, in the same place, in the coarser one it lies in, or anywhere within it; so
    a bin may hold less than its total by as much. How much that is at most can be told if both
    tables add up before they round, or both round every amount in the same way; else it depends on
    how many records there are, which nobody is told.
    """
    to_key = _key_to_key(of.matched.totals.key, onto.matched.totals.key)
    places = _in_common(onto, of)
    if to_key is None or places is None or not len(of.matched.totals_without_records):
        return
    place_of_onto, place_of_other = places
    shared = [
        (i, of.attributes.index(name))
        for i, name in enumerate(onto.attributes)
        if name in of.attributes and onto.measures_as(of)
    ]
    slack: dict[tuple[Any, ...], Ints] = {}
    for row in of.matched.totals_without_records:
        at = (*to_key(of.matched.key_of_row[row]), place_of_other(int(row)))
        added = slack.setdefault(at, np.zeros(len(onto.attributes), np.int64))
        for i, j in shared:
            added[i] += max(0, int(of.readings[j].high[row]))
    unknown = [i for i in range(len(onto.attributes)) if i not in {s[0] for s in shared}]
    for row, key in enumerate(onto.matched.key_of_row):
        found = slack.get((*key, place_of_onto(row)))
        if found is not None:
            slack_of_row = found.copy()
            for i in unknown:  # nothing is known of how much: the bin may be empty
                slack_of_row[i] = max(0, int(onto.readings[i].low[row]))
            # Another table may tell of other records.
            onto.slack[row] += slack_of_row


def _in_common(onto: Level, of: Level) -> tuple[Callable[[int], str], Callable[[int], str]] | None:
    """The place of a row in either table, by the coarser of their places; None if there is none."""
    for column in (of.matched.totals.finest, onto.matched.totals.finest):
        if column in onto.matched.totals.places and column in of.matched.totals.places:
            both = onto.matched.within(column), of.matched.within(column)
            first, second = (lambda row, at=at: at[1][at[0][row]] for at in both)
            return first, second
    return None


def _key_to_key(
    coarse: dict[str, Generalised], fine: dict[str, Generalised]
) -> Callable[[tuple[str, ...]], tuple[str, ...]] | None:
    """How a key of one table becomes a key of another; None if that cannot be told."""
    columns = list(coarse.values())
    places = []
    for of in fine.values():
        match = [i for i, other in enumerate(columns) if other.at_least_as_fine_as(of)]
        if not match:
            return None
        places.append((match[0], of))
    return lambda key: tuple(key[i].removesuffix(SUPPRESSED)[: of.prefix] for i, of in places)
