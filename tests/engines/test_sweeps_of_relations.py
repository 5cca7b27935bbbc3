"""A sweep finds the same of every set whether records are in memory or somewhere else."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import tables

import divulge as dv
from divulge import engines, work
from divulge.data import Relation
from divulge.records import tuning

from .lakes import ENGINES, ROLES, people, read_both, write_lake

KNOWN = ROLES["quasi_identifier"]
LISTED = [[KNOWN[0]], [KNOWN[1], KNOWN[2]], [KNOWN[3], KNOWN[0], KNOWN[1]], KNOWN]


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return write_lake(tmp_path / "people", people())


def assert_same(found: dv.records.Sweep, expected: dv.records.Sweep) -> None:
    """Whole numbers are equal; capacities are sums of fractions in another order."""
    one, other = found.to_arrow(), expected.to_arrow()
    assert one.column_names == other.column_names
    for name in one.column_names:
        values = one.column(name).to_pylist()
        if name.endswith(".capacity") or name.startswith("weighted."):
            assert values == pytest.approx(other.column(name).to_pylist())
        else:
            assert values == other.column(name).to_pylist(), name


@pytest.mark.parametrize("engine", ENGINES)
def test_listed_sets_are_counted_alike_by_every_engine(lake: Path, engine: str) -> None:
    memory, relation = read_both(lake, engine)
    assert isinstance(relation, Relation)
    own = relation.lake.engine
    expected = dv.records.sweep(memory, sets=LISTED)
    assert [expected.names(place) for place in range(4)] == sorted(
        (sorted(each, key=KNOWN.index) for each in LISTED), key=len
    )
    assert_same(dv.records.sweep(relation, sets=LISTED, engine=own), expected)


@pytest.mark.parametrize("engine", ["duckdb", "sail"])
def test_all_sets_of_combinations_are_those_of_records(lake: Path, engine: str) -> None:
    memory, relation = read_both(lake, engine)
    expected = dv.records.sweep(memory)
    found = dv.records.sweep(relation, engine="memory")
    assert len(found) == 15
    assert_same(found, expected)
    assert found.prior("income", "probabilistic") == expected.prior("income", "probabilistic")
    assert found.marginal("ill").equals(expected.marginal("ill"))
    assert found.assessment(KNOWN[:2]).to_dict() == expected.assessment(KNOWN[:2]).to_dict()


@given(tables(max_columns=4, max_rows=12), st.data())
@settings(max_examples=20)
def test_a_walk_over_combinations_and_sql_find_what_memory_finds(
    table: Any, data: st.DataObject
) -> None:
    import tempfile

    names = table.column_names
    sought = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names) - 1))
    known = [name for name in names if name not in sought]
    roles = {"quasi_identifier": known, "sensitive": sought}
    with tempfile.TemporaryDirectory() as folder:
        lake = write_lake(Path(folder) / "lake", table, parts=2)
        memory, relation = read_both(lake, "duckdb", roles=roles)
        expected = dv.records.sweep(memory)
        assert_same(dv.records.sweep(memory, engine="duckdb"), expected)
        assert_same(dv.records.sweep(relation, engine="duckdb"), expected)
        assert_same(dv.records.sweep(relation, engine="memory"), expected)


def count_queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    queries: list[str] = []
    arrays = engines.DuckSession.arrays

    def note(self: Any, sql: str) -> Any:
        queries.append(sql)
        return arrays(self, sql)

    monkeypatch.setattr(engines.DuckSession, "arrays", note)
    return queries


@pytest.mark.parametrize("where", ["memory", "relation"])
def test_only_the_sizes_that_were_asked_for_are_grouped(
    lake: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    memory, relation = read_both(lake, "duckdb")
    expected = dv.records.sweep(memory, sizes=[4])
    queries = count_queries(monkeypatch)
    dataset = memory if where == "memory" else relation
    assert_same(dv.records.sweep(dataset, sizes=[4], engine="duckdb"), expected)
    assert len(queries) == 3  # one set: its classes, and two secrets


@pytest.mark.parametrize("where", ["memory", "relation"])
def test_a_sweep_by_sql_that_was_interrupted_goes_on_where_it_was(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    memory, relation = read_both(lake, "duckdb")
    dataset = memory if where == "memory" else relation
    expected = dv.records.sweep(memory)
    monkeypatch.setattr(tuning, "ROWS_BETWEEN_CHECKPOINTS", 4 * 60)
    checkpoints = work.Checkpoints(tmp_path / "kept")
    queries = count_queries(monkeypatch)
    noted = engines.DuckSession.arrays

    def die(self: Any, sql: str) -> Any:
        if len(queries) == 30:
            raise KeyboardInterrupt
        return noted(self, sql)

    with monkeypatch.context() as dying:
        dying.setattr(engines.DuckSession, "arrays", die)
        with pytest.raises(KeyboardInterrupt), work.run_with(checkpoints=checkpoints):
            dv.records.sweep(dataset, engine="duckdb")
    # Ten sets were counted; of these, two portions of four are kept.
    assert len(list((tmp_path / "kept").glob("*.npz"))) == 2
    queries.clear()
    with work.run_with(checkpoints=work.Checkpoints(tmp_path / "kept")):
        found = dv.records.sweep(dataset, engine="duckdb")
    assert len(queries) == 3 * (15 - 8)
    assert_same(found, expected)


def test_a_walk_over_combinations_that_was_interrupted_goes_on(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge.records.sweep import cube_kernels

    memory, relation = read_both(lake, "duckdb")
    with work.run_with(checkpoints=work.Checkpoints(tmp_path / "kept")):
        first = dv.records.sweep(relation, engine="memory")
    monkeypatch.setattr(cube_kernels, "cube", None)  # nothing is walked again
    with work.run_with(checkpoints=work.Checkpoints(tmp_path / "kept")):
        assert_same(dv.records.sweep(relation, engine="memory"), first)
    assert_same(first, dv.records.sweep(memory, engine="duckdb"))


def test_combinations_that_do_not_fit_are_counted_set_by_set(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = dv.read(lake, roles=ROLES, name="people")
    relation = dv.scan(lake, roles=ROLES, name="people", memory_limit="200MB")
    expected = dv.records.sweep(memory)
    monkeypatch.setattr(tuning, "COMBINATIONS_FETCHED_UNCOUNTED", 10)
    monkeypatch.setattr("divulge.work.memory.available_memory", lambda: 1000)
    assert_same(dv.records.sweep(relation), expected)
    with pytest.raises(work.NotEnoughMemory, match="sets are then counted where the records are"):
        dv.records.sweep(relation, engine="memory")


def test_a_sweep_that_runs_out_of_memory_says_so_in_our_words(tmp_path: Path) -> None:
    numbers = pa.array(range(400_000))
    table = pa.table({"a": numbers, "b": pa.array(reversed(range(400_000)))})
    lake = write_lake(tmp_path / "lake", table)
    relation = dv.scan(lake, {"quasi_identifier": ["a", "b"]}, memory_limit=64 * 2**20)
    assert isinstance(relation, Relation)
    open_relation = Relation.open

    def open_without_disk(self: Relation) -> Any:
        from contextlib import contextmanager

        @contextmanager
        def opened() -> Any:
            with open_relation(self) as session:
                assert isinstance(session, engines.DuckSession)
                session.run("SET max_temp_directory_size = '1MB'")
                session.run("SET memory_limit = '4MB'")
                yield session

        return opened()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Relation, "open", open_without_disk)
        with pytest.raises(
            (work.NotEnoughMemory, engines.EngineError), match=r"DuckDB (ran|could)"
        ):
            dv.records.sweep(relation, engine="duckdb")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sets": []}, "sets: lists none"),
        ({"sets": [[]]}, "sets: lists a set of no attribute"),
        ({"sets": [["Agee"]]}, 'Did you mean "Age"'),
        ({"sets": [["Age"]], "sizes": 2}, "sizes: goes with all sets"),
        ({"sets": [["Age"]], "knows": ["age"]}, 'what is known has no attribute "Age"'),
        ({"engine": "sail"}, "the records stay with duckdb"),
        ({"engine": "spork"}, '"spork" is not an engine'),
    ],
)
def test_what_cannot_be_swept_says_why(lake: Path, options: Any, said: str) -> None:
    _, relation = read_both(lake, "duckdb")
    with pytest.raises(work.InvalidInput, match=said):
        dv.records.sweep(relation, **options)


def test_records_in_memory_are_not_counted_by_a_server(lake: Path) -> None:
    memory, _ = read_both(lake, "duckdb")
    with pytest.raises(work.InvalidInput, match="scan them"):
        dv.records.sweep(memory, engine="sc://lake:15002")


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("sweep", ["--knows", "Age", "--knows", "age", "--seeks", "income"]),
        ("attack", ["--model", "IRS", "--knows", "Age", "--target", "Age=21"]),
        ("attack", ["--model", "CAS", "--knows", "Age", "--seeks", "ill"]),
    ],
)
def test_the_command_line_counts_where_records_are_and_says_who(
    lake: Path, divulge: Any, verb: str, options: list[str]
) -> None:
    pattern = str(lake / "*.parquet")
    memory = divulge(verb, pattern, *options, "--engine", "memory", "--json")
    found = divulge(verb, pattern, *options, "--engine", "duckdb", "--json")
    assert (memory.returncode, memory.stderr) == (0, "")
    assert (found.returncode, found.stdout) == (0, memory.stdout)
    assert "duckdb counts them" in found.stderr


def test_a_text_file_is_swept_by_duckdb_as_before(tmp_path: Path, divulge: Any) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n25,F\n25,M\n", encoding="utf-8")
    options = ["--knows", "age", "--knows", "sex", "--json"]
    by_sets = divulge("sweep", str(path), *options, "--engine", "duckdb")
    assert by_sets.returncode == 0
    assert by_sets.stdout == divulge("sweep", str(path), *options).stdout


def sweep_in_portions(relation: dv.Dataset, rows: int, **options: Any) -> dv.records.Sweep:
    """The sweep of a relation as if no more than so many combinations of values had room."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tuning, "COMBINATIONS_FETCHED_UNCOUNTED", 0)
        patched.setattr(tuning, "LEAST_PORTION_ROWS", rows)
        patched.setattr(tuning, "MOST_PORTION_ROWS", rows)
        patched.setattr("divulge.work.memory.available_memory", lambda: 0)
        return dv.records.sweep(relation, **options)


@pytest.mark.parametrize("engine", ENGINES)
def test_all_sets_in_portions_are_those_of_memory(lake: Path, engine: str) -> None:
    memory, relation = read_both(lake, engine)
    assert_same(sweep_in_portions(relation, 16), dv.records.sweep(memory))


def crowd(seed: int, rows: int = 150) -> pa.Table:
    """Attributes of two values to a dozen, one of which most people have, and two secrets."""
    draw = np.random.default_rng(seed)
    columns = {
        "street": draw.integers(0, 12, rows),
        "age": np.minimum(draw.integers(0, 30, rows), 7),
        "sex": draw.integers(0, 2, rows),
        "born": np.where(draw.random(rows) < 0.9, 0, draw.integers(1, 5, rows)),
        "income": draw.integers(0, 3, rows),
        "ill": draw.random(rows) < 0.2,
    }
    return pa.table({name: pa.array(values) for name, values in columns.items()})


CROWD_ROLES = {
    "quasi_identifier": ["born", "sex", "age", "street"],
    "sensitive": ["income", "ill"],
}


@pytest.mark.parametrize("secret_bits", [1, 12])
@pytest.mark.parametrize("rows", [1, 5, 9, 20, 40, 70])
def test_however_few_rows_fit_every_set_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, secret_bits: int
) -> None:
    """With 1 each set is grouped; with 5 some are; with more, blocks of one or two attributes."""
    monkeypatch.setattr(tuning, "JOINT_BITS", secret_bits)
    folder = write_lake(tmp_path / "crowd", crowd(7))
    memory, relation = read_both(folder, "duckdb", roles=CROWD_ROLES)
    for sizes in (1, 2, 4):
        expected = dv.records.sweep(memory, sizes=sizes)
        assert_same(sweep_in_portions(relation, rows, sizes=sizes), expected)


def test_more_records_that_are_alike_than_a_walk_can_count_are_grouped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge.records.sweep.engine_sweep import portion_walk, relation_lattice, relation_sweep

    folder = write_lake(tmp_path / "crowd", crowd(8))
    memory, relation = read_both(folder, "duckdb", roles=CROWD_ROLES)
    expected = dv.records.sweep(memory)
    for module in (portion_walk, relation_lattice, relation_sweep):
        monkeypatch.setattr(module, "MOST_ROWS", 30)
    assert_same(dv.records.sweep(relation), expected)


def test_a_walk_in_portions_that_was_interrupted_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge.records.sweep import cube_kernels

    folder = write_lake(tmp_path / "crowd", crowd(9))
    memory, relation = read_both(folder, "duckdb", roles=CROWD_ROLES)
    walked: list[int] = []
    cube = cube_kernels.cube

    def walk(*arguments: Any) -> None:
        walked.append(1)
        cube(*arguments)

    monkeypatch.setattr(cube_kernels, "cube", walk)
    sweep_in_portions(relation, 20)
    needed = len(walked)
    walked.clear()

    def die(*arguments: Any) -> None:
        if len(walked) == 5:
            raise KeyboardInterrupt
        walk(*arguments)

    with monkeypatch.context() as dying:
        dying.setattr(cube_kernels, "cube", die)
        with (
            pytest.raises(KeyboardInterrupt),
            work.run_with(checkpoints=work.Checkpoints(tmp_path / "kept")),
        ):
            sweep_in_portions(relation, 20)
    walked.clear()
    with work.run_with(checkpoints=work.Checkpoints(tmp_path / "kept")):
        assert_same(sweep_in_portions(relation, 20), dv.records.sweep(memory))
    in_memory = 1  # the sweep that it is compared with
    assert len(walked) <= needed - 4 + in_memory


def test_a_server_whose_workers_lack_divulge_counts_set_by_set(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge.records.sweep.engine_sweep import relation_lattice

    memory, relation = read_both(lake, "sail")
    monkeypatch.setattr(relation_lattice, "version", lambda _: "0.0.0 of another place")
    assert_same(sweep_in_portions(relation, 16), dv.records.sweep(memory))


@given(tables(max_columns=5, max_rows=25), st.data())
@settings(max_examples=15)
def test_sets_in_portions_are_those_of_memory_however_little_fits(
    table: Any, data: st.DataObject
) -> None:
    import tempfile

    names = table.column_names
    sought = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names) - 1))
    known = [name for name in names if name not in sought]
    rows = data.draw(st.integers(1, 12))
    largest = data.draw(st.integers(1, len(known)))
    roles = {"quasi_identifier": known, "sensitive": sought}
    with tempfile.TemporaryDirectory() as folder:
        lake = write_lake(Path(folder) / "lake", table, parts=2)
        memory, relation = read_both(lake, "duckdb", roles=roles)
        expected = dv.records.sweep(memory, sizes=largest)
        assert_same(sweep_in_portions(relation, rows, sizes=largest), expected)


def test_an_engine_that_tears_rows_apart_is_caught(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from divulge.records.sweep.engine_sweep.portion_walk import PortionWalk

    _, relation = read_both(lake, "duckdb")
    monkeypatch.setattr(PortionWalk, "_find_last_block", lambda _, table: table.num_rows)
    with pytest.raises(engines.EngineError, match="belong together"):
        sweep_in_portions(relation, 16)


def test_a_walk_in_portions_tells_how_far_it_is_and_is_stopped(tmp_path: Path) -> None:
    folder = write_lake(tmp_path / "crowd", crowd(9))
    _, relation = read_both(folder, "duckdb", roles=CROWD_ROLES)
    heard: list[work.Progress] = []
    with work.run_with(reporter=heard.append):
        sweep_in_portions(relation, 20)
    walks = [each for each in heard if each.finished and each.total == 15]
    assert [round(each.done, 6) for each in walks] == [15]
    cancellation = work.Cancellation()

    def stop(progress: work.Progress) -> None:
        if progress.done:
            cancellation.cancel()

    with (
        pytest.raises(work.Cancelled),
        work.run_with(reporter=stop, cancellation=cancellation),
    ):
        sweep_in_portions(relation, 20)


def test_a_full_disk_while_portions_are_made_is_said_in_our_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(1).permutation(200_000)
    table = pa.table({"a": pa.array(numbers), "b": pa.array(numbers[::-1] % 150_000)})
    lake = write_lake(tmp_path / "lake", table)
    relation = dv.scan(lake, {"quasi_identifier": ["a", "b"]}, memory_limit=64 * 2**20)
    connect = engines.DuckSession.__enter__

    def connect_with_little_disk(self: engines.DuckSession) -> engines.DuckSession:
        duck = connect(self)
        duck.run("SET max_temp_directory_size = '100KB'")
        duck.run("SET memory_limit = '8MB'")
        return duck

    monkeypatch.setattr(engines.DuckSession, "__enter__", connect_with_little_disk)
    with pytest.raises((work.NotEnoughMemory, engines.EngineError), match=r"DuckDB (ran|could)"):
        sweep_in_portions(relation, 1 << 14)


KILLED = """
import os, signal, sys
import divulge as dv
from divulge import engines, work
from divulge.records import tuning

lake, kept, way = sys.argv[1:]
roles = {"quasi_identifier": ["born", "sex", "age", "street"], "sensitive": ["income", "ill"]}
tuning.ROWS_BETWEEN_CHECKPOINTS = 4 * 150
left = [30 if way == "sets" else 8]

def die_later(function):
    def call(*arguments):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments)
    return call

relation = dv.scan(lake, roles=roles)
if way == "sets":
    engines.DuckSession.arrays = die_later(engines.DuckSession.arrays)
else:
    from divulge.records.sweep import cube_kernels
    cube_kernels.cube = die_later(cube_kernels.cube)
    tuning.COMBINATIONS_FETCHED_UNCOUNTED = 0
    tuning.LEAST_PORTION_ROWS = tuning.MOST_PORTION_ROWS = 20
    work.memory.available_memory = lambda: 0
with work.run_with(checkpoints=work.Checkpoints(kept)):
    dv.records.sweep(relation, engine="duckdb" if way == "sets" else "auto")
"""


@pytest.mark.parametrize("way", ["sets", "portions"])
def test_a_sweep_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    from divulge.records.sweep import cube_kernels

    folder = write_lake(tmp_path / "crowd", crowd(9))
    kept = tmp_path / "kept"
    command = [sys.executable, "-c", KILLED, str(folder), str(kept), way]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (killed.returncode, killed.stderr) == (-signal.SIGKILL, "")
    remembered = len(list(kept.glob("*.npz")))
    assert remembered
    memory = dv.read(folder, roles=CROWD_ROLES)
    relation = dv.scan(folder, roles=CROWD_ROLES)
    expected = dv.records.sweep(memory)
    monkeypatch.setattr(tuning, "ROWS_BETWEEN_CHECKPOINTS", 4 * 150)
    walked: list[int] = []
    cube = cube_kernels.cube

    def walk(*arguments: Any) -> None:
        walked.append(1)
        cube(*arguments)

    monkeypatch.setattr(cube_kernels, "cube", walk)
    with work.run_with(checkpoints=work.Checkpoints(kept)):
        if way == "sets":
            queries = count_queries(monkeypatch)
            assert_same(dv.records.sweep(relation, engine="duckdb"), expected)
            assert len(queries) == 3 * (15 - 4 * remembered)
        else:
            assert_same(sweep_in_portions(relation, 20), expected)
            again = len(walked)
            walked.clear()
            with work.run_with(checkpoints=work.Checkpoints(tmp_path / "nothing")):
                sweep_in_portions(relation, 20)
            assert again == len(walked) - remembered


def test_a_portion_that_is_cut_elsewhere_is_not_taken_for_what_was_remembered(
    tmp_path: Path,
) -> None:
    from divulge.records.sweep.engine_sweep.portion_walk import PortionWalk

    walk = PortionWalk(
        always=(0,), open_=(1,), attributes=2, cardinalities={0: 4, 1: 2}, secret_totals=[],
        at_most=2, capacity=False, most_rows=4, key={"data": "the same"},
    )  # fmt: skip
    rows = pa.table({"k0": [0, 1, 2, 3], "k1": [0, 0, 0, 0], "n": [9, 9, 2, 3]})
    with work.run_with(checkpoints=work.Checkpoints(tmp_path / "kept")):
        first = walk.count_portion(rows.slice(0, 2), number=1)
        other = walk.count_portion(rows.slice(1, 2), number=1)
        again = walk.count_portion(rows.slice(0, 2), number=1)
    assert first.noted.tolist() == again.noted.tolist() != other.noted.tolist()
    with work.run_with():
        assert walk.count_portion(rows.slice(1, 2)).noted.tolist() == other.noted.tolist()
