"""Linked tables: several tables as one, in which cells with the same codes are the same cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from divulge.tables.table.contributions import Contributions, LinkedContributions
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Structure
from divulge.tables.table.structure import link as link_structures
from divulge.tables.table.table import MAX_REPORTED_CELLS, Table
from divulge.work import InvalidInput, Problem, Problems


def link(*tables: Table) -> Table:
    """Several tables as one: cells with the same codes and the same measure are the same cell.

    >>> by_region = Table.from_cells([[3, 9], [8, 4]], names=["region", "sex"])
    >>> by_age = Table.from_cells([[5, 7], [6, 6]], names=["region", "age"])
    >>> both = link(by_region, by_age)
    >>> both.structure.size, both.structure.is_linked
    (15, True)
    """
    _refuse_linked(tables)
    decimals = max(table.decimals for table in tables)
    pairs = [(table.structure, table.measure) for table in tables]
    structure = link_structures(pairs)
    units = np.zeros(structure.size, dtype=np.int64)
    is_filled = np.zeros(structure.size, dtype=bool)
    problems = Problems("linked tables")
    for number, table in enumerate(tables):
        own_cells = structure.numbers[number].ravel()
        scaled = table.units * 10 ** (decimals - table.decimals)
        conflicts = np.flatnonzero(is_filled[own_cells] & (units[own_cells] != scaled))
        for cell in conflicts[:MAX_REPORTED_CELLS]:
            message = f"has another value in table {number + 1} than in an earlier one."
            problems.add(structure.locate_cell(int(own_cells[cell])), message)
        units[own_cells], is_filled[own_cells] = scaled, True
    problems.raise_any()
    [measure, *other_measures] = {table.measure for table in tables}
    lowest = _find_common_lowest(tables, decimals)
    contributions = _link_contributions(tables, structure, decimals)
    measure_name = "several" if other_measures else measure
    return Table(structure, units, decimals, measure_name, lowest, contributions)


def link_published(*tables: Published) -> Published:
    """Several published tables as one; a cell shown in one may not be suppressed in another."""
    _refuse_linked(tables)
    decimals = max(table.decimals for table in tables)
    structure = link_structures([(table.structure, table.measure) for table in tables])
    linked = Published(
        structure, np.zeros(structure.size, np.int64), np.zeros(structure.size, bool), decimals
    )
    is_filled = np.zeros(structure.size, dtype=bool)
    problems = Problems("linked tables")
    for number, table in enumerate(tables):
        own_cells = structure.numbers[number].ravel()
        conflicts = np.flatnonzero(
            is_filled[own_cells] & (linked.suppressed[own_cells] != table.suppressed)
        )
        for cell in conflicts[:MAX_REPORTED_CELLS]:
            message = f"is suppressed in one table and published in another (table {number + 1})."
            problems.add(structure.locate_cell(int(own_cells[cell])), message)
        scaled = np.where(table.suppressed, 0, table.units * 10 ** (decimals - table.decimals))
        published_twice = is_filled[own_cells] & ~linked.suppressed[own_cells] & ~table.suppressed
        for cell in np.flatnonzero(published_twice & (linked.units[own_cells] != scaled))[
            :MAX_REPORTED_CELLS
        ]:
            message = f"has another value in table {number + 1} than in an earlier one."
            problems.add(structure.locate_cell(int(own_cells[cell])), message)
        linked.units[own_cells] = scaled
        linked.suppressed[own_cells] = table.suppressed
        is_filled[own_cells] = True
    problems.raise_any()
    return replace(linked, measure=tables[0].measure, lowest=_find_common_lowest(tables, decimals))


def _find_common_lowest(tables: Sequence[Table] | Sequence[Published], decimals: int) -> int:
    """The smallest possible value, in which linked tables must agree."""
    lowest_values = {table.lowest * 10 ** (decimals - table.decimals) for table in tables}
    if len(lowest_values) > 1:
        message = "the tables differ in the lowest possible value of a cell; give all the same."
        raise InvalidInput("linked tables", [Problem("lowest", message)])
    return int(lowest_values.pop())


def _link_contributions(
    tables: Sequence[Table], structure: Structure, decimals: int
) -> LinkedContributions | None:
    """Who contributes, if that is known of every table."""
    parts = []
    for numbers, table in zip(structure.numbers, tables, strict=True):
        if not isinstance(table.contributions, Contributions):
            return None
        factor = 10 ** (decimals - table.decimals)
        parts.append((table.contributions, numbers.ravel(), factor))
    return LinkedContributions(tuple(parts), structure.size)


def _refuse_linked(tables: Sequence[Table] | Sequence[Published]) -> None:
    problems = Problems("linked tables")
    if not tables:
        problems.add("tables", "are none; give two or more.")
    if any(table.structure.is_linked for table in tables):
        problems.add("tables", "some are linked already: give all of them at once.")
    problems.raise_any()
