"""What is published of a table: its values without those of the suppressed cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.data import Dataset
from divulge.tables.table.display import to_text_rows
from divulge.tables.table.structure import Key, Structure
from divulge.tables.table.units import from_units
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Published:
    """A table of which some cells are suppressed: it holds nothing of their values."""

    structure: Structure
    units: Ints
    suppressed: Bools
    decimals: int = 0
    measure: str = "count"
    lowest: int = 0

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
                message = "two of its values are called alike, or one as its total; rename it."
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
