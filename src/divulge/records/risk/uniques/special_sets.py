"""Minimal sample uniques by name: for each record, the sets of attributes that make it special."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from divulge.records.risk.uniques.minimal_uniques import MinimalUniqueRows
from divulge.work.arrays import Ints


class MinimalUniques(Sequence[list[frozenset[str]]]):
    """For each record, the smallest sets of attributes on which it is unique."""

    def __init__(self, found: MinimalUniqueRows, names: Sequence[str], rows: int) -> None:
        self.found = found
        self.names = tuple(names)
        self._starts = np.searchsorted(found.record, np.arange(rows + 1))

    @overload
    def __getitem__(self, record: int) -> list[frozenset[str]]: ...
    @overload
    def __getitem__(self, record: slice) -> list[list[frozenset[str]]]: ...
    def __getitem__(self, record: int | slice) -> list[frozenset[str]] | list[list[frozenset[str]]]:
        if isinstance(record, slice):
            return [self[each] for each in range(*record.indices(len(self)))]
        if record < 0:
            record += len(self)
        if not 0 <= record < len(self):
            raise IndexError(record)
        first, last = self._starts[record : record + 2]
        return [self._name_attributes(int(bits)) for bits in self.found.attributes[first:last]]

    def __len__(self) -> int:
        return int(self._starts.size) - 1

    def __iter__(self) -> Iterator[list[frozenset[str]]]:
        return (self[record] for record in range(len(self)))

    @property
    def total(self) -> int:
        """How many minimal uniques there are in all."""
        return int(self.found.record.size)

    @property
    def sizes(self) -> Ints:
        """The number of attributes of each minimal unique, record by record."""
        return np.bitwise_count(self.found.attributes).astype(np.int64)

    def _name_attributes(self, bits: int) -> frozenset[str]:
        return frozenset(name for bit, name in enumerate(self.names) if bits >> bit & 1)
