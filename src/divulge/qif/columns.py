"""Compressed sparse columns (CSC): the one form in which joints and channels are held.

Dense, sparse and exact matrices all become the same three arrays, so every measure is written
once. The zeros are left out, which makes "possible" and "stored" the same thing: what is certain
is seen from the number of stored values, never from a comparison of rounded numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from divulge.qif import kernels

Numbers: TypeAlias = NDArray[Any]
"""float64, or objects that are all Fractions."""

Matrix: TypeAlias = Any
"""What comes back: an array, or a scipy sparse array where a sparse one went in."""

Layout: TypeAlias = Literal["dense", "sparse"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Columns:
    """A matrix without negative values, column by column and without its zeros."""

    shape: tuple[int, int]
    starts: NDArray[np.int64]
    rows: NDArray[Any]
    values: Numbers
    layout: Layout = "dense"

    @property
    def exact(self) -> bool:
        """Whether the values are Fractions."""
        return self.values.dtype == object

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many values each column holds."""
        return np.diff(self.starts)

    @property
    def work(self) -> int:
        """How much one pass over the matrix is."""
        return self.values.size + self.starts.size

    def column_indices(self) -> NDArray[np.int64]:
        """The column of every stored value."""
        return np.repeat(np.arange(self.shape[1]), self.sizes)

    def column_sums(self) -> Numbers:
        """The sum of every column; zero for an empty one."""
        return self._reduce_columns(np.add)

    def column_maxima(self) -> Numbers:
        """The largest value of every column; zero for an empty one."""
        return self._reduce_columns(np.maximum)

    def row_sums(self) -> Numbers:
        """The sum of every row."""
        return kernels.run(kernels.row_sums, self.work, self.rows, self.values, self.shape[0])

    def with_values(self, values: Numbers) -> Columns:
        """The same places with other values; those that became zero are left out."""
        if np.all(values != 0):
            return replace(self, values=values)
        nonzero = values != 0
        starts = np.concatenate([[0], np.cumsum(nonzero)])[self.starts]
        return replace(self, starts=starts, rows=self.rows[nonzero], values=values[nonzero])

    def to_floating(self) -> Columns:
        """The same matrix in floating point."""
        return replace(self, values=self.values.astype(np.float64)) if self.exact else self

    def to_matrix(self) -> Matrix:
        """Give the matrix back in the form in which it came."""
        if self.layout == "sparse":
            from scipy.sparse import csc_array

            return csc_array((self.values, self.rows, self.starts), shape=self.shape)
        dense = np.full(self.shape, zero_like(self.values), dtype=self.values.dtype)
        dense[self.rows, self.column_indices()] = self.values
        return dense

    def _reduce_columns(self, operation: np.ufunc) -> Numbers:
        result = np.full(self.shape[1], zero_like(self.values), dtype=self.values.dtype)
        occupied = self.starts[:-1] < self.starts[1:]
        # reduceat gives an empty stretch the value after it, so empty columns are passed over.
        result[occupied] = operation.reduceat(self.values, self.starts[:-1][occupied])
        return result


def zero_like(values: Numbers) -> Any:
    """Zero in the kind of number that the values are."""
    return Fraction(0) if values.dtype == object else 0.0


def as_number(value: Any) -> float:
    """A plain float, or a Fraction where the numbers are exact: what results are made of.

    Results are typed as float; a Fraction behaves as one wherever they are used.
    """
    return cast("float", Fraction(value)) if isinstance(value, Rational) else float(value)


def unify_numbers(*all_values: Numbers) -> list[Numbers]:
    """Make all exact if one is and nothing was rounded in the others, else all floating."""
    if any(values.dtype == object for values in all_values):
        exact = [each for each in map(_as_fractions, all_values) if each is not None]
        if len(exact) == len(all_values):
            return exact
    return [values.astype(np.float64, copy=False) for values in all_values]


def _as_fractions(values: Numbers) -> Numbers | None:
    """The values as Fractions, if they are or are whole numbers; else None."""
    if values.dtype == object:
        return values
    if not np.all(values == np.rint(values)):
        return None
    return np.array([Fraction(int(each)) for each in values.flat], object).reshape(values.shape)


def as_single_column(values: Numbers) -> Columns:
    """A distribution as a matrix with a single column."""
    rows = np.flatnonzero(values)
    return Columns(
        shape=(values.size, 1), starts=np.array([0, rows.size]), rows=rows, values=values[rows]
    )
