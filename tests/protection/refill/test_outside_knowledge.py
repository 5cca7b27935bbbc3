"""What somebody knows from elsewhere is taken for known where the truth bears it out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge import protection
from divulge.data import Hierarchy
from divulge.protection.changes.changes import hide_cells, replace_values

ROWS = 600
TOWNS = Hierarchy.from_pairs(
    [(f"t{number}", "north" if number < 4 else "south") for number in range(8)]
)

INCOMES = np.random.default_rng(2).integers(10_000, 99_999, 36).tolist()


def make_people(seed: int = 5) -> dv.Dataset:
    random = np.random.default_rng(seed)
    age = random.integers(1, 95, ROWS)
    town = random.integers(0, 8, ROWS)
    parts = random.integers(0, 50, (3, ROWS))
    table = pa.table(
        {
            "age": age,
            "born": 2020 - age,
            "town": [f"t{number}" for number in town],
            "code": town + 11,
            "stratum": town % 4,  # means a town only within its half of the country
            "total": parts.sum(axis=0),
            "wage": parts[0],
            "rent": parts[1],
            "pension": parts[2],
            "noise": random.integers(0, 8, ROWS),
        }
    )
    return dv.Dataset.from_arrow(
        table, roles={"quasi_identifier": ["age", "town", "total"]}, hierarchies={"town": TOWNS}
    )


def recode_town(people: dv.Dataset, rows: np.ndarray) -> dv.Dataset:
    values = people.to_arrow()["town"].to_pylist()
    coarser = [TOWNS.at(values[row], 1) for row in rows.tolist()]
    column = replace_values(people.columns["town"], rows, coarser)
    return replace(people, columns={**people.columns, "town": column})


@pytest.mark.parametrize(
    ("name", "teller"),
    [("age", ["born"]), ("town", ["code"]), ("total", ["wage", "rent", "pension"])],
)
def test_a_column_that_is_hidden_as_a_whole_leaves_no_evidence_but_is_known(
    name: str, teller: list[str]
) -> None:
    people = make_people()
    hidden = hide_cells(people, {name: np.arange(ROWS)})
    r = protection.refill(hidden, people, columns=[*teller, "noise", name])
    figures = r.by_attribute()[name]
    assert (figures.hidden, figures.claimed, figures.verified) == (ROWS, 0, ROWS)
    truth = people.to_arrow()[name].to_pylist()
    assert r.refilled_rightly.to_arrow()[name].to_pylist() == truth
    assert ", ".join(teller[:1]) in str(r)
    # Without what tells it, nothing does.
    again = protection.refill(hidden, people, columns=["noise", name])
    assert again.by_attribute()[name].verified == 0
    # Who has no original learns nothing from it.
    alone = protection.refill(hidden, columns=[*teller, "noise", name])
    assert alone.claimed == 0


def test_a_value_that_nobody_shows_any_more_is_known_by_its_code() -> None:
    people = make_people()
    rows = np.flatnonzero(np.array(people.to_arrow()["town"].to_pylist()) == "t5")
    r = protection.refill(
        hide_cells(people, {"town": rows}), people, columns=["code", "noise", "town"]
    )
    assert (r.hidden, r.claimed, r.verified) == (rows.size, 0, rows.size)


def refill_goods(goods: list[int], codes: list[int]) -> int:
    """How many goods are told that were recoded for all, beside a column of codes."""
    names = [f"t{number}" for number in goods]
    people = dv.Dataset.from_arrow(
        pa.table({"town": names, "code": codes}),
        roles={"quasi_identifier": ["town"]},
        hierarchies={"town": TOWNS},
    )
    r = protection.refill(recode_town(people, np.arange(len(goods))), people)
    verified = r.by_coarse_attribute()["town"].verified
    assert verified is not None
    return verified


@pytest.mark.parametrize(("rows", "codes_each"), [(74, 1), (74, 2), (24, 1)])
def test_codes_that_are_not_many_more_than_what_they_tell_are_read_in_few_records(
    rows: int, codes_each: int
) -> None:
    digits = [7, 3, 1, 6, 5, 2, 4, 8]
    goods = [number % 8 for number in range(rows)]
    codes = [digits[n % 8] + 10 * (n // 8 % codes_each) for n in range(rows)]
    assert refill_goods(goods, codes) == rows


@pytest.mark.parametrize(
    ("goods", "codes"),
    [
        (list(range(8)), [7, 3, 1, 6, 5, 2, 4, 8]),
        ([0, 5] * 3, [7, 3] * 3),
        ([number % 8 for number in range(74)], [number // 2 % 31 for number in range(74)]),
        ([number % 2 * 5 for number in range(74)], [INCOMES[number % 36] for number in range(74)]),
    ],
    ids=["one record each", "chance", "other groups", "households"],
)
def test_codes_that_may_fit_by_chance_or_are_too_many_tell_nothing(
    goods: list[int], codes: list[int]
) -> None:
    assert refill_goods(goods, codes) == 0


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("teller", ["code", "stratum"])
def test_codes_tell_the_finer_value_by_themselves_or_within_the_coarser_one(
    teller: str, every: int
) -> None:
    people = make_people()
    rows = np.arange(0, ROWS, every)
    released = recode_town(people, rows)
    r = protection.refill(released, people, columns=[teller, "noise", "town"])
    assert r.by_coarse_attribute()["town"].verified == rows.size
    again = protection.refill(released, people, columns=["noise", "town"])
    assert again.by_coarse_attribute()["town"].verified == 0


def test_coarse_values_that_stand_for_one_value_each_bear_nothing_out() -> None:
    random = np.random.default_rng(8)
    town = np.where(random.random(ROWS) < 0.5, 1, 6)
    table = pa.table({"town": [f"t{n}" for n in town], "noise": random.integers(0, 8, ROWS)})
    people = dv.Dataset.from_arrow(
        table, roles={"quasi_identifier": ["town"]}, hierarchies={"town": TOWNS}
    )
    r = protection.refill(recode_town(people, np.arange(ROWS)), people)
    assert r.by_coarse_attribute()["town"].verified == 0


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_columns_mean_nothing(seed: int) -> None:
    people = make_people(seed)
    table, random = people.to_arrow(), np.random.default_rng(seed)
    for name in ("born", "code", "stratum", "wage", "rent", "pension"):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].take(random.permutation(ROWS)))
    shuffled = dv.Dataset.from_arrow(
        table,
        roles={"quasi_identifier": ["age", "town", "total"]},
        hierarchies={"town": TOWNS},
    )
    hidden = hide_cells(shuffled, {name: np.arange(ROWS) for name in ("age", "total")})
    r = protection.refill(recode_town(hidden, np.arange(0, ROWS, 2)), shuffled)
    assert r.verified == 0
    assert r.by_coarse_attribute()["town"].verified == 0


def test_who_knows_fewer_relations_sees_some_cells_only() -> None:
    people = make_people()
    rows = np.arange(0, ROWS, 20)
    hidden = hide_cells(people, {"age": rows, "town": rows})
    r = protection.refill(hidden, people, columns=["born", "code", "age", "town"])
    assert r.verified == 2 * rows.size
    missing = [
        tuple(part.to_arrow()[name].null_count for name in ("age", "town"))
        for part in r.refilled_partly
    ]
    assert missing == [(0, rows.size), (rows.size, 0)]
    # Nothing is told: there is nothing to know less of.
    assert protection.refill(hidden, people, columns=["noise"]).refilled_partly == ()


def test_who_knows_one_relation_of_an_attribute_sees_the_cells_of_that_one_only() -> None:
    table = make_people().to_arrow().select(["town", "code"])
    is_first = np.arange(ROWS) < ROWS // 2
    codes = table["code"].to_numpy()
    for name, is_known in (("west_code", is_first), ("east_code", ~is_first)):
        table = table.append_column(name, pa.array(codes, mask=~is_known))
    people = dv.Dataset.from_arrow(
        table.drop(["code"]), roles={"quasi_identifier": ["town"]}, hierarchies={"town": TOWNS}
    )
    west, east = np.arange(0, ROWS // 2, 20), np.arange(ROWS // 2, ROWS, 60)
    rows = np.append(west, east)
    r = protection.refill(hide_cells(people, {"town": rows}), people)
    assert r.verified == rows.size
    missing = [part.to_arrow()["town"].null_count for part in r.refilled_partly]
    assert sorted(missing) == [east.size, west.size]
    # The finer values of recoded cells are told by one relation or the other too.
    recoded = protection.refill(recode_town(people, rows), people)
    towns = [part.to_arrow()["town"].to_pylist() for part in recoded.refilled_partly]
    coarse = [sum(town in ("north", "south") for town in each) for each in towns]
    assert sorted(coarse) == [east.size, west.size]


def test_cautious_people_believe_what_many_cells_bear_out() -> None:
    people = make_people().select(["town", "code", "noise"])
    rows = np.flatnonzero(people.columns["code"].codes == 0)
    few = hide_cells(people, {"town": rows[:1]})
    r = protection.refill(few, people)
    assert (r.claimed, r.refilled_partly) == (1, ())
    # Of a column that is hidden as a whole nothing can be learned, so only the bold fill it.
    whole = protection.refill(hide_cells(people, {"town": np.arange(ROWS)}), people)
    assert [part.to_arrow()["town"].null_count for part in whole.refilled_partly] == [ROWS]


def test_an_attribute_that_few_records_show_to_be_told_is_spared_once_it_is_hidden() -> None:
    # 24 records are too few to learn from that a year of birth tells the age: it is hidden for all,
    # which the truth then shows to be useless.
    age = np.repeat(np.arange(30, 36), 4)
    table = pa.table({"age": age, "born": 2020 - age, "sex": ["f", "m", "m", "f"] * 6})
    people = dv.Dataset.from_arrow(table, roles={"quasi_identifier": ["age", "sex"]})
    limits = [dv.Limit("k_anonymity", at_least=3)]
    alone = protection.protect(people, limits, ["suppress"], published=["age", "sex"])
    assert alone.dataset.to_arrow()["age"].null_count > 6
    beside = protection.protect(people, limits, ["suppress"], published=["age", "born", "sex"])
    assert beside.determined == {"age": ("born",)}
    assert beside.dataset.to_arrow()["age"].null_count == 0
    assert beside.removed == 0
