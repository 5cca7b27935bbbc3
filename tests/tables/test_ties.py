"""The cheapest pattern, and of all cheapest the first: beyond crosstabs, and by other ways."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.test_suppress import cheapest_by_enumeration, hierarchical

from divulge.tables import Table, link, optimal_pattern, suppress
from divulge.tables.suppression.branch_and_cut import Bounds, Relaxation, find_within_price
from divulge.tables.suppression.cp_sat_patterns import find_by_cp_sat
from divulge.tables.suppression.cut_pool import CutPool
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.result import build_suppression_problem
from divulge.work import Effort


def cube(random: np.random.Generator) -> Table:
    return Table.from_cells(random.integers(1, 9, random.permutation([2, 2, 3])))


def two_tables(random: np.random.Generator) -> Table:
    cells = random.integers(1, 9, (2, 3, 2))
    return link(
        Table.from_cells(cells.sum(axis=2), names=["region", "sex"]),
        Table.from_cells(cells.sum(axis=1), names=["region", "age"]),
    )


def with_subtotals(random: np.random.Generator) -> Table:
    return hierarchical(random.integers(4, 12, (4, 4)))


def smallest(table: Table, how_many: int) -> np.ndarray:
    """The smallest inner cells as primary ones."""
    relations = table.structure.relations
    inner = np.ones(table.structure.size, dtype=bool)
    inner[relations.cells[relations.signs < 0]] = False
    primary = np.zeros(table.structure.size, dtype=bool)
    cells = np.flatnonzero(inner)
    primary[cells[np.argsort(table.units[cells], kind="stable")[:how_many]]] = True
    return primary


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", [cube, two_tables, with_subtotals])
def test_cubes_subtotals_and_linked_tables_equal_enumeration(
    make: Callable[[np.random.Generator], Table], seed: int
) -> None:
    table = make(np.random.default_rng(seed))
    problem = build_suppression_problem(table, smallest(table, 2), width=3)
    expected = cheapest_by_enumeration(table, problem)
    found = optimal_pattern(problem)
    if expected is None:
        assert found.hopeless
        return
    assert found.first
    assert found.cost == found.bound
    np.testing.assert_array_equal(found.pattern, expected)


def random_problem(seed: int, side: int = 5) -> SuppressionProblem:
    random = np.random.default_rng(seed)
    table = Table.from_cells(random.integers(1, 25, (side, side)))
    return build_suppression_problem(table, table.structure.to_mask(smallest(table, 3)), width=8)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.integers(3, 9))
def test_branching_and_the_solver_of_constraints_give_the_same_answer(seed: int, most: int) -> None:
    problem = random_problem(seed)
    one, two = CutPool(problem), CutPool(problem)
    nothing = Bounds.all_open(len(one.free))
    branched = find_within_price(Relaxation(one), nothing, most, 10_000, Effort(60))
    asked = find_by_cp_sat(two, nothing, most, problem.start, Effort(60))
    assert isinstance(branched, str) == isinstance(asked, str)
    for found in (branched, asked):
        if isinstance(found, str):
            assert found == "none"
        else:
            assert problem.price(found) <= most + one.base
            assert one.is_protecting(found)


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_no_cell_of_a_cheapest_pattern_stands_alone_in_a_sum(seed: int) -> None:
    problem = random_problem(seed)
    found = optimal_pattern(problem)
    relations = problem.relations
    unknown = np.bincount(relations.relation_of_entry[found.pattern[relations.cells]])
    assert 1 not in unknown


@pytest.mark.parametrize("seed", range(2))
def test_ties_of_a_table_of_ten_by_ten_are_decided(seed: int) -> None:
    random = np.random.default_rng(seed)
    cells = random.integers(10, 100, (10, 10))
    cells.flat[random.choice(100, 5, replace=False)] = random.integers(1, 10, 5)
    found = suppress(Table.from_cells(cells), min_frequency=10, width=10)
    assert found.gap == 0
    assert found.first
    # Turned over, rows become columns and the order of cells another: the price stays.
    turned = suppress(Table.from_cells(cells.T), min_frequency=10, width=10)
    assert turned.cost == found.cost


def test_cells_that_cost_nothing_are_suppressed_first() -> None:
    table = Table.from_cells([[3, 20, 30], [40, 50, 60], [70, 80, 90]])
    cost = np.ones(table.shape)
    cost[0, 1] = cost[2, 2] = 0
    found = suppress(table, min_frequency=5, width=5, cost=cost)
    assert found.first
    assert found.pattern[0, 1]
    assert found.pattern[2, 2], "it costs nothing, and comes before not suppressing it"
