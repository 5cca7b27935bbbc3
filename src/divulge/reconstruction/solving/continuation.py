"""Further proofs where nothing more is excluded: a walk that goes on from a certificate.

Most of what is left in a large instance is possible, and only waits for an allocation that shows
it. So when tables do not limit each other any more, effort is best spent on walking alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.local_search.explore import LocalSearch
from divulge.reconstruction.problem.certificates import mark_proved_pairs, select_certificates
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.premises import WITH_EXTRA
from divulge.reconstruction.problem.result import InstanceResult
from divulge.reconstruction.solving.extra_record import (
    discard_package,
    find_extra_bin,
    place_extra_record,
)
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.reconstruction.solving.left_out_records import add_discard_bin
from divulge.work import Effort
from divulge.work.arrays import Ints


def extend_proofs(instance: Instance, result: InstanceResult, seconds: float) -> InstanceResult:
    """The same result with more pairs proved.

    Args:
        instance: packages may go where they still may.
        result: what is known of it, with a certificate at least; all of them hold.
        seconds: the effort, in nominal seconds; a walk that finds nothing ends sooner.
    """
    effort = Effort(seconds)
    n, bins = result.possible.shape
    start = result.certificates[-1]
    assumed_instance = _build_assumed_instance(instance, result, start)
    if assumed_instance is None:
        return replace(result, seconds=effort.used)
    possible, proved = result.possible, result.proved.copy()
    if assumed_instance.bins > bins:
        possible = np.hstack([possible, result.discardable[:, None]])
        proved = np.hstack([proved, mark_proved_pairs(result.certificates, bins)[:, bins:]])
    new_certificates: list[Ints] = []

    def add_proofs(allocations: Ints) -> None:
        for of_package in allocations:
            if not proved[np.arange(n), of_package].all():
                proved[np.arange(n), of_package] = True
                new_certificates.append(of_package.astype(np.int16))

    walk = LocalSearch(assumed_instance, start, add_proofs, _find_part_allocations)
    walk.explore_allocations(possible, proved, effort)
    is_closed = bool((proved == possible).all())
    certificates = select_certificates(
        np.array([*result.certificates, *new_certificates], np.int16), bins
    )
    return replace(
        result,
        status="closed" if is_closed else "open",
        proved=np.ascontiguousarray(proved[:, :bins]),
        certificates=certificates[:0] if is_closed else certificates,
        seconds=effort.used,
    )


def _build_assumed_instance(
    instance: Instance, result: InstanceResult, certificate: Ints
) -> Instance | None:
    """The instance that a certificate is of, by its premise; None if that is not known."""
    if result.premise == "excluded":
        return add_discard_bin(instance) or instance
    if result.premise in WITH_EXTRA:
        if result.premise == "both":
            instance = discard_package(instance, int((certificate == instance.bins).argmax()))
        b = find_extra_bin(instance, certificate)
        return None if b is None else place_extra_record(instance, b)
    return instance


def _find_part_allocations(part: Instance, effort: Effort) -> Ints:
    """Allocations of a small part of an instance, as many as are found in a small while."""
    certificates = solve_instance(
        part, min(tuning.CONTINUATION_PART_SECONDS, effort.left), solver=False
    ).certificates
    return certificates.astype(np.int64)
