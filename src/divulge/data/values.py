"""Values as people write them in a dictionary, turned into values as the data hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge.data.dictionary import MissingCode

if TYPE_CHECKING:
    import pyarrow as pa


def convert_value(value: Any, kind: pa.DataType) -> Any:
    """A value as a column of this kind holds it; as it was given where that makes no sense.

    >>> import pyarrow as pa
    >>> convert_value("1", pa.int64()), convert_value("1", pa.string())
    (1, '1')
    >>> convert_value(".a", pa.int64())
    '.a'
    """
    import pyarrow as pa

    if pa.types.is_string(kind):
        return str(value)
    if not isinstance(value, str):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}.get(value.lower(), value)
    try:
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            number = float(value)
            return int(number) if number.is_integer() else number
        return pa.scalar(value, pa.string()).cast(kind).as_py()
    except (ValueError, OverflowError, pa.ArrowException):
        return value


def convert_labels(labels: Mapping[Any, str], kind: pa.DataType) -> dict[Any, str]:
    """Labels by the values of the data."""
    return {convert_value(value, kind): label for value, label in labels.items()}


def convert_missing_codes(codes: Sequence[Any], kind: pa.DataType) -> tuple[MissingCode, ...]:
    """Values that mean missing: each one value, or a pair from one to another."""
    missing_codes = []
    for code in codes:
        if isinstance(code, MissingCode):
            missing_codes.append(code)
            continue
        low, high = code if isinstance(code, list | tuple) else (code, code)
        missing_codes.append(MissingCode(convert_value(low, kind), convert_value(high, kind)))
    return tuple(missing_codes)
