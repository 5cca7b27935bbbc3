"""What every protecting pattern keeps, gathered: cuts, each once, over the cells that are free.

Beside the adversary's cuts there are bridges: a suppressed cell that cannot move (it would be the
only unknown of some sum of sums) protects nobody, so no cheapest pattern has one. Fischetti and
Salazar call these inequalities bridge-less; they close most of what the adversary's cuts leave
open between the linear relaxation and whole patterns.
"""

from __future__ import annotations

from math import ceil, gcd

import numpy as np

from divulge.tables.audit.network import Network
from divulge.tables.suppression.problem import CLOSE, Adversary, Cut, SuppressionProblem
from divulge.tables.table.axis import FloatArray
from divulge.tables.table.structure import BoolArray


class Pool:
    """The cuts found so far for one problem, over its free cells (open and not primary).

    `column` gives the place of a cell among the free ones; `base` is what the primary cells cost
    anyway, and all prices differ from it by multiples of `unit`.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        self.adversary = Adversary(problem)
        self.free = np.flatnonzero(problem.open & ~problem.start)
        self.column = np.full(len(problem.values), -1)
        self.column[self.free] = np.arange(len(self.free))
        self.cost = problem.cost[self.free]
        self.base = problem.price(problem.start)
        self.unit = max(gcd(*self.cost.tolist()), 1) if len(self.free) else 1
        self.cuts: list[Cut] = []
        self._seen: set[bytes] = set()

    def pattern(self, columns: FloatArray) -> BoolArray:
        """The pattern that whole shares of the free cells mean."""
        pattern = self.problem.start.copy()
        pattern[self.free] = columns > 0.5
        return pattern

    def shares(self, columns: FloatArray) -> FloatArray:
        """Shares of all cells from those of the free ones."""
        share = self.problem.start.astype(float)
        share[self.free] = np.clip(columns, 0, 1)
        return share

    def at_least(self, objective: float) -> int:
        """What a whole pattern costs at the least if a relaxation costs this, primary included."""
        return self.base + ceil(objective / self.unit - 1e-6) * self.unit

    def separate(self, columns: FloatArray, tolerance: float) -> int:
        """Add the cuts that fractional shares violate; how many are new."""
        share = self.shares(columns)
        return self._add(
            [*self.adversary.cuts(share, tolerance), *bridges(self.problem, share, tolerance)]
        )

    def forbid(self, pattern: BoolArray) -> int:
        """Add the cuts that a whole pattern violates; how many are new.

        Of each of the adversary's cuts follows that some cell outside the pattern is needed,
        which keeps its force where the coefficients were rounded.
        """
        found = self.adversary.cuts(pattern.astype(float))
        covers = []
        for cut in found:
            outside = cut.cells[~pattern[cut.cells]]
            covers.append(Cut(outside, np.ones(len(outside)), 1.0))
        return self._add([*found, *covers, *bridges(self.problem, pattern.astype(float), CLOSE)])

    def protects(self, pattern: BoolArray) -> bool:
        """Whether a whole pattern protects every primary cell."""
        return len(self.adversary.unprotected(pattern)) == 0

    def _add(self, cuts: list[Cut]) -> int:
        before = len(self.cuts)
        for cut in cuts:
            scale = cut.right if cut.right > 0 else 1.0
            name = cut.cells.tobytes() + np.round(cut.coefficients / scale, 9).tobytes()
            if name not in self._seen:
                self._seen.add(name)
                self.cuts.append(cut)
        return len(self.cuts) - before


def bridges(problem: SuppressionProblem, share: FloatArray, tolerance: float) -> list[Cut]:
    """For cells with more of a share than leads around them: they need company, or go.

    Only cells that cost something: nothing is gained by publishing one that costs nothing.
    """
    net = problem.network
    asked = (share > tolerance) & ~problem.start & (problem.cost > 0) & problem.open
    if not asked.any():
        return []
    return (
        _around(net, share, asked, tolerance) if net else _alone(problem, share, asked, tolerance)
    )


def _around(
    net: Network,
    share: FloatArray,
    asked: BoolArray,
    tolerance: float,
) -> list[Cut]:
    """In a network: a cut of nodes that a cell crosses with less company than its own share."""
    places = np.flatnonzero(asked[net.cells])
    room = np.asarray(share[net.cells], dtype=float)
    upwards = np.zeros(len(places), dtype=bool)
    moved, reached = net.flows(room, room, places, upwards, room[places], 1e-9)
    found = []
    for k in np.flatnonzero(moved < room[places] - tolerance):
        crossing = reached[k][net.tail] != reached[k][net.head]
        crossing[places[k]] = False
        found.append(_company(net.cells[crossing], int(net.cells[places[k]])))
    return found


def _alone(
    problem: SuppressionProblem, share: FloatArray, asked: BoolArray, tolerance: float
) -> list[Cut]:
    """Anywhere: a sum in which a cell has less company than its own share."""
    relations = problem.relations
    of_entry = relations.of_entry
    total = np.bincount(of_entry, weights=share[relations.cells], minlength=relations.count)
    lonely = asked[relations.cells] & (
        total[of_entry] - share[relations.cells] < share[relations.cells] - tolerance
    )
    found = []
    for entry in np.flatnonzero(lonely):
        relation = of_entry[entry]
        cells = relations.cells[relations.starts[relation] : relations.starts[relation + 1]]
        cell = int(relations.cells[entry])
        others = cells[problem.open[cells] & (cells != cell)]
        found.append(_company(others, cell))
    return found


def _company(others: np.ndarray, cell: int) -> Cut:
    """The others' shares are at least the cell's."""
    return Cut(np.append(others, cell), np.append(np.ones(len(others)), -1.0), 0.0)
