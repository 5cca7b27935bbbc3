"""A first look at data: charts, codes that may mean missing, and what hints at a mistake."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset
from divulge.data import summarise
from divulge.data.data_summary import BARS


def look(**columns: list[Any]) -> Any:
    return summarise(Dataset.from_arrow(pa.table(columns), name="data"))


@given(st.lists(st.integers(-1000, 1000) | st.none(), min_size=1, max_size=60))
def test_every_record_is_a_value_or_missing(values: list[int | None]) -> None:
    [found] = look(x=values).attributes
    present = [value for value in values if value is not None]
    assert found.missing == len(values) - len(present)
    assert found.values == len(set(present))
    assert set(found.chart) <= set(BARS)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([20, 30, 40, 50, 999], ["999"]),
        ([20, 40, 60, 90, 99], []),
        ([0, 1, 2, 3, -9], ["-9"]),
        ([0, 1, 2, 3, 4, 5, 6, -9, -8, -1], ["-9", "-8", "-1"]),
        ([-30, -20, -10, 0, 10], []),
        ([1, 2, 3], []),
    ],
    ids=["far above", "within reach", "below zero", "several", "temperatures", "nothing"],
)
def test_numbers_that_may_mean_missing_lie_apart(values: list[int], codes: list[str]) -> None:
    [found] = look(x=values * 4).attributes
    assert [odd.split()[0] for odd in found.oddities if "may mean missing" in odd] == codes


def test_what_hints_at_a_mistake_is_said() -> None:
    summary = look(
        town=["Rome", "rome ", "Oslo", "n/a"] * 3, code=["a", "b", "c", "d"] * 3, one=[1] * 12
    )
    town, _, one = (each.oddities for each in summary.attributes)
    assert [odd.partition(":")[0].partition(" (")[0] for odd in town] == [
        '"n/a" may mean missing',
        "texts that differ only by capitals or blanks",
    ]
    assert one == ("all records have the same value",)
    assert summary.oddities == (
        '"code" says the same of every record as "town"',
        "8 records repeat another one in every attribute",
    )
