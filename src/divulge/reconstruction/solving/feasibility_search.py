"""Is there an allocation at all? Bin after bin is filled with each of its sets.

The bin that has fewest sets comes first, and what stands in it is taken away from the others; what
is left falls into parts, and the last two bins are one question to the lattice. An allocation that
is found is a proof; if there is none, whatever was assumed is excluded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.bitsets import masks_of
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.components import parts_of, restricted
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.subset_sum import lattice_enumeration, meet_in_middle
from divulge.reconstruction.subset_sum.expected_count import expected_bits
from divulge.work import Effort

STEPS_TO_LIST = 30_000
MOST_SETS = 3_000
BINS_LISTED = 3
MORE_THAN_EXPECTED = 8
"""How many times too many sets may be expected of a bin that is listed all the same."""
SETS_TRIED = 3
LONGEST_SPLIT = 5.0
FEW = 20
SHORT_LIST = 20_000


@dataclass(frozen=True, eq=False)
class Answer:
    """An allocation if there is one; if not, whether that is sure."""

    allocation: Ints | None = None
    sure: bool = True


def some_allocation(
    instance: Instance, possible: Bools, effort: Effort, steps: int = STEPS_TO_LIST
) -> Answer:
    """Look for an allocation within what is possible, with some effort.

    In how many steps the sets of a bin must be listed, or else there are too many.

    >>> one = Instance.of(np.array([[5], [4], [2]]), np.array([[6], [5]]), np.array([[6], [5]]))
    >>> some_allocation(one, one.allowed, Effort(1)).allocation.tolist()
    [1, 0, 0]
    """
    left = propagate(instance, possible)
    if left is None:
        return Answer()
    possible = left
    place = possible.argmax(axis=1)
    sure = True
    # The part that is decided soonest first: it may show that there is none.
    for packages, bins in sorted(parts_of(possible), key=lambda part: len(part[0])):
        part = restricted(instance, possible, packages, bins)
        answer = _of_part(part, effort, steps)
        if answer.allocation is None and answer.sure:
            return answer
        sure &= answer.allocation is not None
        if answer.allocation is not None:
            place[packages] = bins[answer.allocation]
    return Answer(place) if sure else Answer(None, sure=False)


def _of_part(part: Instance, effort: Effort, steps: int) -> Answer:
    work.charge(tuning.QUESTION)
    if effort.spent:
        return Answer(None, sure=False)
    if part.bins == 2 and not part.counts_matter:
        return _of_two_bins(part, effort)
    b, sets = _fewest_sets(part, effort, steps)
    complete = sets is not None
    if sets is None:
        b, sets = _some_sets(part, steps)
    for inside in sets:
        possible = part.allowed.copy()
        possible[inside] = False
        possible[:, b] = inside
        if not possible.any(axis=1).all():
            continue
        answer = some_allocation(part, possible, effort, steps)
        if answer.allocation is not None:
            return answer
        complete &= answer.sure
        if effort.spent:
            return Answer(None, sure=False)
    return Answer(None, sure=complete)


def _some_sets(part: Instance, steps: int) -> tuple[int, Bools]:
    """Some sets of the bin with fewest candidates: where there are many, most lead somewhere."""
    settled = part.allowed.sum(axis=1) == 1
    b = _by_expected(part, settled)[0][1]
    can, must = part.allowed[:, b], part.allowed[:, b] & settled
    random = np.random.default_rng(part.packages)
    found = lattice_enumeration.fitting(part, b, can, must, steps, SETS_TRIED, SETS_TRIED, random)
    if found is None:
        return b, np.empty((0, part.packages), bool)
    return b, masks_of(found.sets, part.packages)


def _of_two_bins(part: Instance, effort: Effort) -> Answer:
    low, high = part.window_beside(0, 1, part.amounts.sum(axis=0))
    if (low > high).any():
        return Answer()
    one = replace(part, low=low[None], high=high[None])
    can, must = part.allowed[:, 0], ~part.allowed[:, 1]
    steps = lattice_enumeration.steps_in(min(LONGEST_SPLIT, effort.left)) + STEPS_TO_LIST
    found = _sets(one, 0, can, must, steps, 1, 1)
    if found is None:
        return Answer(None, sure=False)
    if not found.count:
        return Answer()
    inside = masks_of(found.sets[:1], part.packages)[0]
    return Answer(np.where(inside, 0, 1))


def _fewest_sets(part: Instance, effort: Effort, steps: int) -> tuple[int, Bools | None]:
    """A bin with few sets, and all of them; None if there are too many."""
    best: tuple[int, meet_in_middle.Fitting | None] = (-1, None)
    settled = part.allowed.sum(axis=1) == 1
    for bits, b in _by_expected(part, settled)[:BINS_LISTED]:
        if bits > math.log2(max(1, MORE_THAN_EXPECTED * min(steps, MOST_SETS))):
            break
        can, must = part.allowed[:, b], part.allowed[:, b] & settled
        found = _sets(part, b, can, must, steps, MOST_SETS, MOST_SETS + 1)
        if found is None or not found.complete or found.count > MOST_SETS:
            continue
        if best[1] is None or found.count < best[1].count:
            best = b, found
        if found.count <= 1 or effort.spent:
            break
    b, fewest = best
    if fewest is None:
        return b, None
    return b, masks_of(fewest.sets, part.packages)


def _by_expected(part: Instance, settled: Bools) -> list[tuple[float, int]]:
    """Bins by how many sets they probably have, fewest first."""
    each = ((b, part.allowed[:, b]) for b in range(part.bins))
    return sorted((expected_bits(part, b, can, can & settled), b) for b, can in each)


def _sets(
    part: Instance, b: int, can: Bools, must: Bools, steps: int, most: int, enough: int | None
) -> meet_in_middle.Fitting | None:
    if int((can & ~must).sum()) <= FEW:
        return meet_in_middle.fitting(part, b, can, must, SHORT_LIST, most)
    return lattice_enumeration.fitting(part, b, can, must, steps, most, enough)
