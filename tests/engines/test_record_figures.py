"""An engine writes the risk of each record, and each is what memory finds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import divulge as dv
from divulge import engines, work

from .lakes import list_runs, people, read_both, write_lake
from .years import YEAR_ROLES, people_and_weights, year

WEIGHED: Any = {"quasi_identifier": ["Age", "town"], "sensitive": ["income"]}


def written(out: Path, id_: str) -> pa.Table:
    return pq.read_table(out).sort_by(id_)


def assert_risks(out: Path, id_: str, ids: pa.Array, risk: Any) -> None:
    """The file has each record once, with the risk that memory gives it."""
    expected = pa.table({id_: ids, "risk": pa.array(risk)}).sort_by(id_)
    found = written(out, id_)
    assert found.column_names == [id_, "risk"]
    assert found.column(id_).to_pylist() == expected.column(id_).to_pylist()
    assert found.column("risk").to_pylist() == pytest.approx(expected.column("risk").to_pylist())


ATTACKS: dict[str, dict[str, Any]] = {
    "whose record": {"model": "CRS"},
    "a secret": {"model": "CAS", "seeks": "income"},
    "two secrets": {"model": "CAS", "knows": "Age", "seeks": ["income", "ill"]},
}


@pytest.mark.parametrize(("case", "engine"), list_runs(ATTACKS, ["a secret"]))
def test_the_risk_of_each_record_is_written_by_its_engine(
    tmp_path: Path, case: str, engine: str
) -> None:
    memory, relation = read_both(write_lake(tmp_path / "people", people()), engine)
    out = tmp_path / "risk.parquet"
    dv.records.attack(relation, **ATTACKS[case]).write_risk(out, "id")
    ids = memory.columns["id"].to_arrow()
    assert_risks(out, "id", ids, dv.records.attack(memory, **ATTACKS[case]).risk())


@pytest.mark.parametrize("engine", ["duckdb", "sail"])
def test_records_that_weigh_and_people_with_several_have_their_risk(
    tmp_path: Path, engine: str
) -> None:
    table = people_and_weights().append_column("row", pa.array(range(50)))
    lake = write_lake(tmp_path / "lake", table)
    cases: list[Any] = [
        (WEIGHED, {"model": "CAS", "prior": "broken", "seeks": "income"}),
        (WEIGHED, {"model": "CRS", "prior": "whole"}),
        ({**WEIGHED, "person": "who"}, {"model": "CRS"}),
        ({**WEIGHED, "person": "who"}, {"model": "CAS", "seeks": "income"}),
    ]
    for number, (roles, options) in enumerate(cases):
        memory, relation = read_both(lake, engine, roles=roles)
        out = tmp_path / f"risk-{number}.parquet"
        dv.records.attack(relation, **options).write_risk(out, "row")
        rows = memory.columns["row"].to_arrow()
        assert_risks(out, "row", rows, dv.records.attack(memory, **options).risk())


@pytest.mark.parametrize("engine", ["duckdb", "sail"])
def test_linked_years_give_the_risk_of_each_focal_record(tmp_path: Path, engine: str) -> None:
    lakes = [write_lake(tmp_path / f"year-{number}", year(number)) for number in range(2)]
    memory = [dv.read(lake, roles=YEAR_ROLES, name=lake.name) for lake in lakes]
    relations = [dv.scan(lake, YEAR_ROLES, name=lake.name, engine=engine) for lake in lakes]
    options: Any = {"model": "CAL", "on": "key", "seeks": "income"}
    out = tmp_path / "risk.parquet"
    dv.records.attack(relations, **options).write_risk(out, "key")
    keys = memory[0].columns["key"].to_arrow()
    assert_risks(out, "key", keys, dv.records.attack(memory, **options).risk())


@pytest.mark.parametrize(
    ("nulls", "engine"), list_runs(["value", "standard", "bayes"], ["standard"])
)
def test_figures_that_follow_from_frequencies_are_written(
    tmp_path: Path, nulls: Any, engine: str
) -> None:
    roles = {**WEIGHED, "weight": "fraction"}
    table = people_and_weights().append_column("row", pa.array(range(50)))
    memory, relation = read_both(write_lake(tmp_path / "lake", table), engine, roles=roles)
    measures: Any = [
        dv.records.frequencies,
        dv.records.individual_risk,
        dv.records.reidentification_risk,
    ]
    for measure in measures if engine != "spark" else measures[1:2]:
        out = tmp_path / f"{measure.__name__}.parquet"
        measure(relation, nulls=nulls).write(out, "row")
        expected, found = measure(memory, nulls=nulls).to_arrow(), written(out, "row")
        assert found.column_names == ["row", *expected.column_names]
        for name in expected.column_names:
            assert np.allclose(found[name].to_numpy(), expected[name].to_numpy(), rtol=1e-9)


def test_what_cannot_be_written_says_why_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = write_lake(tmp_path / "people", people())
    memory, relation = read_both(lake, "duckdb")
    found, out = dv.records.attack(relation, "CRS"), tmp_path / "out" / "risk.parquet"
    for path, id_, said in (
        (out, "idd", 'no attribute "idd"'),
        (out.with_suffix(".csv"), "id", "is no Parquet file"),
    ):
        with pytest.raises(work.InvalidInput, match=said):
            found.write_risk(path, id_)
    with pytest.raises(work.InvalidInput, match="in memory only"):
        dv.records.frequencies(relation, "maybe").write(out, "id")
    with pytest.raises(work.InvalidInput, match="in memory only"):
        dv.records.journalist_risk(relation).write(out, "id")
    with pytest.raises(work.DivulgeError, match="to_arrow"):
        dv.records.frequencies(memory).write(out, "id")
    with pytest.raises(work.DivulgeError, match=r"risk\(\)"):
        dv.records.attack(memory, "CRS").write_risk(out, "id")
    write = engines.DuckSession.write_parquet

    def change_meanwhile(self: Any, *arguments: Any) -> None:
        write(self, *arguments)
        os.utime(lake / "part-0.parquet", ns=(1, 1))

    monkeypatch.setattr(engines.DuckSession, "write_parquet", change_meanwhile)
    with pytest.raises(engines.EngineError, match="nothing was kept"):
        found.write_risk(out, "id")
    assert not out.exists()
    assert not out.parent.exists() or not list(out.parent.iterdir())


def test_the_command_line_writes_a_row_a_record(tmp_path: Path, divulge: Any) -> None:
    lake = write_lake(tmp_path / "people", people())
    place, out = f"{lake}/*.parquet", tmp_path / "risk.parquet"
    ask = ["-q", "Age", "--engine", "duckdb", "--out", str(out)]
    refused = divulge("risk", place, *ask)
    assert refused.returncode == 2
    assert "--id" in refused.stderr
    assert divulge("risk", place, *ask, "--id", "id").returncode == 0
    assert written(out, "id").column_names == ["id", "individual_risk"]
    again = [*ask, "--id", "id", "--overwrite"]
    none = divulge("risk", place, *again, "--measure", "k_anonymity")
    assert "no figure for each record" in none.stderr
    attacked = divulge(
        "attack", place, "--knows", "Age", "--engine", "duckdb", "--out", str(out), "--id", "id",
        "--overwrite",
    )  # fmt: skip
    assert attacked.returncode == 0
    assert written(out, "id").column_names == ["id", "risk"]
