"""Linked years against a plain left join."""

from __future__ import annotations

from collections import Counter
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import example, given, settings

import divulge as dv

from .plain import classes

FIRST, SECOND = dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)
SCHEMA = pa.schema([("id", pa.string()), ("a", pa.int64()), ("s", pa.string())])


def year(rows: list[dict[str, Any]], name: str = "year") -> dv.Dataset:
    return dv.Dataset.from_arrow(pa.Table.from_pylist(rows, SCHEMA), name=name)


YEARS = st.lists(
    st.lists(
        st.fixed_dictionaries(
            {
                "id": st.sampled_from("abcdefghij"),
                "a": st.sampled_from([None, 1, 2, 3]),
                "s": st.sampled_from(["u", "v"]),
            }
        ),
        min_size=1,
        max_size=15,
    ),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(YEARS)
@example([[{"id": "a", "a": None, "s": "u"}], [{"id": "a", "a": None, "s": "u"}]])  # none is shown
def test_years_with_missing_extra_and_repeated_ids_are_a_plain_left_join(
    years: list[list[dict[str, Any]]],
) -> None:
    datasets = [year(rows, f"year {n}") for n, rows in enumerate(years)]
    found = dv.records.longitudinal(datasets, on="id", knows=["a"], seeks="s", duplicates="first")
    people = dv.records.longitudinal(datasets, on="id", knows=["a"], duplicates="first")
    kept: list[dict[str, Any]] = []
    for rows in years:
        kept.append({})
        for row in rows:
            kept[-1].setdefault(row["id"], row)
    dropped = sum(len(rows) - len(one) for rows, one in zip(years, kept, strict=True))
    for prefix in range(1, len(years) + 1):
        joined = []
        for who, row in kept[0].items():
            told = dict(row)
            for number, other in enumerate(kept[1:prefix]):
                told[f"a {number}"] = (other[who]["a"],) if who in other else "absent"
            joined.append(told)
        known = ["a", *(f"a {number}" for number in range(prefix - 1))]
        groups = classes(joined, known)
        secrets = [Counter(row["s"] for row in group) for group in groups]
        assessment = found[prefix - 1]
        assert assessment.secrets == len(joined)
        assert assessment.figures["records_dropped"] == dropped
        assert assessment.certain.posterior == sum(
            sum(each.values()) for each in secrets if len(each) == 1
        )
        assert assessment.right.posterior == sum(max(each.values()) for each in secrets)
        assert people[prefix - 1].certain.posterior == sum(len(group) == 1 for group in groups)
        assert people[prefix - 1].right.posterior == len(groups)


def test_tables_4_and_10_come_out_of_one_pass_each() -> None:
    years = [FIRST, SECOND]
    knows = ["gender", "grade"]
    inferred = dv.records.longitudinal(years, on="id", knows=knows, seeks="disability")
    assert [a.model for a in inferred] == ["CAS", "CAL"]
    assert [a.deterministic.posterior for a in inferred] == [0.6, 0.8]
    assert [a.probabilistic.posterior for a in inferred] == [0.8, 0.9]
    found = dv.records.longitudinal(years, on="id", knows=knows)
    assert [a.probabilistic.posterior for a in found] == [0.5, 0.8]
    assert [record["share"] for record in found.chart().records] == [0.1, 0.5, 0.6, 0.8]


def test_more_years_never_tell_less() -> None:
    growth = dv.records.longitudinal([FIRST, SECOND], on="id", knows=["age"])
    assert growth[0].certain.posterior <= growth[1].certain.posterior


def test_a_random_record_of_a_repeated_id_is_the_same_for_the_same_seed() -> None:
    rows = [{"id": "a", "a": n, "s": "u"} for n in range(2, 52)] + [{"id": "b", "a": 1, "s": "v"}]
    focal = year([{"id": i, "a": 1, "s": s} for i, s in (("a", "u"), ("b", "v"))], "focal")

    def certain(seed: int) -> float:
        return dv.records.attack(
            [focal, year(rows)], "CRL", ["a"], on="id", duplicates="random", seed=seed
        ).certain.posterior

    assert certain(3) == certain(3)
    assert {certain(seed) for seed in range(5)} == {2}


@pytest.mark.parametrize(
    ("second", "arguments", "said"),
    [
        ([{"id": None, "a": 1, "s": "u"}], {}, '"id" is missing in 1 record of dataset "two"'),
        ([{"id": "a", "a": 1}] * 3, {}, '2 records of dataset "two" have an id that another'),
        ([{"id": "a", "a": 1}], {"on": "idd"}, 'dataset "one" has no attribute "idd"'),
        ([{"id": "a", "a": 1}], {"duplicates": "last"}, '"last" is not a policy'),
        ([{"id": "a", "a": 1}], {"knows": ["b"]}, 'no dataset has an attribute "b"'),
        ([{"id": "a", "a": 1}], {"seeks": "a"}, '"a" is known already'),
        ([{"id": "a", "a": 1}], {"knows": ["id"]}, '"id" is the id that links the datasets'),
    ],
)
def test_years_that_cannot_be_linked_are_refused(
    second: list[dict[str, Any]], arguments: dict[str, Any], said: str
) -> None:
    one, two = year([{"id": "a", "a": 1, "s": "u"}], "one"), year(second, "two")
    with pytest.raises(dv.InvalidInput) as error:
        dv.records.longitudinal([one, two], **{"on": "id", "knows": ["a"], **arguments})
    assert said in str(error.value)


def test_a_year_given_twice_or_ids_of_another_type_are_refused() -> None:
    one = year([{"id": "a", "a": 1, "s": "u"}], "one")
    numbers = dv.Dataset.from_arrow(pa.table({"id": [1], "a": [1]}), name="numbers")
    with pytest.raises(dv.InvalidInput, match=r'"one" \(number 2\) is given twice'):
        dv.records.longitudinal([one, one], on="id", knows=["a"])
    with pytest.raises(dv.InvalidInput, match='"id" is int64 in dataset "numbers" and string'):
        dv.records.longitudinal([one, numbers], on="id", knows=["a"])


def test_too_little_memory_is_said_before_datasets_are_linked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("divulge.work.memory.available_memory", lambda: 10)
    with pytest.raises(dv.work.NotEnoughMemory, match="link fewer datasets at a time"):
        dv.records.longitudinal([FIRST, SECOND], on="id", knows=["grade"])
    with pytest.raises(dv.work.NotEnoughMemory, match='engine="duckdb"'):
        dv.records.attack(FIRST, "CRS", ["grade"])


def test_datasets_that_are_none_or_not_datasets_are_refused() -> None:
    with pytest.raises(dv.InvalidInput, match="give a dataset, or a list of datasets"):
        dv.records.attack([], "CRL", ["grade"], on="id")
    with pytest.raises(dv.InvalidInput, match="name the id that all datasets have"):
        dv.records.attack([FIRST, SECOND], "CRL", ["grade"])
    with pytest.raises(dv.InvalidInput, match="give one dataset or more"):
        dv.records.longitudinal([], on="id")


def test_who_was_removed_from_a_later_year_is_not_safe_for_that() -> None:
    ages = {"a": 1, "b": 2, "c": 3}
    both = [{"id": who, "a": age, "s": "u"} for who, age in ages.items()]
    first, second = year(both, "first"), year(both, "second")
    without_a = year(both[1:], "second without a")
    growth = dv.records.longitudinal([first, second], on="id", knows="a", release=[None, without_a])
    assert [found.certain.posterior for found in growth] == [3, 3]
    assert growth[1].risk().tolist() == [1, 1, 1]


def test_who_is_seen_in_a_later_year_is_nobody_who_was_absent_from_it() -> None:
    alike = [{"id": who, "a": 1, "s": "u"} for who in "abc"]
    first, second = year(alike, "first"), year(alike[:2], "second")
    growth = dv.records.longitudinal(
        [first, second], on="id", knows="a", release=[None, year(alike[:1], "second without b")]
    )
    # b may be among those who are not seen; c, who was not there, can only be one of them.
    assert growth[1].figures["nobody_fits"] == 0
    assert growth[1].risk()[2] == pytest.approx(1 / 2)


def test_a_release_as_it_was_is_attacked_as_the_datasets_are() -> None:
    first = dv.Dataset.from_arrow(pa.table({"id": [1, 2, 3], "x": [1, 1, 1]}))
    second = dv.Dataset.from_arrow(pa.table({"id": [1, 2], "y": [5, 6]}))
    for knows in (["x"], ["x", "y"]):
        asked: dict[str, Any] = {"on": "id", "knows": knows}
        alone = dv.records.longitudinal([first, second], **asked)
        pair = dv.records.longitudinal([first, second], release=[None, None], **asked)
        assert [a.certain for a in pair] == [a.certain for a in alone]
        assert [a.probabilistic for a in pair] == [a.probabilistic for a in alone]
