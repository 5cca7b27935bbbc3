"""Sets of packages that fit each bin, arc consistency between bins, then the dynamic program.

The sets that fit each bin, smallest bin first: what is in none of its sets is excluded, what is in
all is forced, and that narrows the other bins. Once all sets are known, but for two bins,
allocations are counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting import dynamic_program
from divulge.reconstruction.counting.two_bins_choice import (
    count_or_list_all,
    reduce_to_one_bin,
    to_allocation_counts,
)
from divulge.reconstruction.problem.bitsets import Bitsets, pack_bitsets, unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.state import SearchState
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.reconstruction.subset_sum.expected_count import estimate_log2_sets
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats

NO_LIMIT = 2**62


@dataclass
class BinSets:
    """The sets that fit into one bin, for the packages that could go there when they were made."""

    key: bytes
    sets: Bitsets | None
    count: int


def solve_by_sets(
    state: SearchState,
    bin_sets: dict[int, BinSets],
    budgets: Sequence[int],
    *,
    effort: Effort,
    prior: Floats | None,
    in_full: bool = True,
    to_count: bool = False,
) -> None:
    """Rungs 1 and 2, with budgets that grow.

    `in_full`: the allocations of two bins are counted even where they are too many to be listed.
    `to_count`: sets are wanted for the count, even of bins where nothing is left to exclude.
    """
    for budget in budgets:
        if budget / tuning.SETS_STEPS_PER_SECOND > effort.left:
            return
        if _can_count_two_bins(state, budget, prior):
            if _count_two_bins(state, budget, effort, in_full):
                return
            continue  # one bin by itself excludes less than both
        if not _prune_bins(state, bin_sets, budget, effort, to_count):
            state.infeasible = True
            return
        current = [
            bin_sets[b].sets if b in bin_sets and _is_current(state, b, bin_sets[b]) else None
            for b in range(state.instance.bins)
        ]
        unlisted = sum(of_bin is None for of_bin in current)
        if unlisted <= 2:
            if _count_allocations(state, current, effort, prior):
                return
            if unlisted == 0:
                return


def _count_allocations(
    state: SearchState, sets: Sequence[Bitsets | None], effort: Effort, prior: Floats | None
) -> bool:
    """Rung 2: the number of allocations, if it can be had with the effort."""
    list_sizes = tuple(-1 if of_bin is None else len(of_bin) for of_bin in sets)
    if list_sizes == state.uncounted_list_sizes:
        return False
    state.uncounted_list_sizes = list_sizes
    restricted = state.instance.restricted_to(state.possible)
    seconds = max(tuning.PROGRAM_LEAST_SECONDS, effort.left) / tuning.PROGRAM_EFFORT_DIVISOR
    counts = dynamic_program.count_allocations(restricted, sets, prior, seconds)
    if counts is None:
        return False
    state.set_count(counts)
    return True


def _can_count_two_bins(state: SearchState, budget: int, prior: Floats | None) -> bool:
    two = state.instance.bins == 2 and not state.instance.counts_matter
    return two and prior is None and budget > tuning.SETS_BUDGETS[0]


def _count_two_bins(state: SearchState, budget: int, effort: Effort, in_full: bool) -> bool:
    """Rung 2 where there are two bins: the sets of one whose complement fits the other."""
    instance, can, must = state.instance, state.possible[:, 0], ~state.possible[:, 1]
    fitting_sets = _list_all_sets(
        reduce_to_one_bin(instance), 0, can, forced=must, budget=budget, most_sets=0, effort=effort
    )
    counts = None if fitting_sets is None else to_allocation_counts(fitting_sets)
    in_full = (
        in_full
        and budget == tuning.SETS_BUDGETS[1]
        and instance.packages <= tuning.SETS_MOST_COUNTED_PACKAGES
    )
    if counts is None and in_full:
        counts = count_or_list_all(instance, state.possible, effort)
    if counts is not None:
        state.set_count(counts)
    return counts is not None


def list_bin_sets(state: SearchState, b: int, steps: int, most: int) -> BinSets | None:
    """All sets of a bin; None if there are more than `most`, or it takes more steps."""
    instance, candidates, forced = state.instance, state.possible[:, b], _find_forced(state, b)
    most = most // ((instance.packages + 63) // 64)
    fitting_sets = lattice_enumeration.enumerate_fitting_sets(
        instance, b, candidates, forced=forced, most_steps=steps, most_sets=most
    )
    if fitting_sets is None and (candidates & ~forced).sum() <= tuning.SETS_MOST_LISTED_AT_ONCE:
        fitting_sets = meet_in_middle.enumerate_sets_by_halves(
            instance,
            b,
            candidates,
            forced=forced,
            longest=2 ** (tuning.SETS_MOST_LISTED_AT_ONCE // 2),
            most_sets=most,
        )
    if fitting_sets is None or fitting_sets.count > most:
        return None
    return BinSets(
        build_sets_key(state, b), fitting_sets.sets[: fitting_sets.count], fitting_sets.count
    )


def estimate_log2_bin_sets(state: SearchState, b: int) -> float:
    """How many sets a bin probably has, as a power of 2."""
    return estimate_log2_sets(state.instance, b, state.possible[:, b], _find_forced(state, b))


def is_listed(state: SearchState, b: int, bin_sets: Mapping[int, BinSets]) -> bool:
    """Whether all sets of a bin are known, and nothing was excluded since."""
    return b in bin_sets and bin_sets[b].sets is not None and _is_current(state, b, bin_sets[b])


def build_sets_key(state: SearchState, b: int) -> bytes:
    """What the sets of a bin depend on: which packages may be in it, and which must."""
    return state.possible[:, b].tobytes() + _find_forced(state, b).tobytes()


def _is_current(state: SearchState, b: int, of_bin: BinSets) -> bool:
    return of_bin.key == build_sets_key(state, b)


def _find_forced(state: SearchState, b: int) -> Bools:
    forced: Bools = state.possible[:, b] & (state.possible.sum(axis=1) == 1)
    return forced


def _prune_bins(
    state: SearchState, bin_sets: dict[int, BinSets], budget: int, effort: Effort, to_count: bool
) -> bool:
    """Enumerate bin after bin, smallest first, until no bin excludes anything new."""
    instance = state.instance
    given_up: set[int] = set()
    while True:
        waiting = [
            b
            for b in range(instance.bins)
            if b not in given_up
            and not (b in bin_sets and _is_current(state, b, bin_sets[b]))
            and (to_count or _may_exclude(state, b))
        ]
        if not waiting or effort.spent:
            return True
        work.charge(tuning.QUESTION)
        b = min(waiting, key=lambda b: int(state.possible[:, b].sum()))
        candidates, forced = state.possible[:, b], _find_forced(state, b)
        complete, count, sets, union, common = _enumerate_sets(
            instance, b, candidates, forced=forced, budget=budget, effort=effort
        )
        if not complete:
            given_up.add(b)
            continue
        if count == 0:
            return False
        key = candidates.tobytes() + forced.tobytes()
        bin_sets[b] = BinSets(key, sets if count <= len(sets) else None, count)
        if count <= len(sets):
            bin_sets[b].sets = sets[:count]
        else:
            given_up.add(b)
        in_some = unpack_bitsets(union, instance.packages)
        in_all = unpack_bitsets(common, instance.packages)
        before = state.possible.sum()
        state.possible[:, b] &= in_some
        state.possible[in_all] = False
        state.possible[in_all, b] = True
        if state.possible.sum() != before:
            if not state.exclude_pairs(~state.possible):
                return False
            for other, of_bin in bin_sets.items():
                _filter_sets(state, other, of_bin)
            given_up = {
                other
                for other in given_up
                if other in bin_sets and _is_current(state, other, bin_sets[other])
            }


def _may_exclude(state: SearchState, b: int) -> bool:
    """Whether the sets of a bin can exclude anything: some package of it has a pair unproved."""
    inside = state.possible[:, b]
    return bool((state.possible[inside] & ~state.proved[inside]).any())


def _filter_sets(state: SearchState, b: int, of_bin: BinSets) -> None:
    """Keep those sets of a bin that agree with what has been excluded since."""
    if of_bin.sets is None:
        return
    outside = pack_bitsets(~state.possible[:, b])
    inside = pack_bitsets(_find_forced(state, b))
    keep = ((of_bin.sets & outside) == 0).all(axis=1) & ((inside & ~of_bin.sets) == 0).all(axis=1)
    of_bin.sets = of_bin.sets[keep]
    if not len(of_bin.sets):
        return
    masks = unpack_bitsets(of_bin.sets, state.instance.packages)
    if (masks.any(axis=0) == state.possible[:, b]).all():
        tight_key = state.possible[:, b].tobytes() + _find_forced(state, b).tobytes()
        if (masks.all(axis=0) == _find_forced(state, b)).all():
            of_bin.key = tight_key


def _enumerate_sets(
    instance: Instance, b: int, candidates: Bools, *, forced: Bools, budget: int, effort: Effort
) -> tuple[bool, int, Bitsets, Bitsets, Bitsets]:
    from divulge.reconstruction.subset_sum import depth_first_kernels

    words = (instance.packages + 63) // 64
    most_sets = max(tuning.SETS_FEWEST_KEPT, tuning.SETS_MOST_WORDS // words)
    if budget > tuning.SETS_BUDGETS[0]:
        fitting_sets = _list_all_sets(
            instance,
            b,
            candidates,
            forced=forced,
            budget=budget,
            most_sets=most_sets,
            effort=effort,
        )
        if fitting_sets is None:
            nothing = pack_bitsets(np.zeros(instance.packages, bool))
            return False, 0, nothing[None], nothing, nothing
        union = np.bitwise_or.reduce(fitting_sets.witnesses, axis=0)
        common = np.bitwise_and.reduce(fitting_sets.witnesses, axis=0)
        return True, fitting_sets.count, fitting_sets.sets, union, common
    room = np.maximum(instance.high[b] - instance.low[b], 0) + 1
    spread = instance.amounts[candidates].sum(axis=0) / room
    lead = np.argsort(-spread)  # the tightest attribute comes first
    amounts = np.ascontiguousarray(instance.amounts[:, lead])
    free = np.flatnonzero(candidates & ~forced)
    free = free[np.argsort(-amounts[free, 0], kind="stable")]
    tail = min(
        len(free),
        max(len(free) // 2, tuning.SETS_SHORTEST_TAIL),
        tuning.SETS_LONGEST_TAIL,
        max(tuning.SETS_SHORTEST_TAIL, budget.bit_length() - tuning.SETS_TAIL_BITS_BELOW_BUDGET),
    )
    base = amounts[forced].sum(axis=0)
    complete, count, sets, union, common, steps = depth_first_kernels.enumerate_sets_depth_first(
        amounts,
        free,
        base,
        int(instance.already_in_bin[b] + forced.sum()),
        np.ascontiguousarray(instance.low[b, lead]),
        np.ascontiguousarray(instance.high[b, lead]),
        np.ascontiguousarray(instance.slack_by_count[lead]),
        np.ascontiguousarray(instance.extra_above[lead]),
        tail,
        words,
        budget,
        most_sets,
        NO_LIMIT,
    )
    work.charge(tuning.DEPTH_FIRST, steps + 2**tail)
    always = pack_bitsets(forced)
    return complete, count, sets | always, union | always, common | always


def _list_all_sets(
    instance: Instance,
    b: int,
    candidates: Bools,
    *,
    forced: Bools,
    budget: int,
    most_sets: int,
    effort: Effort,
) -> meet_in_middle.FittingSets | None:
    """All sets of a bin by the way that is likely to list them, then by the other."""
    free, longest = int((candidates & ~forced).sum()), budget // tuning.MEET_IN_MIDDLE_STEPS_PER_SUM
    if free > tuning.SETS_MOST_LISTED_AT_ONCE:
        steps = tuning.LATTICE_ENUMERATION.count_steps(budget / tuning.SETS_STEPS_PER_SECOND)
        most_bits = math.log2(max(1, tuning.SETS_EXPECTATION_MARGIN * steps))
        if estimate_log2_sets(instance, b, candidates, forced) <= most_bits:
            fitting_sets = lattice_enumeration.enumerate_fitting_sets(
                instance, b, candidates, forced=forced, most_steps=steps, most_sets=most_sets
            )
            if fitting_sets is not None:
                return fitting_sets
        if free > 2 * longest.bit_length() + tuning.SETS_REACHABLE_EXTRA_PACKAGES:
            return None
    return meet_in_middle.enumerate_sets_by_halves(
        instance, b, candidates, forced=forced, longest=longest, most_sets=most_sets, effort=effort
    )
