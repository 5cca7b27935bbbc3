"""Backtracking search for one allocation: bin after bin, that with fewest sets first.

A bin is filled with each of its sets in turn, and what is in it is taken away from the others; what
is left falls into connected components, and the last two bins are one question to the lattice. An
allocation that is found is a proof; if there is none, whatever was assumed is excluded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.bitsets import unpack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.components import build_component_instance, find_components
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.reconstruction.subset_sum.expected_count import estimate_log2_sets
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class FeasibilityAnswer:
    """An allocation if there is one; if not, whether that is sure."""

    allocation: Ints | None = None
    sure: bool = True


def find_allocation(
    instance: Instance,
    possible: Bools,
    effort: Effort,
    steps: int = tuning.FEASIBILITY_STEPS_TO_LIST,
) -> FeasibilityAnswer:
    """Look for an allocation within what is possible, with some effort.

    In how many steps the sets of a bin must be listed, or else there are too many.

    >>> low, high = np.array([[6], [5]]), np.array([[6], [5]])
    >>> one = Instance.from_intervals(np.array([[5], [4], [2]]), low, high)
    >>> find_allocation(one, one.allowed, Effort(1)).allocation.tolist()
    [1, 0, 0]
    """
    remaining = propagate(instance, possible)
    if remaining is None:
        return FeasibilityAnswer()
    possible = remaining
    place = possible.argmax(axis=1)
    sure = True
    # The part that is decided soonest first: it may show that there is none.
    for packages, bins in sorted(find_components(possible), key=lambda part: len(part[0])):
        part = build_component_instance(instance, possible, packages, bins)
        answer = _search_part(part, effort, steps)
        if answer.allocation is None and answer.sure:
            return answer
        sure &= answer.allocation is not None
        if answer.allocation is not None:
            place[packages] = bins[answer.allocation]
    return FeasibilityAnswer(place) if sure else FeasibilityAnswer(None, sure=False)


def _search_part(part: Instance, effort: Effort, steps: int) -> FeasibilityAnswer:
    work.charge(tuning.QUESTION)
    if effort.spent:
        return FeasibilityAnswer(None, sure=False)
    if part.bins == 2 and not part.counts_matter:
        return _search_two_bins(part, effort)
    b, sets = _list_fewest_sets(part, effort, steps)
    complete = sets is not None
    if sets is None:
        b, sets = _sample_sets(part, steps)
    for inside in sets:
        possible = part.allowed.copy()
        possible[inside] = False
        possible[:, b] = inside
        if not possible.any(axis=1).all():
            continue
        answer = find_allocation(part, possible, effort, steps)
        if answer.allocation is not None:
            return answer
        complete &= answer.sure
        if effort.spent:
            return FeasibilityAnswer(None, sure=False)
    return FeasibilityAnswer(None, sure=complete)


def _sample_sets(part: Instance, steps: int) -> tuple[int, Bools]:
    """Some sets of the bin with fewest candidates: where there are many, most lead somewhere."""
    settled = part.allowed.sum(axis=1) == 1
    b = _rank_bins(part, settled)[0][1]
    can, must = part.allowed[:, b], part.allowed[:, b] & settled
    random = np.random.default_rng(part.packages)
    fitting = lattice_enumeration.enumerate_fitting_sets(
        part,
        b,
        can,
        forced=must,
        most_steps=steps,
        most_sets=tuning.FEASIBILITY_MOST_SETS_TRIED,
        enough=tuning.FEASIBILITY_MOST_SETS_TRIED,
        random=random,
    )
    if fitting is None:
        return b, np.empty((0, part.packages), bool)
    return b, unpack_bitsets(fitting.sets, part.packages)


def _search_two_bins(part: Instance, effort: Effort) -> FeasibilityAnswer:
    low, high = part.complement_window(0, 1, part.amounts.sum(axis=0))
    if (low > high).any():
        return FeasibilityAnswer()
    one = replace(part, low=low[None], high=high[None])
    can, must = part.allowed[:, 0], ~part.allowed[:, 1]
    steps = (
        tuning.LATTICE_ENUMERATION.count_steps(min(tuning.FEASIBILITY_SPLIT_SECONDS, effort.left))
        + tuning.FEASIBILITY_STEPS_TO_LIST
    )
    fitting = _list_sets(one, 0, can, must=must, steps=steps, most=1, enough=1)
    if fitting is None:
        return FeasibilityAnswer(None, sure=False)
    if not fitting.count:
        return FeasibilityAnswer()
    inside = unpack_bitsets(fitting.sets[:1], part.packages)[0]
    return FeasibilityAnswer(np.where(inside, 0, 1))


def _list_fewest_sets(part: Instance, effort: Effort, steps: int) -> tuple[int, Bools | None]:
    """A bin with few sets, and all of them; None if there are too many."""
    best: tuple[int, meet_in_middle.FittingSets | None] = (-1, None)
    settled = part.allowed.sum(axis=1) == 1
    for bits, b in _rank_bins(part, settled)[: tuning.FEASIBILITY_MOST_BINS_LISTED]:
        if bits > math.log2(
            max(1, tuning.FEASIBILITY_EXPECTATION_MARGIN * min(steps, tuning.FEASIBILITY_MOST_SETS))
        ):
            break
        can, must = part.allowed[:, b], part.allowed[:, b] & settled
        fitting = _list_sets(
            part,
            b,
            can,
            must=must,
            steps=steps,
            most=tuning.FEASIBILITY_MOST_SETS,
            enough=tuning.FEASIBILITY_MOST_SETS + 1,
        )
        if fitting is None or not fitting.complete or fitting.count > tuning.FEASIBILITY_MOST_SETS:
            continue
        if best[1] is None or fitting.count < best[1].count:
            best = b, fitting
        if fitting.count <= 1 or effort.spent:
            break
    b, fewest = best
    if fewest is None:
        return b, None
    return b, unpack_bitsets(fewest.sets, part.packages)


def _rank_bins(part: Instance, settled: Bools) -> list[tuple[float, int]]:
    """Bins by how many sets they probably have, fewest first."""
    each = ((b, part.allowed[:, b]) for b in range(part.bins))
    return sorted((estimate_log2_sets(part, b, can, can & settled), b) for b, can in each)


def _list_sets(
    part: Instance, b: int, can: Bools, *, must: Bools, steps: int, most: int, enough: int | None
) -> meet_in_middle.FittingSets | None:
    if int((can & ~must).sum()) <= tuning.FEASIBILITY_MOST_MEETING_PACKAGES:
        return meet_in_middle.enumerate_sets_by_halves(
            part, b, can, forced=must, longest=tuning.FEASIBILITY_MOST_HALF_SUMS, most_sets=most
        )
    return lattice_enumeration.enumerate_fitting_sets(
        part, b, can, forced=must, most_steps=steps, most_sets=most, enough=enough
    )
