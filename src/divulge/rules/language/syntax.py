"""The syntax tree of a rule program: terms, literals and statements, each with its place.

Every node is a frozen value without behaviour: the parser makes them, the checks and the compiler
read them, the formatter writes them back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import TypeAlias

AGGREGATES = ("msum", "mcount", "mprod", "mmin", "mmax", "munion")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "=?", "subset")


@dataclass(frozen=True)
class Place:
    """Where something stands in the text of a program, counted from one."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


NOWHERE = Place(0, 0)


@dataclass(frozen=True)
class Variable:
    """A name that stands for a value: it begins with a capital letter."""

    name: str
    place: Place = NOWHERE


@dataclass(frozen=True)
class Wildcard:
    """`_`: any value, and nobody asks which."""

    place: Place = NOWHERE


@dataclass(frozen=True)
class Constant:
    """A text or a number as it was written; a word in small letters is a text."""

    value: str | int | Decimal
    place: Place = NOWHERE


@dataclass(frozen=True)
class TupleTerm:
    """`(A, V)`: two or more terms in order."""

    items: tuple[Term, ...]
    place: Place = NOWHERE


@dataclass(frozen=True)
class SetTerm:
    """`{A, B}`: a set of terms, also the empty one."""

    items: tuple[Term, ...]
    place: Place = NOWHERE


@dataclass(frozen=True)
class Operation:
    """Arithmetic: `+`, `-`, `*`, `/` of two operands, or `-` of one."""

    operator: str
    operands: tuple[Term, ...]
    place: Place = NOWHERE


@dataclass(frozen=True)
class Call:
    """A function of terms: `union(S, T)`, `size(S)`, `lower(Name)`."""

    function: str
    arguments: tuple[Term, ...]
    place: Place = NOWHERE


@dataclass(frozen=True)
class SetAccess:
    """`S[A]`: of a set of pairs the value named A, or the pairs named in the set A."""

    collection: Term
    key: Term
    place: Place = NOWHERE


@dataclass(frozen=True)
class Unpack:
    """`*S`: the elements of a set as the last terms of an atom."""

    collection: Term
    place: Place = NOWHERE


@dataclass(frozen=True)
class CaseTerm:
    """`case R < K then 1 else 0`: the term of the first condition that holds."""

    branches: tuple[tuple[Condition, Term], ...]
    otherwise: Term
    place: Place = NOWHERE


@dataclass(frozen=True)
class Aggregate:
    """`msum(W, <Z>)`: one value for a group, in which each contributor counts once.

    `argument` is None for `mcount(<Z>)`; without contributors every binding is one.
    """

    function: str
    argument: Term | None
    contributors: tuple[Term, ...]
    place: Place = NOWHERE


Term: TypeAlias = (
    Variable
    | Wildcard
    | Constant
    | TupleTerm
    | SetTerm
    | Operation
    | Call
    | SetAccess
    | Unpack
    | CaseTerm
    | Aggregate
)


@dataclass(frozen=True)
class Atom:
    """`own(X, Y, W)`; with `#` a question to a plug-in, with `not` that no such fact holds."""

    predicate: str
    arguments: tuple[Term, ...]
    is_negated: bool = False
    is_plugin: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True)
class Comparison:
    """Two terms compared; `=` with a variable that is not yet bound gives it a value.

    `=?` takes a null for maybe: it holds where either side is one.
    """

    operator: str
    left: Term
    right: Term
    place: Place = NOWHERE


@dataclass(frozen=True)
class Membership:
    """`C in S`: holds of an element; variables of C that are not yet bound range over S."""

    item: Term
    collection: Term
    is_negated: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True)
class NullTest:
    """`X is null`, `X is not null`."""

    term: Term
    is_negated: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True)
class CompoundCondition:
    """Conditions of a `case` joined by `and` or `or`."""

    operator: str
    parts: tuple[Condition, ...]
    place: Place = NOWHERE


Condition: TypeAlias = Comparison | Membership | NullTest | CompoundCondition
Literal: TypeAlias = Atom | Comparison | Membership | NullTest


@dataclass(frozen=True, kw_only=True)
class Rule:
    """`head :- body.`; without a body it is a fact.

    Variables of `existentials` are named by `exists`: a null is invented for them.
    """

    head: Atom
    body: tuple[Literal, ...] = ()
    existentials: tuple[str, ...] = ()
    name: str | None = None
    comments: tuple[str, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, kw_only=True)
class EqualityRule:
    """`X = Y :- body.`: two values that must be one."""

    left: Term
    right: Term
    body: tuple[Literal, ...]
    name: str | None = None
    comments: tuple[str, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, kw_only=True)
class FactSource:
    """`own(X, Y, W) from "ownership.csv".`: facts out of a file or a dataset of the release.

    A column is None where the argument is a variable: then the columns come in the order of the
    file. Otherwise it is the name of the column.
    """

    predicate: str
    columns: tuple[str | None, ...]
    variables: tuple[str, ...]
    origin: str
    is_dataset: bool = False
    comments: tuple[str, ...] = ()
    place: Place = NOWHERE


Statement: TypeAlias = Rule | EqualityRule | FactSource
Node: TypeAlias = Term | Literal | CompoundCondition


def walk_nodes(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    yield node
    for field in fields(node):
        value = getattr(node, field.name)
        for child in _list_children(value):
            yield from walk_nodes(child)


def list_variables(*nodes: Node) -> list[str]:
    """Names of the variables, each once, in the order of the text."""
    names = (part.name for node in nodes for part in walk_nodes(node) if isinstance(part, Variable))
    return list(dict.fromkeys(names))


def list_aggregates(*nodes: Node) -> list[Aggregate]:
    """The aggregates, in the order of the text."""
    return [part for node in nodes for part in walk_nodes(node) if isinstance(part, Aggregate)]


def _list_children(value: object) -> Iterator[Node]:
    if isinstance(value, tuple):
        for item in value:
            yield from _list_children(item)
    elif isinstance(value, Node):
        yield value
