"""A table of totals: from cells or from records, with margins that add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from divulge.classes.people import find_people
from divulge.data import Dataset
from divulge.tables.table.axis import Axis
from divulge.tables.table.contributions import Contributions, Contributors
from divulge.tables.table.published import Published, Zeros, floor
from divulge.tables.table.structure import Structure
from divulge.tables.table.tabulation import add_margins, build_axis, build_flat_axes, read_amounts
from divulge.tables.table.units import from_units, to_common_units
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Bools, Ints

__all__ = ["Published", "Table", "floor"]

MAX_REPORTED_CELLS = 10


@dataclass(frozen=True, eq=False)
class Table:
    """Counts or sums of a value over cells that add up.

    Values are kept as whole numbers of the unit `10 ** -decimals`, so that sums are exact.
    `lowest` is the smallest value that anybody thinks possible in a cell without parts: 0, unless
    a table of differences or balances says otherwise.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> table.shape, int(table.values[3, 3])
    ((4, 4), 291)
    """

    structure: Structure
    units: Ints
    decimals: int = 0
    measure: str = "count"
    lowest: int = 0
    contributions: Contributors | None = None
    zeros: Zeros = "secret"
    unused_weight: str | None = None
    """The attribute of sampling weights that the records have and the table does not use."""

    @classmethod
    def from_cells(
        cls,
        cells: Any,
        codes: Sequence[Sequence[str]] | None = None,
        names: Sequence[str] | None = None,
        measure: str = "count",
        margins: bool = False,
        *,
        lowest: float = 0,
        axes: Sequence[Axis] | None = None,
    ) -> Table:
        """From the inner cells of a table of any number of dimensions; margins are computed.

        Args:
            cells: an array of numbers; with `margins=True` its last row, column, ... are totals.
            codes: the names of the values along each dimension.
            names: the names of the dimensions.
            measure: what the cells hold; "count" is a frequency table.
            margins: whether the margins are among the cells; they must add up.
            lowest: the smallest possible value of an inner cell; below 0 by name only.
            axes: dimensions with subtotals, instead of codes and names; the inner cells are given.

        Raises:
            InvalidInput: for negative cells, and for margins that do not add up.
        """
        try:
            values = np.asarray(cells)
        except ValueError:  # rows of different lengths
            values = np.empty(0)
        least = 2 if margins else 1
        if values.ndim == 0 or min(values.shape) < least or values.dtype.kind not in "biuf":
            raise InvalidInput("table", [Problem("cells", "give a full array of numbers.")])
        if not np.all(np.isfinite(values)):
            raise InvalidInput("table", [Problem("cells", "every cell must be a finite number.")])
        cell_units, decimals, lowest_units = to_common_units(values, lowest)
        inner = cell_units[tuple(slice(-1) for _ in cell_units.shape)] if margins else cell_units
        axes = axes or build_flat_axes(inner.shape, codes, names)
        structure = Structure.from_grid(axes)
        if margins and cell_units.shape != structure.numbers[0].shape:
            message = f"has the shape {cell_units.shape}, not {structure.numbers[0].shape}."
            raise InvalidInput("table", [Problem("cells", message)])
        units = cell_units.ravel() if margins else add_margins(inner, axes).ravel()
        table = cls(structure, units, decimals, measure, lowest_units)
        table._check_cells()
        return table

    @classmethod
    def from_records(
        cls,
        dataset: Dataset,
        by: str | Iterable[str],
        value: str | None = None,
        contributor: str | None = None,
        lowest: float = 0,
    ) -> Table:
        """Count records, or sum a value of theirs, by some attributes.

        An attribute with a hierarchy has subtotals. Records with the same `contributor` (a
        holding, an enterprise) are one contributor to a cell; if none is named, those of one person
        (the role `person`) are. Sampling weights are not used: every record counts once, and
        `unused_weight` says which attribute holds them.

        >>> import divulge as dv
        >>> pupils = dv.datasets.school_year_example()
        >>> Table.from_records(pupils, by=["gender", "grade"]).values[:, -1].tolist()
        [6, 4, 10]
        """
        names = dataset.attributes(by, "by")
        others = [name for name in (value, contributor) if name is not None]
        if others:
            dataset.attributes(others, "value")
        axes, codes = [], []
        for name in names:
            axis, leaf = build_axis(dataset, name)
            axes.append(axis)
            codes.append(leaf)
        if value is None:
            numbers = np.ones(dataset.rows, dtype=np.int64)
        else:
            numbers = read_amounts(dataset, value)
        record_units, decimals, lowest_units = to_common_units(numbers, lowest)
        people = find_people(dataset) if contributor is None else None
        if people is not None:
            [contributor] = dataset.dictionary.having("person")
        holding = (
            np.arange(dataset.rows)
            if contributor is None
            else dataset.columns[contributor].codes.astype(np.int64)
        )
        inner = np.zeros(tuple(axis.leaves for axis in axes), dtype=np.int64)
        np.add.at(inner, tuple(codes), record_units)
        structure = Structure.from_grid(axes)
        contributions = Contributions.from_records(
            axes, codes, holding, record_units, population=(dataset, contributor)
        )
        units = add_margins(inner, axes).ravel()
        weights = [name for name in dataset.dictionary.having("weight") if name != value]
        table = cls(
            structure,
            units,
            decimals,
            value or "count",
            lowest_units,
            contributions,
            unused_weight=weights[0] if weights else None,
        )
        table._check_cells()
        return table

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes there are along each dimension, margins included."""
        return self.structure.numbers[0].shape

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions (of the first table, where several are linked)."""
        return self.structure.grids[0]

    @property
    def is_frequency(self) -> bool:
        """Whether the cells count."""
        return self.measure == "count"

    @property
    def values(self) -> Any:
        """The values in the shape of the table; one array a table where several are linked."""
        return self.structure.to_grids(from_units(self.units, self.decimals))

    @property
    def floor(self) -> Ints:
        """The smallest possible value of each cell, in units."""
        least = floor(self.structure, self.lowest)
        if self.zeros == "known" and self.lowest == 0:
            least = np.where(self.units > 0, self.smallest, 0)
        return least

    @property
    def empty(self) -> Bools:
        """The cells to which nothing contributes, as far as it can be told."""
        is_empty: Bools = (self.units == 0) & (self.lowest == 0)
        if self.contributions is not None:
            is_empty = self.contributions.count_contributors() == 0
        return is_empty

    @property
    def smallest(self) -> int:
        """The least that a cell holds which is not empty: one unit, unless amounts of 0 occur."""
        return 0 if bool((~self.empty & (self.units == 0)).any()) else 1

    def read_with(self, zeros: Zeros) -> Table:
        """The same to readers who know which cells are empty, or do not.

        >>> table = Table.from_cells([[7, 0], [10, 60]]).read_with("known")
        >>> table.floor.tolist()
        [1, 0, 1, 1, 1, 1, 1, 1, 1]
        """
        return replace(self, zeros=zeros)

    def publish(self, suppressed: Any = ()) -> Published:
        """What the public sees if some cells are suppressed: coordinates, or a pattern.

        >>> table = Table.from_cells([[7, 11], [10, 60]])
        >>> table.publish({(0, 0)}).to_rows()[1]
        ['r1', '*', '11', '18']
        """
        mask = self.structure.to_mask(suppressed)
        published_units = np.where(mask, 0, self.units)
        published = Published(
            self.structure, published_units, mask, self.decimals, self.measure, self.lowest
        )
        if self.zeros == "secret":
            return published
        return replace(published, zeros="known", empty=mask & self.empty, smallest=self.smallest)

    def _check_cells(self) -> None:
        problems = Problems("table")
        low = np.flatnonzero(self.units < self.floor)
        for cell in low[:MAX_REPORTED_CELLS]:
            message = "is below the lowest possible value; give `lowest` to allow that by name."
            problems.add(self.structure.locate_cell(int(cell)), message)
        relations = self.structure.relations
        for relation in np.flatnonzero(relations.compute_imbalance(self.units))[
            :MAX_REPORTED_CELLS
        ]:
            begin, end = relations.starts[relation : relation + 2]
            total = begin + int(np.argmin(relations.signs[begin:end]))
            place = self.structure.locate_cell(int(relations.cells[total]))
            problems.add(place, "its parts do not add up to it.")
        problems.raise_any()
