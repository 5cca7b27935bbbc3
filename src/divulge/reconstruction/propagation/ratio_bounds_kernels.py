"""Kernels of surrogate constraints: two amounts of a bin are weighed into one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

MAX_WEIGHED_SUM = 2.0**60
"""Up to which size sums of one amount are weighed.

A weight that is rounded is at most twice as large, and there are two amounts: all in all, weighed
sums stay within 2**62, and are whole numbers of 64 bits.
"""


@kernel
def compute_ratio_weights(
    one: int, other: int, largest_one: float, largest_other: float
) -> tuple[int, int]:
    """Weights that make a package of two amounts weigh next to nothing, small enough to add up."""
    most = max(float(other) * max(largest_one, 1.0), float(one) * max(largest_other, 1.0))
    scale = min(1.0, MAX_WEIGHED_SUM / max(most, 1.0))
    return int(np.rint(other * scale)), -int(np.rint(one * scale))


@kernel
def sample_by_ratio(
    amounts: NDArray[Any], inside: NDArray[Any], count: int, i: int, j: int, most: int
) -> NDArray[Any]:
    """Some packages of a bin, evenly by the ratio of two amounts; all if they are few.

    Invariant: `sample[:s]` is in order of the ratio.
    """
    ratio = np.empty(count, np.float64)
    for c in range(count):
        ratio[c] = amounts[inside[c], j] / (amounts[inside[c], i] + 1.0)
    order = np.argsort(ratio)
    some = min(count, most)
    sample = np.empty(some, np.int64)
    for s in range(some):
        sample[s] = inside[order[s * (count - 1) // max(some - 1, 1)]]
    return sample


@kernel
def exclude_by_ratio(
    amounts: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    allowed: NDArray[Any],
    most_ratios: int,
) -> int:
    """Take away what the weighed sums of two amounts rule out; how much, or -1 if nothing is left.

    Whatever a bin holds, its weighed sum is at most that of all packages that weigh more than
    nothing and of those that are in it for sure. It must reach what the bin's intervals weigh at
    least. So a package that would leave it short cannot be in the bin, and one without which it
    is short must be.

    Invariant: `choices[p]` is how many bins package p has left, and no pair was taken away that an
    allocation has; what is taken away in a pass does not change `most`.
    """
    n, k = amounts.shape
    m = low.shape[0]
    choices, inside, weight = np.zeros(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for p in range(n):
        for b in range(m):
            choices[p] += allowed[p, b]
    largest = np.zeros(k, np.float64)
    excluded = 0
    for b in range(m):
        count = 0
        for p in range(n):
            if allowed[p, b]:
                inside[count] = p
                count += 1
        for i in range(k):
            total = 0.0
            for c in range(count):
                total += amounts[inside[c], i]
            largest[i] = max(total, abs(float(low[b, i])), abs(float(high[b, i])))
        for i in range(k):
            for j in range(i + 1, k):
                for q in sample_by_ratio(amounts, inside, count, i, j, most_ratios):
                    u, v = compute_ratio_weights(
                        amounts[q, i], amounts[q, j], largest[i], largest[j]
                    )
                    for _ in range(2):
                        u, v = -u, -v
                        most = 0
                        for c in range(count):
                            p = inside[c]
                            weight[c] = u * amounts[p, i] + v * amounts[p, j]
                            if allowed[p, b] and (weight[c] > 0 or choices[p] == 1):
                                most += weight[c]
                        least = u * (low[b, i] if u > 0 else high[b, i])
                        least += v * (low[b, j] if v > 0 else high[b, j])
                        if most < least:
                            return -1
                        for c in range(count):
                            p = inside[c]
                            if not allowed[p, b] or choices[p] == 1:
                                continue
                            if most + min(weight[c], 0) < least:
                                allowed[p, b] = 0
                                choices[p] -= 1
                                excluded += 1
                            elif most - max(weight[c], 0) < least:
                                excluded += choices[p] - 1
                                choices[p] = 1
                                for other in range(m):
                                    allowed[p, other] = other == b
    return excluded
