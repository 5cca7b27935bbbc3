"""A program that is evaluated again as data change gives what a fresh evaluation gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.test_plain_fixpoint import RULES, attribute_values, edges, programs, show

from divulge.rules import Facts, Program, evaluate
from divulge.rules.engine.prepared_evaluation import PreparedEvaluation
from divulge.rules.language.syntax import Rule
from divulge.rules.plugin_atoms import build_plugin
from divulge.work import InvalidInput

Rows = list[tuple[Any, ...]]


def list_facts(facts: Facts) -> dict[str, list[Any]]:
    return {name: sorted((show(row) for row in facts.rows(name)), key=repr) for name in facts}


def evaluate_fresh(program: Program, data: Mapping[str, Any]) -> dict[str, list[Any]]:
    with evaluate(program, data) as facts:
        return list_facts(facts)


def compare_states(text: str, stays: Mapping[str, Rows], states: list[dict[str, Rows]]) -> None:
    empty: dict[str, Rows] = {
        name: []
        for name in ("path", "loop", "odd", "even", "tuple", "area", "group", "crowd", "member")
        if f"{name}(" in text and f"\n{name}(" not in f"\n{text}"
    }
    program = Program.parse(text)
    prepared = PreparedEvaluation(program, {**stays, **empty})
    try:
        for state in states:
            fresh = evaluate_fresh(program, {**stays, **empty, **state})
            assert list_facts(prepared.evaluate(state)) == fresh
    finally:
        prepared.close()


@settings(max_examples=6)
@given(programs(), edges, st.lists(attribute_values(), min_size=2, max_size=4))
def test_states_of_one_table_give_what_fresh_evaluations_give(
    text: str, edge_rows: Rows, states: list[Rows]
) -> None:
    compare_states(text, {"edge": edge_rows}, [{"value": rows} for rows in states])


@settings(max_examples=6)
@given(programs(), st.lists(edges, min_size=2, max_size=4), attribute_values())
def test_states_of_the_other_table_do_too(text: str, states: list[Rows], value_rows: Rows) -> None:
    compare_states(text, {"value": value_rows}, [{"edge": rows} for rows in states])


PLUGIN_RULES = [
    "scored(X, R) :- edge(X, _, _), #score(X, R).",
    "high(X) :- scored(X, R), R > 0.4.",
    "low(X) :- edge(X, _, _), not high(X).",
    "joint(X, msum(R, <Y>)) :- edge(X, Y, _), #score(Y, R).",
    "led(X, Y) :- high(X), edge(X, Y, _).",
    "led(X, Z) :- led(X, Y), edge(Y, Z, _), not high(Z).",
    "shape(X, N) :- edge(X, _, _), #length(X, N).",
]


@settings(max_examples=4)
@given(
    st.integers(1, len(PLUGIN_RULES)),
    programs(),
    st.lists(
        st.tuples(
            edges | st.just([]),
            attribute_values(),
            st.sampled_from([0.1, 0.3, 0.5]),
        ),
        min_size=2,
        max_size=3,
    ),
)
def test_data_and_answers_of_plug_ins_change_together(
    asking: int, text: str, states: list[tuple[Rows, Rows, float]]
) -> None:
    step = [0.0]
    plugins = {
        "score": build_plugin(
            "score",
            lambda names: [round("abcd".index(one) * step[0], 3) for one in names.to_pylist()],
            ["text"],
            ["number"],
        ),
        "length": build_plugin("length", lambda names: [1] * len(names), ["text"], ["integer"]),
    }
    text = "\n".join([*PLUGIN_RULES[:asking], *text.splitlines()])
    program = Program.parse(text)
    heads = {rule.head.predicate for rule in program.statements if isinstance(rule, Rule)}
    empty: dict[str, Rows] = {
        name: []
        for name in ("path", "loop", "odd", "even", "tuple", "area", "group", "crowd", "member")
        if f"{name}(" in text and name not in heads
    }
    prepared = PreparedEvaluation(program, empty, plugins=plugins, asked_anew=["score"])
    for edge_rows, value_rows, answers in states:
        step[0] = answers
        given = {"edge": edge_rows, "value": value_rows}
        with evaluate(program, {**empty, **given}, plugins=plugins) as fresh:
            assert list_facts(prepared.evaluate(given)) == list_facts(fresh)
    prepared.close()


EDGES: Rows = [("a", "b", 0.6), ("b", "c", 0.5), ("c", "a", 1)]


@pytest.mark.parametrize("rule", [one for one in RULES if "edge(" in one])
def test_each_rule_alone_forgets_what_no_longer_follows(rule: str) -> None:
    states = [{"edge": EDGES}, {"edge": [*EDGES[:1], ("a", "a", 0.1)]}]
    value_rows = [(1, "area", "x"), (1, "size", "y"), (2, "area", "x")]
    compare_states(rule, {"value": value_rows}, states)


def test_facts_that_the_program_says_itself_stay() -> None:
    rules = 'linked(X, Y) :- edge(X, Y). linked("p", "q"). edge("s", "t"). far(X) :- linked(X, _).'
    compare_states(rules, {}, [{"edge": [("a", "b")]}, {"edge": [("c", "d")]}])


def test_values_of_another_kind_are_taken_as_a_fresh_evaluation_takes_them() -> None:
    rules = "same(I, J) :- cell(I, V), cell(J, V), I < J. known(I) :- cell(I, V), V is not null."
    states: list[dict[str, Rows]] = [
        {"cell": [(1, "x"), (2, "x")]},
        {"cell": [(1, "x"), (2, None)]},
        {"cell": [(1, 7), (2, 7)]},
    ]
    compare_states(rules, {}, states)


@pytest.mark.parametrize(
    "rules",
    [
        "exists N address(X, N) :- person(X).",
        "exists N address(X, N) :- person(X). A = B :- address(X, A), address(X, B).",
    ],
)
def test_programs_with_nulls_are_evaluated_as_a_whole(rules: str) -> None:
    compare_states(rules, {}, [{"person": [("a",), ("b",)]}, {"person": [("c",)]}])


def test_a_plug_in_is_asked_anew_only_if_its_answers_may_change() -> None:
    asked: list[str] = []
    factor = [1]

    def count(name: str) -> Any:
        def answer(values: Any) -> list[int]:
            asked.extend(f"{name}{value}" for value in values.to_pylist())
            return [value * factor[0] for value in values.to_pylist()]

        return build_plugin(name, answer, ["integer"], ["integer"])

    program = Program.parse("a(X, Y) :- n(X), #old(X, Y). b(X, Y) :- n(X), #new(X, Y).")
    plugins = {"old": count("old"), "new": count("new")}
    prepared = PreparedEvaluation(program, {"n": [(1,)]}, plugins=plugins, asked_anew=["new"])
    assert prepared.evaluate().rows("b") == [(1, 1)]
    factor[0] = 5
    facts = prepared.evaluate()
    assert (facts.rows("a"), facts.rows("b")) == ([(1, 1)], [(1, 5)])
    assert sorted(asked) == ["new1", "new1", "old1"]
    prepared.close()


def test_an_evaluation_that_fails_leaves_nothing_of_itself() -> None:
    program = Program.parse("share(X, 1 / W) :- part(X, W).")
    prepared = PreparedEvaluation(program)
    with pytest.raises(InvalidInput, match="division by zero"):
        prepared.evaluate({"part": [("a", 0)]})
    assert prepared.evaluate({"part": [("b", 1)]}).rows("share") == [("b", 1)]
    prepared.close()


def test_what_becomes_too_large_is_said_in_the_same_words() -> None:
    program = Program.parse("product(P) :- part(_, W), P = W * W * W.")
    large = {"part": [("a", 10**17)]}
    with pytest.raises(InvalidInput) as fresh:
        evaluate(program, large)
    prepared = PreparedEvaluation(program)
    prepared.evaluate({"part": [("a", 2)]})
    with pytest.raises(InvalidInput) as again:
        prepared.evaluate(large)
    assert str(again.value) == str(fresh.value)
    assert "too large" in str(again.value)
