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
from divulge.assessment import Sentence
from divulge.solvers.highs import INFINITE, LinearProgram
from divulge.tables.feasibility.disclosure_proof import Disclosure, prove_disclosure
from divulge.tables.feasibility.exact_extremes import Extremes
from divulge.tables.feasibility.network import UNBOUNDED, Network, build_network
from divulge.tables.table.display import Crosstab, build_crosstabs, classify_cells, format_intervals
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Key, Relations
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Floats, Ints
from divulge.work.context import Step

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Number = int | float


@dataclass(frozen=True, eq=False, kw_only=True)
class Intervals(Mapping[Key, tuple[Number, Number]]):
    """The feasibility interval of every suppressed cell, by its coordinates."""

    published: Published
    cells: Ints
    lower: Floats
    upper: Floats
    integral: bool

    def __getitem__(self, key: Key) -> tuple[Number, Number]:
        place = int(np.searchsorted(self.cells, self.published.structure.cell_number(key)))
        if place == len(self.cells) or self.cells[place] != self.published.structure.cell_number(
            key
        ):
            raise KeyError(key)
        return self._from_units(self.lower[place]), self._from_units(self.upper[place])

    def __iter__(self) -> Iterator[Key]:
        return (self.published.structure.addresses[cell] for cell in self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def widths(self) -> Floats:
        """How wide each interval is, in the order of the cells, in units."""
        return self.upper - self.lower

    @cached_property
    def disclosed(self) -> list[Key]:
        """The suppressed cells whose value everybody can compute."""
        structure = self.published.structure
        return [structure.addresses[cell] for cell in self.cells[self.widths == 0]]

    def disclosures(self) -> list[Disclosure]:
        """For every disclosed cell, the sums by which it is computed."""
        return list(self._disclosures)

    @cached_property
    def _disclosures(self) -> tuple[Disclosure, ...]:
        return tuple(self.why(key) for key in self.disclosed)

    def why(self, key: Key) -> Disclosure:
        """The sums that disclose a cell.

        >>> import divulge as dv
        >>> published = dv.tables.Table.from_cells([[7, 11], [10, 60]]).publish({(0, 0)})
        >>> print(intervals(published).why((0, 0)))
        row=r1, column=c1 is known: column=c1: row adds up to Total.
        """
        if key not in self.disclosed:
            raise InvalidInput("why", [Problem(str(key), "is not exactly disclosed.")])
        place = int(np.searchsorted(self.cells, self.published.structure.cell_number(key)))
        return prove_disclosure(self.published, int(self.cells[place]), int(self.lower[place]))

    def explain(self) -> list[str]:
        """How many cells are suppressed, which are known nevertheless and why, in sentences."""
        catalogue = "divulge.tables"
        suppressed = int(self.published.suppressed.sum())
        sentences = [Sentence(catalogue, "audit.suppressed", {"count": suppressed})]
        if suppressed:
            known = {"count": len(self.disclosed)}
            sentences.append(Sentence(catalogue, "audit.known", known))
        sentences += [disclosure.sentence for disclosure in self.disclosures()]
        if not self.integral:
            sentences.append(Sentence(catalogue, "audit.not_integral"))
        return [sentence.render() for sentence in sentences]

    def to_dict(self) -> dict[str, Any]:
        """The intervals as plain values, for JSON."""
        structure = self.published.structure
        cells = []
        for cell in self.cells:
            low, high = self[structure.addresses[cell]]
            cells.append(
                {
                    "cell": list(structure.addresses[cell]),
                    "label": structure.describe_cell(int(cell)),
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
        interval_of_cell = {
            int(cell): (self._from_units(low), self._from_units(high))
            for cell, low, high in zip(self.cells, self.lower, self.upper, strict=True)
        }
        texts = list(format_intervals(published.texts(), interval_of_cell, published.decimals))
        disclosed = structure.to_mask(self.disclosed)
        return build_crosstabs(
            structure,
            texts,
            classify_cells(published.suppressed, structure.to_mask(primary), disclosed),
        )

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in self.crosstabs())

    def _from_units(self, units: float) -> Number:
        if units == INFINITE:
            return units
        decimals = self.published.decimals
        return units / 10**decimals if decimals else int(units)


def intervals(published: Published, cells: Any = None) -> Intervals:
    """The feasibility interval of every suppressed cell (or of some of them).

    As the sums alone leave it: to somebody who also knows which cells are empty, what is published
    is `published.read_with("known")`.

    Raises:
        InvalidInput: if nothing could be behind what is published.

    >>> from divulge.tables.table.table import Table
    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> intervals(table.publish({(0, 0), (0, 1), (1, 0), (1, 1)}))[(0, 0)]
    (0, 17)
    """
    refuse_unpublished(published, "intervals")
    structure = published.structure
    selected = published.suppressed if cells is None else structure.to_mask(cells)
    targets = np.flatnonzero(selected & published.suppressed)
    least, unknown = published.floor, published.unknown
    shifted = np.where(unknown, 0, published.units - least)
    lower, upper = np.zeros(len(targets)), np.zeros(len(targets))
    places = unknown[targets]  # of the others a reader knows that they are empty
    lower[places], upper[places], integral = bound_cells(
        structure.relations, shifted, unknown, targets[places], least
    )
    return Intervals(
        published=published,
        cells=targets,
        lower=lower + least[targets],
        upper=upper + least[targets],
        integral=integral,
    )


def refuse_unpublished(argument: Any, subject: str) -> None:
    """Who attacks sees what is published, and no whole table."""
    if not isinstance(argument, Published):
        message = "give what is published: `table.publish(...)`, or `.published` of a suppression."
        raise InvalidInput(subject, [Problem("published", message)])


def bound_cells(
    relations: Relations,
    published_values: Ints,
    suppressed: Bools,
    targets: Ints,
    least: Ints,
) -> tuple[Floats, Floats, bool]:
    """Lower and upper bounds of wanted cells that are at least 0; and whether they are integral.

    A pure function on arrays: `published_values` holds the values of the cells that are not
    suppressed. All are counted from `least`, whose sums need not agree.
    """
    if len(targets) == 0:
        return np.empty(0), np.empty(0), True
    net = build_network(relations, suppressed)
    with work.step("Auditing", len(targets)) as step:
        if net is not None:
            start = find_feasible_values(relations, published_values, suppressed, least)
            low, high = bound_by_flows(net, start[net.cells], targets)
            step.advance(len(targets))
            return low, high, True
        return _bound_by_component(
            relations, published_values, suppressed, targets=targets, least=least, step=step
        )


def bound_by_flows(net: Network, values: Ints, targets: Ints) -> tuple[Floats, Floats]:
    """Bounds of wanted cells of a network, from any values that keep the sums."""
    places = np.searchsorted(net.cells, targets)
    rise = np.full(len(values), UNBOUNDED)
    both = np.concatenate([places, places])
    falling = np.repeat([False, True], len(places))
    limit = np.concatenate([np.full(len(places), UNBOUNDED), values[places]])
    movement, _ = net.find_max_flows(rise, values, both, falling=falling, limit=limit)
    up, down = movement[: len(places)], movement[len(places) :]
    high = np.where(up >= UNBOUNDED, INFINITE, values[places] + up.astype(float))
    return (values[places] - down).astype(float), high


def find_feasible_values(
    relations: Relations, published_values: Ints, suppressed: Bools, least: Ints
) -> Ints:
    """Whole numbers for the suppressed cells of a network that keep all sums."""
    matrix, right = build_equations(relations, published_values, suppressed, least)
    count = matrix.shape[1]
    unlimited = np.full(count, INFINITE)
    program = LinearProgram(
        matrix, right, right, lower=np.zeros(count), upper=unlimited, method="primal simplex"
    )
    answer = program.minimise(np.zeros(count))
    if not answer.is_optimal:
        _refuse_inconsistent()
    values = published_values.copy()
    values[suppressed] = np.round(answer.values).astype(np.int64)
    return values


def _refuse_inconsistent() -> None:
    message = "no table of possible values agrees with what is published."
    raise InvalidInput("published table", [Problem("", message)])


def build_equations(
    relations: Relations, published_values: Ints, suppressed: Bools, least: Ints
) -> tuple[csr_array, Ints]:
    """All that is known of the suppressed cells: which add up, and to what."""
    matrix = relations.to_matrix(len(published_values))[np.flatnonzero(relations.independent)]
    right = -(matrix @ (np.where(suppressed, 0, published_values) + least))
    inside = matrix[:, np.flatnonzero(suppressed)]
    touched = np.diff(inside.indptr) > 0
    if np.any(right[~touched]):
        _refuse_inconsistent()
    rows = np.flatnonzero(touched)
    return inside[rows], right[rows]


def _bound_by_component(
    relations: Relations,
    published_values: Ints,
    suppressed: Bools,
    *,
    targets: Ints,
    least: Ints,
    step: Step,
) -> tuple[Floats, Floats, bool]:
    """Bounds of one connected component of suppressed cells after the other.

    Where a component is a network its bounds are flows, and integral. Elsewhere one linear
    program serves all its cells: each begins from the vertex where the last one ended.
    """
    low, high = np.zeros(len(targets)), np.full(len(targets), INFINITE)
    integral = True
    for component in find_components(relations, suppressed):
        places = np.flatnonzero(component[targets])
        if len(places) == 0:
            continue
        part = select_relations(relations, component)
        net = build_network(part, component)
        if net is not None:
            start = find_feasible_values(part, published_values, component, least)
            low[places], high[places] = bound_by_flows(net, start[net.cells], targets[places])
            step.advance(len(places))
            continue
        integral = False
        inside = np.flatnonzero(component)
        extremes = Extremes(*build_equations(part, published_values, component, least))
        for place in places:
            cell_bounds = extremes.bound_cell(int(np.searchsorted(inside, targets[place])))
            if cell_bounds is None:
                _refuse_inconsistent()
            else:
                low[place], high[place] = cell_bounds
            step.advance()
    return low, high, integral


def select_relations(relations: Relations, component: Bools) -> Relations:
    """The relations that some cell of a component stands in."""
    touching = np.zeros(relations.count, dtype=bool)
    touching[relations.relation_of_entry[component[relations.cells]]] = True
    entries = touching[relations.relation_of_entry]
    lengths = np.diff(relations.starts)[touching]
    return Relations(
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        cells=relations.cells[entries],
        signs=relations.signs[entries],
        independent=relations.independent[touching],
        names=relations.names,
    )


def find_components(relations: Relations, among: Bools) -> list[Bools]:
    """The cells that hang together through sums of theirs, each group as a mask."""
    from scipy.sparse.csgraph import connected_components

    cells = np.flatnonzero(among)
    matrix = relations.to_matrix(len(among))[:, cells]
    matrix.data = np.abs(matrix.data)
    count, label = connected_components(matrix.T @ matrix, directed=False)
    masks = []
    for group in range(count):
        mask = np.zeros(len(among), dtype=bool)
        mask[cells[label == group]] = True
        masks.append(mask)
    return masks
