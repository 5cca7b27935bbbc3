"""Recoding in plain Python, obviously right: every combination of levels, every record.

It shares nothing with the product but the numbers that go in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

Row = tuple[str, ...]
Ladders = Sequence[dict[str, tuple[str, ...]]]
"""By attribute, of each leaf what it is at levels 0, 1, ..."""
Test = Callable[[list[tuple[Row, str]]], set[int]]
"""From the coarse row and the sensitive value of each record, the records that fail."""


@dataclass
class Best:
    """The least loss, and all combinations that reach it."""

    loss: float
    levels: set[tuple[int, ...]]


def coarsen(row: Row, ladders: Ladders, levels: Sequence[int]) -> Row:
    """A row at some levels."""
    return tuple(
        ladder[value][level] for value, ladder, level in zip(row, ladders, levels, strict=True)
    )


def remove_failing(coarse: list[Row], secrets: Sequence[str], tests: Sequence[Test]) -> set[int]:
    """Everybody who must go until nobody who is left fails."""
    alive = list(range(len(coarse)))
    while alive:
        view = [(coarse[i], secrets[i]) for i in alive]
        failing = set().union(*(test(view) for test in tests))
        if not failing:
            break
        alive = [i for place, i in enumerate(alive) if place not in failing]
    return set(range(len(coarse))) - set(alive)


def measure_loss(
    rows: Sequence[Row],
    ladders: Ladders,
    levels: Sequence[int],
    removed: set[int],
    *,
    utility: str,
    weights: Sequence[float],
) -> float:
    """The loss of a release by its definition, cell by cell."""
    attributes = range(len(ladders))
    domain = [len(ladder) for ladder in ladders]
    parts = [
        w * (1 - 1 / d) if utility == "granularity" else w
        for w, d in zip(weights, domain, strict=True)
    ]
    total = 0.0
    for a in attributes:
        cell_costs, full_costs = 0.0, 0.0
        counts = Counter(row[a] for row in rows)
        for i, row in enumerate(rows):
            label = ladders[a][row[a]][levels[a]]
            under = [leaf for leaf, ladder in ladders[a].items() if ladder[levels[a]] == label]
            height = len(ladders[a][row[a]]) - 1
            if utility == "precision":
                cost, full = (levels[a] / height if height else 0.0), 1.0
            elif utility == "entropy":
                of_node = sum(counts[leaf] for leaf in under)
                cost = math.log2(of_node / counts[row[a]])
                full = math.log2(len(rows) / counts[row[a]])
            else:
                cost, full = (len(under) - 1) / max(1, domain[a] - 1), 1.0
            if domain[a] < 2:
                cost = full = 0.0
            cell_costs += full if i in removed else cost
            full_costs += full
        if full_costs:
            total += parts[a] / sum(parts) * cell_costs / full_costs
    return total


def enumerate_levels(
    rows: Sequence[Row],
    secrets: Sequence[str],
    ladders: Ladders,
    tests: Sequence[Test],
    *,
    most_removed: int,
    utility: str = "loss",
    weights: Sequence[float] | None = None,
) -> Best | None:
    """The best of all combinations of levels; None if none meets the tests."""
    best: Best | None = None
    heights = [len(next(iter(ladder.values()))) for ladder in ladders]
    for levels in product(*map(range, heights)):
        coarse = [coarsen(row, ladders, levels) for row in rows]
        removed = remove_failing(coarse, secrets, tests)
        if len(removed) > min(most_removed, len(rows) - 1):
            continue
        loss = measure_loss(
            rows, ladders, levels, removed,
            utility=utility, weights=weights or [1.0] * len(ladders),
        )  # fmt: skip
        if best is None or loss < best.loss - 1e-9:
            best = Best(loss, {levels})
        elif loss < best.loss + 1e-9:
            best.levels.add(levels)
    return best


def k_test(k: int) -> Test:
    """k-anonymity."""
    return lambda view: _fail_classes(view, lambda secrets: len(secrets) >= k)


def distinct_test(least: int) -> Test:
    """Distinct l-diversity."""
    return lambda view: _fail_classes(view, lambda secrets: len(set(secrets)) >= least)


def entropy_test(least: float) -> Test:
    """Entropy l-diversity."""

    def is_safe(secrets: list[str]) -> bool:
        shares = [count / len(secrets) for count in Counter(secrets).values()]
        return math.exp(-sum(p * math.log(p) for p in shares)) >= least * (1 - 1e-9)

    return lambda view: _fail_classes(view, is_safe)


def recursive_test(least: int, c: float) -> Test:
    """Recursive (c, l)-diversity."""

    def is_safe(secrets: list[str]) -> bool:
        counts = sorted(Counter(secrets).values(), reverse=True)
        return len(counts) >= least and counts[0] < c * sum(counts[least - 1 :])

    return lambda view: _fail_classes(view, is_safe)


def closeness_test(most: float) -> Test:
    """t-closeness with the equal distance."""

    def find_failing(view: list[tuple[Row, str]]) -> set[int]:
        overall = Counter(secret for _, secret in view)

        def is_safe(secrets: list[str]) -> bool:
            counts = Counter(secrets)
            distance = 0.5 * sum(
                abs(counts[value] / len(secrets) - overall[value] / len(view)) for value in overall
            )
            return distance <= most * (1 + 1e-9) + 1e-12

        return _fail_classes(view, is_safe)

    return find_failing


def likeness_test(most: float) -> Test:
    """Beta-likeness."""

    def find_failing(view: list[tuple[Row, str]]) -> set[int]:
        overall = Counter(secret for _, secret in view)

        def is_safe(secrets: list[str]) -> bool:
            counts = Counter(secrets)
            return all(
                (counts[v] / len(secrets)) / (overall[v] / len(view)) - 1
                <= most * (1 + 1e-9) + 1e-12
                for v in counts
            )

        return _fail_classes(view, is_safe)

    return find_failing


def _fail_classes(view: list[tuple[Row, str]], is_safe: Callable[[list[str]], bool]) -> set[int]:
    classes: dict[Row, list[int]] = {}
    for place, (row, _) in enumerate(view):
        classes.setdefault(row, []).append(place)
    return {
        place
        for members in classes.values()
        if not is_safe([view[m][1] for m in members])
        for place in members
    }
