"""What becomes of packages that are left when all bins but the last, or the last two, are full."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting import two_bins
from divulge.reconstruction.counting.dp_shared_states import shared
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import Words, masks_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.work import Effort

Counts: TypeAlias = npt.NDArray[Any]
"""Whole numbers: Python's own where they might not fit into 62 bits."""

SHORTEST_HALF, LONGEST_HALF = 2**14, 2**21
FEW_LEFT = 28
SECONDS_A_LATTICE = 0.008  # nominal
A_LONG_WHILE = 1e6  # nominal seconds, where there is no end
FEW_STEPS = 1_000_000
"""Of listing what is left in a state, before its splits are counted without listing them."""


@dataclass(frozen=True, eq=False)
class End:
    """What becomes of what is left in each state, and in how many ways.

    The last bin takes all; or, in the states that are `alive`, `other` takes some packages, for
    example `first`. In how many allocations it takes a package is `in_other`; `shown` are splits
    (state, packages of the other bin) that have every pair.
    """

    last: int
    ways: Ints
    other: int = -1
    alive: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    in_other: Counts = field(default_factory=lambda: np.empty(0, np.int64))
    first: Bools = field(default_factory=lambda: np.empty((0, 0), bool))
    shown_states: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    shown: Bools = field(default_factory=lambda: np.empty((0, 0), bool))


def ended(
    instance: Instance, states: Words, into: Counts, last: list[int], effort: Effort
) -> End | None:
    """What becomes of the states after the last stage, into which there are so many ways each."""
    from divulge.reconstruction.subset_sum import meet_in_middle_kernels

    if len(last) == 1:
        fits = _fits_last(instance, masks_of(states, instance.packages), last[0])
        return End(last[0], fits.astype(np.int64))
    if int(np.bitwise_count(states).sum(axis=1).max(initial=0)) > FEW_LEFT:
        masks, one_by_one = masks_of(states, instance.packages), len(states) * SECONDS_A_LATTICE
        at_once = _split_at_once(instance, masks, into, last, effort.part(one_by_one))
        if at_once is not None:
            return at_once
        if one_by_one <= effort.left:
            return _split_in_lattice(instance, masks, into, last, effort)
    low, high = instance.low[last], instance.high[last]
    room = np.maximum(high - low, 0).min(axis=0) + 1
    lead = np.argsort(-(instance.amounts.sum(axis=0) / room), kind="stable")
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    by_size = np.argsort(-(amounts / np.maximum(amounts.sum(axis=0), 1)).sum(axis=1))
    sums = int(min(effort.left, A_LONG_WHILE) / tuning.FINAL_SPLITS.per_step)
    longest = max(SHORTEST_HALF, min(LONGEST_HALF, sums // (4 * max(1, len(states)))))
    complete, ways, alive, in_other, first, shown_states, shown, steps = (
        meet_in_middle_kernels.splits(
            states,
            amounts,
            by_size,
            np.ascontiguousarray(instance.allowed[:, last]).astype(np.uint8),
            np.ascontiguousarray(low[:, lead]),
            np.ascontiguousarray(high[:, lead]),
            longest,
            sums,
        )
    )
    work.charge(tuning.FINAL_SPLITS, steps)
    if not complete:
        return None
    a, b = last
    shown_states, first = shown_states[: len(shown)], first.astype(bool)
    with_other = _weighed(into[alive], in_other)
    return End(a, ways, b, alive, with_other, first, shown_states, shown.astype(bool))


def _weighed(into: Counts, in_other: Ints) -> Counts:
    """In how many allocations packages are, if so many ways go into states and so many out."""
    most = float(into.max(initial=0)) * in_other.sum(axis=0, dtype=np.float64).max(initial=0.0)
    kind: Any = np.int64 if most < 2.0**62 else object
    weighed: Counts = into.astype(kind) @ in_other.astype(kind)
    return weighed


def _split_at_once(
    instance: Instance, states: Bools, into: Counts, last: list[int], effort: Effort
) -> End | None:
    """What is left in many states that have much in common, split between two bins in all ways."""
    found = shared(instance, states, into, last, effort)
    if found is None:
        return None
    a, b = last
    alive = np.flatnonzero(found.ways)
    first = found.first[alive]
    return End(a, found.ways, b, alive, found.in_other, first, found.shown_states, found.shown)


def _split_in_lattice(
    instance: Instance, states: Bools, into: Counts, last: list[int], effort: Effort
) -> End | None:
    """What is left in every state, split between two bins in all ways."""
    a, b = last
    ways = np.zeros(len(states), np.int64)
    alive, in_other, first, shown_states, shown = [], [], [], [], []
    seen = np.zeros((2, instance.packages), bool)
    for number, state in enumerate(states):
        found = _split(instance, state, a, b, effort)
        if found is None or effort.spent:
            return None
        if not found.count:
            continue
        ways[number] = found.count
        alive.append(number)
        in_other.append(found.with_package)
        first.append(found.telling[0])
        for inside in found.telling:
            if (inside & ~seen[0]).any() or (state & ~inside & ~seen[1]).any():
                seen[0] |= inside
                seen[1] |= state & ~inside
                shown_states.append(number)
                shown.append(inside)
    n = instance.packages
    return End(
        a,
        ways,
        b,
        np.array(alive, np.int64),
        _weighed(into[ways > 0], np.array(in_other, np.int64).reshape(-1, n)),
        np.array(first, bool).reshape(-1, n),
        np.array(shown_states, np.int64),
        np.array(shown, bool).reshape(-1, n),
    )


@dataclass(frozen=True, eq=False)
class _Splits:
    """In how many ways a state is split, how many give each package to the other bin, and some."""

    count: int
    with_package: Ints
    telling: Bools


def _split(instance: Instance, state: Bools, a: int, b: int, effort: Effort) -> _Splits | None:
    """The packages of a state, split between two bins; None if that takes more effort.

    Few splits are listed. Many are counted without listing them where that can be done, and
    otherwise listed as well.
    """
    n = instance.packages
    both = instance.amounts[state].sum(axis=0)
    low, high = instance.window_beside(b, a, both)
    can, must = state & instance.allowed[:, b], state & ~instance.allowed[:, a]
    if (low > high).any() or (must & ~can).any():
        return _Splits(0, np.zeros(n, np.int64), np.zeros((0, n), bool))
    one = replace(instance, low=low[None], high=high[None], held=instance.held[[b]])

    steps = lattice_enumeration.steps_in(effort.left)
    found = lattice_enumeration.fitting(one, 0, can, must, min(FEW_STEPS, steps), 0)
    if found is None and (can & ~must).sum() <= FEW_LEFT:
        found = meet_in_middle.fitting(one, 0, can, must, SHORTEST_HALF, 0)
    if found is None:
        packages, bins = np.flatnonzero(state), [b, a]
        two = Instance.of(
            instance.amounts[packages],
            instance.low[bins],
            instance.high[bins],
            allowed=instance.allowed[packages][:, bins],
        )
        counted = two_bins.counted(two, two.allowed, two_bins.sums_in(effort.left), effort)
        if counted is not None:
            with_package, telling = np.zeros(n, np.int64), np.zeros((len(counted.proofs), n), bool)
            with_package[packages] = counted.pairs[:, 0]
            telling[:, packages] = counted.proofs == 0
            return _Splits(counted.count, with_package, telling)
        steps = lattice_enumeration.steps_in(effort.left)
        found = (
            lattice_enumeration.fitting(one, 0, can, must, steps, 0) if steps > FEW_STEPS else None
        )
    if found is None:
        return None
    return _Splits(found.count, found.with_package, masks_of(found.telling, n))


def _fits_last(instance: Instance, masks: Bools, last: int) -> Bools:
    """Which of the leftovers make the last bin's sums."""
    sums = masks.astype(np.int64) @ instance.amounts
    counts = masks.sum(axis=1) + instance.held[last]
    wide, deep = instance.widening[:, counts].T, instance.deeper[:, counts].T
    fits = (sums >= instance.low[last] - wide) & (sums <= instance.high[last] + wide + deep)
    good: Bools = fits.all(axis=1) & ~(masks & ~instance.allowed[:, last]).any(axis=1)
    return good
