"""Explanations: rules, bindings and contributors down to the data, and why a fact does not hold."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge.rules import AnswerReason, Explanation, Program, evaluate, explain
from divulge.rules.explanation.term_values import evaluate_term, fold_values, holds
from divulge.rules.language.syntax import Comparison
from divulge.rules.plugin_atoms import build_plugin

CONTROL = """
% @name "{X} belongs to its own group"
rel(X, X) :- own(X, _, _).
% @name "{X} controls {Y}"
rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
"""
EXAMPLE = 'own("Alfa", "Beta", 0.4). own("Alfa", "Gamma", 0.6). own("Gamma", "Beta", 0.2).'


def ask(text: str, question: str, **options: Any) -> Explanation:
    with evaluate(Program.parse(text)) as facts:
        return explain(facts, question, **options)


def test_an_explanation_of_a_sum_lists_every_contributor_and_adds_up() -> None:
    explanation = ask(CONTROL + EXAMPLE, 'rel("Alfa", "Beta")', show_values=True)
    [aggregate] = explanation.fact.aggregates
    assert aggregate.value == Decimal("0.6")
    assert [(one.key, one.value) for one in aggregate.contributors] == [
        (("Alfa",), Decimal("0.4")),
        (("Gamma",), Decimal("0.2")),
    ]
    assert str(explanation).startswith(
        '1. rel("Alfa", "Beta"): Alfa controls Beta\n'
        "   by rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.\n"
        "   with X = Alfa, Y = Beta\n"
        "   msum(W, <Z>) = 0.6, of 2 contributors:\n"
        '     Alfa: 0.4, since rel("Alfa", "Alfa") (2), own("Alfa", "Beta", 0.4) (given)\n'
        '     Gamma: 0.2, since rel("Alfa", "Gamma") (3), own("Gamma", "Beta", 0.2) (given)\n'
    )


def require_sound(explanation: Explanation) -> None:
    """Every sum adds up, every reason is explained, and no fact rests on itself."""
    done: set[object] = set()
    waiting = [(explanation.question, False)]
    above: set[object] = set()
    while waiting:
        key, is_left = waiting.pop()
        if is_left:
            above.discard(key)
            done.add(key)
            continue
        assert key not in above, "a fact is a reason of its own"
        if key in done:
            continue
        above.add(key)
        fact = explanation.facts[key]
        assert fact.source in ("rule", "data", "program")
        for aggregate in fact.aggregates:
            assert aggregate.value == sum(one.value for one in aggregate.contributors)
            assert aggregate.value > Decimal("0.5")
            assert len({one.key for one in aggregate.contributors}) == len(aggregate.contributors)
        waiting.append((key, True))
        waiting += [(below, False) for below in fact.list_facts()]
    assert done == set(explanation.facts)


companies = st.sampled_from("ABCDE")
edges = st.lists(st.tuples(companies, companies, st.integers(1, 10)), min_size=1, max_size=12)


@settings(max_examples=8)
@given(edges)
def test_every_fact_of_a_random_graph_is_explained_by_others_before_it(
    drawn: list[tuple[str, str, int]],
) -> None:
    rows = [(one, other, Decimal(share) / 10) for one, other, share in drawn]
    with evaluate(Program.parse(CONTROL), {"own": rows}) as facts:
        held = facts.rows("rel")
        for one in {owner for owner, _, _ in rows}:
            for other in "ABCDE":
                explanation = explain(facts, f'rel("{one}", "{other}")')
                assert explanation.is_true == ((one, other) in held)
                if explanation.is_true:
                    require_sound(explanation)


def test_values_are_numbered_the_same_throughout_unless_they_are_asked_for() -> None:
    explanation = ask(CONTROL + EXAMPLE, 'rel("Alfa", "Beta")')
    for told in (str(explanation), json.dumps(explanation.to_dict()), explanation.to_svg()):
        assert "Gamma" not in told
        assert "0.6" not in told
        assert "0.2" not in told
    assert "Alfa controls [3]" in str(explanation)
    assert 'own([3], "Beta", [4]) (given)' in str(explanation)


def test_a_fact_that_does_not_hold_says_for_each_rule_what_had_no_match() -> None:
    program = CONTROL + EXAMPLE
    explanation = ask(program, 'rel("Gamma", "Beta")')
    assert not explanation.is_true
    assert [failure.literal for failure in explanation.fact.failures] == [
        "own(X, _, _)",
        "msum(W, <Z>) > 0.5",
    ]
    explanation = ask(program, 'rel("Omega", "Beta")')
    assert [failure.literal for failure in explanation.fact.failures][1] == "rel(X, Z)"
    assert "No rule gives it" in str(ask(program, 'own("Gamma", "Alfa", 1)'))


def test_absence_and_a_wildcard_are_reasons_too() -> None:
    explanation = ask(
        "p(X) :- q(X, _), not r(X, _). q(a, 1). q(b, 2). r(b, 3).", "p(a)", show_values=True
    )
    assert 'since q("a", 1) (given), no r("a", _)' in str(explanation)


def test_a_plugin_says_itself_why() -> None:
    def rate(names: Any) -> list[int]:
        return [len(name.as_py()) for name in names]

    rate.why = lambda name: f"the name has {len(name)} letters"  # type: ignore[attr-defined]
    plugins = {"rate": build_plugin("rate", rate, ["text"], ["integer"])}
    program = Program.parse('risky(X) :- bank(X), #rate(X, R), R > 3. bank("Roma").')
    with evaluate(program, plugins=plugins) as facts:
        shown = str(explain(facts, 'risky("Roma")', show_values=True))
        hidden = str(explain(facts, 'risky("Roma")'))
    assert '#rate("Roma", 4) (the plug-in\'s answer: the name has 4 letters)' in shown
    assert "letters" not in hidden


def test_an_answer_opens_where_a_plugin_says_what_it_rests_on() -> None:
    class Rate:
        def __call__(self, names: Any) -> list[int]:
            return [len(name.as_py()) for name in names]

        def why(self, name: str) -> AnswerReason:
            return AnswerReason({"capital": f"of {name}"}, ["It is a long name."])

    plugins = {"rate": build_plugin("rate", Rate(), ["text"], ["integer"])}
    program = Program.parse('risky(X) :- bank(X), #rate(X, R), R > 3. bank("Roma").')
    with evaluate(program, plugins=plugins) as facts:
        shown = explain(facts, 'risky("Roma")', show_values=True)
        hidden = explain(facts, 'risky("Roma")')
    assert str(shown).splitlines()[-4:] == [
        '   since bank("Roma") (given), #rate("Roma", 4) (2)',
        '2. #rate("Roma", 4)',
        "   with capital = of Roma",
        "   It is a long name.",
    ]
    assert "of Roma" not in str(hidden)
    assert "It is a long name." in str(hidden)
    [answer] = [each for each in shown.to_dict()["facts"] if each["source"] == "answer"]
    assert answer["values"] == {"capital": "of Roma"}
    assert answer["sentences"] == ["It is a long name."]
    assert "It is a long name." in shown.to_svg()


def test_sets_unpacked_into_facts_are_explained() -> None:
    explanation = ask(
        """
        tuple(I, S) :- val(I, A, V), S = munion((A, V)).
        seen(N, *S) :- tuple(I, S), N = mcount(<I>).
        rare(I) :- tuple(I, S), seen(N, *S), N < 2.
        val(one, area, "North"). val(one, sector, "Other").
        val(two, area, "North"). val(two, sector, "Textiles").
        val(three, area, "North"). val(three, sector, "Textiles").
        """,
        "rare(one)",
        show_values=True,
    )
    assert explanation.is_true
    assert all(fact.source != "missing" for fact in explanation.facts.values())
    [union] = next(f for key, f in explanation.facts.items() if key[0] == "tuple").aggregates
    assert union.value == frozenset([("area", "North"), ("sector", "Other")])
    assert "mcount(<I>) = 1, of 1 contributor:" in str(explanation)


def test_an_invented_null_is_explained_by_what_it_was_invented_for() -> None:
    text = "exists C cat(A, C) :- att(A). known(A) :- cat(A, C), C is null. att(area)."
    with evaluate(Program.parse(text)) as facts:
        [(_, null)] = facts.rows("cat")
        explanation = explain(facts, "known(area)")
    [below] = explanation.fact.list_facts()
    assert below == ("cat", ("area", null))
    assert explanation.facts[below].rule == "exists C cat(A, C) :- att(A)."
    assert explanation.facts[below].list_facts() == [("att", ("area",))]


def test_a_long_chain_is_explained_to_its_end_and_cut_where_it_is_told_to() -> None:
    length = 150
    steps = " ".join(f"next({number}, {number + 1})." for number in range(length))
    program = f"reach(X, Y) :- next(X, Y). reach(X, Z) :- reach(X, Y), next(Y, Z). {steps}"
    explanation = ask(program, f"reach(0, {length})", show_values=True)
    assert not explanation.list_unopened()
    assert sum(fact.source == "rule" for fact in explanation.facts.values()) == length
    cut = ask(program, f"reach(0, {length})", most_facts=10)
    assert len(cut.list_unopened()) == 1
    assert "ask for it by itself" in str(cut)


def test_a_drawing_is_sound_xml_whatever_the_names_are() -> None:
    program = '% @name "{X} <&> owns"\np(X) :- q(X).\nq("a<b>&\\"\\n").'
    drawing = ask(program, 'p("a<b>&\\"\\n")').to_svg()
    assert ElementTree.fromstring(drawing).tag.endswith("svg")  # noqa: S314  # our own text


def test_the_content_names_reasons_by_the_numbers_of_their_facts() -> None:
    content = ask(CONTROL + EXAMPLE, 'rel("Alfa", "Beta")', show_values=True).to_dict()
    facts = {fact["number"]: fact for fact in content["facts"]}
    [aggregate] = facts[1]["aggregates"]
    reasons = [reason["number"] for one in aggregate["contributors"] for reason in one["reasons"]]
    assert [facts[number]["fact"] for number in reasons] == [
        'rel("Alfa", "Alfa")',
        'own("Alfa", "Beta", 0.4)',
        'rel("Alfa", "Gamma")',
        'own("Gamma", "Beta", 0.2)',
    ]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("rell(a, b)", 'Did you mean "rel"?'),
        ("rel(a)", "has 2 terms, and the question 1"),
        ("rel(X, b)", "A fact has no variables"),
        ("rel(a, b). rel(b, c)", "One fact can be asked for"),
        ("rel(", "A term is needed"),
    ],
)
def test_a_question_that_is_no_fact_is_refused(question: str, message: str) -> None:
    with pytest.raises(dv.InvalidInput) as error:
        ask(CONTROL + EXAMPLE, question)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("W + 0.2 * 2", Decimal("0.7")),
        ("1 / 4", 0.25),
        ("-W", Decimal("-0.3")),
        ("case W > 0.5 then 1 case N in {2, 3} then 2 else 3", 2),
        ("S[area]", "Roma"),
        ("without(S, area)", frozenset()),
        ("S[{area, sector}]", frozenset([("area", "Roma")])),
        ("size(union({1, 2}, {2, 3}))", 3),
        ("minus({1, 2}, {2})", frozenset([1])),
        ("round(2.345, 2)", Decimal("2.35")),
        ("max(W, N)", 3),
        ('concat(lower(trim(" A ")), "b")', "ab"),
        ("abs(-3)", 3),
    ],
)
def test_terms_are_calculated_as_the_language_says(term: str, value: object) -> None:
    [rule] = Program.parse(f"p(V) :- q(W, N, S), V = {term}.").rules
    comparison = rule.body[1]
    assert isinstance(comparison, Comparison)
    binding = {"W": Decimal("0.3"), "N": 3, "S": frozenset([("area", "Roma")])}
    assert evaluate_term(comparison.right, binding) == value
    # The engine's own answer is the same.
    facts = f'q(0.3, 3, {{(area, "Roma")}}). p(V) :- q(W, N, S), V = {term}.'
    with evaluate(Program.parse(facts)) as derived:
        assert derived.rows("p") == [(value,)]


def test_aggregates_of_contributors_are_what_the_language_says() -> None:
    assert fold_values("msum", [Decimal("0.1")] * 3) == Decimal("0.3")
    assert fold_values("mprod", [2, 3]) == 6
    assert (fold_values("mmin", [2, 3]), fold_values("mmax", [2, 3])) == (2, 3)
    assert fold_values("munion", [1, frozenset([2])]) == frozenset([1, 2])
    assert fold_values("mcount", [None, None]) == 2


def test_conditions_without_a_value_do_not_hold() -> None:
    [rule] = Program.parse("p(X) :- q(X), X > 1, 1 / X > 2.").rules
    assert not holds(rule.body[1], {})  # type: ignore[arg-type]
    assert not holds(rule.body[2], {"X": 0})  # type: ignore[arg-type]
