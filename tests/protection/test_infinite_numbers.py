"""An infinite number is a value like any other, and figures that mean nothing with it say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Dataset, Hierarchy
from divulge.protection.result.utility import measure_utility

INFINITE = float("inf")
FAR = 1e6
ROLES = {"identifier": ["id"], "quasi_identifier": ["age", "sex"], "sensitive": ["income"]}
RELEASE = """
[[dataset]]
name = "people"
source = "people.parquet"
[dataset.roles]
identifier = ["id"]
quasi_identifier = ["age", "sex"]
sensitive = ["income"]
[dataset.hierarchies.age]
intervals = [[30, 41], [41]]

[[adversary]]
name = "neighbour"
attack = "records"
model = "CAS"
knows = ["age", "sex"]
seeks = "income"

[[adversary]]
name = "insurer"
attack = "risk"
measure = "t_closeness"
seeks = "income"
distance = "ordered"

[[limit]]
measure = "k_anonymity"
at_least = 3

[[limit]]
measure = "t_closeness"
attribute = "income"
distance = "ordered"
at_most = 0.9

[protection]
methods = ["recode", "suppress"]
"""


def people(far: float) -> pa.Table:
    """Sixty people, some of them with an age or an income that lies far outside."""
    ages = [40.25 + i % 3 if i % 7 == 0 else [25.0, 31.5, far, -far][i % 4] for i in range(60)]
    incomes = [far if i % 11 == 0 else -far if i % 13 == 0 else 100.5 + i % 9 for i in range(60)]
    sexes = ["FM"[i % 2] for i in range(60)]
    return pa.table({"id": range(60), "age": ages, "sex": sexes, "income": incomes})


def release(folder: Path, far: float) -> dv.Release:
    folder.mkdir()
    Dataset.from_arrow(people(far)).write(folder / "people.parquet")
    (folder / "release.toml").write_text(RELEASE)
    return dv.Release.load(folder / "release.toml")


def figures(assessments: Any) -> list[dict[str, Any]]:
    return [assessment.to_dict() for assessment in assessments]


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_infinite_numbers_are_judged_and_protected_as_any_other_far_ones(tmp_path: Path) -> None:
    infinite, finite = release(tmp_path / "one", INFINITE), release(tmp_path / "other", FAR)
    assert figures(infinite.check().assessments) == figures(finite.check().assessments)
    one = infinite.protect(out=tmp_path / "one" / "out")
    other = finite.protect(out=tmp_path / "other" / "out")
    assert one.passed
    assert other.passed
    told = []
    for folder in ("one", "other"):
        text = (tmp_path / folder / "out" / "internal" / "result.json").read_text()
        told.append(json.loads(text, parse_constant=refuse))
    assert told[0]["assessments"] == told[1]["assessments"]
    written = dv.read(tmp_path / "one" / "out" / "release" / "people.parquet")
    assert INFINITE in written.columns["income"].values.to_pylist()


def test_counts_stay_and_means_and_correlations_are_not_defined() -> None:
    every = np.arange(60)

    def cost(far: float) -> dict[str, Any]:
        before = Dataset.from_arrow(people(far), roles=ROLES)
        after = dv.protection.suppress(before, k=3, nulls="maybe").dataset
        return measure_utility(before, after, every, ["age", "sex"]).to_dict()

    infinite, finite = cost(INFINITE), cost(FAR)
    assert infinite["means"] == {"age": [None, None], "income": [None, None]}
    assert infinite["correlations"] is None
    assert {**infinite, "means": 0, "correlations": 0} == {**finite, "means": 0, "correlations": 0}


def test_what_has_no_infinite_number_keeps_its_mean_and_correlation() -> None:
    rising = [1.5, 2.5, 4.5, 7.5]
    table = pa.table({"a": rising, "b": rising, "c": [1.5, INFINITE, 2.5, -INFINITE]})
    dataset = Dataset.from_arrow(table)
    found = measure_utility(dataset, dataset, np.arange(4), ["a"])
    assert dict(found.means) == {"a": (4.0, 4.0), "b": (4.0, 4.0), "c": (None, None)}
    assert found.correlations == 0.0
    assert dict(found.rows())["largest change of a correlation"] == "0.0000"
    alone = dataset.select(["a", "c"])
    told = measure_utility(alone, alone, np.arange(4), ["a"])
    assert dict(told.rows())["largest change of a correlation"] == "not defined"


@given(st.lists(st.floats(allow_nan=False, width=64), min_size=3, max_size=8))
def test_no_figure_is_ever_infinite_or_no_number(numbers: list[float]) -> None:
    dataset = Dataset.from_arrow(pa.table({"a": numbers, "b": numbers[::-1]}))
    told = measure_utility(dataset, dataset, np.arange(len(numbers)), ["a"]).to_dict()
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(("number", "interval"), [(INFINITE, ">= 41"), (-INFINITE, "< 30")])
def test_an_infinite_number_lies_in_the_outermost_interval(number: float, interval: str) -> None:
    assert Hierarchy.intervals([30, 41]).at(number, 1) == interval
