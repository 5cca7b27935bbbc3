"""A release whose records stay where they are gets the verdict that it gets in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import divulge as dv
from divulge import work
from divulge.data import Relation
from divulge.engines import EngineError
from divulge.engines.sail import SailServer
from divulge.engines.spark import SparkConnectSession
from divulge.release.release_file.schemas import result_schema
from divulge.report.results import check_into

from .lakes import ENGINES, SPARK, people, without_provenance, write_lake

NAMES = ["id", "Age", "band", "rev", "flag", "income", "ill", "school"]

ADVERSARIES = """
[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
knows = ["Age", "band"]

[[adversary]]
name = "employer"
attack = "records"
model = "CAS"
knows = ["Age", "flag"]
seeks = "income"

[[limit]]
adversary = "neighbour"
measure = "deterministic.posterior"
at_most = 0.9

[[limit]]
adversary = "employer"
measure = "risk.highest"
at_most = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lake(tmp_path / "lake", people().rename_columns(NAMES))
    return tmp_path


def write_release(
    folder: Path,
    name: str,
    dataset: str = "",
    rest: str = ADVERSARIES,
    source: str = "lake/*.parquet",
) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(
        f"""
[[dataset]]
name = "people"
source = "{source}"
{dataset}
roles = {{ identifier = "id", quasi_identifier = ["Age", "band", "rev", "flag"], sensitive = ["income", "ill"], group = "school" }}
{rest}
""",
        encoding="utf-8",
    )
    return path


def check(path: Path) -> dict[str, Any]:
    """What the folder of results holds, but for where it comes from."""
    out = path.parent / f"results of {path.stem}"
    verdict = check_into(dv.Release.load(path), out)
    result: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert ("engine" in result["datasets"][0]) == isinstance(verdict.datasets["people"], Relation)
    return result


@pytest.mark.parametrize("engine", ENGINES)
def test_a_release_has_the_same_result_whoever_counts(folder: Path, engine: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    memory = check(write_release(folder, "memory", 'engine = "memory"'))
    elsewhere = check(write_release(folder, "lake", f'engine = "{engine}"'))
    assert "provenance" not in memory
    [said] = elsewhere["provenance"]
    assert said.startswith('The records of dataset "people" stayed where they are')
    assert without_provenance(elsewhere) == without_provenance(memory)
    jsonschema.validate(elsewhere, result_schema())


@pytest.mark.spark
def test_a_table_of_a_spark_server_has_the_result_of_its_records(folder: Path) -> None:
    with SparkConnectSession(SPARK) as session:
        session.offer_files("people_of_files", [f"file://{folder}/lake"])
        names = ", ".join(f'c{place} AS "{name}"' for place, name in enumerate(NAMES))
        session.define("people_to_keep", f"SELECT {names} FROM people_of_files")
        session._execute(
            lambda: (
                session._spark.table("people_to_keep").write.mode("overwrite").saveAsTable("kept")
            )
        )
    memory = check(write_release(folder, "memory", 'engine = "memory"'))
    secret = f"{SPARK}/;x-token=hush"
    path = write_release(folder, "table", 'table = "kept"', source=secret)
    elsewhere = check(path)
    assert without_provenance(elsewhere) == without_provenance(memory)
    assert elsewhere["datasets"][0]["engine"] == SPARK
    report = (path.parent / f"results of {path.stem}" / "report.html").read_text(encoding="utf-8")
    assert "hush" not in json.dumps(elsewhere) + report
    assert "hush" not in str(dv.Release.load(path).to_dict())


def test_values_without_a_label_and_mostly_numbers_are_remarked_upon_alike(tmp_path: Path) -> None:
    rows = {"code": [str(n) for n in range(99)] + ["?"], "sex": [1, 2] * 50, "w": [0.5] * 100}
    write_lake(tmp_path / "lake", pa.table(rows))
    remarks = []
    for engine in ("memory", "duckdb", "sail"):
        path = tmp_path / f"{engine}.toml"
        path.write_text(
            f"""
[[dataset]]
name = "people"
source = "lake"
engine = "{engine}"
roles = {{ quasi_identifier = ["code", "sex"], weight = "w" }}
labels = {{ sex = {{ 1 = "male", 3 = "other" }} }}
hierarchies = {{ sex = {{ pairs = [["1", "person"]] }} }}
""",
            encoding="utf-8",
        )
        remarks.append([str(remark) for remark in dv.Release.load(path).check().remarks])
    # Records that lie in files have no place.
    assert [
        text.replace("records but record 100.", "but 1 record.") for text in remarks[0]
    ] == remarks[1]
    assert remarks[1] == remarks[2]
    assert len(remarks[1]) == 5


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ('[[adversary]]\nname = "x"\nattack = "risk"\nmeasure = "suda"', "in memory only"),
        (
            '[[adversary]]\nname = "x"\nattack = "records"\nmodel = "CRS"\nprior = "band"',
            "a weight that is text is counted in memory only",
        ),
        ('[[limit]]\ndataset = "people"\nmeasure = "suda"\nat_most = 0', "in memory only"),
    ],
)
def test_what_cannot_be_counted_where_records_are_is_not_judged(
    folder: Path, rest: str, said: str
) -> None:
    path = write_release(folder, "lake", 'engine = "duckdb"', ADVERSARIES + rest)
    path.write_text(path.read_text(encoding="utf-8").replace("at_most = 0.1", "at_most = 1.0"))
    result = check(path)
    assert result["status"] == "not judged"
    told = [
        *result["sentences"],
        *(text for limit in result["limits"] for text in limit["sentences"]),
    ]
    assert any(said in text for text in told)


def test_protection_of_records_that_stay_is_refused_and_nothing_is_written(folder: Path) -> None:
    protect = '[protection]\nmethods = ["suppress"]'
    path = write_release(folder, "lake", 'engine = "duckdb"', ADVERSARIES + protect)
    with pytest.raises(work.InvalidInput, match="in memory only"):
        dv.Release.load(path).protect(out=folder / "protected")
    assert not (folder / "protected").exists()


def test_records_that_fit_are_read_and_that_is_said(folder: Path) -> None:
    result = check(write_release(folder, "auto", 'engine = "auto"'))
    assert result["provenance"] == [
        'The records of dataset "people" were read, since they fit into memory (engine = "auto").'
    ]


def test_records_that_do_not_fit_are_counted_where_they_are_and_why_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = check(write_release(folder, "memory"))
    monkeypatch.setattr("divulge.work.memory.available_memory", lambda: 1000)
    path = write_release(folder, "small", 'memory_limit = "200MB"')
    result = check(path)
    [said] = result["provenance"]
    assert "duckdb counted them" in said
    assert "needs about" in said
    assert without_provenance(result) == without_provenance(memory)


def test_a_database_that_does_not_fit_is_counted_where_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect(str(folder / "census.duckdb")) as connection:
        connection.execute(f"CREATE TABLE pupils AS FROM read_parquet('{folder}/lake/*.parquet')")
    memory = check(write_release(folder, "memory"))
    monkeypatch.setattr("divulge.work.memory.available_memory", lambda: 1000)
    path = write_release(folder, "db", 'memory_limit = "200MB"', source="census.duckdb")
    assert without_provenance(check(path)) == without_provenance(memory)


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ('engine = "spork"', 'dataset "people", engine: "spork" is not an engine.'),
        ('engine = "sc://"', 'dataset "people", engine: names no server'),
        ('engine = "duckdb"\nmemory_limit = "a lot"', 'dataset "people", memory_limit: is a size'),
    ],
)
def test_an_engine_that_is_none_is_said_with_its_place(
    folder: Path, dataset: str, said: str
) -> None:
    with pytest.raises(work.InvalidInput, match=said):
        dv.Release.load(write_release(folder, "wrong", dataset))


@pytest.mark.parametrize("setting", ["missing_codes = { Age = [20] }", "protected = true"])
def test_a_setting_that_changes_values_is_not_forgotten(folder: Path, setting: str) -> None:
    release = dv.Release.load(write_release(folder, "lake", f'engine = "duckdb"\n{setting}'))
    with pytest.raises(work.InvalidInput, match=f"{setting.split()[0]}: is read in memory only"):
        release.check()


def test_files_that_differ_are_told_before_anything_is_counted(folder: Path) -> None:
    table = people().rename_columns(NAMES).drop_columns(["ill"])
    pq.write_table(table, folder / "lake" / "part-9.parquet")
    with pytest.raises(work.InvalidInput, match='part-9.parquet: lacks "ill"'):
        dv.Release.load(write_release(folder, "lake", 'engine = "duckdb"'))


def test_a_lake_that_changes_while_it_is_checked_leaves_no_result_and_the_next_try_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge import engines

    first = folder / "lake" / "part-0.parquet"
    path = write_release(folder, "lake", 'engine = "duckdb"')
    arrays, calls = engines.DuckSession.arrays, []

    def change_meanwhile(self: Any, sql: str) -> Any:
        calls.append(sql)
        if len(calls) == 3:
            pq.write_table(people().rename_columns(NAMES).slice(0, 5), first)
        return arrays(self, sql)

    with monkeypatch.context() as patched:
        patched.setattr(engines.DuckSession, "arrays", change_meanwhile)
        with pytest.raises(engines.EngineError, match="changed since they were scanned"):
            check(path)
    assert not (folder / "results of lake" / "result.json").exists()
    memory = check(write_release(folder, "memory", 'engine = "memory"'))
    assert without_provenance(check(path)) == without_provenance(memory)


def test_a_spark_that_is_away_leaves_nothing_behind(folder: Path) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = write_release(folder, "away", f'engine = "sc://127.0.0.1:{port}/;token=hush"')
    with pytest.raises(EngineError, match="does not answer") as error:
        check(path)
    assert "hush" not in str(error.value)
    assert not (folder / "results of away" / "result.json").exists()


def test_a_spark_that_dies_in_the_middle_leaves_no_result_and_the_next_try_has_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = SailServer().__enter__()
    path = write_release(folder, "dies", f'engine = "{server.address}"')
    tables, calls = SparkConnectSession.table, []

    def die(self: Any, sql: str) -> Any:
        calls.append(sql)
        if len(calls) == 5:
            server.__exit__(None, None, None)
        return tables(self, sql)

    with monkeypatch.context() as patched:
        patched.setattr(SparkConnectSession, "table", die)
        with pytest.raises(EngineError, match="does not answer"):
            check(path)
    assert not (folder / "results of dies" / "result.json").exists()
    memory = check(write_release(folder, "memory", 'engine = "memory"'))
    with SailServer() as another:
        path = write_release(folder, "dies", f'engine = "{another.address}"')
        assert without_provenance(check(path)) == without_provenance(memory)


def test_years_and_populations_of_a_release_are_counted_where_they_are(tmp_path: Path) -> None:
    later = people().rename_columns(NAMES).slice(7)
    write_lake(tmp_path / "first", people().rename_columns(NAMES))
    write_lake(tmp_path / "second", later)
    results = []
    for engine in ("memory", "duckdb"):
        datasets = "".join(
            f"""
[[dataset]]
name = "{name}"
source = "{name}"
engine = "{engine}"
unlisted = "drop"
roles = {{ identifier = "id", quasi_identifier = ["Age", "band"], sensitive = ["income"] }}
"""
            for name in ("first", "second")
        )
        path = tmp_path / f"{engine}.toml"
        path.write_text(
            datasets
            + """
[[adversary]]
name = "patient"
attack = "longitudinal"
dataset = ["first", "second"]
on = "id"
knows = ["Age"]
seeks = "income"

[[adversary]]
name = "registrar"
attack = "records"
model = "CMS"
dataset = ["second", "first"]
knows = ["Age", "band"]

[[limit]]
measure = "deterministic.posterior"
at_most = 0.99
""",
            encoding="utf-8",
        )
        result = dv.Release.load(path).check().to_dict()
        figures = [assessment.pop("figures") for assessment in result["assessments"]]
        kept = {k: v for k, v in result.items() if k not in ("datasets", "provenance")}
        results.append((kept, figures))
    (memory, exact), (lake, found) = results
    assert len(memory["assessments"]) == 2
    assert lake == memory
    # A capacity is a sum of fractions, in another order.
    assert all(one == pytest.approx(other) for one, other in zip(found, exact, strict=True))
