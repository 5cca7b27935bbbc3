"""Nulls: invented last, merged by equality rules, and never taken for a known value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from divulge.rules import LabelledNull, Program, evaluate


def derive(text: str, data: Mapping[str, Any] | None = None) -> dict[str, list[Any]]:
    with evaluate(Program.parse(text), data) as facts:
        return {name: facts.rows(name) for name in facts}


CATEGORIES = """
att(m, area). att(m, id). att(m, sector).
known(area, quasi).
exists C cat(M, A, C) :- att(M, A).
cat(M, A, C) :- att(M, A), known(A, C).
known(A, C) :- cat(M, A, C).
C1 = C2 :- cat(M, A, C1), cat(M, A, C2).
"""


def test_a_null_is_invented_only_where_nothing_certain_is_found() -> None:
    found = derive(CATEGORIES)
    assert found["cat"] == [
        ("m", "area", "quasi"),
        ("m", "id", LabelledNull("n1")),
        ("m", "sector", LabelledNull("n2")),
    ]


def test_a_conflict_of_constants_is_a_row_and_stops_nothing() -> None:
    program = Program.parse(
        CATEGORIES + "cat(m, sector, a) :- att(m, _). cat(m, sector, b) :- att(m, _)."
    )
    with evaluate(program) as facts:
        [conflict] = facts.conflicts
        assert {conflict.left, conflict.right} == {"a", "b"}
        assert conflict.binding == {"M": "m", "A": "sector", "C1": "a", "C2": "b"}
        assert facts.count("cat") == 4


def test_equality_rules_make_nulls_one_value_everywhere() -> None:
    found = derive(
        """
        p(1). p(2). p(3). p(4). link(1, 2). link(3, 4). told(2, "x").
        exists N name(X, N) :- p(X).
        name(X, V) :- told(X, V).
        N = M :- link(X, Y), name(X, N), name(Y, M).
        bag(munion((X, N), <X>)) :- name(X, N).
        """
    )
    names = dict(found["name"])
    assert names[1] == names[2] == "x"
    assert names[3] == names[4] == LabelledNull("n2")
    assert found["bag"] == [(frozenset(names.items()),)]


def test_a_null_stands_between_two_constants_and_both_are_told() -> None:
    program = Program.parse(
        """
        p(1). a("x"). b("y").
        exists N q(X, N) :- p(X).
        N = V :- q(_, N), a(V).
        N = V :- q(_, N), b(V).
        """
    )
    with evaluate(program) as facts:
        assert facts.rows("q") == [(1, "x")]
        assert [(c.left, c.right) for c in facts.conflicts] == [("x", "y")]


def test_missing_values_are_nulls_of_their_own() -> None:
    people = pa.table({"id": ["x", "y", "z"], "age": [31, None, None]})
    found = derive(
        """
        same(X, Y) :- p(X, A), p(Y, A), X != Y.
        maybe(X, Y) :- p(X, A), p(Y, B), A =? B, X < Y.
        old(X) :- p(X, A), A >= 30.
        hidden(X) :- p(X, A), A is null.
        other(X) :- p(X, A), A != 31.
        """,
        {"p": people},
    )
    assert found["same"] == found["other"] == []
    assert found["maybe"] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert (found["old"], found["hidden"]) == ([("x",)], [("y",), ("z",)])


def test_nulls_are_missing_values_in_tables() -> None:
    with evaluate(Program.parse("p(1). exists N q(X, N) :- p(X).")) as facts:
        assert facts["q"].column(1).null_count == 1
    table = pa.table({"x": [1, None]})
    with evaluate(Program.parse("q(X) :- p(X)."), {"p": table}) as facts:
        assert facts["q"].column(0).type == pa.int64()
        assert facts["q"].column(0).to_pylist() == [1, None]


def test_a_null_inside_a_set_is_invented_once_for_each_binding() -> None:
    found = derive(
        """
        tuple(1, {(area, "Roma"), (sector, "Textiles")}). hide(1, sector).
        exists Z next(I, union(without(S, A), {(A, Z)})) :- tuple(I, S), hide(I, A).
        """
    )
    [(record, values)] = found["next"]
    assert record == 1
    assert values == frozenset({("area", "Roma"), ("sector", LabelledNull("n1"))})
