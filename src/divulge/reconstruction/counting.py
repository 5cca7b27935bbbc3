"""How many allocations there are, exactly, from the sets that fit into each bin.

A dynamic programme over bins: its states are the packages that are still without a bin. Forwards
it counts the ways into a state, backwards the ways out of it; together they give the number of
allocations and, for every package and bin, the number of those that put it there. The last bin
gets what is left, so its own sets need not be known; or the last two, and what is left is split
between them in all ways. Counts are Python's integers as soon as they might not fit into 62 bits.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.reconstruction import halves, lattice, two_bins
from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.counted import Counted as Counted
from divulge.reconstruction.instance import Instance
from divulge.reconstruction.words import Words, masks_of, words_of

PAIRS_PER_SECOND = 200_000_000
"""How many (state, set) pairs a bin may be asked for."""

MOST_PAIRS = 1_000_000_000
MOST_STATES = 400_000
STEPS_PER_SECOND = 1_000_000
MOST_STEPS = 4_000_000
SUMS_PER_SECOND = 50_000_000
SHORTEST_HALF, LONGEST_HALF = 2**14, 2**21
FEW_LEFT = 28
SECONDS_A_LATTICE = 0.008
FEW_STEPS = 1_000_000
"""Of listing what is left in a state, before its splits are counted without listing them."""


@dataclass(frozen=True, eq=False)
class _End:
    """What becomes of what is left: in how many ways, and of these how many by package.

    The last bin takes all; or, in the states that are `alive`, `other` takes what `in_other`
    counts, for example `first`; `shown` are splits (state, packages of the other bin) that have
    every pair.
    """

    last: int
    ways: Ints
    other: int = -1
    alive: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    in_other: Ints = field(default_factory=lambda: np.empty((0, 0), np.int64))
    first: Bools = field(default_factory=lambda: np.empty((0, 0), bool))
    shown_states: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    shown: Bools = field(default_factory=lambda: np.empty((0, 0), bool))


@dataclass(frozen=True)
class _Stage:
    """One bin's transitions: from a state, by a set, to a state."""

    place: int
    source: Ints
    chosen: Ints
    target: Ints
    sets: Words


def count(
    instance: Instance,
    sets: Sequence[Words | None],
    prior: npt.NDArray[np.float64] | None = None,
    seconds: float = 10.0,
) -> Counted | None:
    """Count all allocations; None if there are too many states or steps for about this time.

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
    found = _stages(instance, sets, order, last, seconds)
    if found is None:
        return None
    stages, states = found
    end = _ended(instance, states[-1], last, seconds)
    if end is None:
        return None
    bound = max(1, int(end.ways.sum()))
    for stage in stages:
        bound *= max(1, len(stage.sets))
    kind: Any = np.int64 if bound < 2**62 else object
    return _both_ways(instance, stages, states, end, kind, prior)


def _ended(instance: Instance, states: Words, last: list[int], seconds: float) -> _End | None:
    """What becomes of the states after the last stage."""
    from divulge.reconstruction import halves_kernels

    if len(last) == 1:
        fits = _fits_last(instance, masks_of(states, instance.packages), last[0])
        return _End(last[0], fits.astype(np.int64))
    if _is_for_lattice(states, seconds):
        return _split_in_lattice(instance, masks_of(states, instance.packages), last, seconds)
    low, high = instance.low[last], instance.high[last]
    room = np.maximum(high - low, 0).min(axis=0) + 1
    lead = np.argsort(-(instance.amounts.sum(axis=0) / room), kind="stable")
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    by_size = np.argsort(-(amounts / np.maximum(amounts.sum(axis=0), 1)).sum(axis=1))
    sums = int(seconds * SUMS_PER_SECOND)
    longest = max(SHORTEST_HALF, min(LONGEST_HALF, sums // (4 * max(1, len(states)))))
    complete, ways, alive, in_other, first, shown_states, shown = halves_kernels.splits(
        states,
        amounts,
        by_size,
        np.ascontiguousarray(instance.allowed[:, last]).astype(np.uint8),
        np.ascontiguousarray(low[:, lead]),
        np.ascontiguousarray(high[:, lead]),
        longest,
        sums,
    )
    if not complete:
        return None
    a, b = last
    shown_states, first = shown_states[: len(shown)], first.astype(bool)
    return _End(a, ways, b, alive, in_other, first, shown_states, shown.astype(bool))


def _is_for_lattice(states: Words, seconds: float) -> bool:
    """Whether what is left is few states of many packages."""
    if not len(states) or len(states) * SECONDS_A_LATTICE > seconds:
        return False
    return int(np.bitwise_count(states).sum(axis=1).max()) > FEW_LEFT


def _split_in_lattice(
    instance: Instance, states: Bools, last: list[int], seconds: float
) -> _End | None:
    """What is left in every state, split between two bins in all ways."""
    a, b = last
    end = time.monotonic() + seconds
    ways = np.zeros(len(states), np.int64)
    alive, in_other, first, shown_states, shown = [], [], [], [], []
    seen = np.zeros((2, instance.packages), bool)
    for number, state in enumerate(states):
        found = _split(instance, state, a, b, end)
        if found is None or time.monotonic() > end:
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
    return _End(
        a,
        ways,
        b,
        np.array(alive, np.int64),
        np.array(in_other, np.int64).reshape(-1, n),
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


def _split(instance: Instance, state: Bools, a: int, b: int, end: float) -> _Splits | None:
    """The packages of a state, split between two bins; None if that takes until after `end`.

    Few splits are listed. Many are counted without listing them where that can be done, and
    otherwise listed as well.
    """
    n = instance.packages
    both = instance.amounts[state].sum(axis=0)
    low = np.maximum(instance.low[b], both - instance.high[a])[None]
    high = np.minimum(instance.high[b], both - instance.low[a])[None]
    can, must = state & instance.allowed[:, b], state & ~instance.allowed[:, a]
    if (low > high).any() or (must & ~can).any():
        return _Splits(0, np.zeros(n, np.int64), np.zeros((0, n), bool))
    one = replace(instance, low=low, high=high, held=instance.held[[b]])

    def left() -> float:
        return max(0.0, end - time.monotonic())

    steps = int(left() * lattice.STEPS_PER_SECOND)
    found = lattice.fitting(one, 0, can, must, min(FEW_STEPS, steps), 0)
    if found is None and (can & ~must).sum() <= FEW_LEFT:
        found = halves.fitting(one, 0, can, must, SHORTEST_HALF, 0)
    if found is None:
        packages, bins = np.flatnonzero(state), [b, a]
        two = Instance.of(
            instance.amounts[packages],
            instance.low[bins],
            instance.high[bins],
            allowed=instance.allowed[packages][:, bins],
        )
        counted = two_bins.counted(two, two.allowed, left() * SUMS_PER_SECOND, end)
        if counted is not None:
            with_package, telling = np.zeros(n, np.int64), np.zeros((len(counted.proofs), n), bool)
            with_package[packages] = counted.pairs[:, 0]
            telling[:, packages] = counted.proofs == 0
            return _Splits(counted.count, with_package, telling)
        steps = int(left() * lattice.STEPS_PER_SECOND)
        found = lattice.fitting(one, 0, can, must, steps, 0) if steps > FEW_STEPS else None
    if found is None:
        return None
    return _Splits(found.count, found.with_package, masks_of(found.telling, n))


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
) -> tuple[list[_Stage], list[Words]] | None:
    states = [words_of(np.ones(instance.packages, bool))[None, :]]
    stages: list[_Stage] = []
    most_steps = min(MOST_STEPS, int(seconds * STEPS_PER_SECOND))
    most_pairs = min(MOST_PAIRS, int(seconds * PAIRS_PER_SECOND))
    steps = 0
    for place, b in enumerate(order):
        of_bin = sets[b]
        assert of_bin is not None  # noqa: S101  # only the last bin may be unknown
        later = instance.allowed[:, [*order[place + 1 :], *last]].any(axis=1)
        if len(states[-1]) * len(of_bin) > most_pairs:
            return None
        made = _transitions(states[-1], of_bin, ~words_of(np.asarray(later)), most_steps)
        if made is None:
            return None
        source, chosen, targets = made
        steps += len(source)
        if steps > most_steps:
            return None
        unique, target = _unique(targets)
        if len(unique) > MOST_STATES:
            return None
        stages.append(_Stage(b, source, chosen, target, of_bin))
        states.append(unique)
    return stages, states


def _transitions(
    states: Words, sets: Words, must_now: Words, most_steps: int
) -> tuple[Ints, Ints, Words] | None:
    """All (state, set) pairs where the set is in the state and holds all that cannot wait."""
    from divulge.reconstruction import counting_kernels

    complete, source, column = counting_kernels.transitions(states, sets, must_now, most_steps)
    return (source, column, states[source] & ~sets[column]) if complete else None


def _unique(rows: Words) -> tuple[Words, Ints]:
    if rows.shape[1] == 1:
        unique, inverse = np.unique(rows[:, 0], return_inverse=True)
        return unique[:, None], inverse
    packed = np.ascontiguousarray(rows).view([("", rows.dtype)] * rows.shape[1])[:, 0]
    unique, inverse = np.unique(packed, return_inverse=True)
    return unique.view(rows.dtype).reshape(-1, rows.shape[1]), inverse


def _fits_last(instance: Instance, masks: Bools, last: int) -> Bools:
    """Which of the leftovers make the last bin's sums."""
    sums = masks.astype(np.int64) @ instance.amounts
    counts = masks.sum(axis=1) + instance.held[last]
    wide, deep = instance.widening[:, counts].T, instance.deeper[:, counts].T
    fits = (sums >= instance.low[last] - wide) & (sums <= instance.high[last] + wide + deep)
    good: Bools = fits.all(axis=1) & ~(masks & ~instance.allowed[:, last]).any(axis=1)
    return good


def _both_ways(
    instance: Instance,
    stages: list[_Stage],
    states: list[Words],
    end: _End,
    kind: Any,
    prior: npt.NDArray[np.float64] | None,
) -> Counted:
    ends = end.ways.astype(kind)
    into, out = _swept(stages, states, ends, [None] * len(stages))
    pairs = np.zeros((instance.packages, instance.bins), kind)
    for stage, ways_in, ways_out in zip(stages, into[:-1], out[1:], strict=True):
        ways = ways_in[stage.source] * ways_out[stage.target]
        pairs[:, stage.place] = _per_package(ways, stage, instance.packages, kind)
    remaining = masks_of(states[-1], instance.packages)
    pairs[:, end.last] = (into[-1] * ends) @ remaining.astype(kind)
    if end.other >= 0:
        pairs[:, end.other] = into[-1][end.alive] @ end.in_other.astype(kind)
        pairs[:, end.last] -= pairs[:, end.other]
    total = int(sum(into[-1] * ends))
    shares = (pairs / max(total, 1)).astype(np.float64)  # counts may be too large for floats
    if prior is not None and total:
        shares = _weighed(instance, stages, states, ends, end.last, prior)
    proofs = _proofs(instance, stages, states, end, into, out)
    return Counted(total, pairs, shares, proofs)


def _swept(
    stages: list[_Stage],
    states: list[Words],
    ends: npt.NDArray[Any],
    weights: Sequence[npt.NDArray[np.float64] | None],
) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]]:
    """The ways into every state and out of it; with weights, scaled so that none runs out."""
    into: list[npt.NDArray[Any]] = [np.ones(1, ends.dtype)]
    for stage, after, weight in zip(stages, states[1:], weights, strict=True):
        ways = into[-1][stage.source]
        ways = ways if weight is None else ways * weight[stage.chosen]
        summed = _summed(ways, stage.target, len(after))
        into.append(summed if weight is None else summed / max(summed.max(initial=0), 1e-300))
    out = [ends]
    for stage, before, weight in zip(
        reversed(stages), reversed(states[:-1]), reversed(weights), strict=True
    ):
        ways = out[0][stage.target]
        ways = ways if weight is None else ways * weight[stage.chosen]
        summed = _summed(ways, stage.source, len(before))
        out.insert(0, summed if weight is None else summed / max(summed.max(initial=0), 1e-300))
    return into, out


def _summed(ways: npt.NDArray[Any], where: Ints, size: int) -> npt.NDArray[Any]:
    sums = np.zeros(size, ways.dtype)
    np.add.at(sums, where, ways)
    return sums


def _per_package(
    ways: npt.NDArray[Any], stage: _Stage, packages: int, kind: Any
) -> npt.NDArray[Any]:
    of_set = _summed(ways, stage.chosen, len(stage.sets))
    used = np.flatnonzero(of_set)
    found: npt.NDArray[Any] = of_set[used] @ masks_of(stage.sets[used], packages).astype(kind)
    return found


def _weighed(
    instance: Instance,
    stages: list[_Stage],
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
    into, out = _swept(stages, states, end, weights)
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


def _proofs(
    instance: Instance,
    stages: list[_Stage],
    states: list[Words],
    end: _End,
    into: list[npt.NDArray[Any]],
    out: list[npt.NDArray[Any]],
) -> Ints:
    """Allocations that together have every pair that is possible."""
    n = instance.packages
    if not stages:
        return np.full((int(end.ways.any()), n), end.last, np.int16)
    route = _Routes(stages, states, into, out, n, end)
    proofs: list[Ints] = []
    proved = np.zeros((n, instance.bins), bool)

    def show(of_package: Ints) -> None:
        proofs.append(of_package)
        proved[np.arange(n), of_package] = True

    def enter(place: int, number: int, steps: Ints, rows: Bools) -> None:
        """One allocation for every package that these steps put into a place."""
        for package in np.flatnonzero(rows.any(axis=0)):
            if not proved[package, place]:
                show(route.through(number, int(steps[np.argmax(rows[:, package])])))

    for number, stage in enumerate(stages):
        alive = (into[number][stage.source] > 0) & (out[number + 1][stage.target] > 0)
        steps = np.flatnonzero(alive)
        enter(stage.place, number, steps, masks_of(stage.sets[stage.chosen[steps]], n))
    final = stages[-1]
    reached = into[-2][final.source] > 0
    if end.other < 0:
        steps = np.flatnonzero((end.ways[final.target] > 0) & reached)
        enter(end.last, len(stages) - 1, steps, masks_of(states[-1][final.target[steps]], n))
    for state, in_other in zip(end.shown_states, end.shown, strict=True):
        step = int(np.argmax((final.target == state) & reached))
        of_package = route.through(len(stages) - 1, step)
        of_package[masks_of(states[-1][state], n)] = end.last
        of_package[in_other] = end.other
        show(of_package)
    return np.array(proofs, np.int16).reshape(-1, n)


class _Routes:
    """Whole allocations through given steps: back to the first stage, and on to the last."""

    def __init__(
        self,
        stages: list[_Stage],
        states: list[Words],
        into: list[npt.NDArray[Any]],
        out: list[npt.NDArray[Any]],
        packages: int,
        end: _End,
    ) -> None:
        sizes = [len(some) for some in states]
        self.stages, self.packages, self.end = stages, packages, end
        self.first = dict(zip(end.alive.tolist(), end.first, strict=False))
        self.back = _first_steps(stages, into, sizes)
        self.forth = _last_steps(stages, out, sizes)

    def through(self, number: int, step: int) -> Ints:
        """The allocation that takes this step of this stage."""
        of_package = np.full(self.packages, self.end.last, np.int16)
        by = step
        for at in range(number, -1, -1):
            stage = self.stages[at]
            of_package[masks_of(stage.sets[stage.chosen[by]], self.packages)] = stage.place
            by = self.back[at][stage.source[by]]
        state = self.stages[number].target[step]
        for at in range(number + 1, len(self.stages)):
            stage = self.stages[at]
            by = self.forth[at][state]
            of_package[masks_of(stage.sets[stage.chosen[by]], self.packages)] = stage.place
            state = stage.target[by]
        if self.end.other >= 0:
            of_package[self.first[int(state)]] = self.end.other
        return of_package


def _first_steps(
    stages: list[_Stage], into: list[npt.NDArray[Any]], sizes: list[int]
) -> list[Ints]:
    """For each stage, and each state before it, a step of the stage before that leads there."""
    found = [np.full(1, -1)]
    for number, stage in enumerate(stages[:-1]):
        alive = np.flatnonzero(into[number][stage.source] > 0)
        steps = np.full(sizes[number + 1], -1)
        steps[stage.target[alive]] = alive
        found.append(steps)
    return found


def _last_steps(stages: list[_Stage], out: list[npt.NDArray[Any]], sizes: list[int]) -> list[Ints]:
    """For each stage, and each state before it, a step that leads on to an end."""
    found = []
    for number, stage in enumerate(stages):
        alive = np.flatnonzero(out[number + 1][stage.target] > 0)
        steps = np.full(sizes[number], -1)
        steps[stage.source[alive]] = alive
        found.append(steps)
    return found
