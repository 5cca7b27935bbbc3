"""What kind of dataset a file is, told from its roles and values; what is doubtful is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge.data import Dataset, Experience, categorise, propose_kind
from divulge.data.proposals.dataset_kind import KindProposal
from divulge.data.proposals.file_relations import find_file_relations

SHIPPED = Experience.shipped()


def kind_of(columns: Mapping[str, Any]) -> KindProposal:
    dataset = Dataset.from_arrow(pa.table(dict(columns)))
    return propose_kind(dataset, categorise(dataset, SHIPPED))


def draw(values: list[Any], rows: int, seed: int = 1) -> list[Any]:
    places = np.random.default_rng(seed).integers(0, len(values), rows)
    return [values[place] for place in places]


HOMES = [home for home in range(120) for _ in range(1 + home % 4)]
REGIONS = ["North", "South", "West"]


def test_records_of_somebody_else_each_are_records() -> None:
    rows = 400
    found = kind_of(
        {"age": draw(list(range(90)), rows), "sex": draw(["f", "m"], rows, 2),
         "income": draw(list(range(10_000)), rows, 3)}
    )  # fmt: skip
    assert (found.kind, found.doubts) == ("records", ())


def test_members_of_a_household_make_a_household_file() -> None:
    found = kind_of(
        {"household id": HOMES, "age": draw(list(range(90)), len(HOMES)),
         "region": [REGIONS[home // 40] for home in HOMES]}
    )  # fmt: skip
    assert found.kind == "households"
    assert "household id" in found.reasons[0]


@pytest.mark.parametrize("key", ["person id", "firm"])
def test_the_same_year_by_year_is_a_panel_of_people_or_of_firms(key: str) -> None:
    who = np.repeat(np.arange(100), 4)
    found = kind_of(
        {key: who, "year": [2001, 2002, 2003, 2004] * 100,
         "sector": draw(REGIONS, 400), "wage": draw(list(range(5_000)), 400)}
    )  # fmt: skip
    assert (found.kind, found.user, found.time) == ("panel", key, "year")


def test_purchases_are_a_history_with_user_time_item_and_receipt() -> None:
    random = np.random.default_rng(2)
    rows = 900
    start = np.datetime64("2020-01-01T00:00:00", "s")
    found = kind_of(
        {"InvoiceNo": [f"r{n // 3}" for n in range(rows)],
         "CustomerID": np.sort(random.integers(10_000, 10_060, rows)),
         "InvoiceDate": start + random.integers(0, 10**7, rows).astype("timedelta64[s]"),
         "StockCode": draw([f"c{n}" for n in range(50)], rows)}
    )  # fmt: skip
    assert found.kind == "histories"
    assert (found.user, found.time, found.item, found.event) == (
        "CustomerID", "InvoiceDate", "StockCode", "InvoiceNo",
    )  # fmt: skip
    assert found.doubts == ()


def test_what_happened_is_a_doubt_where_no_name_says_so() -> None:
    random = np.random.default_rng(2)
    rows = 600
    found = kind_of(
        {"user id": np.sort(random.integers(10_000, 10_040, rows)),
         "timestamp": np.datetime64("2020-01-01T00:00:00", "s")
         + random.integers(0, 10**7, rows).astype("timedelta64[s]"),
         "zz": draw([f"c{n}" for n in range(20)], rows)}
    )  # fmt: skip
    assert (found.kind, found.item) == ("histories", "zz")
    assert "no name says so" in found.doubts[0]


def test_people_with_several_records_and_no_moment_are_said_and_not_guessed() -> None:
    found = kind_of(
        {"patient id": np.sort(np.random.default_rng(1).integers(10_000, 10_050, 500)),
         "ward": draw(REGIONS, 500)}
    )  # fmt: skip
    assert (found.kind, found.user) == ("records", "patient id")
    assert "no attribute says when" in found.doubts[0]


CELLS: dict[str, list[Any]] = {
    "region": ["N", "N", "S", "S"],
    "sex": ["f", "m", "f", "m"],
    "count": [3, 9, 8, 2],
}
WITH_TOTALS: dict[str, list[Any]] = {
    "region": ["N", "N", "N", "S", "S", "S", "Total", "Total", "Total"],
    "sex": ["f", "m", "Total"] * 3,
    "people": [3, 9, 12, 8, 2, 10, 11, 11, 22],
    "turnover": [30.5, 9, 39.5, 8, 2, 10, 38.5, 11, 49.5],
}


def test_cells_with_and_without_totals_are_a_table() -> None:
    plain = kind_of(CELLS)
    assert plain.kind == "totals"
    assert plain.table is not None
    assert (plain.table.by, plain.table.value, plain.doubts) == (("region", "sex"), "count", ())
    totals = kind_of(WITH_TOTALS)
    assert totals.table is not None
    assert (totals.table.totals, totals.table.value) == (("Total", "Total"), "people")
    assert '"turnover" are not looked at' in totals.doubts[0]


@pytest.mark.parametrize("place", [2, 5, 6, 8])
def test_rows_called_total_that_are_no_sums_make_no_table(place: int) -> None:
    columns = {name: list(WITH_TOTALS[name]) for name in ("region", "sex", "people")}
    assert kind_of(columns).kind == "totals"
    columns["people"][place] += 1
    assert kind_of(columns).kind != "totals"


def test_a_balanced_panel_is_no_table_of_totals() -> None:
    firms, years = np.repeat(np.arange(12), 5), [2001, 2002, 2003, 2004, 2005] * 12
    columns = {"firm": firms, "year": years, "value": draw(list(range(900)), 60)}
    assert kind_of(columns).kind == "panel"
    assert kind_of({**columns, "capital": draw(list(range(900)), 60, 5)}).kind == "panel"


def test_a_crosstab_with_its_margins_is_recognised() -> None:
    table = {"area": ["N", "S", "Total"], "f": [1, 2, 3], "m": [4, 4, 8], "all": [5, 6, 11]}
    assert kind_of(table).kind == "crosstab"
    assert kind_of({**table, "all": [5, 6, 12]}).kind != "crosstab"


def test_a_list_of_parties_says_who_is_who_and_raises_a_question() -> None:
    rows = 60
    found = kind_of(
        {"company id": [f"c{n:04d}" for n in range(rows)], "full name": [f"Firm {n}" for n in range(rows)],
         "town": draw(REGIONS, rows)}
    )  # fmt: skip
    assert found.kind == "parties"
    assert "register" in found.doubts[0]


def test_many_columns_of_records_are_soon_known_to_be_no_table() -> None:
    columns = {f"q{n}_zz": draw([1, 2, 3], 60, n) for n in range(900)}
    assert kind_of(columns).kind == "records"


def test_generated_censuses_are_records() -> None:
    census = dv.datasets.school_census(2_000)
    assert propose_kind(census, categorise(census, SHIPPED)).kind == "records"


def files(**columns: Mapping[str, Any]) -> dict[str, tuple[Dataset, Any]]:
    datasets = {name: Dataset.from_arrow(pa.table(dict(of))) for name, of in columns.items()}
    return {name: (dataset, categorise(dataset, SHIPPED)) for name, dataset in datasets.items()}


def test_a_file_a_year_of_the_same_people_is_found_in_the_order_of_years() -> None:
    years = {
        f"census_{year}": {
            "person id": list(range(start, start + 100)),
            "age": draw(list(range(90)), 100),
        }
        for year, start in ((2010, 40), (2008, 0), (2009, 20))
    }
    [relation] = find_file_relations(files(**years))
    assert (relation.kind, relation.on) == ("years", "person id")
    assert relation.names == ("census_2008", "census_2009", "census_2010")


def test_numbers_given_out_anew_in_each_file_link_nothing() -> None:
    years = {
        f"census_{year}": {"person id": list(range(start, start + 100)), "age": [30, 40] * 50}
        for year, start in ((2010, 0), (2011, 95))
    }
    assert find_file_relations(files(**years)) == []


def test_the_same_people_from_another_side_are_joint() -> None:
    people = {"person id": list(range(100)), "age": draw(list(range(90)), 100)}
    visits = {
        "person id": list(range(30, 130)), "diagnosis": draw(["flu", "cold"], 100),
    }  # fmt: skip
    [relation] = find_file_relations(files(people=people, visits=visits))
    assert (relation.kind, relation.names) == ("joint", ("people", "visits"))
