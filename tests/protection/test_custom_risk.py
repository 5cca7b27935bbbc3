"""A risk by a function of one's own is limited and lowered like any other."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset, DivulgeError, InvalidInput, Limit, datasets, protection, records
from divulge.protection import OutOfReachError
from divulge.protection.changes.changes import select_records

from .test_cycle import surveys

COMPANIES = datasets.local_suppression_example()


def one_in_sector(dataset: Dataset) -> Any:
    """One over the records of the same sector; who hides it cannot be picked out by it."""
    column = dataset.columns["Sector"]
    counts = np.bincount(column.codes, minlength=column.cardinality + 1)[column.codes]
    return np.where(column.codes == column.missing_code, 0.0, 1 / counts)


def test_a_function_is_a_risk_of_records() -> None:
    risk = records.custom_risk(COMPANIES, one_in_sector)
    assert risk.values.tolist() == one_in_sector(COMPANIES).tolist()
    assert str(risk).startswith("The custom risk (one_in_sector) is ")
    limit = Limit("custom_risk", at_most=0.4, risk=one_in_sector)
    assert json.loads(json.dumps(limit.to_dict()))["risk"] == "one_in_sector"


def test_a_limit_on_it_is_reached_and_its_decisions_name_it() -> None:
    limit = Limit("custom_risk", at_most=0.4, risk=one_in_sector)
    p = protection.protect(COMPANIES, [limit], ["suppress"])
    assert [outcome.held for outcome in p.outcomes_before] == [False]
    assert [outcome.held for outcome in p.outcomes] == [True]
    assert max(one_in_sector(p.dataset)) <= 0.4
    assert {d.rule for d in p.decisions} == {"custom_risk of one_in_sector at most 0.4"}


def test_it_is_asked_anew_of_what_is_left_each_time() -> None:
    seen: list[int] = []

    def watched(dataset: Dataset) -> Any:
        column = dataset.columns["Sector"]
        seen.append(int((column.codes == column.missing_code).sum()))
        return one_in_sector(dataset)

    p = protection.protect(
        COMPANIES, [Limit("custom_risk", at_most=0.4, risk=watched)], ["suppress"]
    )
    assert seen[0] == 0
    column = p.dataset.columns["Sector"]
    assert seen[-1] == int((column.codes == column.missing_code).sum()) > 0


@given(surveys(), st.sampled_from([0.3, 0.5, 0.9]))
def test_the_same_risk_by_a_function_and_by_name_stand_alike(
    dataset: Dataset, bound: float
) -> None:
    def same(other: Dataset) -> Any:
        return records.prosecutor_risk(other, nulls="maybe").values

    own = Limit("custom_risk", at_most=bound, risk=same)
    named = Limit("prosecutor_risk", at_most=bound, nulls="maybe")
    try:
        p = protection.protect(dataset, [own], ["suppress"], out_of_reach="remove")
    except OutOfReachError:
        return  # then nobody was released
    before = select_records(p.original, p.kept)
    assert p.dataset.rows == before.rows
    assert not named.is_broken_by(same(p.dataset)).any()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda dataset: [0.5] * (dataset.rows - 1), "there are 7"),
        (lambda dataset: [-0.5] * dataset.rows, "is not from 0 to 1 for 7 of 7"),
        (lambda dataset: [float("nan")] * dataset.rows, "is not from 0 to 1 for 7 of 7"),
        (lambda dataset: ["Roma"] * dataset.rows, "contains something that is no number"),
    ],
)
def test_what_is_no_risk_is_refused_and_not_quoted(function: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as error:
        records.custom_risk(COMPANIES, function)
    assert "Roma" not in str(error.value)


def test_a_text_is_no_function() -> None:
    with pytest.raises(InvalidInput, match="is not a function from a dataset"):
        Limit("custom_risk", at_most=0.4, risk="one_in_sector")
    with pytest.raises(InvalidInput, match="risk.*is missing"):
        Limit("custom_risk", at_most=0.4)


def test_a_recipe_has_no_place_for_a_function() -> None:
    area = [("Roma", "Center"), ("Milano", "North"), ("Torino", "North")]
    limit = Limit("custom_risk", at_most=0.5, risk=one_in_sector)
    p = protection.recode(COMPANIES, [limit], 1.0, is_a={"Area": area})
    with pytest.raises(DivulgeError, match="of a function") as error:
        _ = p.recipe
    assert "one_in_sector" in str(error.value)


def test_a_few_whom_nothing_helps_are_removed_before_everybody_else_hides_cells() -> None:
    rows = range(100)
    table = pa.table(
        {
            "id": [f"p{row}" for row in rows],
            "town": [f"t{row}" for row in rows],
            "job": [f"j{row}" for row in rows],
        }
    )
    people = Dataset.from_arrow(table, {"identifier": "id", "quasi_identifier": ["town", "job"]})

    def crowd(data: Dataset) -> npt.NDArray[np.float64]:
        """Two of them are found unless nearly everybody hides something."""
        released = data.to_arrow()
        hidden = sum(released[name].null_count for name in ("town", "job"))
        is_one = np.isin(released["id"].to_pylist(), ["p1", "p2"])
        return np.where(is_one & (hidden < 90), 1.0, 0.0)

    limit = Limit("custom_risk", at_most=0.34, risk=crowd)
    removed = protection.protect(people, [limit], methods=["suppress"], out_of_reach="remove")
    assert removed.removed == 2
    assert removed.suppressed_cells < 10
    crowded = protection.protect(people, [limit], methods=["suppress"], out_of_reach="raise")
    assert crowded.removed == 0
    assert crowded.suppressed_cells >= 90
