"""Candidate tables: every table of whole numbers that agrees with what is published.

The differences of two candidates keep all sums at zero: they lie in the null space of the
relations among the suppressed cells (Minami and Abe 2019, Sec. 3.2). Its dimension says how much
freedom there is; how many candidates there are depends on the totals too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from divulge import work
from divulge.solvers.highs import INFINITE
from divulge.tables import tuning
from divulge.tables.feasibility.cell_intervals import bound_cells, find_feasible_values
from divulge.tables.feasibility.network import build_network
from divulge.tables.table.structure import Key
from divulge.tables.table.table import Published
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Ints

MOST_CANDIDATES = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidates:
    """The tables that agree with what is published.

    `values` has a row a candidate and a column a suppressed cell, above the lowest possible
    value. `kind` says whether these are all candidates, the first of too many, or random ones of
    too many; `low` and `high` are the feasibility intervals.
    """

    published: Published
    cells: Ints
    values: Ints
    kind: Literal["all", "first", "sample"]
    low: Ints
    high: Ints
    null_space_dimension: int

    @property
    def count(self) -> int | None:
        """How many candidates there are; None if there were too many to list."""
        return len(self.values) if self.kind == "all" else None

    @property
    def keys(self) -> list[Key]:
        """The coordinates of the suppressed cells, in the order of the columns."""
        return [self.published.structure.addresses[cell] for cell in self.cells]


def candidates(
    published: Published, most: int = MOST_CANDIDATES, sample: int = 0, seed: int = 0
) -> Candidates:
    """List the tables that agree with what is published, or some of them if they are too many.

    Args:
        published: the published table.
        most: list so many at the most.
        sample: if there are more, visit so many at random instead (crosstabs and other networks
            only); 0: the first `most` of the list.
        seed: of the random walk.

    Raises:
        InvalidInput: if there is none, or if published totals do not bound a suppressed cell.

    >>> from divulge.tables import Table
    >>> table = Table.from_cells([[15, 14], [8, 9]])
    >>> found = candidates(table.publish({(0, 0), (0, 1), (1, 0), (1, 1)}))
    >>> found.count, found.null_space_dimension
    (18, 1)
    """
    structure, hidden = published.structure, published.unknown
    cells = np.flatnonzero(hidden)
    least = published.floor
    published_values = np.where(hidden, 0, published.units - least)
    lower, upper, _ = bound_cells(structure.relations, published_values, hidden, cells, least)
    if np.any(upper == INFINITE):
        label = structure.locate_cell(int(cells[np.flatnonzero(upper == INFINITE)[0]]))
        message = "no published total bounds it, so candidates have no end; publish a total of it."
        raise InvalidInput("published table", [Problem(label, message)])
    low, high = lower.astype(np.int64), upper.astype(np.int64)
    free = _compute_null_space_dimension(published, cells)
    with work.step("Listing candidate tables"):
        values, is_complete = _list_candidates(
            published, published_values + least, cells, low=low, high=high, most=most
        )
        kind: Literal["all", "first", "sample"] = "all" if is_complete else "first"
        if not is_complete and sample:
            visited_values = _sample_candidates(published, published_values, least, sample, seed)
            if visited_values is not None:
                values, kind = visited_values, "sample"
    return Candidates(
        published=published,
        cells=cells,
        values=values,
        kind=kind,
        low=low,
        high=high,
        null_space_dimension=free,
    )


def _compute_null_space_dimension(published: Published, cells: Ints) -> int:
    """The dimension of the null space of the relations among suppressed cells."""
    relations = published.structure.relations
    matrix = relations.to_matrix(published.structure.size)[:, cells]
    matrix = matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)]
    rank = int(np.linalg.matrix_rank(matrix.toarray())) if matrix.shape[0] else 0
    return len(cells) - rank


def _list_candidates(
    published: Published,
    published_units: Ints,
    cells: Ints,
    *,
    low: Ints,
    high: Ints,
    most: int,
) -> tuple[Ints, bool]:
    from divulge.tables.candidate_tables.enumeration_kernels import list_points

    if len(cells) == 0:  # nothing is hidden: there is one candidate, what is published
        return np.empty((1, 0), np.int64), True
    relations = published.structure.relations
    matrix = relations.to_matrix(published.structure.size).tocsc()
    rest = -(matrix @ published_units)
    inside = matrix[:, cells].toarray()
    order = _order_cells(inside, high - low)
    inside, low, high = inside[:, order], low[order], high[order]
    column, relation = np.nonzero(inside.T)
    signs = inside.T[column, relation].astype(np.int64)
    starts = np.searchsorted(column, np.arange(len(cells) + 1))
    # What the later cells of a sum add at the least and at the most.
    least, greatest = (
        np.minimum(inside * low, inside * high),
        np.maximum(inside * low, inside * high),
    )
    after = [np.cumsum(part[:, ::-1], axis=1)[:, ::-1] - part for part in (least, greatest)]
    later = np.column_stack([part[relation, column] for part in after]).astype(np.int64)
    nothing = np.empty((0, len(cells)), np.int64)
    arguments = starts, relation, signs, later, low, high, rest.astype(np.int64), most
    steps = tuning.STEPS_PER_CANDIDATE * most + tuning.LEAST_CANDIDATE_STEPS
    count, is_complete = list_points(*arguments, steps, nothing)
    points = np.empty((count, len(cells)), np.int64)
    list_points(*arguments, steps, points)
    values = np.empty_like(points)
    values[:, order] = points
    return values, bool(is_complete)


def _order_cells(inside: Ints, width: Ints) -> Ints:
    """Decide cells so that sums close early: next comes the cell of the sum with fewest left."""
    open_counts = np.count_nonzero(inside, axis=1)
    undecided = list(range(inside.shape[1]))
    order = []
    while undecided:
        nearest = [
            (
                min((int(open_counts[r]) for r in np.flatnonzero(inside[:, c])), default=0),
                int(width[c]),
                c,
            )
            for c in undecided
        ]
        cell = min(nearest)[2]
        order.append(cell)
        undecided.remove(cell)
        open_counts[np.flatnonzero(inside[:, cell])] -= 1
    return np.array(order, dtype=np.int64)


def _sample_candidates(
    published: Published, published_values: Ints, least: Ints, sample: int, seed: int
) -> Ints | None:
    """Random candidates of a network; None where the suppressed cells form none."""
    from divulge.tables.candidate_tables.enumeration_kernels import walk_points

    net = build_network(published.structure.relations, published.unknown)
    if net is None:
        return None
    start = find_feasible_values(
        published.structure.relations, published_values, published.unknown, least
    )[net.cells]
    points = np.empty((sample, len(net.cells)), np.int64)
    walk_points(*net.arcs, start, points, 2 * len(net.cells), seed)
    return points
