"""How many allocations there are, exactly, from the sets that fit into each bin.

A dynamic programme over bins: its states are the packages that are still without a bin. Forwards
it counts the ways into a state, backwards the ways out of it; together they give the number of
allocations and, for every package and bin, the number of those that put it there. The last bin
gets what is left, so its own sets need not be known; or the last two, and what is left is split
between them in all ways. Counts are Python's integers as soon as they might not fit into 62 bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting.dp_certificates import Stage, proofs_of
from divulge.reconstruction.counting.dp_final_bins import End, ended
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import Words, masks_of, words_of
from divulge.reconstruction.problem.counts import Counted
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort

MOST_PAIRS = 1_000_000_000
MOST_STATES = 400_000
MOST_STEPS = 4_000_000


def count(
    instance: Instance,
    sets: Sequence[Words | None],
    prior: npt.NDArray[np.float64] | None = None,
    seconds: float = 10.0,
) -> Counted | None:
    """Count all allocations; None if there are too many states or steps for this effort.

    `sets[b]` are the sets that fit into bin b; it may be None for one bin, or for two where neither
    a prior nor the number of packages in a bin matters. A prior (package x bin) weighs each
    allocation by the product of its pairs; the counts stay plain.
    """
    unknown = [b for b, of_bin in enumerate(sets) if of_bin is None]
    simple = prior is None and not instance.counts_matter
    if len(unknown) > 2 or (len(unknown) == 2 and (not simple or len(sets) == 2)):
        return None
    sizes = {b: len(s) for b, s in enumerate(sets) if s is not None}
    last = unknown or [max(sizes, key=lambda b: sizes[b])]
    order = _order(instance, [b for b in sizes if b not in last], sizes)
    effort = Effort(seconds)
    found = _stages(instance, sets, order, last, seconds)
    if found is None:
        return None
    stages, states = found
    bound = math.prod(max(1, len(stage.sets)) for stage in stages)
    into = _into(stages, states, _kind(bound), [None] * len(stages))
    end = ended(instance, states[-1], into[-1], last, effort)
    if end is None:
        return None
    kind = _kind(bound * max(1, sum(map(int, end.ways))))
    into = [ways.astype(kind) for ways in into]
    counted = _both_ways(instance, stages, states, into, end, prior)
    work.charge(tuning.STATES, sum(len(stage.source) for stage in stages))
    return counted


def _kind(bound: int) -> Any:
    """Numbers of what kind hold counts up to here."""
    return np.int64 if bound < 2**62 else object


def _order(instance: Instance, bins: list[int], sizes: dict[int, int]) -> list[int]:
    """Small sets of sets first, but bins that share packages next to each other."""
    rest = sorted(bins, key=lambda b: sizes[b])
    order: list[int] = []
    seen = np.zeros(instance.packages, bool)
    while rest:
        best = min(
            rest,
            key=lambda b: (
                sizes[b] / (1 + 8 * float((instance.allowed[:, b] & seen).sum())),
                b,
            ),
        )
        rest.remove(best)
        order.append(best)
        seen |= instance.allowed[:, best]
    return order


def _stages(
    instance: Instance,
    sets: Sequence[Words | None],
    order: list[int],
    last: list[int],
    seconds: float,
) -> tuple[list[Stage], list[Words]] | None:
    states = [words_of(np.ones(instance.packages, bool))[None, :]]
    stages: list[Stage] = []
    most_steps = int(min(MOST_STEPS, seconds / tuning.STATES.per_step))
    most_pairs = int(min(MOST_PAIRS, seconds / tuning.STATE_TRANSITIONS.per_step))
    steps = 0
    for place, b in enumerate(order):
        of_bin = sets[b]
        assert of_bin is not None  # noqa: S101  # only the last bin may be unknown
        later = instance.allowed[:, [*order[place + 1 :], *last]].any(axis=1)
        if len(states[-1]) * len(of_bin) > most_pairs:
            return None
        made = _transitions(states[-1], of_bin, ~words_of(np.asarray(later)), most_steps)
        work.charge(tuning.STATE_TRANSITIONS, len(states[-1]) * len(of_bin))
        if made is None:
            return None
        source, chosen, targets = made
        steps += len(source)
        if steps > most_steps:
            return None
        unique, target = _unique(targets)
        work.charge(tuning.STATES, len(source))
        if len(unique) > MOST_STATES:
            return None
        stages.append(Stage(b, source, chosen, target, of_bin))
        states.append(unique)
    return stages, states


def _transitions(
    states: Words, sets: Words, must_now: Words, most_steps: int
) -> tuple[Ints, Ints, Words] | None:
    """All (state, set) pairs where the set is in the state and holds all that cannot wait."""
    from divulge.reconstruction.counting import dynamic_program_kernels

    complete, source, column = dynamic_program_kernels.transitions(
        states, sets, must_now, most_steps
    )
    return (source, column, states[source] & ~sets[column]) if complete else None


def _unique(rows: Words) -> tuple[Words, Ints]:
    if rows.shape[1] == 1:
        unique, inverse = np.unique(rows[:, 0], return_inverse=True)
        return unique[:, None], inverse
    packed = np.ascontiguousarray(rows).view([("", rows.dtype)] * rows.shape[1])[:, 0]
    unique, inverse = np.unique(packed, return_inverse=True)
    return unique.view(rows.dtype).reshape(-1, rows.shape[1]), inverse


def _both_ways(
    instance: Instance,
    stages: list[Stage],
    states: list[Words],
    into: list[npt.NDArray[Any]],
    end: End,
    prior: npt.NDArray[np.float64] | None,
) -> Counted:
    kind = into[-1].dtype
    ends = end.ways.astype(kind)
    out = _out(stages, states, ends, [None] * len(stages))
    pairs = np.zeros((instance.packages, instance.bins), kind)
    for stage, ways_in, ways_out in zip(stages, into[:-1], out[1:], strict=True):
        ways = ways_in[stage.source] * ways_out[stage.target]
        pairs[:, stage.place] = _per_package(ways, stage, instance.packages, kind)
    remaining = masks_of(states[-1], instance.packages)
    pairs[:, end.last] = (into[-1] * ends) @ remaining.astype(kind)
    if end.other >= 0:
        pairs[:, end.other] = end.in_other
        pairs[:, end.last] -= pairs[:, end.other]
    total = int(sum(into[-1] * ends))
    shares = (pairs / max(total, 1)).astype(np.float64)  # counts may be too large for floats
    if prior is not None and total:
        shares = _weighed(instance, stages, states, ends, end.last, prior)
    proofs = proofs_of(instance, stages, states, end, into, out)
    return Counted(total, pairs, shares, proofs)


def _into(
    stages: list[Stage],
    states: list[Words],
    kind: Any,
    weights: Sequence[npt.NDArray[np.float64] | None],
) -> list[npt.NDArray[Any]]:
    """The ways into every state; with weights, scaled so that none runs out."""
    into: list[npt.NDArray[Any]] = [np.ones(1, kind)]
    for stage, after, weight in zip(stages, states[1:], weights, strict=True):
        ways = into[-1][stage.source]
        ways = ways if weight is None else ways * weight[stage.chosen]
        summed = _summed(ways, stage.target, len(after))
        into.append(summed if weight is None else summed / max(summed.max(initial=0), 1e-300))
    return into


def _out(
    stages: list[Stage],
    states: list[Words],
    ends: npt.NDArray[Any],
    weights: Sequence[npt.NDArray[np.float64] | None],
) -> list[npt.NDArray[Any]]:
    """The ways out of every state; with weights, scaled so that none runs out."""
    out = [ends]
    for stage, before, weight in zip(
        reversed(stages), reversed(states[:-1]), reversed(weights), strict=True
    ):
        ways = out[0][stage.target]
        ways = ways if weight is None else ways * weight[stage.chosen]
        summed = _summed(ways, stage.source, len(before))
        out.insert(0, summed if weight is None else summed / max(summed.max(initial=0), 1e-300))
    return out


def _summed(ways: npt.NDArray[Any], where: Ints, size: int) -> npt.NDArray[Any]:
    sums = np.zeros(size, ways.dtype)
    np.add.at(sums, where, ways)
    return sums


def _per_package(
    ways: npt.NDArray[Any], stage: Stage, packages: int, kind: Any
) -> npt.NDArray[Any]:
    of_set = _summed(ways, stage.chosen, len(stage.sets))
    used = np.flatnonzero(of_set)
    found: npt.NDArray[Any] = of_set[used] @ masks_of(stage.sets[used], packages).astype(kind)
    return found


def _weighed(
    instance: Instance,
    stages: list[Stage],
    states: list[Words],
    ends: Bools,
    last: int,
    prior: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """How probable every pair is where allocations weigh by the product of their pairs."""
    logs = np.log(np.maximum(prior / prior.max(axis=1, keepdims=True), 1e-300))
    weights = [
        np.exp(masks_of(stage.sets, instance.packages) @ logs[:, stage.place]) for stage in stages
    ]
    remaining = masks_of(states[-1], instance.packages)
    end = ends * np.exp(remaining @ logs[:, last])
    into = _into(stages, states, np.float64, weights)
    out = _out(stages, states, end, weights)
    shares = np.zeros((instance.packages, instance.bins))
    for number, stage in enumerate(stages):
        ways = into[number][stage.source] * weights[number][stage.chosen]
        ways = ways * out[number + 1][stage.target]
        shares[:, stage.place] = _per_package(
            ways / max(ways.sum(), 1e-300), stage, instance.packages, np.float64
        )
    final = into[-1] * end
    shares[:, last] = (final / max(final.sum(), 1e-300)) @ remaining
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    return shares
