"""Programs on little memory, on one thread or several, stopped from outside: the same, or nothing."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from divulge import work
from divulge.engines import duck
from divulge.rules import Facts, Program, evaluate

PAIRS = Program.parse(
    """
    pair(X, Y) :- member(X, G), member(Y, G).
    large(G, mcount(<X>)) :- member(X, G).
    """
)
CONTROL = Program.parse(
    """
    rel(X, X) :- own(X, _, _).
    rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
    degree(X, mcount(<Y>), msum(W, <Y>)) :- rel(X, Y), own(X, Y, W).
    """
)


def make_members(groups: int, size: int) -> pa.Table:
    numbers = range(groups * size)
    return pa.table(
        {
            "X": [f"a company of a long name, number {number}" for number in numbers],
            "G": [number // size for number in numbers],
        }
    )


def count_spilled(facts: Facts) -> int:
    query = "SELECT coalesce(sum(size), 0) FROM duckdb_temporary_files()"
    return facts._runner.count(query)


def test_facts_that_do_not_fit_into_memory_go_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    members = make_members(30, 100)
    with evaluate(PAIRS, {"member": members}) as roomy:
        expected = roomy.count("pair"), roomy.rows("large")
        assert count_spilled(roomy) == 0
    monkeypatch.setattr(work, "available_memory", lambda: 64 * 2**20)
    with evaluate(PAIRS, {"member": members}) as tight:
        assert count_spilled(tight) > 0
        assert (tight.count("pair"), tight.rows("large")) == expected
    assert expected[0] == 30 * 100**2


@pytest.mark.parametrize("threads", [1, 3])
def test_facts_do_not_depend_on_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    own = [(f"c{i % 97}", f"c{(i * i + 7) % 89}", round(0.05 + i % 12 / 12, 3)) for i in range(900)]
    connect = duckdb.connect

    def connect_with_threads(*place: Any, **settings: Any) -> Any:
        settings["config"] = {**settings["config"], "threads": threads}
        return connect(*place, **settings)

    with evaluate(CONTROL, {"own": own}) as facts:
        expected = {name: facts.find_rows(name) for name in facts}
    monkeypatch.setattr(duckdb, "connect", connect_with_threads)
    with evaluate(CONTROL, {"own": own}) as facts:
        assert {name: facts.find_rows(name) for name in facts} == expected


def test_an_evaluation_can_be_stopped_in_the_middle_of_a_query(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cancellation = work.Cancellation()
    started = threading.Event()
    run = duck.DuckSession.run

    def run_and_tell(session: duck.DuckSession, sql: str) -> None:
        if "n1" in sql and "CROSS JOIN" in sql:
            started.set()
        run(session, sql)

    monkeypatch.setattr(duck.DuckSession, "run", run_and_tell)

    def cancel_once_started() -> None:
        started.wait(60)
        time.sleep(0.05)
        cancellation.cancel()

    helper = threading.Thread(target=cancel_once_started)
    helper.start()
    program = Program.parse("triple(X, Y, Z) :- n(X), n(Y), n(Z), X * Y + Z = 17.")
    mine = f"divulge-spill-{os.getpid()}-*"
    before = set(Path(tempfile.gettempdir()).glob(mine))
    with work.run_with(cancellation=cancellation), pytest.raises(work.Cancelled):
        evaluate(program, {"n": [(number,) for number in range(4000)]})
    started.set()
    helper.join()
    assert set(Path(tempfile.gettempdir()).glob(mine)) <= before
