"""What the public can compute: the feasibility interval of every suppressed cell.

A suppressed cell may hold whatever leaves all published sums true and no cell below its lowest
possible value (Minami and Abe 2019, Sec. 2.3, with the published cells fixed). Where the cells
form a network the bounds are maximum flows, and integers by themselves. Elsewhere they are
linear programs; rounded inwards they hold for whole numbers, but a whole-numbered table need not
reach them, and `integral` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.solvers.highs import INFINITE, Program
from divulge.tables.audit.disclosure_proof import Disclosure, disclosure
from divulge.tables.audit.exact_extremes import Extremes
from divulge.tables.audit.network import UNBOUNDED, Network, network
from divulge.tables.table.axis import FloatArray, IntArray
from divulge.tables.table.display import Crosstab, crosstabs, interval_texts, kinds_of
from divulge.tables.table.published import Published, floor
from divulge.tables.table.structure import BoolArray, Key, Relations
from divulge.work import InvalidInput, Problem
from divulge.work.conditions import Step

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Number = int | float


@dataclass(frozen=True, eq=False)
class Intervals(Mapping[Key, tuple[Number, Number]]):
    """The feasibility interval of every suppressed cell, by its coordinates."""

    published: Published
    cells: IntArray
    lower: FloatArray
    upper: FloatArray
    integral: bool

    def __getitem__(self, key: Key) -> tuple[Number, Number]:
        place = int(np.searchsorted(self.cells, self.published.structure.number(key)))
        if place == len(self.cells) or self.cells[place] != self.published.structure.number(key):
            raise KeyError(key)
        return self._number(self.lower[place]), self._number(self.upper[place])

    def __iter__(self) -> Iterator[Key]:
        return (self.published.structure.addresses[cell] for cell in self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def widths(self) -> FloatArray:
        """How wide each interval is, in the order of the cells, in units."""
        return self.upper - self.lower

    @cached_property
    def disclosed(self) -> list[Key]:
        """The suppressed cells whose value everybody can compute."""
        structure = self.published.structure
        return [structure.addresses[cell] for cell in self.cells[self.widths == 0]]

    def disclosures(self) -> list[Disclosure]:
        """For every disclosed cell, the sums by which it is computed."""
        return [self.why(key) for key in self.disclosed]

    def why(self, key: Key) -> Disclosure:
        """The sums that disclose a cell.

        >>> import divulge as dv
        >>> published = dv.tables.Table.from_cells([[7, 11], [10, 60]]).publish({(0, 0)})
        >>> print(intervals(published).why((0, 0)))
        row=r1, column=c1 is known: column=c1: row adds up to Total.
        """
        if key not in self.disclosed:
            raise InvalidInput("why", [Problem(str(key), "is not exactly disclosed.")])
        place = int(np.searchsorted(self.cells, self.published.structure.number(key)))
        return disclosure(self.published, int(self.cells[place]), int(self.lower[place]))

    def to_dict(self) -> dict[str, Any]:
        """The intervals as plain values, for JSON."""
        structure = self.published.structure
        cells = []
        for cell in self.cells:
            low, high = self[structure.addresses[cell]]
            cells.append(
                {
                    "cell": list(structure.addresses[cell]),
                    "label": structure.label(int(cell)),
                    "lower": low,
                    "upper": None if high == INFINITE else high,
                }
            )
        return {"integral": self.integral, "disclosed": len(self.disclosed), "cells": cells}

    def crosstabs(self, primary: Any = None) -> list[Crosstab]:
        """What is published, with [from, to] in the suppressed cells; one a table.

        >>> import divulge as dv
        >>> published = dv.tables.Table.from_cells([[7, 11], [10, 60]]).publish({(0, 0)})
        >>> intervals(published).crosstabs()[0].rows[0]
        ('r1', '[7, 7]', '11', '18')
        """
        published, structure = self.published, self.published.structure
        found = {
            int(cell): (self._number(low), self._number(high))
            for cell, low, high in zip(self.cells, self.lower, self.upper, strict=True)
        }
        texts = list(interval_texts(published.texts(), found, published.decimals))
        known = structure.mask(self.disclosed)
        return crosstabs(
            structure, texts, kinds_of(published.suppressed, structure.mask(primary), known)
        )

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.crosstabs())

    def _number(self, units: float) -> Number:
        if units == INFINITE:
            return units
        decimals = self.published.decimals
        return units / 10**decimals if decimals else int(units)


def intervals(published: Published, cells: Any = None) -> Intervals:
    """The feasibility interval of every suppressed cell (or of some of them).

    Raises:
        InvalidInput: if nothing could be behind what is published.

    >>> from divulge.tables.table.table import Table
    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> intervals(table.publish({(0, 0), (0, 1), (1, 0), (1, 1)}))[(0, 0)]
    (0, 17)
    """
    refuse_unpublished(published, "intervals")
    structure = published.structure
    asked = published.suppressed if cells is None else structure.mask(cells)
    wanted = np.flatnonzero(asked & published.suppressed)
    least = floor(structure, published.lowest)
    shifted = np.where(published.suppressed, 0, published.units - least)
    lower, upper, integral = bounds(
        structure.relations, shifted, published.suppressed, wanted, least
    )
    return Intervals(published, wanted, lower + least[wanted], upper + least[wanted], integral)


def refuse_unpublished(given: Any, subject: str) -> None:
    """Who attacks sees what is published, and no whole table."""
    if not isinstance(given, Published):
        message = "give what is published: `table.publish(...)`, or `.published` of a suppression."
        raise InvalidInput(subject, [Problem("published", message)])


def bounds(
    relations: Relations,
    known: IntArray,
    suppressed: BoolArray,
    wanted: IntArray,
    least: IntArray,
) -> tuple[FloatArray, FloatArray, bool]:
    """Lower and upper bounds of wanted cells that are at least 0; and whether they are integral.

    A pure function on arrays: `known` holds the values of the cells that are not suppressed. All
    are counted from `least`, whose sums need not agree.
    """
    if len(wanted) == 0:
        return np.empty(0), np.empty(0), True
    found = network(relations, suppressed)
    with work.step("Auditing", len(wanted)) as step:
        if found is not None:
            start = feasible(relations, known, suppressed, least)
            low, high = flow_bounds(found, start[found.cells], wanted)
            step.advance(len(wanted))
            return low, high, True
        return _bounds_by_component(relations, known, suppressed, wanted, least, step)


def flow_bounds(net: Network, values: IntArray, wanted: IntArray) -> tuple[FloatArray, FloatArray]:
    """Bounds of wanted cells of a network, from any values that keep the sums."""
    asked = np.searchsorted(net.cells, wanted)
    rise = np.full(len(values), UNBOUNDED)
    both = np.concatenate([asked, asked])
    falling = np.repeat([False, True], len(asked))
    limit = np.concatenate([np.full(len(asked), UNBOUNDED), values[asked]])
    moved, _ = net.flows(rise, values, both, falling, limit)
    up, down = moved[: len(asked)], moved[len(asked) :]
    high = np.where(up >= UNBOUNDED, INFINITE, values[asked] + up.astype(float))
    return (values[asked] - down).astype(float), high


def feasible(
    relations: Relations, known: IntArray, suppressed: BoolArray, least: IntArray
) -> IntArray:
    """Whole numbers for the suppressed cells of a network that keep all sums."""
    matrix, right = _sums(relations, known, suppressed, least)
    count = matrix.shape[1]
    unlimited = np.full(count, INFINITE)
    program = Program(matrix, right, right, np.zeros(count), unlimited, primal=True)
    answer = program.minimise(np.zeros(count))
    if not answer.optimal:
        _refuse()
    values = known.copy()
    values[suppressed] = np.round(answer.values).astype(np.int64)
    return values


def _refuse() -> None:
    message = "no table of possible values agrees with what is published."
    raise InvalidInput("published table", [Problem("", message)])


def _sums(
    relations: Relations, known: IntArray, suppressed: BoolArray, least: IntArray
) -> tuple[csr_array, IntArray]:
    """All that is known of the suppressed cells: which add up, and to what."""
    matrix = relations.matrix(len(known))[np.flatnonzero(relations.independent)]
    right = -(matrix @ (np.where(suppressed, 0, known) + least))
    inside = matrix[:, np.flatnonzero(suppressed)]
    touched = np.diff(inside.indptr) > 0
    if np.any(right[~touched]):
        _refuse()
    rows = np.flatnonzero(touched)
    return inside[rows], right[rows]


def _bounds_by_component(
    relations: Relations,
    known: IntArray,
    suppressed: BoolArray,
    wanted: IntArray,
    least: IntArray,
    step: Step,
) -> tuple[FloatArray, FloatArray, bool]:
    """Bounds of one connected component of suppressed cells after the other.

    Where a component is a network its bounds are flows, and integral. Elsewhere one linear
    program serves all its cells: each begins from the vertex where the last one ended.
    """
    low, high = np.zeros(len(wanted)), np.full(len(wanted), INFINITE)
    integral = True
    for component in components(relations, suppressed):
        places = np.flatnonzero(component[wanted])
        if len(places) == 0:
            continue
        part = _touching(relations, component)
        found = network(part, component)
        if found is not None:
            start = feasible(part, known, component, least)
            low[places], high[places] = flow_bounds(found, start[found.cells], wanted[places])
            step.advance(len(places))
            continue
        integral = False
        inside = np.flatnonzero(component)
        extremes = Extremes(*_sums(part, known, component, least))
        for place in places:
            found_bounds = extremes.of(int(np.searchsorted(inside, wanted[place])))
            if found_bounds is None:
                _refuse()
            else:
                low[place], high[place] = found_bounds
            step.advance()
    return low, high, integral


def _touching(relations: Relations, component: BoolArray) -> Relations:
    """The relations that some cell of a component stands in."""
    touching = np.zeros(relations.count, dtype=bool)
    touching[relations.of_entry[component[relations.cells]]] = True
    entries = touching[relations.of_entry]
    lengths = np.diff(relations.starts)[touching]
    return Relations(
        np.concatenate([[0], np.cumsum(lengths)]),
        relations.cells[entries],
        relations.signs[entries],
        relations.independent[touching],
        relations.names,
    )


def components(relations: Relations, among: BoolArray) -> list[BoolArray]:
    """The cells that hang together through sums of theirs, each group as a mask."""
    from scipy.sparse.csgraph import connected_components

    cells = np.flatnonzero(among)
    matrix = relations.matrix(len(among))[:, cells]
    matrix.data = np.abs(matrix.data)
    count, label = connected_components(matrix.T @ matrix, directed=False)
    masks = []
    for group in range(count):
        mask = np.zeros(len(among), dtype=bool)
        mask[cells[label == group]] = True
        masks.append(mask)
    return masks
