"""What no bin can hold, by two amounts at once and by bins together.

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
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.propagation import propagate

MOST_RATIOS = 48
FEWEST_RATIOS = 6
"""Of how many packages the ratio of two amounts is tried in each bin: more tell little more."""
AT_ONCE = 600_000
"""How many amounts are looked at before fewer ratios are tried: large instances tell less."""


def narrowed(instance: Instance, possible: Bools) -> Bools | None:
    """What stays possible; None if nothing can be.

    The second package is neither too dear nor too heavy for the first bin, but both at once.

    >>> goods = np.array([[10, 50], [20, 10], [20, 60], [90, 40]])
    >>> sums = np.array([[30, 110], [110, 50]])
    >>> one = Instance.of(goods, sums, sums)
    >>> narrowed(one, one.allowed).astype(int).tolist()
    [[1, 0], [0, 1], [1, 0], [0, 1]]
    """
    left: Bools | None = possible
    before = -1
    while left is not None and int(left.sum()) != before:
        before = int(left.sum())
        left = _by_each_bin(instance, left)
        if left is None or instance.counts_matter:
            continue
        for wide in _wide_bins(instance, left):
            left = _by_bins_together(instance, left, wide)
            if left is None:
                break
    return left


def of_one_set(amounts: Ints, low: Ints, high: Ints) -> tuple[Bools, Bools] | None:
    """Who may and who must be in a set with sums between low and high, by two amounts at once.

    None if there is no such set.

    >>> goods = np.array([[90, 10], [10, 50], [20, 60]])
    >>> of_one_set(goods, np.array([95, 20]), np.array([99, 30])) is None
    True
    >>> [who.tolist() for who in of_one_set(goods, np.array([30, 110]), np.array([30, 110]))]
    [[False, True, True], [False, True, True]]
    """
    from divulge.reconstruction.propagation import ratio_bounds_kernels

    free = np.ones((len(amounts), 2), np.uint8)
    both = np.stack([low, np.zeros_like(low)]), np.stack([high, amounts.sum(axis=0)])
    taken = ratio_bounds_kernels.narrow(amounts, *both, free, MOST_RATIOS)
    _charge(amounts.shape[1], free.size, min(MOST_RATIOS, len(amounts)))
    if taken < 0:
        return None
    return free[:, 0] == 1, free[:, 1] == 0


def _ratios(instance: Instance) -> int:
    pairs = instance.attributes * (instance.attributes - 1) // 2
    size = max(1, instance.packages * instance.bins * pairs)
    return max(FEWEST_RATIOS, min(MOST_RATIOS, AT_ONCE // size))


def _by_each_bin(instance: Instance, possible: Bools) -> Bools | None:
    from divulge.reconstruction.propagation import ratio_bounds_kernels

    ratios, taken = _ratios(instance), -1
    while taken:
        propagated = propagate(instance, possible)
        if propagated is None:
            return None
        low, high = _outermost(instance, propagated)
        left = propagated.astype(np.uint8, order="C")
        taken = ratio_bounds_kernels.narrow(instance.amounts, low, high, left, ratios)
        _charge(instance.attributes, int(propagated.sum()), min(ratios, instance.packages))
        if taken < 0:
            return None
        possible = left.astype(bool)
    return possible


def _charge(attributes: int, pairs: int, ratios: int) -> None:
    """Every pair of package and bin is weighed by so many ratios of each two amounts, twice."""
    work.charge(tuning.RATIO_BOUNDS, pairs * ratios * attributes * (attributes - 1))


def _outermost(instance: Instance, possible: Bools) -> tuple[Ints, Ints]:
    """Between what the sums of every bin are, however many packages it has, and within reach.

    An interval without an end would weigh too much to be compared with anything.
    """
    most = instance.held + possible.sum(axis=0)
    wide, deep = instance.widening[:, most].T, instance.deeper[:, most].T
    reach = possible.T.astype(np.int64) @ instance.amounts
    low = np.maximum(instance.low - wide, 0)
    high = np.minimum(instance.high + wide + deep, reach)
    return np.ascontiguousarray(low), np.ascontiguousarray(high)


def _wide_bins(instance: Instance, possible: Bools) -> Iterator[Bools]:
    """Bins each of which has a wider interval than all that are narrower have together."""
    low, high = _within_reach(instance, possible)
    found = set()
    for width in (high - low).T:
        order = np.argsort(width, kind="stable")
        narrower = np.concatenate([[0], np.cumsum(width[order])[:-1]])
        for at in np.flatnonzero(width[order] > narrower):
            wide = width >= width[order[at]]
            if not wide.all() and wide.tobytes() not in found:
                found.add(wide.tobytes())
                yield wide


def _within_reach(instance: Instance, possible: Bools) -> tuple[Ints, Ints]:
    """Between what the sums of every bin are, by what it has for sure and what it may have."""
    sure = possible & (possible.sum(axis=1, keepdims=True) == 1)
    low = np.maximum(instance.low, sure.T.astype(np.int64) @ instance.amounts)
    high = np.minimum(instance.high, possible.T.astype(np.int64) @ instance.amounts)
    return low, high


def _by_bins_together(instance: Instance, possible: Bools, wide: Bools) -> Bools | None:
    """What stays possible if some bins are taken as one: it holds what the others do not."""
    total = instance.amounts.sum(axis=0)
    low, high = _within_reach(instance, possible)
    of_all = np.stack([total - high[~wide].sum(axis=0), total - low[~wide].sum(axis=0)])
    merged = replace(
        instance,
        low=np.concatenate([instance.low[~wide], of_all[:1]]),
        high=np.concatenate([instance.high[~wide], of_all[1:]]),
        held=np.zeros(int((~wide).sum()) + 1, np.int64),  # counts do not matter
    )
    left = _by_each_bin(
        merged, np.column_stack([possible[:, ~wide], possible[:, wide].any(axis=1)])
    )
    if left is None:
        return None
    kept = possible.copy()
    kept[:, ~wide] &= left[:, :-1]
    kept[:, wide] &= left[:, -1:]
    return kept
