"""Linked tables of the same records: whether there are records that show all of them.

Sums compare two tables in the attributes that both have. Where attributes go round in a ring (area
by sex, sex by age, age by area), there are tables that agree in all sums and yet are of no records:
who knows that all are of the same records excludes them. Elsewhere any tables that agree are of
some records (the attributes of the tables are an acyclic hypergraph).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from divulge import work
from divulge.solvers.cp_sat import solve_model
from divulge.tables import tuning
from divulge.tables.feasibility.sensitivity import Protection
from divulge.tables.table.axis import Axis
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Structure
from divulge.tables.table.table import Table
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats, Ints

SEVERAL_MEASURES = "several"
"""What linked tables are of which some count and others sum: there records are not looked at."""


def is_ring(tables: Sequence[Sequence[str]]) -> bool:
    """Whether the attributes of some tables go round in a ring (Graham's reduction ends early).

    >>> is_ring([["area", "sex"], ["sex", "age"]])
    False
    >>> is_ring([["area", "sex"], ["sex", "age"], ["age", "area"]])
    True
    """
    edges = [set(names) for names in tables]
    while edges:
        shared = [
            {name for name in edge if sum(name in other for other in edges) > 1} for edge in edges
        ]
        rest = [
            edge
            for place, edge in enumerate(shared)
            if not any(
                edge < other or (edge == other and before < place)
                for before, other in enumerate(shared)
                if before != place
            )
        ]
        if rest == edges:
            return True
        edges = [edge for edge in rest if edge]
    return False


def is_ring_of_tables(structure: Structure) -> bool:
    """Whether the attributes of linked tables go round in a ring."""
    return structure.is_linked and is_ring([[a.name for a in grid] for grid in structure.grids])


def is_limited_by_records(table: Table) -> bool:
    """Whether there are tables that agree in all sums and that no records show."""
    return is_ring_of_tables(table.structure) and table.lowest >= 0


def find_cells_known_by_records(
    published: Published, truth: Ints, cells: Ints, protection: Protection
) -> tuple[Bools, Bools]:
    """Which cells records leave too close, and of which that was not settled.

    Args:
        published: what is published, as its reader reads it.
        truth: the values of all cells.
        cells: the cells that are asked for.
        protection: how uncertain they must be.
    """
    values = truth[cells]
    parts = list_parts(published.structure, find_empty_cells(published))
    if parts is None or published.measure == SEVERAL_MEASURES:
        return np.zeros(len(cells), bool), published.suppressed[cells].copy()
    inner, outer = _find_extremes(published, parts, truth, cells)
    is_known = protection.is_lacking(cells, values, *outer)
    return is_known, protection.is_lacking(cells, values, *inner) & ~is_known


def find_empty_cells(published: Published) -> Bools:
    """The cells of which a reader knows that nothing is in them."""
    is_empty: Bools = ~published.suppressed & (published.units == 0)
    if published.empty is not None:
        is_empty |= published.suppressed & published.empty
    return is_empty


def list_parts(structure: Structure, is_empty: Bools) -> list[Ints] | None:
    """By cell, the combinations of all attributes that it adds up; None if they are too many.

    Combinations of which a cell is known to be empty are left out.
    """
    axes: dict[str, Axis] = {axis.name: axis for axes in structure.grids for axis in axes}
    if any(axes[axis.name].codes != axis.codes for grid in structure.grids for axis in grid):
        return None
    if prod(axis.leaves for axis in axes.values()) > tuning.MOST_COMBINATIONS:
        return None
    parts: list[list[int]] = [[] for _ in range(structure.size)]
    number = 0
    for leaves in product(*(range(axis.leaves) for axis in axes.values())):
        chains = {
            name: axis.chain(leaf) for (name, axis), leaf in zip(axes.items(), leaves, strict=True)
        }
        over = {
            int(numbers[codes])
            for grid, numbers in zip(structure.grids, structure.numbers, strict=True)
            for codes in product(*(chains[axis.name] for axis in grid))
        }
        if is_empty[list(over)].any():
            continue
        for cell in over:
            parts[cell].append(number)
        number += 1
    return [np.array(each, np.int64) for each in parts]


def _find_extremes(
    published: Published, parts: Sequence[Ints], truth: Ints, cells: Ints
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """How far each cell reaches in records that were found, and at the most."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    count = 1 + max((int(each.max()) for each in parts if len(each)), default=-1)
    largest = int(truth.max()) * 2 + int(np.abs(published.floor).max()) + 1
    amounts = [model.new_int_var(0, largest, f"x{number}") for number in range(count)]
    for cell, own in enumerate(parts):
        total = sum(amounts[number] for number in own)
        if not published.suppressed[cell]:
            model.add(total == int(published.units[cell]))
        elif published.unknown[cell] and int(published.floor[cell]) > 0:
            model.add(total >= int(published.floor[cell]))
    low, high = truth[cells].astype(float), truth[cells].astype(float)
    least, most = low.copy(), high.copy()
    effort = Effort(tuning.WHOLE_TABLE_SECONDS)
    hidden = np.flatnonzero(published.unknown[cells])
    with work.step("Looking for records that show the tables", len(hidden)) as step:
        for place in hidden:
            total = sum(amounts[number] for number in parts[cells[place]])
            model.minimize(total)
            found = solve_model(model, effort)
            least[place] = np.rint(found.bound)
            low[place] = min(low[place], found.objective if found.is_solution else low[place])
            model.maximize(total)
            found = solve_model(model, effort)
            most[place] = np.rint(found.bound)
            high[place] = max(high[place], found.objective if found.is_solution else high[place])
            # Beyond the range that is looked at a cell may be anything.
            if high[place] >= largest:
                most[place] = np.inf
            step.advance()
    return (low, high), (least, most)
