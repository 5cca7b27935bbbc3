"""Compile the kernels once, at set-up: `python -m divulge.reconstruction.warm`."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def warm() -> None:
    """Run every kernel on next to nothing, so that its machine code is there."""
    from divulge.reconstruction import kernels

    one = np.ones((1, 1), np.int64)
    none = np.zeros((1, 2), np.int64)
    allowed, held = np.ones((1, 1), np.uint8), np.zeros(1, np.int64)
    arrays = one, one, one, none, none
    kernels.propagate(*arrays, allowed, held)
    kernels.parts_of(allowed)
    kernels.backtrack(*arrays, allowed, held, np.zeros(1, np.int64), 10)
    where, few = np.zeros(1, np.int64), np.array([1])
    kernels.fitting_sets(one, where, where, 0, few, few, none, none, 1, 1, 10, 1, 9)
    word, both = np.ones(1, np.uint64), np.ones(2, np.int64)
    halves = one, word, few, one, word, few, few, where, both, 1, few, few, few, few
    kernels.meeting_halves(*halves, none, none, 0, 10, 1)
    start, proofs = np.zeros(1, np.int64), np.empty((1, 1), np.int16)
    kernels.exchange(*arrays, allowed, held, start, allowed.copy(), proofs, 1, 1)


if __name__ == "__main__":
    warm()
