"""Classes where cells are missing and records weigh: against comparing every pair of records."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import Dataset, datasets, records
from divulge.work import InvalidInput

ROLES = {"quasi_identifier": ["a", "b"], "sensitive": ["s"], "weight": "w"}
SCHEMA = pa.schema([(name, pa.int64()) for name in ("a", "b", "s", "w")])
Row = dict[str, Any]


@st.composite
def protected(draw: st.DrawFn) -> tuple[Dataset, Dataset]:
    """Records, and the same with some cells suppressed."""
    value = st.integers(0, 2)
    rows = draw(st.lists(st.tuples(value, value, value, st.integers(1, 4)), min_size=1, max_size=9))
    hidden = draw(
        st.lists(st.tuples(st.booleans(), st.booleans()), min_size=len(rows), max_size=len(rows))
    )
    before = [dict(zip("absw", row, strict=True)) for row in rows]
    after = [
        {**row, "a": None if one else row["a"], "b": None if two else row["b"]}
        for row, (one, two) in zip(before, hidden, strict=True)
    ]
    return (
        Dataset.from_arrow(pa.Table.from_pylist(before, SCHEMA), ROLES),
        Dataset.from_arrow(pa.Table.from_pylist(after, SCHEMA), ROLES),
    )


def fits(victim: Row, row: Row) -> bool:
    """Whether a record may be somebody's: all that both show agrees."""
    return all(None in (victim[name], row[name]) or victim[name] == row[name] for name in "ab")


def members(before: list[Row], after: list[Row], nulls: str) -> list[dict[int, float]]:
    """For each record, the records of its class and what each counts for."""
    found = []
    for number, (victim, mine) in enumerate(zip(before, after, strict=True)):
        if nulls == "maybe":
            crowd = {n: 1.0 for n, row in enumerate(after) if fits(mine, row)}
        elif nulls == "value":
            crowd = {
                n: 1.0
                for n, row in enumerate(after)
                if (row["a"], row["b"]) == (mine["a"], mine["b"])
            }
        elif nulls == "standard":
            complete = None not in (mine["a"], mine["b"])
            crowd = {
                n: 1.0
                for n, row in enumerate(after)
                if n == number or (complete and (row["a"], row["b"]) == (mine["a"], mine["b"]))
            }
        elif nulls == "known":
            crowd = {n: 1.0 for n, row in enumerate(after) if fits(victim, row)}
        else:
            crowd = {
                n: chance(victim, row, after) for n, row in enumerate(after) if fits(victim, row)
            }
        found.append(crowd)
    return found


def chance(victim: Row, row: Row, after: list[Row]) -> float:
    """That what a record hides is the victim's: its share among complete ones that agree.

    Twenty records are added to these in which attributes are independent.
    """
    hidden = [name for name in "ab" if row[name] is None]
    if not hidden:
        return 1.0
    complete = [each for each in after if None not in (each["a"], each["b"])]
    shown = [name for name in "ab" if row[name] is not None]
    comparable = [each for each in complete if all(each[n] == victim[n] for n in shown)]
    whole = [each for each in complete if all(each[n] == victim[n] for n in "ab")]
    independent = 1.0
    for name in hidden:
        showing = [each[name] for each in after if each[name] is not None]
        same = showing.count(victim[name])
        independent *= same / len(showing) if same else 1 / (len(showing) + 1)
    return (len(whole) + 20 * independent) / (len(comparable) + 20)


def distributions(
    before: list[Row], after: list[Row], nulls: str, weighed: bool
) -> list[dict[int, float]]:
    """For each record, how much of each sensitive value its class holds."""
    found = []
    for crowd in members(before, after, nulls):
        held: dict[int, float] = {}
        for number, counts in crowd.items():
            amount = counts * (after[number]["w"] if weighed else 1)
            held[after[number]["s"]] = held.get(after[number]["s"], 0) + amount
        found.append(held)
    return found


def entropy(held: dict[int, float], _: dict[int, float]) -> float:
    shares = np.array(list(held.values())) / sum(held.values())
    return float(np.exp(-(shares * np.log(shares)).sum()))


def distinct(held: dict[int, float], _: dict[int, float]) -> float:
    return float(len(held))


def recursive(held: dict[int, float], _: dict[int, float]) -> float:
    counts = sorted(held.values(), reverse=True)
    holds = [n for n in range(1, len(counts) + 1) if counts[0] < 2.5 * sum(counts[n - 1 :]) - 1e-9]
    return float(max([0, *holds]))


def closeness(held: dict[int, float], everybody: dict[int, float]) -> float:
    one, all_of = sum(held.values()), sum(everybody.values())
    return sum(abs(held.get(v, 0) / one - everybody[v] / all_of) for v in everybody) / 2


def likeness(held: dict[int, float], everybody: dict[int, float]) -> float:
    one, all_of = sum(held.values()), sum(everybody.values())
    return max(0.0, *(held[v] / one / (everybody[v] / all_of) - 1 for v in held))


def log_ratio(held: dict[int, float], everybody: dict[int, float]) -> float:
    one, all_of = sum(held.values()), sum(everybody.values())
    if set(held) != set(everybody):
        return math.inf
    return max(abs(math.log(held[v] / one * all_of / everybody[v])) for v in everybody)


PLAIN: dict[Callable[..., Any], Callable[[dict[int, float], dict[int, float]], float]] = {
    records.distinct_l_diversity: distinct,
    records.entropy_l_diversity: entropy,
    records.t_closeness: closeness,
    records.beta_likeness: likeness,
    records.delta_disclosure: log_ratio,
}


@settings(max_examples=60)
@given(
    protected(),
    st.sampled_from(["maybe", "standard", "value", "known", "bayes"]),
    st.sampled_from(["records", "population"]),
)
def test_what_a_class_holds_is_what_pairs_of_records_say(
    both: tuple[Dataset, Dataset], nulls: Any, count: Any
) -> None:
    before, after = (dataset.to_arrow().to_pylist() for dataset in both)
    plain = distributions(before, after, nulls, count == "population")
    everybody: dict[int, float] = {}
    for row in after:
        everybody[row["s"]] = everybody.get(row["s"], 0) + (
            row["w"] if count == "population" else 1
        )
    given_as = {"nulls": nulls, "count": count, "original": both[0]}
    for measure, twin in PLAIN.items():
        found = measure(both[1], **given_as)
        assert found.values.tolist() == pytest.approx(
            [twin(held, everybody) for held in plain], abs=1e-9
        )
        right = sum(max(held.values()) / sum(held.values()) for held in plain)
        assessed = found.assessment()
        assert assessed.right.posterior == pytest.approx(right)
        assert assessed.certain.posterior == sum(len(held) == 1 for held in plain)
        assert assessed.claim == (
            "estimate" if nulls == "bayes" or count == "population" else "exact"
        )
    c = records.recursive_l_diversity(both[1], c=2.5, **given_as)
    if nulls != "bayes":
        assert c.values.tolist() == [recursive(held, everybody) for held in plain]


@settings(max_examples=60)
@given(
    protected(),
    st.sampled_from(["maybe", "standard", "value", "known"]),
    st.sampled_from(["records", "population"]),
)
def test_k_is_the_smallest_crowd_of_pairs_of_records(
    both: tuple[Dataset, Dataset], nulls: Any, count: Any
) -> None:
    before, after = (dataset.to_arrow().to_pylist() for dataset in both)
    weigh = [row["w"] if count == "population" else 1 for row in after]
    plain = [sum(weigh[n] for n in crowd) for crowd in members(before, after, nulls)]
    found = records.anonymity_of_each(both[1], nulls=nulls, count=count, original=both[0])
    assert found.values.tolist() == plain
    assert records.k_anonymity(both[1], nulls=nulls, count=count, original=both[0]) == min(plain)
    assert found.failing(3) == sum(crowd < 3 for crowd in plain)
    assert found.assessment().right.posterior == pytest.approx(sum(1 / crowd for crowd in plain))


@settings(max_examples=50)
@given(
    protected(),
    st.sampled_from(["maybe", "standard", "value", "known"]),
    st.sampled_from(["sum", "count", "mean", "min", "max", "median"]),
)
def test_any_aggregate_of_those_alike_is_that_of_pairs_of_records(
    both: tuple[Dataset, Dataset], nulls: Any, aggregate: str
) -> None:
    before, after = (dataset.to_arrow().to_pylist() for dataset in both)
    function: Any = len if aggregate == "count" else getattr(np, aggregate)
    plain = [
        1 / function([after[n]["w"] for n in crowd]) for crowd in members(before, after, nulls)
    ]
    asked: Any = np.median if aggregate == "median" else aggregate
    found = records.disclosure_risk(both[1], asked, nulls=nulls, original=both[0])
    assert found.values.tolist() == pytest.approx(plain)


@settings(max_examples=40)
@given(protected())
def test_every_semantics_stands_side_by_side(both: tuple[Dataset, Dataset]) -> None:
    for measure in (records.anonymity_of_each, records.t_closeness, records.entropy_l_diversity):
        found = measure(both[1], original=both[0])
        beside = found.summary()["value_by_semantics"]
        assert list(beside) == ["maybe", "standard", "value", "known", "bayes"]
        for nulls, value in beside.items():
            again = measure(both[1], nulls=nulls, original=both[0])
            assert value == again.value
    alone = records.individual_risk(both[1], original=both[0], nulls="maybe").summary()
    assert {f"alone_{each}" for each in beside} <= set(alone)


@settings(max_examples=40)
@given(protected(), st.sampled_from(["a", "s"]))
def test_who_bears_the_risk_adds_up_to_all(both: tuple[Dataset, Dataset], group: str) -> None:
    for found in (
        records.t_closeness(both[1], nulls="maybe"),
        records.anonymity_of_each(both[1], nulls="maybe"),
        records.k_map(both[1], nulls="maybe"),
        records.delta_presence(both[1], both[0], nulls="maybe"),
    ):
        whole, parts = found.assessment(), found.by(group)
        assert sum(part.secrets for part in parts.values()) == whole.secrets
        right = sum(part.right.posterior for part in parts.values())
        assert right == pytest.approx(float(whole.right.posterior))
        assert whole.probabilistic.prior <= whole.probabilistic.posterior + 1e-9
        assert whole.risk().size == whole.secrets
        assert sum(bar["count"] for bar in found.chart().records) == whole.secrets


@settings(max_examples=50)
@given(protected())
def test_a_release_with_nulls_against_its_list(both: tuple[Dataset, Dataset]) -> None:
    """The list is what was collected, where everybody stands for as many as the weight says."""
    before, after = (dataset.to_arrow().to_pylist() for dataset in both)
    plain = [sum(person["w"] for person in before if fits(row, person)) for row in after]
    assert records.k_map(both[1], both[0], nulls="maybe").values.tolist() == plain
    present = records.delta_presence(both[1], both[0], nulls="maybe")
    # Every record is another person's, so that as many are in as there are records; the chances
    # themselves are held to every way to give records to people in test_presence.
    expected = sum(
        person["w"] * chance for person, chance in zip(before, present.values, strict=True)
    )
    assert expected == pytest.approx(len(after))
    for person, chance in zip(before, present.values, strict=True):
        assert 0 <= chance <= 1
        assert (chance == 0) == (not any(fits(row, person) for row in after))
    assert present.lowest == pytest.approx(min(present.values))
    assert present.claim == "estimate"


def test_fig_5b_counted_as_classes_flatters_its_victim() -> None:
    before = datasets.local_suppression_example()
    after = datasets.local_suppression_example(protected=True)
    found = records.anonymity_of_each(after, original=before, nulls="maybe")
    assert found.values.tolist() == [5, 3, 3, 3, 3, 2, 2]
    assert found.side_by_side == pytest.approx(
        {"maybe": 2, "standard": 1, "value": 1, "known": 1, "bayes": 1}
    )
    assert any("This count understates the risk" in sentence for sentence in found.explain())
    alone = records.anonymity_of_each(after, nulls="maybe")
    assert any("Give the original" in sentence for sentence in alone.explain())


def test_what_cannot_be_counted_is_said_at_once_with_counts() -> None:
    after = datasets.local_suppression_example(protected=True)
    with pytest.raises(InvalidInput) as refused:
        records.k_anonymity(after, nulls="known", count="populaton")  # type: ignore[arg-type]
    assert 'Did you mean "population"?' in str(refused.value)
    with pytest.raises(InvalidInput, match="1 record hides values.* give them as original"):
        records.k_anonymity(after, nulls="known")
    pupils = datasets.school_year_example()
    with pytest.raises(InvalidInput, match="no attribute has that role"):
        records.t_closeness(pupils, among="gender", count="population", nulls="maybe")
    people = Dataset.from_arrow(
        pa.table({"a": [1, 1, 2], "s": [1, 2, 3], "w": [0.5, -1, None]}),
        {"quasi_identifier": ["a"], "sensitive": ["s"], "weight": "w"},
    )
    with pytest.raises(InvalidInput) as weights:
        records.t_closeness(people, count="population", nulls="maybe")
    for wanted in ("missing in 1 of 3", "negative in 1 of 3", "below 1 in 1 of 3"):
        assert wanted in str(weights.value)
    with pytest.raises(InvalidInput, match="does not go with a list"):
        records.k_map(pupils, pupils, "gender", nulls="standard")
    with pytest.raises(InvalidInput, match="does not go with k-map"):
        records.k_map(after, nulls="known")
    with pytest.raises(InvalidInput, match="1 record hides values"):
        records.k_map(after)


def test_three_attackers_side_by_side() -> None:
    found = records.three_attackers(
        datasets.inflation_and_growth_example(), threshold=0.02, nulls="maybe"
    )
    assert [found[name]["claim"] for name in found] == ["exact", "estimate", "estimate"]
    assert found["prosecutor"]["highest"] == 1
    assert found["journalist"]["highest"] == pytest.approx(1 / 30)
    bars = {(bar["attacker"], bar["figure"]): bar["risk"] for bar in found.chart().records}
    assert bars["marketer", "average"] == pytest.approx(found["marketer"]["average"])
    assert len(bars) == 6
    assert found.to_arrow().column_names == ["prosecutor", "journalist", "marketer"]
    assert (
        found.by("Area")["journalist"]["North"].secrets
        == found.by("Area")["prosecutor"]["North"].secrets
    )
    assert (
        found.assessment("journalist").figures["records_above_threshold"]
        == (found["journalist"]["above_threshold"])
    )
    assert "The risk from the journalist is 3.33%" in str(found)


def test_bars_are_values_if_few_bands_if_whole_and_steps_if_not() -> None:
    rows = np.repeat(np.arange(20), np.arange(1, 21))
    many = Dataset.from_arrow(
        pa.table({"a": rows, "s": np.arange(rows.size) % 7}),
        {"quasi_identifier": ["a"], "sensitive": ["s"]},
    )

    def labels(found: Any) -> list[str]:
        return [bar[found.title] for bar in found.chart().records]

    assert labels(records.anonymity_of_each(many, nulls="maybe")) == [
        "1",
        "2",
        "3-4",
        "5-9",
        "10 or more",
    ]
    assert labels(records.distinct_l_diversity(many, nulls="maybe")) == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
    ]
    steps = labels(records.t_closeness(many, nulls="maybe"))
    assert len(steps) == 8
    assert all(label.startswith("from ") for label in steps)
    worst = [bar["at_risk"] for bar in records.t_closeness(many, nulls="maybe").chart().records]
    assert worst == [False] * 7 + [True]
