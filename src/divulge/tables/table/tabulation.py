"""From records and inner cells to all cells: dimensions, amounts, and margins."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.data import Dataset
from divulge.tables.table.axis import Axis
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Ints


def build_flat_axes(
    shape: tuple[int, ...],
    codes: Sequence[Sequence[str]] | None,
    names: Sequence[str] | None,
) -> list[Axis]:
    """Dimensions without subtotals, with the names given or made up."""
    default_names = ["row", "column", *(f"dimension {k}" for k in range(3, len(shape) + 1))]
    axis_names = list(names or default_names[: len(shape)])
    letters = "rcdefghijk"
    axis_codes = codes or [
        [f"{letters[k % 10]}{i + 1}" for i in range(n)] for k, n in enumerate(shape)
    ]
    if len(axis_names) != len(shape) or [len(values) for values in axis_codes] != list(shape):
        message = f"do not fit a table of {' x '.join(map(str, shape))} inner cells."
        raise InvalidInput("table", [Problem("codes and names", message)])
    return [
        Axis.flat(name, map(str, values))
        for name, values in zip(axis_names, axis_codes, strict=True)
    ]


def add_margins(inner: Ints, axes: Sequence[Axis]) -> Ints:
    """All cells from those without parts: each code's cells are the sum over its values."""
    values = inner
    for k, axis in enumerate(axes):
        under = np.zeros((axis.size, axis.leaves), dtype=np.int64)
        for leaf in range(axis.leaves):
            under[axis.chain(leaf), leaf] = 1
        values = np.moveaxis(np.tensordot(under, values, axes=(1, k)), 0, k)
    return np.ascontiguousarray(values)


def build_axis(dataset: Dataset, name: str) -> tuple[Axis, Ints]:
    """The dimension of an attribute, with subtotals if it has a hierarchy; each record's value."""
    column = dataset.columns[name]
    texts = [column.value(c) for c in range(column.cardinality)]
    missing = "(missing)"
    while missing in map(str, texts):
        missing = f"({missing})"
    values = [missing if value is None else str(value) for value in texts]
    codes: Ints = column.codes.astype(np.int64)
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


def read_amounts(dataset: Dataset, value: str) -> npt.NDArray[Any]:
    """Each record's amount."""
    column = dataset.columns[value]
    numbers = column.values.to_pylist()
    numbers = [float(n) if isinstance(n, Decimal) else n for n in numbers]
    if not all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in numbers
    ):
        message = (
            f'"{value}" is not a number; a table sums numbers, or counts if no value is given.'
        )
        raise InvalidInput(f'dataset "{dataset.name}"', [Problem("value", message)])
    amount_of_code: npt.NDArray[Any] = np.array([*numbers, 0])  # a missing amount adds nothing
    return amount_of_code[column.codes]
