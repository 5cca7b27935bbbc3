"""Programs of rules: what is read, and what is said where something cannot be read."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

import divulge as dv
from divulge.rules import Program
from divulge.rules.language.formatter import remove_places
from divulge.rules.language.syntax import (
    Aggregate,
    Atom,
    Call,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Constant,
    EqualityRule,
    FactSource,
    Literal,
    Membership,
    NullTest,
    Operation,
    Place,
    Rule,
    SetAccess,
    SetTerm,
    Statement,
    Term,
    TupleTerm,
    Unpack,
    Variable,
    Wildcard,
)
from divulge.rules.tuning import MOST_CHARACTERS, MOST_NESTING, MOST_OPERATIONS, MOST_PROBLEMS

A, S, W, X, Y, Z = map(Variable, "ASWXYZ")


def parse_one(text: str) -> Statement:
    [statement] = remove_places(Program.parse(text)).statements
    return statement


def parse_rule(text: str) -> Rule:
    statement = parse_one(text)
    assert isinstance(statement, Rule)
    return statement


def parse_literal(text: str) -> Literal:
    [literal] = parse_rule(f"p() :- {text}.").body
    return literal


def parse_term(text: str) -> Term:
    literal = parse_literal(f"V = {text}")
    assert isinstance(literal, Comparison)
    return literal.right


def refuse(text: str) -> str:
    with pytest.raises(dv.InvalidInput) as error:
        Program.parse(text)
    return str(error.value)


def test_a_fact_holds_texts_numbers_and_words_in_small_letters() -> None:
    fact = parse_rule(r'own("A \"B\" \\ \n\t", -3, 0.60, roma).')
    assert fact.head.arguments == (
        Constant('A "B" \\ \n\t'),
        Constant(-3),
        Constant(Decimal("0.60")),
        Constant("roma"),
    )
    assert fact.body == ()


def test_company_control_is_read_as_its_tree() -> None:
    rule = parse_rule(
        '% @name "{X} controls {Y}"\nrel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.'
    )
    assert rule == Rule(
        head=Atom("rel", (X, Y)),
        body=(
            Atom("rel", (X, Z)),
            Atom("own", (Z, Y, W)),
            Comparison(">", Aggregate("msum", W, (Z,)), Constant(Decimal("0.5"))),
        ),
        name="{X} controls {Y}",
    )


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("not own(X, _)", Atom("own", (X, Wildcard()), is_negated=True)),
        ("#risk(X, Y)", Atom("risk", (X, Y), is_plugin=True)),
        ("Tuple(X, *S)", Atom("Tuple", (X, Unpack(S)))),
        ("min(X)", Atom("min", (X,))),
        ("size(S) > 2", Comparison(">", Call("size", (S,)), Constant(2))),
        ("X =? Y", Comparison("=?", X, Y)),
        ("X subset Y", Comparison("subset", X, Y)),
        ("X in S", Membership(X, S)),
        ("(X, Y) not in S", Membership(TupleTerm((X, Y)), S, True)),
        ("S[A] is null", NullTest(SetAccess(S, A))),
        ("X is not null", NullTest(X, True)),
    ],
)
def test_each_kind_of_literal_is_told_from_the_others(text: str, literal: Literal) -> None:
    assert parse_literal(text) == literal


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("X - Y - Z", Operation("-", (Operation("-", (X, Y)), Z))),
        ("X + Y * Z", Operation("+", (X, Operation("*", (Y, Z))))),
        ("(X + Y) / Z", Operation("/", (Operation("+", (X, Y)), Z))),
        ("-X * Y", Operation("*", (Operation("-", (X,)), Y))),
        ("-S[A]", Operation("-", (SetAccess(S, A),))),
        ("X - -3", Operation("-", (X, Constant(-3)))),
        ("S[A][{A}]", SetAccess(SetAccess(S, A), SetTerm((A,)))),
        ("{}", SetTerm(())),
        ("mcount()", Aggregate("mcount", None, ())),
        ("mcount(<X, Y>)", Aggregate("mcount", None, (X, Y))),
        ("munion((X, Y))", Aggregate("munion", TupleTerm((X, Y)), ())),
        (
            "case X < Y and Y < Z or X is null then 1 case X in S then 2 else Y + 1",
            CaseTerm(
                (
                    (
                        CompoundCondition(
                            "or",
                            (
                                CompoundCondition(
                                    "and", (Comparison("<", X, Y), Comparison("<", Y, Z))
                                ),
                                NullTest(X),
                            ),
                        ),
                        Constant(1),
                    ),
                    (Membership(X, S), Constant(2)),
                ),
                Operation("+", (Y, Constant(1))),
            ),
        ),
    ],
)
def test_each_kind_of_term_is_read_as_its_tree(text: str, term: Term) -> None:
    assert parse_term(text) == term


def test_a_decimal_keeps_every_digit() -> None:
    digits = "0.1234567890123456789012345678901234567890"
    assert parse_term(digits) == Constant(Decimal(digits))
    negative = parse_term(f"-{digits}")
    assert isinstance(negative, Constant)
    assert str(negative.value) == f"-{digits}"


def test_facts_come_from_files_by_order_or_by_names_of_columns() -> None:
    assert parse_one('own(X, Y) from "own.csv".') == FactSource(
        predicate="own", columns=(None, None), variables=("X", "Y"), origin="own.csv"
    )
    assert parse_one('own(owner, "Share in %") from dataset "own".') == FactSource(
        predicate="own",
        columns=("owner", "Share in %"),
        variables=(),
        origin="own",
        is_dataset=True,
    )


def test_existentials_and_equality_rules_are_read() -> None:
    assert parse_rule("exists X, Y p(X, Y, Z) :- q(Z).").existentials == ("X", "Y")
    assert parse_one("X = Y :- cat(A, X), cat(A, Y).") == EqualityRule(
        left=X, right=Y, body=(Atom("cat", (A, X)), Atom("cat", (A, Y)))
    )


def test_letters_are_those_of_any_language() -> None:
    rule = parse_rule('größe(Änderung) :- straße(Änderung, "Zürich").')
    assert rule.head == Atom("größe", (Variable("Änderung"),))


def test_every_node_knows_its_line_and_column() -> None:
    [rule] = Program.parse("% groups\n\n  rel(X, Y) :-\n    own(X, Y, W),\r\n\tW > 0.5.").rules
    assert rule.place == Place(3, 3)
    assert rule.head.arguments[1].place == Place(3, 10)
    assert rule.body[1].place == Place(5, 2)


def test_comments_before_within_and_behind_a_statement_are_its_own() -> None:
    program = Program.parse(
        '% the file\n\n% groups\np(X) :- % inner\n  q(X). % behind\n% @name "next"\nr(a).\n\n% end'
    )
    first, second = program.statements
    assert first.comments == ("the file", "\n", "groups", "inner", "behind")
    assert (second.comments, second.name) == ((), "next")  # type: ignore[union-attr]
    assert program.comments == ("\n", "end")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(X) :- q(X)\nr(a).", "line 1, column 13, rule"),
        ("p(X) :- q(X)\nr(a).", "a full stop is missing"),
        ("p(X) :- nto q(X).", 'line 1, column 9, rule "p(X) :- nto q(X)"'),
        ("p(X) :- nto q(X).", 'Did you mean "not"?'),
        ("p(X) :- siz(X) > 3.", 'There is no function "siz".'),
        ("p(X) :- siz(X) > 3.", 'Did you mean "size"?'),
        ("p(X) :- union(X) = 3.", "union takes 2 terms, not 1."),
        ("p(X) :- X == 3.", '"==" is written = here.'),
        ("p(X) :- X => 3.", '"=>" is written >= here.'),
        ("q(X) -> p(X).", "The conclusion stands first"),
        ("p(X) :- q(X); r(X).", "for an alternative write another rule"),
        ("p('a').", "double quotation marks"),
        ('p("a).', "no closing quotation mark on its line"),
        (r'p("\d").', "line 1, column 4: In a text a backslash stands before one of"),
        ("p(007).", "a code is a text in quotation marks"),
        ("p(3x).", "a code is a text in quotation marks"),
        ("p(1e5).", "without an exponent"),
        (f"p({'9' * 301}).", "at most 300 digits"),
        ("p(X) :- msum(W, Z) > 3.", "Contributors stand in angle brackets: msum(W, <Z>)."),
        ("p(X) :- msum(<Z>) > 3.", "msum needs what it collects"),
        ("msum(X) :- p(X).", '"msum" is an aggregate'),
        ("p(*S, X) :- q(S).", "Only the last term of an atom may be *S."),
        ("p(X) :- not X = 3.", "Only atoms are negated"),
        ("p(X) :- not #q(X).", "A plug-in cannot be negated"),
        ("p(X) :- q(X,).", "followed by a further term"),
        ("p(X) :- case X < 1 then 2.", "else 0"),
        ("X > Y :- p(X, Y).", "A statement begins with a head"),
        ("X = Y.", "X = Y :- body"),
        ('p(X, a) from "f".', "both are mixed here"),
        ("p(X) from file.", "named in quotation marks"),
        ("p(X) :- not(q(X)).", "Only atoms are negated"),
        ("p(", "The program ends in the middle of a statement."),
        ('% @nmae "x"\np(a).', 'Did you mean "name"?'),
        ("% @name x\np(a).", "stands in quotation marks"),
        ('% @name "x"\n% @name "y"\np(a).', "this is a second"),
        ('p(X) :- % @name "x"\n q(X).', "stands before the rule"),
        ('p(a).\n% @name "x"\n', "none follows"),
        ('% @name "x"\np(X) from "f".', "reads facts from a file"),
        ('% @name "{Owners}"\np(Owner) :- q(Owner).', 'Did you mean "Owner"?'),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_to_change(text: str, message: str) -> None:
    assert message in refuse(text)


def test_all_mistakes_of_a_program_are_told_at_once() -> None:
    told = refuse('p(X) :- .\nok(a).\nq("b) :- r(X).\nok(b).\ns(X) :- t(X\nu(c).')
    assert "has 3 problems" in told
    assert ["line 1" in told, "line 3" in told, "line 6" in told] == [True, True, True]


def test_a_program_of_nothing_but_mistakes_is_told_in_part() -> None:
    with pytest.raises(dv.InvalidInput) as error:
        Program.parse("p(.\n" * 1000)
    assert len(error.value.problems) == MOST_PROBLEMS


def test_a_fact_that_cannot_be_read_keeps_its_values_to_itself() -> None:
    assert "Rossi" not in refuse('person("Rossi", 47 "Roma").')


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- X = " + "(" * 100_000,
        "p(X) :- X = " + "{" * 100_000 + "}" * 100_000 + ".",
        "p(X) :- X = " + "case X = " * 100_000,
        "p(X) :- X = " + "X[" * 100_000 + "]" * 100_000 + ".",
        "p(X) :- X = 1" + " + 1" * 100_000 + ".",
        "p(X) :- X = S" + "[1]" * 100_000 + ".",
        "p(X) :- X = " + "-" * 100_000 + "1.",
        "p(" * 100_000,
    ],
)
def test_no_depth_of_nesting_exhausts_the_parser(text: str) -> None:
    assert "line 1, column" in refuse(text)


def test_what_a_person_writes_is_not_too_deep() -> None:
    brackets = MOST_NESTING - 2
    parse_term("(" * brackets + "X" + ")" * brackets)
    parse_term("X" + " + X" * MOST_OPERATIONS)


def test_a_program_that_is_too_long_is_refused_with_what_to_do_instead() -> None:
    assert "belong into a file of data" in refuse("%" * (MOST_CHARACTERS + 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q(X) :- p(X).\n" * 6000, "line 5001, column 1: A program has at most 5,000 rules"),
        ('p(X) from "a.csv".\n' * 6000, "line 5001, column 1: A program has at most 5,000 rules"),
        ("q(X) :- p(X)" + ", p(X)" * 2000 + ".", "A body has at most 100 literals"),
        ("p(" + "a, " * 5000 + "a).", "An atom has at most 1,000 terms"),
        ("p(X) :- q(" + "X, " * 5000 + "X).", "An atom has at most 1,000 terms"),
        ("p(" + "X, " * 5000 + 'X) from "a.csv".', "A source has at most 1,000 columns"),
        ("p(case X > 1" + " or X > 1" * 3000 + " then 1 else 0) :- q(X).", "at most 200 tests"),
        ("p(" + "case X > 1 then 1 " * 3000 + "else 0) :- q(X).", "at most 200 tests"),
    ],
)
def test_what_no_person_writes_is_refused_before_it_takes_minutes(text: str, message: str) -> None:
    assert message in refuse(text)


def test_a_program_is_loaded_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "groups.rules"
    path.write_bytes(b"\xef\xbb\xbfown(a, b).\r\n% end\r\n")
    program = Program.load(path)
    assert (program.origin, program.folder) == (str(path), tmp_path)
    assert program.comments == ("end",)


def test_a_missing_file_and_one_that_is_no_text_are_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(dv.InvalidInput, match="missing.rules: the file does not exist"):
        Program.load(tmp_path / "missing.rules")
    path = tmp_path / "latin.rules"
    path.write_bytes("p(a).\nq(größe).".encode("latin-1"))
    with pytest.raises(dv.InvalidInput, match="latin.rules, line 2: The file is not UTF-8"):
        Program.load(path)
