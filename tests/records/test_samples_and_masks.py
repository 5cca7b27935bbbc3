"""Models of the population behind a sample, and masked numbers, against plain computation."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from divulge import Dataset, records
from divulge.records.risk.population.population_fits import compute_negative_binomial_chances
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
    found = records.population_uniques(
        sample, sampling_fraction=0.1, among=list(everybody), nulls="maybe"
    )
    assert found.sample_uniques == int(unique.sum())
    assert found.population_uniques == pytest.approx(truly, rel=0.25)
    assert found.correct_matches == pytest.approx(right, rel=0.15)
    assert found.claim == "estimate"


def test_all_pairs_of_two_attributes_fit_the_sample_itself() -> None:
    people = Dataset.from_arrow(pa.table({"a": [1, 1, 2, 3, 3], "b": [0, 0, 1, 0, 1]}))
    found = records.population_uniques(
        people, sampling_fraction=0.5, among=["a", "b"], interactions=2, nulls="maybe"
    )
    assert found.sample_uniques == 3
    assert found.population_uniques == pytest.approx(3 * np.exp(-1))


def test_the_negative_binomial_foresees_cells_that_are_negative_binomial() -> None:
    random = np.random.default_rng(8)
    means = random.gamma(0.5, 8.0, 40_000)
    times = random.poisson(means)
    drawn = random.binomial(times, 0.1)
    unique = drawn == 1
    found, right = compute_negative_binomial_chances(
        drawn[drawn > 0], drawn.sum() / times.sum(), 40_000,
        records=int(drawn.sum()), covered=np.ones(1),
    )  # fmt: skip
    assert found == pytest.approx(float((times[unique] == 1).mean()), rel=0.1)
    assert right == pytest.approx(float((1 / times[unique]).mean()), rel=0.1)


def test_the_negative_binomial_takes_a_missing_value_for_any_that_there_is() -> None:
    random = np.random.default_rng(8)
    times = random.poisson(random.gamma(0.5, 8.0, (20_000, 2)))
    house, sex = (each.repeat(times.ravel()) for each in np.indices(times.shape).reshape(2, -1))
    sampled = random.random(house.size) < 0.1
    missing = random.random(house.size) < 0.2
    sample = Dataset.from_arrow(
        pa.table({"house": house[sampled], "sex": pa.array(sex[sampled], mask=missing[sampled])})
    )
    found = records.population_uniques(
        sample,
        "negative_binomial",
        float(sampled.mean()),
        ["house", "sex"],
        cells=40_000,
        nulls="maybe",
    )
    alike = np.where(missing, times.sum(1)[house], times[house, sex])[sampled]
    alone = records.frequencies(sample, "maybe", among=["house", "sex"]).sample == 1
    for whose in (alone & missing[sampled], alone & ~missing[sampled]):
        assert found.unique[whose].sum() == pytest.approx((alike[whose] == 1).sum(), rel=0.15)
        assert found.match[whose].sum() == pytest.approx((1 / alike[whose]).sum(), rel=0.1)
    by_default = records.population_uniques(
        sample, "negative_binomial", float(sampled.mean()), ["house", "sex"], nulls="maybe"
    )
    seen = 2 * len(sample.columns["house"].values)  # missing is no third sex
    assert by_default.unique.tolist() == records.population_uniques(
        sample, "negative_binomial", float(sampled.mean()), ["house", "sex"], cells=seen, nulls="maybe"
    ).unique.tolist()  # fmt: skip


def test_a_census_has_no_unseen_people() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1, 1, 2, 3]}))
    for model in ("log_linear", "negative_binomial"):
        found = records.population_uniques(people, model, 1.0, "age", nulls="maybe")
        assert found.population_uniques == pytest.approx(2)
        assert found.correct_matches == pytest.approx(2)


def test_a_poisson_mean_of_one_over_f_is_that_of_its_series() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1, 1, 1, 2]}))
    found = records.population_uniques(people, "log_linear", 0.25, "age", nulls="maybe")
    unseen = 1 / 0.25 * 0.75
    series = sum(stats.poisson.pmf(n, unseen) / (n + 1) for n in range(100))
    assert found.correct_matches == pytest.approx(series)
    assert found.population_uniques == pytest.approx(np.exp(-unseen))


def test_a_sample_without_a_fraction_is_refused() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1, 2]}))
    with pytest.raises(InvalidInput, match="no attribute has the role weight"):
        records.population_uniques(people, among="age", nulls="maybe")
    with pytest.raises(InvalidInput, match="cannot hold the 2 that occur"):
        records.population_uniques(people, "negative_binomial", 0.5, "age", cells=1, nulls="maybe")


Pair = tuple[int | None, int | None]


def plain_linkage(before: list[Pair], after: list[Pair]) -> list[float]:
    """Every distance, over what both show; a missing number is NaN."""
    first, second = np.array(before, float), np.array(after, float)
    for column in range(2):
        shown = first[~np.isnan(first[:, column]), column]
        if shown.size:
            mean, deviation = shown.mean(), shown.std() or 1
            first[:, column] = (first[:, column] - mean) / deviation
            second[:, column] = (second[:, column] - mean) / deviation

    def distance(one: np.ndarray, other: np.ndarray) -> float:
        squares = [(a - b) ** 2 for a, b in zip(one, other, strict=True) if not np.isnan(a + b)]
        return float(np.sqrt(sum(squares) / len(squares))) if squares else np.inf

    found = []
    for row in range(len(before)):
        far = np.array([distance(first[row], other) for other in second])
        nearest = np.isclose(far, far.min(), rtol=1e-9, atol=1e-18) & np.isfinite(far)
        found.append(1 / nearest.sum() if nearest[row] else 0.0)
    return found


CELL = st.integers(-5, 5) | st.none()
PAIR = st.tuples(CELL, CELL)


@given(st.lists(st.tuples(PAIR, PAIR), min_size=1, max_size=15))
def test_the_nearest_masked_record_is_that_of_all_distances(
    rows: list[tuple[Pair, Pair]],
) -> None:
    before, after = [row[0] for row in rows], [row[1] for row in rows]

    def dataset(pairs: list[Pair]) -> Dataset:
        columns = {name: [pair[place] for pair in pairs] for place, name in enumerate("xy")}
        schema = pa.schema([("x", pa.int64()), ("y", pa.int64())])
        return Dataset.from_arrow(pa.table(columns, schema=schema))

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


def test_a_number_that_is_missing_discloses_nothing() -> None:
    before = Dataset.from_arrow(pa.table({"x": [1.0, 2.0, None, 4.0]}))
    after = Dataset.from_arrow(pa.table({"x": [1.0, None, 3.0, 4.0]}))
    for by in records.interval_disclosure.__globals__["INTERVALS"]:
        found = records.interval_disclosure(before, after, "x", 0.01, by)
        assert found.values.tolist() == [1, 0, 0, 1]


def test_what_a_model_says_of_each_record_adds_up_and_has_bearers() -> None:
    people = Dataset.from_arrow(
        pa.table({"age": [1, 1, 2, 3, None], "town": [1, 1, 1, 2, 2], "w": [2, 2, 4, 4, 8]}),
        {"quasi_identifier": ["age", "town"], "weight": "w"},
    )
    found = records.population_uniques(people, nulls="maybe")
    assert found.sampling_fraction == 5 / 20
    # The fourth and fifth may be the same person, so nobody can match either for sure.
    assert found.sample_uniques == 1
    assert found.side_by_side["value"] == 3
    assert found.unique.tolist()[:2] == [0, 0]
    # Two of four shown ages are 1, three of five towns are 1: one in four times three in five.
    assert found.match[2] == pytest.approx(stats_mean(5 * 1 / 4 * 3 / 5 / 0.25 * 0.75))
    assert found.to_arrow().column_names == ["population_unique", "correct_match"]
    groups = found.by("town")
    assert sum(part.right.posterior for part in groups.values()) == pytest.approx(
        found.correct_matches
    )
    assert found.assessment().claim == "estimate"
    assert sum(bar["count"] for bar in found.chart().records) == 5
    told = str(found)
    assert told.startswith("Of 1 unique records of the sample, about")
    assert told.endswith("These figures are estimates.")
    as_value = records.population_uniques(people, nulls="value")
    assert as_value.sample_uniques == 3


def stats_mean(unseen: float) -> float:
    """The mean of 1/F where F - 1 is Poisson, term by term."""
    return float(sum(stats.poisson.pmf(n, unseen) / (n + 1) for n in range(200)))


def test_pairs_of_attributes_sum_over_what_a_unique_hides() -> None:
    people = Dataset.from_arrow(
        pa.table({"a": [1, 1, 2, 2, 2, 3], "b": [0, 1, 0, 1, 1, None]}),
        {"quasi_identifier": ["a", "b"]},
    )
    found = records.population_uniques(people, sampling_fraction=0.5, interactions=2, nulls="maybe")
    # Nobody complete has a = 3, so the complete table leaves no unseen people there.
    assert found.unique[5] == 1
    assert found.sample_uniques == 4
    nobody = Dataset.from_arrow(pa.table({"a": [1, None], "b": [None, 1]}))
    with pytest.raises(InvalidInput, match="no record shows all of these attributes"):
        records.population_uniques(
            nobody, sampling_fraction=0.5, among=["a", "b"], interactions=2, nulls="maybe"
        )


def test_a_model_that_does_not_exist_is_said_with_all_else_that_is_wrong() -> None:
    people = Dataset.from_arrow(pa.table({"age": [1, 2]}))
    with pytest.raises(InvalidInput) as refused:
        records.population_uniques(
            people,
            "log_linaer",  # type: ignore[arg-type]
            0.5,
            "age",
            interactions=3,  # type: ignore[arg-type]
            nulls="known",
        )
    said = str(refused.value)
    for wanted in ('Did you mean "log_linear"?', "3 is not 1", "does not go with a population"):
        assert wanted in said


def test_data_that_were_not_masked_hide_nothing() -> None:
    incomes = Dataset.from_arrow(pa.table({"x": [1.5, 2.5, 9.0], "y": [1, 7, 3]}))
    assert records.distance_linkage(incomes, incomes, ["x", "y"]).average == 1
    assert records.interval_disclosure(incomes, incomes, ["x", "y"], width=0).average == 1


def test_masked_data_must_be_the_same_records_and_numbers() -> None:
    one = Dataset.from_arrow(pa.table({"x": [1, 2]}), name="before")
    with pytest.raises(InvalidInput, match="give the same records in the same order"):
        records.distance_linkage(one, Dataset.from_arrow(pa.table({"x": [1]})), "x")
    with pytest.raises(InvalidInput, match="is no finite number in 2 of 2 records"):
        records.distance_linkage(one, Dataset.from_arrow(pa.table({"x": ["a", "b"]})), "x")
    with pytest.raises(InvalidInput, match='Did you mean "rank"?'):
        records.interval_disclosure(one, one, "x", by="ranks")


def test_two_masked_numbers_as_near_are_tied_however_far_the_numbers_spread() -> None:
    before = [10_000_003, 10_000_003, 10_000_003, 37_104_165, 4_702_701]
    after = [10_000_002, 10_000_004, 10_000_004, 37_104_163, 4_702_701]
    for further in range(0, 60, 7):
        original = Dataset.from_arrow(pa.table({"x": [*before, 32_000_000 + further]}))
        masked = Dataset.from_arrow(pa.table({"x": [*after, 32_000_000 + further]}))
        found = records.distance_linkage(original, masked, "x")
        assert found.values.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1, 1, 1])
