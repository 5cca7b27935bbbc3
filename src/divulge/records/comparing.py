"""How two values are compared in linkage: equal, near, or alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from divulge.work import Problem

KINDS = ("equal", "near", "likeness")
MISSING = 2


def agrees(name: str, kind: Any) -> str:
    """SQL for whether two values agree: 1, 0, or 2 where one is missing and nothing is said.

    >>> agrees("value0", "equal")
    'CASE WHEN a.value0 IS NULL OR b.value0 IS NULL THEN 2 ELSE (a.value0 = b.value0)::INT END'
    """
    one, other = f"a.{name}", f"b.{name}"
    if kind == "equal":
        condition = f"{one} = {other}"
    elif kind[0] == "near":
        condition = f"abs({one} - {other}) <= {float(kind[1])!r}"
    else:
        text = f"jaro_winkler_similarity({one}::VARCHAR, {other}::VARCHAR)"
        condition = f"{text} >= {float(kind[1])!r}"
    missing = f"{one} IS NULL OR {other} IS NULL"
    return f"CASE WHEN {missing} THEN {MISSING} ELSE ({condition})::INT END"


def problems_with_comparisons(compare: Mapping[str, Any]) -> Iterator[Problem]:
    """Whether each comparison is one that exists."""
    for name, kind in compare.items():
        place = f'compare, "{name}"'
        if kind == "equal":
            continue
        pair = isinstance(kind, (tuple, list)) and len(kind) == 2
        if not pair or kind[0] not in KINDS[1:]:
            message = f'{kind!r} is not a comparison: "equal", ["near", 2] or ["likeness", 0.9].'
            yield Problem(place, message)
        elif isinstance(kind[1], bool) or not isinstance(kind[1], (int, float)):
            yield Problem(place, "needs a number after its kind.")
        elif kind[0] == "near" and not kind[1] >= 0:
            yield Problem(place, "near takes a distance, 0 or more.")
        elif kind[0] == "likeness" and not 0 < kind[1] <= 1:
            yield Problem(place, "likeness takes a share, above 0 and at most 1.")
