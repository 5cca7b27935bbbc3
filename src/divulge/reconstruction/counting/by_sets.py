"""Rungs 1 and 2: the sets that fit into each bin, and how many allocations are made of them.

Smallest bin first: what is in none of its sets is excluded, what is in all is forced, and that
narrows the other bins. Once all sets are known, but for two bins, allocations are counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting import dynamic_program
from divulge.reconstruction.counting.two_bins_choice import all_of, as_counted, one_bin_of
from divulge.reconstruction.problem.amounts import Bools, Shares
from divulge.reconstruction.problem.bitsets import Words, masks_of, words_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.state import Known
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.reconstruction.subset_sum.expected_count import expected_bits
from divulge.work import Effort

BUDGETS = (20_000, 400_000, 8_000_000, 60_000_000, 160_000_000)
"""How far the sets of a bin are looked for, from try to try."""
STEPS_PER_SECOND = 100_000_000
"""Of budgets: how they compare with the effort for an instance."""
MOST_WORDS = 400_000
LONGEST_TAIL = 16
FEW = 24
"""Packages of which meeting in the middle lists all sets at once."""
WORTH_COUNTING = 66
"""Packages of two bins up to which allocations are counted, however many there are."""
NEVER = 2**62
MORE_THAN_EXPECTED = 4
"""How many times as many sets as there are steps may be expected: it may be too high."""
WITHIN_REACH = 8
"""How many packages more than all sums of two sides would be of: many sums are out of reach."""


@dataclass
class Sets:
    """The sets that fit into one bin, for the packages that could go there when they were made."""

    candidates: bytes
    sets: Words | None
    count: int


def by_sets(
    known: Known,
    found: dict[int, Sets],
    budgets: Sequence[int],
    effort: Effort,
    prior: Shares | None,
    in_full: bool = True,
    to_count: bool = False,
) -> None:
    """Rungs 1 and 2, with budgets that grow.

    `in_full`: the allocations of two bins are counted even where they are too many to be listed.
    `to_count`: sets are wanted for the count, even of bins where nothing is left to exclude.
    """
    for budget in budgets:
        if budget / STEPS_PER_SECOND > effort.left:
            return
        if _meets_in_two(known, budget, prior):
            if _of_two_bins(known, budget, effort, in_full):
                return
            continue  # one bin for itself tells less than both
        if not _pruned(known, found, budget, effort, to_count):
            known.infeasible = True
            return
        current = [
            found[b].sets if b in found and _is_current(known, b, found[b]) else None
            for b in range(known.instance.bins)
        ]
        unknown = sum(of_bin is None for of_bin in current)
        if unknown <= 2:
            if _counted(known, current, effort, prior):
                return
            if unknown == 0:
                return


def _counted(
    known: Known, sets: Sequence[Words | None], effort: Effort, prior: Shares | None
) -> bool:
    """Rung 2: the number of allocations, if it can be had with the effort."""
    tried = tuple(-1 if of_bin is None else len(of_bin) for of_bin in sets)
    if tried == known.uncounted:
        return False
    known.uncounted = tried
    limited = known.instance.limited(known.possible)
    counted = dynamic_program.count(limited, sets, prior, max(0.02, effort.left) / 3)
    if counted is None:
        return False
    known.take(counted)
    return True


def _meets_in_two(known: Known, budget: int, prior: Shares | None) -> bool:
    two = known.instance.bins == 2 and not known.instance.counts_matter
    return two and prior is None and budget > BUDGETS[0]


def _of_two_bins(known: Known, budget: int, effort: Effort, in_full: bool) -> bool:
    """Rung 2 where there are two bins: the sets of one whose complement fits the other."""
    instance, can, must = known.instance, known.possible[:, 0], ~known.possible[:, 1]
    found = _all_sets(one_bin_of(instance), 0, can, must, budget, 0, effort)
    counted = None if found is None else as_counted(found)
    in_full = in_full and budget == BUDGETS[1] and instance.packages <= WORTH_COUNTING
    if counted is None and in_full:
        counted = all_of(instance, known.possible, effort)
    if counted is not None:
        known.take(counted)
    return counted is not None


def listed(known: Known, b: int, steps: int, most: int) -> Sets | None:
    """All sets of a bin; None if there are more than `most`, or it takes more steps."""
    instance, candidates, forced = known.instance, known.possible[:, b], _forced(known, b)
    most = most // ((instance.packages + 63) // 64)
    found = lattice_enumeration.fitting(instance, b, candidates, forced, steps, most)
    if found is None and (candidates & ~forced).sum() <= FEW:
        found = meet_in_middle.fitting(instance, b, candidates, forced, 2 ** (FEW // 2), most)
    if found is None or found.count > most:
        return None
    return Sets(key_of(known, b), found.sets[: found.count], found.count)


def expected(known: Known, b: int) -> float:
    """How many sets a bin probably has, as a power of 2."""
    return expected_bits(known.instance, b, known.possible[:, b], _forced(known, b))


def is_listed(known: Known, b: int, found: Mapping[int, Sets]) -> bool:
    """Whether all sets of a bin are known, and nothing was excluded since."""
    return b in found and found[b].sets is not None and _is_current(known, b, found[b])


def key_of(known: Known, b: int) -> bytes:
    """What the sets of a bin depend on: which packages may be in it, and which must."""
    return known.possible[:, b].tobytes() + _forced(known, b).tobytes()


def _is_current(known: Known, b: int, of_bin: Sets) -> bool:
    return of_bin.candidates == key_of(known, b)


def _forced(known: Known, b: int) -> Bools:
    forced: Bools = known.possible[:, b] & (known.possible.sum(axis=1) == 1)
    return forced


def _pruned(
    known: Known, found: dict[int, Sets], budget: int, effort: Effort, to_count: bool
) -> bool:
    """Enumerate bin after bin, smallest first, until no bin tells anything new."""
    instance = known.instance
    given_up: set[int] = set()
    while True:
        waiting = [
            b
            for b in range(instance.bins)
            if b not in given_up
            and not (b in found and _is_current(known, b, found[b]))
            and (to_count or _may_tell(known, b))
        ]
        if not waiting or effort.spent:
            return True
        work.charge(tuning.QUESTION)
        b = min(waiting, key=lambda b: int(known.possible[:, b].sum()))
        candidates, forced = known.possible[:, b], _forced(known, b)
        complete, count, sets, union, common = _enumerated(
            instance, b, candidates, forced, budget, effort
        )
        if not complete:
            given_up.add(b)
            continue
        if count == 0:
            return False
        key = candidates.tobytes() + forced.tobytes()
        found[b] = Sets(key, sets if count <= len(sets) else None, count)
        if count <= len(sets):
            found[b].sets = sets[:count]
        else:
            given_up.add(b)
        some = masks_of(union, instance.packages)
        always = masks_of(common, instance.packages)
        before = known.possible.sum()
        known.possible[:, b] &= some
        known.possible[always] = False
        known.possible[always, b] = True
        if known.possible.sum() != before:
            if not known.exclude(~known.possible):
                return False
            for other, of_bin in found.items():
                _filter(known, other, of_bin)
            given_up = {
                other
                for other in given_up
                if other in found and _is_current(known, other, found[other])
            }


def _may_tell(known: Known, b: int) -> bool:
    """Whether the sets of a bin can exclude anything: some package of it has a pair unproved."""
    inside = known.possible[:, b]
    return bool((known.possible[inside] & ~known.proved[inside]).any())


def _filter(known: Known, b: int, of_bin: Sets) -> None:
    """Keep those sets of a bin that agree with what has been excluded since."""
    if of_bin.sets is None:
        return
    outside = words_of(~known.possible[:, b])
    inside = words_of(_forced(known, b))
    keep = ((of_bin.sets & outside) == 0).all(axis=1) & ((inside & ~of_bin.sets) == 0).all(axis=1)
    of_bin.sets = of_bin.sets[keep]
    if not len(of_bin.sets):
        return
    masks = masks_of(of_bin.sets, known.instance.packages)
    if (masks.any(axis=0) == known.possible[:, b]).all():
        tight = known.possible[:, b].tobytes() + _forced(known, b).tobytes()
        if (masks.all(axis=0) == _forced(known, b)).all():
            of_bin.candidates = tight


def _enumerated(
    instance: Instance, b: int, candidates: Bools, forced: Bools, budget: int, effort: Effort
) -> tuple[bool, int, Words, Words, Words]:
    from divulge.reconstruction.subset_sum import depth_first_kernels

    words = (instance.packages + 63) // 64
    most_sets = max(64, MOST_WORDS // words)
    if budget > BUDGETS[0]:
        met = _all_sets(instance, b, candidates, forced, budget, most_sets, effort)
        if met is None:
            nothing = words_of(np.zeros(instance.packages, bool))
            return False, 0, nothing[None], nothing, nothing
        union = np.bitwise_or.reduce(met.telling, axis=0)
        common = np.bitwise_and.reduce(met.telling, axis=0)
        return True, met.count, met.sets, union, common
    room = np.maximum(instance.high[b] - instance.low[b], 0) + 1
    spread = instance.amounts[candidates].sum(axis=0) / room
    lead = np.argsort(-spread)  # the attribute that tells most comes first
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    free = np.flatnonzero(candidates & ~forced)
    free = free[np.argsort(-amounts[free, 0], kind="stable")]
    tail = min(len(free), max(len(free) // 2, 4), LONGEST_TAIL, max(4, budget.bit_length() - 3))
    base = amounts[forced].sum(axis=0)
    complete, count, sets, union, common, steps = depth_first_kernels.fitting_sets(
        amounts,
        free,
        base,
        int(instance.held[b] + forced.sum()),
        np.ascontiguousarray(instance.low[b, lead]),
        np.ascontiguousarray(instance.high[b, lead]),
        np.ascontiguousarray(instance.widening[lead]),
        np.ascontiguousarray(instance.deeper[lead]),
        tail,
        words,
        budget,
        most_sets,
        NEVER,
    )
    work.charge(tuning.DEPTH_FIRST, steps + 2**tail)
    always = words_of(forced)
    return complete, count, sets | always, union | always, common | always


def _all_sets(
    instance: Instance,
    b: int,
    candidates: Bools,
    forced: Bools,
    budget: int,
    most_sets: int,
    effort: Effort,
) -> meet_in_middle.Fitting | None:
    """All sets of a bin by the way that is likely to list them, then by the other."""
    free, longest = int((candidates & ~forced).sum()), budget // meet_in_middle.STEPS_PER_SUM
    if free > FEW:
        steps = lattice_enumeration.steps_in(budget / STEPS_PER_SECOND)
        most_bits = math.log2(max(1, MORE_THAN_EXPECTED * steps))
        if expected_bits(instance, b, candidates, forced) <= most_bits:
            found = lattice_enumeration.fitting(instance, b, candidates, forced, steps, most_sets)
            if found is not None:
                return found
        if free > 2 * longest.bit_length() + WITHIN_REACH:
            return None
    return meet_in_middle.fitting(instance, b, candidates, forced, longest, most_sets, effort)
