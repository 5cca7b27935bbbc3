"""Partition refinement: which records look alike, a class number each, attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.classes import tuning
from divulge.data import Column, Dataset
from divulge.data.column import encode_array
from divulge.work import Problems
from divulge.work.arrays import Ints

_LARGEST_KEY = 1 << 62


@dataclass(frozen=True)
class AttributeCodes:
    """One attribute that the adversary knows: a code a record, and how many codes there are."""

    codes: npt.NDArray[Any]
    cardinality: int

    @classmethod
    def from_column(cls, column: Column) -> AttributeCodes:
        """What a column tells; a missing value is a value of its own."""
        return cls(column.codes, max(1, column.cardinality))


@dataclass(frozen=True)
class Partition:
    """The class of each record; classes are numbered from 0."""

    of_record: npt.NDArray[Any]
    number: int

    @classmethod
    def single_class(cls, rows: int) -> Partition:
        """What somebody sees who knows nothing."""
        return cls(np.zeros(rows, np.int32), 1)

    @classmethod
    def from_attributes(cls, dataset: Dataset, knows: Iterable[str]) -> Partition:
        """The classes of records that agree on some attributes.

        >>> import divulge as dv
        >>> Partition.from_attributes(dv.datasets.school_year_example(), ["gender", "grade"]).number
        5
        """
        attributes = [AttributeCodes.from_column(dataset.columns[name]) for name in knows]
        return cls.single_class(dataset.rows).refine_by(attributes)

    def refine_by(self, attributes: Iterable[AttributeCodes]) -> Partition:
        """The classes of those who also agree on what else is known.

        Tens of millions of records are refined in one array; what is known may be an iterator, so
        that only one attribute of it is in memory.
        """
        combined, size = self.of_record.astype(np.int64), self.number
        for attribute in attributes:
            if size * attribute.cardinality > _LARGEST_KEY:
                combined, size = _number_own_ids(combined)
            combined *= attribute.cardinality
            combined += attribute.codes
            size *= attribute.cardinality
        combined, number = _number_own_ids(combined)
        # Many records need many bytes; there are fewer of them than four bytes can count.
        return Partition(combined.astype(np.int32), number)

    @cached_property
    def sizes(self) -> Ints:
        """The size of each class."""
        return np.bincount(self.of_record, minlength=self.number)


def number_ids(ids: npt.NDArray[Any]) -> tuple[Ints, int]:
    """Numbers from 0 for the ids that occur, in their order, and how many there are.

    >>> number_ids(np.array([7, 3, 7]))
    (array([1, 0, 1]), 2)
    """
    return _number_own_ids(ids.astype(np.int64))


def _number_own_ids(ids: Ints) -> tuple[Ints, int]:
    """The same of an array that is the caller's own: a long one is numbered in place."""
    if len(ids) < tuning.COMPILED_SORT_ROWS:
        values, places = np.unique(ids, return_inverse=True)
        return places.astype(np.int64), len(values)
    from divulge.classes import key_kernels

    return ids, int(key_kernels.number_blocks(ids))


def encode_jointly(names: Sequence[str], *datasets: Dataset) -> list[list[AttributeCodes]]:
    """The same attributes of several datasets, with the same code for the same value.

    Raises:
        InvalidInput: if an attribute has another type of value in another dataset.
    """
    problems = Problems("attack")
    attributes: list[list[AttributeCodes]] = [[] for _ in datasets]
    for name in names:
        columns = [dataset.columns[name] for dataset in datasets]
        types = {column.values.type for column in columns if len(column.values)}
        if len(types) > 1 and all(map(_is_numeric_type, types)):
            # A file in which no number has a fraction holds the same numbers as one with some.
            columns = [replace(c, values=c.values.cast("float64")) for c in columns]
        elif len(types) > 1:
            where = ", ".join(f'"{d.name}"' for d in datasets)
            message = f'"{name}" has values of different types in the datasets {where}.'
            problems.add("knows", message)
            continue
        for place, attribute in enumerate(_encode_columns(columns)):
            attributes[place].append(attribute)
    problems.raise_any()
    return attributes


def _is_numeric_type(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _encode_columns(columns: Sequence[Column]) -> list[AttributeCodes]:
    import pyarrow as pa

    values = pa.chunked_array([column.values for column in columns if len(column.values)] or [
        columns[0].values])  # fmt: skip
    encoded = encode_array(values)
    recoded, start = [], 0
    for column in columns:
        own = encoded.codes[start : start + len(column.values)].astype(np.int64)
        start += len(column.values)
        # The code after the last stands for a missing value in each of them.
        table = np.append(own, len(encoded.values))
        recoded.append(AttributeCodes(table[column.codes], len(encoded.values) + 1))
    return recoded
