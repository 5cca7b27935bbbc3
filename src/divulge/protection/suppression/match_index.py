"""How many records fit a row that hides cells: looked up in tables instead of counted anew.

Two rows fit each other if they agree on what neither hides. So of all rows that hide the same
cells, those that fit a row are the ones that agree with it on what is left: a lookup in a table of
how many records have each combination. There is a table for every pair of what is hidden on the
two sides, made once it is asked for often, and kept as rows come to hide more. Rows that hide what
hardly any other hides are compared one by one, as are all where tables would take too much memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from divulge.classes.keys import assign_classes
from divulge.protection import tuning
from divulge.protection.changes import kernels
from divulge.protection.changes.kernels import HIDDEN
from divulge.work.arrays import Ints

MOST_ATTRIBUTES = 62
"""Attributes whose sets can be numbers of 64 bits; of more, nothing is looked up."""


@dataclass(eq=False)
class MatchTable:
    """Of the rows that hide the same: how many records have each combination of what is left."""

    place: Ints
    """Of each pattern, the place of its combination."""
    records: Ints


@dataclass(kw_only=True)
class MatchIndex:
    """Rows of codes and how many records are each; rows that hide more come after the first ones.

    A set of attributes is a number with a bit for each. `count` is 0 where the last record of a
    row has come to be another; `size` rows are in use.
    """

    codes: npt.NDArray[np.int32]
    count: Ints
    hidden: Ints
    """Of each row, the attributes it hides."""
    home: Ints
    """Of each row, the first row that it was: its pattern."""
    pattern: Ints
    """Of each record, its pattern."""
    patterns: int
    size: int
    is_used: bool = True
    _requests: Counter[int] = field(default_factory=Counter)
    _rows_hiding: Counter[int] = field(default_factory=Counter)
    _tables: dict[int, dict[int, MatchTable]] = field(default_factory=dict)
    """The tables by what their rows hide, then by what is hidden on either side."""
    _places: dict[int, Ints] = field(default_factory=dict)
    _lookups: dict[int, list[MatchTable]] = field(default_factory=dict)
    """By what a row hides, all tables that tell how many fit it."""
    _loose: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """The rows that are in no table."""

    @classmethod
    def from_codes(cls, codes: npt.NDArray[np.int32]) -> MatchIndex:
        """From a row of codes a record, HIDDEN where a value is missing."""
        rows, width = codes.shape
        columns = [codes[:, a].astype(np.int64) + 1 for a in range(width)]
        pattern = assign_classes(columns, [int(c.max(initial=0)) + 1 for c in columns], rows)
        _, first, count = np.unique(pattern, return_index=True, return_counts=True)
        is_used = width <= MOST_ATTRIBUTES
        hidden: Ints = np.zeros(first.size, np.int64)
        for a in range(width if is_used else 0):
            hidden |= (codes[first, a] == HIDDEN).astype(np.int64) << a
        index = cls(
            codes=codes[first],
            count=count.astype(np.int64),
            hidden=hidden,
            home=np.arange(first.size),
            pattern=pattern,
            patterns=first.size,
            size=first.size,
            is_used=is_used,
        )
        for mask, total in zip(*np.unique(hidden, return_counts=True), strict=True):
            index._rows_hiding[int(mask)] = int(total)
            if total >= tuning.LEAST_INDEXED_ROWS:
                index._tables[int(mask)] = {}
        index._loose = np.flatnonzero(~np.isin(hidden, list(index._tables)))
        return index

    def count_fitting(self, row: int, attribute: int | None = None) -> int:
        """How many records fit a row, if it hid an attribute more; itself included."""
        if not self.is_used:
            return self._scan_rows(row, attribute)
        more = 0 if attribute is None else 1 << attribute
        mask = int(self.hidden[row]) | more
        lookups = self._lookups.get(mask)
        if lookups is None:
            self._requests[mask] += 1
            if self._requests[mask] <= tuning.SCANS_BEFORE_INDEX or not self._add_lookups(mask):
                return self._scan_rows(row, attribute)
            lookups = self._lookups[mask]
        home = self.home[row]
        found = 0
        for table in lookups:
            found += table.records[table.place[home]]
        if self._loose.size:
            codes = self._hide(row, attribute)
            found += kernels.count_listed_matches(self.codes, self.count, self._loose, codes)
        return int(found)

    def hide_cell(self, row: int, attribute: int) -> int:
        """One record of a row hides an attribute more; the row it becomes."""
        if self.size == len(self.count):
            self._grow_arrays()
        new = self.size
        self.codes[new] = self._hide(row, attribute)
        self.home[new] = self.home[row]
        if self.is_used:
            self.hidden[new] = self.hidden[row] | 1 << attribute
        self.count[row] -= 1
        self.count[new] = 1
        self.size += 1
        self._move_record(row, -1)
        mask = int(self.hidden[new])
        self._rows_hiding[mask] += 1
        if self._rows_hiding[mask] == tuning.LEAST_INDEXED_ROWS and self._add_tables(mask):
            self._loose = self._loose[self.hidden[self._loose] != mask]
        elif mask in self._tables:
            self._move_record(new, 1)
        else:
            self._loose = np.append(self._loose, new)
        return new

    def _move_record(self, row: int, change: int) -> None:
        for table in self._tables.get(int(self.hidden[row]), {}).values():
            table.records[table.place[self.home[row]]] += change

    def _hide(self, row: int, attribute: int | None) -> npt.NDArray[np.int32]:
        codes: npt.NDArray[np.int32] = self.codes[row].copy()
        if attribute is not None:
            codes[attribute] = HIDDEN
        return codes

    def _scan_rows(self, row: int, attribute: int | None) -> int:
        codes = self._hide(row, attribute)
        return int(kernels.count_matches(self.codes, self.count, self.size, codes))

    def _add_lookups(self, mask: int) -> bool:
        """Make the tables that tell how many fit rows that hide this; whether there was room."""
        tables = [self._find_table(other, mask | other) for other in self._tables]
        self._lookups |= {mask: [table for table in tables if table is not None]}
        if None in tables:
            del self._lookups[mask]
        return None not in tables

    def _add_tables(self, mask: int) -> bool:
        """Have tables of rows that hide this; whether there was room."""
        self._tables[mask] = {}
        tables = [self._find_table(mask, mask | other) for other in self._lookups]
        if not self.is_used or None in tables:
            del self._tables[mask]
            return False
        for lookups, table in zip(self._lookups.values(), tables, strict=True):
            assert table is not None  # noqa: S101  # said above
            lookups.append(table)
        return True

    def _find_table(self, mask: int, either: int) -> MatchTable | None:
        """The table of rows that hide `mask` by what is shown outside `either`; None if no room."""
        found = self._tables[mask].get(either)
        if found is not None:
            return found
        arrays = len(self._places) + sum(map(len, self._tables.values())) + 2
        if arrays * self.patterns > tuning.MOST_INDEXED_PLACES:
            return None
        if either not in self._places:
            shown = [a for a in range(self.codes.shape[1]) if not either >> a & 1]
            columns = [self.codes[: self.patterns, a].astype(np.int64) + 1 for a in shown]
            sizes = [int(column.max(initial=0)) + 1 for column in columns]
            self._places[either] = assign_classes(columns, sizes, self.patterns)
        place = self._places[either]
        rows = np.flatnonzero((self.hidden[: self.size] == mask) & (self.count[: self.size] > 0))
        records = np.zeros(self.patterns, np.int64)
        np.add.at(records, place[self.home[rows]], self.count[rows])
        self._tables[mask][either] = MatchTable(place, records)
        return self._tables[mask][either]

    def _grow_arrays(self) -> None:
        more = max(len(self.count), tuning.WILDCARD_ROOM)
        empty = np.full((more, self.codes.shape[1]), HIDDEN, np.int32)
        self.codes = np.concatenate([self.codes, empty])
        zeros = np.zeros(more, np.int64)
        self.count, self.hidden, self.home = (
            np.concatenate([each, zeros]) for each in (self.count, self.hidden, self.home)
        )
