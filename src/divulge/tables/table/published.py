"""What is published of a table: its values without those of the suppressed cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from divulge.data import Dataset
from divulge.tables.table.display import to_text_rows
from divulge.tables.table.structure import Key, Structure
from divulge.tables.table.units import from_units
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    import pyarrow as pa


Zeros = Literal["known", "secret"]
"""Whether a reader knows which cells are empty, or takes every suppressed cell for one."""

ZEROS: tuple[Zeros, ...] = ("known", "secret")


@dataclass(frozen=True, eq=False)
class Published:
    """A table of which some cells are suppressed: it holds nothing of their values.

    To a reader for whom zeros are known, a suppressed cell is one of `empty`, or holds at least
    `smallest` units.
    """

    structure: Structure
    units: Ints
    suppressed: Bools
    decimals: int = 0
    measure: str = "count"
    lowest: int = 0
    zeros: Zeros = "secret"
    empty: Bools | None = None
    smallest: int = 1
    least: Ints | None = None
    """The smallest value of each cell to somebody who knows more of it, such as a contributor."""

    @property
    def unknown(self) -> Bools:
        """The suppressed cells of which a reader does not know that they are empty."""
        return self.suppressed if self.empty is None else self.suppressed & ~self.empty

    @property
    def floor(self) -> Ints:
        """The smallest value of each cell that a reader thinks possible, in units."""
        if self.least is not None:
            return self.least
        least = floor(self.structure, self.lowest)
        if self.zeros == "known" and self.lowest == 0:
            least = np.where(self.unknown | (self.units > 0), self.smallest, 0)
        return least

    def read_with(self, zeros: Zeros, empty: Any = None, smallest: int = 1) -> Published:
        """The same to a reader who knows which cells are empty, or does not.

        >>> from divulge.tables.table.table import Table
        >>> published = Table.from_cells([[7, 11], [10, 60]]).publish({(0, 0)})
        >>> int(published.floor[0]), int(published.read_with("known").floor[0])
        (0, 1)
        """
        mask = None if empty is None or zeros == "secret" else self.structure.to_mask(empty)
        return replace(self, zeros=zeros, empty=mask, smallest=smallest)

    @property
    def pattern(self) -> Any:
        """Which cells are suppressed, in the shape of the table."""
        return self.structure.to_grids(self.suppressed)

    @property
    def cells(self) -> list[Key]:
        """The coordinates of the suppressed cells."""
        return [self.structure.addresses[cell] for cell in np.flatnonzero(self.suppressed)]

    def to_rows(self, mark: str = "*", table: int = 0) -> list[list[str]]:
        """The table as rows of text, with a head; one of them where several are linked."""
        return to_text_rows(self.structure, self.texts(mark), table)

    def to_arrow(self, table: int = 0) -> pa.Table:
        """One row per cell: its codes, its value (null if suppressed), whether it is suppressed."""
        import pyarrow as pa

        axes, numbers = self.structure.grids[table], self.structure.numbers[table]
        places = np.indices(numbers.shape).reshape(len(axes), -1)
        cells = numbers.ravel()
        codes = {
            axis.name: [axis.codes[code] for code in place.tolist()]
            for axis, place in zip(axes, places, strict=True)
        }
        self._refuse_repeated_names([axis.name for axis in axes])
        for axis in axes:
            if len(set(axis.codes)) < len(axis.codes):
                message = "two of its values have the same name, or one is named like its total."
                raise InvalidInput("published table", [Problem(f'"{axis.name}"', message)])
        hidden = self.suppressed[cells]
        cell_values = from_units(self.units[cells], self.decimals)
        values = pa.array(cell_values, mask=hidden)
        return pa.table({**codes, self.measure: values, "suppressed": pa.array(hidden)})

    def _refuse_repeated_names(self, dimensions: list[str]) -> None:
        """What is written beside the dimensions may not be called as they are."""
        columns = [*dimensions, self.measure, "suppressed"]
        for name in sorted({name for name in columns if columns.count(name) > 1}):
            message = "would be the name of two columns; rename the dimension."
            raise InvalidInput("published table", [Problem(f'"{name}"', message)])

    def write(
        self,
        path: Path | str,
        table: int = 0,
        overwrite: bool = False,
        guard_formulas: bool = True,
    ) -> None:
        """Write one row per cell to a CSV or Parquet file; it appears whole or not."""
        dataset = Dataset.from_arrow(self.to_arrow(table))
        dataset.write(path, overwrite=overwrite, guard_formulas=guard_formulas)

    def texts(self, mark: str = "*") -> list[str]:
        """What is shown of every cell: its value, or a mark."""
        cell_values = from_units(self.units, self.decimals)
        return [
            mark if hidden else (f"{value:.{self.decimals}f}" if self.decimals else str(value))
            for value, hidden in zip(cell_values.tolist(), self.suppressed.tolist(), strict=True)
        ]


def floor(structure: Structure, lowest: int) -> Ints:
    """The smallest possible value of each cell: that of a cell without parts, times its parts.

    A cell of linked tables may have parts in one and other parts in another: then what it falls to
    first is the smallest value, and those of a total and of its parts need not add up.
    """
    least = np.zeros(structure.size, dtype=np.int64)
    if lowest:
        least[:] = np.iinfo(np.int64).min
        for axes, numbers in zip(structure.grids, structure.numbers, strict=True):
            parts = np.ones(numbers.shape, dtype=np.int64)
            for k, axis in enumerate(axes):
                parts = parts * axis.leaves_under.reshape(
                    [-1 if d == k else 1 for d in range(parts.ndim)]
                )
            least[numbers] = np.maximum(least[numbers], lowest * parts)
    return least
