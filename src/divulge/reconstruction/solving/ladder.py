"""The ladder of methods for one instance: from bounds propagation to CP-SAT, rung by rung.

0. what one amount, two at once or wide bins together exclude, to a fixpoint, and one walk through
   all allocations if they are few;
1. the sets that fit each bin, smallest bin first: what is in none is excluded, what is in
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

import numpy as np

from divulge import work
from divulge.reconstruction import tuning
from divulge.reconstruction.counting.fitting_sets import BinSets, solve_by_sets
from divulge.reconstruction.exact_cover.cover_rung import CoverSolver
from divulge.reconstruction.local_search.explore import LocalSearch
from divulge.reconstruction.local_search.two_bin_resplit import construct_allocation
from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.solution import InstanceSolution, build_infeasible_solution
from divulge.reconstruction.propagation.components import build_component_instance, find_components
from divulge.reconstruction.propagation.propagation import propagate
from divulge.reconstruction.propagation.ratio_bounds import exclude_by_ratios
from divulge.reconstruction.propagation.redundant_amounts import drop_redundant_amounts
from divulge.reconstruction.propagation.state import SearchState
from divulge.reconstruction.solving.assembly import join_parts
from divulge.reconstruction.solving.cp_sat_pool import enumerate_new_allocations
from divulge.reconstruction.solving.pair_questions import decide_pairs
from divulge.reconstruction.subset_sum.bin_support import BinSupport
from divulge.work import Effort
from divulge.work.arrays import Bools, Floats, Ints


def solve_instance(
    instance: Instance,
    seconds: float = 10.0,
    prior: Floats | None = None,
    *,
    truth: Ints | None = None,
    solver: bool = True,
    earlier: Ints | None = None,
    counting: bool = True,
) -> InstanceSolution:
    """Climb the ladder as far as needed, with some effort.

    Args:
        instance: packages, bins and what they allow.
        seconds: the effort, in nominal seconds; what is then not settled stays open.
        prior: how probable each bin is for each package before.
        truth: an allocation that is known to be right: exchanges start from it.
        solver: whether CP-SAT is used where the rest does not suffice.
        earlier: allocations that were found before, one per row; those that hold are proofs.
        counting: whether few allocations are counted even if all pairs are settled without it.
    """
    effort = Effort(seconds)
    work.charge(tuning.CONSTRUCTION, instance.allowed.size)
    instance = drop_redundant_amounts(instance)
    possible = _exclude_by_bounds(instance)
    if possible is None:
        return build_infeasible_solution(instance, effort.used)
    parts = find_components(possible)
    proofs = np.empty((0, instance.packages), np.int64) if earlier is None else earlier
    proofs = proofs[instance.are_allocations(proofs)]
    solved_parts = []
    for packages, bins in parts:
        part = drop_redundant_amounts(build_component_instance(instance, possible, packages, bins))
        state = _solve_part(
            part,
            effort.left,
            None if prior is None else prior[np.ix_(packages, bins)],
            truth=None if truth is None else _relabel_truth(truth, packages, bins),
            solver=solver,
            earlier=np.searchsorted(bins, proofs[:, packages]),
            counting=counting,
        )
        if state.infeasible:
            return build_infeasible_solution(instance, effort.used)
        solved_parts.append((packages, bins, state))
    return join_parts(instance, possible, solved_parts, effort.used)


def _exclude_by_bounds(instance: Instance) -> Bools | None:
    """What is not excluded at a glance; None if nothing is left."""
    possible = propagate(instance, instance.allowed)
    if possible is None:
        return None
    if np.log10(possible.sum(axis=1)).sum() <= math.log10(
        max(tuning.LADDER_MOST_BACKTRACK_STEPS, 1)
    ):
        return possible  # all allocations are walked through anyway
    return exclude_by_ratios(instance, possible)


def _relabel_truth(truth: Ints, packages: Ints, bins: Ints) -> Ints | None:
    place = {int(b): number for number, b in enumerate(bins)}
    labels = [place.get(int(b), -1) for b in truth[packages]]
    return None if -1 in labels else np.array(labels, np.int64)


def _solve_part(
    instance: Instance,
    seconds: float,
    prior: Floats | None,
    *,
    truth: Ints | None,
    solver: bool,
    earlier: Ints,
    counting: bool,
) -> SearchState:
    state = SearchState.from_instance(instance)
    effort = Effort(seconds)
    if prior is None and _enumerate_all(state):
        return state
    state.add_new_certificates(earlier)
    sets: dict[int, BinSets] = {}
    _climb_rungs(state, sets, effort, prior=prior, truth=truth, solver=solver)
    if counting and state.allocation_counts is None and _has_few_ways(state):
        solve_by_sets(
            state, sets, tuning.SETS_BUDGETS[1:], effort=effort, prior=prior, to_count=True
        )
    return state


def _has_few_ways(state: SearchState) -> bool:
    """Whether all pairs are settled, and there are few ways to choose among them."""
    if not state.is_closed or state.infeasible:
        return False
    return bool(np.log10(state.possible.sum(axis=1)).sum() <= tuning.LADDER_MOST_LOG_WAYS)


def _climb_rungs(
    state: SearchState,
    sets: dict[int, BinSets],
    effort: Effort,
    *,
    prior: Floats | None,
    truth: Ints | None,
    solver: bool,
) -> None:
    """Rungs 1 to 3 in turns, until all is settled or the effort is spent."""
    instance = state.instance
    support = BinSupport(instance)
    covers = CoverSolver(_solve_remainder)
    walk = None
    many = state.possible.sum() > tuning.LADDER_MANY_PAIRS
    for turn in tuning.LADDER_SCHEDULE_MANY_PAIRS if many else tuning.LADDER_SCHEDULE:
        solve_by_sets(state, sets, turn.budgets, effort=effort.until(turn.sets), prior=prior)
        if state.is_settled and (prior is None or state.allocation_counts or state.infeasible):
            return
        if walk is None:
            walk = _start_local_search(state, truth, effort.until(turn.walks))
        if walk is not None:
            walk.explore_allocations(state.possible, state.proved, effort.until(turn.walks))
        if prior is None and not state.is_settled:
            covers.explore_covers(state, sets, effort.until(turn.covers))
        if prior is None and not state.is_settled:
            decide_pairs(state, support, walk, turn.first_question, effort.until(turn.questions))
        if prior is None and state.is_settled:
            return
    if solver and not state.is_closed:
        _ask_cp_sat(state, walk, effort)


def _start_local_search(
    state: SearchState, truth: Ints | None, effort: Effort
) -> LocalSearch | None:
    """Where other allocations are looked for: from the truth, or from one that is made up."""
    instance = state.instance
    if truth is not None and instance.is_allocation(truth):
        state.add_certificates(truth[None].astype(np.int16))
        _exchange_packages(state, truth)
        return LocalSearch(instance, truth, state.add_certificates, _find_quick_allocations)
    if state.certificates:
        return LocalSearch(
            instance, state.certificates[-1], state.add_certificates, _find_quick_allocations
        )
    allocation = construct_allocation(instance, state.possible, effort)
    if allocation is None:
        return None
    state.add_certificates(allocation.astype(np.int16)[None])
    return LocalSearch(instance, allocation, state.add_certificates, _find_quick_allocations)


def _find_quick_allocations(instance: Instance, effort: Effort) -> Ints:
    """Allocations of a small instance: all of its pairs, or those that are found at once."""
    state = SearchState.from_instance(instance)
    if not _enumerate_all(state):
        solve_by_sets(state, {}, tuning.SETS_BUDGETS[:2], effort=effort, prior=None, in_full=False)
    return np.array(state.certificates, np.int64).reshape(-1, instance.packages)


def _solve_remainder(instance: Instance, seconds: float) -> InstanceSolution:
    """What is left to a few bins, with next to no effort."""
    return solve_instance(instance, min(tuning.LADDER_REMAINDER_SECONDS, seconds), solver=False)


def _enumerate_all(state: SearchState) -> bool:
    """Rung 0: all allocations, one by one; False if there are too many."""
    from divulge.reconstruction.propagation import propagation_kernels

    instance = state.instance
    if instance.packages > tuning.LADDER_MOST_BACKTRACK_PACKAGES:
        return False
    # Large packages first, those with few bins before: they decide most.
    spread = np.maximum(instance.amounts.sum(axis=0), 1)
    size = (instance.amounts / spread).sum(axis=1)
    order = np.lexsort((-size, instance.allowed.sum(axis=1) > 2))
    complete, total, pairs, proofs, proof_count, steps = propagation_kernels.count_by_backtracking(
        *instance.arrays,
        instance.allowed.astype(np.uint8),
        instance.already_in_bin,
        order,
        tuning.LADDER_MOST_BACKTRACK_STEPS,
    )
    work.charge(tuning.BACKTRACKING, steps)
    if not complete:
        state.add_certificates(proofs[:proof_count])
        return False
    state.set_count(AllocationCounts(total, pairs, pairs / max(total, 1), proofs[:proof_count]))
    return True


def _exchange_packages(state: SearchState, start: Ints) -> None:
    """Rung 3a: other allocations near one that is known."""
    from divulge.reconstruction.local_search import exchange_kernels

    instance = state.instance
    room = int(state.possible.sum() - state.proved.sum())
    if not room:
        return
    proofs = np.empty(
        (min(room, tuning.LADDER_MOST_EXCHANGE_PROOFS) + 1, instance.packages), np.int16
    )
    proved = state.proved.astype(np.uint8)
    new, steps = exchange_kernels.exchange_packages(
        *instance.arrays,
        state.possible.astype(np.uint8),
        instance.already_in_bin,
        start.astype(np.int64),
        proved,
        proofs,
        1,
        tuning.LADDER_MOST_EXCHANGE_TRIES,
    )
    work.charge(tuning.EXCHANGE, steps)
    state.add_certificates(proofs[:new])


def _ask_cp_sat(state: SearchState, walk: LocalSearch | None, effort: Effort) -> None:
    """Rung 3c: CP-SAT, as long as there is effort left; a walk from the first that it finds."""
    if effort.left <= tuning.LADDER_LEAST_CP_SAT_SECONDS:
        return
    if state.possible.sum() > tuning.LADDER_MOST_CP_SAT_PAIRS:
        return
    open_instance = state.instance.restricted_to(state.possible)
    for of_package in enumerate_new_allocations(open_instance, state.proved, effort):
        if of_package is None:
            state.infeasible = not state.proved.any()
            state.possible &= state.proved
            return
        state.add_certificates(of_package[None])
        if walk is None:
            walk = LocalSearch(
                state.instance, of_package, state.add_certificates, _find_quick_allocations
            )
            walk.explore_allocations(
                state.possible, state.proved, effort.share(tuning.LADDER_WALK_SHARE)
            )
