"""Compile the kernels once, at set-up: `python -m divulge.reconstruction.warm`."""

from __future__ import annotations

from functools import cache

import numpy as np

from divulge import work


@cache
def warm() -> None:
    """Run every kernel on next to nothing, so that its machine code is there."""
    with work.uncharged():
        _run_all()


def _run_all() -> None:
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
    allowed, held = np.ones((1, 1), np.uint8), np.zeros(1, np.int64)
    arrays = one, one, one, none, none
    propagation_kernels.propagate(*arrays, allowed, held)
    propagation_kernels.parts_of(allowed)
    propagation_kernels.backtrack(*arrays, allowed, held, np.zeros(1, np.int64), 10)
    two, both = np.ones((1, 2), np.uint8), np.ones((2, 1), np.int64)
    where, few = np.zeros(1, np.int64), np.array([1])
    depth_first_kernels.fitting_sets(one, where, where, 0, few, few, none, none, 1, 1, 10, 1, 9)
    word = np.ones(1, np.uint64)
    meet_in_middle_kernels.joined(one, word, few, np.uint64(1), few, few)
    meet_in_middle_kernels.in_windows(np.ones((1, 2), np.int64), word, 1)
    ends = few, few, few, few, none, none
    meet_in_middle_kernels.meeting(one, word, one, word, 1, *ends, 0, 10, 1)
    start, proofs = np.zeros(1, np.int64), np.empty((1, 1), np.int16)
    exchange_kernels.exchange(*arrays, allowed, held, start, allowed.copy(), proofs, 1, 1)
    dynamic_program_kernels.transitions(word[:, None], word[:, None], word, 1)
    meet_in_middle_kernels.splits(word[:, None], one, where, two, both, both, 2, 10)
    everything, nothing = np.ones(2, bool), np.zeros(2, bool)
    lattice_enumeration.fitting(Instance.of(both, both, both), 0, everything, nothing, 10, 1)
    ratio_bounds.narrowed(Instance.of(both, both, both), np.ones((2, 2), bool))
    split = Instance.of(np.ones((4, 1), np.int64), both, 3 * both)
    aim = targeted_refill.Aim(split, np.random.default_rng(1))
    place = np.array([0, 0, 1, 1])
    aim.allocations(place, split.allowed, place[:, None] == np.arange(2))
    expected_count.expected_bits(Instance.of(both, both, both), 0, everything, nothing)
    cover_search.Lists(Instance.of(both, both, both), {0: word[:, None]}).covers()
    tries = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64)
    walk = one, one, one, allowed, start, allowed.copy(), proofs, *tries
    two_bin_resplit_kernels.walk(*walk, 1, np.uint64(1), 1, 1, 1)
    two_bins.counted(split, split.allowed, 1e6, work.Effort(9))  # of any number of amounts
    dp_shared_states.shared(split, np.ones((1, 4), bool), few, [0, 1], work.Effort(9))


if __name__ == "__main__":
    warm()
