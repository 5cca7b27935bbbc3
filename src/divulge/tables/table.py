"""A table of totals: from cells, from records, linked with others; and what is published of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.data import Dataset
from divulge.tables.axis import Axis, IntArray
from divulge.tables.contributions import Contributions
from divulge.tables.structure import BoolArray, Key, Structure
from divulge.tables.structure import link as link_structures
from divulge.tables.units import in_units, out_of_units
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHOWN = 10


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
    units: IntArray
    decimals: int = 0
    measure: str = "count"
    lowest: int = 0
    contributions: Contributions | None = None

    @classmethod
    def from_cells(
        cls,
        cells: Any,
        codes: Sequence[Sequence[str]] | None = None,
        names: Sequence[str] | None = None,
        measure: str = "count",
        margins: bool = False,
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
        values = np.asarray(cells)
        if values.size == 0 or values.ndim == 0 or values.dtype == object:
            raise InvalidInput("table", [Problem("cells", "give a full array of numbers.")])
        if not np.all(np.isfinite(values)):
            raise InvalidInput("table", [Problem("cells", "every cell must be a finite number.")])
        given, decimals = in_units(values)
        inner = given[tuple(slice(-1) for _ in given.shape)] if margins else given
        axes = axes or _flat_axes(inner.shape, codes, names)
        structure = Structure.of_grid(axes)
        if margins and given.shape != structure.numbers[0].shape:
            message = f"has the shape {given.shape}, not {structure.numbers[0].shape}."
            raise InvalidInput("table", [Problem("cells", message)])
        units = given.ravel() if margins else _with_margins(inner, axes).ravel()
        whole = round(lowest * 10**decimals)
        table = cls(structure, units, decimals, measure, whole)
        table._check()
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
        holding, an enterprise) are one contributor to a cell.

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
            axis, leaf = _axis_of(dataset, name)
            axes.append(axis)
            codes.append(leaf)
        if value is None:
            amounts, decimals = np.ones(dataset.rows, dtype=np.int64), 0
        else:
            amounts, decimals = _amounts(dataset, value)
        holding = (
            np.arange(dataset.rows)
            if contributor is None
            else dataset.columns[contributor].codes.astype(np.int64)
        )
        inner = np.zeros(tuple(axis.leaves for axis in axes), dtype=np.int64)
        np.add.at(inner, tuple(codes), amounts)
        structure = Structure.of_grid(axes)
        contributions = Contributions.of(axes, codes, holding, amounts)
        units = _with_margins(inner, axes).ravel()
        lowest_units = round(lowest * 10**decimals)
        table = cls(structure, units, decimals, value or "count", lowest_units, contributions)
        table._check()
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
        return self.structure.spread(out_of_units(self.units, self.decimals))

    @property
    def floor(self) -> IntArray:
        """The smallest possible value of each cell, in units."""
        return floor(self.structure, self.lowest)

    def publish(self, suppressed: Any = ()) -> Published:
        """What the public sees if some cells are suppressed: coordinates, or a pattern.

        >>> table = Table.from_cells([[7, 11], [10, 60]])
        >>> table.publish({(0, 0)}).to_rows()[1]
        ['r1', '*', '11', '18']
        """
        mask = self.structure.mask(suppressed)
        shown = np.where(mask, 0, self.units)
        return Published(self.structure, shown, mask, self.decimals, self.measure, self.lowest)

    def _check(self) -> None:
        problems = Problems("table")
        low = np.flatnonzero(self.units < self.floor)
        for cell in low[:MOST_SHOWN]:
            message = "is below the lowest possible value; give `lowest` to allow that by name."
            problems.add(self.structure.label(int(cell)), message)
        off = self.structure.relations.imbalance(self.units)
        for relation in np.flatnonzero(off)[:MOST_SHOWN]:
            excess = out_of_units(off[[relation]], self.decimals)[0]
            message = f"the parts exceed their total by {excess:g}."
            problems.add(self.structure.relations.names(int(relation)), message)
        problems.raise_any()


@dataclass(frozen=True, eq=False)
class Published:
    """A table of which some cells are suppressed: it holds nothing of their values."""

    structure: Structure
    units: IntArray
    suppressed: BoolArray
    decimals: int = 0
    measure: str = "count"
    lowest: int = 0

    @property
    def pattern(self) -> Any:
        """Which cells are suppressed, in the shape of the table."""
        return self.structure.spread(self.suppressed)

    @property
    def cells(self) -> list[Key]:
        """The coordinates of the suppressed cells."""
        return [self.structure.addresses[cell] for cell in np.flatnonzero(self.suppressed)]

    def to_rows(self, mark: str = "*") -> list[list[str]]:
        """The table as rows of text, with a head; the first table where several are linked."""
        from divulge.tables.display import rows_of

        texts = [mark if hidden else text for text, hidden in self._texts()]
        return rows_of(self.structure, texts)

    def to_arrow(self) -> pa.Table:
        """One row a cell: its codes, its value (null if suppressed), whether it is suppressed."""
        import pyarrow as pa

        axes, numbers = self.structure.grids[0], self.structure.numbers[0]
        places = np.indices(numbers.shape).reshape(len(axes), -1)
        cells = numbers.ravel()
        codes = {
            axis.name: [axis.codes[code] for code in place.tolist()]
            for axis, place in zip(axes, places, strict=True)
        }
        hidden = self.suppressed[cells]
        shown = out_of_units(self.units[cells], self.decimals)
        values = pa.array(shown, mask=hidden)
        return pa.table({**codes, self.measure: values, "suppressed": pa.array(hidden)})

    def write(self, path: Path | str) -> None:
        """Write one row a cell to a CSV or Parquet file; it appears whole or not."""
        Dataset.from_arrow(self.to_arrow()).write(path)

    def _texts(self) -> Iterable[tuple[str, bool]]:
        shown = out_of_units(self.units, self.decimals)
        return (
            (f"{value:.{self.decimals}f}" if self.decimals else str(value), bool(hidden))
            for value, hidden in zip(shown.tolist(), self.suppressed.tolist(), strict=True)
        )


def link(*tables: Table) -> Table:
    """Several tables as one: cells with the same codes and the same measure are the same cell.

    >>> by_region = Table.from_cells([[3, 9], [8, 4]], names=["region", "sex"])
    >>> by_age = Table.from_cells([[5, 7], [6, 6]], names=["region", "age"])
    >>> both = link(by_region, by_age)
    >>> both.structure.size, both.structure.linked
    (15, True)
    """
    decimals = max(table.decimals for table in tables)
    pairs = [(table.structure, table.measure) for table in tables]
    structure = link_structures(pairs)
    units = np.zeros(structure.size, dtype=np.int64)
    seen = np.zeros(structure.size, dtype=bool)
    problems = Problems("linked tables")
    for number, table in enumerate(tables):
        mine = structure.numbers[number].ravel()
        scaled = table.units * 10 ** (decimals - table.decimals)
        differ = np.flatnonzero(seen[mine] & (units[mine] != scaled))
        for cell in differ[:MOST_SHOWN]:
            message = f"has another value in table {number + 1} than in an earlier one."
            problems.add(structure.label(int(mine[cell])), message)
        units[mine], seen[mine] = scaled, True
    problems.raise_any()
    [measure, *more] = {table.measure for table in tables}
    return Table(structure, units, decimals, "several" if more else measure)


def link_published(*tables: Published) -> Published:
    """Several published tables as one; a cell shown in one may not be suppressed in another."""
    decimals = max(table.decimals for table in tables)
    structure = link_structures([(table.structure, table.measure) for table in tables])
    joined = Published(
        structure, np.zeros(structure.size, np.int64), np.zeros(structure.size, bool), decimals
    )
    seen = np.zeros(structure.size, dtype=bool)
    problems = Problems("linked tables")
    for number, table in enumerate(tables):
        mine = structure.numbers[number].ravel()
        torn = np.flatnonzero(seen[mine] & (joined.suppressed[mine] != table.suppressed))
        for cell in torn[:MOST_SHOWN]:
            message = f"is suppressed in one table and published in another (table {number + 1})."
            problems.add(structure.label(int(mine[cell])), message)
        joined.units[mine] = table.units * 10 ** (decimals - table.decimals)
        joined.suppressed[mine] = table.suppressed
        seen[mine] = True
    problems.raise_any()
    return replace(joined, measure=tables[0].measure)


def floor(structure: Structure, lowest: int) -> IntArray:
    """The smallest possible value of each cell: that of a cell without parts, times its parts."""
    least = np.zeros(structure.size, dtype=np.int64)
    if lowest:
        for axes, numbers in zip(structure.grids, structure.numbers, strict=True):
            parts = np.ones(numbers.shape, dtype=np.int64)
            for k, axis in enumerate(axes):
                parts = parts * axis.leaves_under.reshape(
                    [-1 if d == k else 1 for d in range(parts.ndim)]
                )
            least[numbers] = lowest * parts
    return least


def _flat_axes(
    shape: tuple[int, ...],
    codes: Sequence[Sequence[str]] | None,
    names: Sequence[str] | None,
) -> list[Axis]:
    usual = ["row", "column", *(f"dimension {k}" for k in range(3, len(shape) + 1))]
    called = list(names or usual[: len(shape)])
    letters = "rcdefghijk"
    made = codes or [[f"{letters[k % 10]}{i + 1}" for i in range(n)] for k, n in enumerate(shape)]
    if len(called) != len(shape) or [len(values) for values in made] != list(shape):
        message = f"do not fit a table of {' x '.join(map(str, shape))} inner cells."
        raise InvalidInput("table", [Problem("codes and names", message)])
    return [Axis.flat(name, map(str, values)) for name, values in zip(called, made, strict=True)]


def _with_margins(inner: IntArray, axes: Sequence[Axis]) -> IntArray:
    """All cells from those without parts: each code's cells are the sum over its values."""
    values = inner
    for k, axis in enumerate(axes):
        under = np.zeros((axis.size, axis.leaves), dtype=np.int64)
        for leaf in range(axis.leaves):
            under[axis.chain(leaf), leaf] = 1
        values = np.moveaxis(np.tensordot(under, values, axes=(1, k)), 0, k)
    return np.ascontiguousarray(values)


def _axis_of(dataset: Dataset, name: str) -> tuple[Axis, IntArray]:
    column = dataset.columns[name]
    values = [
        "(missing)" if column.value(c) is None else str(column.value(c))
        for c in range(column.cardinality)
    ]
    codes: IntArray = column.codes.astype(np.int64)
    hierarchy = (
        dataset.dictionary.attributes[name].hierarchy if dataset.dictionary.attributes else None
    )
    if hierarchy is None:
        return Axis.flat(name, values), codes
    originals = [column.value(c) for c in range(column.cardinality)]
    lacking = hierarchy.lacks(originals)
    if lacking:
        message = f"the hierarchy lacks {len(lacking)} of the {len(originals)} values of the data."
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem(f'by, "{name}"', message)])
    return Axis.hierarchical(name, values, hierarchy), codes


def _amounts(dataset: Dataset, value: str) -> tuple[IntArray, int]:
    column = dataset.columns[value]
    numbers = column.values.to_pylist()
    if not all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in numbers
    ):
        message = (
            f'"{value}" is not a number; a table sums numbers, or counts if no value is given.'
        )
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("value", message)])
    units, decimals = in_units(np.array([*numbers, 0]))  # a missing amount adds nothing
    amounts: npt.NDArray[np.int64] = units[column.codes]
    return amounts, decimals
