"""What goes wrong with a lake or an engine is said in our words, and nothing comes of it."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import divulge as dv
from divulge import engines, work
from divulge.data import Relation
from divulge.data.relation.relation import RecordsElsewhere
from divulge.engines.engine_errors import translate_error
from divulge.engines.sail import SailServer
from divulge.engines.spark import SparkConnectSession

from .lakes import ROLES, people, write_lake

SOURCE = Path(dv.__file__).parent


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return write_lake(tmp_path / "people", people())


def count(relation: dv.Dataset) -> Any:
    return dv.records.attack(relation, "CRS").certain


def test_a_relation_says_what_it_is_and_holds_no_column(lake: Path) -> None:
    relation = dv.scan(lake / "*.parquet", roles=ROLES, name="people")
    assert isinstance(relation, Relation)
    assert (relation.rows, relation.names) == (60, people().column_names)
    assert repr(relation).endswith("counted by duckdb")
    with pytest.raises(RecordsElsewhere, match="counted in memory only"):
        _ = relation.columns["Age"]
    with pytest.raises(KeyError):
        _ = relation.columns["nobody"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: dv.records.suda(r),
        lambda r: dv.protection.suppress(r, k=3),
        lambda r: r.to_arrow(),
        lambda r: dv.records.attack(r, "CRS", prior=[1.0] * 60),
        lambda r: dv.records.attack(r, "CRS", release=r),
        lambda r: dv.records.attack(r, "CRS", knows_also=[(0, "ill")]),
        lambda r: dv.records.attack(r, "CAS", seeks="ill", gain=[[1, 0], [0, 1]]).by("school"),
        lambda r: dv.records.attack(r, "CMS", population=r, prior="Age"),
    ],
)
def test_what_is_counted_in_memory_only_says_so(lake: Path, ask: Any) -> None:
    with pytest.raises(work.InvalidInput, match="in memory only"):
        ask(dv.scan(lake, roles=ROLES))


def test_files_that_differ_are_refused_with_every_difference(lake: Path) -> None:
    other = people().drop_columns(["ill"]).append_column("more", pa.array([1] * 60))
    place = other.column_names.index("Age")
    other = other.set_column(place, "Age", other.column("Age").cast(pa.float64()))
    pq.write_table(other, lake / "part-9.parquet")
    with pytest.raises(work.InvalidInput) as error:
        dv.scan(lake)
    assert 'part-9.parquet: lacks "ill", unlike part-0.parquet.' in str(error.value)
    assert 'part-9.parquet: also has "more", unlike part-0.parquet.' in str(error.value)
    assert "double where part-0.parquet has int64" in str(error.value)


def test_a_column_that_cannot_be_counted_is_named_and_can_be_left_out(tmp_path: Path) -> None:
    table = pa.table({"age": [1, 2], "visits": [[1], [2, 3]]})
    lake = write_lake(tmp_path / "lake", table, parts=1)
    with pytest.raises(work.InvalidInput, match='column "visits": a column of type list'):
        dv.scan(lake)
    assert dv.scan(lake, columns=["age"]).names == ["age"]


def test_a_lake_that_changes_is_seen_before_and_after(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relation = dv.scan(lake, roles=ROLES)
    first = lake / "part-0.parquet"
    pq.write_table(people().slice(0, 5), first)
    with pytest.raises(engines.EngineError, match="changed since they were scanned"):
        count(relation)
    relation = dv.scan(lake, roles=ROLES)
    arrays = engines.DuckSession.arrays

    def change_meanwhile(self: Any, sql: str) -> Any:
        os.utime(first, ns=(1, 1))
        return arrays(self, sql)

    monkeypatch.setattr(engines.DuckSession, "arrays", change_meanwhile)
    with pytest.raises(engines.EngineError, match="nothing was kept"):
        count(relation)


def test_a_file_that_vanished_is_named(lake: Path) -> None:
    relation = dv.scan(lake, roles=ROLES)
    (lake / "part-1.parquet").unlink()
    with pytest.raises(engines.EngineError, match="part-1.parquet"):
        count(relation)


def test_a_server_that_is_away_is_said_at_once_and_its_token_is_not() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(engines.EngineError, match="does not answer") as error:
        dv.scan(f"sc://127.0.0.1:{port}/;token=secret", table="pupils")
    assert "secret" not in str(error.value)


def test_a_server_that_dies_in_the_middle_is_said() -> None:
    server = SailServer().__enter__()
    with SparkConnectSession(server.address) as session:
        assert session.arrays("SELECT 1 AS n")["n"].tolist() == [1]
        server.__exit__(None, None, None)
        with pytest.raises(engines.EngineError, match="does not answer"):
            session.arrays("SELECT 2 AS n")


def test_a_table_that_a_server_does_not_have_is_said() -> None:
    with (
        SparkConnectSession(None) as session,
        pytest.raises(engines.EngineError, match="no such table"),
    ):
        session.offer_table("records", "census.pupils")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("IO Error: Could not write file: No space left on device", "disk for temporary files"),
        ("Out of Memory Error: could not allocate block of size 256.0 KiB", "ran out of memory"),
        ("[UNRESOLVED_COLUMN] c9", "other columns"),
        ("IO Error: Could not set lock on file", "another program has it open"),
        ("StatusCode.UNAVAILABLE failed to connect", "does not answer"),
        ("[UNSUPPORTED_DATATYPE] interval", "of this type"),
        ("StatusCode.UNAUTHENTICATED", "does not let us in"),
        ("the name is Smith", r"could not carry out a query \(RuntimeError\)"),
    ],
)
def test_what_an_engine_says_is_told_in_our_words(text: str, said: str) -> None:
    error = translate_error(RuntimeError(text), "DuckDB")
    assert isinstance(error, work.Interruption)
    with pytest.raises(type(error), match=said):
        raise error
    assert "Smith" not in str(error)


def test_duckdb_without_memory_and_disk_says_so() -> None:
    with engines.DuckSession(memory_limit=2**25) as duck:
        duck.run("SET max_temp_directory_size = '1MB'")
        with pytest.raises((work.NotEnoughMemory, engines.EngineError), match=r"memory|disk"):
            duck.arrays(
                "SELECT count(*) AS n FROM (SELECT DISTINCT hash(i) FROM range(9000000) t(i))"
            )


def test_a_limit_of_memory_is_kept(lake: Path) -> None:
    relation = dv.scan(lake, roles=ROLES, memory_limit="100MB")
    assert isinstance(relation, Relation)
    with relation.open() as session:
        found = session.table("SELECT current_setting('memory_limit') AS size").column(0)
    assert found[0].as_py() == "95.3 MiB"
    with pytest.raises(work.InvalidInput, match="memory_limit"):
        dv.scan(lake, memory_limit="a lot")


def test_a_table_of_a_database_is_scanned(tmp_path: Path) -> None:
    path = tmp_path / "census.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE pupils AS SELECT i % 3 AS a, i AS b FROM range(9) t(i)")
        connection.execute("CREATE TABLE others AS SELECT 1 AS a")
    relation = dv.scan(path, {"quasi_identifier": "a"}, table="pupils")
    assert (relation.name, relation.rows, count(relation)) == ("census", 9, (0, 0))
    with pytest.raises(work.InvalidInput, match="give the table"):
        dv.scan(path)


def test_what_fits_is_read_and_what_does_not_stays_with_the_reason(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not isinstance(dv.scan(lake, roles=ROLES, engine="auto"), Relation)
    monkeypatch.setattr("divulge.work.memory.available_memory", lambda: 1000)
    relation = dv.scan(lake, roles=ROLES, engine="auto", memory_limit="200MB")
    assert isinstance(relation, Relation)
    assert "needs about" in relation.choice
    assert relation.choice.endswith("is free")
    assert count(relation) == (0, 32)


def test_files_with_signs_of_patterns_in_their_names_are_themselves(tmp_path: Path) -> None:
    lake = tmp_path / "a[1]*"
    write_lake(lake, pa.table({"a": [1, 2]}), parts=1)
    write_lake(tmp_path / "a1", pa.table({"a": [7]}), parts=1)
    assert dv.scan(lake, {"quasi_identifier": "a"}).rows == 2


@pytest.mark.parametrize(
    ("place", "options", "said"),
    [
        ("none/*.parquet", {}, "no file has a name of this pattern"),
        ("people/part-0.parquet", {"engine": "spork"}, '"spork" is not an engine'),
        ("sc://lake:15002", {}, "table: is missing"),
        ("sc://lake:15002", {"engine": "duckdb"}, "counts them itself"),
        ("people", {"columns": ["Agee"]}, 'Did you mean "Age"'),
        ("people", {"roles": {"sensitive": "incme"}}, 'Did you mean "income"'),
        ("postgresql://host/db", {}, "not scanned"),
    ],
)
def test_what_cannot_be_scanned_says_why(
    lake: Path, monkeypatch: pytest.MonkeyPatch, place: str, options: Any, said: str
) -> None:
    monkeypatch.chdir(lake.parent)
    with pytest.raises(work.InvalidInput, match=said):
        dv.scan(place, **options)


def test_only_the_engines_know_pyspark() -> None:
    """Who else imported it would need it installed, and would speak to one engine alone."""
    importers = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in ("pyspark", "pysail", "grpc") for name in names):
                importers.add(path.relative_to(SOURCE).parts[0])
    assert importers == {"engines"}


def test_a_process_without_a_main_file_can_ask_a_server(lake: Path) -> None:
    # PySpark takes such a process (`python -c`, a notebook's worker) for its own doctests and ends it.
    code = (
        f"import divulge as dv\nlake = dv.scan({str(lake)!r}, engine='sail')\n"
        "import sys\nprint(lake.rows, hasattr(sys, 'ps1'))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert answer.stdout == "60 False\n", answer.stderr


def test_nothing_is_fetched_from_the_network_by_duckdb() -> None:
    with engines.DuckSession() as duck:
        for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
            [allowed] = duck.table(f"SELECT current_setting('{setting}') AS v").column(0)
            assert allowed.as_py() is False


def test_a_query_that_is_to_be_stopped_is_stopped_and_its_files_are_gone() -> None:
    before = set(Path(tempfile.gettempdir()).glob(f"divulge-spill-{os.getpid()}-*"))
    cancellation = work.Cancellation()
    sql = "SELECT count(*) AS n FROM range(1000000000) a(i), range(1000) b(j) WHERE i * j % 7 = 3"
    timer = threading.Timer(0.2, cancellation.cancel)
    with (
        pytest.raises(work.Cancelled),
        work.run_with(cancellation=cancellation),
        engines.DuckSession() as duck,
    ):
        timer.start()
        duck.arrays(sql)
    assert set(Path(tempfile.gettempdir()).glob(f"divulge-spill-{os.getpid()}-*")) == before


def test_a_session_that_cannot_begin_leaves_no_files() -> None:
    before = set(Path(tempfile.gettempdir()).glob(f"divulge-spill-{os.getpid()}-*"))
    wrong: Any = object()
    with pytest.raises(duckdb.Error), engines.DuckSession(records=wrong):
        pass
    assert set(Path(tempfile.gettempdir()).glob(f"divulge-spill-{os.getpid()}-*")) == before


def test_a_token_is_in_no_representation() -> None:
    from divulge.data.relation.lake_scan import LakeSource

    address = "sc://lake:15002/;token=hush"
    source = LakeSource(path=address, engine=address)
    shown = [source, source.said, engines.LakeTable(address, "pupils")]
    shown.append(engines.ParquetFiles((Path("a"),), address))
    assert "hush" not in "".join(map(repr, shown))


def test_a_database_that_is_written_to_by_another_program_is_said(tmp_path: Path) -> None:
    path = tmp_path / "census.duckdb"
    code = f"""
import duckdb, sys
connection = duckdb.connect({str(path)!r})
connection.execute("CREATE TABLE pupils AS SELECT 1 AS a")
connection.execute("CHECKPOINT")
print("ready", flush=True)
sys.stdin.read()
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    try:
        with pytest.raises(work.DivulgeError, match=r"another program|lock|in use"):
            dv.scan(path, {"quasi_identifier": "a"})
    finally:
        writer.communicate()


def test_an_error_of_duckdb_in_the_middle_of_a_stream_shows_no_value(tmp_path: Path) -> None:

    texts = pa.table({"k": [1] * 400_000, "v": ["1"] * 399_999 + ["secret value"]})
    sql = "SELECT k, CAST(v AS INTEGER) AS w FROM records"
    query = engines.BlockQuery(
        sql=sql, by=["k"], rows=3, walk=lambda batches: batches, schema=pa.schema([]), reduce=""
    )
    out = tmp_path / "figures.parquet"
    with engines.DuckSession(records=texts) as duck:
        for run in (
            lambda: list(duck.map_blocks(query)),
            lambda: duck.write_parquet(sql, out, ["k", "w"]),
        ):
            with pytest.raises(engines.EngineError) as raised:
                run()
            assert "DuckDB could not carry out a query" in str(raised.value)
            assert "secret" not in str(raised.value)
        missing = tmp_path / "nowhere" / "figures.parquet"
        with pytest.raises(FileNotFoundError):
            duck.write_parquet("SELECT k FROM records", missing, ["k"])
