"""Bitset networks of at most 64 cells, whose patterns are numbers: exact in microseconds.

The small tables that a matching attack can exhaust are solved again and again, once a candidate.
Here a pattern is one 64-bit number and a search for a better one runs compiled. `optimal_pattern`
answers the same questions for tables of any kind and size; tests hold the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from divulge.tables import tuning
from divulge.tables.feasibility.network import Network, build_network
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.table.structure import Relations
from divulge.work.arrays import Bools, Ints

MOST_CELLS = 64


@dataclass(frozen=True, eq=False)
class BitNetwork:
    """The cells of a table that may be suppressed, as a network with a bit for each."""

    net: Network
    size: int

    @classmethod
    def from_relations(cls, relations: Relations, open_cells: Bools) -> BitNetwork | None:
        """The network of the cells that may be suppressed; None if they form none, or a large one.

        >>> from divulge.tables import Table
        >>> table = Table.from_cells([[7, 11], [10, 60]])
        >>> open_cells = table.structure.to_mask({(0, 0), (0, 1)})
        >>> found = BitNetwork.from_relations(table.structure.relations, open_cells)
        >>> found.to_bits(table.structure.to_mask({(0, 1)}))
        2
        """
        if not 0 < int(open_cells.sum()) <= MOST_CELLS:
            return None
        net = build_network(relations, open_cells)
        return None if net is None or net.nodes > MOST_CELLS else cls(net, len(open_cells))

    @cached_property
    def arcs(self) -> tuple[Ints, Ints, Ints]:
        """The arcs that leave each node: starts by node, arcs, and where each arc leads."""
        return self.net.arcs

    @cached_property
    def all(self) -> int:
        """The pattern that suppresses every cell that may be."""
        return self.to_bits(np.ones(self.size, dtype=bool))

    def to_bits(self, mask: Bools) -> int:
        """A pattern of cells as a number; cells that cannot be suppressed are left out."""
        inside = np.zeros(MOST_CELLS, dtype=np.uint8)
        inside[: len(self.net.cells)] = mask[self.net.cells]
        return int(np.packbits(inside, bitorder="little").view(np.int64)[0])

    def to_pattern(self, bits: int) -> Bools:
        """A number as a pattern of cells."""
        inside = np.unpackbits(np.array([bits], np.int64).view(np.uint8), bitorder="little")
        pattern = np.zeros(self.size, dtype=bool)
        pattern[self.net.cells] = inside[: len(self.net.cells)].astype(bool)
        return pattern

    def bit_places(self, cells: Ints) -> Ints:
        """The bits of some cells."""
        return np.searchsorted(self.net.cells, cells)


def find_first_optimum(problem: SuppressionProblem, bit_network: BitNetwork) -> Bools | None:
    """The first of the cheapest protecting patterns; None if nothing protects, or out of steps.

    Asks for sliding protection alone, the same for all primary cells, and costs from 1.
    """
    from divulge.tables.candidate_tables import pattern_kernels as kernels

    cells = bit_network.net.cells
    values, weights = problem.values[cells], problem.cost[cells]
    primary, everything = bit_network.to_bits(problem.start), bit_network.all
    width = int(problem.sliding.max(initial=0))
    scratch = (
        np.zeros(2 * len(cells), np.int64),
        np.zeros(bit_network.net.nodes, np.int64),
        np.zeros(bit_network.net.nodes, np.int64),
    )
    arcs = bit_network.arcs
    if not kernels.is_protecting(*arcs, values, everything, primary, width, *scratch):
        return None
    status, best = kernels.search_first_optimum(
        *arcs, values, primary, width, weights, everything, everything, tuning.MOST_PATTERN_STEPS
    )
    return bit_network.to_pattern(best) if status == 0 else None
