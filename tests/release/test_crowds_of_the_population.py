"""Limits on how many of the population look alike: by weights, or in a list of everybody."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import divulge as dv
from divulge.release import Release

KEYS = ("region", "age", "sex")
RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
roles = {{ quasi_identifier = ["region", "age", "sex"], {more} }}
{hierarchies}
{town}
[[limit]]
dataset = "people"
{limit}
[protection]
methods = ["recode", "suppress"]
"""
TOWN = """
[[dataset]]
name = "town"
source = "town.csv"
roles = { quasi_identifier = ["region", "age", "sex"] }
"""
BY_TENS = "hierarchies = { age = { intervals = [[20, 23, 27]] } }"
Row = dict[str, Any]


def make_rows(random: Random, number: int, *, gaps: float = 0.0) -> list[Row]:
    return [
        {
            "region": random.choice("abc"),
            "age": "" if random.random() < gaps else random.randint(20, 26),
            "sex": random.choice("FM"),
        }
        for _ in range(number)
    ]


def write(folder: Path, name: str, rows: list[Row]) -> None:
    with (folder / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def may_be(shown: Row, person: Row) -> bool:
    """Whether a published record may be somebody's, to who knows what is absent of whom."""
    return all(
        "suppressed" in (shown[name], shown.get(f"{name}_status"))
        or shown[name] == str(person[name])
        or (shown[name].startswith("[") and str(person[name]) and in_band(shown[name], person))
        for name in KEYS
    )


def in_band(text: str, person: Row) -> bool:
    low, high = text.strip("[)").split(", ")
    return int(low) <= int(person["age"]) < int(high)


def protect(folder: Path) -> list[Row]:
    assert Release.load(folder / "release.toml").protect(folder / "out").status == "pass"
    with (folder / "out" / "release" / "people.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("seed", range(6))
def test_a_limit_on_the_population_counts_weights_before_and_after_protection(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)  # noqa: S311  # made-up data
    rows = make_rows(random, 40)
    rows = [
        row | {"weight": random.randint(1, 30), "pay": 10_000 + n} for n, row in enumerate(rows)
    ]
    least = (5, 20)[seed % 2]
    write(tmp_path, "people", rows)
    (tmp_path / "release.toml").write_text(
        RELEASE.format(
            more='weight = "weight", non_identifying = ["pay"]',
            hierarchies=BY_TENS if seed % 3 else "",
            town="",
            limit=f'measure = "k_anonymity"\ncount = "population"\nat_least = {least}',
        )
    )
    alike: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        alike[tuple(row[name] for name in KEYS)] += row["weight"]
    verdict = Release.load(tmp_path / "release.toml").check()
    assert verdict.passed == (min(alike.values()) >= least)
    assert not verdict.passed
    shown = protect(tmp_path)
    # Fewer records than `least` suffice where they stand for as many people.
    victims = {str(row["pay"]): row for row in rows}
    crowds = [
        [int(each["weight"]) for each in shown if may_be(each, victims[own["pay"]])]
        for own in shown
    ]
    assert min(map(sum, crowds)) >= least
    assert min(map(len, crowds)) < least


@pytest.mark.parametrize("seed", range(6))
def test_a_list_of_the_population_is_read_with_what_is_hidden_and_what_is_absent(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)  # noqa: S311  # made-up data
    town = make_rows(random, 100, gaps=0.1 if seed % 2 else 0.0)
    people = [row | {"pay": 10_000 + n} for n, row in enumerate(random.sample(town, 30))]
    write(tmp_path, "people", people)
    write(tmp_path, "town", town)
    (tmp_path / "release.toml").write_text(
        RELEASE.format(
            more='non_identifying = ["pay"]',
            hierarchies=BY_TENS if seed % 3 == 2 else "",
            town=TOWN,
            limit='measure = "k_map"\npopulation = "town"\nat_least = 4',
        )
    )
    counts = Counter(tuple(row[name] for name in KEYS) for row in town)
    least = min(counts[tuple(row[name] for name in KEYS)] for row in people)
    [outcome] = Release.load(tmp_path / "release.toml").check().outcomes
    assert outcome.value == least < 4
    shown = protect(tmp_path)
    assert len(shown) == len(people)
    assert min(sum(may_be(record, person) for person in town) for record in shown) >= 4


def test_what_only_a_register_knows_may_be_anything_in_the_release() -> None:
    town = dv.Dataset.from_arrow(pa.table({"age": [1, 1, 2], "sex": ["F", "F", "M"]}))
    ill = dv.Dataset.from_arrow(pa.table({"age": [1, None], "sex": ["F", "F"]}))
    assert dv.records.k_map(ill, town, ["age", "sex"]).values.tolist() == [2, 2]
    # Of one whom the list does not know either, absence is known.
    known = dv.Dataset.from_arrow(pa.table({"age": [1, 1, None, 2], "sex": ["F", "F", "F", "M"]}))
    assert dv.records.k_map(ill, known, ["age", "sex"]).values.tolist() == [2, 1]
    assert dv.records.k_map(ill, known, ["age", "sex"], nulls="maybe").values.tolist() == [3, 3]
