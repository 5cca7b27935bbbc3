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
    from divulge.reconstruction import (
        aiming,
        counting_kernels,
        covering,
        exchange_kernels,
        expected,
        fitting_kernels,
        halves_kernels,
        kernels,
        lattice,
        ratios,
        resplitting_kernels,
        sharing,
        two_bins,
    )
    from divulge.reconstruction.instance import Instance

    one = np.ones((1, 1), np.int64)
    none = np.zeros((1, 2), np.int64)
    allowed, held = np.ones((1, 1), np.uint8), np.zeros(1, np.int64)
    arrays = one, one, one, none, none
    kernels.propagate(*arrays, allowed, held)
    kernels.parts_of(allowed)
    kernels.backtrack(*arrays, allowed, held, np.zeros(1, np.int64), 10)
    two, both = np.ones((1, 2), np.uint8), np.ones((2, 1), np.int64)
    where, few = np.zeros(1, np.int64), np.array([1])
    fitting_kernels.fitting_sets(one, where, where, 0, few, few, none, none, 1, 1, 10, 1, 9)
    word = np.ones(1, np.uint64)
    halves_kernels.joined(one, word, few, np.uint64(1), few, few)
    halves_kernels.in_windows(np.ones((1, 2), np.int64), word, 1)
    ends = few, few, few, few, none, none
    halves_kernels.meeting(one, word, one, word, 1, *ends, 0, 10, 1)
    start, proofs = np.zeros(1, np.int64), np.empty((1, 1), np.int16)
    exchange_kernels.exchange(*arrays, allowed, held, start, allowed.copy(), proofs, 1, 1)
    counting_kernels.transitions(word[:, None], word[:, None], word, 1)
    halves_kernels.splits(word[:, None], one, where, two, both, both, 2, 10)
    everything, nothing = np.ones(2, bool), np.zeros(2, bool)
    lattice.fitting(Instance.of(both, both, both), 0, everything, nothing, 10, 1)
    ratios.narrowed(Instance.of(both, both, both), np.ones((2, 2), bool))
    split = Instance.of(np.ones((4, 1), np.int64), both, 3 * both)
    aim = aiming.Aim(split, np.random.default_rng(1))
    place = np.array([0, 0, 1, 1])
    aim.allocations(place, split.allowed, place[:, None] == np.arange(2))
    expected.expected_bits(Instance.of(both, both, both), 0, everything, nothing)
    covering.Lists(Instance.of(both, both, both), {0: word[:, None]}).covers()
    tries = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64)
    walk = one, one, one, allowed, start, allowed.copy(), proofs, *tries
    resplitting_kernels.walk(*walk, 1, np.uint64(1), 1, 1, 1)
    two_bins.counted(split, split.allowed, 1e6, work.Effort(9))  # of any number of amounts
    sharing.shared(split, np.ones((1, 4), bool), few, [0, 1], work.Effort(9))


if __name__ == "__main__":
    warm()
