"""Models of the population behind a sample, and masked numbers, against plain computation."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from divulge import Dataset, records
from divulge.records.population_models import _negative_binomial
from divulge.work import InvalidInput


def population(rows: int = 60_000, seed: int = 3) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    fall = 1 / np.arange(1, 31)
    return {
        name: random.choice(30, rows, p=fall / fall.sum()) for name in ("town", "trade", "school")
    }


def test_a_log_linear_model_foresees_the_uniques_of_a_population_it_fits() -> None:
    everybody = population()
    joint = everybody["town"] * 900 + everybody["trade"] * 30 + everybody["school"]
    sampled = np.random.default_rng(5).random(joint.size) < 0.1
    times, drawn = np.bincount(joint), np.bincount(joint[sampled], minlength=joint.max() + 1)
    unique = drawn == 1
    truly = int((unique & (times == 1)).sum())
    right = float((1 / times[unique]).sum())
    sample = Dataset.from_arrow(
        pa.table({name: values[sampled] for name, values in everybody.items()})
    )
    found = records.population_uniques(sample, sampling_fraction=0.1, among=list(everybody))
    assert found.sample_uniques == int(unique.sum())
    assert found.population_uniques == pytest.approx(truly, rel=0.25)
    assert found.correct_matches == pytest.approx(right, rel=0.15)
    assert found.claim == "estimate"


def test_all_pairs_of_two_attributes_fit_the_sample_itself() -> None:
    people = Dataset.from_arrow(pa.table({"a": [1, 1, 2, 3, 3], "b": [0, 0, 1, 0, 1]}))
    found = records.population_uniques(
        people, sampling_fraction=0.5, among=["a", "b"], interactions=2
    )
    assert found.sample_uniques == 3
    assert found.population_uniques == pytest.approx(3 * np.exp(-1))


def test_the_negative_binomial_foresees_cells_that_are_negative_binomial() -> None:
    random = np.random.default_rng(8)
    means = random.gamma(0.5, 8.0, 40_000)
    times = random.poisson(means)
    drawn = random.binomial(times, 0.1)
    unique = drawn == 1
    found, right = _negative_binomial(drawn[drawn > 0], drawn.sum() / times.sum(), 40_000)
    assert found == pytest.approx(float((times[unique] == 1).sum()), rel=0.1)
    assert right == pytest.approx(float((1 / times[unique]).sum()), rel=0.1)


def test_a_census_has_no_unseen_people() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1, 1, 2, 3]}))
    for model in ("log_linear", "negative_binomial"):
        found = records.population_uniques(people, model, 1.0, "age")
        assert found.population_uniques == pytest.approx(2)
        assert found.correct_matches == pytest.approx(2)


def test_a_poisson_mean_of_one_over_f_is_that_of_its_series() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1, 1, 1, 2]}))
    found = records.population_uniques(people, "log_linear", 0.25, "age")
    unseen = 1 / 0.25 * 0.75
    series = sum(stats.poisson.pmf(n, unseen) / (n + 1) for n in range(100))
    assert found.correct_matches == pytest.approx(series)
    assert found.population_uniques == pytest.approx(np.exp(-unseen))


def test_a_sample_without_a_fraction_is_refused() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1, 2]}))
    with pytest.raises(InvalidInput, match="no attribute has the role weight"):
        records.population_uniques(people, among="age")
    with pytest.raises(InvalidInput, match="cannot hold the 2 that occur"):
        records.population_uniques(people, "negative_binomial", 0.5, "age", cells=1)


def plain_linkage(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> list[float]:
    first, second = np.array(before, float), np.array(after, float)
    mean, deviation = first.mean(axis=0), first.std(axis=0)
    deviation[deviation == 0] = 1
    first, second = (first - mean) / deviation, (second - mean) / deviation
    found = []
    for row in range(len(before)):
        far = ((second - first[row]) ** 2).sum(axis=1)
        nearest = np.isclose(far, far.min(), rtol=1e-9, atol=1e-18)
        found.append(1 / nearest.sum() if nearest[row] else 0.0)
    return found


PAIR = st.tuples(st.integers(-5, 5), st.integers(-5, 5))


@given(st.lists(st.tuples(PAIR, PAIR), min_size=1, max_size=15))
def test_the_nearest_masked_record_is_that_of_all_distances(
    rows: list[tuple[tuple[int, int], tuple[int, int]]],
) -> None:
    before, after = [row[0] for row in rows], [row[1] for row in rows]

    def dataset(pairs: list[tuple[int, int]]) -> Dataset:
        return Dataset.from_arrow(
            pa.table({"x": [p[0] for p in pairs], "y": [p[1] for p in pairs]})
        )

    found = records.distance_linkage(dataset(before), dataset(after), ["x", "y"])
    assert found.values.tolist() == pytest.approx(plain_linkage(before, after))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_an_interval_of_ranks_holds_what_sorting_says(rows: list[tuple[int, int]]) -> None:
    before, after = [row[0] for row in rows], [row[1] for row in rows]
    reach = 0.2 * len(rows)
    ordered = sorted(after)
    plain = []
    for old, new in rows:
        near = [
            value
            for rank, value in enumerate(ordered)
            if np.floor(ordered.index(new) - reach) <= rank
            and rank <= np.ceil(len(ordered) - 1 - ordered[::-1].index(new) + reach)
        ]
        plain.append(1.0 if min(near) <= old <= max(near) else 0.0)
    one, two = (Dataset.from_arrow(pa.table({"x": column})) for column in (before, after))
    assert records.interval_disclosure(one, two, "x", 0.2).values.tolist() == plain


def test_data_that_were_not_masked_hide_nothing() -> None:
    incomes = Dataset.from_arrow(pa.table({"x": [1.5, 2.5, 9.0], "y": [1, 7, 3]}))
    assert records.distance_linkage(incomes, incomes, ["x", "y"]).average == 1
    assert records.interval_disclosure(incomes, incomes, ["x", "y"], width=0).average == 1


def test_masked_data_must_be_the_same_records_and_numbers() -> None:
    one = Dataset.from_arrow(pa.table({"x": [1, 2]}), name="before")
    with pytest.raises(InvalidInput, match="give the same records in the same order"):
        records.distance_linkage(one, Dataset.from_arrow(pa.table({"x": [1]})), "x")
    with pytest.raises(InvalidInput, match="missing or not a number in 1 of 2 records"):
        records.distance_linkage(one, Dataset.from_arrow(pa.table({"x": [1, None]})), "x")
    with pytest.raises(InvalidInput, match='Did you mean "rank"?'):
        records.interval_disclosure(one, one, "x", by="ranks")
