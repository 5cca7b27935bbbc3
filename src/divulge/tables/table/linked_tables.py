"""Linked tables: several tables as one, in which cells with the same codes are the same cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from divulge.tables.table.contributions import LinkedContributions
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Structure
from divulge.tables.table.structure import link as link_structures
from divulge.tables.table.table import MOST_SHOWN, Table
from divulge.work import InvalidInput, Problem, Problems


def link(*tables: Table) -> Table:
    """Several tables as one: cells with the same codes and the same measure are the same cell.

    >>> by_region = Table.from_cells([[3, 9], [8, 4]], names=["region", "sex"])
    >>> by_age = Table.from_cells([[5, 7], [6, 6]], names=["region", "age"])
    >>> both = link(by_region, by_age)
    >>> both.structure.size, both.structure.linked
    (15, True)
    """
    _refuse_linked(tables)
    decimals = max(table.decimals for table in tables)
    pairs = [(table.structure, table.measure) for table in tables]
    structure = link_structures(pairs)
    units = np.zeros(structure.size, dtype=np.int64)
    seen = np.zeros(structure.size, dtype=bool)
    problems = Problems("linked tables")
    for number, table in enumerate(tables):
        mine = structure.numbers[number].ravel()
        scaled = table.units * 10 ** (decimals - table.decimals)
        differ = np.flatnonzero(seen[mine] & (units[mine] != scaled))
        for cell in differ[:MOST_SHOWN]:
            message = f"has another value in table {number + 1} than in an earlier one."
            problems.add(structure.place(int(mine[cell])), message)
        units[mine], seen[mine] = scaled, True
    problems.raise_any()
    [measure, *more] = {table.measure for table in tables}
    lowest = _lowest(tables, decimals)
    contributions = _contributions(tables, structure, decimals)
    named = "several" if more else measure
    return Table(structure, units, decimals, named, lowest, contributions)


def link_published(*tables: Published) -> Published:
    """Several published tables as one; a cell shown in one may not be suppressed in another."""
    _refuse_linked(tables)
    decimals = max(table.decimals for table in tables)
    structure = link_structures([(table.structure, table.measure) for table in tables])
    joined = Published(
        structure, np.zeros(structure.size, np.int64), np.zeros(structure.size, bool), decimals
    )
    seen = np.zeros(structure.size, dtype=bool)
    problems = Problems("linked tables")
    for number, table in enumerate(tables):
        mine = structure.numbers[number].ravel()
        torn = np.flatnonzero(seen[mine] & (joined.suppressed[mine] != table.suppressed))
        for cell in torn[:MOST_SHOWN]:
            message = f"is suppressed in one table and published in another (table {number + 1})."
            problems.add(structure.place(int(mine[cell])), message)
        scaled = np.where(table.suppressed, 0, table.units * 10 ** (decimals - table.decimals))
        shown = seen[mine] & ~joined.suppressed[mine] & ~table.suppressed
        for cell in np.flatnonzero(shown & (joined.units[mine] != scaled))[:MOST_SHOWN]:
            message = f"has another value in table {number + 1} than in an earlier one."
            problems.add(structure.place(int(mine[cell])), message)
        joined.units[mine] = scaled
        joined.suppressed[mine] = table.suppressed
        seen[mine] = True
    problems.raise_any()
    return replace(joined, measure=tables[0].measure, lowest=_lowest(tables, decimals))


def _lowest(tables: Sequence[Table] | Sequence[Published], decimals: int) -> int:
    """The smallest possible value, in which linked tables must agree."""
    found = {table.lowest * 10 ** (decimals - table.decimals) for table in tables}
    if len(found) > 1:
        message = "the tables differ in the lowest possible value of a cell; give all the same."
        raise InvalidInput("linked tables", [Problem("lowest", message)])
    return int(found.pop())


def _contributions(
    tables: Sequence[Table], structure: Structure, decimals: int
) -> LinkedContributions | None:
    """Who contributes, if that is known of every table."""
    parts = []
    for numbers, table in zip(structure.numbers, tables, strict=True):
        if table.contributions is None:
            return None
        factor = 10 ** (decimals - table.decimals)
        parts.append((table.contributions, numbers.ravel(), factor))
    return LinkedContributions(tuple(parts), structure.size)


def _refuse_linked(tables: Sequence[Table] | Sequence[Published]) -> None:
    problems = Problems("linked tables")
    if not tables:
        problems.add("tables", "are none; give two or more.")
    if any(table.structure.linked for table in tables):
        problems.add("tables", "some are linked already: give all of them at once.")
    problems.raise_any()
