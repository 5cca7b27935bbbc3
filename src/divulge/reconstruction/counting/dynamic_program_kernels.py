"""Kernel of the dynamic program: transitions, which are the sets of a bin within a state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel

INITIAL_ROOM = 1024  # transitions that there is room for at first


@kernel
def find_transitions(
    states: NDArray[Any], sets: NDArray[Any], must: NDArray[Any], most: int
) -> tuple[bool, NDArray[Any], NDArray[Any]]:
    """All (state, set) pairs where the set is in the state and has what the state must give.

    False if there are more than `most`.

    Invariant: the first `count` entries are all transitions before this state and set, in their
    order.
    """
    words = states.shape[1]
    source = np.empty(INITIAL_ROOM, np.int64)
    set_rows = np.empty(INITIAL_ROOM, np.int64)
    count = 0
    for state in range(states.shape[0]):
        for row in range(sets.shape[0]):
            bad = np.uint64(0)
            for w in range(words):
                bad |= sets[row, w] & ~states[state, w]
                bad |= states[state, w] & must[w] & ~sets[row, w]
            if bad != 0:
                continue
            if count == most:
                return False, source[:count], set_rows[:count]
            if count == source.shape[0]:
                more, also = np.empty(2 * count, np.int64), np.empty(2 * count, np.int64)
                more[:count] = source
                also[:count] = set_rows
                source, set_rows = more, also
            source[count] = state
            set_rows[count] = row
            count += 1
    return True, source[:count], set_rows[:count]
