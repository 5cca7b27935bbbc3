"""Surrogate constraints: what no bin can hold by two amounts at once, or by bins together.

The prices of what could be in a bin are known, and so is the price of the whole: what is dear by
weight cannot be in a bin of cheap goods, though it is neither too large nor too heavy. With weights
for two amounts this is a sum like any other, and its bounds are as easy to tell.

Some bins tell little because codes were suppressed: their intervals are wide. But what the narrow
bins do not hold is in the wide ones together, and of that the sums are known as well as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.propagation import propagate
from divulge.work.arrays import Bools, Ints


def exclude_by_ratios(instance: Instance, possible: Bools) -> Bools | None:
    """What stays possible; None if nothing can be.

    The second package is neither too dear nor too heavy for the first bin, but both at once.

    >>> goods = np.array([[10, 50], [20, 10], [20, 60], [90, 40]])
    >>> sums = np.array([[30, 110], [110, 50]])
    >>> one = Instance.from_intervals(goods, sums, sums)
    >>> exclude_by_ratios(one, one.allowed).astype(int).tolist()
    [[1, 0], [0, 1], [1, 0], [0, 1]]
    """
    remaining: Bools | None = possible
    before = -1
    while remaining is not None and int(remaining.sum()) != before:
        before = int(remaining.sum())
        remaining = _exclude_per_bin(instance, remaining)
        if remaining is None or instance.counts_matter:
            continue
        for wide in _enumerate_wide_bins(instance, remaining):
            remaining = _exclude_by_merged_bins(instance, remaining, wide)
            if remaining is None:
                break
    return remaining


def bound_set_by_ratios(amounts: Ints, low: Ints, high: Ints) -> tuple[Bools, Bools] | None:
    """Who may and who must be in a set with sums between low and high, by two amounts at once.

    None if there is no such set.

    >>> goods = np.array([[90, 10], [10, 50], [20, 60]])
    >>> bound_set_by_ratios(goods, np.array([95, 20]), np.array([99, 30])) is None
    True
    >>> sums = np.array([30, 110])
    >>> [who.tolist() for who in bound_set_by_ratios(goods, sums, sums)]
    [[False, True, True], [False, True, True]]
    """
    from divulge.reconstruction.propagation import ratio_bounds_kernels

    free = np.ones((len(amounts), 2), np.uint8)
    both = np.stack([low, np.zeros_like(low)]), np.stack([high, amounts.sum(axis=0)])
    excluded = ratio_bounds_kernels.exclude_by_ratio(amounts, *both, free, tuning.RATIOS_MOST)
    _charge_ratios(amounts.shape[1], free.size, min(tuning.RATIOS_MOST, len(amounts)))
    if excluded < 0:
        return None
    return free[:, 0] == 1, free[:, 1] == 0


def _choose_ratio_count(instance: Instance) -> int:
    pairs = instance.attributes * (instance.attributes - 1) // 2
    size = max(1, instance.packages * instance.bins * pairs)
    return max(tuning.RATIOS_FEWEST, min(tuning.RATIOS_MOST, tuning.RATIOS_MOST_AMOUNTS // size))


def _exclude_per_bin(instance: Instance, possible: Bools) -> Bools | None:
    from divulge.reconstruction.propagation import ratio_bounds_kernels

    ratios, excluded = _choose_ratio_count(instance), -1
    while excluded:
        propagated = propagate(instance, possible)
        if propagated is None:
            return None
        low, high = _bound_bin_sums(instance, propagated)
        remaining = propagated.astype(np.uint8, order="C")
        excluded = ratio_bounds_kernels.exclude_by_ratio(
            instance.amounts, low, high, remaining, ratios
        )
        _charge_ratios(instance.attributes, int(propagated.sum()), min(ratios, instance.packages))
        if excluded < 0:
            return None
        possible = remaining.astype(bool)
    return possible


def _charge_ratios(attributes: int, pairs: int, ratios: int) -> None:
    """Every pair of package and bin is weighed by so many ratios of each two amounts, twice."""
    work.charge(tuning.RATIO_BOUNDS, pairs * ratios * attributes * (attributes - 1))


def _bound_bin_sums(instance: Instance, possible: Bools) -> tuple[Ints, Ints]:
    """Between what the sums of every bin are, however many packages it has, and within reach.

    An interval without an end would weigh too much to be compared with anything.
    """
    most = instance.already_in_bin + possible.sum(axis=0)
    slack, extra = instance.slack_by_count[:, most].T, instance.extra_above[:, most].T
    reach = possible.T.astype(np.int64) @ instance.amounts
    low = np.maximum(instance.low - slack, 0)
    high = np.minimum(instance.high + slack + extra, reach)
    return np.ascontiguousarray(low), np.ascontiguousarray(high)


def _enumerate_wide_bins(instance: Instance, possible: Bools) -> Iterator[Bools]:
    """Bins each of which has a wider interval than all that are narrower have together."""
    low, high = _bound_reachable_sums(instance, possible)
    distinct_masks = set()
    for width in (high - low).T:
        order = np.argsort(width, kind="stable")
        narrower = np.concatenate([[0], np.cumsum(width[order])[:-1]])
        for at in np.flatnonzero(width[order] > narrower):
            wide = width >= width[order[at]]
            if not wide.all() and wide.tobytes() not in distinct_masks:
                distinct_masks.add(wide.tobytes())
                yield wide


def _bound_reachable_sums(instance: Instance, possible: Bools) -> tuple[Ints, Ints]:
    """Between what the sums of every bin are, by what it has for sure and what it may have."""
    sure = possible & (possible.sum(axis=1, keepdims=True) == 1)
    low = np.maximum(instance.low, sure.T.astype(np.int64) @ instance.amounts)
    high = np.minimum(instance.high, possible.T.astype(np.int64) @ instance.amounts)
    return low, high


def _exclude_by_merged_bins(instance: Instance, possible: Bools, wide: Bools) -> Bools | None:
    """What stays possible if some bins are taken as one: it holds what the others do not."""
    total = instance.amounts.sum(axis=0)
    low, high = _bound_reachable_sums(instance, possible)
    merged_interval = np.stack([total - high[~wide].sum(axis=0), total - low[~wide].sum(axis=0)])
    merged = replace(
        instance,
        low=np.concatenate([instance.low[~wide], merged_interval[:1]]),
        high=np.concatenate([instance.high[~wide], merged_interval[1:]]),
        already_in_bin=np.zeros(int((~wide).sum()) + 1, np.int64),  # counts do not matter
    )
    merged_remaining = _exclude_per_bin(
        merged, np.column_stack([possible[:, ~wide], possible[:, wide].any(axis=1)])
    )
    if merged_remaining is None:
        return None
    remaining = possible.copy()
    remaining[:, ~wide] &= merged_remaining[:, :-1]
    remaining[:, wide] &= merged_remaining[:, -1:]
    return remaining
