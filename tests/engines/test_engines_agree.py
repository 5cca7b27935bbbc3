"""One suite of cases: every engine finds what is found in memory, to the last whole number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import tables

import divulge as dv
from divulge.data import Relation

from .lakes import ROLES, list_runs, people, read_both, write_lake

KNOWN = ROLES["quasi_identifier"]
VICTIM = {"Age": 21, "age": "y"}

CASES: dict[str, Callable[[dv.Dataset], Any]] = {
    "whose record each is": lambda d: attack(d, "CRS"),
    "by two attributes whose names differ by case": lambda d: attack(d, "CRS", ["Age", "age"]),
    "by one number with signs and gaps": lambda d: attack(d, "CRS", [KNOWN[2]]),
    "by a name that would end a query": lambda d: attack(d, "CRS", [KNOWN[3]]),
    "a secret of everybody": lambda d: attack(d, "CAS", KNOWN, "income"),
    "a secret by one attribute": lambda d: attack(d, "CAS", ["age"], "ill"),
    "two attributes as one secret": lambda d: attack(d, "CAS", ["Age"], ["income", "ill"]),
    "which record is one person's": lambda d: attack(d, "IRS", ["Age", "age"], target=VICTIM),
    "a secret of one person": lambda d: attack(d, "IAS", ["Age"], "income", target={"Age": 22}),
    "one person whose value is missing": lambda d: attack(
        d, "IAS", ["Age"], "ill", target={"Age": None}
    ),
    "who bears the risk, by days": lambda d: groups(d, "CRS", "school"),
    "who bears the risk, by what is known": lambda d: groups(d, "CRS", "age", ["age", "Age"]),
    "whose secret is told, by days": lambda d: groups(d, "CAS", "school", ["Age"], "income"),
    "whose secret is told, by the secret": lambda d: groups(d, "CAS", "income", ["Age"], "income"),
    "whose secret is told, by numbers": lambda d: groups(d, "CAS", KNOWN[2], ["age"], "ill"),
}


# The others ask nothing of a server that these do not.
ALIKE = (
    "by one number with signs and gaps",
    "a secret by one attribute",
    "whose secret is told, by the secret",
)
ON_SPARK = [case for case in CASES if case not in ALIKE]


def attack(dataset: dv.Dataset, model: str, *knows_and_seeks: Any, **more: Any) -> Any:
    found = dv.records.attack(dataset, model, *knows_and_seeks, **more)
    highest = found.find_highest_risk() if model.startswith("C") else None
    return {**found.to_dict(), "highest": highest, "capacity": found.figures.get("capacity")}


def groups(dataset: dv.Dataset, model: str, group: str, *knows_and_seeks: Any) -> Any:
    found = dv.records.attack(dataset, model, *knows_and_seeks).by(group)
    return list(found), found.to_dict()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lake(tmp_path_factory.mktemp("lake") / "people", people())


@pytest.mark.parametrize(("case", "engine"), list_runs(CASES, ON_SPARK))
def test_an_engine_finds_what_memory_finds(case: str, engine: str, lake: Path) -> None:
    memory, relation = read_both(lake, engine)
    assert isinstance(relation, Relation)
    assert CASES[case](relation) == CASES[case](memory)


@given(tables(max_columns=3, max_rows=10), st.data())
@settings(max_examples=25)
def test_duckdb_finds_what_memory_finds(table: Any, data: st.DataObject) -> None:
    import tempfile

    names = table.column_names
    secret = data.draw(st.sampled_from(names))
    known = [name for name in names if name != secret]
    with tempfile.TemporaryDirectory() as folder:
        lake = write_lake(Path(folder) / "lake", table, parts=2)
        memory, relation = read_both(lake, "duckdb", roles={"quasi_identifier": names})
        assert attack(relation, "CRS") == attack(memory, "CRS")
        assert groups(relation, "CRS", secret) == groups(memory, "CRS", secret)
        if known:
            assert attack(relation, "CAS", known, secret) == attack(memory, "CAS", known, secret)
            assert groups(relation, "CAS", secret, known, secret) == groups(
                memory, "CAS", secret, known, secret
            )
