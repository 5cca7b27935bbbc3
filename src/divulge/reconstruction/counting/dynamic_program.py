"""Dynamic program over bins: the exact number of allocations, from the sets that fit each bin.

Its states are the packages that are still without a bin. Forwards it counts the ways into a state,
backwards the ways out of it; together they give the number of allocations and, for every package
and bin, the number of those that put it there. The last bin gets what is left, so its own sets need
not be known; or the last two, and what is left is split between them in all ways. Counts are
Python's integers as soon as they might not fit into 62 bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting.dp_certificates import Stage, build_proofs
from divulge.reconstruction.counting.dp_final_bins import FinalSplits, split_final_states
from divulge.reconstruction.problem.bitsets import Bitsets, pack_bitsets, unpack_bitsets
from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


def count_allocations(
    instance: Instance,
    sets: Sequence[Bitsets | None],
    prior: npt.NDArray[np.float64] | None = None,
    seconds: float = 10.0,
) -> AllocationCounts | None:
    """Count all allocations; None if there are too many states or steps for this effort.

    `sets[b]` are the sets that fit into bin b; it may be None for one bin, or for two where neither
    a prior nor the number of packages in a bin matters. A prior (package x bin) weighs each
    allocation by the product of its pairs; the counts stay plain.
    """
    unlisted = [b for b, of_bin in enumerate(sets) if of_bin is None]
    simple = prior is None and not instance.counts_matter
    if len(unlisted) > 2 or (len(unlisted) == 2 and (not simple or len(sets) == 2)):
        return None
    sizes = {b: len(s) for b, s in enumerate(sets) if s is not None}
    last = unlisted or [max(sizes, key=lambda b: sizes[b])]
    order = _order_bins(instance, [b for b in sizes if b not in last], sizes)
    effort = Effort(seconds)
    stages_and_states = _build_stages(instance, sets, order, last, seconds)
    if stages_and_states is None:
        return None
    stages, states = stages_and_states
    bound = math.prod(max(1, len(stage.sets)) for stage in stages)
    into = _count_ways_into(stages, states, _choose_dtype(bound), [None] * len(stages))
    end = split_final_states(instance, states[-1], into[-1], last, effort)
    if end is None:
        return None
    dtype = _choose_dtype(bound * max(1, sum(map(int, end.ways))))
    into = [ways.astype(dtype) for ways in into]
    counts = _count_both_ways(instance, stages, states, into=into, end=end, prior=prior)
    work.charge(tuning.STATES, sum(len(stage.source) for stage in stages))
    return counts


def _choose_dtype(bound: int) -> Any:
    """Numbers of what kind hold counts up to here."""
    return np.int64 if bound < 2**62 else object


def _order_bins(instance: Instance, bins: list[int], sizes: dict[int, int]) -> list[int]:
    """Small sets of sets first, but bins that share packages next to each other."""
    rest = sorted(bins, key=lambda b: sizes[b])
    order: list[int] = []
    packages_so_far = np.zeros(instance.packages, bool)
    while rest:
        best = min(
            rest,
            key=lambda b: (
                sizes[b]
                / (
                    1
                    + tuning.PROGRAM_SHARED_WEIGHT
                    * float((instance.allowed[:, b] & packages_so_far).sum())
                ),
                b,
            ),
        )
        rest.remove(best)
        order.append(best)
        packages_so_far |= instance.allowed[:, best]
    return order


def _build_stages(
    instance: Instance,
    sets: Sequence[Bitsets | None],
    order: list[int],
    last: list[int],
    seconds: float,
) -> tuple[list[Stage], list[Bitsets]] | None:
    states = [pack_bitsets(np.ones(instance.packages, bool))[None, :]]
    stages: list[Stage] = []
    most_steps = int(min(tuning.PROGRAM_MOST_STEPS, seconds / tuning.STATES.per_step))
    most_pairs = int(min(tuning.PROGRAM_MOST_PAIRS, seconds / tuning.STATE_TRANSITIONS.per_step))
    steps = 0
    for place, b in enumerate(order):
        of_bin = sets[b]
        assert of_bin is not None  # noqa: S101  # only the last bin may be unknown
        later = instance.allowed[:, [*order[place + 1 :], *last]].any(axis=1)
        if len(states[-1]) * len(of_bin) > most_pairs:
            return None
        transitions = _find_transitions(
            states[-1], of_bin, ~pack_bitsets(np.asarray(later)), most_steps
        )
        work.charge(tuning.STATE_TRANSITIONS, len(states[-1]) * len(of_bin))
        if transitions is None:
            return None
        source, set_rows, targets = transitions
        steps += len(source)
        if steps > most_steps:
            return None
        unique, target = _number_states(targets)
        work.charge(tuning.STATES, len(source))
        if len(unique) > tuning.PROGRAM_MOST_STATES:
            return None
        stages.append(Stage(place=b, source=source, set_rows=set_rows, target=target, sets=of_bin))
        states.append(unique)
    return stages, states


def _find_transitions(
    states: Bitsets, sets: Bitsets, must_now: Bitsets, most_steps: int
) -> tuple[Ints, Ints, Bitsets] | None:
    """All (state, set) pairs where the set is in the state and holds all that cannot wait."""
    from divulge.reconstruction.counting import dynamic_program_kernels

    complete, source, column = dynamic_program_kernels.find_transitions(
        states, sets, must_now, most_steps
    )
    return (source, column, states[source] & ~sets[column]) if complete else None


def _number_states(rows: Bitsets) -> tuple[Bitsets, Ints]:
    if rows.shape[1] == 1:
        unique, inverse = np.unique(rows[:, 0], return_inverse=True)
        return unique[:, None], inverse
    packed = np.ascontiguousarray(rows).view([("", rows.dtype)] * rows.shape[1])[:, 0]
    unique, inverse = np.unique(packed, return_inverse=True)
    return unique.view(rows.dtype).reshape(-1, rows.shape[1]), inverse


def _count_both_ways(
    instance: Instance,
    stages: list[Stage],
    states: list[Bitsets],
    *,
    into: list[npt.NDArray[Any]],
    end: FinalSplits,
    prior: npt.NDArray[np.float64] | None,
) -> AllocationCounts:
    dtype = into[-1].dtype
    ends = end.ways.astype(dtype)
    out = _count_ways_out(stages, states, ends, [None] * len(stages))
    pairs = np.zeros((instance.packages, instance.bins), dtype)
    for stage, ways_in, ways_out in zip(stages, into[:-1], out[1:], strict=True):
        ways = ways_in[stage.source] * ways_out[stage.target]
        pairs[:, stage.place] = _sum_per_package(ways, stage, instance.packages, dtype)
    remaining = unpack_bitsets(states[-1], instance.packages)
    pairs[:, end.last] = (into[-1] * ends) @ remaining.astype(dtype)
    if end.other >= 0:
        pairs[:, end.other] = end.in_other
        pairs[:, end.last] -= pairs[:, end.other]
    total = int(sum(into[-1] * ends))
    shares = (pairs / max(total, 1)).astype(np.float64)  # counts may be too large for floats
    if prior is not None and total:
        shares = _weigh_by_prior(instance, stages, states, ends=ends, last=end.last, prior=prior)
    proofs = build_proofs(instance, stages, states, end=end, into=into, out=out)
    return AllocationCounts(total, pairs, shares, proofs)


def _count_ways_into(
    stages: list[Stage],
    states: list[Bitsets],
    dtype: Any,
    weights: Sequence[npt.NDArray[np.float64] | None],
) -> list[npt.NDArray[Any]]:
    """The ways into every state; with weights, scaled so that none runs out."""
    into: list[npt.NDArray[Any]] = [np.ones(1, dtype)]
    for stage, after, weight in zip(stages, states[1:], weights, strict=True):
        ways = into[-1][stage.source]
        ways = ways if weight is None else ways * weight[stage.set_rows]
        summed = _sum_by_index(ways, stage.target, len(after))
        into.append(summed if weight is None else summed / max(summed.max(initial=0), 1e-300))
    return into


def _count_ways_out(
    stages: list[Stage],
    states: list[Bitsets],
    ends: npt.NDArray[Any],
    weights: Sequence[npt.NDArray[np.float64] | None],
) -> list[npt.NDArray[Any]]:
    """The ways out of every state; with weights, scaled so that none runs out."""
    out = [ends]
    for stage, before, weight in zip(
        reversed(stages), reversed(states[:-1]), reversed(weights), strict=True
    ):
        ways = out[0][stage.target]
        ways = ways if weight is None else ways * weight[stage.set_rows]
        summed = _sum_by_index(ways, stage.source, len(before))
        out.insert(0, summed if weight is None else summed / max(summed.max(initial=0), 1e-300))
    return out


def _sum_by_index(ways: npt.NDArray[Any], where: Ints, size: int) -> npt.NDArray[Any]:
    sums = np.zeros(size, ways.dtype)
    np.add.at(sums, where, ways)
    return sums


def _sum_per_package(
    ways: npt.NDArray[Any], stage: Stage, packages: int, dtype: Any
) -> npt.NDArray[Any]:
    of_set = _sum_by_index(ways, stage.set_rows, len(stage.sets))
    used = np.flatnonzero(of_set)
    by_package: npt.NDArray[Any] = of_set[used] @ unpack_bitsets(stage.sets[used], packages).astype(
        dtype
    )
    return by_package


def _weigh_by_prior(
    instance: Instance,
    stages: list[Stage],
    states: list[Bitsets],
    *,
    ends: Bools,
    last: int,
    prior: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """How probable every pair is where allocations weigh by the product of their pairs."""
    logs = np.log(np.maximum(prior / prior.max(axis=1, keepdims=True), 1e-300))
    weights = [
        np.exp(unpack_bitsets(stage.sets, instance.packages) @ logs[:, stage.place])
        for stage in stages
    ]
    remaining = unpack_bitsets(states[-1], instance.packages)
    end = ends * np.exp(remaining @ logs[:, last])
    into = _count_ways_into(stages, states, np.float64, weights)
    out = _count_ways_out(stages, states, end, weights)
    shares = np.zeros((instance.packages, instance.bins))
    for number, stage in enumerate(stages):
        ways = into[number][stage.source] * weights[number][stage.set_rows]
        ways = ways * out[number + 1][stage.target]
        shares[:, stage.place] = _sum_per_package(
            ways / max(ways.sum(), 1e-300), stage, instance.packages, np.float64
        )
    final = into[-1] * end
    shares[:, last] = (final / max(final.sum(), 1e-300)) @ remaining
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    return shares
