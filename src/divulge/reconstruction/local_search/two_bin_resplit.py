"""Large neighbourhood search over two bins: their packages are split anew, in all ways or in some.

Bin after bin, that makes an allocation from nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.bitsets import unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import meet_in_middle
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


def find_all_splits(
    instance: Instance,
    possible: Bools,
    place: Ints,
    *,
    a: int,
    b: int,
    longest: int,
    effort: Effort,
) -> Ints:
    """Splits of two bins that have each package in each of the two wherever any split has it."""
    inside = (place == a) | (place == b)
    both = instance.amounts[inside].sum(axis=0)
    low, high = instance.low.copy(), instance.high.copy()
    low[b], high[b] = instance.complement_window(b, a, both)
    restricted = replace(instance, low=low, high=high)
    can, must = inside & possible[:, b], inside & ~possible[:, a]
    fitting_sets = meet_in_middle.enumerate_sets_by_halves(
        restricted, b, can, forced=must, longest=longest, most_sets=0, effort=effort
    )
    if fitting_sets is None:
        return np.empty((0, len(place)), np.int64)
    into_b = unpack_bitsets(fitting_sets.witnesses, instance.packages)
    return np.where(into_b, b, np.where(inside, a, place))


def find_split(
    instance: Instance,
    possible: Bools,
    place: Ints,
    *,
    a: int,
    b: int,
    package: int | None,
    budget: int,
    random: np.random.Generator,
) -> Ints | None:
    """The packages of two bins, split anew so that both sums are right; the package goes to b."""
    inside = (place == a) | (place == b)
    into_b = inside & ~possible[:, a]
    if package is not None:
        into_b[package] = True
    low, high = instance.low[b].copy(), instance.high[b].copy()
    if not instance.counts_matter:
        low, high = instance.complement_window(b, a, instance.amounts[inside].sum(axis=0))
    members = _find_set(
        instance,
        b,
        inside & possible[:, b],
        forced=into_b,
        low=low,
        high=high,
        budget=budget,
        random=random,
        other=(a, inside),
    )
    if members is None:
        return None
    allocation = place.copy()
    allocation[inside] = a
    allocation[members] = b
    return allocation


def construct_allocation(instance: Instance, possible: Bools, effort: Effort) -> Ints | None:
    """An allocation from nothing: bin after bin, the last two together; None if none was found."""
    random = np.random.default_rng(2)
    few_first = np.argsort(possible.sum(axis=0), kind="stable")
    while not effort.spent:
        work.charge(tuning.MOVE)
        place = np.full(instance.packages, -1, np.int64)
        unplaced = np.ones(instance.packages, bool)
        for number, b in enumerate(few_first[:-2]):
            later = possible[:, few_first[number + 1 :]].any(axis=1)
            members = _find_set(
                instance,
                int(b),
                unplaced & possible[:, b],
                forced=unplaced & ~later,
                low=instance.low[b],
                high=instance.high[b],
                budget=tuning.RESPLIT_NODE_BUDGETS[0],
                random=random,
            )
            if members is None:
                break
            place[members] = b
            unplaced &= ~members
        else:
            a, b = (int(x) for x in few_first[-2:])
            place[unplaced] = a
            if not (possible[unplaced, a] | possible[unplaced, b]).all():
                continue
            allocation = find_split(
                instance,
                possible,
                place,
                a=a,
                b=b,
                package=None,
                budget=tuning.RESPLIT_NODE_BUDGETS[1],
                random=random,
            )
            if allocation is not None:
                return allocation
    return None


def _find_set(
    instance: Instance,
    b: int,
    candidates: Bools,
    *,
    forced: Bools,
    low: Ints,
    high: Ints,
    budget: int,
    random: np.random.Generator,
    other: tuple[int, Bools] | None = None,
) -> Bools | None:
    """One of the sets that make a bin's sums, in an order that differs from call to call."""
    from divulge.reconstruction.subset_sum import depth_first_kernels

    if (forced & ~candidates).any() or (low > high).any():
        return None
    free = np.flatnonzero(candidates & ~forced)
    room = np.maximum(high - low, 0) + 1
    lead = np.argsort(-(instance.amounts[candidates].sum(axis=0) / room))
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    # Large packages first, but not always the same.
    size = np.log1p(amounts[free, 0]) + random.normal(0, 1.0, len(free))
    free = free[np.argsort(-size)]
    words = (instance.packages + 63) // 64
    tail = min(
        len(free), tuning.RESPLIT_LONGEST_TAIL, max(tuning.RESPLIT_SHORTEST_TAIL, len(free) // 2)
    )
    _, count, sets, _, _, steps = depth_first_kernels.enumerate_sets_depth_first(
        amounts,
        free,
        amounts[forced].sum(axis=0),
        int(instance.already_in_bin[b] + forced.sum()),
        np.ascontiguousarray(low[lead]),
        np.ascontiguousarray(high[lead]),
        np.ascontiguousarray(instance.slack_by_count[lead]),
        np.ascontiguousarray(instance.extra_above[lead]),
        tail,
        words,
        budget,
        tuning.RESPLIT_ENOUGH_SETS,
        tuning.RESPLIT_ENOUGH_SETS,
    )
    work.charge(tuning.DEPTH_FIRST, steps + 2**tail)
    masks = (
        unpack_bitsets(sets[: min(count, tuning.RESPLIT_ENOUGH_SETS)], instance.packages) | forced
    )
    if other is not None and len(masks):
        masks = masks[[_is_fitting(instance, other[0], other[1] & ~mask) for mask in masks]]
    if not len(masks):
        return None
    members: Bools = masks[random.integers(len(masks))]
    return members


def _is_fitting(instance: Instance, b: int, inside: Bools) -> bool:
    """Whether just these packages make a bin's sums."""
    count = int(instance.already_in_bin[b] + inside.sum())
    sums = instance.amounts[inside].sum(axis=0)
    slack, extra = instance.slack_by_count[:, count], instance.extra_above[:, count]
    fits = (sums >= instance.low[b] - slack) & (sums <= instance.high[b] + slack + extra)
    return bool(fits.all())
