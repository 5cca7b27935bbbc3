"""Diversity, closeness, likeness, presence: against plain counts, transport by linear programming."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from divulge import Dataset, Hierarchy, Limit, datasets, protection, records
from divulge.assessment import measures
from divulge.classes.keys import sum_over_equal_keys
from divulge.work import InvalidInput

TREE = [
    ("0", "low", "*"),
    ("1", "low", "*"),
    ("2", "high", "*"),
    ("3", "high", "*"),
    ("4", "top", "*"),
]


@st.composite
def with_sensitive(draw: st.DrawFn) -> Dataset:
    rows = draw(st.integers(1, 14))
    key = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    value = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    return Dataset.from_arrow(
        pa.table({"key": key, "value": value}),
        {"quasi_identifier": ["key"], "sensitive": ["value"]},
        {"value": Hierarchy.from_levels(TREE)},
    )


def classes_of(dataset: Dataset) -> list[list[Any]]:
    """The sensitive values of each class, the classes in ascending order of the key."""
    found: dict[Any, list[Any]] = {}
    for row in dataset.to_arrow().to_pylist():
        found.setdefault(row["key"], []).append(row["value"])
    return [found[key] for key in sorted(found)]


def plain_recursive(values: list[Any], c: float) -> int:
    counts = sorted(Counter(values).values(), reverse=True)
    return max([0, *[n for n in range(1, len(counts) + 1) if counts[0] < c * sum(counts[n - 1 :])]])


def transported(one: list[float], other: list[float], cost: list[list[float]]) -> float:
    """The least work to turn one distribution into another, by linear programming."""
    size = len(one)
    rows = np.zeros((2 * size, size * size))
    for i in range(size):
        for j in range(size):
            rows[i, i * size + j] = 1
            rows[size + j, i * size + j] = 1
    done = linprog(np.array(cost).reshape(-1), A_eq=rows, b_eq=np.array([*one, *other]))
    assert done.fun is not None
    return float(done.fun)


def shares(values: list[Any], domain: list[Any]) -> list[float]:
    return [values.count(value) / len(values) for value in domain]


def cost_of(distance: str, domain: list[Any]) -> list[list[float]]:
    ladder = {int(row[0]): row for row in TREE}

    def between(i: int, j: int) -> float:
        if i == j:
            return 0.0
        if distance == "equal":
            return 1.0
        if distance == "ordered":
            return abs(i - j) / (len(domain) - 1)
        one, other = ladder[domain[i]], ladder[domain[j]]
        return next(level for level in (1, 2) if one[level] == other[level]) / 2

    return [[between(i, j) for j in range(len(domain))] for i in range(len(domain))]


@given(with_sensitive(), st.sampled_from([0.5, 1.0, 3.0]))
def test_diversity_is_that_of_plain_counts(dataset: Dataset, c: float) -> None:
    values = classes_of(dataset)
    distinct = records.distinct_l_diversity(dataset)
    assert distinct.classes.tolist() == [len(set(each)) for each in values]
    entropy = [
        -sum(n / len(each) * math.log(n / len(each)) for n in Counter(each).values())
        for each in values
    ]
    assert records.entropy_l_diversity(dataset).classes.tolist() == pytest.approx(
        np.exp(entropy).tolist()
    )
    recursive = records.recursive_l_diversity(dataset, c=c)
    assert recursive.classes.tolist() == [plain_recursive(each, c) for each in values]
    assert distinct.failing(2) == sum(len(each) for each in values if len(set(each)) < 2)


@given(with_sensitive(), st.sampled_from(["equal", "ordered", "hierarchical"]))
def test_closeness_is_the_least_work_of_transport(dataset: Dataset, distance: Any) -> None:
    every = dataset.to_arrow().column("value").to_pylist()
    domain = sorted(set(every))
    whole = shares(every, domain)
    plain = [
        transported(shares(each, domain), whole, cost_of(distance, domain))
        for each in classes_of(dataset)
    ]
    found = records.t_closeness(dataset, distance=distance)
    assert found.classes.tolist() == pytest.approx(plain, abs=1e-7)
    assert found.value == pytest.approx(max(plain), abs=1e-7)


@given(with_sensitive())
def test_likeness_is_the_highest_relative_gain(dataset: Dataset) -> None:
    every = dataset.to_arrow().column("value").to_pylist()
    plain = []
    for each in classes_of(dataset):
        gains = [each.count(v) / len(each) / (every.count(v) / len(every)) - 1 for v in set(each)]
        plain.append(max(0.0, *gains) if gains else 0.0)
    assert records.beta_likeness(dataset).classes.tolist() == pytest.approx(plain)


def test_an_order_that_is_given_counts_and_one_that_is_not_is_asked_for() -> None:
    people = Dataset.from_arrow(
        pa.table({"town": [1, 1, 2, 2], "income": ["low", "mid", "high", "mid"]}),
        {"quasi_identifier": ["town"], "sensitive": ["income"]},
    )
    ordered = records.t_closeness(people, distance="ordered", order=["low", "mid", "high"])
    assert ordered.value == pytest.approx((0.25 + 0.25) / 2)
    with pytest.raises(InvalidInput, match="its 3 values have no order of their own"):
        records.t_closeness(people, distance="ordered")
    with pytest.raises(InvalidInput, match="the order lacks 1 of 3 values"):
        records.t_closeness(people, distance="ordered", order=["low", "mid"])
    with pytest.raises(InvalidInput, match="has no hierarchy"):
        records.t_closeness(people, distance="hierarchical")
    short = people.describe(
        {"quasi_identifier": "town", "sensitive": "income"},
        {"income": Hierarchy.from_pairs([("low", "any")])},
    )
    with pytest.raises(InvalidInput, match="its hierarchy lacks 2 of 3 values"):
        records.t_closeness(short, distance="hierarchical")
    holes = Dataset.from_arrow(pa.table({"town": [1, 1], "income": [1, None]}))
    with pytest.raises(InvalidInput, match="is missing in 1 of 2 records"):
        records.t_closeness(holes, "income", "town", distance="ordered")
    with pytest.raises(InvalidInput, match="cannot also define the classes"):
        records.distinct_l_diversity(people, "income", among=["income"])
    with pytest.raises(InvalidInput, match="0 attributes have the role sensitive; name one"):
        records.distinct_l_diversity(datasets.inflation_and_growth_example())


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.data())
def test_a_release_seen_against_its_population(everybody: list[int], data: st.DataObject) -> None:
    chosen = data.draw(
        st.sets(st.sampled_from(range(len(everybody))), min_size=1, max_size=len(everybody))
    )
    released = [everybody[place] for place in sorted(chosen)]
    town = Dataset.from_arrow(pa.table({"age": everybody}))
    ill = Dataset.from_arrow(pa.table({"age": released}))
    mapped = records.k_map(ill, town, "age")
    assert mapped.values.tolist() == [everybody.count(age) for age in released]
    assert mapped.value == min(everybody.count(age) for age in released)
    present = records.delta_presence(ill, town, "age")
    plain = [released.count(age) / everybody.count(age) for age in sorted(set(everybody))]
    assert present.classes.tolist() == plain
    risks = records.three_attackers(ill, town, "age", threshold=0.4)
    assert risks["journalist"]["highest"] == pytest.approx(1 / mapped.value)
    assert risks["prosecutor"]["average"] == pytest.approx(len(set(released)) / len(released))
    assert risks["marketer"]["average"] == pytest.approx(
        sum(1 / everybody.count(age) for age in released) / len(released)
    )
    assert risks["prosecutor"]["above_threshold"] == sum(released.count(a) < 3 for a in released)


def test_the_population_must_hold_everybody_of_the_release() -> None:
    town = Dataset.from_arrow(pa.table({"age": [1, 2]}))
    ill = Dataset.from_arrow(pa.table({"age": [1, 5, 5]}))
    with pytest.raises(InvalidInput, match="2 of 3 records match nobody in the population"):
        records.k_map(ill, town, "age")


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        (Limit("distinct_l_diversity", at_least=2, attribute="disability"), 1),
        (Limit("entropy_l_diversity", at_least=1, attribute="disability"), 1),
        (Limit("recursive_l_diversity", at_least=1, attribute="disability", c=3), 1),
        (Limit("t_closeness", at_most=0.2, attribute="disability", distance="equal"), 0.5),
        (Limit("beta_likeness", at_most=1, attribute="disability"), 1),
        (Limit("delta_disclosure", at_most=1, attribute="disability"), math.inf),
        (Limit("smallest_frequency", at_least=2, nulls="maybe"), 1),
        (Limit("k_map", at_least=2), 1),
        (Limit("reidentification_risk", at_most=0.2), 1),
        (Limit("individual_risk", at_most=0.2, method="exact"), 1),
        (Limit("prosecutor_risk", at_most=0.2), 1),
        (Limit("journalist_risk", at_most=0.2), 1),
        (Limit("global_risk", at_most=0.2), 0.7),
        (Limit("dis_suda", at_most=0.2, sampling_fraction=0.5), None),
    ],
    ids=lambda given: given.measure if isinstance(given, Limit) else "",
)  # fmt: skip
def test_a_limit_measures_the_pupils_of_table_3a(limit: Limit, value: float | None) -> None:
    from divulge.assessment import measures

    pupils = datasets.school_year_example()
    measured = measures()[limit.measure].of(pupils, limit)
    if value is not None:
        assert measured.value == pytest.approx(value)
    assert not limit.judge_measurement(measured, "pupils").held or value == 1
    assert "pupils" in str(measured.sentence)


def test_a_limit_that_cannot_be_is_refused_before_any_record_is_read() -> None:
    with pytest.raises(InvalidInput, match="t_closeness protects from above; give at_most"):
        Limit("t_closeness", at_least=0.2)
    with pytest.raises(InvalidInput, match="2 is not a bound of t_closeness"):
        Limit("t_closeness", at_most=2)
    with pytest.raises(InvalidInput, match='Did you mean "equal"?'):
        Limit("t_closeness", at_most=0.2, distance="equale")
    with pytest.raises(InvalidInput, match='Did you mean "distance"?'):
        Limit("t_closeness", at_most=0.2, distances="equal")
    with pytest.raises(InvalidInput, match="c: is not a number above 0"):
        Limit("recursive_l_diversity", at_least=2, c=-1)
    with pytest.raises(InvalidInput, match="looks at all quasi-identifiers together"):
        Limit("individual_risk", at_most=0.2, attribute="age")


@given(with_sensitive())
def test_a_class_gives_away_its_commonest_value(dataset: Dataset) -> None:
    found = records.t_closeness(dataset).assessment()
    values = classes_of(dataset)
    every = [value for each in values for value in each]
    assert found.certain.posterior == sum(len(each) for each in values if len(set(each)) == 1)
    assert found.right.posterior == sum(max(Counter(each).values()) for each in values)
    assert found.right.prior == pytest.approx(max(Counter(every).values()))
    assert found.probabilistic.prior <= found.probabilistic.posterior + 1e-12
    assert sum(bar["count"] for bar in found.chart().records) == len(every)


def test_what_the_pupils_classes_give_away_in_words() -> None:
    found = records.distinct_l_diversity(datasets.school_year_example(), among="gender")
    assert str(found.assessment()).splitlines() == [
        "The worst class has a distinct l-diversity of 2.",
        "Of 10 pupils, the disability of none is certain once their class is known; guessing the "
        "most frequent value of the class is right for about 7.",
        "These figures are exact.",
    ]


def test_being_one_of_a_crowd_is_a_chance_of_one_in_so_many() -> None:
    pupils = datasets.school_year_example()
    found = records.k_map(pupils, among="gender").assessment()
    assert found.right.posterior == pytest.approx(2)
    assert {part.secrets for part in found.by("gender").values()} == {4, 6}


def test_a_value_as_common_as_all_others_is_not_rarer_by_a_hair() -> None:
    survey = Dataset.from_arrow(
        pa.table({"key": [1] * 4, "ill": ["u", "v", "w", "w"], "weight": [3.3, 1.1, 1.1, 1.1]}),
        {"quasi_identifier": ["key"], "sensitive": ["ill"], "weight": "weight"},
    )
    found = records.recursive_l_diversity(survey, c=1, count="population")
    assert found.value == 1  # 3.3 < 3.3 does not hold, whatever floats add up to


@pytest.mark.parametrize("kinds", [3, 6, 7, 21, 29])
def test_a_class_of_equally_common_values_is_as_diverse_as_they_are_many(kinds: int) -> None:
    dataset = Dataset.from_arrow(
        pa.table({"key": [1] * kinds, "value": list(range(kinds))}),
        {"quasi_identifier": ["key"], "sensitive": ["value"]},
    )
    limit = Limit("entropy_l_diversity", at_least=kinds, attribute="value")
    measured = measures()[limit.measure].of(dataset, limit)
    assert limit.judge_measurement(measured, "d").held
    assert records.entropy_l_diversity(dataset).failing(kinds) == 0
    assert len(protection.protect(dataset, [limit]).decisions) == 0


def test_a_distance_that_is_the_bound_keeps_to_it() -> None:
    dataset = Dataset.from_arrow(
        pa.table({"key": ["x"] * 13 + ["y"] * 7, "value": ["u"] * 7 + ["v"] * 6 + ["u"] * 7}),
        {"quasi_identifier": ["key"], "sensitive": ["value"]},
    )
    limit = Limit("t_closeness", at_most=0.3, attribute="value")  # 7/7 - 14/20, which is 3/10
    measured = measures()[limit.measure].of(dataset, limit)
    assert limit.judge_measurement(measured, "d").held
    assert measured.sentence is not None
    assert measured.sentence.values["failing"] == 0


@pytest.mark.parametrize("size", [10, 2**40])
def test_of_no_keys_every_sum_is_nothing(size: int) -> None:
    none = np.empty(0, np.int64)
    [sums] = sum_over_equal_keys(np.array([3, 7]), none, size, [np.empty(0)])
    assert sums.tolist() == [0, 0]
    assert [each.size for each in sum_over_equal_keys(none, none, size, [np.empty(0)])] == [0]


@given(with_sensitive())
def test_delta_disclosure_is_the_largest_log_ratio_of_shares(dataset: Dataset) -> None:
    every = dataset.to_arrow().column("value").to_pylist()
    plain = []
    for each in classes_of(dataset):
        ratios = [each.count(v) / len(each) / (every.count(v) / len(every)) for v in set(every)]
        plain.append(max(abs(math.log(r)) if r else math.inf for r in ratios))
    found = records.delta_disclosure(dataset)
    assert found.classes.tolist() == pytest.approx(plain)
    assert found.failing(0.5) == sum(
        len(each)
        for each, delta in zip(classes_of(dataset), plain, strict=True)
        if delta > 0.5 + 1e-9
    )


def test_a_class_without_a_value_is_infinitely_far_and_is_said_and_drawn_so() -> None:
    town = [n // 4 for n in range(80)]
    people = Dataset.from_arrow(
        pa.table({"town": town, "ill": [n % 5 < (n // 4) % 4 for n in range(80)]}),
        {"quasi_identifier": ["town"], "sensitive": ["ill"]},
    )
    found = records.delta_disclosure(people)
    assert math.isinf(found.value)
    assert np.isfinite(found.classes).any()
    assert found.to_dict()["value"] is None
    assert "infinite" in found.explain()[0]
    bars = list(found.chart().records)
    assert sum(bar["count"] for bar in bars) == 80
    assert bars[-1]["count"] == int(np.isinf(found.values).sum())
    assert [bar["at_risk"] for bar in bars] == [False] * (len(bars) - 1) + [True]


def test_records_are_hidden_until_no_class_is_far_from_all_records() -> None:
    pupils = datasets.school_year_example()
    limit = Limit("delta_disclosure", at_most=1, attribute="disability")
    protected = protection.protect(pupils, [limit], methods=["suppress"])
    assert all(outcome.held for outcome in protected.outcomes)
    assert protected.suppressed_cells > 0
