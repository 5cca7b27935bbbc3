"""The loop of counting: which of a bin's sets are in what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel


@kernel
def transitions(
    states: NDArray[Any], sets: NDArray[Any], must: NDArray[Any], most: int
) -> tuple[bool, NDArray[Any], NDArray[Any]]:
    """All (state, set) pairs where the set is in the state and has what the state must give.

    False if there are more than `most`.
    """
    words = states.shape[1]
    source = np.empty(1024, np.int64)
    chosen = np.empty(1024, np.int64)
    found = 0
    for state in range(states.shape[0]):
        for row in range(sets.shape[0]):
            bad = np.uint64(0)
            for w in range(words):
                bad |= sets[row, w] & ~states[state, w]
                bad |= states[state, w] & must[w] & ~sets[row, w]
            if bad != 0:
                continue
            if found == most:
                return False, source[:found], chosen[:found]
            if found == source.shape[0]:
                more, also = np.empty(2 * found, np.int64), np.empty(2 * found, np.int64)
                more[:found] = source
                also[:found] = chosen
                source, chosen = more, also
            source[found] = state
            chosen[found] = row
            found += 1
    return True, source[:found], chosen[:found]
