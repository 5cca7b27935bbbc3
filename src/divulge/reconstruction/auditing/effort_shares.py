"""How the effort is shared out among instances, round by round.

While tables limit each other, what is closed makes others easier. So it goes to instances that
can be closed; those far too large for that get the little that excluding at a glance takes.
At last, when nothing changes any more, it goes to where proofs are still missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from divulge.reconstruction.problem.amounts import Ints

Floats: TypeAlias = npt.NDArray[np.float64]

EASY = 30.0
"""Up to which complexity instances take next to no effort, nearly all of them."""

MOST_OF_EASY = 10.0
"""How many times an equal share an easy instance may have: most take a tenth of it."""

LARGE = 85.0
"""From which complexity on an instance is hardly ever closed."""

LEAST_SECONDS = 0.002  # nominal, as all
OF_LARGE = 0.05

LAST_EFFORT = 0.15
"""Of the whole effort, for what is open when tables have told each other all they know."""


def for_rounds(in_all: float, left: float) -> float:
    """The effort of the rounds, of what is left of the whole.

    >>> for_rounds(100, 70)
    55.0
    """
    return max(0.0, left - LAST_EFFORT * in_all)


def while_limiting(complexity: Floats, seconds: float, in_all: float | None) -> Floats:
    """Seconds of each instance in a round: the same for all that may be closed with some effort.

    >>> while_limiting(np.array([5.0, 50, 80, 900]), 3.0, 0.9).round(2).tolist()
    [2.25, 0.42, 0.42, 0.05]
    """
    shares = np.full(len(complexity), seconds)
    if in_all is None:
        return shares
    of_each = max(LEAST_SECONDS, in_all / max(1, len(complexity)))
    easy, large = complexity <= EASY, complexity > LARGE
    shares[easy] = min(seconds, MOST_OF_EASY * of_each)
    shares[large] = min(seconds, OF_LARGE, of_each)
    left = in_all - shares[large].sum()
    each = left / max(1, int((~easy & ~large).sum()))
    shares[~easy & ~large] = min(seconds, max(LEAST_SECONDS, each))
    return shares


def in_full_effort(seconds: float, left: float) -> int:
    """How many instances can have the full effort of one in what is left, at least.

    >>> in_full_effort(3.0, left=38.0)
    12
    """
    return int(left / seconds)


def at_last(wanting: Ints | Sequence[int], seconds: float, in_all: float | None) -> Floats:
    """Seconds of each instance in the last effort: by how many packages have no finding yet.

    No instance gets more than `seconds`, and what that leaves goes to the others.

    >>> at_last([1, 10, 1000], 3.0, 4.2).round(2).tolist()
    [0.11, 1.09, 3.0]
    """
    weight = np.maximum(np.asarray(wanting, np.float64), 1.0)
    if in_all is None or not len(weight):
        return np.full(len(weight), seconds)
    left, full = in_all, np.zeros(len(weight), bool)
    while True:
        each = left / max(weight[~full].sum(), 1e-9)
        more = ~full & (each * weight >= seconds)
        if not more.any():
            return np.where(full, seconds, np.maximum(LEAST_SECONDS, each * weight))
        left = max(0.0, left - seconds * int(more.sum()))
        full |= more
