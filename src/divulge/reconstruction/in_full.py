"""All allocations to two bins, however many: listed or counted, whichever is likely to be quicker.

Listing (by the lattice) takes as long as there are sets; counting takes as long as there are sums,
however many sets come of them. How long counting takes is foretold well, listing less so: from what
the first sets took, and how many are expected.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from divulge.reconstruction import lattice, two_bins
from divulge.reconstruction.amounts import Bools
from divulge.reconstruction.counted import Counted
from divulge.reconstruction.expected import expected_bits
from divulge.reconstruction.halves import Fitting
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.words import masks_of

COUNTING_SHARE, LISTING_SHARE = 0.8, 0.5
"""Of the time left: if either fails, enough is left to prove and exclude pair by pair."""

SUMS_PER_SECOND = 50_000_000
SAMPLE_STEPS = 1_000_000
MAYBE_FEWER = 16
"""How many times too many steps of listing may be foretold: there may be fewer sets."""

NEVER = 2**62


def all_of(instance: Instance, possible: Bools, end: float) -> Counted | None:
    """All allocations to two bins; None if they can neither be listed nor counted until `end`.

    Only where intervals do not depend on the number of packages in a bin.

    >>> amounts = np.array([[1, 10], [2, 20], [3, 30], [4, 40]])
    >>> instance = Instance.of(amounts, np.array([[4, 0], [4, 0]]), np.array([[6, 99], [6, 99]]))
    >>> all_of(instance, np.ones((4, 2), bool), time.monotonic() + 9).count
    6
    """
    if instance.attributes <= 2:  # there are so many sets that they are counted
        return _counted(instance, possible, math.inf, end)
    one = one_bin_of(instance)
    first, listing, steps_per_second = _sampled(one, possible, end)
    if first is not None and first.complete:
        return as_counted(first)
    counted = _counted(instance, possible, listing, end)
    left = max(0.0, end - time.monotonic())
    if counted is None and listing <= MAYBE_FEWER * left:
        steps = int(LISTING_SHARE * left * steps_per_second)
        listed = lattice.fitting(one, 0, possible[:, 0], ~possible[:, 1], steps, 0)
        if listed is not None:
            return as_counted(listed)
        counted = _counted(instance, possible, math.inf, end)
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


def _sampled(one: Instance, possible: Bools, end: float) -> tuple[Fitting | None, float, float]:
    """The first sets, how many seconds it probably takes to list all, and how many steps each."""
    begun = time.monotonic()
    can, must = possible[:, 0], ~possible[:, 1]
    steps = min(SAMPLE_STEPS, int(max(0.0, end - begun) * lattice.STEPS_PER_SECOND))
    first = lattice.fitting(one, 0, can, must, steps, 0, enough=NEVER)
    took = max(time.monotonic() - begun, steps / lattice.STEPS_PER_SECOND)
    each = took / (1 if first is None else max(1, first.count))
    listing = each * 2.0 ** min(expected_bits(one, 0, can, must), 62.0)
    return first, listing, steps / max(took, 1e-9)


def _counted(instance: Instance, possible: Bools, seconds: float, end: float) -> Counted | None:
    """All allocations, counted; None if that is foretold to take longer than so many seconds."""
    left = COUNTING_SHARE * max(0.0, end - time.monotonic())
    sums, until = SUMS_PER_SECOND * min(left, seconds), time.monotonic() + left
    return two_bins.counted(instance, possible, sums, until)
