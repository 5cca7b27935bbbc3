"""Wildcard matching of rows: who may be whom, record by record, in the loops of suppression.

Rows are codes by attribute, and HIDDEN where a cell is. Under `maybe` a hidden cell on either side
may be anything; under `known` the asker is an original record, and only the released row may hide:
a cell that was missing in the original fits a hidden one alone.

Invariant of every function here: `matches[q]` counts the records that fit row q, and changes by one
exactly where a record's hidden cells make it fit, or stop fitting.
"""

from __future__ import annotations

from divulge.engines import kernel
from divulge.work.arrays import Array

HIDDEN = -1


@kernel
def may_match(query: Array, row: Array, known: bool) -> bool:
    """Whether a released row may be the one that is asked for.

    Invariant: on the attributes before a, it may.
    """
    for a in range(row.size):
        if row[a] == HIDDEN or row[a] == query[a]:
            continue
        if query[a] == HIDDEN and not known:
            continue
        return False
    return True


@kernel
def count_matches(codes: Array, count: Array, size: int, row: Array) -> int:
    """How many records may be like a row (under `maybe`), itself included if it is counted.

    Invariant: `total` counts those of the rows before q.
    """
    total = 0
    for q in range(size):
        if count[q] > 0 and may_match(codes[q], row, False):
            total += count[q]
    return total


@kernel
def count_listed_matches(codes: Array, count: Array, listed: Array, row: Array) -> int:
    """The same among some rows.

    Invariant: `total` counts those of the rows listed before place.
    """
    total = 0
    for place in range(listed.size):
        q = listed[place]
        if count[q] > 0 and may_match(codes[q], row, False):
            total += count[q]
    return total


@kernel
def update_match_counts(
    codes: Array, matches: Array, size: int, old: Array, new: Array, known: bool
) -> None:
    """One record's row becomes another: whoever it fits now gains one, whoever it fitted loses.

    Invariant: `matches` is right for the new row before q, and for the old one from q on.
    """
    for q in range(size):
        matches[q] += int(may_match(codes[q], new, known)) - int(may_match(codes[q], old, known))


@kernel
def may_reveal(
    codes: Array, count: Array, matches: Array, size: int,
    old: Array, new: Array, known: bool, k: int,
) -> bool:  # fmt: skip
    """Whether everybody keeps k where one record's row becomes a more telling one.

    Invariant: all whom the old row fits among the rows before q keep k.
    """
    for q in range(size):
        if (
            (count[q] > 0 or known)
            and matches[q]
            - int(may_match(codes[q], old, known))
            + int(may_match(codes[q], new, known))
            < k
            and may_match(codes[q], old, known)
        ):
            return False
    return True
