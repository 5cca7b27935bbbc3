"""The vocabulary of checks: what is sound passes, what is not is said in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge.work import Problem, checks

NO_NUMBERS: list[Any] = [None, "3", True, False, [3], 3j, object()]


def said(problems: Iterator[Problem]) -> list[str]:
    return [str(problem) for problem in problems]


@given(st.integers(1, 10**300))
def test_a_number_that_counts_is_sound_as_python_or_numpy_has_it(number: int) -> None:
    assert said(checks.whole_number("k", number)) == []
    if number < 2**63:
        assert said(checks.whole_number("k", np.int64(number))) == []


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, -1, 2.5, float("nan"), float("inf")])
@pytest.mark.parametrize("floats", [False, True])
def test_what_counts_nothing_is_no_whole_number(value: Any, floats: bool) -> None:
    [text] = said(checks.whole_number("k", value, floats=floats))
    assert text.startswith("k: ")
    assert text.endswith(" is not a whole number from 1.")


def test_a_float_without_a_fraction_counts_only_where_that_is_asked_for() -> None:
    assert said(checks.whole_number("k", 5.0, floats=True)) == []
    assert said(checks.whole_number("k", 5.0)) == ["k: 5.0 is not a whole number from 1."]
    assert said(checks.whole_number("seed", 0, least=0)) == []


@pytest.mark.parametrize(
    ("zero", "one", "words"),
    [
        (True, True, "a share (0 to 1)"),
        (False, True, "a share above 0 and up to 1"),
        (True, False, "a share from 0 and below 1"),
        (False, False, "a number between 0 and 1"),
    ],
)
def test_the_ends_of_a_share_belong_to_it_where_they_are_said_to(
    zero: bool, one: bool, words: str
) -> None:
    ends: dict[str, Any] = {"zero": zero, "one": one}
    for inside in (0.5, Fraction(1, 3), np.float32(0.25)):
        assert said(checks.share("a", inside, **ends)) == []
    assert bool(said(checks.share("a", 0, **ends))) is not zero
    assert bool(said(checks.share("a", 1, **ends))) is not one
    for outside in (*NO_NUMBERS, -0.1, 1.1, float("nan")):
        [text] = said(checks.share("a", outside, **ends))
        assert text.endswith(f" is not {words}.")


@pytest.mark.parametrize("value", [*NO_NUMBERS, float("nan"), float("-inf"), 10**400])
def test_what_a_float_cannot_hold_is_no_finite_number(value: Any) -> None:
    assert said(checks.finite_number("at_most", value)) == ["at_most: must be a finite number."]


@pytest.mark.parametrize("value", [0, -3, 2.5, np.int8(3), np.float64(0.1), Fraction(1, 3)])
def test_any_real_number_is_a_finite_number(value: Any) -> None:
    assert said(checks.finite_number("at_most", value)) == []


def test_a_word_that_is_not_allowed_is_met_with_the_nearest_that_is() -> None:
    assert said(checks.one_of("order", "risk", ["weight", "risk"])) == []
    [text] = said(checks.one_of("order", "wieght", ["weight", "risk"], "an order"))
    assert text == 'order: "wieght" is not an order. Did you mean "weight"?'
    [text] = said(checks.one_of("order", ["risk"], ["weight", "risk"], "an order"))
    assert text == """order: ['risk'] is not an order. Allowed: "weight", "risk"."""


@pytest.mark.parametrize(
    ("check", "sound", "wrong"),
    [
        (checks.names, ["age", ["age", "sex"], ()], [3, None, ["age", 3]]),
        (lambda place, of: checks.several(place, of, "x"), [["a"], (), {1}], ["a", 3, None]),
    ],
)
def test_names_and_lists(
    check: Callable[[str, Any], Iterator[Problem]], sound: list[Any], wrong: list[Any]
) -> None:
    assert all(not said(check("knows", value)) for value in sound)
    assert all(len(said(check("knows", value))) == 1 for value in wrong)


def test_weights_are_one_a_record_not_negative_and_not_all_zero() -> None:
    assert said(checks.weights("prior", np.array([0.0, 2.0]), 2)) == []
    for values, wanted in (
        ([1.0], "has 1 numbers for 2 records."),
        ([1.0, np.nan], "contains something that is not a number."),
        ([1.0, -1.0], "is negative in some records."),
        ([0.0, 0.0], "is zero in all records."),
    ):
        assert said(checks.weights("prior", np.array(values), 2)) == [f"prior: {wanted}"]


def test_what_is_too_long_to_repeat_is_not_repeated() -> None:
    assert checks.describe_value("x" * 100) == "str of another kind"
    assert checks.describe_value(np.float64(2.5)) == "2.5"
