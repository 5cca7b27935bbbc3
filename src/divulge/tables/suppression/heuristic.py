"""Cell suppression heuristic: one primary cell after the other, by cheapest flows and programs.

For every primary cell that the pattern so far does not protect, the cheapest movement that
protects it (a flow in a network, a linear program elsewhere) adds the cells it uses. Cells that
are suppressed already are free, so movements share them. A movement that keeps all sums is its
own proof of safety. At the end, cells that nobody needs are published again. Every choice is
deterministic: by size of the demand, then by the order of the cells.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.solvers.highs import LinearProgram
from divulge.tables import tuning
from divulge.tables.feasibility.network import Network
from divulge.tables.suppression.problem import ZERO_TOLERANCE, PatternAdversary, SuppressionProblem
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Scopes = Callable[[int], Iterator[Bools]]
"""For a cell, ever larger sets of cells among which to look for a movement."""


def find_fast_pattern(
    problem: SuppressionProblem,
    scopes: Scopes | None = None,
    begin: Bools | None = None,
) -> tuple[Bools, list[int]]:
    """A protecting pattern; and the primary cells that no pattern protects."""
    adversary, movements = PatternAdversary(problem), Movements(problem)
    pattern = problem.start.copy() if begin is None else begin | problem.start
    order = np.lexsort([problem.primary, -(problem.rise_limit + problem.fall_limit)])
    hopeless = []
    with work.step("Choosing cells to suppress", len(order)) as step:
        for place in order:
            up, down = (
                adversary.measure_reach(pattern, np.array([place]))
                if problem.network
                else (None, None)
            )
            extended = _protect_cell(
                movements, pattern, int(place), up=up, down=down, scopes=scopes
            )
            if extended is None:
                hopeless.append(int(problem.primary[place]))
            else:
                pattern = extended
            step.advance()
    if not hopeless:
        pattern = _prune_pattern(problem, adversary, pattern)
    return pattern, hopeless


def _protect_cell(
    movements: Movements,
    pattern: Bools,
    place: int,
    *,
    up: np.ndarray | None,
    down: np.ndarray | None,
    scopes: Scopes | None,
) -> Bools | None:
    """The pattern with what else one primary cell needs; None if nothing helps."""
    problem = movements.problem
    upper, lower = int(problem.upper[place]), int(problem.lower[place])
    sliding, cell = int(problem.sliding[place]), int(problem.primary[place])
    if up is not None and down is not None:
        u, d = int(up[0]), int(down[0])
        if u >= upper and d >= lower and u + d >= sliding:
            return pattern
    else:
        u, d = 0, 0
    value = int(problem.values[cell])
    falls = [min(d, value), min(value, sliding), max(lower, min(value, sliding - u))]
    for scope in scopes(cell) if scopes is not None and problem.network is None else [problem.open]:
        options: list[tuple[int, int, int, Bools]] = []
        for fall in dict.fromkeys(max(lower, fall) for fall in falls):
            extended = movements.extend_pattern(
                pattern, cell, fall, max(upper, sliding - fall), scope
            )
            if extended is not None:
                options.append(
                    (problem.price(extended), int(extended.sum()), len(options), extended)
                )
        if options:
            return min(options)[3]
    fall = _find_furthest_fall(movements, pattern, cell, lower, min(value, sliding))
    return movements.extend_pattern(pattern, cell, fall, max(upper, sliding - fall), problem.open)


def _find_furthest_fall(
    movements: Movements, pattern: Bools, cell: int, least: int, most: int
) -> int:
    """The furthest that a cell can fall if all open cells may move."""
    low, high = least, most
    while low < high:
        middle = (low + high + 1) // 2
        if movements.extend_pattern(pattern, cell, middle, 0, movements.problem.open) is None:
            high = middle - 1
        else:
            low = middle
    return low


class Movements:
    """The cheapest movements of single cells: flows in a network, linear programs elsewhere.

    The program of a set of cells is kept and only its bounds and costs change, so that the next
    cell of the same family begins where the last one ended.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        self._programs: OrderedDict[bytes, LinearProgram] = OrderedDict()

    @cached_property
    def _columns(self) -> csc_array:
        """The independent relations by cells: small sets of cells are found at once."""
        relations = self.problem.relations
        matrix = relations.to_matrix(len(self.problem.values))
        return matrix[np.flatnonzero(relations.independent)].tocsc()

    def extend_pattern(
        self, base_pattern: Bools, cell: int, fall: int, rise: int, scope: Bools
    ) -> Bools | None:
        """The pattern with the cells that let one fall and rise so far; None if they cannot."""
        pattern = base_pattern
        for amount, falling in ((fall, True), (rise, False)):
            if amount > 0:
                extended = (
                    self._extend_by_flow(self.problem.network, pattern, cell, amount, falling)
                    if self.problem.network is not None
                    else self._extend_by_program(pattern, cell, amount, falling, scope)
                )
                if extended is None:
                    return None
                pattern = extended
        return pattern

    def _extend_by_flow(
        self, net: Network, base_pattern: Bools, cell: int, amount: int, falling: bool
    ) -> Bools | None:
        problem = self.problem
        values = problem.values[net.cells]
        rise = np.full(len(values), np.int64(2**60))
        place = int(np.searchsorted(net.cells, cell))
        movement, is_used = net.find_cheap_cycles(
            rise,
            values,
            problem.cost[net.cells],
            suppressed=base_pattern[net.cells],
            cell=place,
            falling=falling,
            amount=amount,
        )
        if movement < amount:
            return None
        pattern = base_pattern.copy()
        pattern[net.cells[is_used]] = True
        return pattern

    def _extend_by_program(
        self, base_pattern: Bools, cell: int, amount: int, falling: bool, scope: Bools
    ) -> Bools | None:
        """The movement of least cost, by a linear program over the cells of a scope."""
        problem = self.problem
        cells = np.flatnonzero(scope & problem.open)
        column, count = int(np.searchsorted(cells, cell)), len(cells)
        high = np.concatenate([np.full(count, float(problem.ceiling)), problem.values[cells]])
        low = np.zeros(2 * count)
        own, opposite = (count + column, column) if falling else (column, count + column)
        low[own] = high[own] = amount
        high[opposite] = 0
        program = self._load_program(cells)
        program.bound_columns(low, high)
        # Using a little of a free cell costs a little, so that no needless cell is moved.
        price = np.where(
            base_pattern[cells], tuning.FREE_CELL_PRICE, problem.cost[cells].astype(float)
        )
        room = np.minimum(amount, np.maximum(problem.values[cells], 1))
        answer = program.minimise(np.concatenate([price, price * amount / room]))
        if not answer.is_optimal:
            return None
        is_moved = np.abs(answer.values[:count] - answer.values[count:]) > ZERO_TOLERANCE
        pattern = base_pattern.copy()
        pattern[cells[is_moved]] = True
        return pattern

    def _load_program(self, cells: Ints) -> LinearProgram:
        from scipy.sparse import csr_array, hstack

        name = cells.tobytes()
        if name not in self._programs:
            matrix = csr_array(self._columns[:, cells])
            matrix = matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)]
            nothing, none = np.zeros(matrix.shape[0]), np.zeros(2 * len(cells))
            stacked = hstack([matrix, -matrix], format="csr")
            self._programs[name] = LinearProgram(stacked, nothing, nothing, lower=none, upper=none)
            if len(self._programs) > tuning.MAX_CACHED_PROGRAMS:
                self._programs.popitem(last=False)
        self._programs.move_to_end(name)
        return self._programs[name]


def _prune_pattern(
    problem: SuppressionProblem, adversary: PatternAdversary, base_pattern: Bools
) -> Bools:
    """The pattern without cells that nobody needs, the dearest first."""
    extra = np.flatnonzero(base_pattern & ~problem.start)
    cells = len(problem.values) if problem.network else tuning.PROGRAM_CELLS
    work_of_one = len(problem.primary) * cells
    order: Sequence[int] | Ints = extra[np.lexsort([-extra, -problem.cost[extra]])]
    unit = tuning.NETWORK_PRUNING_UNIT if problem.network else tuning.PROGRAM_PRUNING_UNIT
    if work_of_one * len(extra) > tuning.MAX_PRUNING_WORK * unit:
        return base_pattern
    pattern = base_pattern
    for cell in order:
        without = pattern.copy()
        without[cell] = False
        if len(adversary.find_unprotected(without)) == 0:
            pattern = without
    return pattern
