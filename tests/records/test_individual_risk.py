"""The risk of each record in a sample, against the paper and high-precision arithmetic."""

import mpmath
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset, datasets, records
from divulge.records.risk.population.individual import approximate_risk, exact_risk
from divulge.work import DivulgeError, InvalidInput


def plain_exact(frequency: float, population: float) -> float:
    """The mean of 1/F by its definition, in forty digits."""
    with mpmath.workdps(40):
        f = mpmath.mpf(frequency)
        p = f / mpmath.mpf(population)
        return float(p**f / f * mpmath.hyp2f1(f, f, f + 1, 1 - p))


@given(st.integers(1, 400), st.floats(0, 12))
def test_exact_risk_is_that_of_high_precision_arithmetic(frequency: int, tenfold: float) -> None:
    population = frequency * 10**tenfold
    found = float(exact_risk(np.array([float(frequency)]), np.array([population]))[0])
    assert found == pytest.approx(plain_exact(frequency, population), rel=1e-11)


@given(st.floats(1, 60), st.floats(0, 8))
def test_a_frequency_that_is_weighed_has_an_exact_risk_too(
    frequency: float, tenfold: float
) -> None:
    population = frequency * 10**tenfold
    found = float(exact_risk(np.array([frequency]), np.array([population]))[0])
    assert found == pytest.approx(plain_exact(frequency, population), rel=1e-7)


@given(st.integers(1, 10**6), st.floats(0, 15))
def test_a_risk_is_a_chance_for_any_frequency_and_weight(frequency: int, tenfold: float) -> None:
    f, total = np.array([float(frequency)]), np.array([frequency * 10**tenfold])
    for method in (exact_risk, approximate_risk):
        [risk] = method(f, total)
        assert 0 < risk <= 1 / frequency * (1 + 1e-12)
        assert risk >= 1 / total[0] * (1 - 1e-9)


def test_the_three_formulas_of_benedetti_and_franconi() -> None:
    p = 1 / 30
    one, two, more = approximate_risk(np.array([1.0, 2.0, 3.0]), np.array([30.0, 60.0, 90.0]))
    odds = p / (1 - p)
    assert one == pytest.approx(odds * np.log(1 / p))
    assert two == pytest.approx(odds - odds**2 * np.log(1 / p))
    assert more == pytest.approx(p / (3 - (1 - p)))


def test_002_figure_1_reidentification_risk() -> None:
    """Highest for company 15 (1/30), lowest for company 7 (1/300); company 4 has 1/60."""
    companies = datasets.inflation_and_growth_example()
    risk = records.reidentification_risk(companies, nulls="maybe")
    assert int(risk.values.argmax()) + 1 == 15
    assert int(risk.values.argmin()) + 1 == 7
    assert (risk.highest, risk.values.min()) == pytest.approx((1 / 30, 1 / 300))
    three = records.reidentification_risk(
        companies, among=["Area", "Sector", "Employees"], nulls="maybe"
    )
    assert three.values[3] == pytest.approx(1 / 60)


def test_002_algorithm_5_is_frequency_over_weights() -> None:
    companies = datasets.inflation_and_growth_example()
    risk = records.individual_risk(companies, "ratio", among=["Area", "Sector"], nulls="maybe")
    assert risk.values[1] == pytest.approx(3 / (190 + 145 + 70))


def test_without_weights_the_data_are_the_population() -> None:
    pupils = datasets.school_year_example()
    exact = records.individual_risk(pupils, "exact", among=["gender", "grade"], nulls="maybe")
    assert exact.values.tolist() == pytest.approx(
        records.attack(pupils, knows=["gender", "grade"]).risk().tolist()
    )
    assert exact.claim == "exact"
    assert "whole population" in str(exact)


@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=30), st.floats(0, 1))
def test_cutting_risks_to_the_threshold_leaves_the_share_that_was_asked_for(
    values: list[float], share: float
) -> None:
    dataset = Dataset.from_arrow(pa.table({"a": list(range(len(values)))}))
    risk = records.RecordRisk(
        values=np.array(values),
        measure="some_risk",
        dataset=dataset,
        attributes=("a",),
        claim="estimate",
    )
    threshold = risk.threshold_for(share)
    left = float(np.minimum(values, threshold).sum())
    assert left <= share * len(values) + 1e-9
    if threshold < 1:
        assert left == pytest.approx(share * len(values))


def household(homes: list[int | None], weights: list[float] | None = None) -> Dataset:
    columns: dict[str, object] = {"age": [30, 31, 30, 31, 50], "home": homes}
    roles: dict[str, str | list[str]] = {"quasi_identifier": ["age"], "household": "home"}
    if weights:
        columns["w"] = weights
        roles["weight"] = "w"
    return Dataset.from_arrow(pa.table(columns), roles)


def test_members_of_a_household_may_have_weights_of_their_own() -> None:
    people = household([1, 1, 2, 3, None], [4.0, 2.0, 3.0, 6.0, 1.0])
    single = records.individual_risk(people, nulls="maybe").values
    assert single[0] != single[1]
    both = 1 - (1 - single[0]) * (1 - single[1])
    found = records.household_risk(people, nulls="maybe").values
    assert found == pytest.approx([both, both, *single[2:]])


def test_whoever_finds_one_of_a_household_finds_all() -> None:
    found = records.household_risk(household([1, 1, 2, 3, None]), nulls="maybe")
    assert found.values.tolist() == pytest.approx([0.75, 0.75, 0.5, 0.5, 1.0])
    assert found.summary()["clusters"] == 4


def test_links_make_clusters_by_chains_by_a_column_and_by_a_table_of_pairs() -> None:
    companies = datasets.inflation_and_growth_example()
    risk = records.reidentification_risk(companies, nulls="maybe")
    r = risk.values
    chain = records.cluster_risk(risk, [(0, 1), (2, 1)]).values
    assert chain[:3].tolist() == pytest.approx([1 - (1 - r[0]) * (1 - r[1]) * (1 - r[2])] * 3)
    assert chain[3] == pytest.approx(r[3])
    pairs = pa.table({"x": [612276, 971906], "y": [737536, 737536]})
    assert records.cluster_risk(risk, pairs, on="Id").values.tolist() == pytest.approx(
        chain.tolist()
    )
    by_area = records.cluster_risk(risk, "Area")
    assert len(set(by_area.values.round(12).tolist())) == 3
    assert np.all(by_area.values >= r)


def test_weights_that_cannot_be_are_counted_and_refused() -> None:
    def weighed(weights: list[object]) -> Dataset:
        return Dataset.from_arrow(
            pa.table({"age": [1, 2, 3], "w": weights}), {"quasi_identifier": ["age"], "weight": "w"}
        )

    with pytest.raises(InvalidInput) as refused:
        records.individual_risk(weighed([-1.0, None, 0.5]), nulls="maybe")
    assert "is missing in 1 of 3 records" in str(refused.value)
    assert "is negative in 1 of 3 records" in str(refused.value)
    assert "is below 1 in 1 of 3 records" in str(refused.value)
    with pytest.raises(InvalidInput, match="are not numbers"):
        records.individual_risk(weighed(["a", "b", "c"]), nulls="maybe")
    with pytest.raises(InvalidInput, match="no attribute has the role household"):
        records.household_risk(datasets.school_year_example(), nulls="maybe")
    with pytest.raises(InvalidInput, match="2 of 4 ends name no record"):
        risk = records.reidentification_risk(datasets.inflation_and_growth_example(), nulls="maybe")
        records.cluster_risk(risk, [(0, 100), (101, 3)])
    with pytest.raises(InvalidInput, match='Did you mean "exact"?'):
        records.individual_risk(datasets.school_year_example(), "exat", nulls="maybe")  # type: ignore[arg-type]
    with pytest.raises(DivulgeError, match="2 is not a share"):
        risk.threshold_for(2)


@pytest.mark.data
def test_no_record_of_a_household_survey_is_without_an_exact_risk(public_data: object) -> None:
    from pathlib import Path

    from divulge import read

    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    survey = read(
        Path(str(public_data)) / "sdcmicro" / "testdata.csv",
        roles={"quasi_identifier": keys, "weight": "sampling_weight", "household": "ori_hid"},
    )
    exact = records.individual_risk(survey, "exact", nulls="maybe")
    close = records.individual_risk(survey, nulls="maybe")
    assert np.all(np.isfinite(exact.values))
    assert np.all((exact.values > 0) & (exact.values <= 1))
    assert np.abs(exact.values - close.values).max() < 0.002


def test_002_equation_1_with_each_aggregate() -> None:
    companies = datasets.inflation_and_growth_example()
    south = [190.0, 123.0, 145.0, 70.0, 200.0]
    among = "Area"
    for aggregate, crowd in [
        ("sum", sum(south)),
        ("count", 5),
        ("mean", sum(south) / 5),
        ("min", 70),
        ("max", 200),
        (lambda weights: 1 + weights.sum() / 2, 1 + sum(south) / 2),
    ]:
        risk = records.disclosure_risk(companies, aggregate, among, nulls="maybe")  # type: ignore[arg-type]
        assert risk.values[1] == pytest.approx(1 / crowd)
    same = records.reidentification_risk(companies, among, nulls="maybe").values.tolist()
    assert records.disclosure_risk(companies, "sum", among, nulls="maybe").values.tolist() == same


def test_an_aggregate_that_is_no_crowd_is_refused() -> None:
    companies = datasets.inflation_and_growth_example()
    with pytest.raises(DivulgeError, match="below 1 or not a number for 20 of 20 companies"):
        records.disclosure_risk(companies, lambda weights: 0.0, nulls="maybe")
    with pytest.raises(InvalidInput, match='Did you mean "mean"?'):
        records.disclosure_risk(companies, "meen", nulls="maybe")  # type: ignore[arg-type]
    hidden = datasets.local_suppression_example(protected=True)
    with pytest.raises(InvalidInput, match="1 record hides values"):
        records.disclosure_risk(hidden, "max", nulls="bayes")


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.25, 0.3, 0.33, 0.6, 1.0])
def test_the_chart_marks_as_many_as_are_above_the_threshold(threshold: float) -> None:
    table = pa.table({"age": [1, 2, 2, 3, 3, 3, 4, 4, 4, 4, *[5] * 5]})
    people = Dataset.from_arrow(table, roles={"quasi_identifier": ["age"]})
    risk = records.prosecutor_risk(people, nulls="maybe")
    bars = risk.chart(threshold).records
    assert sum(bar["count"] for bar in bars) == people.rows
    assert sum(bar["count"] for bar in bars if bar["at_risk"]) == (risk.values > threshold).sum()


@pytest.mark.data
def test_eight_records_of_a_public_sample_have_the_risks_of_their_formulas(
    public_data: object,
) -> None:
    from pathlib import Path

    from divulge import read

    eight = read(
        Path(str(public_data)) / "sdcmicro" / "francdat.csv",
        roles={"quasi_identifier": ["Key1", "Key2", "Key3", "Key4"], "weight": "w"},
    )
    counted = records.frequencies(eight, nulls="maybe")
    assert counted.sample.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert counted.population.tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    plain = [
        plain_exact(f, total) for f, total in zip(counted.sample, counted.population, strict=True)
    ]
    assert records.individual_risk(eight, nulls="maybe").values.tolist() == pytest.approx(plain)
