"""All twelve models, gains, priors and people: every engine finds what is found in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import divulge as dv
from divulge.data import Relation

from .lakes import list_runs, write_lake
from .years import YEAR_ROLES, people_and_weights, year

KNOWN = ["Age", "town"]
WORTH = {"worth": {"low": 1, "high": 3.5, "None": 0.25}, "wrong": 0.1}
Lakes = Callable[[str], Any]

CASES: dict[str, Callable[[Lakes], Any]] = {
    "CRL": lambda at: attack(years(at), "CRL", on="key"),
    "CRL by one attribute": lambda at: attack(years(at), "CRL", "town", on="key"),
    "CAL": lambda at: attack(years(at), "CAL", seeks="income", on="key"),
    "CAL of two secrets": lambda at: attack(years(at), "CAL", "Age", ["income", "ill"], on="key"),
    "IRL": lambda at: attack(
        years(at, 2), "IRL", on="key", target=[{"Age": 8, "town": "x"}, {"Age": 9, "town": "x"}]
    ),
    "IRL of somebody who left": lambda at: attack(
        years(at, 2), "IRL", "town", on="key", target=[{"town": "é"}, None]
    ),
    "IAL": lambda at: attack(
        years(at, 2), "IAL", "town", "income", on="key", target=[{"town": ""}, {"town": ""}]
    ),
    "CRL by groups": lambda at: groups(years(at), "school", "CRL", on="key"),
    "CAL by groups": lambda at: groups(years(at), "school", "CAL", seeks="income", on="key"),
    "longitudinal": lambda at: growth(at),
    "longitudinal, two secrets": lambda at: growth(at, seeks=["income", "ill"]),
    "longitudinal, guesses": lambda at: growth(at, seeks="income", gain={"guesses": 2}),
    "longitudinal, a year that lacks a column": lambda at: plain(
        dv.records.longitudinal([at("year 0"), at("no town")], "key", KNOWN)
    ),
    "longitudinal, a year that calls it otherwise": lambda at: plain(
        dv.records.longitudinal(
            [at("year 0"), at("village")], "key", KNOWN, rename={"village": {"village": "town"}}
        )
    ),
    "longitudinal, coded anew": lambda at: plain(
        dv.records.longitudinal([at("year 0"), at("anew")], "key", KNOWN)
    ),
    "CMS": lambda at: attack(at("year 0"), "CMS", population=at("all")),
    "CMS by one attribute": lambda at: attack(at("year 0"), "CMS", "town", population=at("all")),
    "CMS, guesses worth": lambda at: attack(
        at("year 0"), "CMS", population=at("all"), gain=[[1.0, 0.0], [0.0, 3.0]]
    ),
    "CMS by groups": lambda at: groups(at("year 0"), "school", "CMS", population=at("all")),
    "CMS by groups of the population": lambda at: groups(
        at("no school"), "school", "CMS", population=at("all")
    ),
    "CML": lambda at: attack(years(at, 2), "CML", on="key", population=at("all")),
    "IMS": lambda at: attack(
        at("year 0"), "IMS", "town", population=at("all"), target={"town": "x"}
    ),
    "IML": lambda at: attack(
        years(at, 2), "IML", "town", on="key", population=at("all"),
        target=[{"town": "x"}, {"town": "x"}],
    ),
    "CRS, weights": lambda at: attack(at("people"), "CRS", KNOWN, prior="whole"),
    "CRS, weights with fractions": lambda at: attack(at("people"), "CRS", KNOWN, prior="broken"),
    "CRS, truth values as weights": lambda at: attack(at("people"), "CRS", KNOWN, prior="ill"),
    "CAS, weights": lambda at: attack(at("people"), "CAS", KNOWN, "income", prior="whole"),
    "CAS, weights with fractions": lambda at: attack(
        at("people"), "CAS", "Age", ["income", "ill"], prior="broken"
    ),
    "IRS, weights": lambda at: attack(
        at("people"), "IRS", "Age", prior="whole", target={"Age": 21}
    ),
    "IAS, weights": lambda at: attack(
        at("people"), "IAS", "Age", "income", prior="broken", target={"Age": 21}
    ),
    "IAS of two secrets": lambda at: attack(
        at("people"), "IAS", "Age", ["income", "ill"], target={"Age": 20}
    ),
    "CRS, weights, by groups": lambda at: groups(at("people"), "school", "CRS", KNOWN, prior="whole"),
    "CAS, weights, by groups": lambda at: groups(
        at("people"), "school", "CAS", KNOWN, "income", prior="broken"
    ),
    "CRS, guesses": lambda at: attack(at("people"), "CRS", KNOWN, gain={"guesses": 2}),
    "CRS, guesses, weights": lambda at: attack(
        at("people"), "CRS", KNOWN, gain={"guesses": 2}, prior="broken"
    ),
    "CAS, guesses": lambda at: attack(at("people"), "CAS", "town", "income", gain={"guesses": 2}),
    "CAS, what names are worth": lambda at: attack(
        at("people"), "CAS", "town", "income", gain=WORTH
    ),
    "CAS, what names are worth, weights": lambda at: attack(
        at("people"), "CAS", "town", "income", gain=WORTH, prior="broken"
    ),
    "CAS, near is right": lambda at: attack(
        at("people"), "CAS", "town", "Age", gain={"within": 1}
    ),
    "IAS, what names are worth": lambda at: attack(
        at("people"), "IAS", "town", "income", gain=WORTH, target={"town": "y"}
    ),
    "IRS, guesses": lambda at: attack(
        at("people"), "IRS", KNOWN, gain={"guesses": 3}, target={"Age": 20, "town": "x"}
    ),
    "CRS of people": lambda at: attack(at("persons"), "CRS", KNOWN),
    "CAS of people": lambda at: attack(at("persons"), "CAS", KNOWN, "income"),
    "IRS of people": lambda at: attack(at("persons"), "IRS", "Age", target={"Age": 22}),
    "IAS of people": lambda at: attack(at("persons"), "IAS", "Age", "ill", target={"Age": 22}),
    "CRS of people, by groups": lambda at: groups(at("persons"), "school", "CRS", KNOWN),
    "CAS of people, by groups": lambda at: groups(at("persons"), "town", "CAS", "Age", "income"),
    "CRS of people, guesses": lambda at: attack(at("persons"), "CRS", "Age", gain={"guesses": 2}),
    "CRS of a sample": lambda at: attack(at("sample"), "CRS", KNOWN),
    "CRS of a sample with fractions": lambda at: attack(at("fractions"), "CRS", KNOWN),
    "IRS of a sample": lambda at: attack(at("sample"), "IRS", "Age", target={"Age": 22}),
}  # fmt: skip


ON_SPARK = [
    "CRL",
    "CAL of two secrets",
    "CAL by groups",
    "IRL of somebody who left",
    "longitudinal, coded anew",
    "CMS",
    "CMS by groups of the population",
    "IML",
    "CRS, weights with fractions",
    "CAS, weights with fractions",
    "CAS, weights, by groups",
    "CAS, what names are worth, weights",
    "CRS of people",
    "CAS of people, by groups",
    "CRS of a sample",
]
"""Cases in which every query of ours occurs: a real Spark takes seconds for each."""


def years(at: Lakes, number: int = 3) -> list[dv.Dataset]:
    return [at(f"year {each}") for each in range(number)]


def attack(datasets: Any, model: str, *knows_and_seeks: Any, **more: Any) -> Any:
    found = dv.records.attack(datasets, model, *knows_and_seeks, **more)
    highest = float(found.find_highest_risk()) if model.startswith("C") else None
    return {**found.to_dict(), "highest": highest, "explained": found.explain()}


def groups(datasets: Any, group: str, model: str, *knows_and_seeks: Any, **more: Any) -> Any:
    found = dv.records.attack(datasets, model, *knows_and_seeks, **more).by(group)
    return list(found), found.to_dict()


def growth(at: Lakes, **more: Any) -> Any:
    return plain(dv.records.longitudinal(years(at), "key", KNOWN, **more))


def plain(found: Any) -> Any:
    return found.to_dict(), str(found), [each.explain() for each in found]


def round_numbers(found: Any) -> Any:
    """Shares agree in as many digits as sums of floats do; whole numbers agree in all."""
    if isinstance(found, dict):
        return {name: round_numbers(each) for name, each in found.items()}
    if isinstance(found, list | tuple):
        return [round_numbers(each) for each in found]
    if isinstance(found, float):
        return float(f"{found:.11g}")
    return found


def lakes() -> dict[str, tuple[pa.Table, dict[str, Any]]]:
    people = people_and_weights()
    all_years = pa.concat_tables(year(number) for number in range(4))
    whole = pa.Table.from_pylist(
        [*{row["key"]: row for row in (year(0).to_pylist() + all_years.to_pylist())[::-1]}.values()]
    )
    # The population holds everybody as they are in the first year.
    first = {row["key"]: row for row in year(0).to_pylist()}
    rows = [first.get(row["key"], row) for row in whole.to_pylist()]
    anew = year(1).set_column(2, "town", pa.array([f"t{n}" for n in range(year(1).num_rows)]))
    roles = {"quasi_identifier": KNOWN, "sensitive": ["income", "ill"]}
    return {
        **{f"year {n}": (year(n), YEAR_ROLES) for n in range(3)},
        "all": (pa.Table.from_pylist(rows, whole.schema), YEAR_ROLES),
        "no town": (year(1).drop_columns(["town"]), {"identifier": ["key"]}),
        "village": (year(1).rename_columns({"town": "village"}), {"identifier": ["key"]}),
        "anew": (anew, {"identifier": ["key"]}),
        "no school": (year(0).drop_columns(["school"]), {"quasi_identifier": KNOWN}),
        "people": (people, roles),
        "persons": (people, {**roles, "person": "who"}),
        "sample": (people, {**roles, "weight": "sampled"}),
        "fractions": (people, {**roles, "weight": "fraction"}),
    }


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lakes")
    for name, (table, _) in lakes().items():
        write_lake(folder / name, table, parts=2)
    return folder


@pytest.mark.parametrize(("case", "engine"), list_runs(CASES, ON_SPARK))
def test_an_engine_finds_what_memory_finds(case: str, engine: str, places: Path) -> None:
    roles = {name: roles for name, (_, roles) in lakes().items()}

    def in_memory(name: str) -> dv.Dataset:
        return dv.read(places / name, roles=roles[name], name=name)

    def where_they_are(name: str) -> dv.Dataset:
        relation = dv.scan(places / name, roles=roles[name], name=name, engine=engine)
        assert isinstance(relation, Relation)
        return relation

    found = round_numbers(CASES[case](where_they_are))
    assert found == round_numbers(CASES[case](in_memory))
