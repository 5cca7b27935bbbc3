"""Values of Python as they are stored, and back: texts, numbers, sets, tuples and nulls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from divulge.rules.checks.value_bounds import NULL_MARK
from divulge.rules.checks.value_types import ValueType
from divulge.rules.engine.sql_values import (
    cast,
    is_stored_as_text,
    make_tuple,
    normalise_set,
)

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, order=True)
class LabelledNull:
    """Some value that is not known; the same label is the same value.

    >>> print(LabelledNull("n1"))
    ⊥n1
    """

    label: str

    def __str__(self) -> str:
        return f"⊥{self.label}"


def arrow_type(kind: ValueType) -> pa.DataType:
    """The Arrow type of a stored column."""
    import pyarrow as pa

    if is_stored_as_text(kind):
        return pa.string()
    if kind.kind == "set":
        return pa.list_(arrow_type(kind.parts[0]))
    if kind.kind == "tuple":
        return pa.struct([(f"f{n}", arrow_type(part)) for n, part in enumerate(kind.parts)])
    if kind.kind == "integer":
        return pa.int64()
    return pa.decimal128(38, kind.scale) if kind.kind == "decimal" else pa.float64()


def store_value(value: Any, kind: ValueType) -> Any:
    """A value as it is stored; sets are sorted lists, which the engine sorts once more."""
    if isinstance(value, LabelledNull):
        return NULL_MARK + value.label
    if kind.kind == "set":
        return [store_value(item, kind.parts[0]) for item in sorted(value, key=repr)]
    if kind.kind == "tuple":
        return {
            f"f{number}": store_value(item, part)
            for number, (item, part) in enumerate(zip(value, kind.parts, strict=True))
        }
    if is_stored_as_text(kind):
        # An approximate number as the engine writes it, so that equal ones are equal texts.
        is_rough = kind.kind == "double"
        return repr(float(value)).removesuffix(".0") if is_rough else write_text(value)
    if kind.kind == "integer":
        return int(value)
    if kind.kind == "decimal":
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return float(value)


def write_text(value: Any) -> str:
    """A value in a column of texts: numbers as shortly as possible.

    >>> write_text(Decimal("0.50")), write_text(3), write_text(True)
    ('0.5', '3', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        text = format(value, "f")
        return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
    return str(value)


def store_column(values: Iterable[Any], kind: ValueType) -> pa.Array:
    """A column of values without missing ones."""
    import pyarrow as pa

    return pa.array([store_value(value, kind) for value in values], arrow_type(kind))


def read_value(stored: Any, kind: ValueType) -> Any:
    """The value that is stored, for Python: sets are frozen sets, nulls are labelled."""
    if stored is None:
        return None
    if isinstance(stored, str):
        if stored.startswith(NULL_MARK):
            return LabelledNull(stored[len(NULL_MARK) :])
        return read_number(stored, kind)
    if kind.kind == "set":
        return frozenset(read_value(item, kind.parts[0]) for item in stored)
    if kind.kind == "tuple":
        pairs = zip(stored.values(), kind.parts, strict=True)
        return tuple(read_value(item, part) for item, part in pairs)
    return stored


def read_number(text: str, kind: ValueType) -> Any:
    """A text that is known to hold a number, as that number."""
    if kind.kind == "integer":
        return int(text)
    if kind.kind == "decimal":
        return Decimal(text)
    return float(text) if kind.kind == "double" else text


def read_rows(table: pa.Table, kinds: Sequence[ValueType]) -> list[tuple[Any, ...]]:
    """The rows of a stored table."""
    columns = [
        [read_value(value, kind) for value in table.column(number).to_pylist()]
        for number, kind in enumerate(kinds)
    ]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def write_value(value: Any, kind: ValueType) -> exp.Expr:
    """A value of Python as it is stored, in SQL; raises an error of Python if it does not fit."""
    return _write_stored(store_value(value, kind), kind)


def _write_stored(stored: Any, kind: ValueType) -> exp.Expr:
    if isinstance(stored, str):
        return exp.Literal.string(stored)
    if kind.kind == "set":
        items = [_write_stored(item, kind.parts[0]) for item in stored]
        return normalise_set(cast(exp.Array(expressions=items), kind))
    if kind.kind == "tuple":
        pairs = zip(stored.values(), kind.parts, strict=True)
        return make_tuple([_write_stored(item, part) for item, part in pairs])
    return cast(exp.Literal.string(str(stored)), kind)
