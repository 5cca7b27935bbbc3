"""How two values are compared in linkage: equal, near, or alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from divulge.work import Problem

if TYPE_CHECKING:
    import pyarrow as pa

COMPARISON_KINDS = ("equal", "near", "likeness")
MISSING = 2
"""What a comparison gives where a value is missing, beside 0 (differs) and 1 (agrees)."""


Values: TypeAlias = Literal["whole numbers", "numbers", "others"]


def build_agreement_sql(name: str, kind: Any, values: Values = "others") -> str:
    """SQL for whether two values agree: 1, 0, or 2 where one is missing and nothing is said.

    >>> build_agreement_sql("value0", "equal")
    'CASE WHEN a.value0 IS NULL OR b.value0 IS NULL THEN 2 ELSE (a.value0 = b.value0)::INT END'
    """
    one, other = f"a.{name}", f"b.{name}"
    if kind == "equal":
        condition = f"{one} = {other}"
    elif kind[0] == "near":
        condition = f"{_build_distance_sql(one, other, values)} <= {float(kind[1])!r}"
    else:
        text = f"jaro_winkler_similarity({one}::VARCHAR, {other}::VARCHAR)"
        condition = f"{text} >= {float(kind[1])!r}"
    missing = f"{one} IS NULL OR {other} IS NULL"
    return f"CASE WHEN {missing} THEN {MISSING} ELSE ({condition})::INT END"


def _build_distance_sql(one: str, other: str, values: Values) -> str:
    """SQL for how far two values are apart; of dates, in days."""
    if values == "whole numbers":
        return f"abs({one}::HUGEINT - {other}::HUGEINT)"  # small and unsigned ones would overflow
    if values == "others":
        return f"abs({one} - {other})"
    one, other = f"{one}::DOUBLE", f"{other}::DOUBLE"
    # Decimals are not what they seem in binary: 1.1 lies a rounding error further from 1 than .1.
    return f"(abs({one} - {other}) - 1e-15 * greatest(abs({one}), abs({other})))"


def find_common_kind(one: pa.DataType, other: pa.DataType) -> Values:
    """Of which kind two columns of values are together."""
    import pyarrow.types as kinds

    if kinds.is_integer(one) and kinds.is_integer(other):
        return "whole numbers"
    return (
        "numbers"
        if find_value_kind(one) == "number" and find_value_kind(other) == "number"
        else "others"
    )


def find_value_kind(values: pa.DataType) -> str | None:
    """Values of one kind can be compared; None: there are none, and nothing is said.

    >>> import pyarrow as pa
    >>> find_value_kind(pa.int8()), find_value_kind(pa.float64()), find_value_kind(pa.null())
    ('number', 'number', None)
    """
    import pyarrow.types as kinds

    if kinds.is_null(values):
        return None
    number = kinds.is_integer(values) or kinds.is_floating(values) or kinds.is_decimal(values)
    return "number" if number else "date" if kinds.is_date(values) else str(values)


def problems_with_comparisons(compare: Mapping[str, Any]) -> Iterator[Problem]:
    """Whether each comparison is one that exists."""
    for name, kind in compare.items():
        place = f'compare, "{name}"'
        if kind == "equal":
            continue
        is_pair = isinstance(kind, (tuple, list)) and len(kind) == 2
        if not is_pair or kind[0] not in COMPARISON_KINDS[1:]:
            message = f'{kind!r} is not a comparison: "equal", ["near", 2] or ["likeness", 0.9].'
            yield Problem(place, message)
        elif isinstance(kind[1], bool) or not isinstance(kind[1], (int, float)):
            yield Problem(place, "needs a number after its kind.")
        elif kind[0] == "near" and not kind[1] >= 0:
            yield Problem(place, "near takes a distance, 0 or more.")
        elif kind[0] == "likeness" and not 0 < kind[1] <= 1:
            yield Problem(place, "likeness takes a share, above 0 and at most 1.")
