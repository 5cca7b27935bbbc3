"""Last stage of the dynamic program: what is left goes to the last bin, or to the last two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting import two_bins
from divulge.reconstruction.counting.dp_shared_states import split_states_at_once
from divulge.reconstruction.problem.bitsets import Bitsets, unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.work import Effort
from divulge.work.arrays import Array, Bools, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class FinalSplits:
    """What becomes of what is left in each state, and in how many ways.

    The last bin takes all; or, in the states that are `alive`, `other` takes some packages, for
    example `first`. In how many allocations it takes a package is `in_other`; `witnesses` are
    splits (state, packages of the other bin) that have every pair.
    """

    last: int
    ways: Ints
    other: int = -1
    alive: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    in_other: Array = field(default_factory=lambda: np.empty(0, np.int64))
    first: Bools = field(default_factory=lambda: np.empty((0, 0), bool))
    witness_states: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    witnesses: Bools = field(default_factory=lambda: np.empty((0, 0), bool))


def split_final_states(
    instance: Instance, states: Bitsets, into: Array, last: list[int], effort: Effort
) -> FinalSplits | None:
    """What becomes of the states after the last stage, into which there are so many ways each."""
    from divulge.reconstruction.subset_sum import meet_in_middle_kernels

    if len(last) == 1:
        fits = _can_fill_last(instance, unpack_bitsets(states, instance.packages), last[0])
        return FinalSplits(last=last[0], ways=fits.astype(np.int64))
    if int(np.bitwise_count(states).sum(axis=1).max(initial=0)) > tuning.FINAL_FEW_PACKAGES:
        masks, one_by_one = (
            unpack_bitsets(states, instance.packages),
            len(states) * tuning.FINAL_LATTICE_SECONDS,
        )
        at_once = _split_shared_states(instance, masks, into, last, effort.part(one_by_one))
        if at_once is not None:
            return at_once
        if one_by_one <= effort.left:
            return _split_each_state(instance, masks, into, last, effort)
    low, high = instance.low[last], instance.high[last]
    room = np.maximum(high - low, 0).min(axis=0) + 1
    lead = np.argsort(-(instance.amounts.sum(axis=0) / room), kind="stable")
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    by_size = np.argsort(-(amounts / np.maximum(amounts.sum(axis=0), 1)).sum(axis=1))
    sums = tuning.FINAL_SPLITS.count_steps(effort.left)
    longest = max(
        tuning.FINAL_SHORTEST_HALF,
        min(tuning.FINAL_LONGEST_HALF, sums // (tuning.FINAL_STEPS_PER_SUM * max(1, len(states)))),
    )
    complete, ways, alive, in_other, first, witness_states, witnesses, steps = (
        meet_in_middle_kernels.count_splits(
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
    witness_states, first = witness_states[: len(witnesses)], first.astype(bool)
    with_other = _weigh_by_ways(into[alive], in_other)
    return FinalSplits(
        last=a,
        ways=ways,
        other=b,
        alive=alive,
        in_other=with_other,
        first=first,
        witness_states=witness_states,
        witnesses=witnesses.astype(bool),
    )


def _weigh_by_ways(into: Array, in_other: Ints) -> Array:
    """In how many allocations packages are, if so many ways go into states and so many out."""
    most = float(into.max(initial=0)) * in_other.sum(axis=0, dtype=np.float64).max(initial=0.0)
    kind: Any = np.int64 if most < 2.0**62 else object
    allocation_counts: Array = into.astype(kind) @ in_other.astype(kind)
    return allocation_counts


def _split_shared_states(
    instance: Instance, states: Bools, into: Array, last: list[int], effort: Effort
) -> FinalSplits | None:
    """What is left in many states that have much in common, split between two bins in all ways."""
    splits = split_states_at_once(instance, states, into, last, effort)
    if splits is None:
        return None
    a, b = last
    alive = np.flatnonzero(splits.ways)
    first = splits.first[alive]
    return FinalSplits(
        last=a,
        ways=splits.ways,
        other=b,
        alive=alive,
        in_other=splits.in_other,
        first=first,
        witness_states=splits.witness_states,
        witnesses=splits.witnesses,
    )


def _split_each_state(
    instance: Instance, states: Bools, into: Array, last: list[int], effort: Effort
) -> FinalSplits | None:
    """What is left in every state, split between two bins in all ways."""
    a, b = last
    ways = np.zeros(len(states), np.int64)
    alive, in_other, first, witness_states, witnesses = [], [], [], [], []
    proved = np.zeros((2, instance.packages), bool)
    for number, state in enumerate(states):
        splits = _split_state(instance, state, a, b, effort)
        if splits is None or effort.spent:
            return None
        if not splits.count:
            continue
        ways[number] = splits.count
        alive.append(number)
        in_other.append(splits.with_package)
        first.append(splits.witnesses[0])
        for inside in splits.witnesses:
            if (inside & ~proved[0]).any() or (state & ~inside & ~proved[1]).any():
                proved[0] |= inside
                proved[1] |= state & ~inside
                witness_states.append(number)
                witnesses.append(inside)
    n = instance.packages
    return FinalSplits(
        last=a,
        ways=ways,
        other=b,
        alive=np.array(alive, np.int64),
        in_other=_weigh_by_ways(into[ways > 0], np.array(in_other, np.int64).reshape(-1, n)),
        first=np.array(first, bool).reshape(-1, n),
        witness_states=np.array(witness_states, np.int64),
        witnesses=np.array(witnesses, bool).reshape(-1, n),
    )


@dataclass(frozen=True, eq=False)
class _StateSplits:
    """In how many ways a state is split, how many give each package to the other bin, and some."""

    count: int
    with_package: Ints
    witnesses: Bools


def _split_state(
    instance: Instance, state: Bools, a: int, b: int, effort: Effort
) -> _StateSplits | None:
    """The packages of a state, split between two bins; None if that takes more effort.

    Few splits are listed. Many are counted without listing them where that can be done, and
    otherwise listed as well.
    """
    n = instance.packages
    both = instance.amounts[state].sum(axis=0)
    low, high = instance.complement_window(b, a, both)
    can, must = state & instance.allowed[:, b], state & ~instance.allowed[:, a]
    if (low > high).any() or (must & ~can).any():
        return _StateSplits(0, np.zeros(n, np.int64), np.zeros((0, n), bool))
    one = replace(
        instance, low=low[None], high=high[None], already_in_bin=instance.already_in_bin[[b]]
    )

    steps = tuning.LATTICE_ENUMERATION.count_steps(effort.left)
    fitting_sets = lattice_enumeration.enumerate_fitting_sets(
        one,
        0,
        can,
        forced=must,
        most_steps=min(tuning.FINAL_MOST_LISTING_STEPS, steps),
        most_sets=0,
    )
    if fitting_sets is None and (can & ~must).sum() <= tuning.FINAL_FEW_PACKAGES:
        fitting_sets = meet_in_middle.enumerate_sets_by_halves(
            one, 0, can, forced=must, longest=tuning.FINAL_SHORTEST_HALF, most_sets=0
        )
    if fitting_sets is None:
        packages, bins = np.flatnonzero(state), [b, a]
        two = Instance.from_intervals(
            instance.amounts[packages],
            instance.low[bins],
            instance.high[bins],
            allowed=instance.allowed[packages][:, bins],
        )
        counts = two_bins.count_two_bins(
            two, two.allowed, two_bins.seconds_to_sums(effort.left), effort
        )
        if counts is not None:
            with_package, witnesses = np.zeros(n, np.int64), np.zeros((len(counts.proofs), n), bool)
            with_package[packages] = counts.pairs[:, 0]
            witnesses[:, packages] = counts.proofs == 0
            return _StateSplits(counts.count, with_package, witnesses)
        steps = tuning.LATTICE_ENUMERATION.count_steps(effort.left)
        fitting_sets = (
            lattice_enumeration.enumerate_fitting_sets(
                one, 0, can, forced=must, most_steps=steps, most_sets=0
            )
            if steps > tuning.FINAL_MOST_LISTING_STEPS
            else None
        )
    if fitting_sets is None:
        return None
    return _StateSplits(
        fitting_sets.count, fitting_sets.with_package, unpack_bitsets(fitting_sets.witnesses, n)
    )


def _can_fill_last(instance: Instance, masks: Bools, last: int) -> Bools:
    """Which of the leftovers make the last bin's sums."""
    sums = masks.astype(np.int64) @ instance.amounts
    counts = masks.sum(axis=1) + instance.already_in_bin[last]
    slack, extra = instance.slack_by_count[:, counts].T, instance.extra_above[:, counts].T
    fits = (sums >= instance.low[last] - slack) & (sums <= instance.high[last] + slack + extra)
    fillable: Bools = fits.all(axis=1) & ~(masks & ~instance.allowed[:, last]).any(axis=1)
    return fillable
