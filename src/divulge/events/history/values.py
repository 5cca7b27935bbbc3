"""Values of a history's columns: texts of nothing, and amounts as numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from divulge.data import Column
from divulge.work.arrays import Bools


def find_blank_values(column: Column) -> Bools:
    """Which of a column's distinct values are texts of nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or not len(column.values):
        return np.zeros(len(column.values), dtype=bool)
    trimmed = pc.utf8_trim_whitespace(column.values)
    blank: Bools = pc.equal(trimmed, "").to_numpy(zero_copy_only=False)
    return blank


def read_amounts(column: Column) -> npt.NDArray[np.float64]:
    """A column of numbers as numbers; missing ones are not a number."""
    values = np.array([float(value) for value in column.values.to_pylist()] + [np.nan])
    return values[column.codes]
