"""Values of the rule language in SQL: how each kind is stored, written and turned into another.

Texts, and columns that may hold nulls or values of any kind, are text; a null is a text that no
user can write. Sets are sorted lists without repetition, so that equal sets are equal lists. Trees
of sqlglot only: no text of a user is ever parsed as SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import sqlglot
from sqlglot import exp

from divulge.rules.checks.value_bounds import NULL_MARK
from divulge.rules.checks.value_types import NUMBERS, ValueType

DIALECT = "duckdb"


@dataclass(frozen=True)
class Typed:
    """An expression and the kind of its values."""

    sql: exp.Expr
    type: ValueType


@lru_cache(maxsize=512)
def _parse_template(template: str) -> exp.Expr:
    return sqlglot.parse_one(template, dialect=DIALECT)


def fill(template: str, **parts: exp.Expr) -> exp.Expr:
    """A tree from SQL of ours, with trees in the place of names: `fill("len(S)", S=...)`."""

    def put_in(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name in parts:
            return parts[node.name].copy()
        return node

    return _parse_template(template).copy().transform(put_in, copy=False)


def write_sql(tree: exp.Expr) -> str:
    """The text that the engine is given."""
    return tree.sql(dialect=DIALECT)


def is_stored_as_text(kind: ValueType) -> bool:
    """Whether values stand as text: texts, values of any kind, numbers among nulls."""
    return kind.kind in ("text", "any", "unknown") or (kind.kind in NUMBERS and kind.nullable)


def name_sql_type(kind: ValueType) -> str:
    """The type of a column."""
    if is_stored_as_text(kind):
        return "VARCHAR"
    if kind.kind == "set":
        return f"{name_sql_type(kind.parts[0])}[]"
    if kind.kind == "tuple":
        fields = (f"f{number} {name_sql_type(part)}" for number, part in enumerate(kind.parts))
        return f"STRUCT({', '.join(fields)})"
    return {"integer": "BIGINT", "decimal": f"DECIMAL(38, {kind.scale})", "double": "DOUBLE"}[
        kind.kind
    ]


@lru_cache(maxsize=512)
def build_sql_type(kind: ValueType) -> exp.DataType:
    """The type of a column as a tree."""
    return exp.DataType.build(name_sql_type(kind), dialect=DIALECT)


def cast(tree: exp.Expr, kind: ValueType) -> exp.Expr:
    """A cast that fails where a value does not fit."""
    return exp.Cast(this=tree.copy(), to=build_sql_type(kind).copy())


def write_constant(value: str | int | Decimal, kind: ValueType) -> Typed:
    """A constant of a program."""
    if isinstance(value, str):
        return Typed(exp.Literal.string(value), kind)
    return Typed(cast(exp.Literal.string(format(value, "f")), kind), kind)


def test_null(value: Typed) -> exp.Expr:
    """Whether a value is a null."""
    if not is_stored_as_text(value.type):
        return exp.false()
    return fill("starts_with(V, MARK)", V=value.sql, MARK=exp.Literal.string(NULL_MARK))


test_null.__test__ = False  # type: ignore[attr-defined]  # pytest: it is no test


def need_finite(value: exp.Expr) -> exp.Expr:
    """An approximate number, and an error if it has become infinite or undefined."""
    return fill("CASE WHEN NOT isfinite(V) THEN error('endless') ELSE V END", V=value)


def take_field(tree: exp.Expr, number: int) -> exp.Expr:
    """An item of a tuple, counted from zero."""
    return fill("struct_extract(S, F)", S=tree, F=exp.Literal.string(f"f{number}"))


def make_tuple(items: Sequence[exp.Expr]) -> exp.Expr:
    """A tuple from its items."""
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(f"f{number}"), expression=item.copy())
        for number, item in enumerate(items)
    ]
    return exp.Struct(expressions=fields)


def normalise_set(tree: exp.Expr) -> exp.Expr:
    """A list as a set: sorted, each element once."""
    return fill("list_sort(list_distinct(S))", S=tree)


def convert(value: Typed, target: ValueType) -> exp.Expr:
    """The value as another kind; a text that is no number, or a null, becomes SQL's NULL."""
    if value.type == target:
        return value.sql
    if target.kind == "set" and value.type.kind == "set":
        return _convert_set(value, target)
    if target.kind == "tuple" and value.type.kind == "tuple":
        pairs = zip(value.type.parts, target.parts, strict=True)
        return make_tuple(
            [
                convert(Typed(take_field(value.sql, number), part), wanted)
                for number, (part, wanted) in enumerate(pairs)
            ]
        )
    from_text, to_text = is_stored_as_text(value.type), is_stored_as_text(target)
    if from_text and to_text:
        return value.sql
    if to_text:
        return _write_number(value)
    if from_text:
        return exp.TryCast(this=value.sql.copy(), to=build_sql_type(target).copy())
    return cast(value.sql, target)


def _convert_set(value: Typed, target: ValueType) -> exp.Expr:
    inner, wanted = value.type.parts[0], target.parts[0]
    if name_sql_type(inner) == name_sql_type(wanted):
        return value.sql
    if inner.kind == "unknown":
        return cast(value.sql, target)
    element = convert(Typed(exp.column("e"), inner), wanted)
    function = exp.Lambda(this=element, expressions=[exp.to_identifier("e")], colon=True)
    changed = exp.func("list_transform", value.sql.copy(), function, dialect=DIALECT)
    return normalise_set(changed)


def _write_number(value: Typed) -> exp.Expr:
    """A number as the shortest text, so that equal numbers are equal texts."""
    text = fill("CAST(V AS VARCHAR)", V=value.sql)
    if value.type.kind == "decimal":
        return fill("rtrim(rtrim(V, '0'), '.')", V=text)
    if value.type.kind == "double":
        return fill("regexp_replace(V, '\\.0$', '')", V=text)
    return text


def match_maybe(one: Typed, other: Typed) -> exp.Expr:
    """Equality that takes a null for maybe; sets of pairs are compared name by name."""
    if one.type.kind == "set" and one.type.parts[0].kind == "tuple":
        value = one.type.parts[0].parts[1]
        is_null_x = test_null(Typed(exp.column("f1", table="x"), value))
        is_null_y = test_null(Typed(exp.column("f1", table="y"), value))
        differs = fill(
            "len(list_filter(S, LAMBDA x : len(list_filter(T, LAMBDA y : "
            "y.f0 = x.f0 AND y.f1 <> x.f1 AND NOT NX AND NOT NY)) > 0)) = 0",
            S=one.sql,
            T=other.sql,
            NX=is_null_x,
            NY=is_null_y,
        )
        names = "list_sort(list_distinct(list_transform(S, LAMBDA x : x.f0)))"
        same_names = exp.EQ(this=fill(names, S=one.sql), expression=fill(names, S=other.sql))
        return exp.and_(same_names, differs)
    if one.type.kind == "tuple":
        pairs = [
            match_maybe(
                Typed(take_field(one.sql, number), part), Typed(take_field(other.sql, number), part)
            )
            for number, part in enumerate(one.type.parts)
        ]
        return exp.and_(*pairs)
    equal = exp.EQ(this=one.sql.copy(), expression=other.sql.copy())
    return exp.paren(exp.or_(equal, test_null(one), test_null(other)), copy=False)
