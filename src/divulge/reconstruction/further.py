"""Further proofs where nothing more is excluded: a walk that goes on from a certificate.

Most of what is left in a large instance is possible, and only waits for an allocation that shows
it. So when the tables have told each other all they know, time is best spent on walking alone.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.certificates import most_telling, pairs_of
from divulge.reconstruction.imperfect import with_discarded_bin
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.ladder import solve
from divulge.reconstruction.resplitting import Walk
from divulge.reconstruction.results import Result

A_SMALL_WHILE = 0.02


def can_go_on(result: Result) -> bool:
    """Whether there is a certificate to start from; with an extra record each has other totals."""
    return result.premise in ("complete", "excluded") and len(result.certificates) > 0


def walked_on(instance: Instance, known: Result, seconds: float) -> Result:
    """The same result with more pairs proved.

    Args:
        instance: packages may go where they still may.
        known: what is known of it; all of its certificates hold.
        seconds: how long; a walk that finds nothing ends sooner.
    """
    begun = time.monotonic()
    n, bins = known.possible.shape
    possible, proved = known.possible, known.proved.copy()
    wider = with_discarded_bin(instance) if known.premise == "excluded" else None
    if wider is not None:
        instance = wider
        left_out = pairs_of(known.certificates, bins)[:, bins:]
        possible = np.hstack([possible, known.discardable[:, None]])
        proved = np.hstack([proved, left_out])
    found: list[Ints] = []

    def enter(allocations: Ints) -> None:
        for of_package in allocations:
            if not proved[np.arange(n), of_package].all():
                proved[np.arange(n), of_package] = True
                found.append(of_package.astype(np.int16))

    Walk(instance, known.certificates[-1], enter, _of_part).explore(
        possible, proved, begun + seconds
    )
    done = bool((proved == possible).all())
    certificates = most_telling(np.array([*known.certificates, *found], np.int16), bins)
    return replace(
        known,
        status="closed" if done else "open",
        proved=_of_bins(proved, bins),
        certificates=certificates[:0] if done else certificates,
        seconds=time.monotonic() - begun,
    )


def _of_bins(pairs: Bools, bins: int) -> Bools:
    return np.ascontiguousarray(pairs[:, :bins])


def _of_part(part: Instance, end: float) -> Ints:
    """Allocations of a small part of an instance, as many as are found in a small while."""
    left = min(A_SMALL_WHILE, max(0.0, end - time.monotonic()))
    found = solve(part, left, solver=False).certificates
    return found.astype(np.int64)
