"""What an audit of tables claims: exact only what more time, or both tables at once, cannot change."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reconstruction.strategies import dataset

from divulge.reconstruction import Prior, Totals, reconstruct


def exactly(name: str, by: str, place: Any, **columns: list[Any]) -> Totals:
    """A table of exact totals of "value" by one attribute."""
    return Totals(dataset(name, **columns), {by: by}, place, ["value"], "exact")


@pytest.mark.parametrize("in_all", [None, 600.0])
def test_news_goes_from_table_to_table_as_far_as_it_goes(in_all: float | None) -> None:
    """Forty records in a row: each tells the next, and the first is alone in its coarser place."""
    count = 40
    kinds, products = ([f"{(n + shift) // 2:02}" for n in range(count)] for shift in (0, 1))
    records = dataset("records", kind=kinds, product=products, value=[1.0] * count)
    each = sorted({*kinds})
    fine = exactly(
        "fine",
        "kind",
        ["city", "state"],
        kind=[kind for kind in each for _ in "ac"],
        city=["a", "c"] * len(each),
        state=["E", "W"] * len(each),
        value=[1] * 2 * len(each),
    )
    rows = {(product, "EW"[n % 2]) for n, product in enumerate(products[:-1])}
    coarse = exactly(
        "coarse",
        "product",
        "state",
        product=[product for product, _ in sorted(rows)],
        state=[state for _, state in sorted(rows)],
        value=[1] * len(rows),
    )
    found = reconstruct(
        records,
        [fine, coarse],
        dataset("parties", city=["a", "c"]),
        units={"value": "1"},
        premise="complete",
        in_all=in_all,
        workers=1,
    )
    assert found.assessment.claim == "exact"
    assert found.phases[-1].certain.all()


@pytest.mark.parametrize("premise", ["complete", "any"])
def test_who_adds_up_two_tables_at_once_may_know_more_than_their_places_tell(premise: Any) -> None:
    """The first two are together by one table, and alone apart by the other: in the west."""
    records = dataset("records", kind=list("xxxyy"), product=list("ppqpr"), value=[1, 1, 2, 1, 1])
    fine = exactly(
        "fine",
        "kind",
        ["city", "state"],
        kind=list("xxyy"),
        city=list("acac"),
        state=list("EWEW"),
        value=[2, 2, 1, 1],
    )
    coarse = exactly(
        "coarse", "product", "state", product=list("pp"), state=list("EW"), value=[1, 2]
    )
    found = reconstruct(
        records,
        [fine, coarse],
        dataset("parties", city=["a", "c"]),
        units={"value": "1"},
        premise=premise,
        workers=1,
    )
    assert not found.phases[-1].certain.any()
    assert found.assessment.claim == "bound"
    assert found.assessment.most is not None
    assert found.assessment.most.certain == 5
    alone = reconstruct(
        records,
        [fine],
        dataset("parties", city=["a", "c"]),
        units={"value": "1"},
        premise=premise,
        workers=1,
    )
    assert alone.assessment.claim == "exact"


def test_a_record_that_cannot_be_used_tells_nothing_of_others_by_another_table() -> None:
    """The first may be 7, and the second left out of the finer table; then the others change."""
    records = dataset("records", kind=list("xxyy"), product=list("oppq"), value=[None, 5, 5, 5])
    fine = exactly(
        "fine",
        "kind",
        ["city", "state"],
        kind=list("xyy"),
        city=list("aac"),
        state=list("EEW"),
        value=[7, 5, 5],
    )
    coarse = exactly(
        "coarse", "product", "state", product=list("pp"), state=list("EW"), value=[5, 5]
    )
    found = reconstruct(
        records,
        [fine, coarse],
        dataset("parties", city=["a", "c"]),
        units={"value": "1"},
        bad="drop",
        workers=1,
    )
    assert not any(phase.certain.any() for phase in found.phases)


def test_places_where_nobody_is_listed_count_before_as_they_do_after() -> None:
    records = dataset("records", product=["x"] * 3, value=[5, 5, 5])
    table = exactly(
        "table", "product", "city", product=["x"] * 3, city=list("abc"), value=[5, 5, 5]
    )
    found = reconstruct(
        records, [table], dataset("parties", city=["a"]), units={"value": "1"}, workers=1
    )
    right = found.assessment.right
    assert (right.prior, right.posterior) == pytest.approx((1, 1))


def test_who_is_named_is_found_by_the_parties_own_column_of_places() -> None:
    records = dataset("records", product=["x", "x"], value=[5, 7])
    table = exactly("table", "product", "city", product=["x", "x"], city=list("ab"), value=[5, 7])
    parties = dataset("parties", town=["a", "b"], company=["one", "two"])
    found = reconstruct(records, [table], parties, units={"value": "1"}, place="town", workers=1)
    assert found.identities(parties, "company") == {0: "one", 1: "two"}


@pytest.mark.parametrize("weighed", [False, True])
def test_a_record_that_fits_nowhere_is_likely_left_out_counted_or_not(weighed: bool) -> None:
    records = dataset("records", product=["x"] * 3, value=[50, 3, 4])
    table = exactly("table", "product", "city", product=["x", "x"], city=list("ab"), value=[3, 9])
    parties = dataset("parties", city=["a", "b", "b"], sector=["s", "t", "t"])
    prior = Prior("sector", "product", {("s", "x"): 2.0}) if weighed else None
    units: dict[str, Any] = {"value": "1"}
    found = reconstruct(
        records, [table], parties, units=units, premise="both", prior=prior, workers=1
    )
    assert found.likely_excluded().tolist() == [True, False, False]
