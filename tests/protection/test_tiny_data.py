"""On tiny data the cells that are hidden cost hardly more than the least that could do."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protection.exhaustive import HIDDEN, find_least_cost, find_weighed_k, hide

import divulge as dv
from divulge.data import Dataset
from divulge.protection.suppression.lower_bound import bound_hidden_records
from divulge.protection.suppression.partition import find_cheapest_partition, hide_differences
from divulge.protection.suppression.refinement import CellRefinement


def make_case(seed: int) -> tuple[Dataset, list[tuple[int, ...]], np.ndarray]:
    rng = np.random.default_rng(seed)
    records, attributes = int(rng.integers(4, 6)), int(rng.integers(2, 4))
    matrix = np.stack(
        [rng.integers(0, int(rng.integers(2, 4)), records) for _ in range(attributes)], axis=1
    )
    names = [f"a{a}" for a in range(attributes)]
    table = pa.table({name: pa.array(matrix[:, a]) for a, name in enumerate(names)})
    costs = rng.integers(1, 6, matrix.shape).astype(float)
    rows = [tuple(row) for row in matrix.tolist()]
    return Dataset.from_arrow(table, roles={"quasi_identifier": names}), rows, costs


def read_rows(p: dv.Protected) -> list[tuple[int, ...]]:
    columns = [p.dataset.to_arrow().column(name).to_pylist() for name in p.among]
    return [
        tuple(HIDDEN if value is None else value for value in row)
        for row in zip(*columns, strict=True)
    ]


@pytest.mark.parametrize(("with_costs", "most"), [(False, 1.10), (True, 1.05)])
def test_cells_cost_hardly_more_than_the_least(with_costs: bool, most: float) -> None:
    spent, least = 0.0, 0.0
    for seed in range(40):
        dataset, rows, costs = make_case(seed)
        if not with_costs:
            costs = np.ones(costs.shape)
        cost = {name: costs[:, a] for a, name in enumerate(dataset.names)}
        p = dv.protection.suppress(dataset, 2, cost=cost)
        assert find_weighed_k(read_rows(p), rows) >= 2 - 1e-9
        optimum = find_least_cost(rows, 2, costs.tolist(), p.cost)
        if optimum is not None:
            assert p.bound <= optimum
            spent, least = spent + p.cost, least + optimum
    assert least > 50
    assert spent <= most * least


def test_cells_for_a_limit_on_risk_are_hardly_more_than_the_least() -> None:
    spent, least = 0.0, 0.0
    for seed in range(40):
        dataset, rows, _ = make_case(seed)
        limit = dv.Limit("prosecutor_risk", at_most=0.5)
        p = dv.protection.protect(dataset, [limit], methods=["suppress"])
        assert find_weighed_k(read_rows(p), rows) >= 2 - 1e-9
        single = [[1.0] * len(row) for row in rows]
        optimum = find_least_cost(rows, 2, single, p.suppressed_cells)
        if optimum is not None:
            spent, least = spent + p.suppressed_cells, least + optimum
    assert least > 50
    assert spent <= 1.10 * least


def test_no_suppression_of_tiny_data_for_three_costs_less_than_the_bound() -> None:
    bounds = 0.0
    for seed in range(10):
        dataset, rows, costs = make_case(seed)
        p = dv.protection.suppress(dataset, 3, cost=dict(zip(dataset.names, costs.T, strict=True)))
        optimum = find_least_cost(rows, 3, costs.tolist(), p.cost)
        if optimum is not None:
            assert p.bound <= optimum
            bounds += p.bound
    assert bounds >= 10


@given(st.lists(st.integers(1, 5), max_size=6), st.integers(2, 6))
def test_the_bound_on_records_is_the_least_of_all_ways_to_hide_them(
    sizes: list[int], k: int
) -> None:
    frequency = np.array([f for f in sizes for _ in range(f)], np.int64)
    rare = [f for f in sizes if f < k]
    # The dual is as good as the primal with parts of combinations, at most one of which is parted.
    least = min(
        (
            max(
                sum(k - f for f, is_kept in zip(rare, kept, strict=True) if is_kept),
                sum(f for f, is_kept in zip(rare, kept, strict=True) if not is_kept),
            )
            for kept in product([False, True], repeat=len(rare))
        ),
        default=0,
    )
    bound = bound_hidden_records(frequency, k)
    assert least - k < bound <= least
    if rare:
        assert bound >= 1


@given(st.data())
def test_the_cheapest_partition_is_the_cheapest(data: st.DataObject) -> None:
    records = data.draw(st.integers(2, 6))
    k = data.draw(st.integers(2, 3))
    codes = np.array(
        data.draw(
            st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=records, max_size=records)
        ),
        np.int32,
    )
    costs = np.array(
        data.draw(
            st.lists(st.tuples(*[st.integers(1, 4)] * 3), min_size=records, max_size=records)
        ),
        float,
    )
    number = find_cheapest_partition(codes, costs, k, False)

    def list_partitions(left: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
        if not left:
            return [[]]
        found = []
        for size in range(k - 1, len(left)):
            for others in combinations(left[1:], size):
                members = (left[0], *others)
                rest = tuple(r for r in left if r not in members)
                found += [[members, *tail] for tail in list_partitions(rest)]
        return found

    def sum_cost(partition: list[tuple[int, ...]]) -> float:
        return sum(
            float(costs[list(members), a].sum())
            for members in partition
            for a in range(3)
            if len(set(codes[list(members), a].tolist())) > 1
        )

    partitions = list_partitions(tuple(range(records)))
    if not partitions:
        assert number.tolist() == [-1] * records
        return
    rows = hide_differences(codes, number)
    assert costs[rows != codes].sum() == min(map(sum_cost, partitions))
    assert min(np.unique(rows, axis=0, return_counts=True)[1]) >= k


def test_a_refinement_asks_no_more_often_than_it_may() -> None:
    asked = 0

    def is_held(hidden: np.ndarray) -> bool:
        nonlocal asked
        asked += 1
        return bool(hidden.sum() >= 3)

    hidden = CellRefinement(np.ones((4, 3)), is_held, 5).find_cheaper(np.ones((4, 3), np.bool_))
    assert asked == 5
    assert hidden.sum() == 7
    assert CellRefinement(np.ones((4, 3)), is_held, 500).find_cheaper(hidden).sum() == 3


def test_a_plain_search_finds_what_is_plain() -> None:
    rows = [(0, 0), (0, 1), (1, 0), (1, 0)]
    assert find_least_cost(rows, 2, [[1, 1]] * 4, 9) == 2
    assert find_weighed_k(hide(rows, [(0, 1), (1, 1)]), rows) == 2
