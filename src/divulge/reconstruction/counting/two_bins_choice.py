"""All allocations to two bins, however many: listed or counted, whichever is likely to be quicker.

Listing (by the lattice) takes as long as there are sets; counting takes as long as there are sums,
however many sets come of them. How long counting takes is foretold well, listing less so: from what
the first sets took, and how many are expected.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from divulge.reconstruction.counting import two_bins
from divulge.reconstruction.problem.amounts import Bools
from divulge.reconstruction.problem.bitsets import masks_of
from divulge.reconstruction.problem.counts import Counted
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration
from divulge.reconstruction.subset_sum.expected_count import expected_bits
from divulge.reconstruction.subset_sum.meet_in_middle import Fitting
from divulge.work import Effort

COUNTING_SHARE, LISTING_SHARE = 0.8, 0.5
"""Of the effort left: if either fails, enough is left to prove and exclude pair by pair."""

SAMPLE_STEPS = 1_000_000
MAYBE_FEWER = 16
"""How many times too many steps of listing may be foretold: there may be fewer sets."""

NEVER = 2**62


def all_of(instance: Instance, possible: Bools, effort: Effort) -> Counted | None:
    """All allocations to two bins; None if listing and counting them take more effort.

    Only where intervals do not depend on the number of packages in a bin.

    >>> amounts = np.array([[1, 10], [2, 20], [3, 30], [4, 40]])
    >>> instance = Instance.of(amounts, np.array([[4, 0], [4, 0]]), np.array([[6, 99], [6, 99]]))
    >>> all_of(instance, np.ones((4, 2), bool), Effort(9)).count
    6
    """
    if instance.attributes <= 2:  # there are so many sets that they are counted
        return _counted(instance, possible, math.inf, effort)
    one = one_bin_of(instance)
    first, listing = _sampled(one, possible, effort)
    if first is not None and first.complete:
        return as_counted(first)
    counted = _counted(instance, possible, listing, effort)
    left = effort.left
    if counted is None and listing <= MAYBE_FEWER * left:
        steps = lattice_enumeration.steps_in(LISTING_SHARE * left)
        listed = lattice_enumeration.fitting(one, 0, possible[:, 0], ~possible[:, 1], steps, 0)
        if listed is not None:
            return as_counted(listed)
        counted = _counted(instance, possible, math.inf, effort)
    return counted


def one_bin_of(instance: Instance) -> Instance:
    """The first of two bins, with windows that leave the other what fits it."""
    low, high = instance.window_beside(0, 1, instance.amounts.sum(axis=0))
    return replace(instance, low=low[None], high=high[None])


def as_counted(found: Fitting) -> Counted:
    """What is counted of two bins if these are all sets of the first."""
    pairs = np.stack([found.with_package, found.count - found.with_package], axis=1)
    proofs = (~masks_of(found.telling, len(pairs))).astype(np.int16)
    return Counted(found.count, pairs, pairs / max(found.count, 1), proofs)


def _sampled(one: Instance, possible: Bools, effort: Effort) -> tuple[Fitting | None, float]:
    """The first sets, and how many nominal seconds it probably takes to list all."""
    can, must = possible[:, 0], ~possible[:, 1]
    sampling = Effort(effort.left)
    steps = min(SAMPLE_STEPS, lattice_enumeration.steps_in(effort.left))
    first = lattice_enumeration.fitting(one, 0, can, must, steps, 0, enough=NEVER)
    each = sampling.used / (1 if first is None else max(1, first.count))
    return first, each * 2.0 ** min(expected_bits(one, 0, can, must), 62.0)


def _counted(instance: Instance, possible: Bools, seconds: float, effort: Effort) -> Counted | None:
    """All allocations, counted; None if that is foretold to take longer than so many seconds."""
    counting = effort.share(COUNTING_SHARE)
    sums = two_bins.sums_in(min(counting.left, seconds))
    return two_bins.counted(instance, possible, sums, counting)
