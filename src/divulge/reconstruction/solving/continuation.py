"""Further proofs where nothing more is excluded: a walk that goes on from a certificate.

Most of what is left in a large instance is possible, and only waits for an allocation that shows
it. So when the tables have told each other all they know, effort is best spent on walking alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge.reconstruction.local_search.explore import Walk
from divulge.reconstruction.problem.amounts import Ints
from divulge.reconstruction.problem.certificates import most_telling, pairs_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import WITH_EXTRA
from divulge.reconstruction.problem.result import Result
from divulge.reconstruction.solving.extra_record import bin_of_extra, with_extra_in, without_one
from divulge.reconstruction.solving.ladder import solve
from divulge.reconstruction.solving.left_out_records import with_discarded_bin
from divulge.work import Effort

A_SMALL_WHILE = 0.02


def walked_on(instance: Instance, known: Result, seconds: float) -> Result:
    """The same result with more pairs proved.

    Args:
        instance: packages may go where they still may.
        known: what is known of it, with a certificate at least; all of them hold.
        seconds: the effort, in nominal seconds; a walk that finds nothing ends sooner.
    """
    effort = Effort(seconds)
    n, bins = known.possible.shape
    start = known.certificates[-1]
    walked = _as_assumed(instance, known, start)
    if walked is None:
        return replace(known, seconds=effort.used)
    possible, proved = known.possible, known.proved.copy()
    if walked.bins > bins:
        possible = np.hstack([possible, known.discardable[:, None]])
        proved = np.hstack([proved, pairs_of(known.certificates, bins)[:, bins:]])
    found: list[Ints] = []

    def enter(allocations: Ints) -> None:
        for of_package in allocations:
            if not proved[np.arange(n), of_package].all():
                proved[np.arange(n), of_package] = True
                found.append(of_package.astype(np.int16))

    walk = Walk(walked, start, enter, _of_part)
    walk.explore(possible, proved, effort)
    done = bool((proved == possible).all())
    certificates = most_telling(np.array([*known.certificates, *found], np.int16), bins)
    return replace(
        known,
        status="closed" if done else "open",
        proved=np.ascontiguousarray(proved[:, :bins]),
        certificates=certificates[:0] if done else certificates,
        seconds=effort.used,
    )


def _as_assumed(instance: Instance, known: Result, certificate: Ints) -> Instance | None:
    """The instance that a certificate is of, by its premise; None if that is not to be told."""
    if known.premise == "excluded":
        return with_discarded_bin(instance) or instance
    if known.premise in WITH_EXTRA:
        if known.premise == "both":
            instance = without_one(instance, int((certificate == instance.bins).argmax()))
        b = bin_of_extra(instance, certificate)
        return None if b is None else with_extra_in(instance, b)
    return instance


def _of_part(part: Instance, effort: Effort) -> Ints:
    """Allocations of a small part of an instance, as many as are found in a small while."""
    found = solve(part, min(A_SMALL_WHILE, effort.left), solver=False).certificates
    return found.astype(np.int64)
