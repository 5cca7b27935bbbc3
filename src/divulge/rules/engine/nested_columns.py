"""Sets and tuples in columns of Arrow: their kinds, and lists as sets.

Fields of tuples are called by their place, whatever the data call them. A list is a set once it is
sorted and has each element once, also the lists within it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from divulge.rules import tuning
from divulge.rules.checks.value_types import (
    DOUBLE,
    INTEGER,
    TEXT,
    ValueType,
    decimal_type,
    set_type,
    tuple_type,
)
from divulge.rules.engine.sql_values import DIALECT, make_tuple, normalise_set, take_field
from divulge.rules.engine.task_runner import TaskRunner

if TYPE_CHECKING:
    import pyarrow as pa


def is_nested(kind: pa.DataType) -> bool:
    """Whether the values of a column have parts."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_struct(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether the values of a column are texts, however they are stored."""
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def find_nested_kind(kind: pa.DataType) -> ValueType | None:
    """The kind of sets and tuples; None if their parts are neither texts nor numbers."""
    import pyarrow as pa

    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = find_nested_kind(kind.value_type)
        return set_type(element) if element is not None else None
    if pa.types.is_struct(kind):
        parts = [find_nested_kind(kind.field(number).type) for number in range(kind.num_fields)]
        known = tuple(part for part in parts if part is not None)
        return tuple_type(known) if len(known) == len(parts) else None
    if pa.types.is_integer(kind):
        return INTEGER
    if pa.types.is_decimal(kind):
        return decimal_type(max(0, kind.scale))
    if pa.types.is_floating(kind):
        return DOUBLE
    return TEXT if is_text(kind) else None


def name_fields(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with the fields of its tuples called by their places, as they are stored."""
    import pyarrow as pa

    if not is_nested(column.type):
        return column
    # A column without records may have no chunk, and its type is still that of its fields.
    chunks = column.chunks or [pa.array([], column.type)]
    return pa.chunked_array([_name_fields(chunk) for chunk in chunks])


def _name_fields(array: Any) -> Any:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_struct(kind):
        names = [f"f{number}" for number in range(kind.num_fields)]
        return pa.StructArray.from_arrays(list(map(_name_fields, array.flatten())), names)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return type(array).from_arrays(array.offsets, _name_fields(array.values))
    return array


def has_sets(kind: ValueType) -> bool:
    """Whether a value of this kind is a set, or has one within."""
    return kind.kind == "set" or any(map(has_sets, kind.parts))


def normalise_sets(value: exp.Expr, kind: ValueType, depth: int = 0) -> exp.Expr:
    """A value whose sets, also those within it, are sorted and have each element once."""
    if kind.kind == "set":
        [element] = kind.parts
        if has_sets(element):
            name = f"e{depth}"
            changed = normalise_sets(exp.column(name), element, depth + 1)
            function = exp.Lambda(this=changed, expressions=[exp.to_identifier(name)], colon=True)
            value = exp.func("list_transform", value.copy(), function, dialect=DIALECT)
        return normalise_set(value)
    if kind.kind == "tuple" and has_sets(kind):
        items = [
            normalise_sets(take_field(value, number), part, depth)
            for number, part in enumerate(kind.parts)
        ]
        return make_tuple(items)
    return value


def has_normal_sets(runner: TaskRunner, name: str, column: str, kind: ValueType) -> bool:
    """Whether every list of a column ascends, which is asked sooner than lists are sorted."""
    if kind.kind != "set" or has_sets(kind.parts[0]):
        return False
    longest = runner.table(f"SELECT max(len({column})) AS longest FROM {name}")
    length = longest.column(0)[0].as_py() or 0
    if length > tuning.MOST_COMPARED_ELEMENTS:
        return False
    ascends = [
        f"(len({column}) <= {place} OR {column}[{place}] < {column}[{place + 1}])"
        for place in range(1, length)
    ]
    test = f"SELECT 1 AS one FROM {name} WHERE ({' AND '.join(ascends) or 'TRUE'}) IS NOT TRUE"
    return not runner.table(f"{test} LIMIT 1").num_rows
