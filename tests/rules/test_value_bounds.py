"""Values that cannot be kept are refused wherever they come from, and none is taken for a null."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from divulge.rules import LabelledNull, Program, RulePlugin, evaluate
from divulge.work import InvalidInput

MARKED = "a text with the control character U.0001, which marks nulls here"
LARGE = "a number too large: whole numbers go up to 18 digits"
ENDLESS = "an infinite number"
UNDEFINED = "what is not a number"
HOLLOW = "a set or tuple in which a value is missing"
BECOMES_LARGE = "a number becomes too large"
BIG = 10**18


def derive(text: str, data: dict[str, Any] | None = None, **more: Any) -> dict[str, list[Any]]:
    with evaluate(Program.parse(text), data, **more) as facts:
        return {name: facts.rows(name) for name in facts}


def in_arrow(values: list[Any], kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"n": list(range(len(values))), "value": pa.array(values, kind)})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("\x01n1", MARKED),
        (" \x01n1", MARKED),
        (frozenset({"a", "\x01n1"}), MARKED),
        (("a", "\x01n1"), MARKED),
        ("\ud800", "a text that is not valid Unicode"),
        (BIG, LARGE),
        (-BIG, LARGE),
        (Decimal("1e400"), LARGE),
        (float("-inf"), ENDLESS),
        (Decimal("Infinity"), ENDLESS),
        (Decimal("NaN"), UNDEFINED),
        (frozenset({float("nan")}), UNDEFINED),
    ],
)
def test_a_row_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=f'"own", row 2, column 1: contains {message}'):
        evaluate(Program.parse("q(X) :- own(X, _)."), {"own": [("a", 1), (value, 2)]})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (in_arrow(["a", "b\x01"]), MARKED),
        (in_arrow(["a", "\x01n1"], pa.large_string()), MARKED),
        (in_arrow(["a", "\x01n1"], pa.string_view()), MARKED),
        (in_arrow([["a"], ["\x01n1"]]), MARKED),
        (in_arrow([{"f0": "\x01n1", "f1": 2}]), MARKED),
        (pa.table({"n": [1], "value": pa.array(["\x01"]).dictionary_encode()}), MARKED),
        (in_arrow([1, BIG]), LARGE),
        (in_arrow([2**63 + 1], pa.uint64()), LARGE),
        (in_arrow([Decimal(-BIG)], pa.decimal128(38, 0)), LARGE),
        (in_arrow([Decimal(BIG**2)], pa.decimal256(60, 0)), LARGE),
        (in_arrow([0.5, float("inf")]), ENDLESS),
        (in_arrow([[0.5, float("inf")]]), ENDLESS),
        (in_arrow([[0.5, float("nan")]]), UNDEFINED),
        (in_arrow([["a", None]]), HOLLOW),
        (in_arrow([{"f0": "a", "f1": 2}, {"f0": "a", "f1": None}]), HOLLOW),
    ],
)
def test_a_column_is_refused_with_its_name(table: pa.Table, message: str) -> None:
    with pytest.raises(InvalidInput, match=f'"own", column "value": contains {message}'):
        evaluate(Program.parse("q(X) :- own(_, X)."), {"own": table})


@pytest.mark.parametrize("rule", ['p("\x01n1").', 'p({("a", "\x01n1")}).'])
def test_a_program_states_no_fact_that_would_be_a_null(rule: str) -> None:
    with pytest.raises(InvalidInput, match=f"line 2, column 1: {MARKED}"):
        evaluate(Program.parse(f"q(1).\n{rule}"))


@pytest.mark.parametrize(
    "rule",
    [
        'p("\x01n1") :- q(_).',
        'p(X) :- q(X), X != "\x01n1".',
        'p(X) :- q(X), X in {"\x01n1"}.',
        'p(X) :- q(Y), X = concat("\x01n", Y).',
        'p(X) :- q(X), not q("\x01n1").',
        'p(X) :- q("\x01n1"), q(X).',
        'X = "\x01n1" :- q(X).',
    ],
)
def test_no_rule_names_a_null(rule: str) -> None:
    with pytest.raises(InvalidInput, match=f"line 2.*{MARKED}"):
        evaluate(Program.parse(f'q("a").\n{rule}'))


def test_a_plug_in_gives_no_null_and_nothing_endless() -> None:
    for value, message in (("\x01n1", MARKED), (float("inf"), ENDLESS)):
        kind = "text" if isinstance(value, str) else "number"
        given = RulePlugin(
            name="tell",
            inputs=("text",),
            outputs=(kind,),
            function=lambda column, value=value: [value] * len(column),
        )
        with pytest.raises(InvalidInput, match=f'plug-in "#tell" gave {message}'):
            derive('q("a"). p(Y) :- q(X), #tell(X, Y).', plugins={"tell": given})


def test_the_largest_and_smallest_numbers_are_kept_as_they_are() -> None:
    values: list[Any] = [BIG - 1, 1 - BIG, 0, Decimal("9999999999999.123456")]
    exact = in_arrow([Decimal(value) for value in values], pa.decimal128(38, 6))
    for own in ([(place, value) for place, value in enumerate(values)], exact):
        assert sorted(derive("p(X) :- own(_, X).", {"own": own})["p"]) == sorted(
            (value,) for value in values
        )
    wide = in_arrow([Decimal("0.5")], pa.decimal256(60, 3))
    assert derive("p(X) :- own(_, X).", {"own": wide})["p"] == [(Decimal("0.5"),)]


def test_an_approximate_number_is_the_same_from_rows_and_columns() -> None:
    values = [1e300, 2.5e-20, 1e18]
    rows = [(place, value) for place, value in enumerate(values)]
    rule = "p(X) :- one(_, X), other(_, X)."
    for last in ([], [(7, None)]):  # among nulls numbers are texts
        found = derive(rule, {"one": [*rows, *last], "other": in_arrow(values)})
        assert sorted(found["p"]) == sorted((value,) for value in values)


@pytest.mark.parametrize(
    "rule",
    [
        "p(Y) :- own(_, X), Y = X * X.",
        "p(Y) :- own(_, X), Y = X * 10 + X * 10.",
        "p(Y) :- own(_, X), Y = X * X - X * X.",
        "p(mprod(X, <N>)) :- own(N, X).",
        "p(S) :- own(N, X), S = msum(X, <N>).",
        "p(X) :- own(_, X). p(Y) :- p(X), Y = X * X.",
    ],
)
def test_no_fact_holds_a_number_that_became_endless(rule: str) -> None:
    own = in_arrow([1.7e308, 1.6e308])
    with pytest.raises(InvalidInput, match=f"line 1.*{BECOMES_LARGE}"):
        evaluate(Program.parse(rule), {"own": own})


def test_a_null_has_no_letters() -> None:
    found = derive(
        """
        att(a). exists C cat(A, C) :- att(A). cat(b, "North").
        low(X) :- cat(_, C), X = lower(C).
        long(X) :- cat(_, C), X = concat(C, "!").
        bare(A, X) :- cat(A, C), X = trim(concat("", C)).
        """
    )
    assert LabelledNull("n1") in [null for _, null in found["cat"]]
    assert found["low"] == [("north",)]
    assert found["long"] == [("North!",)]
    assert found["bare"] == [("b", "North")]
