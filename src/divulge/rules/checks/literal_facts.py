"""The facts that a program writes down, as values; there may be hundreds of thousands of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from divulge.rules.checks.type_inference import constant_type
from divulge.rules.checks.value_bounds import LEAST_TOO_LARGE, find_misfit
from divulge.rules.checks.value_types import (
    DOUBLE,
    NULL,
    TypeClash,
    ValueType,
    join_given_types,
    set_type,
    tuple_type,
)
from divulge.rules.language.syntax import (
    Constant,
    Operation,
    Rule,
    SetTerm,
    Statement,
    Term,
    TupleTerm,
)
from divulge.work import Problem

Value: TypeAlias = "str | int | float | Decimal | frozenset[Value] | tuple[Value, ...] | None"


class NoLiteral(Exception):
    """A term that must be worked out."""


class UnfitValue(Exception):
    """A value that cannot be kept, and why."""


@dataclass(frozen=True)
class GivenFacts:
    """Facts by predicate, each with the number of its statement, and the types of the columns."""

    rows: Mapping[str, Sequence[tuple[int, tuple[Value, ...]]]]
    types: Mapping[str, tuple[ValueType, ...]]
    numbers: frozenset[int]


def collect_facts(statements: Sequence[Statement]) -> tuple[GivenFacts, list[Problem]]:
    """The facts of a program whose arguments are written out, and what is wrong with them."""
    rows: dict[str, list[tuple[int, tuple[Value, ...]]]] = {}
    types: dict[str, tuple[ValueType, ...]] = {}
    problems: list[Problem] = []
    for number, statement in enumerate(statements):
        if not isinstance(statement, Rule) or statement.body or statement.existentials:
            continue
        try:
            values = tuple(read_literal(term) for term in statement.head.arguments)
        except NoLiteral:
            continue
        except UnfitValue as unfit:
            problems.append(Problem(str(statement.place), f"{unfit}."))
            continue
        name = statement.head.predicate
        try:
            columns = [value_type(value) for value in values]
            known = types.get(name, tuple(columns))
            if len(known) != len(columns):
                continue  # told where the numbers of arguments are compared
            if known != tuple(columns):
                pairs = zip(known, columns, strict=True)
                known = tuple(join_given_types(*pair) for pair in pairs)
        except TypeClash as clash:
            problems.append(
                Problem(str(statement.place), f'an argument of "{name}" is {clash}, among others.')
            )
            continue
        types[name] = known
        rows.setdefault(name, []).append((number, values))
    numbers = frozenset(number for facts in rows.values() for number, _ in facts)
    return GivenFacts(rows, types, numbers), problems


def read_literal(term: Term) -> Value:
    """The value of a term that is written out.

    Raises:
        NoLiteral: if it must be worked out.
        UnfitValue: if it cannot be kept.
    """
    if isinstance(term, Constant):
        misfit = find_misfit(term.value)
        if misfit is not None:
            raise UnfitValue(misfit)
        return term.value
    if isinstance(term, TupleTerm):
        return tuple(read_literal(item) for item in term.items)
    if isinstance(term, SetTerm):
        return frozenset(read_literal(item) for item in term.items)
    if isinstance(term, Operation) and term.operator == "-" and len(term.operands) == 1:
        value = read_literal(term.operands[0])
        if isinstance(value, int | Decimal):
            return -value
    raise NoLiteral


def value_type(value: object) -> ValueType:
    """The type of a value; None is a null.

    >>> print(value_type(("area", 3)))
    (text, whole number)
    """
    if value is None:
        return NULL
    if isinstance(value, bool | str):
        return constant_type(str(value))
    if isinstance(value, int | Decimal):
        return constant_type(value)
    if isinstance(value, float):
        if abs(value) >= LEAST_TOO_LARGE:
            return DOUBLE
        return constant_type(Decimal(repr(value)))
    if isinstance(value, set | frozenset):
        return set_type(join_given_types(*map(value_type, value)))
    if isinstance(value, tuple | list):
        return tuple_type(tuple(map(value_type, value)))
    raise TypeClash(f"a {type(value).__name__}")
