"""What is told of a program before it runs: each mistake with its place and what to change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from divulge.rules import Program, check_program
from divulge.rules.checks.program_check import describe_bounds, format_checks


def list_problems(text: str, given: dict[str, tuple[()]] | None = None) -> str:
    """The errors of a program, one a line."""
    return "\n".join(map(str, check_program(Program.parse(text), given).problems))


def list_remarks(text: str) -> str:
    return "\n".join(map(str, check_program(Program.parse(text)).remarks))


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("p(1).\nq(X) :- p(X), not r(Y).\nr(1).", "line 2, column 15", '"Y" is used under not'),
        ("p(1).\nq(X) :- p(X), Z > 1.", "line 2, column 15", '"Z" is used here and bound nowhere'),
        ("p(1).\nq(X) :- p(X), X > Xx.", "line 2, column 15", '"Xx" is used here'),
        ("p(X).", "line 1, column 1", 'the fact has a variable, "X"'),
        ("p(1).\nq(msum(W, <Z>)) :- p(W).", "line 2, column 3", '"Z" of msum is bound nowhere'),
        ("p(1).\nq(X, mcount(<Y>)) :- p(Y).", "line 2", '"X" is not in the body'),
        ("p(1).\np(1, 2).", "line 2, column 1", '"p" has 2 arguments here and 1 at line 1'),
        ('p(1). q("a").\nr(X) :- p(X), q(X).', "line 2", "a whole number and a text"),
        ("p(1).\nq(lower(X)) :- p(X).", "line 2", "lower needs a text"),
        ("p(1).\nq(S) :- p(X), S = {X, {X}}.", "line 2", "types do not fit"),
        ("p(1).\nq({}).\nq({S}) :- q(S).", "line 3", "without end"),
        ("p(1).\nq(X) :- p(X), not r(X).\nr(X) :- q(X).", "line 2", "not stratified"),
        ("p(1).\nX = Y :- p(X).", "line 2", '"Y" is not in the body'),
        ("p(1).\nexists X q(X) :- p(X).", "line 2", "names a variable that the body binds"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, place: str, message: str) -> None:
    told = list_problems(text)
    assert told.startswith(place), told
    assert message in told


PAIRS = "e(a, b, 0.5). c(X, Y) :- e(X, Y, _).\n"
VALUES = "e(a, b, 0.5). c(X, 1) :- e(X, _, _).\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PAIRS + "c(X, Y) :- c(X, Z), e(Z, Y, W), msum(W, <Z>) < 0.5.", "with > or >= only"),
        (PAIRS + "c(X, Y) :- c(X, Z), e(Z, Y, W), msum(W, <Z>) = 0.5.", "with > or >= only"),
        (VALUES + "c(X, N) :- c(Z, _), e(Z, X, W), N = 1 / msum(W, <Z>).", "a positive number only"),
        (VALUES + "c(X, N) :- c(Z, M), e(Z, X, _), N = msum(M).", "counts a binding anew"),
        (VALUES + "c(X, mmin(M, <Z>)) :- c(Z, M), e(Z, X, _).\nc(X, mmax(W, <Z>)) :- c(Z, _), "
         "e(Z, X, W).", "both grows and falls"),
        (VALUES + "c(X, mmax(M, <Z>)) :- c(Z, M), e(Z, X, _).\nc(X, M) :- c(X, M), M != 3.",
         "with > or >= only"),
        (VALUES + "c(X, mmax(M, <Z>)) :- c(Z, M), e(Z, X, _).\nc(X, 1) :- c(X, 3).",
         "asked to be equal"),
    ],
)  # fmt: skip
def test_an_aggregate_in_recursion_may_only_be_used_in_its_direction(
    text: str, message: str
) -> None:
    assert message in list_problems(text)


def test_an_undefined_predicate_is_an_error_only_when_the_facts_are_known() -> None:
    text = "rel(X, Y) :- own(X, Y).\nrisky(X) :- rell(X, _)."
    assert list_problems(text) == ""
    assert '"rell" has no facts, no source and no rule. Did you mean "rel"?' in list_remarks(text)
    told = list_problems(text, {})
    assert "line 1, column 14" in told
    assert "line 2, column 13" in told


def test_programs_put_together_are_held_to_the_bound_of_one() -> None:
    half = Program.parse("".join(f"q{number}(X) :- p(X).\n" for number in range(2501)))
    both = replace(half, statements=half.statements * 2)
    assert "at most 5,000 rules" in "\n".join(map(str, check_program(both).problems))
    assert "at most 5,000 rules" in list_problems("".join(f"p{n}(1).\n" for n in range(5001)))


def test_remarks_tell_what_is_worth_a_second_look() -> None:
    assert 'no rule asks for "q"' in list_remarks("q(1). p(2). r(X) :- p(X).")
    assert '"Z" is used nowhere else' in list_remarks("p(1, 2). r(X) :- p(X, Z).")
    spoken_of = '% @name "{X} has {Z}"\nr(X) :- p(X, Z).'
    assert "used nowhere else" not in list_remarks(f"p(1, 2). {spoken_of}")
    assert "Write exists N before the head" in list_remarks("p(1). q(X, N) :- p(X).")
    assert list_remarks("p(1). exists N q(X, N) :- p(X).") == ""


@pytest.mark.parametrize(
    ("text", "may_not_end"),
    [
        ("p(1). exists N q(X, N) :- p(X).", False),
        ("p(1). exists N q(X, N) :- p(X). p(N) :- q(_, N).", True),
        ("p(1). exists N q(X, N) :- p(X). r(N) :- q(_, N).", False),
        ("p(1). p(X + 1) :- p(X).", True),
        ("p(1). q(X + 1) :- p(X).", False),
    ],
)
def test_it_is_told_whether_nulls_can_lead_to_further_nulls(text: str, may_not_end: bool) -> None:
    checked = check_program(Program.parse(text))
    assert checked.may_not_end == may_not_end
    assert ("may not end" in describe_bounds(checked)) == may_not_end


def test_errors_are_listed_before_remarks() -> None:
    checked = check_program(Program.parse("p(1). s(2). q(X) :- p(X), X > Y."))
    assert [line.split(":")[0] for line in format_checks(checked)] == ["error", "remark", "remark"]


def test_whether_a_value_is_a_null_is_asked_when_the_equality_rules_are_done() -> None:
    rules = "p(1). exists N q(X, N) :- p(X). N = M :- q(X, N), q(Y, M), r(X, Y).\n"
    inside = rules + "r(X, Y) :- q(X, N), q(Y, _), N is null."
    assert "not known before the equality rules are done" in list_problems(inside)
    known = rules + "r(X, Y) :- q(X, N), q(Y, _), N is not null."
    assert list_problems(known) == ""
    outside = rules + "r(1, 1). s(X) :- q(X, N), N is null."
    assert list_problems(outside) == ""


def test_of_thousands_of_undefined_predicates_the_first_are_listed() -> None:
    program = Program.parse("".join(f"a{n}(X) :- b{n}(X).\n" for n in range(300)))
    problems = check_program(program, given={}).problems
    assert len(problems) == 51
    assert str(problems[-1]) == "250 more are not listed: mend these, and check again."
    assert len(check_program(program).remarks) == 51
