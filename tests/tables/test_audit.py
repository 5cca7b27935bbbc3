"""What the public can compute of suppressed cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

import divulge as dv
from divulge.tables import Table, intervals
from divulge.tables.feasibility.network import build_network
from divulge.work import InvalidInput

FIGURE_2 = [[7, 11, 60], [10, 60, 11], [60, 12, 60]]


def bounds_by_scipy(published: dv.tables.Published, cell: int) -> tuple[float, float]:
    """The plain twin: two linear programs over all cells, written as the paper writes them."""
    structure = published.structure
    matrix = structure.relations.to_matrix(structure.size).toarray()
    free = published.suppressed
    limits = [
        (0, None) if hidden else (v, v) for v, hidden in zip(published.units, free, strict=True)
    ]
    objective = np.zeros(structure.size)
    objective[cell] = 1
    low = linprog(objective, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=limits)
    high = linprog(-objective, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=limits)
    assert low.fun is not None
    return low.fun, np.inf if high.fun is None else -high.fun


def grids(dimensions: int = 2, most: int = 4, high: int = 12) -> st.SearchStrategy[Any]:
    shapes = st.tuples(*[st.integers(2, most)] * dimensions)
    return shapes.flatmap(lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, high)))


@st.composite
def published_tables(draw: st.DrawFn, dimensions: int = 2) -> dv.tables.Published:
    table = Table.from_cells(draw(grids(dimensions, 4 if dimensions == 2 else 3)))
    pattern = draw(hnp.arrays(bool, table.shape))
    pattern[(-1,) * dimensions] = False
    return table.publish(pattern)


def test_example_1_gives_the_interval_from_0_to_17() -> None:
    published = Table.from_cells(FIGURE_2).publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    found = intervals(published)
    assert found[(0, 0)] == (0, 17)
    assert found.integral
    assert found.disclosed == []


def test_the_published_table_holds_nothing_of_what_is_suppressed() -> None:
    published = Table.from_cells(FIGURE_2).publish({(0, 0)})
    assert published.units[0] == 0


@given(published_tables())
def test_flow_bounds_equal_linear_programs(published: dv.tables.Published) -> None:
    found = intervals(published)
    assert found.integral or not len(found)
    for place, cell in enumerate(found.cells):
        low, high = bounds_by_scipy(published, int(cell))
        assert found.lower[place] == pytest.approx(low, abs=1e-6)
        assert found.upper[place] == pytest.approx(high, abs=1e-6)


@given(published_tables(dimensions=3))
def test_three_dimensional_bounds_are_linear_programs_rounded_inwards(
    published: dv.tables.Published,
) -> None:
    found = intervals(published)
    for place, cell in enumerate(found.cells[:6]):
        low, high = bounds_by_scipy(published, int(cell))
        assert found.lower[place] == np.ceil(low - 1e-6)
        assert found.upper[place] == (high if np.isinf(high) else np.floor(high + 1e-6))


@given(published_tables())
def test_what_discloses_a_cell_computes_it(published: dv.tables.Published) -> None:
    found = intervals(published)
    structure = published.structure
    names = {structure.relations.names(r): r for r in range(structure.relations.count)}
    matrix = structure.relations.to_matrix(structure.size).toarray()
    for why in found.disclosures():
        assert why.relations
        if not why.by_sums_alone:
            continue
        combined = sum(factor * matrix[names[name]] for name, factor in why.relations)
        alone = np.zeros(structure.size)
        alone[structure.cell_number(why.key)] = 1
        np.testing.assert_allclose(
            np.asarray(combined)[published.suppressed], alone[published.suppressed], atol=1e-6
        )
        value = -(
            np.asarray(combined)[~published.suppressed] @ published.units[~published.suppressed]
        )
        assert value == pytest.approx(found[why.key][0])


BLOCKS = {(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3), (1, 2)}


def test_two_suppressions_in_every_line_do_not_protect_what_blocks_disclose() -> None:
    table = Table.from_cells(np.arange(11, 27).reshape(4, 4))
    found = intervals(table.publish(BLOCKS))
    for line in range(4):
        assert sum(cell[0] == line for cell in BLOCKS) >= 2
        assert sum(cell[1] == line for cell in BLOCKS) >= 2
    assert found.disclosed == [(1, 2)]
    why = found.why((1, 2))
    assert why.by_sums_alone
    assert len(why.relations) == 4, "two rows less two columns (or the other two of each)"
    assert intervals(table.publish(BLOCKS | {(2, 1)})).disclosed == []


def test_a_subtotal_along_one_dimension_leaves_a_network() -> None:
    area = dv.Hierarchy.from_pairs([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    rows = dv.tables.Axis.hierarchical("area", list("abcd"), area)
    table = Table.from_cells(
        np.arange(12).reshape(4, 3), axes=[rows, dv.tables.Axis.flat("sex", "fmx")]
    )
    everything = np.ones(table.structure.size, dtype=bool)
    assert build_network(table.structure.relations, everything) is not None


def test_what_cannot_be_is_refused() -> None:
    table = Table.from_cells([[1, 2], [3, 4]])
    published = table.publish({(0, 0), (1, 1)})
    published.units[table.structure.cell_number((0, 1))] = 99
    with pytest.raises(InvalidInput, match="no table of possible values agrees"):
        intervals(published)


def test_margins_that_do_not_add_up_are_named_with_the_difference() -> None:
    with pytest.raises(InvalidInput) as error:
        Table.from_cells([[1, 2, 4], [3, 4, 7], [4, 6, 10]], margins=True)
    assert "row 1, column total: its parts do not add up to it" in str(error.value)


def test_negative_cells_are_refused_unless_the_lowest_value_is_named() -> None:
    with pytest.raises(InvalidInput, match="below the lowest possible value"):
        Table.from_cells([[1, -2], [3, 4]])
    table = Table.from_cells([[1, -2], [3, 4]], lowest=-5)
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    assert intervals(published)[(0, 0)] == (-5, 4)


def test_a_cell_that_does_not_exist_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"\(7, 0\) is not a cell"):
        Table.from_cells(FIGURE_2).publish({(7, 0)})


def test_tables_of_decimals_are_exact() -> None:
    table = Table.from_cells([[0.1, 0.2], [0.3, 0.7]], measure="turnover")
    published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    assert intervals(published)[(0, 0)] == (0.0, 0.3)
