"""Suppression: patterns that protect, at the least cost, first among ties."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.test_audit import FIGURE_2, grids

import divulge as dv
from divulge.tables import Axis, Table, intervals, link, link_published
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.suppression.result import build_suppression_problem
from divulge.work import InvalidInput

# The paper's setting: a suppressed cell may be 0 for all that is known.
suppress = partial(dv.tables.suppress, zeros="secret")


def protects(table: Table, problem: SuppressionProblem, pattern: np.ndarray) -> bool:
    """The audit's word: every primary cell's interval is as wide as asked."""
    found = intervals(table.publish(pattern), table.structure.to_grids(problem.start))
    values = table.units[found.cells]
    return bool(
        np.all(found.widths >= problem.sliding)
        and np.all(found.upper - values >= problem.upper)
        and np.all(values - found.lower >= problem.lower)
    )


def cheapest_by_enumeration(table: Table, problem: SuppressionProblem) -> np.ndarray | None:
    """All patterns from few to many cells, each size in lexicographic order; all costs are 1."""
    free = np.flatnonzero(problem.open & ~problem.start)
    for size in range(len(free) + 1):
        for extra in combinations(free.tolist(), size):
            pattern = problem.start.copy()
            pattern[list(extra)] = True
            if protects(table, problem, pattern):
                return pattern
    return None


def test_figure_2_is_safe_at_delta_10_with_its_three_secondary_cells() -> None:
    table = Table.from_cells(FIGURE_2)
    found = suppress(table, min_frequency=10, width=10)
    assert found.cost == found.bound == 4
    assert found.gap == 0
    assert found.first
    assert np.argwhere(found.primary).tolist() == [[0, 0]]
    assert np.argwhere(found.pattern).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert intervals(found.published)[(0, 0)] == (0, 17)


@settings(max_examples=40)
@given(grids(most=3, high=14), st.integers(1, 12), st.booleans())
def test_the_optimal_pattern_is_the_first_of_all_cheapest_ones(
    cells: Any, width: int, zeros: bool
) -> None:
    table = Table.from_cells(cells)
    primary = (cells < 4) & (zeros | (cells > 0))
    primary = np.pad(primary, ((0, 1), (0, 1)))
    problem = build_suppression_problem(table, primary.ravel(), width=width)
    expected = cheapest_by_enumeration(table, problem)
    if expected is None:
        with pytest.raises(InvalidInput, match="cannot be protected"):
            suppress(table, primary=primary, width=width)
        return
    found = suppress(table, primary=primary, width=width)
    assert found.first
    assert found.gap == 0
    np.testing.assert_array_equal(found.pattern.ravel(), expected)


@settings(max_examples=25)
@given(grids(most=3, high=14), st.integers(0, 6), st.integers(0, 3))
def test_upper_and_lower_protection_are_optimal_too(cells: Any, upper: int, lower: int) -> None:
    table = Table.from_cells(cells)
    primary = np.pad((cells >= lower) & (cells < 6) & (cells > 0), ((0, 1), (0, 1)))
    problem = build_suppression_problem(table, primary.ravel(), upper=upper, lower=lower)
    expected = cheapest_by_enumeration(table, problem)
    if expected is None:
        with pytest.raises(InvalidInput, match="cannot be protected"):
            suppress(table, primary=primary, upper=upper, lower=lower)
        return
    found = suppress(table, primary=primary, upper=upper, lower=lower)
    np.testing.assert_array_equal(found.pattern.ravel(), expected)


@pytest.mark.parametrize("seed", range(4))
def test_sampled_tables_of_four_by_four_equal_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = Table.from_cells(np.maximum(random.normal(15, 10, (4, 4)).round(), 0).astype(int))
    found = suppress(table, min_frequency=5, width=8)
    problem = build_suppression_problem(table, table.structure.to_mask(found.primary), width=8)
    expected = cheapest_by_enumeration(table, problem)
    assert expected is not None
    np.testing.assert_array_equal(found.pattern.ravel(), expected)


@settings(max_examples=15)
@given(grids(dimensions=3, most=2, high=9), st.integers(1, 6))
def test_cubes_equal_enumeration(cells: Any, width: int) -> None:
    table = Table.from_cells(cells)
    primary = np.pad((cells < 3) & (cells > 0), ((0, 1),) * 3)
    problem = build_suppression_problem(table, primary.ravel(), width=width)
    expected = cheapest_by_enumeration(table, problem)
    if expected is None:
        return
    found = suppress(table, primary=primary, width=width)
    np.testing.assert_array_equal(found.pattern.ravel(), expected)


def hierarchical(cells: np.ndarray) -> Table:
    """Rows and columns of four values in two groups each."""
    pairs = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    area = dv.Hierarchy.from_pairs(pairs)
    axes = [Axis.hierarchical(name, list("abcd"), area) for name in ("from", "to")]
    return Table.from_cells(cells, axes=axes)


TABLES = {
    "crosstab": lambda r: Table.from_cells(r.integers(0, 15, (6, 5))),
    "cube": lambda r: Table.from_cells(r.integers(0, 15, (3, 3, 3))),
    "hierarchical": lambda r: hierarchical(r.integers(0, 15, (4, 4))),
    "linked": lambda r: _linked(r.integers(0, 15, (3, 3, 3))),
}


def _linked(cube: np.ndarray) -> Table:
    return link(
        Table.from_cells(cube.sum(axis=2), names=["region", "sex"]),
        Table.from_cells(cube.sum(axis=1), names=["region", "age"]),
    )


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), width=st.integers(1, 12))
def test_a_fast_pattern_always_passes_the_audit(kind: str, seed: int, width: int) -> None:
    table = TABLES[kind](np.random.default_rng(seed))
    threshold = 25 if kind == "linked" else 5
    found = suppress(table, threshold, width, method="fast", margins="suppressible")
    primary = table.structure.to_mask(found.primary)
    audited = intervals(found.published, found.primary)
    assert len(audited) == primary.sum()
    assert np.all(audited.widths >= width)
    again = suppress(table, threshold, width, method="fast", margins="suppressible")
    assert np.array_equal(found.published.suppressed, again.published.suppressed)
    assert found.bound <= found.cost


@pytest.mark.parametrize("kind", ["hierarchical", "linked"])
def test_optimal_is_never_dearer_than_fast(kind: str) -> None:
    table = TABLES[kind](np.random.default_rng(7))
    threshold = 25 if kind == "linked" else 5
    best = suppress(table, threshold, 6, margins="suppressible", seconds=20)
    fast = suppress(table, threshold, 6, margins="suppressible", method="fast")
    assert fast.bound <= best.bound <= best.cost <= fast.cost


def bridged_regions() -> tuple[Table, Table, set[tuple[int, int]], set[tuple[int, int]]]:
    """Nine regions in two tables whose suppressed totals can move, but not together.

    In the first table the suppressed totals of regions can be traded within groups (one group a
    column), in the second within other groups. Region 9 is the only one that joins the first two
    groups of one table to the last two of the other: a bridge, as between blocks of a crosstab.
    """
    places = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3), (1, 2)]
    random = np.random.default_rng(3)
    one = random.integers(10, 40, (9, 4))
    two = np.full((9, 4), one.sum(axis=1, keepdims=True) // 4)
    two[:, 0] += one.sum(axis=1) - two.sum(axis=1)
    hidden_one = {(k, i) for k, (i, _) in enumerate(places)} | {(k, 4) for k in range(9)}
    hidden_two = {(k, j) for k, (_, j) in enumerate(places)} | {(k, 4) for k in range(9)}
    return (
        Table.from_cells(one, names=["region", "sector"]),
        Table.from_cells(two, names=["region", "size"]),
        hidden_one,
        hidden_two,
    )


def test_two_linked_tables_are_each_safe_alone_and_unsafe_together_then_protected() -> None:
    one, two, hidden_one, hidden_two = bridged_regions()
    first, second = one.publish(hidden_one), two.publish(hidden_two)
    assert intervals(first).disclosed == []
    assert intervals(second).disclosed == []
    together = intervals(link_published(first, second))
    assert (0, 8, 4) in together.disclosed
    assert "table 2" in str(together.why((0, 8, 4)))
    both = link(one, two)
    total = {(0, 8, 4)}
    safe = suppress(both, primary=total, width=5, margins="suppressible", method="fast")
    assert intervals(safe.published).disclosed == []
    assert np.array_equal(safe.pattern[0][:, 4], safe.pattern[1][:, 4]), "one cell, one status"


def test_a_cell_suppressed_in_one_linked_table_and_published_in_another_is_named() -> None:
    one, two, hidden_one, hidden_two = bridged_regions()
    with pytest.raises(InvalidInput, match="region 9.*suppressed in one table and published"):
        link_published(one.publish(hidden_one), two.publish(hidden_two - {(8, 4)}))


def test_a_sensitive_cell_that_must_be_published_is_named() -> None:
    with pytest.raises(InvalidInput, match="row 1, column 1: is sensitive and must be published"):
        suppress(Table.from_cells(FIGURE_2), min_frequency=10, publish={(0, 0)})


def test_a_demand_that_cannot_be_met_names_the_cell() -> None:
    everything_else = {(0, 1), (0, 2)}
    with pytest.raises(InvalidInput, match="row 1, column 1: cannot be protected"):
        suppress(Table.from_cells(FIGURE_2), min_frequency=10, width=10, publish=everything_else)


def test_costs_by_value_keep_large_cells() -> None:
    table = Table.from_cells([[3, 90, 20], [80, 70, 60], [25, 50, 15]])
    found = suppress(table, min_frequency=5, width=5, cost="value")
    assert found.cost == 3 + 20 + 25 + 15
    assert found.gap == 0


def test_an_answer_at_any_time_limit_has_a_bound() -> None:
    random = np.random.default_rng(11)
    table = Table.from_cells(random.integers(1, 60, (15, 15)))
    found = suppress(table, min_frequency=3, width=20, seconds=0.05)
    assert found.bound <= found.cost
    assert np.all(intervals(found.published, found.primary).widths >= 20)


def test_no_rule_at_all_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="no rule of sensitivity is given"):
        suppress(Table.from_cells(FIGURE_2))
