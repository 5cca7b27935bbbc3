"""Programs put together at random, on random facts, against the plain evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.plain_fixpoint import Unknown, derive_plainly, normalise

from divulge.rules import LabelledNull, Program, evaluate

RULES = [
    # joins, constants, wildcards, arithmetic
    "near(X, Y) :- edge(X, Y, _).",
    "near(X, Y) :- edge(Y, X, W), W > 0.25.",
    "loop(X) :- edge(X, X, _).",
    "twice(X, 2 * W + 1) :- edge(X, _, W).",
    "spread(X, Y, A - B) :- edge(X, Y, A), edge(Y, X, B), A != B.",
    "wide(X, N) :- edge(X, _, W), N = case W < 0.3 then 0 case W < 0.6 and W != 0.5 then 1 else 2.",
    "limit(X, min(W, 0.4), max(W, 0.4), abs(W - 0.5)) :- edge(X, _, W).",
    # recursion, also with two atoms of the stratum, and mutual
    "path(X, Y) :- edge(X, Y, _).",
    "path(X, Z) :- path(X, Y), path(Y, Z).",
    "even(a).",
    "even(Y) :- odd(X), edge(X, Y, _).",
    "odd(Y) :- even(X), edge(X, Y, _).",
    # negation
    "apart(X, Y) :- edge(X, _, _), edge(_, Y, _), not path(X, Y).",
    "source(X) :- edge(X, _, _), not edge(_, X, _).",
    "light(X) :- edge(X, _, _), not edge(X, _, 0.5), not loop(X).",
    # aggregates
    "total(X, msum(W, <Y>)) :- edge(X, Y, W).",
    "total_of_all(msum(W)) :- edge(_, _, W).",
    "degree(X, mcount(<Y>), mmax(W), mmin(W)) :- edge(X, Y, W).",
    "kinds(X, N) :- edge(X, _, W), N = mcount(W), N > 1.",
    "mean(X, S / N) :- edge(X, Y, W), S = msum(W, <Y>), N = mcount(<Y>).",
    "product(X, P) :- edge(X, Y, W), P = mprod(W + 1, <Y>).",
    "neighbours(X, munion(Y, <Y>)) :- edge(X, Y, _).",
    # aggregates inside recursion
    "rel(X, X) :- edge(X, _, _).",
    "rel(X, Y) :- rel(X, Z), edge(Z, Y, W), msum(W, <Z>) > 0.5.",
    "reach(X, X, 0) :- edge(X, _, _).",
    "reach(X, Z, mmin(D, <Y>)) :- reach(X, Y, C), edge(Y, Z, _), D = C + 1.",
    "crowd(X, munion(Y, <Y>)) :- edge(X, Y, _).",
    "crowd(X, S) :- edge(X, Y, _), crowd(Y, T), S = munion(T, <Y>).",
    "member(X, Y) :- member(X, Z), edge(Z, Y, _), mcount(<Z>) >= 2.",
    "member(X, Y) :- edge(X, Y, _).",
    # sets and tuples
    "tuple(I, S) :- value(I, A, V), S = munion((A, V), <A>).",
    "cell(I, A, V) :- tuple(I, S), (A, V) in S.",
    "area(I, S[area]) :- tuple(I, S).",
    "group(mcount(<I>), *S[{area, size}]) :- tuple(I, S).",
    "rare(I, N) :- tuple(I, S), group(N, *S[{area, size}]), N < 2.",
    "fewer(I, without(S, area), size(S)) :- tuple(I, S).",
    "changed(I, union(without(S, area), {(area, x)})) :- tuple(I, S), area(I, A), A != x.",
    "within(I, J) :- tuple(I, S), tuple(J, T), S subset T, I != J.",
    "lost(I, minus(S, T)) :- tuple(I, S), tuple(J, T), I != J.",
    "like(I, J) :- tuple(I, S), tuple(J, T), S =? T, I != J.",
    "hidden(I, A) :- value(I, A, V), V is null.",
    "shown(I, A, V) :- value(I, A, V), V is not null, V not in {x}.",
    "same(I, J, A) :- value(I, A, V), value(J, A, V), I != J.",
    "differ(I, J, A) :- value(I, A, V), value(J, A, W), V != W.",
]

SHARES = ("0.6", "0.1", "0.5", "0.25", "0.6", "1", "0.5")

nodes = st.sampled_from("abcd")
edges = st.lists(
    st.tuples(nodes, nodes, st.sampled_from([0.1, 0.25, 0.5, 0.6, 1])), min_size=1, max_size=7
)


@st.composite
def attribute_values(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    rows = []
    for record in range(draw(st.integers(1, 4))):
        for attribute in ("area", "size"):
            if draw(st.integers(0, 5)):
                value = draw(st.sampled_from(["x", "y", "z", None]))
                rows.append((record, attribute, value))
    return rows or [(0, "area", "x")]


@st.composite
def programs(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=9, unique=True))
    return "\n".join(chosen)


def show(value: Any) -> Any:
    """A value as both evaluators write it; nulls have other labels in each."""
    if isinstance(value, LabelledNull | Unknown):
        return "null"
    if isinstance(value, frozenset):
        return ("set", *sorted((show(one) for one in value), key=repr))
    if isinstance(value, tuple):
        return tuple(show(one) for one in value)
    value = normalise(value)
    return round(float(value), 9) if isinstance(value, Fraction) else value


def compare_with_plain(text: str, data: Mapping[str, Any]) -> None:
    program = Program.parse(text)
    empty: dict[str, list[Any]] = {
        name: []
        for name in ("path", "loop", "odd", "even", "tuple", "area", "group", "crowd", "member")
        if f"{name}(" in text and f"\n{name}(" not in f"\n{text}"
    }
    expected = derive_plainly(program, data)
    with evaluate(program, {**data, **empty}) as facts:
        for name in facts:
            if name in empty:
                continue
            mine = sorted((show(row) for row in facts.rows(name)), key=repr)
            plain = sorted((show(row) for row in expected[name]), key=repr)
            assert mine == plain, name


@settings(max_examples=40)
@given(programs(), edges, attribute_values())
def test_random_programs_agree_with_the_plain_evaluator(
    text: str, edge_rows: list[tuple[Any, ...]], value_rows: list[tuple[Any, ...]]
) -> None:
    compare_with_plain(text, {"edge": edge_rows, "value": value_rows})


PROGRAMS_OF_A_PART = 25


def draw_case(random: Random) -> tuple[str, dict[str, list[tuple[Any, ...]]]]:
    """A program of up to a third of all rules, in any order, with data."""
    chosen = random.sample(RULES, random.randint(2, len(RULES) // 3))
    edge_rows = [
        (random.choice("abcde"), random.choice("abcde"), random.choice([0.1, 0.25, 0.5, 0.6, 1]))
        for _ in range(random.randint(1, 10))
    ]
    value_rows: list[tuple[Any, ...]] = [
        (record, attribute, random.choice(["x", "y", "z", None]))
        for record in range(random.randint(1, 5))
        for attribute in ("area", "size")
        if random.random() < 0.8
    ]
    return "\n".join(chosen), {"edge": edge_rows, "value": value_rows or [(0, "area", "x")]}


@pytest.mark.parametrize("part", range(4))
def test_whole_programs_agree_with_the_plain_evaluator(part: int) -> None:
    random = Random(part)  # noqa: S311  # test data, no secret
    for _ in range(PROGRAMS_OF_A_PART):
        compare_with_plain(*draw_case(random))


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_alone_agrees_with_the_plain_evaluator(rule: str) -> None:
    edge_rows = [(x, y, Decimal(w)) for x, y, w in zip("aabbcda", "bcccdaa", SHARES, strict=True)]
    value_rows = [(1, "area", "x"), (1, "size", None), (2, "area", "x"), (2, "size", "z")]
    compare_with_plain(rule, {"edge": edge_rows, "value": [*value_rows, (3, "area", None)]})
