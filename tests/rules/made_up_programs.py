"""Programs drawn at random, for properties of what reads, writes and runs them."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from divulge.rules import Program
from divulge.rules.language.comments import BLANK_LINE
from divulge.rules.language.syntax import (
    AGGREGATES,
    COMPARISONS,
    Aggregate,
    Atom,
    Call,
    CaseTerm,
    Comparison,
    CompoundCondition,
    Condition,
    Constant,
    EqualityRule,
    FactSource,
    Literal,
    Membership,
    NullTest,
    Operation,
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
from divulge.rules.language.tokens import FUNCTION_ARITIES

names = st.sampled_from(["own", "rel", "size", "Tuple", "größe", "a1", "dataset", "Not", "_x"])
variables = st.sampled_from(["X", "Y", "VSet", "Änderung", "_x", "A_1"])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["", "roma", "not", 'a "b"', "\\", "\\n", "two\nlines", "\t", "% no comment", "."]
)
decimals = st.builds(
    lambda digits, places: Decimal(digits).scaleb(-places),
    st.integers(-(10**9), 10**9),
    st.integers(1, 12),
)
constants = st.builds(Constant, texts | st.integers(-(10**40), 10**40) | decimals)
simple_terms = st.builds(Variable, variables) | st.just(Wildcard()) | constants


def _make_tuple(children: st.SearchStrategy[Term]) -> st.SearchStrategy[tuple[Term, ...]]:
    return st.lists(children, max_size=3).map(tuple)


def _make_conditions(
    terms: st.SearchStrategy[Term],
) -> st.SearchStrategy[Comparison | Membership | NullTest]:
    return (
        st.builds(Comparison, st.sampled_from(COMPARISONS), terms, terms)
        | st.builds(Membership, terms, terms, st.booleans())
        | st.builds(NullTest, terms, st.booleans())
    )


def _make_tests(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Condition]:
    simple = _make_conditions(terms)
    parts = st.lists(simple, min_size=2, max_size=3).map(tuple)
    both = st.builds(CompoundCondition, st.just("and"), parts)
    either = st.lists(simple | both, min_size=2, max_size=3).map(tuple)
    return simple | both | st.builds(CompoundCondition, st.just("or"), either)


def _extend_terms(children: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    branches = st.lists(st.tuples(_make_tests(children), children), min_size=1, max_size=2)
    calls = st.sampled_from(sorted(FUNCTION_ARITIES)).flatmap(
        lambda name: st.builds(Call, st.just(name), st.tuples(*[children] * FUNCTION_ARITIES[name]))
    )
    aggregates = st.builds(
        Aggregate, st.sampled_from(AGGREGATES), children, _make_tuple(children)
    ) | st.builds(Aggregate, st.just("mcount"), st.none(), _make_tuple(children))
    return (
        st.builds(TupleTerm, st.lists(children, min_size=2, max_size=3).map(tuple))
        | st.builds(SetTerm, _make_tuple(children))
        | st.builds(Operation, st.sampled_from("+-*/"), st.tuples(children, children))
        | st.builds(Operation, st.just("-"), st.tuples(children))
        | calls
        | aggregates
        | st.builds(SetAccess, children, children)
        | st.builds(CaseTerm, branches.map(tuple), children)
    )


terms: st.SearchStrategy[Term] = st.recursive(simple_terms, _extend_terms, max_leaves=6)


@st.composite
def atoms(draw: st.DrawFn, *, is_negated: bool = False, is_plugin: bool = False) -> Atom:
    arguments = draw(st.lists(terms, max_size=3))
    if draw(st.booleans()):
        arguments.append(Unpack(draw(terms)))
    return Atom(draw(names), tuple(arguments), is_negated, is_plugin)


literals: st.SearchStrategy[Literal] = st.one_of(
    atoms(), atoms(is_negated=True), atoms(is_plugin=True), _make_conditions(terms)
)
bodies = st.lists(literals, min_size=1, max_size=4).map(tuple)
comment_lines = st.sampled_from(
    ["", "groups", " indented", "% ruled off %", '@author "X"', "a. b :- c"]
)


@st.composite
def comments(draw: st.DrawFn, *, is_first: bool) -> tuple[str, ...]:
    lines = draw(st.lists(comment_lines | st.just(BLANK_LINE), max_size=3))
    return tuple(
        line
        for number, line in enumerate(lines)
        if line != BLANK_LINE or (lines[number - 1] != BLANK_LINE if number else not is_first)
    )


@st.composite
def statements(draw: st.DrawFn, *, is_first: bool) -> Statement:
    told = draw(comments(is_first=is_first))
    name = draw(st.none() | texts.filter(lambda text: "{" not in text))
    kind = draw(st.sampled_from(["fact", "rule", "equality", "source"]))
    if kind == "equality":
        left, right = draw(terms), draw(terms)
        return EqualityRule(left=left, right=right, body=draw(bodies), name=name, comments=told)
    if kind == "source":
        return _draw_source(draw, told)
    body = draw(bodies) if kind == "rule" else ()
    existentials = tuple(draw(st.lists(variables, max_size=2)))
    return Rule(head=draw(atoms()), body=body, existentials=existentials, name=name, comments=told)


def _draw_source(draw: st.DrawFn, told: tuple[str, ...]) -> FactSource:
    by_order = draw(st.lists(variables, max_size=3))
    by_name = draw(st.lists(texts, min_size=1, max_size=3))
    return FactSource(
        predicate=draw(names),
        columns=tuple(None for _ in by_order) or tuple(by_name),
        variables=tuple(by_order),
        origin=draw(texts),
        is_dataset=draw(st.booleans()),
        comments=told,
    )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A program without places, as it may stand in a file."""
    count = draw(st.integers(0, 4))
    drawn = tuple(draw(statements(is_first=number == 0)) for number in range(count))
    last = list(draw(comments(is_first=not drawn)))
    while last[-1:] == [BLANK_LINE]:
        last.pop()
    return Program(statements=drawn, comments=tuple(last))
