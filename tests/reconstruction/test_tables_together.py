"""Several tables of one release: places that one lacks, the same places, codes suppressed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import MADE_BY, dataset, total_by

from divulge import InvalidInput
from divulge.reconstruction import Generalised, Reconstruction, Totals, allocate, reconstruct
from divulge.reconstruction.auditing.totals import match_records
from divulge.reconstruction.problem.rounding import interpret_totals

HEADING: dict[str, str | Generalised] = {"heading": Generalised("product", prefix=1)}
PRODUCT: dict[str, str | Generalised] = {"product": "product"}


def audit(records: Any, totals: list[Totals], unit: str = "1", **more: Any) -> Reconstruction:
    parties = dataset("parties", city=["a", "b"])
    given_ = {"workers": 1, "seconds": 1, "rule_is_known": True, **more}
    return reconstruct(records, totals, parties, units={"value": unit}, **given_)


def places(found: Reconstruction) -> list[str | None]:
    last, names = found.phases[-1], found.levels[0].totals_match.names
    return [names[p] if c else None for p, c in zip(last.place, last.certain, strict=True)]


def test_a_coarser_place_that_the_coarser_table_lacks_excludes_nothing() -> None:
    """City a lies in a state that is written otherwise: it must not be taken from anybody."""
    records = dataset("records", product=["11", "12"], value=[5.0, 5.0])
    by_city = dataset(
        "by city", heading=["1", "1"], city=["a", "b"], state=["Est", "east"], value=[5, 5]
    )
    by_state = dataset("by state", product=["11"], state=["east"], value=[5])
    totals = [
        Totals(by_city, HEADING, ["city", "state"], ["value"]),
        Totals(by_state, PRODUCT, "state", ["value"]),
    ]
    found = audit(records, totals)
    assert found.found_in_data.unknown_places == {"by state": 1}
    assert places(found) == [None, None]


def test_who_may_be_in_an_unknown_place_may_be_in_all_coarser_ones() -> None:
    records = dataset("records", product=["11", "11"], value=[5.0, 6.0])
    by_city = dataset(
        "by city", heading=["1", "1"], city=["a", "b"], state=["Est", "west"], value=[5, 6]
    )
    by_state = dataset("by state", product=["11", "11"], state=["east", "west"], value=[5, 6])
    totals = [
        Totals(by_city, HEADING, ["city", "state"], ["value"]),
        Totals(by_state, PRODUCT, "state", ["value"]),
    ]
    found = audit(records, totals)
    assert places(found) == ["a", "b"]
    assert found.levels[1].possible[0].tolist() == [[True, False], [False, True]]


def test_two_tables_of_the_same_places_limit_each_other() -> None:
    """By product both could be in either city; by country each is alone."""
    records = dataset("records", product=["1", "1"], country=["x", "y"], value=[5.0, 5.0])
    by_product = dataset("by product", product=["1", "1"], city=["a", "b"], value=[5, 5])
    by_country = dataset("by country", country=["x", "y"], city=["a", "b"], value=[5, 5])
    one = Totals(by_product, PRODUCT, "city", ["value"])
    other = Totals(by_country, {"country": "country"}, "city", ["value"])
    assert places(audit(records, [one])) == [None, None]
    assert places(audit(records, [one, other])) == ["a", "b"]
    assert places(audit(records, [other, one])) == ["a", "b"]


@pytest.mark.parametrize("order", [1, -1])
def test_codes_suppressed_in_records_loosen_another_table_of_the_same_places(order: int) -> None:
    """Of code 19 there are 3 in city a, which the totals of heading 1 hold as well."""
    records = dataset("records", product=["11", "11"], value=[5.0, 6.0])
    by_heading = dataset("by heading", heading=["1", "1"], city=["a", "b"], value=[8, 6])
    by_product = dataset(
        "by product", product=["11", "11", "19"], city=["a", "b", "a"], value=[5, 6, 3]
    )
    totals = [
        Totals(by_heading, HEADING, "city", ["value"]),
        Totals(by_product, PRODUCT, "city", ["value"]),
    ]
    found = audit(records, totals[::order], premise="complete")
    loosened = found.levels[0 if order == 1 else 1]
    assert loosened.slack.tolist() == [[3], [0]]
    assert not any(level.is_unsound(0) for level in found.levels)
    assert places(found) == ["a", "b"]


def test_codes_suppressed_in_a_finer_place_loosen_the_totals_of_a_coarser_one() -> None:
    records = dataset("records", product=["11", "12"], value=[5.0, 6.0])
    by_city = dataset(
        "by city",
        product=["11", "12", "19"],
        city=["a", "b", "a"],
        state=["east", "west", "east"],
        value=[5, 6, 3],
    )
    by_state = dataset("by state", heading=["1", "1"], state=["east", "west"], value=[8, 6])
    totals = [
        Totals(by_city, PRODUCT, ["city", "state"], ["value"]),
        Totals(by_state, HEADING, "state", ["value"]),
    ]
    found = audit(records, totals, premise="complete")
    assert found.levels[1].slack.tolist() == [[3], [0]]
    assert not found.levels[1].is_unsound(0)


def test_what_other_tables_leave_is_held_against_the_totals_too() -> None:
    """By country each is in one city; but there they do not make the totals of the product."""
    records = dataset("records", product=["1"] * 3, country=["x", "y", "z"], value=[5.0, 6.0, 11.0])
    by_product = dataset("by product", product=["1", "1"], city=["a", "b"], value=[11, 11])
    by_country = dataset(
        "by country", country=["x", "y", "z"], city=["a", "b", "a"], value=[5, 6, 11]
    )
    totals = [
        Totals(by_product, PRODUCT, "city", ["value"]),
        Totals(by_country, {"country": "country"}, "city", ["value"]),
    ]
    found = audit(records, totals, premise="complete")
    assert found.levels[0].contradictions == {0}
    assert places(found) == [None, None, None]


def test_codes_suppressed_where_each_amount_is_cut_may_add_anything() -> None:
    """3.99 of a suppressed code counts as 3 by state, and whole in the sum of its city."""
    records = dataset("records", product=["h1"] * 4, value=[0.56, 0.58, 0.90, 0.27])
    by_city = dataset(
        "by city", heading=["h", "h"], city=["a", "b"], state=["S", "Q"], value=[5, 1]
    )
    by_state = dataset(
        "by state", product=["h1", "h1", "h9"], state=["S", "Q", "S"], value=[0, 0, 3]
    )
    totals = [
        Totals(by_city, HEADING, ["city", "state"], ["value"], "sum_then_round"),
        Totals(by_state, PRODUCT, "state", ["value"], "round_then_sum_down"),
    ]
    assert places(audit(records, totals, "0.01"))[3] is None


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 300), st.integers(0, 1)), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(1, 300), st.integers(0, 1)), min_size=1, max_size=3),
    st.sampled_from(MADE_BY),
    st.sampled_from(MADE_BY),
    st.booleans(),
)
def test_nothing_certain_is_wrong_where_codes_are_suppressed_and_tables_round_differently(
    seen: list[tuple[int, int]], hidden: list[tuple[int, int]], fine: str, coarse: str, known: bool
) -> None:
    def row(rule: str, product: str, place: int) -> int:
        some = {"h1": seen, "h9": hidden, "h": seen + hidden}[product]
        return int(total_by(rule, [Decimal(c) / 100 for c, p in some if p == place]))

    cities = sorted({place for _, place in seen + hidden})
    by_state = [(product, place) for product, some in (("h1", seen), ("h9", hidden))
                for place in sorted({p for _, p in some})]  # fmt: skip
    finer = dataset(
        "by city",
        heading=["h"] * len(cities),
        city=["ab"[place] for place in cities],
        state=["ST"[place] for place in cities],
        value=[row(fine, "h", place) for place in cities],
    )
    coarser = dataset(
        "by state",
        product=[product for product, _ in by_state],
        state=["ST"[place] for _, place in by_state],
        value=[row(coarse, product, place) for product, place in by_state],
    )
    records = dataset("records", product=["h1"] * len(seen), value=[c / 100 for c, _ in seen])
    totals = [
        Totals(finer, HEADING, ["city", "state"], ["value"], fine),
        Totals(coarser, PRODUCT, "state", ["value"], coarse),
    ]
    found = audit(records, totals, "0.01", premise="complete", rule_is_known=known or None)
    truth = ["ab"[place] for _, place in seen]
    for place, true in zip(places(found), truth, strict=True):
        assert place in (None, true)
    level = found.levels[0]
    for group, possible in zip(level.totals_match.groups, level.possible, strict=True):
        of_bin = [level.totals_match.names[p] for p in level.totals_match.place[group.rows]]
        for record, row_of in zip(group.records, possible, strict=True):
            assert row_of[of_bin.index(truth[record])]


@pytest.mark.parametrize("kind", [{"tolerance": "0.5"}, {"rounding": "diagnose"}])
def test_totals_with_decimals_need_no_step_where_no_rule_says_one(kind: dict[str, str]) -> None:
    records = dataset("records", product=["1", "1"], value=[5.25, 6.0])
    table = dataset("totals", product=["1", "1"], city=["a", "b"], value=[5.25, 6.0])
    found = audit(records, [Totals(table, PRODUCT, "city", ["value"], **kind)], "0.01")
    assert places(found) == ["a", "b"]


def test_totals_that_are_no_multiples_of_their_step_are_refused_as_such() -> None:
    records = dataset("records", product=["1", "1"], value=[5.25, 6.0])
    table = dataset("totals", product=["1", "1"], city=["a", "b"], value=[5.25, 6.0])
    with pytest.raises(InvalidInput, match="no whole number of steps of 1"):
        audit(records, [Totals(table, PRODUCT, "city", ["value"])], "0.01")


def test_amounts_are_rounded_one_by_one_as_plain_decimals_are() -> None:
    random = np.random.default_rng(5)
    cents = random.integers(0, 400, 300) * 5
    for kind in ("", "_half_even", "_down"):
        rule: Any = f"round_then_sum{kind}"
        read = interpret_totals(rule, cents, [Decimal(1)], unit=Decimal("0.01"), step=Decimal(1))
        plain = [int(total_by(rule, [Decimal(int(c)) / 100])) * 100 for c in cents]
        assert read.amounts.tolist() == plain


def test_records_of_many_long_keys_are_not_mixed_up() -> None:
    """Five columns of 65,535 values: as one number, a key would lose its first column."""
    size = 65_535
    codes = [f"{n:05}" for n in range(size)]
    names = [f"k{n}" for n in range(5)]
    rows: Any = dict.fromkeys(names, codes)
    table = dataset("totals", **rows, city=["a"] * size, value=[1] * size)
    first = {"k0": ["00003"], **{name: ["00007"] for name in names[1:]}}
    records = dataset("records", **first, value=[1.0])
    totals = Totals(table, {name: name for name in names}, "city", ["value"])
    assert match_records(totals, records).records_without_totals == 1


def test_amounts_whose_sum_outgrows_integers_are_refused() -> None:
    many = 5_000
    records = dataset("records", product=["1"] * many, value=[4e15 / 10] * many)
    table = dataset("totals", product=["1"], city=["a"], value=[1])
    with pytest.raises(InvalidInput, match='all "value" together are too large'):
        audit(records, [Totals(table, PRODUCT, "city", ["value"])], "0.1")


def with_hidden_elsewhere(kind: str) -> list[Totals]:
    """Of code 19 there are 2 in city b, told by a table that says only where in a coarser way."""
    by_product = dataset(
        "by product", product=["12", "11", "19"], state=["east"] * 3, value=[9, 8, 2]
    )
    hidden = Totals(by_product, PRODUCT, "state", ["value"])
    cities: Any = {"city": ["a", "b"], "value": [7, 11]}
    one = ["1", "1"]
    if kind == "spelling":
        table = dataset("by heading", heading=one, state=["Est", "Est"], **cities)
        return [Totals(table, HEADING, ["city", "state"], ["value"], noise="2"), hidden]
    if kind == "keys":
        table = dataset("by origin", origin=["x", "x"], state=["east"] * 2, **cities)
        key: Any = {"origin": "origin"}
        return [Totals(table, key, ["city", "state"], ["value"], noise="2"), hidden]
    loose = dataset("loose", heading=one, city=["a", "b"], state=["east"] * 2, value=[9, 10])
    table = dataset("by heading", heading=one, **cities)
    finest = Totals(loose, HEADING, ["city", "state"], ["value"], noise="20")
    return [finest, Totals(table, HEADING, "city", ["value"], noise="2"), hidden]


@pytest.mark.parametrize("kind", ["spelling", "keys", "places"])
def test_where_keys_or_places_cannot_be_compared_hidden_records_may_be_anywhere(kind: str) -> None:
    """9 is in a and 8 in b; without the 2 that are hidden it would be the other way round."""
    records = dataset("records", product=["12", "11"], origin=["x", "x"], value=[9, 8])
    found = audit(records, with_hidden_elsewhere(kind), premise="complete")
    for place, true in zip(places(found), ["a", "b"], strict=True):
        assert place in (None, true)


def test_totals_changed_after_rounding_do_not_tell_what_was_even() -> None:
    records = dataset("records", product=["1", "1"], value=[2.5, 1.5])
    table = dataset("totals", product=["1", "1"], city=["a", "b"], value=[1, 3])
    rule = "sum_then_round_half_even"
    totals = [Totals(table, PRODUCT, "city", ["value"], rule, noise="1")]
    assert places(audit(records, totals, "0.5", premise="complete")) == [None, None]


@pytest.mark.parametrize("rule", ["sum_then_round", "unknown_hard"])
def test_a_step_that_is_no_multiple_of_the_unit_misleads_nobody(rule: str) -> None:
    records = dataset("records", product=["1"] * 3, value=[1.5, 1.8, 3.3])
    table = dataset("totals", product=["1", "1"], city=["a", "b"], value=[2, 5])
    found = audit(records, [Totals(table, PRODUCT, "city", ["value"], rule)], "0.3")
    for place, true in zip(places(found), ["a", "b", "b"], strict=True):
        assert place in (None, true)
    packages = {"p": "1.5", "q": "1.8", "r": "3.3"}
    alone = allocate(packages, {"a": 2, "b": 5}, "0.3", rounding=rule, rule_is_known=True)
    assert {"p": "a", "q": "b", "r": "b"}.items() <= {
        (name, place) for name, bins in alone.possible.items() for place in bins
    }


def test_what_is_hidden_in_a_key_speaks_for_no_rule() -> None:
    """Totals were cut, and 0.50 is hidden in each of many keys: then half up fits them as well."""
    random = np.random.default_rng(1)
    seen = [(f"{k + 10}1", int(random.integers(1, 40)) * 25, "a") for k in range(60) for _ in "abc"]
    seen += [("ZZ1", 100, "a"), ("ZZ1", 45, "a"), ("ZZ1", 10, "a"), ("ZZ1", 230, "b")]
    every = [*seen, *((f"{k + 10}9", 50, "a") for k in range(60))]

    def published(length: int) -> dict[tuple[str, str], int]:
        sums: dict[tuple[str, str], int] = {}
        for product, cents, city in every:
            key = product[:length], city
            sums[key] = sums.get(key, 0) + cents
        return {key: cents // 100 for key, cents in sums.items()}

    tables = []
    for name, length in (("heading", 2), ("product", 3)):
        rows = published(length)
        keys: Any = {name: [key for key, _ in rows], "city": [city for _, city in rows]}
        by: Any = {name: Generalised("product", prefix=length if length == 2 else None)}
        table = dataset(f"by {name}", **keys, value=list(rows.values()))
        tables.append(Totals(table, by, "city", ["value"]))
    records = dataset(
        "records", product=[p for p, _, _ in seen], value=[cents / 100 for _, cents, _ in seen]
    )
    found = audit(records, tables, "0.01", premise="complete", rule_is_known=None)
    assert not any(level.rule_is_known for level in found.levels)
    for place, (_, _, true) in zip(places(found), seen, strict=True):
        assert place in (None, true)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"step": "abc"}, 'step: "abc" is not a number'),
        ({"step": "0", "rounding": "diagnose"}, 'step: "0" must be above 0'),
        ({"step": "-1"}, "must be above 0"),
        ({"step": "1e30"}, "must be at most 1E[+]12"),
        ({"step": "1e-30"}, "must be at least 1E-12"),
        ({"tolerance": "nan"}, 'tolerance: "nan" is missing or not finite'),
        ({"tolerance": "1e30"}, "must be at most"),
        ({"noise": "1e30"}, "must be a number from 0 to 1E[+]12, or a column"),
    ],
)
def test_distances_that_are_none_are_refused(how: dict[str, str], why: str) -> None:
    records = dataset("records", product=["1", "1"], value=[5.0, 6.0])
    table = dataset("totals", product=["1", "1"], city=["a", "b"], value=[5, 6])
    with pytest.raises(InvalidInput, match=why):
        audit(records, [Totals(table, PRODUCT, "city", ["value"], **how)])


def test_a_total_without_end_may_have_a_tolerance() -> None:
    records = dataset("records", product=["1", "1"], value=[5.3, 6.0])
    table = dataset("totals", product=["1", "1"], city=["a", "b"], value=[16 / 3, 6.0])
    totals = [Totals(table, PRODUCT, "city", ["value"], tolerance="0.05")]
    assert places(audit(records, totals, "0.1")) == ["a", "b"]


@pytest.mark.parametrize("what", ["tolerance", "noise"])
def test_distances_beyond_all_sums_of_units_are_refused(what: str) -> None:
    records = dataset("records", product=["1", "1"], value=[5.0, 6.0])
    table = dataset("totals", product=["1", "1"], city=["a", "b"], value=[5, 6])
    how: dict[str, Any] = {what: "1e12"}
    totals = [Totals(table, PRODUCT, "city", ["value"], **how)]
    with pytest.raises(InvalidInput, match=f'{what}: is too large for units of 1E-9 of "value"'):
        audit(records, totals, "0.000000001")
