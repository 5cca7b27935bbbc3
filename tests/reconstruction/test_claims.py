"""What an audit of tables claims: exact only what more time, or both tables at once, cannot change."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import STATE_OF, dataset

from divulge.reconstruction import Prior, Totals, reconstruct
from divulge.reconstruction.remedies.deniability import find_deniable_records


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


def test_totals_that_lack_all_records_of_a_key_settle_it() -> None:
    """A total of 0 lacks the 5; nobody knows where it is, and that is all there is to know."""
    records = dataset("records", product=["x", "y"], value=[5, 7])
    table = exactly("table", "product", "city", product=["x", "y"], city=list("ab"), value=[0, 7])
    parties = dataset("parties", city=list("ab"))
    found = reconstruct(
        records, [table], parties, units={"value": "1"}, rule_is_known=True, workers=1
    )
    assert [one.status for one in found.solved] == ["closed", "closed"]
    assert found.assessment.claim == "exact"
    assert found.likely_excluded().tolist() == [True, False]
    assert found.phases[-1].guess_chance.tolist() == [0.5, 1.0]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_whoever_adds_up_all_tables_at_once_finds_what_is_claimed(seed: int) -> None:
    """Plainly: every allocation of all records that meets the three tables."""
    random = np.random.default_rng(seed)
    count, largest = int(random.integers(2, 7)), int(random.choice([1, 2, 9]))
    values = random.integers(1, largest + 1, count)
    kinds, products, colours = (
        [str(key) for key in random.choice(list(keys), count)] for keys in ("xy", "pqr", "rg")
    )
    truth = random.choice(list(STATE_OF)[: random.integers(2, 5)], count).tolist()

    def added_up(keys: list[str], places: list[str]) -> dict[tuple[str, str], int]:
        rows: dict[tuple[str, str], int] = {}
        for key, place, value in zip(keys, places, values.tolist(), strict=True):
            rows[key, place] = rows.get((key, place), 0) + value
        return dict(sorted(rows.items()))

    def all_totals(cities: Any) -> list[dict[tuple[str, str], int]]:
        states = [STATE_OF[city] for city in cities]
        by_city, by_state = added_up(kinds, list(cities)), added_up(products, states)
        return [by_city, by_state, added_up(colours, states)][:tables]

    tables = int(random.integers(2, 4))
    published = all_totals(truth)
    totals = []
    for name, key, rows in zip(
        ("fine", "coarse", "third"), ("kind", "product", "colour"), published, strict=False
    ):
        place = "city" if name == "fine" else "state"
        columns: dict[str, list[Any]] = {
            key: [k for k, _ in rows],
            place: [p for _, p in rows],
            "value": list(rows.values()),
        }
        if name == "fine":
            columns["state"] = [STATE_OF[city] for city in columns["city"]]
        places: Any = ["city", "state"] if name == "fine" else "state"
        totals.append(exactly(name, key, places, **columns))
    found = reconstruct(
        dataset("records", kind=kinds, product=products, colour=colours, value=values.tolist()),
        totals,
        dataset("parties", city=list(STATE_OF)),
        units={"value": "1"},
        premise="complete",
        rule_is_known=True,
        workers=1,
    )
    worlds = [
        cities
        for cities in itertools.product(sorted({*truth}), repeat=count)
        if all_totals(cities) == published
    ]
    left = [{world[record] for world in worlds} for record in range(count)]
    share = [max(np.unique([w[r] for w in worlds], return_counts=True)[1]) for r in range(count)]
    several = np.array([len(some) > 1 for some in left])
    last, most = found.phases[-1], found.at_most
    assert not (last.certain & several).any()
    assert not (~several & ~most.may_be_known).any()
    assert find_deniable_records(found, seconds=60).two_places.tolist() == several.tolist()
    if found.assessment.claim == "exact":
        assert last.certain.tolist() == (~several).tolist()
        np.testing.assert_allclose(last.guess_chance, np.array(share) / len(worlds))
