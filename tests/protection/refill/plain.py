"""The refill attack by plain loops and dictionaries: slow, short, and nothing shared with it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import Any

HIDDEN, ABSENT = -2, -1


def count_support_by_loops(
    group: Sequence[int] | Any, target: Any, combination: Any, mode: int
) -> list[int]:
    """Leave every shown row out: do the others of its group agree, and with it?

    Five figures of all groups, and five of those that are no twins: rows that count, right ones,
    both among values other than the mode, groups with rows that count.
    """
    members: dict[Any, list[int]] = {}
    for row, number in enumerate(group):
        if is_known(number):
            members.setdefault(number, []).append(row)
    figures = [0] * 10
    for rows in members.values():
        shown = [row for row in rows if target[row] >= 0]
        hidden = [row for row in rows if target[row] == HIDDEN]
        parts = [0]
        if len({combination[row] for row in shown}) > 1 and len(shown) >= len(hidden):
            parts.append(5)
        counts = False
        for row in shown:
            others = {target[other] for other in shown if other != row}
            if len(others) != 1:
                continue
            counts = True
            is_right = others == {target[row]}
            for part in parts:
                figures[part] += 1
                figures[part + 1] += is_right
                figures[part + 2] += target[row] != mode
                figures[part + 3] += is_right and target[row] != mode
        for part in parts:
            figures[part + 4] += counts
    return figures


def is_known(number: Any) -> bool:
    return bool(min(number) >= 0 if isinstance(number, tuple) else number >= 0)


def wilson(right: float, total: int) -> float:
    if not total:
        return 0.0
    z, p = 1.96, right / total
    root = z * sqrt((p * (1 - p) + z * z / (4 * total)) / total)
    return (p + z * z / (2 * total) - root) / (1 + z * z / total)


def may_trust(figures: Sequence[int]) -> bool:
    rows, right, other_rows, other_right, _ = figures
    return (
        rows >= 30
        and other_rows >= 15
        and wilson(right, rows) >= 0.95
        and wilson(other_right, other_rows) >= 0.9
    )


def refill_by_loops(columns: Sequence[list[int]]) -> list[list[int]]:
    """All columns are keys and texts; the cells that groups of one or two columns tell."""
    known = [list(column) for column in columns]
    targets = [a for a, column in enumerate(columns) if HIDDEN in column]
    modes = {a: _find_mode(columns[a]) for a in targets}
    twins = {
        a: [
            tuple(cell for b, cell in enumerate(row) if b != a)
            for row in zip(*columns, strict=True)
        ]
        for a in targets
    }
    singles = [(a,) for a in range(len(columns))]
    pairs = list(combinations(range(len(columns)), 2))
    while True:
        if _fill_round(columns, known, targets, singles, modes, twins):
            continue
        if not _fill_round(columns, known, targets, pairs, modes, twins):
            return known


def _find_mode(column: list[int]) -> int:
    shown = [value for value in column if value >= 0]
    return min(shown, key=lambda value: (-shown.count(value), value))


def _fill_round(columns: Any, known: Any, targets: Any, sets: Any, modes: Any, twins: Any) -> bool:
    offers: dict[tuple[int, int], tuple[float, int]] = {}
    for places in sets:
        group = list(zip(*(known[place] for place in places), strict=True))
        for a in targets:
            if a in places:
                continue
            figures = count_support_by_loops(group, columns[a], twins[a], modes[a])
            everything, no_twins = figures[:5], figures[5:]
            is_exact = everything[0] == everything[1]
            if may_trust(everything) and is_exact and everything[0] >= 1000 and everything[4] >= 50:
                trusted = everything
            elif may_trust(no_twins):
                trusted = no_twins
            else:
                continue
            rows, right, groups = trusted[0], trusted[1], min(trusted[4], trusted[0])
            strength = wilson(right / rows * groups, groups) + (rows == right)
            for row, number in enumerate(group):
                if known[a][row] != HIDDEN or not is_known(number):
                    continue
                told = {known[a][r] for r, n in enumerate(group) if n == number} - {HIDDEN, ABSENT}
                if len(told) == 1 and strength > offers.get((a, row), (0.0, 0))[0] + 1e-12:
                    offers[a, row] = strength, told.pop()
    for (a, row), (_, value) in offers.items():
        known[a][row] = value
    return bool(offers)
