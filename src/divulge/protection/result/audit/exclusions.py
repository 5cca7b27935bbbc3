"""Values that a hidden cell cannot have had, as the counts of a minimal suppression tell.

A cell is hidden because its record had too little company. With a value that k - 1 other released
records show who are alike in all else (also in what they hide), it would have had enough, and had
been shown. So somebody who knows the method excludes such values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.classes.keys import assign_classes
from divulge.work.arrays import Array, Bools, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class ExcludedValues:
    """For some hidden cells of one attribute, lists of the values that they cannot have had."""

    rows: Ints
    """The records whose cell is hidden."""
    group: Ints
    """For each of them, which list is theirs."""
    starts: Ints
    """Where each list begins, and the last one ends."""
    codes: Ints

    @classmethod
    def from_pairs(cls, rows: Ints, group: Ints, pairs: tuple[Ints, Ints]) -> ExcludedValues:
        """From lists as pairs (list, code), in the order of the lists."""
        lists, codes = pairs
        counts = np.bincount(lists, minlength=int(group.max(initial=-1)) + 1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(rows=rows, group=group, starts=starts, codes=codes)

    @property
    def counts(self) -> Ints:
        """How many values are excluded for each cell."""
        return np.diff(self.starts)[self.group]

    def has(self, codes: Ints) -> Bools:
        """Whether the value that is asked for is excluded, cell by cell."""
        lists = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
        size = 1 + int(max(self.codes.max(initial=0), codes.max(initial=0)))
        is_value = codes >= 0
        keys = self.group * size + np.where(is_value, codes, 0)
        return np.asarray(is_value & np.isin(keys, lists * size + self.codes), np.bool_)


def exclude_by_counts(columns: Sequence[Array], target: int, rows: Ints, k: int) -> ExcludedValues:
    """The values that k - 1 others show who are alike in all columns but the target.

    Args:
        columns: by attribute the code of each record, negative where there is no value; what is
            hidden and what is absent have numbers of their own.
        target: which of the columns is sought.
        rows: the records that hide it.
        k: how much company a record must have, itself included.

    >>> age, sex = np.array([-1, 3, 3, 4]), np.array([0, 0, 0, 0])
    >>> exclude_by_counts([age, sex], 0, np.array([0]), 3).codes.tolist()
    [3]
    """
    codes = columns[target].astype(np.int64)
    others = [each.astype(np.int64) for a, each in enumerate(columns) if a != target]
    lowest = [min(0, int(each.min(initial=0))) for each in others]
    others = [each - least for each, least in zip(others, lowest, strict=True)]
    sizes = [int(each.max(initial=0)) + 1 for each in others]
    rest = assign_classes(others, sizes, codes.size)
    # Only rests of hidden cells matter, numbered from 0.
    number = np.full(int(rest.max(initial=-1)) + 1, -1, np.int64)
    sought = np.unique(rest[rows])
    number[sought] = np.arange(sought.size)
    shown = np.flatnonzero((codes >= 0) & (number[rest] >= 0))
    size = int(codes.max(initial=0)) + 1
    pairs, counts = np.unique(number[rest[shown]] * size + codes[shown], return_counts=True)
    pairs = pairs[counts >= k - 1]
    return ExcludedValues.from_pairs(rows, number[rest[rows]], (pairs // size, pairs % size))
