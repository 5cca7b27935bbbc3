"""Tables limit each other: the coarser places that are possible limit the finer ones, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.reconstruction.auditing.table_state import TableState
from divulge.work.arrays import Bools, Ints


def limit_fine(
    fine: TableState, coarse: Sequence[TableState], rows: int, certain_only: bool
) -> list[int]:
    """Limit the finest places by the coarser ones that are possible; which groups changed."""
    changed: set[int] = set()
    for level in coarse:
        column = level.totals_match.totals.finest
        allowed = _list_possible_places(level, rows, certain_only)
        codes, names = fine.totals_match.look_up_places(column)
        to_level = _number_names(names, level.totals_match.names)
        for n, group in enumerate(fine.totals_match.groups):
            of_bin = to_level[codes[group.rows]]
            keep = allowed[group.records][:, of_bin]
            changed |= _restrict_group(fine, n, keep)
    return sorted(changed)


def limit_coarse(fine: TableState, coarse: Sequence[TableState], rows: int) -> list[list[int]]:
    """Limit coarser places by the finest ones that are possible."""
    changed = []
    for level in coarse:
        column = level.totals_match.totals.finest
        codes, names = fine.totals_match.look_up_places(column)
        to_level = _number_names(names, level.totals_match.names)
        allowed = np.ones((rows, len(level.totals_match.names) + 1), bool)
        for n, group in enumerate(fine.totals_match.groups):
            result = fine.results[n]
            if result is None or fine.is_unsound(n):
                continue  # of records that cannot be used nothing is concluded, nor of the others
            inside = np.zeros((len(group.records), allowed.shape[1]), bool)
            for b, number in enumerate(to_level[codes[group.rows]]):
                inside[:, number] |= fine.possible[n][:, b]
            # Who may be in a place that the level does not know may be anywhere in it.
            inside |= inside[:, -1:].copy()
            inside |= (result.discardable | ~result.sure)[:, None]
            allowed[group.records] = inside
        of_level: set[int] = set()
        for n, group in enumerate(level.totals_match.groups):
            keep = allowed[group.records][:, level.totals_match.place[group.rows]]
            of_level |= _restrict_group(level, n, keep)
        changed.append(sorted(of_level))
    return changed


def map_places(level: TableState, fine: TableState) -> Ints:
    """Of every row of the finest table, the place of another that it lies in, as a number there.

    The number after the last is of a place that the other does not know.
    """
    codes, names = fine.totals_match.look_up_places(level.totals_match.totals.finest)
    return _number_names(names, level.totals_match.names)[codes]


def _restrict_group(level: TableState, n: int, keep: Bools) -> set[int]:
    """Take away pairs, but not a record's last: then the tables contradict each other."""
    if level.is_unsound(n) or n in level.contradictions:
        return set()
    remaining = level.possible[n] & keep
    somewhere = remaining.any(axis=1)
    free = level.find_discardable(n)
    if free is not None:
        somewhere |= free
    if not somewhere.all():
        return set()
    changed = (remaining != level.possible[n]).any()
    level.restrict(n, keep)
    return {n} if changed else set()


def _list_possible_places(level: TableState, rows: int, certain_only: bool) -> Bools:
    """Which places of a level are possible for every record; all, where nothing is known."""
    allowed = np.ones((rows, len(level.totals_match.names) + 1), bool)
    for n, group in enumerate(level.totals_match.groups):
        result = level.results[n]
        if result is None or level.is_unsound(n):
            continue
        inside = np.zeros((len(group.records), allowed.shape[1]), bool)
        inside[:, level.totals_match.place[group.rows]] = level.possible[n]
        free = result.discardable | ~result.sure
        if certain_only:
            free = free | (inside.sum(axis=1) != 1)
        inside[:, -1] = True  # of a place that the level does not know it says nothing
        allowed[group.records] = inside | free[:, None]
    return allowed


def _number_names(names: Sequence[str], among: Sequence[str]) -> Ints:
    """Where names stand among others; the place after the last for one that does not."""
    where = {name: number for number, name in enumerate(among)}
    return np.array([where.get(name, len(among)) for name in names], np.int64)
