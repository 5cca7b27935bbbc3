"""Weights that are estimated where none were designed (Bellomarini et al., Sec. 2.1)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Dataset, estimate_weights

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 2) | st.none()), min_size=1, max_size=30
)


def sample(rows: list[tuple[str, int | None]]) -> Dataset:
    table = pa.table(
        {"area": [r[0] for r in rows], "size": pa.array([r[1] for r in rows], pa.int64())}
    )
    return Dataset.from_arrow(table, roles={"quasi_identifier": ["area", "size"]})


@given(ROWS, st.integers(0, 1000), st.sampled_from([0.0, 0.5, 2.0]))
def test_weights_from_a_size_sum_to_the_population(
    rows: list[tuple[str, int | None]], more: int, prior: float
) -> None:
    population = len(rows) + more
    found = estimate_weights(sample(rows), population, prior=prior)
    assert found.values.sum() == pytest.approx(population)
    assert np.all(found.values >= 1 - 1e-12)


@given(ROWS, st.integers(0, 1000), st.sampled_from([0.0, 0.5, 2.0]))
def test_the_expected_count_of_a_combination_is_the_posterior_mean(
    rows: list[tuple[str, int | None]], more: int, prior: float
) -> None:
    population, n = len(rows) + more, len(rows)
    found = estimate_weights(sample(rows), population, prior=prior)
    seen = Counter(rows)
    for row, expected in zip(rows, found.population, strict=True):
        share = (seen[row] + prior) / (n + prior * len(seen))
        assert expected == pytest.approx(seen[row] + (population - n) * share)


@given(ROWS, ROWS)
def test_weights_from_a_frame_are_counts_in_the_frame_shared_among_the_records(
    rows: list[tuple[str, int | None]], rest: list[tuple[str, int | None]]
) -> None:
    everybody = rows + rest
    found = estimate_weights(sample(rows), frame=sample(everybody))
    seen, there = Counter(rows), Counter(everybody)
    for row, expected, weight in zip(rows, found.population, found.values, strict=True):
        assert expected == there[row]
        assert weight == pytest.approx(there[row] / seen[row])


def test_a_record_that_the_frame_lacks_counts_for_itself() -> None:
    found = estimate_weights(sample([("a", 1), ("b", 2)]), frame=sample([("a", 1)] * 5))
    assert found.values.tolist() == [5.0, 1.0]


def test_estimated_weights_say_that_they_are_estimates() -> None:
    found = estimate_weights(sample([("a", 1), ("b", 2)]), population=100)
    assert found.claim == "estimate"
    assert "estimates, not those of a sampling design" in str(found)
    added = found.added()
    assert added.roles["weight"] == "estimated_weight"
    assert "Estimated" in added.dictionary["estimated_weight"].description


def test_what_makes_no_sense_is_refused() -> None:
    companies = dv.datasets.inflation_and_growth_example()
    with pytest.raises(dv.InvalidInput, match="weight already"):
        estimate_weights(companies, population=1000)
    with pytest.raises(dv.InvalidInput, match="either"):
        estimate_weights(sample([("a", 1)]))
    with pytest.raises(dv.InvalidInput, match="fewer than"):
        estimate_weights(sample([("a", 1), ("a", 2)]), population=1)


@pytest.mark.parametrize("sizes", [[1, 1, 2.5], ["1", "1", "many"], ["1.0", "1.0", "many"]])
def test_a_number_of_the_sample_is_the_same_number_in_the_frame(sizes: list[float | str]) -> None:
    roles = {"quasi_identifier": ["size"]}
    one = Dataset.from_arrow(pa.table({"size": [1, 2]}), roles)
    frame = Dataset.from_arrow(pa.table({"size": sizes}), roles, name="register")
    assert estimate_weights(one, frame=frame).values.tolist() == [2, 1]
