"""What a column of an Arrow table may not hold: marked texts, numbers too large, endless ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from divulge.rules.checks.value_bounds import (
    ENDLESS,
    LEAST_TOO_LARGE,
    MARKED_TEXT,
    NULL_MARK,
    TOO_LARGE,
    UNDEFINED,
)
from divulge.rules.engine.nested_columns import is_nested

if TYPE_CHECKING:
    import pyarrow as pa

HOLLOW = "a set or tuple in which a value is missing"
HOLLOW_COLUMN = "missing sets or tuples. Leave these rows out, or make the sets empty"


def find_column_misfit(column: pa.ChunkedArray) -> str | None:
    """Why a column cannot be kept, or None if it can; missing values as such can.

    >>> import pyarrow as pa
    >>> find_column_misfit(pa.chunked_array([[["a", None]]]))
    'a set or tuple in which a value is missing'
    """
    if column.null_count and is_nested(column.type):
        return HOLLOW_COLUMN
    misfits = (_find_leaf_misfit(leaf) for leaf in _list_leaves(column.drop_null()))
    return next((misfit for misfit in misfits if misfit is not None), None)


def _list_leaves(column: Any) -> Iterator[Any]:
    """The values within sets and tuples."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        yield from _list_leaves(column.cast(kind.value_type))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _list_leaves(pc.list_flatten(column))
    elif pa.types.is_struct(kind) and not column.null_count:
        for number in range(kind.num_fields):
            yield from _list_leaves(pc.struct_field(column, number))
    else:
        yield column


def _find_leaf_misfit(leaf: Any) -> str | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = leaf.type
    if leaf.null_count:  # of the column itself they are gone
        return HOLLOW
    if pa.types.is_string_view(kind):
        leaf, kind = leaf.cast(pa.large_string()), pa.large_string()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return MARKED_TEXT if pc.any(pc.match_substring(leaf, NULL_MARK)).as_py() else None
    if pa.types.is_floating(kind):
        if pc.any(pc.is_inf(leaf)).as_py():
            return ENDLESS
        return UNDEFINED if pc.any(pc.is_nan(leaf)).as_py() else None
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        extremes = pc.min_max(leaf).as_py()
        is_large = len(leaf) and max(map(abs, extremes.values())) >= LEAST_TOO_LARGE
        return TOO_LARGE if is_large else None
    return None
