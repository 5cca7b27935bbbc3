"""Search scopes of the heuristic: movements among the neighbours of a cell, then further out.

A movement among the parts of the same totals leaves the totals as they are, so it keeps all sums
of the whole table: in a table with subtotals, most cells are protected by their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from divulge.tables.suppression.heuristic import Scopes
from divulge.tables.table.axis import Axis
from divulge.tables.table.structure import Structure
from divulge.work.arrays import Bools


def build_scopes(structure: Structure) -> Scopes:
    """For each cell of a structure: its siblings, then its wider families, then all cells."""
    homes: dict[int, tuple[int, tuple[int, ...]]] = {}
    for table, numbers in enumerate(structure.numbers):
        for place, cell in enumerate(numbers.ravel()):
            coordinates = np.unravel_index(place, numbers.shape)
            homes.setdefault(int(cell), (table, tuple(int(c) for c in coordinates)))

    @cache
    def find_family(table: int, k: int, code: int, steps: int) -> Bools:
        axis = structure.grids[table][k]
        chain = axis.chain(code)
        return (
            _find_descendants(axis, chain[steps])
            if steps < len(chain)
            else np.ones(axis.size, dtype=bool)
        )

    def enumerate_scopes(cell: int) -> Iterator[Bools]:
        table, coordinates = homes[cell]
        axes = structure.grids[table]
        for steps in range(1, max(axis.height for axis in axes) + 1):
            inside = [find_family(table, k, code, steps) for k, code in enumerate(coordinates)]
            mask = np.zeros(structure.size, dtype=bool)
            mask[structure.numbers[table][np.ix_(*inside)]] = True
            yield mask
        yield np.ones(structure.size, dtype=bool)

    return enumerate_scopes


def _find_descendants(axis: Axis, code: int) -> Bools:
    """All codes that are part of a code, at any depth; not the code itself."""
    mask = np.zeros(axis.size, dtype=bool)
    waiting = [code]
    while waiting:
        parts = axis.parts(waiting.pop())
        mask[parts] = True
        waiting.extend(int(part) for part in parts)
    return mask
