"""Certificates: whole-numbered tables that show many cells at once to be as uncertain as is asked.

Where cells form no network, an interval costs two linear programs a cell. Whoever holds the true
table need not compute it to say that a cell is protected: other tables that keep every published
sum suffice. A few linear programs, in which many cells are drawn up or down at once, by chance,
give tables that differ from the true one in most cells; each is rounded, and counts if it keeps all
sums in whole numbers and no cell is below its least value. Cells that are left over need their
interval: no certificate does not mean that a cell is unprotected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.solvers.highs import INFINITE, LinearProgram
from divulge.tables import tuning
from divulge.tables.feasibility.cell_intervals import (
    build_equations,
    find_components,
    select_relations,
)
from divulge.tables.feasibility.network import build_network
from divulge.tables.feasibility.sensitivity import Protection
from divulge.tables.table.published import Published
from divulge.work.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, kw_only=True)
class Certificates:
    """Of every cell: is it certified, and between which values certificates show it."""

    is_certified: Bools
    low: Floats
    high: Floats


def certify_cells(
    published: Published, truth: Ints, sensitive: Bools, protection: Protection
) -> Certificates | None:
    """Certificates for the suppressed cells of a large table; None where intervals cost little.

    A sensitive cell is certified if whole-numbered tables show what the rules ask of it, another
    suppressed cell if some table has another value there.

    Args:
        published: what is published.
        truth: the values of all cells.
        sensitive: the cells of which the rules ask something.
        protection: how much that is.
    """
    if int(published.unknown.sum()) <= tuning.MOST_EXACT_CELLS:
        return None
    low, high = truth.astype(float), truth.astype(float)
    is_certified = np.zeros(len(truth), dtype=bool)
    goals = Protection(
        np.where(sensitive, protection.upper, 0),
        np.where(sensitive, protection.lower, 0),
        np.where(sensitive, np.maximum(protection.sliding, 1), 1),
    )
    with work.step("Certifying cells", int(published.unknown.sum())) as step:
        for component in find_components(published.structure.relations, published.unknown):
            part = select_relations(published.structure.relations, component)
            cells = np.flatnonzero(component)
            if build_network(part, component) is None:
                search = _Search(published, truth, component, goals)
                search.draw_tables()
                least = published.floor[cells]
                low[cells], high[cells] = search.low + least, search.high + least
                is_certified[cells] = ~search.find_open()
            step.advance(len(cells))
    return Certificates(is_certified=is_certified, low=low, high=high)


class _Search:
    """Tables of one connected group of suppressed cells, counted from their smallest values."""

    def __init__(
        self, published: Published, truth: Ints, component: Bools, goals: Protection
    ) -> None:
        least = published.floor
        self._cells = np.flatnonzero(component)
        part = select_relations(published.structure.relations, component)
        values = np.where(published.unknown, 0, published.units - least)
        self._matrix: csr_array
        self._matrix, self._right = build_equations(part, values, component, least)
        self._truth = (truth - least)[self._cells]
        self._goals = goals
        sliding = goals.sliding[self._cells]
        self._rise = np.maximum(goals.upper[self._cells], sliding)
        self._fall = np.minimum(np.maximum(goals.lower[self._cells], sliding), self._truth)
        self.low, self.high = self._truth.astype(float), self._truth.astype(float)

    def find_open(self) -> Bools:
        """The cells that no table shows to be uncertain enough."""
        return self._goals.is_lacking(self._cells, self._truth, self.low, self.high)

    def draw_tables(self) -> None:
        """Solve programs with random signs until they show nothing new."""
        if not np.array_equal(self._matrix @ self._truth, self._right):
            return  # what is published is of another table
        count = len(self._cells)
        program = LinearProgram(
            self._matrix,
            self._right,
            self._right,
            lower=np.zeros(count),
            upper=np.full(count, INFINITE),
        )
        random = np.random.default_rng(tuning.CERTIFICATE_SEED)
        stale = 0
        while stale < tuning.STALE_CERTIFICATES:
            is_open = self.find_open()
            left = int(is_open.sum())
            if not left:
                return
            # As far below as above: then the movement the other way round gives a table too.
            is_even = stale % 2 == 0
            answer = self._draw(program, is_open, random, is_even=is_even)
            if answer is not None:
                self._take(answer)
                self._take(2 * self._truth - answer)
            gain = left - int(self.find_open().sum())
            stale = 0 if gain > tuning.STALE_CERTIFICATE_SHARE * left else stale + 1
            work.check()

    def _draw(
        self, program: LinearProgram, is_open: Bools, random: np.random.Generator, *, is_even: bool
    ) -> Ints | None:
        """Draw each open cell up or down, no further than is asked of it."""
        lacks_rise = self.high - self._truth < self._rise
        lacks_fall = self._truth - self.low < self._fall
        signs = np.where(random.random(len(self._cells)) < 0.5, 1, -1)
        if not is_even:
            signs = np.where(lacks_rise & ~lacks_fall, 1, signs)
            signs = np.where(lacks_fall & ~lacks_rise, -1, signs)
        reach = np.where(signs > 0, self._rise, self._fall)
        is_drawn = is_open & (reach > 0)
        upper = 2.0 * self._truth if is_even else np.full(len(self._cells), INFINITE)
        lower = np.zeros(len(self._cells))
        upper = np.where(is_drawn & (signs > 0), np.minimum(upper, self._truth + reach), upper)
        lower = np.where(is_drawn & (signs < 0), self._truth - reach, lower)
        weight = 0.5 + random.random(len(self._cells)) / 2
        costs = np.where(is_drawn, -signs * weight / np.maximum(reach, 1), 0.0)
        for _ in range(tuning.CERTIFICATE_REPAIRS):
            program.bound_columns(lower, upper)
            answer = program.minimise(costs)
            if not answer.is_optimal:
                return None
            whole: Ints = np.round(answer.values).astype(np.int64)
            is_fractional = np.abs(answer.values - whole) > tuning.WHOLE_TOLERANCE
            if not is_fractional.any():
                return whole
            # Fractions lie together: where those cells stay as they are, the others are whole.
            lower[is_fractional] = upper[is_fractional] = self._truth[is_fractional]
        return None

    def _take(self, values: Ints) -> None:
        """A table shows something if it is whole, possible, and keeps all sums."""
        if values.min(initial=0) >= 0 and np.array_equal(self._matrix @ values, self._right):
            np.minimum(self.low, values, out=self.low)
            np.maximum(self.high, values, out=self.high)
