"""The ladder: from what is excluded at a glance to what takes a solver, rung by rung.

0. what one amount, two at once or wide bins together exclude, to a fixpoint, and one walk through
   all allocations if they are few;
1. the sets that fit into each bin, smallest bin first: what is in none is excluded, what is in
   all is forced;
2. the dynamic programme over these sets: the number of allocations, and exact shares; or all
   their exact covers, where the programme has too many states;
3. walks from an allocation that is known or made to others, and questions for one pair after the
   other, in turns with 1 and 2; then CP-SAT with pooled solutions.

What is `possible` has not been excluded; what is `proved` is in an allocation that is kept as a
certificate. Effort that is spent leaves a gap between the two; it never drops anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting.by_sets import BUDGETS, Sets, by_sets
from divulge.reconstruction.exact_cover.by_covers import Covers
from divulge.reconstruction.local_search.explore import Walk
from divulge.reconstruction.local_search.two_bin_resplit import construct
from divulge.reconstruction.problem.amounts import Bools, Ints, Shares
from divulge.reconstruction.problem.counts import Counted
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.solution import Solution, infeasible
from divulge.reconstruction.propagation.components import parts_of, restricted
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.propagation.ratio_bounds import narrowed
from divulge.reconstruction.propagation.redundant_amounts import telling
from divulge.reconstruction.propagation.state import Known
from divulge.reconstruction.solving.assembly import join_parts
from divulge.reconstruction.solving.cp_sat_pool import pooled
from divulge.reconstruction.solving.pair_questions import pair_by_pair
from divulge.reconstruction.subset_sum.bin_support import Support
from divulge.work import Effort


@dataclass(frozen=True)
class Turn:
    """Sets, walks, covers and questions take turns; until when each, of the effort for an instance.

    Proofs that are found soon spare much: what is proved need not be excluded.
    """

    budgets: tuple[int, ...]
    sets: float
    walks: float
    covers: float
    questions: float
    first_question: int


TURNS = (
    Turn(BUDGETS[:2], 1.0, 0.1, 0.22, 0.3, 0),
    Turn(BUDGETS[2:4], 0.4, 0.6, 0.8, 0.9, 1),
    Turn(BUDGETS[4:], 0.9, 0.95, 0.95, 0.98, 2),
)
TURNS_OF_MANY = (
    Turn(BUDGETS[:2], 0.3, 0.6, 0.6, 0.8, 0),
    Turn(BUDGETS[2:3], 0.9, 1.0, 1.0, 1.0, 1),
)
"""Where there are many pairs, few can be excluded, and most of the effort is for proofs."""
MANY_PAIRS = 800
FEW_WAYS = 25.0
"""Up to which power of ten ways are counted, even if walks have settled all pairs before."""
MOST_PAIRS_ASKED = 1_500
WALK = 30_000
TRIES = 300_000
A_SMALL_WHILE = 0.1


def solve(
    instance: Instance,
    seconds: float = 10.0,
    prior: Shares | None = None,
    truth: Ints | None = None,
    solver: bool = True,
    earlier: Ints | None = None,
    counting: bool = True,
) -> Solution:
    """Climb the ladder as far as needed, with some effort.

    Args:
        instance: packages, bins and what they allow.
        seconds: the effort, in nominal seconds; what is then not settled stays open.
        prior: how probable each bin is for each package before.
        truth: an allocation that is known to be right: exchanges start from it.
        solver: whether CP-SAT is asked where the rest does not suffice.
        earlier: allocations that were found before, one per row; those that hold are proofs.
        counting: whether few allocations are counted even if all pairs are settled without it.
    """
    effort = Effort(seconds)
    work.charge(tuning.CONSTRUCTION, instance.allowed.size)
    instance = telling(instance)
    possible = _at_a_glance(instance)
    if possible is None:
        return infeasible(instance, effort.used)
    parts = parts_of(possible)
    proofs = np.empty((0, instance.packages), np.int64) if earlier is None else earlier
    proofs = proofs[instance.hold(proofs)]
    solved = []
    for packages, bins in parts:
        part = telling(restricted(instance, possible, packages, bins))
        known = _solve_part(
            part,
            effort.left,
            None if prior is None else prior[np.ix_(packages, bins)],
            None if truth is None else _relabelled(truth, packages, bins),
            solver,
            np.searchsorted(bins, proofs[:, packages]),
            counting,
        )
        if known.infeasible:
            return infeasible(instance, effort.used)
        solved.append((packages, bins, known))
    return join_parts(instance, possible, solved, effort.used)


def _at_a_glance(instance: Instance) -> Bools | None:
    """What is not excluded at a glance; None if nothing is left."""
    possible = propagate(instance, instance.allowed)
    if possible is None:
        return None
    if np.log10(possible.sum(axis=1)).sum() <= math.log10(max(WALK, 1)):
        return possible  # all allocations are walked through anyway
    return narrowed(instance, possible)


def _relabelled(truth: Ints, packages: Ints, bins: Ints) -> Ints | None:
    place = {int(b): number for number, b in enumerate(bins)}
    found = [place.get(int(b), -1) for b in truth[packages]]
    return None if -1 in found else np.array(found, np.int64)


def _solve_part(
    instance: Instance,
    seconds: float,
    prior: Shares | None,
    truth: Ints | None,
    solver: bool,
    earlier: Ints,
    counting: bool,
) -> Known:
    known = Known.nothing_of(instance)
    effort = Effort(seconds)
    if prior is None and _walked(known):
        return known
    known.enter_new(earlier)
    sets: dict[int, Sets] = {}
    _climb(known, sets, effort, prior, truth, solver)
    if counting and known.counted is None and _few_ways(known):
        by_sets(known, sets, BUDGETS[1:], effort, prior, to_count=True)
    return known


def _few_ways(known: Known) -> bool:
    """Whether all pairs are settled, and there are few ways to choose among them."""
    if not known.closed or known.infeasible:
        return False
    return bool(np.log10(known.possible.sum(axis=1)).sum() <= FEW_WAYS)


def _climb(
    known: Known,
    sets: dict[int, Sets],
    effort: Effort,
    prior: Shares | None,
    truth: Ints | None,
    solver: bool,
) -> None:
    """Rungs 1 to 3 in turns, until all is settled or the effort is spent."""
    instance = known.instance
    support = Support(instance)
    covers = Covers(_left)
    walk = None
    many = known.possible.sum() > MANY_PAIRS
    for turn in TURNS_OF_MANY if many else TURNS:
        by_sets(known, sets, turn.budgets, effort.until(turn.sets), prior)
        if known.settled and (prior is None or known.counted or known.infeasible):
            return
        if walk is None:
            walk = _start(known, truth, effort.until(turn.walks))
        if walk is not None:
            walk.explore(known.possible, known.proved, effort.until(turn.walks))
        if prior is None and not known.settled:
            covers.explore(known, sets, effort.until(turn.covers))
        if prior is None and not known.settled:
            pair_by_pair(known, support, walk, turn.first_question, effort.until(turn.questions))
        if prior is None and known.settled:
            return
    if solver and not known.closed:
        _asked(known, walk, effort)


def _start(known: Known, truth: Ints | None, effort: Effort) -> Walk | None:
    """Where other allocations are looked for: from the truth, or from one that is made up."""
    instance = known.instance
    if truth is not None and instance.holds(truth):
        known.enter(truth[None].astype(np.int16))
        _exchanged(known, truth)
        return Walk(instance, truth, known.enter, _soon)
    if known.certificates:
        return Walk(instance, known.certificates[-1], known.enter, _soon)
    made = construct(instance, known.possible, effort)
    if made is None:
        return None
    known.enter(made.astype(np.int16)[None])
    return Walk(instance, made, known.enter, _soon)


def _soon(instance: Instance, effort: Effort) -> Ints:
    """Allocations of a small instance: all of its pairs, or those that are found at once."""
    known = Known.nothing_of(instance)
    if not _walked(known):
        by_sets(known, {}, BUDGETS[:2], effort, None, in_full=False)
    return np.array(known.certificates, np.int64).reshape(-1, instance.packages)


def _left(instance: Instance, seconds: float) -> Solution:
    """What is left to a few bins, with next to no effort."""
    return solve(instance, min(A_SMALL_WHILE, seconds), solver=False)


def _walked(known: Known) -> bool:
    """Rung 0: all allocations, one by one; False if there are too many."""
    from divulge.reconstruction.propagation import propagation_kernels

    instance = known.instance
    if instance.packages > 200:
        return False
    # Large packages first, those with few bins before: they decide most.
    spread = np.maximum(instance.amounts.sum(axis=0), 1)
    size = (instance.amounts / spread).sum(axis=1)
    order = np.lexsort((-size, instance.allowed.sum(axis=1) > 2))
    complete, total, pairs, proofs, kept, steps = propagation_kernels.backtrack(
        *instance.arrays, instance.allowed.astype(np.uint8), instance.held, order, WALK
    )
    work.charge(tuning.BACKTRACKING, steps)
    if not complete:
        known.enter(proofs[:kept])
        return False
    known.take(Counted(total, pairs, pairs / max(total, 1), proofs[:kept]))
    return True


def _exchanged(known: Known, start: Ints) -> None:
    """Rung 3a: other allocations near one that is known."""
    from divulge.reconstruction.local_search import exchange_kernels

    instance = known.instance
    room = int(known.possible.sum() - known.proved.sum())
    if not room:
        return
    proofs = np.empty((min(room, 4096) + 1, instance.packages), np.int16)
    proved = known.proved.astype(np.uint8)
    new, steps = exchange_kernels.exchange(
        *instance.arrays,
        known.possible.astype(np.uint8),
        instance.held,
        start.astype(np.int64),
        proved,
        proofs,
        1,
        TRIES,
    )
    work.charge(tuning.EXCHANGE, steps)
    known.enter(proofs[:new])


def _asked(known: Known, walk: Walk | None, effort: Effort) -> None:
    """Rung 3c: CP-SAT, as long as there is effort left; a walk from the first that it finds."""
    if effort.left <= 0.02 or known.possible.sum() > MOST_PAIRS_ASKED:
        return
    limited = known.instance.limited(known.possible)
    for of_package in pooled(limited, known.proved, effort):
        if of_package is None:
            known.infeasible = not known.proved.any()
            known.possible &= known.proved
            return
        known.enter(of_package[None])
        if walk is None:
            walk = Walk(known.instance, of_package, known.enter, _soon)
            walk.explore(known.possible, known.proved, effort.share(0.6))
