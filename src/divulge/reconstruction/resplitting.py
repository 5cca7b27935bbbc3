"""Other allocations from one: the packages of two bins are put together and split anew.

Where there are very many allocations, most of what is not excluded is possible, and the proof is
an allocation that has it. Each step takes a pair (package, bin) that is not proved yet, puts the
package into the bin, and looks for a set of the two bins' packages that makes both sums, in an
order that differs from try to try. What is found is an allocation; what is not found says nothing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from divulge.reconstruction import counting, halves
from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.instance import Instance

NODES = (60_000, 1_000_000, 6_000_000)
"""How far a split is looked for: at the first try, at the second, from the third on."""

SETS_WANTED = 4
LONGEST_TAIL = 14
TRIES_PER_PAIR = 4
LONGEST_HALF = 100_000
IDLE_ROUNDS = 3


def explore(
    instance: Instance,
    possible: Bools,
    proved: Bools,
    start: Ints,
    end: float,
    enter: Callable[[Ints], None],
) -> None:
    """Walk from one allocation to others, until all pairs are proved or the time is up.

    `enter` is told every new allocation and marks its pairs in `proved`.
    """
    random = np.random.default_rng(1)
    now = time.monotonic()
    place = start.astype(np.int64)
    if not instance.counts_matter:
        place = _all_at_once(
            instance, possible, proved, place, now + (end - now) / 2, random, enter
        )
    tries = np.zeros(possible.shape, np.int64)
    while time.monotonic() < end:
        open_pairs = np.argwhere(possible & ~proved & (tries < TRIES_PER_PAIR))
        if not len(open_pairs):
            return
        fewest = open_pairs[tries[possible & ~proved & (tries < TRIES_PER_PAIR)].argsort()]
        package, b = fewest[random.integers(min(len(fewest), 8))]
        budget = NODES[min(int(tries[package, b]), len(NODES) - 1)]
        tries[package, b] += 1
        found = _split(
            instance, possible, place, int(place[package]), int(b), int(package), budget, random
        )
        if found is not None:
            place = found
            enter(place.astype(np.int16)[None])
        elif instance.bins > 2:
            place = _kicked(instance, possible, place, random, enter)


def _all_at_once(
    instance: Instance,
    possible: Bools,
    proved: Bools,
    place: Ints,
    end: float,
    random: np.random.Generator,
    enter: Callable[[Ints], None],
) -> Ints:
    """All splits of two bins, pair of bins after pair, as long as rounds tell something new."""
    idle = 0
    while idle < IDLE_ROUNDS:
        before = int(proved.sum())
        for a, b in random.permutation(list(itertools.combinations(range(instance.bins), 2))):
            if time.monotonic() > end:
                return place
            inside = (place == a) | (place == b)
            missing = possible[inside] & ~proved[inside]
            if idle == 0 and not missing[:, [a, b]].any():
                continue
            found = _splits(instance, possible, place, int(a), int(b))
            if len(found):
                place = found[random.integers(len(found))]
                for other in found:
                    if not proved[np.arange(len(other)), other].all():
                        enter(other.astype(np.int16)[None])
        if (proved == possible).all():
            return place
        idle = 0 if int(proved.sum()) > before else idle + 1
    return place


def _splits(instance: Instance, possible: Bools, place: Ints, a: int, b: int) -> Ints:
    """Splits of two bins that have each package in each of the two wherever any split has it."""
    inside = (place == a) | (place == b)
    both = instance.amounts[inside].sum(axis=0)
    low, high = instance.low.copy(), instance.high.copy()
    low[b] = np.maximum(low[b], both - high[a])
    high[b] = np.minimum(high[b], both - low[a])
    narrowed = replace(instance, low=low, high=high)
    can, must = inside & possible[:, b], inside & ~possible[:, a]
    found = halves.fitting(narrowed, b, can, must, LONGEST_HALF, 0)
    if found is None:
        return np.empty((0, len(place)), np.int64)
    into_b = counting.masks_of(found.telling, instance.packages)
    return np.where(into_b, b, np.where(inside, a, place))


def construct(instance: Instance, possible: Bools, end: float) -> Ints | None:
    """An allocation from nothing: bin after bin, the last two together; None if none was found."""
    random = np.random.default_rng(2)
    few_first = np.argsort(possible.sum(axis=0), kind="stable")
    while time.monotonic() < end:
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
            found = _split(instance, possible, place, a, b, None, NODES[1], random)
            if found is not None:
                return found
        if instance.bins <= 2 and time.monotonic() >= end:
            return None
    return None


def _kicked(
    instance: Instance,
    possible: Bools,
    place: Ints,
    random: np.random.Generator,
    enter: Callable[[Ints], None],
) -> Ints:
    """Two bins split at random, so that the next tries start from elsewhere."""
    a, b = random.choice(instance.bins, 2, replace=False)
    found = _split(instance, possible, place, int(a), int(b), None, NODES[0], random)
    if found is None:
        return place
    enter(found.astype(np.int16)[None])
    return found


def _split(
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
        # What bin b does not get, bin a must hold.
        both = instance.amounts[inside].sum(axis=0)
        low = np.maximum(low, both - instance.high[a])
        high = np.minimum(high, both - instance.low[a])
    chosen = _some_set(
        instance, b, inside & possible[:, b], into_b, low, high, budget, random, other=(a, inside)
    )
    if chosen is None:
        return None
    found = place.copy()
    found[inside] = a
    found[chosen] = b
    return found


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
    from divulge.reconstruction import kernels

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
    _, found, sets, _, _ = kernels.fitting_sets(
        amounts,
        free,
        amounts[forced].sum(axis=0),
        int(instance.held[b] + forced.sum()),
        np.ascontiguousarray(low[lead]),
        np.ascontiguousarray(high[lead]),
        np.ascontiguousarray(instance.widening[lead]),
        np.ascontiguousarray(instance.deeper[lead]),
        min(len(free), LONGEST_TAIL, max(4, len(free) // 2)),
        words,
        budget,
        SETS_WANTED,
        SETS_WANTED,
    )
    masks = counting.masks_of(sets[: min(found, SETS_WANTED)], instance.packages) | forced
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
