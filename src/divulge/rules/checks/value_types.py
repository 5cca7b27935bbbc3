"""Kinds of values of the rule language, and how two of them meet.

Whole numbers, decimals of a scale and approximate numbers form a chain; a text and a number meet
only where a column was declared to hold values of any kind. `nullable` says that nulls may stand
there too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from divulge.rules import tuning

NUMBERS = ("integer", "decimal", "double")


class TypeClash(Exception):
    """Two kinds of values that cannot be one."""


@dataclass(frozen=True)
class ValueType:
    """A kind of value: `parts` are those of a set's elements or of a tuple's items.

    >>> print(ValueType("set", parts=(ValueType("tuple", parts=(TEXT, ANY)),)))
    set of (text, any value)
    """

    kind: str
    scale: int = 0
    parts: tuple[ValueType, ...] = ()
    nullable: bool = False

    @property
    def is_number(self) -> bool:
        """Whether arithmetic is possible without a look at each value."""
        return self.kind in NUMBERS and not self.nullable

    def __str__(self) -> str:
        words = {
            "integer": "whole number",
            "decimal": "number",
            "double": "approximate number",
            "any": "any value",
            "unknown": "value of unknown kind",
        }
        if self.kind == "set":
            return f"set of {self.parts[0]}"
        if self.kind == "tuple":
            return f"({', '.join(map(str, self.parts))})"
        return words.get(self.kind, self.kind)


UNKNOWN = ValueType("unknown")
INTEGER = ValueType("integer")
DOUBLE = ValueType("double")
TEXT = ValueType("text")
ANY = ValueType("any")
NULL = ValueType("unknown", nullable=True)


def decimal_type(scale: int) -> ValueType:
    """Numbers with so many digits after the point; beyond a bound they are approximate.

    >>> print(decimal_type(2), "|", decimal_type(0), "|", decimal_type(30))
    number | whole number | approximate number
    """
    if scale > tuning.MOST_DECIMAL_DIGITS:
        return DOUBLE
    return ValueType("decimal", scale) if scale else INTEGER


def set_type(element: ValueType) -> ValueType:
    """Sets of such elements."""
    return ValueType("set", parts=(element,))


def tuple_type(items: tuple[ValueType, ...]) -> ValueType:
    """Tuples of such items."""
    return ValueType("tuple", parts=items)


def join_types(*types: ValueType) -> ValueType:
    """The narrowest kind that holds values of all of these; raises TypeClash if there is none.

    >>> print(join_types(INTEGER, decimal_type(2)), "|", join_types(ANY, TEXT))
    number | any value
    >>> join_types(TEXT, INTEGER)
    Traceback (most recent call last):
    divulge.rules.checks.value_types.TypeClash: a text and a whole number
    """
    return reduce(_join_two, types, UNKNOWN)


def _join_two(one: ValueType, other: ValueType) -> ValueType:
    nullable = one.nullable or other.nullable
    return replace(_join_kinds(one, other), nullable=nullable)


def _join_kinds(one: ValueType, other: ValueType) -> ValueType:
    if one.kind == "unknown":
        return other
    if other.kind == "unknown" or one == other:
        return one
    kinds = {one.kind, other.kind}
    if kinds <= set(NUMBERS):
        return DOUBLE if "double" in kinds else decimal_type(max(one.scale, other.scale))
    if "any" in kinds and kinds <= {"any", "text", *NUMBERS}:
        return ANY
    if one.kind == other.kind and len(one.parts) == len(other.parts):
        pairs = zip(one.parts, other.parts, strict=True)
        return replace(one, parts=tuple(_join_two(a, b) for a, b in pairs))
    raise TypeClash(f"a {_name_kind(one)} and a {_name_kind(other)}")


def measure_depth(kind: ValueType) -> int:
    """How many sets and tuples stand inside each other."""
    return 1 + max(map(measure_depth, kind.parts)) if kind.parts else 0


def join_given_types(*types: ValueType) -> ValueType:
    """The kind of a column of data: texts among numbers make it one of values of any kind.

    >>> print(join_given_types(TEXT, INTEGER))
    any value
    """
    return reduce(_join_given_two, types, UNKNOWN)


def _join_given_two(one: ValueType, other: ValueType) -> ValueType:
    nullable = one.nullable or other.nullable
    kinds = {one.kind, other.kind}
    if "text" in kinds and kinds & set(NUMBERS):
        return replace(ANY, nullable=nullable)
    if one.kind == other.kind and one.parts and len(one.parts) == len(other.parts):
        pairs = zip(one.parts, other.parts, strict=True)
        parts = tuple(_join_given_two(a, b) for a, b in pairs)
        return replace(one, parts=parts, nullable=nullable)
    return _join_two(one, other)


def _name_kind(kind: ValueType) -> str:
    if kind.kind == "tuple":
        return f"tuple of {len(kind.parts)}"
    return str(kind)


def widen_nullable(kind: ValueType) -> ValueType:
    """The kind whose nulls may become anything."""
    if kind.parts:
        return replace(kind, parts=tuple(map(widen_nullable, kind.parts)))
    return replace(ANY, nullable=True) if kind.nullable else kind
