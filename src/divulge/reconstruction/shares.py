"""How the time is shared out among instances, round by round.

While tables limit each other, what is closed makes others easier. So the time goes to instances
that can be closed; those far too large for that get the little that excluding at a glance takes.
At last, when nothing changes any more, it goes to where proofs are still missing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.amounts import Ints

Floats: TypeAlias = npt.NDArray[np.float64]

EASY = 30.0
"""Up to which complexity instances take next to no time: they have as much as they like."""

LARGE = 85.0
"""From which complexity on an instance is hardly ever closed."""

LEAST_SECONDS = 0.02
OF_LARGE = 0.05
USED = 0.9
"""Of the time of a round: instances end a little later than they should."""

LAST_EFFORT = 0.15
"""Of the whole time, for what is open when tables have told each other all they know."""


def for_rounds(in_all: float, left: float) -> float:
    """The time of the rounds, of what is left of the whole time.

    >>> for_rounds(100, 70)
    55.0
    """
    return max(0.0, left - LAST_EFFORT * in_all)


def while_limiting(
    complexity: Floats, seconds: float, in_all: float | None, workers: int
) -> Floats:
    """Seconds of each instance in a round: the same for all that may be closed with some effort.

    >>> while_limiting(np.array([5.0, 50, 80, 900]), 3.0, 1.0, 1).round(2).tolist()
    [3.0, 0.42, 0.42, 0.05]
    """
    shares = np.full(len(complexity), seconds)
    if in_all is None:
        return shares
    hard, large = complexity > EASY, complexity > LARGE
    shares[large] = min(seconds, OF_LARGE)
    left = USED * in_all * workers - shares[large].sum()
    each = left / max(1, int((hard & ~large).sum()))
    shares[hard & ~large] = min(seconds, max(LEAST_SECONDS, each))
    return shares


def in_full_time(seconds: float, left: float, workers: int | None) -> int:
    """How many instances can have the full time of one in what is left, at least.

    >>> in_full_time(3.0, left=20.0, workers=2)
    12
    """
    return int(USED * left * (workers or os.cpu_count() or 1) / seconds)


def at_last(
    wanting: Ints | Sequence[int], seconds: float, in_all: float | None, workers: int
) -> Floats:
    """Seconds of each instance in the last effort: by how many packages have no finding yet.

    No instance gets more than `seconds`, and what that leaves goes to the others.

    >>> at_last([1, 10, 1000], 3.0, 4.2 / 0.9, 1).round(2).tolist()
    [0.11, 1.09, 3.0]
    """
    weight = np.maximum(np.asarray(wanting, np.float64), 1.0)
    if in_all is None or not len(weight):
        return np.full(len(weight), seconds)
    left, full = USED * in_all * workers, np.zeros(len(weight), bool)
    while True:
        each = left / max(weight[~full].sum(), 1e-9)
        more = ~full & (each * weight >= seconds)
        if not more.any():
            return np.where(full, seconds, np.maximum(LEAST_SECONDS, each * weight))
        left = max(0.0, left - seconds * int(more.sum()))
        full |= more
