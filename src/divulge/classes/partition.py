"""Which records look alike: classes as a number for each record, refined attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.data import Column, Dataset
from divulge.data.column import encode
from divulge.engines import IntArray
from divulge.work import Problems

MANY_ROWS = 200_000
"""From here on it pays to load the compiled sort."""
_LARGEST = 1 << 62


@dataclass(frozen=True)
class Knowledge:
    """One attribute that the adversary knows: a code a record, and how many codes there are."""

    codes: npt.NDArray[Any]
    cardinality: int

    @classmethod
    def of(cls, column: Column) -> Knowledge:
        """What a column tells; a missing value is a value of its own."""
        return cls(column.codes, max(1, column.cardinality))


@dataclass(frozen=True)
class Classes:
    """The class of each record; classes are numbered from 0."""

    of_record: npt.NDArray[Any]
    number: int

    @classmethod
    def all_alike(cls, rows: int) -> Classes:
        """What somebody sees who knows nothing."""
        return cls(np.zeros(rows, np.int32), 1)

    @classmethod
    def by(cls, dataset: Dataset, knows: Iterable[str]) -> Classes:
        """The classes of records that agree on some attributes.

        >>> import divulge as dv
        >>> Classes.by(dv.datasets.school_year_example(), ["gender", "grade"]).number
        5
        """
        known = [Knowledge.of(dataset.columns[name]) for name in knows]
        return cls.all_alike(dataset.rows).refined(known)

    def refined(self, known: Iterable[Knowledge]) -> Classes:
        """The classes of those who also agree on what else is known.

        Tens of millions of records are refined in one array; what is known may be an iterator, so
        that only one attribute of it is in memory.
        """
        combined, size = self.of_record.astype(np.int64), self.number
        for each in known:
            if size * each.cardinality > _LARGEST:
                combined, size = _renumbered(combined)
            combined *= each.cardinality
            combined += each.codes
            size *= each.cardinality
        combined, number = _renumbered(combined)
        # Many records need many bytes; there are fewer of them than four bytes can count.
        return Classes(combined.astype(np.int32), number)

    @cached_property
    def sizes(self) -> IntArray:
        """The size of each class."""
        return np.bincount(self.of_record, minlength=self.number)


def numbered(ids: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """Numbers from 0 for the ids that occur, in their order, and how many there are.

    >>> numbered(np.array([7, 3, 7]))
    (array([1, 0, 1]), 2)
    """
    return _renumbered(ids.astype(np.int64))


def _renumbered(ids: IntArray) -> tuple[IntArray, int]:
    """The same of an array that is the caller's own: a long one is numbered in place."""
    if len(ids) < MANY_ROWS:
        values, places = np.unique(ids, return_inverse=True)
        return places.astype(np.int64), len(values)
    from divulge.classes import key_kernels

    return ids, int(key_kernels.numbered(ids))


def in_common(names: Sequence[str], *datasets: Dataset) -> list[list[Knowledge]]:
    """The same attributes of several datasets, with the same code for the same value.

    Raises:
        InvalidInput: if an attribute has another type of value in another dataset.
    """
    problems = Problems("attack")
    told: list[list[Knowledge]] = [[] for _ in datasets]
    for name in names:
        columns = [dataset.columns[name] for dataset in datasets]
        types = {column.values.type for column in columns if len(column.values)}
        if len(types) > 1 and all(map(_is_number, types)):
            # A file in which no number has a fraction holds the same numbers as one with some.
            columns = [replace(c, values=c.values.cast("float64")) for c in columns]
        elif len(types) > 1:
            where = ", ".join(f'"{d.name}"' for d in datasets)
            message = f'"{name}" has values of different types in the datasets {where}.'
            problems.add("knows", message)
            continue
        for place, knowledge in enumerate(_in_common(columns)):
            told[place].append(knowledge)
    problems.raise_any()
    return told


def _is_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _in_common(columns: Sequence[Column]) -> list[Knowledge]:
    import pyarrow as pa

    values = pa.chunked_array([column.values for column in columns if len(column.values)] or [
        columns[0].values])  # fmt: skip
    both = encode(values)
    found, start = [], 0
    for column in columns:
        own = both.codes[start : start + len(column.values)].astype(np.int64)
        start += len(column.values)
        # The code after the last stands for a missing value in each of them.
        table = np.append(own, len(both.values))
        found.append(Knowledge(table[column.codes], len(both.values) + 1))
    return found
