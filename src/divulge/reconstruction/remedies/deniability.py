"""Which records can be denied: two places are shown to be possible, by every table that has them.

That no place is certain is not yet a denial: time may have run out, or totals may contradict the
records, and then nothing was concluded. A place is shown by an allocation of the finest table that
has it there, and by one of every coarser table that has it in the coarser place. Where records have
a choice in both, it must be one allocation of all tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from divulge.reconstruction.auditing.cross_table_limits import places_in
from divulge.reconstruction.auditing.joint_allocation import shown_together
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.problem.amounts import Bools
from divulge.reconstruction.reporting.result import Reconstruction

TOGETHER = 2.0
"""Seconds in which allocations of all tables at once are looked for."""


@dataclass(frozen=True, eq=False)
class Deniable:
    """Per record, whether two places of it are shown, and whether more time might show them."""

    shown: Bools
    waiting: Bools


def deniable(
    found: Reconstruction, holds: Mapping[str, int] | None = None, seconds: float = TOGETHER
) -> Deniable:
    """Which records can be in two places at least, as far as that was shown.

    Args:
        found: the audit.
        holds: of how many places that were published before a place is made, if of several; who
            is in such a place can be in any of them.
        seconds: how long allocations of all tables at once are looked for.

    >>> import pyarrow as pa
    >>> from divulge.data import Dataset
    >>> from divulge.reconstruction import Totals, reconstruct
    >>> records = Dataset.from_arrow(pa.table({"product": ["1", "1"], "value": [5.0, 5.0]}))
    >>> table = pa.table({"product": ["1", "1"], "city": ["a", "b"], "value": [5, 5]})
    >>> totals = Totals(Dataset.from_arrow(table, name="t"), {"product": "product"}, "city")
    >>> cities = Dataset.from_arrow(pa.table({"city": ["a", "b"]}), name="parties")
    >>> found = reconstruct(records, [totals], cities, units={"value": "1"}, workers=1)
    >>> deniable(found).shown.tolist()
    [True, True]
    """
    fine, rows = found.levels[0], found.transactions.rows
    shown, waiting = np.zeros(rows, bool), np.zeros(rows, bool)
    before = np.array([(holds or {}).get(name, 1) for name in fine.matched.names], np.int64)
    coarser = [(places_in(level, fine), *_by_record(level, rows)) for level in found.levels[1:]]
    together = shown_together(found.levels, rows, seconds)
    for n, group in enumerate(fine.matched.groups):
        if not _tells(fine, n):
            continue
        there, in_time = _shown(fine, n), np.full(len(group.records), not _is_done(fine, n))
        for number_of_row, elsewhere, open_there in coarser:
            there = there & elsewhere[group.records][:, number_of_row[group.rows]]
            in_time |= open_there[group.records]
        there = together.get(n, there)
        # Who has one place left is nowhere else, whatever the others have shown by now.
        alone = fine.possible[n].sum(axis=1) == 1
        there = there | (fine.possible[n] & alone[:, None])
        shown[group.records] = there @ before[fine.matched.place[group.rows]] > 1
        waiting[group.records] = in_time & ~alone
    return Deniable(shown & found.sound, waiting & ~shown & found.sound)


def _tells(level: Level, n: int) -> bool:
    """Whether something is concluded from an instance: its totals contradict nothing."""
    silent = level.results[n] is None or level.is_unsound(n) or level.is_shaky(n)
    return not silent and n not in level.contradicted


def _is_done(level: Level, n: int) -> bool:
    return level.is_closed(n) or level.is_settled(n)


def _shown(level: Level, n: int) -> Bools:
    """The pairs of an instance that an allocation has which still holds, or that alone are left."""
    result, possible = level.results[n], level.possible[n]
    if result is not None and (result.possible != possible).any():
        # Other tables have taken pairs away since: what was proved may have needed them.
        result = result.narrowed(possible)
    alone: Bools = possible & (possible.sum(axis=1) == 1)[:, None]
    return alone if result is None else alone | (result.proved & possible)


def _by_record(level: Level, rows: int) -> tuple[Bools, Bools]:
    """Which places of a coarser table are shown for every record; and whose instance is open.

    All are, for records that the table does not have: it tells nothing of them.
    """
    shown = np.ones((rows, len(level.matched.names) + 1), bool)
    unsettled = np.zeros(rows, bool)
    for n, group in enumerate(level.matched.groups):
        inside = np.zeros((len(group.records), shown.shape[1]), bool)
        if _tells(level, n):
            inside[:, level.matched.place[group.rows]] = _shown(level, n)
            unsettled[group.records] = not _is_done(level, n)
        shown[group.records] = inside
    return shown, unsettled
