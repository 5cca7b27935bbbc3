"""What would help is tried on tables of any keys and places, and said as it is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reconstruction.strategies import dataset

from divulge.reconstruction import Generalised, Totals, what_would_help

RECORDS = dataset(
    "records",
    product=["1001", "1001", "1002", "1102"],
    country=["AA", "AB", "AA", "AB"],
    value=[5.0, 6.0, 7.0, 8.0],
)
PARTIES = dataset("parties", city=["a", "b"], company=["one", "two"])


def by_product(**more: list[str]) -> Totals:
    columns = {"product": ["1001", "1001", "1002", "1102"], **more, "city": list("abab")}
    by: dict[str, str | Generalised] = {"product": "product"}
    if more:
        by["chapter"] = Generalised("product", prefix=2)
    return Totals(dataset("by product", **columns, value=[5, 6, 7, 8]), by, "city", ["value"])


def by_country() -> Totals:
    columns: dict[str, list[Any]] = {"country": ["AA", "AA", "AB", "AB"], "city": list("abab")}
    columns["value"] = [12, 0, 0, 14]
    return Totals(dataset("by country", **columns), {"country": "country"}, "city", ["value"])


def tried(kind: str, *totals: Totals, records: Any = RECORDS, parties: Any = PARTIES) -> Any:
    found = what_would_help(
        records, totals, parties, remedies=[kind], units={"value": "1"}, workers=1, seconds=1.0
    )
    return [one for one in found if one.kind == kind]


def test_every_table_keeps_a_key_however_coarse() -> None:
    strengths = [one.strength for one in tried("coarser_totals", by_product(), by_country())]
    assert "product:1; country" in strengths
    assert strengths[-1].endswith("country:1")


def test_all_columns_of_an_attribute_become_coarser() -> None:
    table = by_product(chapter=["10", "10", "10", "11"])
    strengths = [one.strength for one in tried("coarser_totals", table)]
    assert strengths[-1] == "product:1, product:1"


def test_of_two_tables_of_the_same_places_each_is_left_out() -> None:
    left_out = [one.strength for one in tried("dropped_table", by_product(), by_country())]
    assert sorted(left_out) == ["by country", "by product"]


@pytest.mark.parametrize("turned", [False, True])
def test_the_cheapest_table_to_leave_out_is_the_cheapest_in_any_order(turned: bool) -> None:
    records = dataset(
        "records", product=list("1122"), country=list("ABAB"), value=[5.0, 5.0, 7.0, 7.0]
    )
    fine = dataset(
        "by city",
        product=list("1122"),
        city=list("acbd"),
        state=list("STST"),
        value=[5, 5, 7, 7],
    )
    coarse = dataset("by state", country=list("AB"), state=list("ST"), value=[12, 12])
    totals = [
        Totals(fine, {"product": "product"}, ["city", "state"], ["value"]),
        Totals(coarse, {"country": "country"}, "state", ["value"]),
    ]
    found = what_would_help(
        records,
        totals[::-1] if turned else totals,
        dataset("parties", city=list("abcd"), state=list("SSTT")),
        remedies=["dropped_table"],
        units={"value": "1"},
        premise="complete",
        workers=1,
        seconds=1.0,
    )
    assert found.enough[0].strength == "by state"
    assert [one.strength for one in found if one.enough] == ["by state", "by city"]


def test_rounding_that_hides_whether_a_record_is_counted_is_tried() -> None:
    """To tens, 30 alone at its place stays certain; to hundreds it may not be counted at all."""
    records = dataset("records", product=["1", "1", "2"], value=[5.0, 7.0, 30.0])
    table = dataset("table", product=["1", "1", "2"], city=list("abc"), value=[5, 7, 30])
    totals = Totals(table, {"product": "product"}, "city", ["value"])
    parties = dataset("parties", city=list("abc"))
    found = tried("rounding", totals, records=records, parties=parties)
    assert [one.certain for one in found][:2] == [1, 0]


def test_one_place_is_said_as_one() -> None:
    records = dataset("records", product=["1", "2", "2"], value=[5.0, 7.0, 7.0])
    table = dataset("table", product=["1", "2", "2"], city=list("abc"), value=[5, 7, 7])
    totals = Totals(table, {"product": "product"}, "city", ["value"])
    found = what_would_help(
        records,
        [totals],
        dataset("parties", city=list("abc")),
        remedies=["rounding"],
        units={"value": "1"},
        premise="complete",
        workers=1,
        seconds=1.0,
    )
    assert (
        "As it is, the place of 1 of 3 records is certain, and the party behind 1."
        in found.explain()
    )
