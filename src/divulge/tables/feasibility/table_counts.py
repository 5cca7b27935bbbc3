"""Backtracking count of the tables that agree with what is published: what each cell is in them.

Counted one by one, one connected group of suppressed cells after the other, as long as there are
not too many: then an adversary who thinks all of them equally likely is known exactly.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from divulge.solvers.highs import INFINITE
from divulge.tables import tuning
from divulge.tables.feasibility.cell_intervals import Intervals, find_components
from divulge.tables.table.published import Published
from divulge.work.arrays import Bools


def count_marginals(
    published: Published, cell_intervals: Intervals, most_steps: int = tuning.MOST_COUNTING_STEPS
) -> dict[int, Counter[int]]:
    """For every suppressed cell that can be counted: in how many tables it has which value.

    Cells of groups with too many tables are left out. `cell_intervals` covers all suppressed cells.

    >>> from divulge.tables.feasibility.cell_intervals import intervals
    >>> from divulge.tables.table.table import Table
    >>> published = Table.from_cells([[1, 2], [3, 4]]).publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> count_marginals(published, intervals(published))[0]
    Counter({0: 1, 1: 1, 2: 1, 3: 1})
    """
    low = dict(zip(cell_intervals.cells.tolist(), cell_intervals.lower.tolist(), strict=True))
    high = dict(zip(cell_intervals.cells.tolist(), cell_intervals.upper.tolist(), strict=True))
    marginal_counts: dict[int, Counter[int]] = {}
    for component in find_components(published.structure.relations, published.unknown):
        cells = np.flatnonzero(component).tolist()
        if any(high[cell] == INFINITE for cell in cells):
            continue
        limits = [(int(low[cell]), int(high[cell])) for cell in cells]
        value_counts = _count_component(published, component, cells, limits, most_steps)
        if value_counts is not None:
            marginal_counts.update(zip(cells, value_counts, strict=True))
    return marginal_counts


def _count_component(
    published: Published,
    component: Bools,
    cells: list[int],
    limits: list[tuple[int, int]],
    most_steps: int,
) -> list[Counter[int]] | None:
    """Walk through all assignments of a group, cell by cell; None if that takes too long."""
    if len(cells) > tuning.MOST_COUNTED_CELLS:  # deeper than Python walks
        return None
    relations = published.structure.relations
    matrix = relations.to_matrix(published.structure.size)
    published_units = np.where(published.suppressed, 0, published.units)
    rest: list[int] = [int(value) for value in -(matrix @ published_units)]
    place = {cell: k for k, cell in enumerate(cells)}
    sums: list[list[tuple[int, int]]] = [[] for _ in cells]
    last: dict[int, int] = {}
    inside = component[relations.cells]
    entries = relations.relation_of_entry[inside], relations.cells[inside], relations.signs[inside]
    for relation, cell, sign in zip(*(part.tolist() for part in entries), strict=True):
        sums[place[cell]].append((relation, sign))
        last[relation] = max(last.get(relation, -1), place[cell])
    enumeration = _TableEnumeration(limits, sums, last, rest, most_steps)
    return enumeration.counts if enumeration.enumerate_from(0) else None


class _TableEnumeration:
    """A walk through all values of some cells that keep their sums."""

    def __init__(
        self,
        limits: list[tuple[int, int]],
        sums: list[list[tuple[int, int]]],
        last: dict[int, int],
        rest: list[int],
        steps_left: int,
    ) -> None:
        self.limits, self.sums, self.rest = limits, sums, rest
        # The sums in which a cell comes last: what is left over decides it.
        self.closing_sums = [
            [s for s in of_cell if last[s[0]] == k] for k, of_cell in enumerate(sums)
        ]
        self.steps_left = steps_left
        self.values = [0] * len(limits)
        self.counts: list[Counter[int]] = [Counter() for _ in limits]

    def enumerate_from(self, k: int) -> bool:
        """Walk on from cell k; False if the steps are used up."""
        self.steps_left -= 1
        if self.steps_left < 0:
            return False
        if k == len(self.limits):
            for counter, value in zip(self.counts, self.values, strict=True):
                counter[value] += 1
            return True
        for value in self._list_possible_values(k):
            self.values[k] = value
            for relation, sign in self.sums[k]:
                self.rest[relation] -= sign * value
            may_continue = any(
                self.rest[relation] for relation, _ in self.closing_sums[k]
            ) or self.enumerate_from(k + 1)
            for relation, sign in self.sums[k]:
                self.rest[relation] += sign * value
            if not may_continue:
                return False
        return True

    def _list_possible_values(self, k: int) -> range:
        low, high = self.limits[k]
        for relation, sign in self.closing_sums[k]:
            value = self.rest[relation] * sign
            low, high = max(low, value), min(high, value)
        return range(low, high + 1)
