"""Values as people write them in a dictionary, turned into values as the data hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.data.dictionary import MissingCode

if TYPE_CHECKING:
    import pyarrow as pa


def typed_value(given: Any, kind: pa.DataType) -> Any:
    """A value as a column of this kind holds it; as it was given where that makes no sense.

    >>> import pyarrow as pa
    >>> typed_value("1", pa.int64()), typed_value("1", pa.string()), typed_value(".a", pa.int64())
    (1, '1', '.a')
    """
    import pyarrow as pa

    if pa.types.is_string(kind):
        return str(given)
    if not isinstance(given, str):
        return int(given) if isinstance(given, float) and given.is_integer() else given
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}.get(given.lower(), given)
    try:
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            number = float(given)
            return int(number) if number.is_integer() else number
        return pa.scalar(given, pa.string()).cast(kind).as_py()
    except (ValueError, OverflowError, pa.ArrowException):
        return given


def typed_labels(given: Mapping[Any, str], kind: pa.DataType) -> dict[Any, str]:
    """Labels by the values of the data."""
    return {typed_value(value, kind): label for value, label in given.items()}


def typed_codes(given: Sequence[Any], kind: pa.DataType) -> tuple[MissingCode, ...]:
    """Values that mean missing: each one value, or a pair from one to another."""
    found = []
    for code in given:
        if isinstance(code, MissingCode):
            found.append(code)
            continue
        low, high = code if isinstance(code, list | tuple) else (code, code)
        found.append(MissingCode(typed_value(low, kind), typed_value(high, kind)))
    return tuple(found)
