"""Facts out of files and datasets."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge.rules import Program, evaluate
from divulge.work import InvalidInput

TABLE = pa.table({"owner": ["A", "B"], "company": ["B", "C"], "share in %": [60.5, 40.0]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.csv").write_text("owner,company,share in %\nA,B,60.5\nB,C,40\n")
    pq.write_table(TABLE, tmp_path / "own.parquet")
    return tmp_path


@pytest.mark.parametrize("name", ["own.csv", "own.parquet"])
def test_columns_come_in_their_order_or_by_name(folder: Path, name: str) -> None:
    rows = [("A", "B", Decimal("60.5")), ("B", "C", Decimal("40.0"))]
    by_order = Program.parse(f'own(X, Y, W) from "{name}".')
    by_name = Program.parse(f'own("share in %", owner) from "{name}".')
    with evaluate(by_order, files_from=folder) as facts:
        assert facts.rows("own") == rows
        assert facts["own"].column_names == TABLE.column_names
    with evaluate(by_name, files_from=folder) as facts:
        assert facts.rows("own") == [(Decimal("40.0"), "B"), (Decimal("60.5"), "A")]


def test_files_stand_beside_the_program(folder: Path) -> None:
    (folder / "control.rules").write_text(
        'own(X, Y, W) from "own.csv". big(X) :- own(X, _, W), W > 50.'
    )
    with evaluate(Program.load(folder / "control.rules")) as facts:
        assert facts.rows("big") == [("A",)]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('own(X, Y, W) from "owm.csv".', 'there is no file "owm.csv". Did you mean "own.csv"'),
        ('own(X, Y) from "own.csv".', '"own.csv" has 3 columns and "own" 2 arguments'),
        ('own(owner, compani) from "own.csv".', 'no column "compani". Did you mean "company"'),
        ('own(X, Y, W) from "../own.csv".', "is not beside the program"),
        ('own(X, Y, W) from "/etc/passwd".', "is not beside the program"),
        ('own(X, Y) from dataset "firm".', 'there is no dataset "firm". Did you mean "firms"'),
    ],
)
def test_a_source_that_cannot_be_read_is_told_with_its_place(
    folder: Path, source: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(Program.parse(f"p(1).\n{source}"), {"firms": [(1, 2)]}, files_from=folder)
    assert "line 2, column 1" in str(caught.value)
    assert message in str(caught.value)


def test_without_a_folder_no_file_is_read() -> None:
    with pytest.raises(InvalidInput, match="the program comes from no file"):
        evaluate(Program.parse('own(X, Y, W) from "own.csv".'))


def test_a_dataset_is_handed_in_by_its_name() -> None:
    firms = dv.Dataset.from_arrow(TABLE, name="firms")
    program = Program.parse(
        'own(X, Y, W) from dataset "firms". from_one(Y) :- own(_, Y, W), W < 50.'
    )
    with evaluate(program, {"firms": firms}) as facts:
        assert facts.rows("from_one") == [("C",)]


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        dv.Dataset.from_arrow(TABLE),
        TABLE.to_pandas(),
        [("A", "B", 60.5), ("B", "C", 40)],
    ],
    ids=["arrow", "dataset", "pandas", "rows"],
)
def test_facts_may_be_handed_in_as_tables_of_any_kind(given: Any) -> None:
    with evaluate(Program.parse("big(X) :- own(X, _, W), W > 60.4."), {"own": given}) as facts:
        assert facts.rows("big") == [("A",)]


def test_what_came_out_can_go_in_again() -> None:
    made = Program.parse('t(1, {(area, "Roma"), (sector, "Textiles")}).')
    with evaluate(made) as first, evaluate(Program.parse("a(S[area]) :- t(_, S)."), first) as again:
        assert again.rows("a") == [("Roma",)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(1, 2), (1,)], "every row is a tuple of 2 values; row 2 is not"),
        ([(1, object())], "column 2: contains values that do not fit together"),
        ([(10**30, 1)], "row 1, column 1: contains a number too large"),
        (pa.table({"a": [float("inf")], "b": [1]}), 'column "a": contains an infinite number'),
        (pa.table({"a": ["\x01n1"], "b": [1]}), "with the control character"),
        ("text", "this is a str"),
        (
            pa.table({"a": [["x"], None], "b": [1, 2]}),
            'column "a": contains missing sets or tuples',
        ),
        ([(frozenset("x"), 1), (None, 2)], "column 1: contains missing sets or tuples"),
    ],
)
def test_facts_that_cannot_be_taken_are_told(given: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        evaluate(Program.parse("q(X) :- own(X, _)."), {"own": given})


@settings(max_examples=20)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), min_size=1, max_size=5))
def test_lists_of_a_column_are_sets_in_whatever_order_they_come(lists: list[list[str]]) -> None:
    program = Program.parse("same(S) :- listed(S), meant(S). size(N, S) :- listed(S), N = size(S).")
    meant = {frozenset(one) for one in lists}
    data = {
        "listed": pa.table({"s": pa.array(lists, pa.list_(pa.string()))}),
        "meant": [(one,) for one in meant],
    }
    with evaluate(program, data) as facts:
        assert {one for (one,) in facts.rows("same")} == meant
        assert set(facts.rows("size")) == {(len(one), one) for one in meant}


def test_long_lists_are_sets_too() -> None:
    long = [str(number) for number in range(30)]
    program = Program.parse("size(N) :- listed(S), N = size(S).")
    with evaluate(program, {"listed": pa.table({"s": [long + long[::-1]]})}) as facts:
        assert facts.rows("size") == [(30,)]


@pytest.mark.parametrize(
    ("listed", "meant"),
    [
        ([["b", "a"], ["a", "b"]], frozenset({frozenset("ab")})),
        ([{"name": "x", "of": 2}, {"name": "x", "of": 1}], frozenset({("x", 1), ("x", 2)})),
        ([{"name": "x", "of": ["b", "a", "b"]}], frozenset({("x", frozenset("ab"))})),
    ],
    ids=["sets of sets", "sets of tuples", "sets of tuples of sets"],
)
def test_sets_and_tuples_within_sets_are_what_rows_of_python_say(listed: Any, meant: Any) -> None:
    program = Program.parse("same(S) :- listed(S), meant(S).")
    data = {"listed": pa.table({"s": [listed]}), "meant": [(meant,)]}
    with evaluate(program, data) as facts:
        assert facts.rows("same") == [(meant,)]


def test_tuples_of_a_column_are_tuples_whatever_their_fields_are_called() -> None:
    program = Program.parse("first(X) :- listed((X, S)), meant((X, S)).")
    data = {
        "listed": pa.table({"s": [{"who": "x", "what": ["b", "a", "b"]}]}).slice(0, 1),
        "meant": [(("x", frozenset("ab")),)],
    }
    with evaluate(program, data) as facts:
        assert facts.rows("first") == [("x",)]


@pytest.mark.parametrize("chunks", [[], [[]]])
def test_tuples_of_an_empty_table_are_tuples_too(chunks: list[list[Any]]) -> None:
    kind = pa.struct([("town", pa.string()), ("year", pa.int64())])
    column = pa.chunked_array(chunks, type=kind)
    facts = evaluate(Program.parse("q(X) :- p(X)."), {"p": pa.table({"pair": column})})
    assert facts["q"].to_pylist() == []
