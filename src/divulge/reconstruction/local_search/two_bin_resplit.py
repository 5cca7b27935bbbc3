"""The packages of two bins, split anew so that both sums are right: all ways, or some.

Bin after bin, that makes an allocation from nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import masks_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import meet_in_middle
from divulge.work import Effort

NODES = (60_000, 1_000_000, 6_000_000)
"""How far a split is looked for: at the first try, at the second, from the third on."""

SETS_WANTED = 4
LONGEST_TAIL = 14


def all_splits(
    instance: Instance, possible: Bools, place: Ints, a: int, b: int, longest: int, effort: Effort
) -> Ints:
    """Splits of two bins that have each package in each of the two wherever any split has it."""
    inside = (place == a) | (place == b)
    both = instance.amounts[inside].sum(axis=0)
    low, high = instance.low.copy(), instance.high.copy()
    low[b], high[b] = instance.window_beside(b, a, both)
    narrowed = replace(instance, low=low, high=high)
    can, must = inside & possible[:, b], inside & ~possible[:, a]
    found = meet_in_middle.fitting(narrowed, b, can, must, longest, 0, effort)
    if found is None:
        return np.empty((0, len(place)), np.int64)
    into_b = masks_of(found.telling, instance.packages)
    return np.where(into_b, b, np.where(inside, a, place))


def some_split(
    instance: Instance,
    possible: Bools,
    place: Ints,
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
        low, high = instance.window_beside(b, a, instance.amounts[inside].sum(axis=0))
    chosen = _some_set(
        instance, b, inside & possible[:, b], into_b, low, high, budget, random, other=(a, inside)
    )
    if chosen is None:
        return None
    found = place.copy()
    found[inside] = a
    found[chosen] = b
    return found


def construct(instance: Instance, possible: Bools, effort: Effort) -> Ints | None:
    """An allocation from nothing: bin after bin, the last two together; None if none was found."""
    random = np.random.default_rng(2)
    few_first = np.argsort(possible.sum(axis=0), kind="stable")
    while not effort.spent:
        work.charge(tuning.MOVE)
        place = np.full(instance.packages, -1, np.int64)
        left = np.ones(instance.packages, bool)
        for number, b in enumerate(few_first[:-2]):
            later = possible[:, few_first[number + 1 :]].any(axis=1)
            chosen = _some_set(
                instance,
                int(b),
                left & possible[:, b],
                left & ~later,
                instance.low[b],
                instance.high[b],
                NODES[0],
                random,
            )
            if chosen is None:
                break
            place[chosen] = b
            left &= ~chosen
        else:
            a, b = (int(x) for x in few_first[-2:])
            place[left] = a
            if not (possible[left, a] | possible[left, b]).all():
                continue
            found = some_split(instance, possible, place, a, b, None, NODES[1], random)
            if found is not None:
                return found
    return None


def _some_set(
    instance: Instance,
    b: int,
    candidates: Bools,
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
    tail = min(len(free), LONGEST_TAIL, max(4, len(free) // 2))
    _, found, sets, _, _, steps = depth_first_kernels.fitting_sets(
        amounts,
        free,
        amounts[forced].sum(axis=0),
        int(instance.held[b] + forced.sum()),
        np.ascontiguousarray(low[lead]),
        np.ascontiguousarray(high[lead]),
        np.ascontiguousarray(instance.widening[lead]),
        np.ascontiguousarray(instance.deeper[lead]),
        tail,
        words,
        budget,
        SETS_WANTED,
        SETS_WANTED,
    )
    work.charge(tuning.DEPTH_FIRST, steps + 2**tail)
    masks = masks_of(sets[: min(found, SETS_WANTED)], instance.packages) | forced
    if other is not None and len(masks):
        masks = masks[[_fits(instance, other[0], other[1] & ~mask) for mask in masks]]
    if not len(masks):
        return None
    chosen: Bools = masks[random.integers(len(masks))]
    return chosen


def _fits(instance: Instance, b: int, inside: Bools) -> bool:
    """Whether just these packages make a bin's sums."""
    count = int(instance.held[b] + inside.sum())
    sums = instance.amounts[inside].sum(axis=0)
    wide, deep = instance.widening[:, count], instance.deeper[:, count]
    fits = (sums >= instance.low[b] - wide) & (sums <= instance.high[b] + wide + deep)
    return bool(fits.all())
