"""How the effort is shared out among instances, round by round.

While tables limit each other, what is closed makes others easier. So it goes to instances that
can be closed; those far too large for that get the little that excluding at a glance takes.
At last, when nothing changes any more, it goes to where proofs are still missing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.reconstruction import tuning
from divulge.work.arrays import Floats, Ints
from divulge.work.effort import TICKS_PER_SECOND


def compute_round_effort(in_all: float, left: float) -> float:
    """The effort of the rounds, of what is left of the whole.

    >>> compute_round_effort(100, 70)
    55.0
    """
    return max(0.0, left - tuning.LAST_EFFORT_SHARE * in_all)


def share_round_effort(complexity: Floats, seconds: float, in_all: float | None) -> Floats:
    """Seconds of each instance in a round: the same for all that may be closed with some effort.

    >>> share_round_effort(np.array([5.0, 50, 80, 900]), 3.0, 0.9).round(2).tolist()
    [2.25, 0.42, 0.42, 0.05]
    """
    shares = np.full(len(complexity), seconds)
    if in_all is None:
        return shares
    of_each = max(tuning.INSTANCE_LEAST_SECONDS, in_all / max(1, len(complexity)))
    easy, large = complexity <= tuning.EASY_COMPLEXITY, complexity > tuning.LARGE_COMPLEXITY
    shares[easy] = min(seconds, tuning.EASY_MOST_MULTIPLE * of_each)
    shares[large] = min(seconds, tuning.LARGE_MOST_SECONDS, of_each)
    remaining = in_all - shares[large].sum()
    each = remaining / max(1, int((~easy & ~large).sum()))
    shares[~easy & ~large] = min(seconds, max(tuning.INSTANCE_LEAST_SECONDS, each))
    return shares


def count_full_efforts(seconds: float, left: float) -> int:
    """How many instances can have the full effort of one in what is left, at least.

    >>> count_full_efforts(3.0, left=38.0)
    12
    """
    return int(left / max(seconds, 1 / TICKS_PER_SECOND))  # no effort is shorter than a tick


def share_last_effort(
    open_packages: Ints | Sequence[int], seconds: float, in_all: float | None
) -> Floats:
    """Seconds of each instance in the last effort: by how many packages have no finding yet.

    No instance gets more than `seconds`, and what that leaves goes to the others.

    >>> share_last_effort([1, 10, 1000], 3.0, 4.2).round(2).tolist()
    [0.11, 1.09, 3.0]
    """
    weight = np.maximum(np.asarray(open_packages, np.float64), 1.0)
    if in_all is None or not len(weight):
        return np.full(len(weight), seconds)
    remaining, full = in_all, np.zeros(len(weight), bool)
    while True:
        each = remaining / max(weight[~full].sum(), 1e-9)
        more = ~full & (each * weight >= seconds)
        if not more.any():
            return np.where(full, seconds, np.maximum(tuning.INSTANCE_LEAST_SECONDS, each * weight))
        remaining = max(0.0, remaining - seconds * int(more.sum()))
        full |= more
