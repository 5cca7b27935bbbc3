"""Why a record has its risk: its group, what the group stands for, and the record's place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge import Dataset, InvalidInput
from divulge.protection.changes.changes import hide_cells

VALUES = st.lists(
    st.tuples(st.sampled_from("NS"), st.sampled_from("ab"), st.integers(1, 9)),
    min_size=2,
    max_size=8,
)


def describe(rows: list[tuple[str, str, int]]) -> Dataset:
    area, job, weight = zip(*rows, strict=True)
    table = pa.table({"area": area, "job": job, "weight": weight})
    roles = {"quasi_identifier": ["area", "job"], "weight": ["weight"]}
    return Dataset.from_arrow(table, roles=roles, subjects="people")


@given(VALUES, st.data())
def test_a_group_is_found_as_by_looking_at_all_records(
    rows: list[tuple[str, str, int]], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(rows) - 1))
    risk = dv.records.individual_risk(describe(rows))
    reason = risk.why(number)
    group = [place for place, row in enumerate(rows) if row[:2] == rows[number][:2]]
    assert reason.size == len(group)
    assert reason.weight == pytest.approx(sum(rows[place][2] for place in group))
    higher = [place for place in range(len(rows)) if risk.values[place] > risk.values[number]]
    assert reason.rank_of_all == 1 + len(higher)
    assert reason.rank == 1 + len(set(higher) & set(group))
    assert reason.values == {"area": rows[number][0], "job": rows[number][1]}
    assert reason.risk == risk.values[number]


def test_hidden_values_are_said_to_fit_and_are_no_group() -> None:
    people = describe([("N", "a", 1), ("N", "a", 1), ("N", "b", 1), ("S", "a", 1)])
    released = hide_cells(people, {"job": np.array([1])})
    reason = dv.records.reidentification_risk(released, nulls="value").why(0)
    assert (reason.size, reason.fitting) == (1, 1)
    assert "1 other would fit if its hidden values were the same." in str(reason)


def test_sentences_have_no_value_and_no_weight_where_there_is_none() -> None:
    table = pa.table({"town": ["Roma", "Roma", "Bari"]})
    people = Dataset.from_arrow(table, {"quasi_identifier": ["town"]}, subjects="people")
    text = str(dv.records.prosecutor_risk(people).why(0))
    assert "2 of 3 people show the same values, itself included." in text
    assert "place 1 of 2 in its group, 2 of 3 of all" in text
    assert "Roma" not in text
    assert "population" not in text


def test_scores_of_special_uniques_are_explained_too() -> None:
    companies = dv.datasets.inflation_and_growth_example()
    found = dv.records.suda(companies)
    riskiest = int(np.argmax(found.dis))
    assert found.why(riskiest).rank_of_all == 1


@pytest.mark.parametrize("number", [-1, 20])
def test_a_record_that_is_not_there_is_refused(number: int) -> None:
    companies = dv.datasets.inflation_and_growth_example()
    with pytest.raises(InvalidInput, match="there are 20 .*, from 0"):
        dv.records.prosecutor_risk(companies).why(number)
