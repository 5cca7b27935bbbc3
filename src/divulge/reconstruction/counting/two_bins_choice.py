"""All allocations to two bins, however many: listed or counted, whichever is likely to be quicker.

Listing (by the lattice) takes as long as there are sets; counting takes as long as there are sums,
however many sets come of them. How long counting takes is estimated well, listing less so: from
what the first sets took, and how many are expected.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.counting import two_bins
from divulge.reconstruction.problem.bitsets import unpack_bitsets
from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration
from divulge.reconstruction.subset_sum.expected_count import estimate_log2_sets
from divulge.reconstruction.subset_sum.meet_in_middle import FittingSets
from divulge.work import Effort
from divulge.work.arrays import Bools

NO_LIMIT = 2**62


def count_or_list_all(
    instance: Instance, possible: Bools, effort: Effort
) -> AllocationCounts | None:
    """All allocations to two bins; None if listing and counting them take more effort.

    Only where intervals do not depend on the number of packages in a bin.

    >>> amounts = np.array([[1, 10], [2, 20], [3, 30], [4, 40]])
    >>> low, high = np.array([[4, 0], [4, 0]]), np.array([[6, 99], [6, 99]])
    >>> instance = Instance.from_intervals(amounts, low, high)
    >>> count_or_list_all(instance, np.ones((4, 2), bool), Effort(9)).count
    6
    """
    if instance.attributes <= 2:  # there are so many sets that they are counted
        return _count_within(instance, possible, math.inf, effort)
    one = reduce_to_one_bin(instance)
    first, listing = _sample_listing(one, possible, effort)
    if first is not None and first.complete:
        return to_allocation_counts(first)
    counts = _count_within(instance, possible, listing, effort)
    seconds_left = effort.left
    if counts is None and listing <= tuning.TWO_BINS_LISTING_MARGIN * seconds_left:
        steps = tuning.LATTICE_ENUMERATION.count_steps(tuning.TWO_BINS_LISTING_SHARE * seconds_left)
        fitting_sets = lattice_enumeration.enumerate_fitting_sets(
            one, 0, possible[:, 0], forced=~possible[:, 1], most_steps=steps, most_sets=0
        )
        if fitting_sets is not None:
            return to_allocation_counts(fitting_sets)
        counts = _count_within(instance, possible, math.inf, effort)
    return counts


def reduce_to_one_bin(instance: Instance) -> Instance:
    """The first of two bins, with windows that leave the other what fits it."""
    low, high = instance.complement_window(0, 1, instance.amounts.sum(axis=0))
    return replace(instance, low=low[None], high=high[None])


def to_allocation_counts(fitting_sets: FittingSets) -> AllocationCounts:
    """What is counted of two bins if these are all sets of the first."""
    pairs = np.stack(
        [fitting_sets.with_package, fitting_sets.count - fitting_sets.with_package], axis=1
    )
    proofs = (~unpack_bitsets(fitting_sets.witnesses, len(pairs))).astype(np.int16)
    return AllocationCounts(fitting_sets.count, pairs, pairs / max(fitting_sets.count, 1), proofs)


def _sample_listing(
    one: Instance, possible: Bools, effort: Effort
) -> tuple[FittingSets | None, float]:
    """The first sets, and how many nominal seconds it probably takes to list all."""
    can, must = possible[:, 0], ~possible[:, 1]
    sampling = Effort(effort.left)
    steps = min(tuning.TWO_BINS_SAMPLE_STEPS, tuning.LATTICE_ENUMERATION.count_steps(effort.left))
    first = lattice_enumeration.enumerate_fitting_sets(
        one, 0, can, forced=must, most_steps=steps, most_sets=0, enough=NO_LIMIT
    )
    each = sampling.used / (1 if first is None else max(1, first.count))
    return first, each * 2.0 ** min(estimate_log2_sets(one, 0, can, must), 62.0)


def _count_within(
    instance: Instance, possible: Bools, seconds: float, effort: Effort
) -> AllocationCounts | None:
    """All allocations, counted; None if that is likely to take longer than so many seconds."""
    counting = effort.share(tuning.TWO_BINS_COUNTING_SHARE)
    sums = two_bins.seconds_to_sums(min(counting.left, seconds))
    return two_bins.count_two_bins(instance, possible, sums, counting)
