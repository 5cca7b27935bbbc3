"""The attack by somebody who knows the method, in plain loops over rows of values."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

HIDDEN = "hidden"
Rows = list[tuple[Any, ...]]


def list_excluded(rows: Rows, place: int, attribute: int, k: int) -> set[Any]:
    """The values that k - 1 others show who are alike in all else."""
    mine = rows[place][:attribute] + rows[place][attribute + 1 :]
    shown = Counter(
        row[attribute]
        for row in rows
        if row[:attribute] + row[attribute + 1 :] == mine and row[attribute] not in (HIDDEN, None)
    )
    return {value for value, count in shown.items() if count >= k - 1}


def score_values(rows: Rows, place: int, attribute: int, sizes: dict[int, int]) -> dict[Any, float]:
    """The chance of each shown value by naive Bayes, one added to counts.

    `sizes` says of each other attribute to be used how many values it has.
    """
    shown = [row for row in rows if row[attribute] not in (HIDDEN, None)]
    values = sorted({row[attribute] for row in shown})
    scores = {}
    for value in values:
        mine = [row for row in shown if row[attribute] == value]
        score = math.log(len(mine))
        for j, size in sizes.items():
            if rows[place][j] not in (HIDDEN, None):
                alike = sum(row[j] == rows[place][j] for row in mine)
                score += math.log((alike + 1) / (len(mine) + size))
        scores[value] = score
    highest = max(scores.values(), default=0.0)
    weights = {value: math.exp(score - highest) for value, score in scores.items()}
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


def weigh_values(chances: dict[Any, float], out: set[Any], decoy_share: float) -> dict[Any, float]:
    """The chances for somebody who takes excluded values for the truth of a share of the cells."""
    outside = sum(chance for value, chance in chances.items() if value in out)
    left = [value for value in chances if value not in out]
    if not left or not outside:
        return chances
    inside = sum(chances[value] for value in left)
    return {
        value: decoy_share * chance / outside
        if value in out
        else (1 - decoy_share) * chance / inside
        for value, chance in chances.items()
    }
