"""Number of allocations to two bins, by four lists (Schroeppel-Shamir) and dominance counting.

For where there are far too many to list them. A set of packages fits one bin, and what it leaves
the other, if its sums lie in two windows. Four lists: the largest packages and the next on one
side, the small ones and the smallest on the other, each list with the sums of all its sets that can
still lead to the windows. What a set of large packages lacks is a need, a set of small ones is a
point, and a need is met by all points in a rectangle. Needs and points come slab by slab of the
leading amount, so that neither are in memory all at once, and no pair is ever looked at: how many
points meet a need is counted. (Where there are more than two amounts, those that meet in three are
looked at: they are far fewer.) What is in memory grows with the fourth root of the number of sets,
what takes time with its square root.
"""

from __future__ import annotations

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.counting.two_bins_dominance import DominanceCounter
from divulge.reconstruction.counting.two_bins_lists import split_into_four_lists
from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.redundant_amounts import drop_redundant_amounts
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


def seconds_to_sums(seconds: float) -> float:
    """How many sums are counted in so many nominal seconds."""
    return seconds / tuning.TWO_BIN_SUMS.per_step


def count_two_bins(
    instance: Instance, possible: Bools, most_sums: float, effort: Effort
) -> AllocationCounts | None:
    """Count all allocations to two bins; None if it takes too many sums or more effort.

    Only where intervals do not depend on the number of packages in a bin. How many sums there will
    be is estimated from a sample, so that what is hopeless is refused at once.

    >>> amounts = np.array([[1, 10], [2, 20], [3, 30], [4, 40]])
    >>> low, high = np.array([[4, 0], [4, 0]]), np.array([[6, 99], [6, 99]])
    >>> one = Instance.from_intervals(amounts, low, high)
    >>> found = count_two_bins(one, np.ones((4, 2), bool), 1e6, Effort(1))
    >>> found.count, found.pairs[:, 0].tolist()
    (6, [3, 3, 3, 3])
    """
    if instance.bins != 2 or instance.counts_matter:
        return None
    instance = drop_redundant_amounts(instance)
    free, forced = possible[:, 0] & possible[:, 1], possible[:, 0] & ~possible[:, 1]
    amounts, (low, high) = instance.amounts, _bound_first_bin(instance, free, forced)
    if (low > high).any() or not possible.any(axis=1).all():
        return _build_zero_counts(instance)
    if amounts.shape[1] == 1:
        amounts = np.concatenate([amounts, np.zeros_like(amounts)], axis=1)
        low, high = np.append(low, 0), np.append(high, 0)
    lead = _order_amounts(amounts[free], high - low)
    amounts, low, high = amounts[:, lead], low[lead], high[lead]
    packages = np.flatnonzero(free)
    spread = np.maximum(np.sqrt((amounts[free] ** 2.0).sum(axis=0)), 1.0)
    packages = packages[np.argsort(-(amounts[free] / spread).sum(axis=1), kind="stable")]
    lists = split_into_four_lists(amounts, packages, low, high, most_sums)
    if lists is None:
        return None
    counter = DominanceCounter(lists, low, high)
    if not counter.count_all_slabs(effort):
        return None
    return counter.to_counts(forced)


def _order_amounts(amounts: Ints, widths: Ints) -> Ints:
    """The two amounts that tell most come first, and of these the one with the narrow window.

    Narrow windows make small slabs.
    """
    tightness = amounts.sum(axis=0) / (widths + 1)
    order = np.argsort(-tightness, kind="stable")
    order[:2] = sorted(order[:2], key=lambda i: (not tightness[i], int(widths[i])))
    return order


def _bound_first_bin(instance: Instance, free: Bools, forced: Bools) -> tuple[Ints, Ints]:
    """Between what the free packages that join the forced ones in bin 0 must sum up to."""
    everything, base = instance.amounts.sum(axis=0), instance.amounts[forced].sum(axis=0)
    low, high = instance.complement_window(0, 1, everything)
    most = instance.amounts[free].sum(axis=0)
    return np.maximum(low - base, 0), np.minimum(high - base, most)


def _build_zero_counts(instance: Instance) -> AllocationCounts:
    nothing = np.zeros((instance.packages, 2), np.int64)
    proofs = np.empty((0, instance.packages), np.int16)
    return AllocationCounts(0, nothing, nothing.astype(np.float64), proofs)
