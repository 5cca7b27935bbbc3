"""Cells and linear relations: what every table is underneath.

A crosstab, a cube, a table with subtotals and several tables with common cells differ only in how
their cells are addressed. Each is a list of cells and of relations "these parts add up to that
total"; audit and suppression look at nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Sentence
from divulge.tables.table.axis import Axis
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Key = tuple[int, ...]
"""A cell's coordinates; in linked tables the number of the table comes first."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Relations:
    """Sums: relation r says that `signs` times the values of `cells[starts[r]:starts[r+1]]` is 0.

    Parts have the sign 1 and their total -1. `independent` marks relations of which the others
    are consequences: they are enough for computing, all of them are for explaining.
    """

    starts: Ints
    cells: Ints
    signs: Ints
    independent: Bools
    names: Callable[[int], str]

    @property
    def count(self) -> int:
        """How many relations there are."""
        return len(self.starts) - 1

    @cached_property
    def relation_of_entry(self) -> Ints:
        """The relation of each entry of `cells`."""
        return np.repeat(np.arange(self.count), np.diff(self.starts))

    def to_matrix(self, size: int) -> csr_array:
        """The relations as a sparse matrix of `size` cells."""
        from scipy.sparse import csr_array

        return csr_array((self.signs, self.cells, self.starts), shape=(self.count, size))

    def compute_imbalance(self, values: Ints) -> Ints:
        """By how much the parts of each relation exceed their total."""
        sums = np.zeros(self.count, dtype=np.int64)
        np.add.at(sums, self.relation_of_entry, self.signs * values[self.cells])
        return sums


@dataclass(frozen=True, eq=False)
class Structure:
    """The cells of one or more grids, numbered once, and their relations.

    `numbers[t]` gives the number of every cell of grid t; linked grids share numbers.
    """

    grids: tuple[tuple[Axis, ...], ...]
    numbers: tuple[Ints, ...]
    relations: Relations
    size: int

    @classmethod
    def from_grid(cls, axes: Sequence[Axis]) -> Structure:
        """One grid: a table of any number of dimensions.

        >>> Structure.from_grid([Axis.flat("sex", "FM"), Axis.flat("age", ["young", "old"])]).size
        9
        """
        shape = tuple(axis.size for axis in axes)
        size = prod(shape)
        numbers = np.arange(size).reshape(shape)
        return cls((tuple(axes),), (numbers,), _build_grid_relations(axes, numbers), size)

    @property
    def is_linked(self) -> bool:
        """Whether there are several grids."""
        return len(self.grids) > 1

    @cached_property
    def addresses(self) -> list[Key]:
        """The coordinates of every cell (of its first grid, where it is in several)."""
        addresses: list[Key] = [()] * self.size
        for table in reversed(range(len(self.grids))):
            numbers = self.numbers[table]
            for coordinates, number in zip(
                product(*map(range, numbers.shape)), numbers.flat, strict=True
            ):
                addresses[number] = (table, *coordinates) if self.is_linked else coordinates
        return addresses

    def cell_number(self, key: Any) -> int:
        """The number of the cell at some coordinates."""
        if not isinstance(key, tuple | list) or not all(isinstance(c, Integral) for c in key):
            message = f"{key!r} is not a cell: give coordinates, whole numbers from 0."
            raise InvalidInput("cells", [Problem("", message)])
        table, coordinates = (key[0], tuple(key[1:])) if self.is_linked else (0, tuple(key))
        grid = self.numbers[table] if 0 <= table < len(self.numbers) else None
        if (
            grid is None
            or len(coordinates) != grid.ndim
            or not all(0 <= c < n for c, n in zip(coordinates, grid.shape, strict=True))
        ):
            shapes = " and ".join(str(numbers.shape) for numbers in self.numbers)
            first = "the table's number, then " if self.is_linked else ""
            message = f"{tuple(key)} is not a cell: give {first}0-based coordinates within {shapes}"
            raise InvalidInput("cells", [Problem("", f"{message}, margins last.")])
        return int(grid[coordinates])

    def to_mask(self, cells: Any) -> Bools:
        """Which cells are meant: a set of coordinates, an array of truth values, or one a grid."""
        if cells is None:
            return np.zeros(self.size, dtype=bool)
        if isinstance(cells, np.ndarray) and cells.dtype == bool and cells.shape == (self.size,):
            return cells.copy()
        mask = np.zeros(self.size, dtype=bool)
        arrays = [cells] if isinstance(cells, np.ndarray) else cells
        if (
            isinstance(arrays, list | tuple)
            and arrays
            and all(isinstance(a, np.ndarray) for a in arrays)
        ):
            for numbers, array in zip(self.numbers, arrays, strict=True):
                if array.shape != numbers.shape:
                    message = f"has the shape {array.shape}; the table has {numbers.shape}."
                    raise InvalidInput("cells", [Problem("pattern", message)])
                mask[numbers[array.astype(bool)]] = True
        else:
            mask[[self.cell_number(key) for key in cells]] = True
        return mask

    def to_grids(self, of_cell: npt.NDArray[Any]) -> Any:
        """An array over cells in the shape of the grid; one a grid where there are several."""
        arrays = tuple(of_cell[numbers] for numbers in self.numbers)
        return arrays if self.is_linked else arrays[0]

    def describe_cell(self, cell: int) -> str:
        """A cell in words: its codes.

        >>> Structure.from_grid([Axis.flat("sex", "FM")]).describe_cell(2)
        'sex=Total'
        """
        key = self.addresses[cell]
        table, coordinates = (key[0], key[1:]) if self.is_linked else (0, key)
        axes = self.grids[table]
        parts = [f"{a.name}={a.codes[c]}" for a, c in zip(axes, coordinates, strict=True)]
        return ", ".join(parts)

    def locate_cell(self, cell: int) -> str:
        """Where a cell is, without its codes: categories are values, which no message holds.

        >>> Structure.from_grid([Axis.flat("sex", "FM"), Axis.flat("age", "ab")]).locate_cell(2)
        'sex 1, age total'
        """
        key = self.addresses[cell]
        table, coordinates = (key[0], key[1:]) if self.is_linked else (0, key)
        parts = [
            f"{a.name} total" if c == a.size - 1 else f"{a.name} {c + 1}"
            for a, c in zip(self.grids[table], coordinates, strict=True)
        ]
        return ", ".join([f"table {table + 1}", *parts] if self.is_linked else parts)


def _build_grid_relations(axes: Sequence[Axis], numbers: Ints) -> Relations:
    """All sums along all axes.

    Along axis k, sums at subtotals of an earlier axis follow from those at its values: only sums
    at values of all earlier axes are independent.
    """
    pieces = list(_enumerate_sums(axes, numbers))
    lengths = np.concatenate([np.full(len(cells), cells.shape[1]) for cells, *_ in pieces])
    names = [(axis, total) for cells, _, axis, total, _ in pieces for _ in range(len(cells))]
    totals = np.concatenate([cells[:, -1] for cells, *_ in pieces])

    def describe_relation(relation: int) -> str:
        axis, total = names[relation]
        place = np.unravel_index(totals[relation], numbers.shape)
        where = [
            f"{a.name}={a.codes[int(c)]}"
            for k, (a, c) in enumerate(zip(axes, place, strict=True))
            if k != axis
        ]
        values = {
            "where": ", ".join(where),
            "part": axes[axis].name,
            "total": axes[axis].codes[total],
        }
        key = "relation.sum" if where else "relation.whole"
        return Sentence("divulge.tables", key, values).render()

    return Relations(
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        cells=np.concatenate([cells.ravel() for cells, *_ in pieces]),
        signs=np.concatenate([np.tile(signs, len(cells)) for cells, signs, *_ in pieces]),
        independent=np.concatenate([independent for *_, independent in pieces]),
        names=describe_relation,
    )


def _enumerate_sums(
    axes: Sequence[Axis], numbers: Ints
) -> Iterator[tuple[Ints, Ints, int, int, Bools]]:
    for k, axis in enumerate(axes):
        lines = np.moveaxis(numbers, k, -1).reshape(-1, axis.size)
        at_values = np.ones(numbers.shape[:k] + numbers.shape[k + 1 :], dtype=bool)
        for earlier in range(k):
            shape = [1] * at_values.ndim
            shape[earlier] = axes[earlier].size
            at_values &= axes[earlier].is_leaf.reshape(shape)
        for total, parts in axis.totals():
            cells = np.column_stack([lines[:, parts], lines[:, [total]]])
            signs = np.array([1] * len(parts) + [-1])
            yield cells, signs, k, total, at_values.ravel()


def link(structures: Iterable[tuple[Structure, str]]) -> Structure:
    """Several grids as one: cells of the same codes and the same measure are one cell."""
    grids: list[tuple[Axis, ...]] = []
    numbers: list[Ints] = []
    relations: list[Relations] = []
    number_of_meaning: dict[Any, int] = {}
    for structure, measure in structures:
        [axes] = structure.grids
        own_numbers = np.empty(structure.size, dtype=np.int64)
        for cell, key in enumerate(structure.addresses):
            # The total of an axis is its last code, whatever its values are called.
            codes = ((a, c) for a, c in zip(axes, key, strict=True) if c < a.size - 1)
            meaning = (measure, frozenset((a.name, a.codes[c]) for a, c in codes))
            own_numbers[cell] = number_of_meaning.setdefault(meaning, len(number_of_meaning))
        if len(np.unique(own_numbers)) < structure.size:
            message = "two cells of one table have the same codes: call them differently."
            raise InvalidInput("linked tables", [Problem("codes", message)])
        grids.append(axes)
        numbers.append(own_numbers[structure.numbers[0]])
        relations.append(
            Relations(
                starts=structure.relations.starts,
                cells=own_numbers[structure.relations.cells],
                signs=structure.relations.signs,
                independent=structure.relations.independent,
                names=structure.relations.names,
            )
        )
    return Structure(
        tuple(grids), tuple(numbers), _join_relations(relations), len(number_of_meaning)
    )


def _join_relations(relations: Sequence[Relations]) -> Relations:
    ends = np.cumsum([0, *(len(r.cells) for r in relations)])
    counts = np.cumsum([0, *(r.count for r in relations)])

    def describe_relation(relation: int) -> str:
        table = int(np.searchsorted(counts, relation, side="right")) - 1
        name = relations[table].names(relation - int(counts[table]))
        values = {"number": table + 1, "relation": name}
        return Sentence("divulge.tables", "relation.of_table", values).render()

    return Relations(
        starts=np.concatenate(
            [[0], *(r.starts[1:] + end for r, end in zip(relations, ends, strict=False))]
        ),
        cells=np.concatenate([r.cells for r in relations]),
        signs=np.concatenate([r.signs for r in relations]),
        independent=np.concatenate([r.independent for r in relations]),
        names=describe_relation,
    )
