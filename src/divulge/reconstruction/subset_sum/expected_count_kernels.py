"""Kernels of the saddle-point estimate: exponential tilting by Newton's method with Cholesky.

How many sets fit into a bin, and what is likely to be in them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

NEWTON_ROUNDS = 25
"""Steps of Newton's method, at most; a few suffice. Chosen by hand; no benchmark isolates it."""
LONGEST_NEWTON_STEP = 2.0
"""By how much a package's log odds may change in a step: longer ones may overshoot."""
NEWTON_TOLERANCE = 1e-4
"""Change of log odds at which the chances are exact enough for an estimate."""
LARGEST_LOG_ODDS = 30.0
"""Log odds of a package, at most: beyond, its chance is 0 or 1 and has no logarithm."""


@kernel
def estimate_log2_count(amounts: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> float:
    """The expected number of sets of packages with sums from `low` to `high`, as a power of 2.

    Each package is in with a chance of its own, such that the sums are right in the mean and no
    more is assumed; the sets that are likely then all have about the same chance. Of those, the
    sums are spread like normal ones.

    Invariant: `nats` is the entropy of the packages before p, and then also the logarithm of the
    chance to hit the windows before a.
    """
    n, k = amounts.shape
    share, width, spread, gap = np.zeros((n, k)), np.zeros(k), np.zeros((k, k)), np.zeros(k)
    aim, chance = np.zeros(k), np.full(n, 0.5)
    for a in range(k):
        aim[a] = 0.5 * (low[a] + high[a])
    fit_exponential_tilt(amounts, low, high, aim, share, width, chance, spread, gap)
    compute_moments(share, chance, width, aim, spread, gap)
    factor_cholesky(spread)
    nats = 0.0
    for p in range(n):
        nats -= chance[p] * math.log(chance[p]) + (1 - chance[p]) * math.log(1 - chance[p])
    for a in range(k):
        nats += math.log(min(width[a], 1.0)) - math.log(spread[a, a])
        nats -= 0.5 * math.log(2 * math.pi)
    return nats / math.log(2.0)


@kernel
def compute_inclusion_chances(
    amounts: NDArray[Any], low: NDArray[Any], high: NDArray[Any], aim: NDArray[Any]
) -> NDArray[Any]:
    """The chance of every package to be in, such that the sums are what is aimed at in the mean.

    The aim is overwritten: it is left as a share of all, within reach.
    """
    n, k = amounts.shape
    share, width, spread, gap = np.zeros((n, k)), np.zeros(k), np.zeros((k, k)), np.zeros(k)
    chance = np.full(n, 0.5)
    fit_exponential_tilt(amounts, low, high, aim, share, width, chance, spread, gap)
    return chance


@kernel
def fit_exponential_tilt(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    aim: NDArray[Any],
    share: NDArray[Any],
    width: NDArray[Any],
    chance: NDArray[Any],
    spread: NDArray[Any],
    gap: NDArray[Any],
) -> None:
    """Chances that make the sums right in the mean, by Newton's steps.

    Leaves the amounts and the widths as shares of all, and the aim as a share within reach.

    Invariant: `chance[p]` is 1 / (1 + exp(share[p] . tilt)): of all chances with these means, those
    of largest entropy.
    """
    n, k = amounts.shape
    for a in range(k):
        total = 0.0
        for p in range(n):
            total += amounts[p, a]
        total = max(total, 1.0)
        for p in range(n):
            share[p, a] = amounts[p, a] / total
        width[a] = (high[a] - low[a] + 1.0) / total
        margin = 0.5 * min(width[a], 1.0)
        aim[a] = min(max(aim[a] / total, margin), 1.0 - margin)
    tilt, step = np.zeros(k), np.zeros(k)
    for _ in range(NEWTON_ROUNDS):
        compute_moments(share, chance, width, aim, spread, gap)
        factor_cholesky(spread)
        solve_cholesky(spread, gap, step)
        longest = 0.0
        for p in range(n):
            along = 0.0
            for a in range(k):
                along += share[p, a] * step[a]
            longest = max(longest, abs(along))
        damped = min(1.0, LONGEST_NEWTON_STEP / max(longest, 1e-12))
        for a in range(k):
            tilt[a] += damped * step[a]
        for p in range(n):
            along = 0.0
            for a in range(k):
                along += share[p, a] * tilt[a]
            chance[p] = 1.0 / (1.0 + math.exp(min(max(along, -LARGEST_LOG_ODDS), LARGEST_LOG_ODDS)))
        if longest < NEWTON_TOLERANCE:
            break


@kernel
def compute_moments(
    share: NDArray[Any],
    chance: NDArray[Any],
    width: NDArray[Any],
    aim: NDArray[Any],
    spread: NDArray[Any],
    gap: NDArray[Any],
) -> None:
    """How the sums are spread, that of the window included, and by how much their means are off.

    Invariant: `gap` and the lower half of `spread` are those of the packages before p.
    """
    n, k = share.shape
    for a in range(k):
        gap[a] = -aim[a]
        for b in range(k):
            spread[a, b] = 0.0
        spread[a, a] = min(width[a], 1.0) ** 2 / 12 + 1e-18
    for p in range(n):
        both = chance[p] * (1 - chance[p])
        for a in range(k):
            gap[a] += share[p, a] * chance[p]
            for b in range(a + 1):
                spread[a, b] += both * share[p, a] * share[p, b]
    for a in range(k):
        for b in range(a):
            spread[b, a] = spread[a, b]


@kernel
def factor_cholesky(matrix: NDArray[Any]) -> None:
    """The lower Cholesky factor of a matrix, in its place.

    Invariant: the rows before a, and row a up to b, are those of the factor.
    """
    k = matrix.shape[0]
    for a in range(k):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            if a == b:
                matrix[a, a] = math.sqrt(max(total, 1e-36))
            else:
                matrix[a, b] = total / matrix[b, b]


@kernel
def solve_cholesky(factor: NDArray[Any], right_side: NDArray[Any], solution: NDArray[Any]) -> None:
    """What the matrix of a Cholesky factor takes to the right side.

    Invariant: in the first pass the entries before a, in the second those after a are solved.
    """
    k = factor.shape[0]
    for a in range(k):
        total = right_side[a]
        for b in range(a):
            total -= factor[a, b] * solution[b]
        solution[a] = total / factor[a, a]
    for place in range(k):
        a = k - 1 - place
        total = solution[a]
        for b in range(a + 1, k):
            total -= factor[b, a] * solution[b]
        solution[a] = total / factor[a, a]
