"""Compile the kernels once, at set-up: `python -m divulge.reconstruction.warm`."""

from __future__ import annotations

from functools import cache

import numpy as np

from divulge import work


@cache
def warm() -> None:
    """Run every kernel on next to nothing, so that its machine code is there."""
    with work.uncharged():
        _run_all_kernels()


def _run_all_kernels() -> None:
    from divulge.reconstruction.counting import dp_shared_states, dynamic_program_kernels, two_bins
    from divulge.reconstruction.exact_cover import cover_search
    from divulge.reconstruction.local_search import (
        exchange_kernels,
        targeted_refill,
        two_bin_resplit_kernels,
    )
    from divulge.reconstruction.problem.instance import Instance
    from divulge.reconstruction.propagation import propagation_kernels, ratio_bounds
    from divulge.reconstruction.subset_sum import (
        depth_first_kernels,
        expected_count,
        lattice_enumeration,
        meet_in_middle_kernels,
    )

    one = np.ones((1, 1), np.int64)
    none = np.zeros((1, 2), np.int64)
    allowed, bin_counts = np.ones((1, 1), np.uint8), np.zeros(1, np.int64)
    arrays = one, one, one, none, none
    propagation_kernels.propagate(*arrays, allowed, bin_counts)
    propagation_kernels.connected_components(allowed)
    propagation_kernels.count_by_backtracking(
        *arrays, allowed, bin_counts, np.zeros(1, np.int64), 10
    )
    two, both = np.ones((1, 2), np.uint8), np.ones((2, 1), np.int64)
    where, few = np.zeros(1, np.int64), np.array([1])
    depth_first_kernels.enumerate_sets_depth_first(
        one, where, where, 0, few, few, none, none, 1, 1, 10, 1, 9
    )
    word = np.ones(1, np.uint64)
    meet_in_middle_kernels.extend_list(one, word, few, np.uint64(1), few, few)
    meet_in_middle_kernels.sort_within_windows(np.ones((1, 2), np.int64), word, 1)
    ends = few, few, few, few, none, none
    meet_in_middle_kernels.match_halves(one, word, one, word, 1, *ends, 0, 10, 1)
    start, proofs = np.zeros(1, np.int64), np.empty((1, 1), np.int16)
    exchange_kernels.exchange_packages(
        *arrays, allowed, bin_counts, start, allowed.copy(), proofs, 1, 1
    )
    dynamic_program_kernels.find_transitions(word[:, None], word[:, None], word, 1)
    meet_in_middle_kernels.count_splits(word[:, None], one, where, two, both, both, 2, 10)
    everything, nothing = np.ones(2, bool), np.zeros(2, bool)
    lattice_enumeration.enumerate_fitting_sets(
        Instance.from_intervals(both, both, both),
        0,
        everything,
        forced=nothing,
        most_steps=10,
        most_sets=1,
    )
    ratio_bounds.exclude_by_ratios(Instance.from_intervals(both, both, both), np.ones((2, 2), bool))
    split = Instance.from_intervals(np.ones((4, 1), np.int64), both, 3 * both)
    aim = targeted_refill.TargetedRefill(split, np.random.default_rng(1))
    place = np.array([0, 0, 1, 1])
    aim.find_allocations(place, split.allowed, place[:, None] == np.arange(2))
    expected_count.estimate_log2_sets(
        Instance.from_intervals(both, both, both), 0, everything, nothing
    )
    cover_search.BinSetLists(
        Instance.from_intervals(both, both, both), {0: word[:, None]}
    ).search_covers()
    tries = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64)
    walk = one, one, one, allowed, start, allowed.copy(), proofs, *tries
    two_bin_resplit_kernels.walk_allocations(*walk, 1, np.uint64(1), 1, 1, 1)
    two_bins.count_two_bins(split, split.allowed, 1e6, work.Effort(9))  # of any number of amounts
    dp_shared_states.split_states_at_once(split, np.ones((1, 4), bool), few, [0, 1], work.Effort(9))
