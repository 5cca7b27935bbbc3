"""Programs back to text: the same program, in a form that formatting leaves alone."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from tests.rules.made_up_programs import programs

import divulge as dv
from divulge.rules import Program
from divulge.rules.language.formatter import (
    LINE_LENGTH,
    format_program,
    format_statement,
    remove_places,
)
from divulge.rules.language.syntax import (
    AGGREGATES,
    Atom,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Constant,
    NullTest,
    Rule,
    Variable,
)
from divulge.rules.language.tokens import FUNCTION_ARITIES, KEYWORDS


@given(programs())
def test_a_program_that_is_written_and_read_is_the_same_program(program: Program) -> None:
    text = format_program(program)
    assert remove_places(Program.parse(text)) == program
    assert format_program(Program.parse(text)) == text


def format_text(text: str) -> str:
    return format_program(Program.parse(text))


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("own( a,b,-0.50 ) .", 'own("a", "b", -0.50).\n'),
        ("p(X):-q(X),not r(X,_).", "p(X) :- q(X), not r(X, _).\n"),
        ("p(X) :- q(X,Y), ((Y)) > (1+2)*3.", "p(X) :- q(X, Y), Y > (1 + 2) * 3.\n"),
        ("p(X) :- q(X,Y), Y-(1-2) = -(3).", "p(X) :- q(X, Y), Y - (1 - 2) = -(3).\n"),
        ("own( X ,W )from\n'x'.".replace("'", '"'), 'own(X, W) from "x".\n'),
        ('own("owner","Share") from dataset "x".', 'own(owner, "Share") from dataset "x".\n'),
        (
            "p(R) :- q(X), R=case X<1 or X is null then 1 else 0.",
            "p(R) :- q(X), R = case X < 1 or X is null then 1 else 0.\n",
        ),
    ],
)
def test_there_is_one_form_for_each_program(text: str, formatted: str) -> None:
    assert format_text(text) == formatted


def test_a_long_rule_has_one_literal_on_a_line() -> None:
    atoms = [f"predicate_{number}(X)" for number in range(8)]
    text = format_text(f"p(X) :- {', '.join(atoms)}.")
    assert text == "p(X) :-\n    " + ",\n    ".join(atoms) + ".\n"
    short = format_text(f"p(X) :- {', '.join(atoms[:3])}.")
    assert "\n" not in short.strip()
    assert len(short) <= LINE_LENGTH


def test_comments_and_paragraphs_stay() -> None:
    text = (
        "% Groups.\n\n% Those who own,\n%   indented,\n%%%%\n%\n"
        '% @name "{X} owns"\np(X) :- q(X, _).\nr("a").\n\n\nr("b").\n\n% The end.\n'
    )
    assert format_text(text) == text.replace("\n\n\n", "\n\n")


def test_a_condition_that_no_text_means_is_refused() -> None:
    x = NullTest(Variable("X"))
    loose = CompoundCondition("and", (x, CompoundCondition("or", (x, x))))
    case = CaseTerm(((loose, Constant(1)),), Constant(0))
    rule = Rule(head=Atom("p", ()), body=(Comparison("=", Variable("Y"), case),))
    with pytest.raises(dv.InvalidInput, match="cannot be written"):
        format_statement(rule)


# The grammar for editors that colour programs (TextMate).


def load_grammar() -> dict[str, Any]:
    file = resources.files("divulge.rules.language") / "rules.tmLanguage.json"
    return json.loads(file.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def list_words(rule: str) -> set[str]:
    pattern = load_grammar()["repository"][rule]["match"]
    match = re.search(r"\(\?:([a-z|]+)\)", pattern)
    assert match is not None
    return set(match[1].split("|"))


def test_editors_colour_the_words_that_the_parser_knows() -> None:
    assert list_words("keyword") == {*KEYWORDS, "dataset"}
    assert list_words("aggregate") == set(AGGREGATES)
    assert list_words("function") == set(FUNCTION_ARITIES)


def test_a_program_begins_without_a_blank_line_also_where_its_first_rule_has_a_name() -> None:
    text = '\n% @name "one"\n\n\np(1).\n'
    program = Program.parse(text)
    formatted = format_program(program)
    assert formatted == '% @name "one"\np(1).\n'
    assert Program.parse(formatted).statements[0].comments == program.statements[0].comments


@pytest.mark.parametrize(
    ("rule", "text", "coloured"),
    [
        ("comment", 'p(a). % @name "x"', '% @name "x"'),
        ("text", r'p("a \" b", c)', r'"a \" b"'),
        ("number", "p(a1, 0.50).", "0.50"),
        ("variable", "p(aB, Xy_1)", "Xy_1"),
        ("variable", "Tuple(Änderung)", "Änderung"),
        ("predicate", "Tuple(X)", "Tuple"),
        ("keyword", "notes not in X", "not"),
        ("aggregate", "msum(W, <Z>)", "msum"),
        ("function", "sizes, size(S)", "size"),
        ("operator", "p :- X", ":-"),
    ],
)
def test_editors_colour_what_the_parser_reads_so(rule: str, text: str, coloured: str) -> None:
    pattern = load_grammar()["repository"][rule]
    match = re.search(pattern.get("match") or f"{pattern['begin']}.*", text)
    assert match is not None
    assert match[0] == coloured


def test_every_part_of_the_grammar_for_editors_is_used_once() -> None:
    grammar = load_grammar()
    used = [part["include"].removeprefix("#") for part in grammar["patterns"]]
    assert sorted(used) == sorted(grammar["repository"])
    assert grammar["fileTypes"] == ["rules"]
