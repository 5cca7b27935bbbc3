"""Who contributes to a cell: how many, and how much the largest give.

Rules of sensitivity ask for the largest contributors of every cell, margins included; a
contributor with several records in a cell counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from divulge.tables.table.axis import Axis
from divulge.work.arrays import Ints


class Contributors(Protocol):
    """What rules of sensitivity ask of a table, or of several linked ones."""

    def count_contributors(self) -> Ints:
        """How many contributors each cell has."""

    def find_largest_amounts(self, how_many: int) -> Ints:
        """The largest amounts of each cell's contributors, zeros at the end."""


class KnownContributors(Contributors, Protocol):
    """What is asked of who contributes, where somebody may be one of them."""

    def list_members(self, most: int) -> dict[int, list[int]]:
        """The contributors of every cell that has at most so many (and at least one)."""

    def list_distinct_contributors(self) -> list[int]:
        """Contributors that differ in what they give to which cell, the largest first."""

    def sum_amounts_of(self, contributors: Sequence[int]) -> tuple[Ints, Ints]:
        """What some contributors give to each cell together, and how many of them do."""


@dataclass(frozen=True, eq=False)
class LinkedContributions:
    """The contributions of linked tables: numbers of cells, and by what a table's units grew."""

    parts: tuple[tuple[Contributions, Ints, int], ...]
    size: int

    @property
    def has_common_population(self) -> bool:
        """Whether the tables are made of the same records, so that it is known who is who."""
        first = self.parts[0][0].population
        return first is not None and all(
            part.population is not None
            and part.population[0] is first[0]
            and part.population[1] == first[1]
            for part, _, _ in self.parts
        )

    def count_contributors(self) -> Ints:
        """How many contributors each cell has, in the order of the cells."""
        counts = np.zeros(self.size, dtype=np.int64)
        for part, numbers, _ in self.parts:
            counts[numbers] = part.count_contributors()
        return counts

    def find_largest_amounts(self, how_many: int) -> Ints:
        """The largest amounts of each cell's contributors: cells x how_many, zeros at the end."""
        largest = np.zeros((self.size, how_many), dtype=np.int64)
        for part, numbers, factor in self.parts:
            largest[numbers] = part.find_largest_amounts(how_many) * factor
        return largest

    def list_members(self, most: int) -> dict[int, list[int]]:
        """The contributors of every cell that has at most so many (and at least one)."""
        members: dict[int, list[int]] = {}
        for part, numbers, _ in self.parts:
            of_part = part.list_members(most).items()
            members |= {int(numbers[cell]): contributors for cell, contributors in of_part}
        return {cell: members[cell] for cell in sorted(members)}

    def list_distinct_contributors(self) -> list[int]:
        """Contributors that differ in what they give to any of the tables, the largest first."""
        gifts: dict[int, tuple[bytes, int]] = {}
        for part, _, _ in self.parts:
            for contributor, (gift, total) in part.collect_gifts().items():
                before, most = gifts.get(contributor, (b"", 0))
                gifts[contributor] = before + gift, max(most, total)
        return _list_distinct(gifts)

    def sum_amounts_of(self, contributors: Sequence[int]) -> tuple[Ints, Ints]:
        """What some contributors give to each cell together, and how many of them do."""
        amounts, present = (np.zeros(self.size, dtype=np.int64) for _ in range(2))
        for part, numbers, factor in self.parts:
            of_part, present_in_part = part.sum_amounts_of(contributors)
            # A cell that two tables share holds the same in both.
            amounts[numbers], present[numbers] = of_part * factor, present_in_part
        return amounts, present


@dataclass(kw_only=True, frozen=True, eq=False)
class Contributions:
    """Each contributor's amount in each inner cell it contributes to."""

    axes: tuple[Axis, ...]
    codes: tuple[Ints, ...]
    contributor: Ints
    amount: Ints
    population: tuple[object, str | None] | None = None
    """The records that it is made of, and the attribute that says who contributes."""

    @classmethod
    def from_records(
        cls,
        axes: Sequence[Axis],
        codes: Sequence[Ints],
        contributor: Ints,
        amount: Ints,
        *,
        population: tuple[object, str | None] | None = None,
    ) -> Contributions:
        """From the codes, the contributor and the amount of every record."""
        return cls(
            axes=tuple(axes),
            codes=tuple(codes),
            contributor=contributor,
            amount=amount,
            population=population,
        )

    def count_contributors(self) -> Ints:
        """How many contributors each cell has, in the order of the cells."""
        return self._aggregate_by_cell(1)[0]

    def find_largest_amounts(self, how_many: int) -> Ints:
        """The largest amounts of each cell's contributors: cells x how_many, zeros at the end."""
        return self._aggregate_by_cell(how_many)[1]

    def list_members(self, most: int) -> dict[int, list[int]]:
        """The contributors of every cell that has at most so many (and at least one)."""
        counts = self.count_contributors()
        members_of_cell: dict[int, set[int]] = {}
        for cell, record in self._enumerate_places():
            small = counts[cell] <= most
            pairs = zip(cell[small].tolist(), self.contributor[record[small]].tolist(), strict=True)
            for place, contributor in pairs:
                members_of_cell.setdefault(place, set()).add(contributor)
        return {cell: sorted(members_of_cell[cell]) for cell in sorted(members_of_cell)}

    def list_distinct_contributors(self) -> list[int]:
        """Contributors that differ in what they give to which cell, the largest first.

        Of those who give alike one stands for all: each knows as much as the others.
        """
        return _list_distinct(self.collect_gifts())

    def collect_gifts(self) -> dict[int, tuple[bytes, int]]:
        """What each contributor gives to which inner cell, as bytes to compare; and how much."""
        shape = tuple(axis.leaves for axis in self.axes)
        cell = np.ravel_multi_index(self.codes, shape)
        order = np.lexsort([self.amount, cell, self.contributor])
        bounds = np.flatnonzero(np.diff(self.contributor[order])) + 1
        gifts: dict[int, tuple[bytes, int]] = {}
        for records in np.split(order, bounds):
            if len(records):
                gift = np.stack([cell[records], self.amount[records]]).astype(np.int64)
                total = int(np.abs(self.amount[records]).sum())
                gifts[int(self.contributor[records[0]])] = gift.tobytes(), total
        return gifts

    def sum_amounts_of(self, contributors: Sequence[int]) -> tuple[Ints, Ints]:
        """What some contributors give to each cell together, and how many of them do."""
        cells = int(np.prod([axis.size for axis in self.axes]))
        amounts, present = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
        is_contributed = np.isin(self.contributor, contributors)
        for cell, record in self._enumerate_places():
            selected = is_contributed[record]
            np.add.at(amounts, cell[selected], self.amount[record[selected]])
            pairs = np.unique(
                np.column_stack([cell[selected], self.contributor[record[selected]]]), axis=0
            )
            present += np.bincount(pairs[:, 0], minlength=cells)
        return amounts, present

    def _enumerate_places(self) -> Iterator[tuple[Ints, Ints]]:
        """Cells and the records in them; a record stands in one for every choice of levels."""
        shape = tuple(axis.size for axis in self.axes)
        for ancestors in product(*(self._list_ancestors(k) for k in range(len(self.axes)))):
            record = np.flatnonzero(np.all([places >= 0 for places in ancestors], axis=0))
            if len(record):
                yield np.ravel_multi_index(tuple(p[record] for p in ancestors), shape), record

    def _aggregate_by_cell(self, how_many: int) -> tuple[Ints, Ints]:
        shape = tuple(axis.size for axis in self.axes)
        cells = int(np.prod(shape))
        counts = np.zeros(cells, dtype=np.int64)
        largest = np.zeros((cells, how_many), dtype=np.int64)
        for cell, record in self._enumerate_places():
            holding = self.contributor[record]
            order = np.lexsort([holding, cell])
            cell, holding, amount = cell[order], holding[order], self.amount[record][order]
            begins = np.ones(len(cell), dtype=bool)
            begins[1:] = (cell[1:] != cell[:-1]) | (holding[1:] != holding[:-1])
            of_each = np.add.reduceat(amount, np.flatnonzero(begins))
            of_cell = cell[begins]
            order = np.lexsort([-of_each, of_cell])
            of_cell, of_each = of_cell[order], of_each[order]
            rank = np.arange(len(of_cell)) - np.searchsorted(of_cell, of_cell)
            first = rank < how_many
            largest[of_cell[first], rank[first]] = of_each[first]
            counts += np.bincount(of_cell, minlength=cells)
        return counts, largest

    def _list_ancestors(self, k: int) -> list[Ints]:
        """For each level, the code of each record there (-1: its chain is shorter)."""
        axis = self.axes[k]
        chains = [axis.chain(leaf) for leaf in range(axis.leaves)]
        height = max(map(len, chains))
        return [
            np.array([chain[level] if level < len(chain) else -1 for chain in chains])[
                self.codes[k]
            ]
            for level in range(height)
        ]


def _list_distinct(gifts: Mapping[int, tuple[bytes, int]]) -> list[int]:
    """One contributor for all who give alike, the largest first."""
    distinct: dict[bytes, tuple[int, int]] = {}
    for contributor, (gift, total) in gifts.items():
        distinct.setdefault(gift, (-total, contributor))
    return [contributor for _, contributor in sorted(distinct.values())]
