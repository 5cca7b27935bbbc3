"""Loops over sparse columns: row sums, k largest, best gains, entropies; plain or compiled.

Each kernel is plain Python over arrays. Small inputs and exact ones (arrays of Fractions) run it
as it stands; large floating inputs run it through numba. So there is one text for both, nobody
waits for a compiler to see a matrix of ten cells, and nothing here needs numba to be imported.

All kernels read a matrix by columns: column y holds `values[starts[y]:starts[y + 1]]`, at the
rows `rows[starts[y]:starts[y + 1]]`. No stored value is zero. No kernel writes to its arguments
or calls another function of ours (numba's cache would not see that function change).
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Up to here a plain loop takes some hundredths of a second: less than it takes to load numba.
WORTH_COMPILING = 50_000


def run(kernel: Callable[..., NDArray[Any]], work: int, *arguments: Any) -> NDArray[Any]:
    """Run a kernel on arrays, compiled if there is enough work and the numbers are floating.

    >>> starts, values = np.array([0, 2, 3]), np.array([1.0, 4.0, 2.0])
    >>> run(rank_weighted_sums, 3, starts, values, np.array([1.0, 2.0])).tolist()
    [6.0, 2.0]
    """
    exact = any(isinstance(each, np.ndarray) and each.dtype == object for each in arguments)
    if exact or work <= WORTH_COMPILING:
        return kernel(*arguments)
    return compiled(kernel)(*arguments)


@cache
def compiled(kernel: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Compile a kernel with numba, and keep the machine code for the next process.

    >>> compiled(row_sums)(np.array([0, 1]), np.array([2.0, 3.0]), 2).tolist()
    [2.0, 3.0]
    """
    import numba

    try:
        machine_code: Callable[..., NDArray[Any]] = numba.njit(cache=True)(kernel)
    except RuntimeError:  # no folder can be written to: compile in every process instead
        machine_code = numba.njit(kernel)
    return machine_code


def row_sums(rows: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[Any]:
    """Add the values of every row.

    Invariant: `sums` holds the entries before the present one.

    >>> row_sums(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [4.0, 0.0, 2.0]
    """
    sums = np.zeros(size, values.dtype)
    for entry in range(rows.size):
        sums[rows[entry]] += values[entry]
    return sums


def rank_weighted_sums(
    starts: NDArray[Any], values: NDArray[Any], weights: NDArray[Any]
) -> NDArray[Any]:
    """Sort every column from large to small and add its values times the weight of their rank.

    Ranks beyond the last weight count nothing: weights (1,) give the column maxima, k ones give
    the k largest, and 1, 2, 3, ... the guesses that an ordered search needs. Invariant: `largest`
    holds, in falling order, the largest values of the column before the present entry.

    >>> starts, values = np.array([0, 3, 3]), np.array([1.0, 3.0, 2.0])
    >>> rank_weighted_sums(starts, values, np.array([1.0, 1.0])).tolist()
    [5.0, 0.0]
    """
    sums = np.zeros(starts.size - 1, values.dtype)
    # Few ranks count where columns are short or guesses few, as in most releases. Up to 128 of
    # them, inserting into a reused buffer is many times faster than the general sort, which
    # allocates. The buffer holds the largest values met so far, in order.
    largest = np.empty(128, values.dtype)
    for column in range(starts.size - 1):
        first, size = starts[column], starts[column + 1] - starts[column]
        rank_count = min(size, weights.size)
        if rank_count <= 128:
            for entry in range(size):
                value = values[first + entry]
                place = min(entry, rank_count - 1)
                if place < entry and value <= largest[place]:
                    continue
                while place > 0 and largest[place - 1] < value:
                    largest[place] = largest[place - 1]
                    place -= 1
                largest[place] = value
            for rank in range(rank_count):
                sums[column] += weights[rank] * largest[rank]
        else:
            ascending = np.sort(values[first : first + size])
            for rank in range(rank_count):
                sums[column] += weights[rank] * ascending[size - 1 - rank]
    return sums


def best_gains(
    starts: NDArray[Any], rows: NDArray[Any], values: NDArray[Any], gain: NDArray[Any]
) -> NDArray[Any]:
    """Weigh every guess in every column by its gain and keep the best one's value.

    `gain` is secrets x guesses (the transpose of what users write), so that the inner loop reads
    neighbouring numbers. An empty column is worth nothing, even where all gains are losses.
    Invariant: `highest` is what the best of the guesses so far is worth in the column.

    >>> starts, rows, values = np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5])
    >>> best_gains(starts, rows, values, np.array([[4.0, 0.0], [0.0, 6.0]])).tolist()
    [3.0]
    """
    best = np.zeros(starts.size - 1, values.dtype)
    for column in range(starts.size - 1):
        first, last = starts[column], starts[column + 1]
        if first == last:
            continue
        highest = values[first] * gain[rows[first], 0]
        for entry in range(first + 1, last):
            highest += values[entry] * gain[rows[entry], 0]
        for guess in range(1, gain.shape[1]):
            worth = values[first] * gain[rows[first], guess]
            for entry in range(first + 1, last):
                worth += values[entry] * gain[rows[entry], guess]
            highest = max(highest, worth)
        best[column] = highest
    return best


def column_entropies(starts: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Give every column's Shannon entropy in bits, times the column's sum.

    Every term is taken relative to its column's sum, so none is negative and a column with one
    value is exactly zero. Invariant: `bits` is the sum of the terms before the present entry.

    >>> column_entropies(np.array([0, 2, 3]), np.array([1.0, 1.0, 5.0])).tolist()
    [2.0, 0.0]
    """
    result = np.zeros(starts.size - 1)
    for column in range(starts.size - 1):
        first, last = starts[column], starts[column + 1]
        if last - first < 2:  # certain; logarithms are dear
            continue
        total = 0.0
        for entry in range(first, last):
            total += values[entry]
        bits = 0.0
        for entry in range(first, last):
            bits += values[entry] * math.log2(total / values[entry])
        result[column] = bits
    return result
