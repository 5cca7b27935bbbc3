"""Certificates: allocations kept as proofs, chosen by lazy greedy maximum coverage.

They prove places until a pair of theirs is taken away.
Amounts and totals of an instance stay the same while tables limit each other. So an allocation
that was found once stays one as long as every package may still be where it has it; only that need
be looked at again. A package in the bin after the last is one that the totals leave out.
"""

from __future__ import annotations

import heapq

import numpy as np

from divulge.reconstruction import tuning
from divulge.work.arrays import Bools, Ints


def keep_valid_certificates(certificates: Ints, allowed: Bools) -> Ints:
    """Those certificates of which no pair was taken away.

    >>> both = np.array([[0, 1], [1, 0]])
    >>> keep_valid_certificates(both, np.array([[True, True], [False, True]])).tolist()
    [[0, 1]]
    """
    anywhere = np.hstack([allowed, np.ones((len(allowed), 1), bool)])
    return certificates[anywhere[np.arange(len(allowed)), certificates].all(axis=1)]


def mark_proved_pairs(certificates: Ints, bins: int) -> Bools:
    """Which pairs of package and bin certificates prove; the last column is of those left out.

    >>> mark_proved_pairs(np.array([[0, 1], [2, 1]]), 2).astype(int).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    packages = certificates.shape[1]
    proved = np.zeros((packages, bins + 1), bool)
    proved[np.arange(packages), certificates] = True
    return proved


def select_certificates(certificates: Ints, bins: int, most: int | None = None) -> Ints:
    """Few certificates that prove much: two places of as many packages as possible, then pairs.

    The next is always the one that adds most. What one adds never grows while others are taken, so
    an old figure is an upper bound, and few have to be looked at anew.

    >>> select_certificates(np.array([[0, 0], [0, 0], [1, 0], [1, 1]]), 2, most=2).tolist()
    [[0, 0], [1, 1]]
    """
    packages = np.arange(certificates.shape[1])
    if most is None:
        most = max(
            tuning.CERTIFICATES_MOST, tuning.CERTIFICATES_MOST_PLACES // max(1, len(packages))
        )
    proved = np.zeros((len(packages), bins + 1), bool)
    worth = np.full(len(packages), tuning.CERTIFICATES_SECOND_PLACE_WEIGHT)
    # The first stays: it is the start of all others, and where most of them agree.
    selected, queue = [], [(-np.inf, row) for row in range(min(1, len(certificates)))]
    for number in range(most):
        while queue:
            _, row = heapq.heappop(queue)
            new = ~proved[packages, certificates[row]]
            gain = int(worth[new].sum())
            if gain and (not queue or (-gain, row) <= queue[0]):
                break
            if gain:
                heapq.heappush(queue, (-gain, row))
        else:
            break
        selected.append(row)
        proved[packages, certificates[row]] = True
        worth = np.where(proved.sum(axis=1) < 2, tuning.CERTIFICATES_SECOND_PLACE_WEIGHT, 1)
        if number == 0:
            gains = (~proved[packages, certificates[1:]] * worth).sum(axis=1)
            queue = [(-int(g), row) for row, g in enumerate(gains, start=1) if g]
            heapq.heapify(queue)
    return certificates[selected]
