"""What users hand in: matrices and distributions, read and checked in one place.

Whatever is wrong is named with its row and column. Values themselves are not repeated, except
sums that should be one: a message must not carry a table into a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from divulge.qif.columns import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from divulge.qif.columns import Numbers

# Probabilities that were computed or typed with rounding still count as summing to one.
ROUNDING = 1e-8


class SparseMatrix(Protocol):
    """A scipy sparse matrix or array of any format."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def tocsc(self) -> Any:
        """The same matrix by columns."""


# Lists of Fractions are no ArrayLike to numpy, and mixed with whole numbers are lists of objects.
MatrixLike: TypeAlias = npt.ArrayLike | Sequence[Any] | SparseMatrix
VectorLike: TypeAlias = npt.ArrayLike | Sequence[Any]


def read_columns(matrix: MatrixLike, name: str, *, exact: bool = False) -> Columns:
    """Read a matrix that users gave, or say what is wrong with it and where."""
    sparse = hasattr(matrix, "tocsc")
    if sparse and not exact:
        return _read_sparse_columns(cast("SparseMatrix", matrix), name)
    cells: Any = cast("Any", matrix).toarray() if sparse else matrix
    dense = read_numbers(cells, name, dimensions=2, exact=exact)
    columns, rows = np.nonzero(dense.T)
    starts = np.zeros(dense.shape[1] + 1, np.int64)
    np.cumsum(np.bincount(columns, minlength=dense.shape[1]), out=starts[1:])
    return Columns(
        shape=(dense.shape[0], dense.shape[1]),
        starts=starts,
        rows=rows,
        values=dense.T[columns, rows],
    )


def _read_sparse_columns(matrix: SparseMatrix, name: str) -> Columns:
    by_column = matrix.tocsc()
    _require_cells(by_column.shape, name, dimensions=2)
    if not by_column.has_canonical_format:  # one value per cell, in the order of the rows
        by_column = by_column.copy()
        by_column.sum_duplicates()
    starts = by_column.indptr.astype(np.int64, copy=False)
    shape = (int(by_column.shape[0]), int(by_column.shape[1]))
    values = _to_float_array(by_column.data, name)
    columns = Columns(
        shape=shape, starts=starts, rows=by_column.indices, values=values, layout="sparse"
    )
    invalid = _find_invalid_value(values)
    if invalid is not None:
        (entry,), description = invalid
        column = int(np.searchsorted(starts, entry, side="right")) - 1
        where = f"row {columns.rows[entry]}, column {column}"
        raise ValueError(f"{name} has {description} at {where}.")
    return columns.with_values(values)


def read_numbers(values: Any, name: str, *, dimensions: int, exact: bool = False) -> Numbers:
    """Read numbers that may not be negative as float64, or as Fractions if they are exact."""
    numbers = read_signed_numbers(values, name, dimensions=dimensions, exact=exact)
    invalid = _find_invalid_value(numbers)
    if invalid is not None:
        place, description = invalid
        where = f"row {place[0]}, column {place[1]}" if dimensions == 2 else f"index {place[0]}"
        raise ValueError(f"{name} has {description} at {where}.")
    return numbers


def read_signed_numbers(values: Any, name: str, *, dimensions: int, exact: bool = False) -> Numbers:
    """Read numbers of either sign; Fractions among whole numbers keep all of them exact."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not rectangular: its rows differ in length.") from error
    _require_cells(array.shape, name, dimensions)
    rational = array.dtype == object and all(isinstance(each, Rational) for each in array.flat)
    if rational or (exact and array.dtype.kind in "biu"):
        fractions = np.empty(array.shape, dtype=object)
        for place, each in np.ndenumerate(array.astype(object)):
            fractions[place] = Fraction(int(each.numerator), int(each.denominator))
        return fractions
    if exact:
        raise ValueError(f"{name} has to contain whole numbers or Fractions to be taken exactly.")
    return _to_float_array(array, name)


def require_rows_sum_to_one(channel: Columns, name: str) -> None:
    """Raise unless every row of a channel is a distribution."""
    sums = channel.row_sums()
    wrong_rows = np.flatnonzero(sums != 1 if channel.exact else np.abs(sums - 1) > ROUNDING)
    if wrong_rows.size:
        others = f" ({wrong_rows.size - 1} other rows neither)" if wrong_rows.size > 1 else ""
        raise ValueError(
            f"{name}: row {wrong_rows[0]} sums to {sums[wrong_rows[0]]}, not to 1{others}."
        )


def require_sums_to_one(prior: Numbers, name: str) -> None:
    """Raise unless the numbers are a distribution."""
    total = prior.sum()
    if total != 1 if prior.dtype == object else abs(total - 1) > ROUNDING:
        raise ValueError(f"{name} sums to {total}, not to 1.")


def _require_cells(shape: tuple[int, ...], name: str, dimensions: int) -> None:
    if len(shape) != dimensions:
        raise ValueError(f"{name} has {len(shape)} dimensions; it needs {dimensions}.")
    if 0 in shape:
        raise ValueError(f"{name} is empty: its shape is {shape}.")


def _to_float_array(array: NDArray[Any], name: str) -> Numbers:
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} has to contain numbers, not {array.dtype}.")
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):  # their text repeats the value
        raise ValueError(f"{name} has to contain numbers only.") from None


def _find_invalid_value(values: Numbers) -> tuple[tuple[int, ...], str] | None:
    """The place of the first value that cannot be a count or a probability, and what it is."""
    # Comparisons with NaN are false, so the extremes alone clear the usual case without a copy.
    if values.size == 0 or (values.min() >= 0 and values.max() < np.inf):
        return None
    kinds = {"a negative value": values < 0}
    if values.dtype != object:
        kinds = {"a NaN": np.isnan(values), "an infinite value": np.isinf(values)} | kinds
    for description, is_invalid in kinds.items():
        if is_invalid.any():
            return tuple(int(each) for each in np.argwhere(is_invalid)[0]), description
    return None
