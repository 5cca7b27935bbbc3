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


def spread_slack(fine: Level, coarse: Level) -> None:
    """What suppressed codes add to finer totals: known for a coarser place, anywhere within it.

    Rows of the coarser table whose key no record has are of records that are not published. The
    finer totals hold them too, so a bin may hold less than its total by as much.
    """
    column = coarse.matched.totals.finest
    if column not in fine.matched.coarser or not len(coarse.matched.totals_without_records):
        return
    to_fine = _key_to_key(coarse.matched.totals.key, fine.matched.totals.key)
    if to_fine is None:
        return
    codes, names = fine.matched.coarser[column]
    slack: dict[tuple[Any, ...], Ints] = {}
    shared = [
        (i, coarse.attributes.index(name))
        for i, name in enumerate(fine.attributes)
        if name in coarse.attributes
    ]
    for row in coarse.matched.totals_without_records:
        key = to_fine(coarse.matched.key_of_row[row])
        at = (*key, coarse.matched.names[coarse.matched.place[row]])
        added = slack.setdefault(at, np.zeros(len(fine.attributes), np.int64))
        for i, j in shared:
            reading = coarse.readings[j]
            # Rounding may have lowered the row, and it is of one record or more.
            added[i] += int(reading.high[row] + reading.widening[:2][-1] + reading.deeper[:2][-1])
    unknown = [i for i in range(len(fine.attributes)) if i not in {s[0] for s in shared}]
    for row, key in enumerate(fine.matched.key_of_row):
        found = slack.get((*key, names[codes[row]]))
        if found is not None:
            slack_of_row = found + [int(reading.widening[:2][-1]) for reading in fine.readings]
            for i in unknown:  # nothing is known of how much: the bin may be empty
                slack_of_row[i] = max(0, int(fine.readings[i].low[row]))
            # Another table may have told of other codes.
            fine.slack[row] = np.maximum(fine.slack[row], slack_of_row)


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
    return lambda key: tuple(
        key[i] if of.prefix is None else key[i][: of.prefix] for i, of in places
    )
