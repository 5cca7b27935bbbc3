"""Matrices read by columns: the one form in which joints and channels are held.

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


@dataclass(frozen=True, eq=False, repr=False)
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

    def owners(self) -> NDArray[np.int64]:
        """The column of every stored value."""
        return np.repeat(np.arange(self.shape[1]), self.sizes)

    def sums(self) -> Numbers:
        """The sum of every column; zero for an empty one."""
        return self._reduced(np.add)

    def maxima(self) -> Numbers:
        """The largest value of every column; zero for an empty one."""
        return self._reduced(np.maximum)

    def row_sums(self) -> Numbers:
        """The sum of every row."""
        return kernels.run(kernels.row_sums, self.work, self.rows, self.values, self.shape[0])

    def with_values(self, values: Numbers) -> Columns:
        """The same places with other values; those that became zero are left out."""
        if np.all(values != 0):
            return replace(self, values=values)
        kept = values != 0
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return replace(self, starts=starts, rows=self.rows[kept], values=values[kept])

    def floating(self) -> Columns:
        """The same matrix in floating point."""
        return replace(self, values=self.values.astype(np.float64)) if self.exact else self

    def to_matrix(self) -> Matrix:
        """Give the matrix back in the form in which it came."""
        if self.layout == "sparse":
            from scipy.sparse import csc_array

            return csc_array((self.values, self.rows, self.starts), shape=self.shape)
        dense = np.full(self.shape, zero_of(self.values), dtype=self.values.dtype)
        dense[self.rows, self.owners()] = self.values
        return dense

    def _reduced(self, operation: np.ufunc) -> Numbers:
        result = np.full(self.shape[1], zero_of(self.values), dtype=self.values.dtype)
        filled = self.starts[:-1] < self.starts[1:]
        # reduceat gives an empty stretch the value after it, so empty columns are passed over.
        result[filled] = operation.reduceat(self.values, self.starts[:-1][filled])
        return result


def zero_of(values: Numbers) -> Any:
    """Zero in the kind of number that the values are."""
    return Fraction(0) if values.dtype == object else 0.0


def as_number(value: Any) -> float:
    """A plain float, or a Fraction where the numbers are exact: what results are made of.

    Results are typed as float; a Fraction behaves as one wherever they are used.
    """
    return cast("float", Fraction(value)) if isinstance(value, Rational) else float(value)


def alike(*all_values: Numbers) -> list[Numbers]:
    """Make all exact if one is and nothing was rounded in the others, else all floating."""
    if any(values.dtype == object for values in all_values):
        exact = [each for each in map(_exactly, all_values) if each is not None]
        if len(exact) == len(all_values):
            return exact
    return [values.astype(np.float64, copy=False) for values in all_values]


def _exactly(values: Numbers) -> Numbers | None:
    """The values as Fractions, if they are or are whole numbers; else None."""
    if values.dtype == object:
        return values
    if not np.all(values == np.rint(values)):
        return None
    return np.array([Fraction(int(each)) for each in values.flat], object).reshape(values.shape)


def one_column(values: Numbers) -> Columns:
    """A distribution as a matrix with a single column."""
    rows = np.flatnonzero(values)
    return Columns((values.size, 1), np.array([0, rows.size]), rows, values[rows])
