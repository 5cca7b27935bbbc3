"""Cells that were made coarser are secrets too: their finer values are read from what is shown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import divulge as dv
from divulge import protection
from divulge.data import Hierarchy
from divulge.protection.changes.changes import replace_values
from divulge.protection.changes.recodings import apply_recoding

ROWS = 800
AGES = Hierarchy.intervals([0, 20, 40, 60, 80])
TOWNS = Hierarchy.from_pairs(
    [(f"t{number}", "north" if number < 4 else "south") for number in range(8)]
)


def make_people(seed: int = 3) -> dv.Dataset:
    random = np.random.default_rng(seed)
    age = random.integers(0, 95, ROWS)
    household = np.arange(ROWS) // 4
    town = random.integers(0, 8, ROWS)[household]
    table = pa.table(
        {
            "age": age,
            "born": pa.array(2020 - age, mask=random.random(ROWS) < 0.1),
            "town": [f"t{number}" for number in town],
            "code": town * 7 + 3,
            "household": household,
            "sex": random.choice(["f", "m"], ROWS),
            "noise": random.integers(0, 95, ROWS),
        }
    )
    return dv.Dataset.from_arrow(
        table,
        roles={"quasi_identifier": ["age", "town", "sex"], "household": "household"},
        hierarchies={"age": AGES, "town": TOWNS},
        name="people",
    )


def recode_all(dataset: dv.Dataset, name: str) -> dv.Dataset:
    hierarchy = dataset.dictionary[name].hierarchy
    assert hierarchy is not None
    column = hierarchy.coarsen(dataset.columns[name], 1)
    return apply_recoding(dataset, name, column, 1)


def recode_some(dataset: dv.Dataset, name: str, rows: np.ndarray) -> dv.Dataset:
    from dataclasses import replace

    hierarchy = dataset.dictionary[name].hierarchy
    assert hierarchy is not None
    values = dataset.to_arrow()[name].to_pylist()
    coarser = [hierarchy.at(values[row], 1) for row in rows.tolist()]
    column = replace_values(dataset.columns[name], rows, coarser)
    return replace(dataset, columns={**dataset.columns, name: column})


def test_a_year_of_birth_tells_ages_of_which_only_bands_are_shown() -> None:
    people = make_people()
    r = protection.refill(recode_all(people, "age"), people)
    ages = r.by_coarse_attribute()["age"]
    born = people.to_arrow()["born"].to_pylist()
    shown = sum(year is not None for year in born)
    # The constant is what keeps everybody within their band: nobody had to say it.
    assert (r.hidden, r.coarse, ages.hidden) == (0, ROWS, ROWS)
    assert ages.claimed == ages.right == ages.verified == shown
    assert "age is 2,020 minus born: the finer values of" in "\n".join(map(str, r.relations))
    assert f"{shown:,} of 800 finer values of age follow from born" in str(r)
    refilled = r.refilled_rightly.to_arrow()["age"].to_pylist()
    truth = people.to_arrow()["age"].to_pylist()
    bands = recode_all(people, "age").to_arrow()["age"].to_pylist()
    assert refilled == [
        str(value) if year is not None else band
        for value, year, band in zip(truth, born, bands, strict=True)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_have_nothing_to_do_with_it_tell_no_finer_value(seed: int) -> None:
    people = make_people(seed)
    shown = ["sex", "noise", "household", "town", "age"]
    r = protection.refill(recode_all(people, "age").select(shown), people)
    ages = r.by_coarse_attribute()["age"]
    assert (ages.claimed, ages.verified, r.relations) == (0, 0, ())
    counts = np.bincount(np.unique(people.to_arrow()["age"].to_numpy()) // 20)
    band = people.to_arrow()["age"].to_numpy() // 20
    assert ages.base_rate == pytest.approx(sum(1 / counts[number] for number in band))


def test_a_code_that_means_a_town_counts_as_known_to_who_is_judged() -> None:
    people = make_people()
    r = protection.refill(recode_all(people, "town"), people)
    towns = r.by_coarse_attribute()["town"]
    assert (towns.claimed, towns.verified) == (0, ROWS)
    assert "known to whoever knows what the values of code mean" in str(r)
    without = [name for name in people.names if name != "code"]
    # A household's number is looked up nowhere.
    again = protection.refill(recode_all(people, "town").select(without), people)
    assert again.by_coarse_attribute()["town"].verified == 0


@pytest.mark.parametrize(("rows", "verified"), [(48, 48), (12, 12), (6, 0)])
def test_the_truth_bears_out_what_few_records_say(rows: int, verified: int) -> None:
    # Too few for who must learn from them; whoever knows the code needs none at all.
    towns = np.arange(rows) % 3
    table = pa.table({"town": [f"t{number}" for number in towns], "code": towns * 7 + 3})
    people = dv.Dataset.from_arrow(
        table, roles={"quasi_identifier": ["town"]}, hierarchies={"town": TOWNS}
    )
    r = protection.refill(recode_all(people, "town"), people)
    assert r.by_coarse_attribute()["town"].verified == verified
    # One exception, and so few records say nothing.
    wrong = table.set_column(1, "code", pa.array([*(towns[:-1] * 7 + 3), 3]))
    other = dv.Dataset.from_arrow(
        wrong, roles={"quasi_identifier": ["town"]}, hierarchies={"town": TOWNS}
    )
    again = protection.refill(recode_all(other, "town"), other)
    assert again.by_coarse_attribute()["town"].verified == 0


def test_a_copy_of_a_column_tells_it_to_anybody() -> None:
    people = make_people()
    table = people.to_arrow()
    twice = dv.Dataset.from_arrow(
        table.append_column("home town", table["town"]),
        roles={"quasi_identifier": ["town", "sex"]},
        hierarchies={"town": TOWNS},
    )
    r = protection.refill(recode_all(twice, "town"), twice)
    assert r.by_coarse_attribute()["town"].claimed == ROWS
    assert "town is home town" in "\n".join(map(str, r.relations))


def test_other_members_show_what_one_record_shows_coarser() -> None:
    people = make_people()
    rows = np.arange(0, ROWS, 4)
    released = recode_some(people, "town", rows)
    r = protection.refill(released, people, columns=["household", "town", "sex"])
    towns = r.by_coarse_attribute()["town"]
    assert (towns.hidden, towns.claimed, towns.right, towns.verified) == (200, 200, 200, 200)
    assert "200 of 200 finer values of town can be read from other records with the same" in str(r)
    assert r.refilled_rightly.to_arrow()["town"].equals(people.to_arrow()["town"])
    groups = r.assessment().by("sex")
    assert sum(part.certain.posterior for part in groups.values()) == 200
    # Without the original, the hierarchy tells which values are coarser ones.
    alone = protection.refill(released, columns=["household", "town", "sex"])
    assert alone.by_coarse_attribute()["town"].claimed == 200
    assert alone.refilled.to_arrow()["town"].equals(people.to_arrow()["town"])


def test_what_contradicts_the_coarser_value_is_not_told() -> None:
    people = make_people()
    rows = np.arange(0, ROWS, 4)
    released = recode_some(people, "town", rows)
    table = released.to_arrow()
    wrong = ["north" if row % 8 else value for row, value in enumerate(table["town"].to_pylist())]
    place = table.schema.get_field_index("town")
    mixed = [wrong[row] if row % 4 == 0 else table["town"][row].as_py() for row in range(ROWS)]
    changed = dv.Dataset.from_arrow(
        table.set_column(place, "town", pa.array(mixed)),
        roles={"quasi_identifier": ["town", "sex"], "household": "household"},
        hierarchies={"town": TOWNS},
    )
    r = protection.refill(changed, columns=["household", "town", "sex"])
    filled = r.refilled.to_arrow()["town"].to_pylist()
    for row in range(0, ROWS, 4):
        if mixed[row] == "north":
            assert filled[row] in {"north", "t0", "t1", "t2", "t3"}


def test_one_column_and_the_coarser_value_tell_what_neither_tells_alone() -> None:
    random = np.random.default_rng(6)
    town = random.integers(0, 8, 1_200)
    table = pa.table(
        {
            "town": [f"t{number}" for number in town],
            "stratum": town % 4,  # t1 and t5 share one: the half of the country tells them apart
            "sex": random.choice(["f", "m"], 1_200),
        }
    )
    people = dv.Dataset.from_arrow(
        table, roles={"quasi_identifier": ["town", "sex"]}, hierarchies={"town": TOWNS}
    )
    r = protection.refill(recode_some(people, "town", np.arange(0, 1_200, 6)), people)
    assert r.by_coarse_attribute()["town"].right == 200


def test_the_size_of_a_band_is_counted_where_rows_tell_it() -> None:
    random = np.random.default_rng(9)
    household = np.repeat(np.arange(400), random.integers(1, 7, 400))
    size = np.bincount(household)[household]
    table = pa.table({"household": household, "size": size})
    homes = dv.Dataset.from_arrow(
        table,
        roles={"quasi_identifier": ["size"]},
        hierarchies={"size": Hierarchy.intervals([1, 3, 5])},
    )
    r = protection.refill(recode_all(homes, "size"), homes)
    assert r.by_coarse_attribute()["size"].claimed == household.size
    assert "size is the number of records with the same household" in str(r.relations[0])
