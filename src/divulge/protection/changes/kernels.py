"""Who may be whom, record by record: the hot loops of suppression.

Rows are codes by attribute, and HIDDEN where a cell is. Under `maybe` a hidden cell on either side
may be anything; under `known` the asker is an original record, and only the released row may hide:
a cell that was missing in the original fits a hidden one alone.

Invariant of every function here: `found[q]` counts the records that fit row q, and changes by one
exactly where a record's hidden cells make it fit, or stop fitting.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from divulge.engines import kernel

Array = npt.NDArray[Any]

HIDDEN = -1


@kernel
def fits(asking: Array, row: Array, known: bool) -> bool:
    """Whether a released row may be the one that is asked for."""
    for a in range(row.size):
        if row[a] == HIDDEN or row[a] == asking[a]:
            continue
        if asking[a] == HIDDEN and not known:
            continue
        return False
    return True


@kernel
def company(codes: Array, count: Array, size: int, row: Array) -> int:
    """How many records may be like a row (under `maybe`), itself included if it is counted."""
    total = 0
    for q in range(size):
        if count[q] > 0 and fits(codes[q], row, False):
            total += count[q]
    return total


@kernel
def exchange(codes: Array, found: Array, size: int, old: Array, new: Array, known: bool) -> None:
    """One record's row becomes another: whoever it fits now gains one, whoever it fitted loses."""
    for q in range(size):
        found[q] += int(fits(codes[q], new, known)) - int(fits(codes[q], old, known))


@kernel
def may_return(
    codes: Array, count: Array, found: Array, size: int, old: Array, new: Array, known: bool, k: int
) -> bool:  # fmt: skip
    """Whether everybody keeps k where one record's row becomes a more telling one."""
    for q in range(size):
        if (
            (count[q] > 0 or known)
            and found[q] - int(fits(codes[q], old, known)) + int(fits(codes[q], new, known)) < k
            and fits(codes[q], old, known)
        ):
            return False
    return True


@kernel
def best_to_hide(
    codes: Array, count: Array, size: int, row: Array, allowed: Array, costs: Array
) -> int:
    """The attribute whose hiding gives a row the most company for its cost; -1 if none is left."""
    best, most = -1, -1.0
    trial = row.copy()
    for a in range(row.size):
        if row[a] == HIDDEN or not allowed[a]:
            continue
        trial[a] = HIDDEN
        value = company(codes, count, size, trial) / costs[a]
        trial[a] = row[a]
        if value > most:
            best, most = a, value
    return best
