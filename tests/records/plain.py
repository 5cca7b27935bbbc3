"""Plain twins: the same questions answered by grouping rows in dictionaries, one set at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

Row = dict[str, Any]


def subsets(names: Sequence[str], at_most: int | None = None) -> Iterator[tuple[str, ...]]:
    for size in range(1, (len(names) if at_most is None else at_most) + 1):
        yield from combinations(names, size)


def classes(rows: Sequence[Row], knows: Sequence[str]) -> list[list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in knows)].append(row)
    return list(found.values())


def told(rows: Sequence[Row], knows: Sequence[str], seeks: Sequence[str]) -> dict[str, Any]:
    """What the sweep's table says of one set of known attributes."""
    groups = classes(rows, knows)
    sizes = [len(group) for group in groups]
    answer: dict[str, Any] = {
        "classes": len(groups),
        "singletons": sizes.count(1),
        "classes_of_2": sizes.count(2),
        "classes_of_3_to_4": sum(3 <= size <= 4 for size in sizes),
        "classes_of_5_to_9": sum(5 <= size <= 9 for size in sizes),
        "classes_of_10_or_more": sum(size >= 10 for size in sizes),
        "k_anonymity": min(sizes),
    }
    for secret in seeks:
        totals = Counter(row[secret] for row in rows)
        values = [Counter(row[secret] for row in group) for group in groups]
        answer[f"{secret}.pure"] = sum(
            len(g) for g, v in zip(groups, values, strict=True) if len(v) == 1
        )
        answer[f"{secret}.best"] = sum(max(v.values()) for v in values)
        answer[f"{secret}.capacity"] = sum(max(n / totals[x] for x, n in v.items()) for v in values)
    return answer


def told_weighted(
    rows: Sequence[Row], knows: Sequence[str], seeks: Sequence[str], weight: str
) -> dict[str, float]:
    """The same with weights: a record counts for what it weighs, and is guessed by it.

    One that weighs nothing is not sought, so it hides nobody.
    """
    groups = classes([row for row in rows if row[weight] > 0], knows)
    answer = {
        "weighted.classes": sum(max(row[weight] for row in group) for group in groups),
        "weighted.singletons": sum(g[0][weight] for g in groups if len(g) == 1),
    }
    for secret in seeks:
        pure = best = 0.0
        for group in groups:
            of_value: dict[Any, float] = defaultdict(float)
            for row in group:
                of_value[row[secret]] += row[weight]
            best += max(of_value.values())
            pure += sum(of_value.values()) if len(of_value) == 1 else 0.0
        answer[f"weighted.{secret}.pure"], answer[f"weighted.{secret}.best"] = pure, best
    return answer
