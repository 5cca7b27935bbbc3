"""Answers of a plug-in that rules only hand on: seen in the rules, and true of what they derive."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.rules import Program, evaluate
from divulge.rules.checks.copied_answers import is_copied
from divulge.rules.plugin_atoms import build_plugin

HANDED_ON = [
    "risk(I, R) :- rich(I), #risk(I, R).",
    "mine(I, R) :- #risk(I, R), rich(I). risk(J, R) :- mine(I, R), link(I, J).",
    "risk(I, R) :- rich(I), #risk(I, R). risk(J, R) :- risk(I, R), link(I, J).",
    "risk(I, R) :- rich(I), #risk(I, R), not poor(I). poor(I) :- link(I, I).",
    "risk(I, R) :- rich(I), #risk(I, R), not told(I, _). told(J, R) :- link(I, J), #risk(I, R).",
    "risk(I, R) :- group(I, N), N > 1, #risk(I, R). group(I, mcount(<J>)) :- link(I, J).",
    "risk(J, R) :- link(I, J), #risk(I, _), #risk(J, R).",
]

USED_OTHERWISE = [
    "risk(I, R) :- rich(I), #risk(I, R), R > 0.3.",
    "risk(I, R / 2) :- rich(I), #risk(I, R).",
    "risk(I, S) :- rich(I), #risk(I, R), S = R.",
    "risk(I, R) :- #risk(I, R), #risk(J, R), link(I, J).",
    "risk(I, R) :- rich(I), #risk(I, R). risk(I, 0.5) :- link(I, _).",
    'risk(I, R) :- rich(I), #risk(I, R). risk("a", 0.5).',
    'risk(I, R) :- rich(I), #risk(I, R). risk(I, R) from "risks.csv".',
    "risk(I, mmax(R)) :- link(I, J), #risk(J, R).",
    "risk(I, 1 / N) :- n(I, N). n(R, mcount(<I>)) :- rich(I), #risk(I, R).",
    "mine(R, R) :- rich(I), #risk(I, R). risk(I, R) :- mine(I, R).",
    "risk(I, 0.5) :- rich(I), #risk(I, _).",
    "risk(I, R) :- rich(I), #risk(I, R), not told(I, R). told(J, R) :- link(I, J), #risk(I, R).",
    "risk(I, R) :- rich(I), #risk(I, R), link(I, N), N = case R < 0.5 then 1 else 2.",
]


def check(rules: str) -> bool:
    statements = Program.parse(rules).statements
    return is_copied(statements, "risk", inputs=1, target=("risk", 1), given=["rich", "link"])


@pytest.mark.parametrize("rules", HANDED_ON)
def test_answers_that_are_handed_on_are_seen(rules: str) -> None:
    assert check(rules)


@pytest.mark.parametrize("rules", USED_OTHERWISE)
def test_answers_that_are_used_otherwise_are_seen(rules: str) -> None:
    assert not check(rules)


def test_a_predicate_with_facts_from_outside_holds_more_than_answers() -> None:
    statements = Program.parse(HANDED_ON[0]).statements
    assert not is_copied(statements, "risk", inputs=1, target=("risk", 1), given=["risk"])


def derive(rules: str, links: list[tuple[str, str]], answers: list[float]) -> set[Any]:
    def answer(records: Any) -> list[float | None]:
        return [answers["abcd".index(each)] for each in records.to_pylist()]

    plugins = {"risk": build_plugin("risk", answer, ["any"], ["number"])}
    given = {"rich": [("a",), ("b",)], "link": links}
    with evaluate(Program.parse(rules), given, plugins=plugins) as facts:
        return {(record, float(risk)) for record, risk in facts.rows("risk")}


people = st.sampled_from("abcd")


@settings(max_examples=10)
@given(
    st.sampled_from(HANDED_ON),
    st.lists(st.tuples(people, people), min_size=1, max_size=6),
    st.lists(st.sampled_from([0.1, 0.2, 0.5]), min_size=4, max_size=4),
)
def test_whose_answer_goes_where_does_not_depend_on_the_answers(
    rules: str, links: list[tuple[str, str]], answers: list[float]
) -> None:
    places = derive(rules, links, [0.0, 1.0, 2.0, 3.0])
    assert {(record, answers[int(place)]) for record, place in places} == derive(
        rules, links, answers
    )
