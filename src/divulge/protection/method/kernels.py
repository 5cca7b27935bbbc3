"""Best guesses at hidden cells, with and without the values that the method excludes."""

from __future__ import annotations

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

IGNORING = 0
EXCLUDING = 1
WEIGHING = 2


@kernel
def guess_cells(
    rows: Array, features: Array, offsets: Array, prior: Array, logs: Array,
    group: Array, starts: Array, excluded: Array, decoy_share: float,
    guesses: Array, chances: Array, mass: Array,
) -> None:  # fmt: skip
    """For each hidden cell three guesses by naive Bayes, and how likely each is held to be right.

    `guesses[i, IGNORING]` is by all values, `[i, EXCLUDING]` by those that are not excluded (by all
    if none is left), `[i, WEIGHING]` takes an excluded value for the truth of a share of the cells.
    `mass[i]` is the probability that the excluded values had. A guess is -1 if no value is shown.

    Invariant: cells before i are done, and `is_out` is false for every value between two cells.
    """
    scores = np.empty(prior.size)
    is_out = np.zeros(prior.size, np.bool_)
    for i in range(rows.size):
        highest = -np.inf
        for v in range(prior.size):
            scores[v] = np.log(prior[v]) if prior[v] > 0 else -np.inf
        for j in range(offsets.size):
            feature = features[rows[i], j]
            if feature >= 0:
                for v in range(prior.size):
                    scores[v] += logs[offsets[j] + feature, v]
        for v in range(prior.size):
            highest = max(highest, scores[v])
        for kind in range(3):
            guesses[i, kind] = -1
            chances[i, kind] = 0.0
        mass[i] = 0.0
        if highest == -np.inf:
            continue
        total = out = 0.0
        begin, end = starts[group[i]], starts[group[i] + 1]
        for e in range(begin, end):
            if excluded[e] < prior.size:
                is_out[excluded[e]] = True
        for v in range(prior.size):
            scores[v] = np.exp(scores[v] - highest)
            total += scores[v]
            if is_out[v]:
                out += scores[v]
        left = total - out
        has_left = False
        for v in range(prior.size):
            has_left |= scores[v] > 0 and not is_out[v]
        for v in range(prior.size):
            if not scores[v] > 0:
                continue
            chance = scores[v] / total
            if chance > chances[i, IGNORING]:
                guesses[i, IGNORING], chances[i, IGNORING] = v, chance
            if not has_left or out <= 0:
                excluding = weighing = chance
            elif is_out[v]:
                excluding, weighing = 0.0, decoy_share * scores[v] / out
            else:
                excluding = scores[v] / left
                weighing = (1 - decoy_share) * excluding
            if excluding > chances[i, EXCLUDING]:
                guesses[i, EXCLUDING], chances[i, EXCLUDING] = v, excluding
            if weighing > chances[i, WEIGHING]:
                guesses[i, WEIGHING], chances[i, WEIGHING] = v, weighing
        mass[i] = out / total
        for e in range(begin, end):
            if excluded[e] < prior.size:
                is_out[excluded[e]] = False
