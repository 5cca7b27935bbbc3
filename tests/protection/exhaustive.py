"""The least cost of hidden cells, by trying sets of cells in the order of their cost.

Plain and slow, for some records: who weighs what fits a victim takes the likeliest record, and must
be no surer than one in k. Shares no code with the package.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

HIDDEN = -1
ADDED = 20
Row = tuple[int, ...]


def find_weighed_k(released: Sequence[Row], original: Sequence[Row]) -> float:
    """How many look alike to somebody who weighs what fits, for whom that is least."""
    attributes = range(len(original[0]))
    complete = [row for row in released if HIDDEN not in row]
    showing = [[row[a] for row in released if row[a] != HIDDEN] for a in attributes]
    lowest = float("inf")
    for victim in set(original):
        chances = []
        for row in released:
            if any(x not in (HIDDEN, y) for x, y in zip(row, victim, strict=True)):
                continue
            hidden = [a for a in attributes if row[a] == HIDDEN]
            agreeing = [
                c for c in complete if all(c[a] == victim[a] for a in attributes if a not in hidden)
            ]
            independent = 1.0
            for a in hidden:
                equal = showing[a].count(victim[a])
                independent *= equal / len(showing[a]) if equal else 1 / (len(showing[a]) + 1)
            same = sum(c == victim for c in agreeing)
            chances.append(
                (same + ADDED * independent) / (len(agreeing) + ADDED) if hidden else 1.0
            )
        lowest = min(lowest, sum(chances) / max(chances))
    return lowest


def hide(rows: Sequence[Row], cells: Sequence[tuple[int, int]]) -> list[Row]:
    """The rows without these cells."""
    hidden = set(cells)
    return [
        tuple(HIDDEN if (r, a) in hidden else value for a, value in enumerate(row))
        for r, row in enumerate(rows)
    ]


def find_least_cost(
    rows: Sequence[Row], k: int, costs: Sequence[Sequence[float]], known: float
) -> float | None:
    """The least cost of cells whose hiding reaches k; nothing if too many sets cost less.

    `known` is a cost that suffices: whoever gets there has shown that it is the least.
    """
    cells = sorted((costs[r][a], r, a) for r in range(len(rows)) for a in range(len(rows[0])))
    waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(30_000):
        cost, chosen = heapq.heappop(waiting)
        if cost >= known - 1e-9:
            return known
        if find_weighed_k(hide(rows, [cells[c][1:] for c in chosen]), rows) >= k - 1e-9:
            return cost
        last = chosen[-1] if chosen else -1
        if last + 1 < len(cells):
            following = cells[last + 1][0]
            heapq.heappush(waiting, (cost + following, (*chosen, last + 1)))
            if chosen:
                swapped = cost - cells[last][0] + following
                heapq.heappush(waiting, (swapped, (*chosen[:-1], last + 1)))
    return None
