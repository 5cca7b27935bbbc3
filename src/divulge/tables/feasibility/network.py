"""Tables that are flow networks: every cell is an arc between the two sums that it stands in.

In a crosstab, and in one whose rows have subtotals, each cell enters at most two independent
sums, and signs can be chosen so that it leaves one and enters the other. Then movements of the
cells that keep all sums are circulations, and all bounds of integer cells are integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge import work
from divulge.tables import tuning
from divulge.tables.feasibility import network_kernels
from divulge.tables.table.structure import Relations
from divulge.work.arrays import Bools, Ints

UNBOUNDED = 2**60
"""More than any cell of a table can hold: a movement as large has no end."""


@dataclass(frozen=True, eq=False)
class Network:
    """Cells as arcs: cell `cells[e]` leads from node `tail[e]` to node `head[e]`."""

    cells: Ints
    tail: Ints
    head: Ints
    nodes: int

    @cached_property
    def arcs(self) -> tuple[Ints, Ints, Ints]:
        """The arcs that leave each node: starts by node, arcs, and where each arc leads."""
        return _list_arcs(self.tail, self.head, self.nodes)

    def find_max_flows(
        self,
        rise: NDArray[Any],
        fall: NDArray[Any],
        targets: Ints,
        *,
        falling: Bools,
        limit: NDArray[Any],
        tiny: float = 0,
    ) -> tuple[NDArray[Any], Bools]:
        """How far asked cells (places in `cells`) can move if each may rise and fall so much."""
        # Cells that cannot move carry nothing: most cells of a large table are published.
        is_active = (rise > tiny) | (fall > tiny)
        is_active[targets] = True
        active = np.flatnonzero(is_active)
        first, arcs, to = _list_arcs(self.tail[active], self.head[active], self.nodes)
        capacity = np.column_stack([rise[active], fall[active]]).ravel()
        places = np.searchsorted(active, targets)
        size = targets.size * to.size
        limits = np.asarray(limit, dtype=capacity.dtype)
        least = capacity.dtype.type(tiny)
        flow_amounts, reached = network_kernels.run_kernel(
            network_kernels.max_flows,
            size,
            first,
            arcs,
            to,
            capacity,
            places,
            falling,
            limits,
            least,
        )
        work.charge(tuning.MAXIMUM_FLOWS, size)
        return flow_amounts, reached.astype(bool)

    def find_cheap_cycles(
        self,
        rise: Ints,
        fall: Ints,
        cost: Ints,
        *,
        suppressed: Bools,
        cell: int,
        falling: bool,
        amount: int,
    ) -> tuple[int, Bools]:
        """Move one cell by an amount through cells that are cheap to suppress."""
        first, arcs, to = self.arcs
        capacity = np.column_stack([rise, fall]).ravel()
        movement, pattern = network_kernels.run_kernel(
            network_kernels.cheapest_cycles,
            to.size * tuning.CYCLE_WORK_PER_ARC,
            *(first, arcs, to, capacity, cost, suppressed, cell, int(falling), amount),
        )
        work.charge(tuning.CHEAP_CYCLES, to.size)
        return int(movement), pattern


def _list_arcs(tail: Ints, head: Ints, nodes: int) -> tuple[Ints, Ints, Ints]:
    leaves = np.column_stack([tail, head]).ravel()
    to = np.column_stack([head, tail]).ravel()
    order = np.argsort(leaves, kind="stable")
    return np.searchsorted(leaves[order], np.arange(nodes + 1)), order, to


def build_network(relations: Relations, among: Bools) -> Network | None:
    """The network that some cells form, all others being known; None if they form none."""
    is_inside = relations.independent[relations.relation_of_entry] & among[relations.cells]
    cells = np.flatnonzero(among)
    place = np.cumsum(among) - 1
    of_cell = place[relations.cells[is_inside]]
    relation, sign = relations.relation_of_entry[is_inside], relations.signs[is_inside]
    order = np.argsort(of_cell, kind="stable")
    of_cell, relation, sign = of_cell[order], relation[order], sign[order]
    count = np.bincount(of_cell, minlength=len(cells))
    if len(cells) == 0 or count.max() > 2:
        return None
    # The ends of each cell; a cell in one sum only leads to the ground, in none to itself.
    ground = relations.count
    begin = np.concatenate([[0], np.cumsum(count)])[:-1]
    one = np.full(len(cells), ground)
    other = np.full(len(cells), ground)
    sign_one, sign_other = np.ones(len(cells), int), np.zeros(len(cells), int)
    has_one, has_two = count >= 1, count == 2
    one[has_one], sign_one[has_one] = relation[begin[has_one]], sign[begin[has_one]]
    other[has_two] = relation[begin[has_two] + 1]
    sign_other[has_two] = sign[begin[has_two] + 1]
    flip = _orient_relations(one, other, sign_one * sign_other, ground)
    if flip is None:
        return None
    enters_one = sign_one * flip[one] > 0
    used, ends = np.unique(np.concatenate([one, other]), return_inverse=True)
    first, second = ends[: len(cells)], ends[len(cells) :]
    head = np.where(enters_one, first, second)
    tail = np.where(enters_one, second, first)
    return Network(cells, tail, head, len(used))


def _orient_relations(one: Ints, other: Ints, same: Ints, ground: int) -> Ints | None:
    """Which relations to multiply by -1 so that every cell has the signs +1 and -1.

    `same` is the product of a cell's two signs (0: one end is the ground, where all is well).
    """
    flip = np.zeros(ground + 1, dtype=np.int64)
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for a, b, product in zip(one.tolist(), other.tolist(), same.tolist(), strict=True):
        if product:
            neighbours.setdefault(a, []).append((b, product))
            neighbours.setdefault(b, []).append((a, product))
    for start in neighbours:
        if flip[start]:
            continue
        flip[start] = 1
        waiting = [start]
        while waiting:
            node = waiting.pop()
            for neighbour, product in neighbours[node]:
                required = -product * flip[node]
                if flip[neighbour] == 0:
                    flip[neighbour] = required
                    waiting.append(neighbour)
                elif flip[neighbour] != required:
                    return None
    flip[flip == 0] = 1
    return flip
