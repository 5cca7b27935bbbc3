"""Tables limit each other: the coarser places that are possible limit the finer ones, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.problem.amounts import Bools, Ints


def limit_fine(fine: Level, coarse: Sequence[Level], rows: int, certain_only: bool) -> list[int]:
    """Limit the finest places by the coarser ones that are possible; which groups changed."""
    changed: set[int] = set()
    for level in coarse:
        column = level.matched.totals.finest
        allowed = _by_record(level, rows, certain_only)
        codes, names = fine.matched.within(column)
        to_level = _numbers(names, level.matched.names)
        for n, group in enumerate(fine.matched.groups):
            of_bin = to_level[codes[group.rows]]
            keep = allowed[group.records][:, of_bin]
            changed |= _narrow(fine, n, keep)
    return sorted(changed)


def limit_coarse(fine: Level, coarse: Sequence[Level], rows: int) -> list[list[int]]:
    """Limit coarser places by the finest ones that are possible."""
    changed = []
    for level in coarse:
        column = level.matched.totals.finest
        codes, names = fine.matched.within(column)
        to_level = _numbers(names, level.matched.names)
        allowed = np.ones((rows, len(level.matched.names) + 1), bool)
        for n, group in enumerate(fine.matched.groups):
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
        for n, group in enumerate(level.matched.groups):
            keep = allowed[group.records][:, level.matched.place[group.rows]]
            of_level |= _narrow(level, n, keep)
        changed.append(sorted(of_level))
    return changed


def places_in(level: Level, fine: Level) -> Ints:
    """Of every row of the finest table, the place of another that it lies in, as a number there.

    The number after the last is of a place that the other does not know.
    """
    codes, names = fine.matched.within(level.matched.totals.finest)
    return _numbers(names, level.matched.names)[codes]


def _narrow(level: Level, n: int, keep: Bools) -> set[int]:
    """Take away pairs, but not a record's last: then the tables contradict each other."""
    if level.is_unsound(n) or n in level.contradicted:
        return set()
    narrowed = level.possible[n] & keep
    somewhere = narrowed.any(axis=1)
    free = level.discardable(n)
    if free is not None:
        somewhere |= free
    if not somewhere.all():
        return set()
    changed = (narrowed != level.possible[n]).any()
    level.narrow(n, keep)
    return {n} if changed else set()


def _by_record(level: Level, rows: int, certain_only: bool) -> Bools:
    """Which places of a level are possible for every record; all, where nothing is known."""
    allowed = np.ones((rows, len(level.matched.names) + 1), bool)
    for n, group in enumerate(level.matched.groups):
        result = level.results[n]
        if result is None or level.is_unsound(n):
            continue
        inside = np.zeros((len(group.records), allowed.shape[1]), bool)
        inside[:, level.matched.place[group.rows]] = level.possible[n]
        free = result.discardable | ~result.sure
        if certain_only:
            free = free | (inside.sum(axis=1) != 1)
        inside[:, -1] = True  # of a place that the level does not know it says nothing
        allowed[group.records] = inside | free[:, None]
    return allowed


def _numbers(names: Sequence[str], among: Sequence[str]) -> Ints:
    """Where names stand among others; the place after the last for one that does not."""
    where = {name: number for number, name in enumerate(among)}
    return np.array([where.get(name, len(among)) for name in names], np.int64)
