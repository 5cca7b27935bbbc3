"""Plug-in atoms: functions of Python that a program asks."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from divulge.rules import Program, RulePlugin, evaluate
from divulge.rules.plugin_atoms import build_plugin
from divulge.work import InvalidInput


def offer(function: Any, inputs: Any, outputs: Any) -> dict[str, RulePlugin]:
    return {"ask": build_plugin("ask", function, inputs, outputs)}


def test_a_plugin_is_asked_for_each_input_once() -> None:
    asked: list[Any] = []

    def measure(texts: pa.Array) -> list[int]:
        asked.extend(texts.to_pylist())
        return [len(text) for text in texts.to_pylist()]

    program = Program.parse(
        'p("a"). p("bbb"). q("bbb"). n(X, N) :- p(X), #ask(X, N). m(X) :- q(X), #ask(X, N), N > 2.'
    )
    with evaluate(program, plugins=offer(measure, ["text"], ["integer"])) as facts:
        assert facts.rows("n") == [("a", 1), ("bbb", 3)]
        assert facts.rows("m") == [("bbb",)]
        assert [row.values for row in facts.find_rows("#ask", {0: ["bbb"]})] == [("bbb", 3)]
    assert sorted(asked) == ["a", "bbb"]


def test_none_is_no_answer_and_without_outputs_a_plugin_says_yes_or_no() -> None:
    program = Program.parse("p(1). p(2). p(3). n(X) :- p(X), #ask(X).")
    for function in (
        lambda numbers: [number.as_py() > 1 for number in numbers],
        lambda numbers: pa.array([False, True, True]),
    ):
        with evaluate(program, plugins=offer(function, ["integer"], 0)) as facts:
            assert facts.rows("n") == [(2,), (3,)]
    program = Program.parse("p(1). p(2). n(X, A, B) :- p(X), #ask(X, A, B).")
    pairs = offer(lambda numbers: (["x", None], [0.5, 1.0]), ["integer"], ["text", "number"])
    with evaluate(program, plugins=pairs) as facts:
        assert facts.rows("n") == [(1, "x", 0.5)]


def test_a_plugin_may_have_no_answer_at_all() -> None:
    program = Program.parse("p(1). n(X, Y) :- p(X), #ask(X, Y).")
    with evaluate(program, plugins=offer(lambda _: [None], ["integer"], ["text"])) as facts:
        assert facts.rows("n") == []


def test_a_plugin_may_be_asked_inside_recursion() -> None:
    program = Program.parse("p(1). p(Y) :- p(X), #ask(X, Y), Y < 6.")
    step = offer(
        lambda numbers: [number.as_py() + 1 for number in numbers], ["integer"], ["integer"]
    )
    with evaluate(program, plugins=step) as facts:
        assert facts.rows("p") == [(1,), (2,), (3,), (4,), (5,)]


def fail(*_: Any) -> None:
    raise RuntimeError("secret value")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (fail, r'line 2, column 1, .*the plug-in "#ask" failed with RuntimeError'),
        (lambda _: [1, 2, 3], "must give 1 sequence of that length"),
        (lambda _: 7, "must give 1 sequence of that length"),
        (lambda _: ["text"], "gave values that are not of its kinds: integer"),
    ],
)
def test_a_plugin_that_goes_wrong_is_one_message_without_values(
    function: Any, message: str
) -> None:
    program = Program.parse("p(1).\nn(X, Y) :- p(X), #ask(X, Y).")
    with pytest.raises(InvalidInput, match=message) as caught:
        evaluate(program, plugins=offer(function, ["integer"], ["integer"]))
    assert "secret" not in str(caught.value)


def test_a_plugin_that_nobody_registered_is_told_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match='no plug-in is registered for "#asc".'):
        evaluate(Program.parse("p(1). n(X) :- p(X), #asc(X)."), plugins=offer(fail, 1, 0))
    with pytest.raises(InvalidInput, match='"#ask" has 1 input and 0 outputs'):
        evaluate(Program.parse("p(1). n(X) :- p(X), #ask(X, X)."), plugins=offer(fail, 1, 0))
    with pytest.raises(InvalidInput, match='"words" is not a kind of value'):
        offer(fail, ["words"], 0)
