"""The cell suppression problem on arrays: what must be protected, by how much, at what cost.

Fischetti and Salazar's model: a cell that must rise by `upper`, fall by `lower`, and have an
interval at least `sliding` wide; Minami and Abe's Definition 4 is `sliding` alone. Everything
that solves it (heuristic, cuts, enumeration in the tests) takes this one frozen type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.solvers.highs import LinearProgram
from divulge.tables import tuning
from divulge.tables.feasibility.network import Network, build_network
from divulge.tables.table.structure import Relations
from divulge.work.arrays import Bools, Floats, Ints

ZERO_TOLERANCE = 1e-6


Shares = NDArray[Any]
"""Which share of each cell is suppressed: 0 or 1 in a pattern, anything between in a relaxation."""

MovementBound = Callable[[int], tuple[Floats, float]]
"""What bounds a movement: coefficients of suppressed cells, and a constant."""

CellMoves = tuple[Floats, Floats, MovementBound, MovementBound]
"""How far cells rise, how far they fall, and why no further."""


@dataclass(frozen=True, eq=False)
class SuppressionProblem:
    """Values (above their lowest), primary cells with their protection, costs, open cells."""

    relations: Relations
    values: Ints
    primary: Ints
    upper: Ints
    lower: Ints
    sliding: Ints
    cost: Ints
    open: Bools

    @cached_property
    def network(self) -> Network | None:
        """The network of the cells that may be suppressed, if they form one."""
        return build_network(self.relations, self.open)

    @cached_property
    def rise_limit(self) -> Ints:
        """How far each primary cell need rise at the most."""
        return np.maximum(self.upper, self.sliding)

    @cached_property
    def fall_limit(self) -> Ints:
        """How far each primary cell need fall at the most."""
        return np.maximum(self.lower, np.minimum(self.sliding, self.values[self.primary]))

    @cached_property
    def ceiling(self) -> int:
        """How far any cell may be thought to rise.

        In a network a movement by w moves no cell by more than w. Elsewhere it may move others
        by a small multiple; `CEILING_FACTOR` times everything leaves room.
        """
        most = int(self.rise_limit.max(initial=0)), int(self.fall_limit.max(initial=0))
        if self.network is not None:
            return max(*most, 1)
        return tuning.CEILING_FACTOR * (int(self.values.max(initial=0)) + max(*most, 1))

    @cached_property
    def start(self) -> Bools:
        """The primary cells as a pattern."""
        pattern = np.zeros(len(self.values), dtype=bool)
        pattern[self.primary] = True
        return pattern

    def price(self, pattern: Bools) -> int:
        """What a pattern costs."""
        return int(self.cost[pattern].sum())


@dataclass(frozen=True, eq=False)
class Cut:
    """What every protecting pattern keeps: coefficients times suppressed cells >= right."""

    cells: Ints
    coefficients: Floats
    right: float


class PatternAdversary:
    """Answers how far primary cells can move under a pattern, and why no further.

    A pattern may be fractional: then cells may move by that share of what they might.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        self._net = problem.network
        self._program = None if self._net is not None else self._build_program()

    def measure_reach(self, pattern: Bools, places: Ints) -> tuple[Floats, Floats]:
        """How far some primary cells (by place in the list) can rise and fall, up to a limit."""
        up, down, _, _ = self._compute_moves(pattern.astype(np.int64), places, whole=True)
        return up, down

    def find_unprotected(self, pattern: Bools) -> Ints:
        """The places of the primary cells that a pattern does not protect."""
        places = np.arange(len(self.problem.primary))
        up, down = self.measure_reach(pattern, places)
        return places[self._find_lacking(up, down, places).any(axis=0)]

    def find_cuts(self, share: Floats, tolerance: float = ZERO_TOLERANCE) -> list[Cut]:
        """Cuts that a (fractional) pattern violates; none if it protects all primary cells."""
        places = np.arange(len(self.problem.primary))
        if self._net is None:
            return self._derive_cuts(self._move_by_programs(share, places), places, tolerance)
        is_integral = np.all((share < ZERO_TOLERANCE) | (share > 1 - ZERO_TOLERANCE))
        # A cut is strengthened once it is found, so that the flow sees only some of those that
        # are violated then: with less room in the free cells it meets the others.
        cuts = []
        for room in (1.0,) if is_integral else tuning.ROOM_SHARES:
            narrowed_shares = np.where(self.problem.start, share, share * room)
            # The cuts nearest to where a flow begins and to where it ends are different ones.
            for backwards in (False, True):
                moves = self._move_by_flows(self._net, narrowed_shares, places, False, backwards)
                cuts.extend(self._derive_cuts(moves, places, tolerance))
        violation = 0 if is_integral else tuning.KEPT_VIOLATION
        return [
            cut for cut in cuts if cut.coefficients @ share[cut.cells] < cut.right * (1 - violation)
        ]

    def _derive_cuts(self, moves: CellMoves, places: Ints, tolerance: float) -> list[Cut]:
        up, down, bound_rise, bound_fall = moves
        lacking = self._find_lacking(up, down, places, tolerance)
        cuts = []
        for place in np.flatnonzero(lacking.any(axis=0)):
            above, below = bound_rise(int(place)), bound_fall(int(place))
            demands = self.problem.upper, self.problem.lower, self.problem.sliding
            for kind, parts in enumerate(((above,), (below,), (above, below))):
                if lacking[kind, place]:
                    coefficients = sum(part[0] for part in parts)
                    right = float(demands[kind][place]) - sum(part[1] for part in parts)
                    cuts.append(self._build_cut(np.asarray(coefficients), right))
        return cuts

    def _build_cut(self, coefficients: Floats, right: float) -> Cut:
        """Primary cells are suppressed anyway; no coefficient need exceed what is asked."""
        primary_pattern = self.problem.start
        right -= float(coefficients[primary_pattern].sum())
        cells = np.flatnonzero(
            (coefficients > ZERO_TOLERANCE) & ~primary_pattern & self.problem.open
        )
        return Cut(cells, np.minimum(coefficients[cells], right), right)

    def _find_lacking(
        self, up: Floats, down: Floats, places: Ints, tolerance: float = ZERO_TOLERANCE
    ) -> Bools:
        problem = self.problem
        return np.array(
            [
                up < problem.upper[places] - tolerance,
                down < problem.lower[places] - tolerance,
                up + down < problem.sliding[places] - tolerance,
            ]
        )

    def _compute_moves(self, share: Shares, places: Ints, whole: bool) -> CellMoves:
        if self._net is not None:
            return self._move_by_flows(self._net, share, places, whole)
        return self._move_by_programs(share, places)

    def _move_by_flows(
        self, net: Network, share: Shares, places: Ints, whole: bool, backwards: bool = False
    ) -> CellMoves:
        problem = self.problem
        values = np.minimum(problem.values[net.cells], problem.ceiling)
        shares = share[net.cells]
        rise, fall = problem.ceiling * shares, values * shares
        targets = np.searchsorted(net.cells, problem.primary[places])
        limit = np.concatenate([problem.rise_limit[places], problem.fall_limit[places]])
        falling = np.repeat([False, True], len(places))
        both, tiny = np.concatenate([targets, targets]), 0 if whole else 1e-9
        if backwards:
            movement, reached = net.find_max_flows(
                fall, rise, both, falling=~falling, limit=limit, tiny=tiny
            )
        else:
            movement, reached = net.find_max_flows(
                rise, fall, both, falling=falling, limit=limit, tiny=tiny
            )

        def bound_movement(row: int, cell: int, most: float) -> tuple[Floats, float]:
            coefficients = np.zeros(len(problem.values))
            inside = reached[row]
            if not inside.any():  # it moved as far as it need: a bound of its own
                return coefficients, most
            inside = ~inside if backwards else inside
            leaves, enters = (
                inside[net.tail] & ~inside[net.head],
                inside[net.head] & ~inside[net.tail],
            )
            coefficients[net.cells] = leaves * problem.ceiling + enters * values
            coefficients[cell] = 0
            return coefficients, 0.0

        count = len(places)

        def bound_rise(k: int) -> tuple[Floats, float]:
            return bound_movement(k, int(problem.primary[places[k]]), float(limit[k]))

        def bound_fall(k: int) -> tuple[Floats, float]:
            return bound_movement(
                count + k, int(problem.primary[places[k]]), float(limit[count + k])
            )

        return (
            movement[:count].astype(float),
            movement[count:].astype(float),
            bound_rise,
            bound_fall,
        )

    def _build_program(self) -> LinearProgram:
        problem = self.problem
        matrix = problem.relations.to_matrix(len(problem.values))
        matrix = matrix[np.flatnonzero(problem.relations.independent)][
            :, np.flatnonzero(problem.open)
        ]
        zeros = np.zeros(matrix.shape[1])
        nothing = np.zeros(matrix.shape[0])
        return LinearProgram(matrix, nothing, nothing, lower=zeros, upper=zeros)

    def _move_by_programs(self, share: Shares, places: Ints) -> CellMoves:
        problem, program = self.problem, self._program
        assert program is not None  # noqa: S101  # made where there is no network
        cells = np.flatnonzero(problem.open)
        lower, upper = -problem.values[cells] * share[cells], problem.ceiling * share[cells]
        moves, cuts = np.zeros((2, len(places))), []
        for way, sign in enumerate((-1.0, 1.0)):
            cuts_of_way = []
            for k, place in enumerate(places):
                cell = int(problem.primary[place])
                column = int(np.searchsorted(cells, cell))
                low, high = lower.astype(float), upper.astype(float)
                low[column], high[column] = -problem.fall_limit[place], problem.rise_limit[place]
                program.bound_columns(low, high)
                objective = np.zeros(len(cells))
                objective[column] = sign
                answer = program.minimise(objective)
                moves[way, k] = -answer.objective
                # By duality the movement is bounded by prices times what cells may move.
                price = answer.reduced_costs
                coefficients = np.zeros(len(problem.values))
                bound = np.maximum(price, 0) * problem.values[cells]
                coefficients[cells] = bound + np.maximum(-price, 0) * problem.ceiling
                own = max(price[column], 0) * problem.fall_limit[place]
                own += max(-price[column], 0) * problem.rise_limit[place]
                coefficients[cell] = 0
                cuts_of_way.append((coefficients, float(own)))
            cuts.append(cuts_of_way)
        return moves[0], moves[1], cuts[0].__getitem__, cuts[1].__getitem__
