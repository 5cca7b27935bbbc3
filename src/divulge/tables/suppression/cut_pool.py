"""The pool of cutting planes, bridge-less inequalities among them: each kept once.

Beside the adversary's cuts there are bridges: a suppressed cell that cannot move (it would be the
only unknown of some sum of sums) protects nobody, so no cheapest pattern has one. Fischetti and
Salazar call these inequalities bridge-less; they close most of what the adversary's cuts leave
open between the linear relaxation and whole patterns.
"""

from __future__ import annotations

from math import ceil, gcd

import numpy as np

from divulge.tables import tuning
from divulge.tables.feasibility.network import Network
from divulge.tables.suppression.problem import (
    ZERO_TOLERANCE,
    Cut,
    PatternAdversary,
    SuppressionProblem,
)
from divulge.work.arrays import Bools, Floats


class CutPool:
    """The cuts found so far for one problem, over its free cells (open and not primary).

    `column` gives the place of a cell among the free ones; `base` is what the primary cells cost
    anyway, and all prices differ from it by multiples of `unit`.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        self.adversary = PatternAdversary(problem)
        self.free = np.flatnonzero(problem.open & ~problem.start)
        self.column = np.full(len(problem.values), -1)
        self.column[self.free] = np.arange(len(self.free))
        self.cost = problem.cost[self.free]
        self.base = problem.price(problem.start)
        self.unit = max(gcd(*self.cost.tolist()), 1) if len(self.free) else 1
        self.cuts: list[Cut] = []
        self._cut_keys: set[bytes] = set()

    def to_pattern(self, columns: Floats) -> Bools:
        """The pattern that whole shares of the free cells mean."""
        pattern = self.problem.start.copy()
        pattern[self.free] = columns > 0.5
        return pattern

    def to_shares(self, columns: Floats) -> Floats:
        """Shares of all cells from those of the free ones."""
        share = self.problem.start.astype(float)
        share[self.free] = np.clip(columns, 0, 1)
        return share

    def round_up_bound(self, objective: float) -> int:
        """What a whole pattern costs at the least if a relaxation costs this, primary included."""
        return self.base + ceil(objective / self.unit - tuning.WHOLE_TOLERANCE) * self.unit

    def separate_shares(self, columns: Floats, tolerance: float) -> int:
        """Add the cuts that fractional shares violate; how many are new."""
        share = self.to_shares(columns)
        return self._add_cuts(
            [
                *self.adversary.find_cuts(share, tolerance),
                *find_bridge_cuts(self.problem, share, tolerance),
            ]
        )

    def forbid_pattern(self, pattern: Bools) -> int:
        """Add the cuts that a whole pattern violates; how many are new.

        Of each of the adversary's cuts follows that some cell outside the pattern is needed,
        which keeps its force where the coefficients were rounded.
        """
        cuts = self.adversary.find_cuts(pattern.astype(float))
        covers = []
        for cut in cuts:
            outside = cut.cells[~pattern[cut.cells]]
            covers.append(Cut(outside, np.ones(len(outside)), 1.0))
        return self._add_cuts(
            [*cuts, *covers, *find_bridge_cuts(self.problem, pattern.astype(float), ZERO_TOLERANCE)]
        )

    def is_protecting(self, pattern: Bools) -> bool:
        """Whether a whole pattern protects every primary cell."""
        return len(self.adversary.find_unprotected(pattern)) == 0

    def _add_cuts(self, cuts: list[Cut]) -> int:
        before = len(self.cuts)
        for cut in cuts:
            scale = cut.right if cut.right > 0 else 1.0
            name = cut.cells.tobytes() + np.round(cut.coefficients / scale, 9).tobytes()
            if name not in self._cut_keys:
                self._cut_keys.add(name)
                self.cuts.append(cut)
        return len(self.cuts) - before


def find_bridge_cuts(problem: SuppressionProblem, share: Floats, tolerance: float) -> list[Cut]:
    """Bridge cuts: a suppressed cell needs another one in each of its relations, or is published.

    Only cells that cost something: nothing is gained by publishing one that costs nothing.
    """
    net = problem.network
    eligible = (share > tolerance) & ~problem.start & (problem.cost > 0) & problem.open
    if not eligible.any():
        return []
    return (
        _find_network_bridges(net, share, eligible, tolerance)
        if net
        else _find_sum_bridges(problem, share, eligible, tolerance)
    )


def _find_network_bridges(
    net: Network,
    share: Floats,
    eligible: Bools,
    tolerance: float,
) -> list[Cut]:
    """In a network: a cut of nodes that a cell crosses with less company than its own share."""
    places = np.flatnonzero(eligible[net.cells])
    room = np.asarray(share[net.cells], dtype=float)
    upwards = np.zeros(len(places), dtype=bool)
    flow, reached = net.find_max_flows(
        room, room, places, falling=upwards, limit=room[places], tiny=1e-9
    )
    cuts = []
    for k in np.flatnonzero(flow < room[places] - tolerance):
        crossing = reached[k][net.tail] != reached[k][net.head]
        crossing[places[k]] = False
        cuts.append(_build_bridge_cut(net.cells[crossing], int(net.cells[places[k]])))
    return cuts


def _find_sum_bridges(
    problem: SuppressionProblem, share: Floats, eligible: Bools, tolerance: float
) -> list[Cut]:
    """Anywhere: a sum in which a cell has less company than its own share."""
    relations = problem.relations
    of_entry = relations.relation_of_entry
    total = np.bincount(of_entry, weights=share[relations.cells], minlength=relations.count)
    is_lonely = eligible[relations.cells] & (
        total[of_entry] - share[relations.cells] < share[relations.cells] - tolerance
    )
    cuts = []
    for entry in np.flatnonzero(is_lonely):
        relation = of_entry[entry]
        cells = relations.cells[relations.starts[relation] : relations.starts[relation + 1]]
        cell = int(relations.cells[entry])
        others = cells[problem.open[cells] & (cells != cell)]
        cuts.append(_build_bridge_cut(others, cell))
    return cuts


def _build_bridge_cut(others: np.ndarray, cell: int) -> Cut:
    """The others' shares are at least the cell's."""
    return Cut(np.append(others, cell), np.append(np.ones(len(others)), -1.0), 0.0)
