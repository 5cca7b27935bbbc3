"""Who contributes to a cell: how many, and how much the largest give.

Rules of sensitivity ask for the largest contributors of every cell, margins included; a
contributor with several records in a cell counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from divulge.tables.axis import Axis, IntArray


@dataclass(frozen=True, eq=False)
class Contributions:
    """Each contributor's amount in each inner cell it contributes to."""

    axes: tuple[Axis, ...]
    codes: tuple[IntArray, ...]
    contributor: IntArray
    amount: IntArray

    @classmethod
    def of(
        cls,
        axes: Sequence[Axis],
        codes: Sequence[IntArray],
        contributor: IntArray,
        amount: IntArray,
    ) -> Contributions:
        """From the codes, the contributor and the amount of every record."""
        return cls(tuple(axes), tuple(codes), contributor, amount)

    def counts(self) -> IntArray:
        """How many contributors each cell has, in the order of the cells."""
        return self._by_cell(1)[0]

    def largest(self, how_many: int) -> IntArray:
        """The largest amounts of each cell's contributors: cells x how_many, zeros at the end."""
        return self._by_cell(how_many)[1]

    def _by_cell(self, how_many: int) -> tuple[IntArray, IntArray]:
        shape = tuple(axis.size for axis in self.axes)
        cells = int(np.prod(shape))
        counts = np.zeros(cells, dtype=np.int64)
        largest = np.zeros((cells, how_many), dtype=np.int64)
        for climbed in product(*(self._ancestors(k) for k in range(len(self.axes)))):
            # A record stands in one cell for every choice of a level along each axis.
            exists = np.all([places >= 0 for places in climbed], axis=0)
            places = [p[exists] for p in climbed]
            if len(places[0]) == 0:
                continue
            cell = np.ravel_multi_index(tuple(places), shape)
            holding = self.contributor[exists]
            order = np.lexsort([holding, cell])
            cell, holding, amount = cell[order], holding[order], self.amount[exists][order]
            begins = np.ones(len(cell), dtype=bool)
            begins[1:] = (cell[1:] != cell[:-1]) | (holding[1:] != holding[:-1])
            of_each = np.add.reduceat(amount, np.flatnonzero(begins))
            of_cell = cell[begins]
            order = np.lexsort([-of_each, of_cell])
            of_cell, of_each = of_cell[order], of_each[order]
            rank = np.arange(len(of_cell)) - np.searchsorted(of_cell, of_cell)
            first = rank < how_many
            largest[of_cell[first], rank[first]] = of_each[first]
            counts += np.bincount(of_cell, minlength=cells)
        return counts, largest

    def _ancestors(self, k: int) -> list[IntArray]:
        """For each level, the code of each record there (-1: its chain is shorter)."""
        axis = self.axes[k]
        chains = [axis.chain(leaf) for leaf in range(axis.leaves)]
        height = max(map(len, chains))
        return [
            np.array([chain[level] if level < len(chain) else -1 for chain in chains])[
                self.codes[k]
            ]
            for level in range(height)
        ]
