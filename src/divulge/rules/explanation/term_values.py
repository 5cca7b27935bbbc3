"""Terms and conditions under one binding of their variables, in plain Python.

An explanation calculates again, for the few bindings that it shows, what the engine has calculated
in bulk: whole numbers and decimals exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from operator import ge, gt, le, lt
from typing import Any, TypeAlias

from divulge.rules.engine.stored_values import LabelledNull, write_text
from divulge.rules.language.syntax import (
    Aggregate,
    Call,
    CaseTerm,
    CompoundCondition,
    Condition,
    Constant,
    Membership,
    NullTest,
    Operation,
    SetAccess,
    SetTerm,
    Term,
    TupleTerm,
    Unpack,
    Variable,
)
from divulge.rules.tuning import MOST_DIGITS

Binding: TypeAlias = Mapping[Any, Any]
"""The values of variables, and of the aggregates of a group."""

_EXACT = Context(prec=4 * MOST_DIGITS)


class UnknownValue(Exception):
    """A term has no value under a binding: a wildcard, a null that is calculated with."""


def evaluate_term(term: Term, binding: Binding) -> Any:
    """The value of a term.

    >>> from divulge.rules.language.syntax import Constant, Operation, Variable
    >>> term = Operation("*", (Variable("W"), Constant(2)))
    >>> evaluate_term(term, {"W": Decimal("0.4")})
    Decimal('0.8')

    Raises:
        UnknownValue: if it has none.
    """
    if isinstance(term, Variable):
        return _look_up(binding, term.name)
    if isinstance(term, Aggregate):
        return _look_up(binding, term)
    if isinstance(term, Constant):
        return term.value
    if isinstance(term, TupleTerm):
        return tuple(evaluate_term(item, binding) for item in term.items)
    if isinstance(term, SetTerm):
        return frozenset(evaluate_term(item, binding) for item in term.items)
    if isinstance(term, Unpack):
        return evaluate_term(term.collection, binding)
    return _evaluate_calculation(term, binding)


def _look_up(binding: Binding, key: str | Aggregate) -> Any:
    if key not in binding:
        raise UnknownValue(key)
    return binding[key]


def _evaluate_calculation(term: Term, binding: Binding) -> Any:
    if isinstance(term, Operation):
        operands = [_read_number(evaluate_term(part, binding)) for part in term.operands]
        return calculate(term.operator, operands)
    if isinstance(term, Call):
        arguments = [evaluate_term(part, binding) for part in term.arguments]
        return _FUNCTIONS[term.function](*arguments)
    if isinstance(term, SetAccess):
        collection = evaluate_term(term.collection, binding)
        return _access_set(collection, evaluate_term(term.key, binding))
    if isinstance(term, CaseTerm):
        for test, value in term.branches:
            if holds(test, binding):
                return evaluate_term(value, binding)
        return evaluate_term(term.otherwise, binding)
    raise UnknownValue(term)


def calculate(operator: str, operands: Sequence[Any]) -> Any:
    """A sum, difference, product, quotient or opposite; a quotient is approximate."""
    if len(operands) == 1:
        return -operands[0] if isinstance(operands[0], int | float) else operands[0].copy_negate()
    left, right = operands
    if operator == "/":
        if not right:
            raise UnknownValue(operator)
        return float(left) / float(right)
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        return {"+": left + right, "-": left - right, "*": left * right}[operator]
    if isinstance(left, int) and isinstance(right, int):
        return {"+": left + right, "-": left - right, "*": left * right}[operator]
    acts = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply}
    return acts[operator](left, right)


def holds(condition: Condition, binding: Binding) -> bool:
    """Whether a condition holds; one that has no value does not."""
    try:
        return _judge_condition(condition, binding)
    except UnknownValue:
        return False


def _judge_condition(condition: Condition, binding: Binding) -> bool:
    if isinstance(condition, CompoundCondition):
        parts = (holds(part, binding) for part in condition.parts)
        return all(parts) if condition.operator == "and" else any(parts)
    if isinstance(condition, NullTest):
        value = evaluate_term(condition.term, binding)
        return isinstance(value, LabelledNull) != condition.is_negated
    if isinstance(condition, Membership):
        item = evaluate_term(condition.item, binding)
        collection = evaluate_term(condition.collection, binding)
        return bool(item in collection) != condition.is_negated
    left = evaluate_term(condition.left, binding)
    right = evaluate_term(condition.right, binding)
    return compare(condition.operator, left, right)


def compare(operator: str, left: Any, right: Any) -> bool:
    """A comparison of two values; nulls satisfy only = with themselves, and =?."""
    if operator in ("=", "!="):
        return bool(left == right) == (operator == "=")
    if operator == "=?":
        return is_maybe_equal(left, right)
    if isinstance(left, LabelledNull) or isinstance(right, LabelledNull):
        return False
    if operator == "subset":
        return bool(left <= right)
    acts = {"<": lt, "<=": le, ">": gt, ">=": ge}
    return bool(acts[operator](left, right))


def is_maybe_equal(left: Any, right: Any) -> bool:
    """Whether two values may be the same, where a null may be anything; sets of pairs by name."""
    if isinstance(left, LabelledNull) or isinstance(right, LabelledNull):
        return True
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        names = {pair[0] for pair in left | right}
        one, other = dict(left), dict(right)
        return all(
            name in one and name in other and is_maybe_equal(one[name], other[name])
            for name in names
        )
    return bool(left == right)


def fold_values(function: str, values: Iterable[Any]) -> Any:
    """What an aggregate makes of the values of its contributors."""
    listed = list(values)
    if function == "mcount":
        return len(listed)
    if function == "munion":
        parts = [value if isinstance(value, frozenset) else frozenset([value]) for value in listed]
        return frozenset().union(*parts)
    if function in ("mmin", "mmax"):
        return min(listed) if function == "mmin" else max(listed)
    numbers = [_read_number(value) for value in listed]
    if function == "mprod":
        return math.prod(sorted(map(float, numbers)))
    total: Any = 0
    for number in sorted(numbers):
        total = calculate("+", [total, number])
    return total


def _read_number(value: Any) -> Any:
    if isinstance(value, str):
        return Decimal(value) if not _is_whole(value) else int(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value
    raise UnknownValue(value)


def _read_text(value: Any) -> str:
    if isinstance(value, LabelledNull):
        raise UnknownValue(value)
    return write_text(value)


def _is_whole(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _access_set(collection: frozenset[Any], key: Any) -> Any:
    if isinstance(key, frozenset):
        return frozenset(pair for pair in collection if pair[0] in key)
    values = [value for name, value in collection if name == key]
    if len(values) != 1:
        raise UnknownValue(key)
    return values[0]


def _remove_names(collection: frozenset[Any], name: Any) -> frozenset[Any]:
    names = name if isinstance(name, frozenset) else frozenset([name])
    return frozenset(pair for pair in collection if pair[0] not in names)


def _round_number(value: Any, digits: int) -> Any:
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "union": lambda one, other: one | other,
    "minus": lambda one, other: one - other,
    "size": len,
    "without": _remove_names,
    "abs": lambda value: abs(_read_number(value)),
    "min": lambda one, other: min(_read_number(one), _read_number(other)),
    "max": lambda one, other: max(_read_number(one), _read_number(other)),
    "round": lambda value, digits: _round_number(_read_number(value), digits),
    "lower": lambda text: _read_text(text).lower(),
    "trim": lambda text: _read_text(text).strip(" "),
    "concat": lambda one, other: _read_text(one) + _read_text(other),
}
