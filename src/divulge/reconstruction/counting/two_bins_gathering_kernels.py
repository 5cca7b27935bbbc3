"""Kernels that list the sums X + Y of two lists, slab by slab of the leading amount.

The sums are all sums of an element of one list and an element of the other; they are never there
all at once. A run is one element of the first list with a stretch of the second that is in order of
the leading amount, and remembers how far it has got.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.engines import kernel


@kernel
def skip_runs_below(
    run_first: NDArray[Any],
    run_at: NDArray[Any],
    run_end: NDArray[Any],
    run_next: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    begin: int,
    past: Any,
) -> None:
    """Move every run to its first sum whose leading amount is not less than begin.

    Invariant: all runs before this one stand at their first sum from `begin` on.
    """
    for run in range(run_first.shape[0]):
        lead = first[run_first[run], 0]
        at = find_first_from(second, run_at[run], run_end[run], begin - lead)
        run_at[run] = at
        run_next[run] = lead + second[at, 0] if at < run_end[run] else past


@kernel
def find_first_from(second: NDArray[Any], low: Any, high: Any, least: int) -> Any:
    """The first place from low to high whose leading amount is not less, by binary search.

    Invariant: places before `low` are less than `least`, places from `high` on are not.
    """
    while low < high:
        middle = (low + high) // 2
        if second[middle, 0] < least:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def gather_sums(
    run_first: NDArray[Any],
    run_at: NDArray[Any],
    run_end: NDArray[Any],
    run_next: NDArray[Any],
    run_other: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    band: int,
    begin: int,
    least: NDArray[Any],
    most: NDArray[Any],
    past: Any,
    moved_at: NDArray[Any],
    moved_next: NDArray[Any],
    leads: NDArray[Any],
    others: NDArray[Any],
    elements: NDArray[Any],
) -> int:
    """The sums whose leading amount is from begin on, for as many as there are limits.

    Only those whose other amount is from least to most, as the leading one has it. Enters leading
    amounts from begin on, other amounts and, as one number, which elements a sum is of: the number
    of the one of the first list times 2^32, and of the second. How far runs get is moved_at and
    moved_next. Says how many there are, or -1 if there is no room for them.

    Invariant: the first n entries are the sums within the limits of all runs before this one, and
    of this one up to `at`; `moved_at` of a run before is its first sum beyond the slab, unless it
    is out of reach and stays behind.
    """
    length = least.shape[0]
    end = begin + length
    lowest, highest = least.min(), most.max()
    n, room = 0, leads.shape[0]
    for run in range(run_first.shape[0]):
        moved_at[run] = run_at[run]
        moved_next[run] = run_next[run]
        # A run that is out of reach stays behind until it may be of interest.
        out_of_reach = run_other[run] > highest or run_other[run] + band <= lowest
        if run_next[run] >= end or out_of_reach:
            continue
        element = np.int64(run_first[run])
        lead = first[element, 0] - begin
        other = first[element, 1]
        at, beyond = np.int64(run_at[run]), np.int64(run_end[run])
        if run_next[run] < begin:
            at = find_first_from(second, at, beyond, -lead)
        while at < beyond:
            here = lead + second[at, 0]
            if here >= length:
                break
            if n == room:
                return -1
            total = other + second[at, 1]
            leads[n] = here
            others[n] = total
            elements[n] = (element << 32) | at
            n += (total >= least[here]) & (total <= most[here])
            at += 1
        moved_at[run] = at
        moved_next[run] = first[element, 0] + second[at, 0] if at < beyond else past
    return n


@kernel
def bound_needs(
    leads: NDArray[Any], others: NDArray[Any], length: int, window: int, width: int, never: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """From where to where a need's other amount can be, for each leading amount, to be met.

    Invariant: after both passes, `low[t]` is the least other amount of the points from t to the end
    of its block (blocks are as long as the window), and `low_before[t]` that from the beginning of
    the block to t: a window is an end of one block and a beginning of the next (sliding window
    minimum by van Herk and Gil-Werman). The same for `high`.
    """
    whole = length + window
    low, high = np.full(whole, never), np.full(whole, -never)
    for point in range(leads.shape[0]):
        low[leads[point]] = min(low[leads[point]], others[point])
        high[leads[point]] = max(high[leads[point]], others[point])
    # Of all windows: what is least from a place to the end of its block, and from the begin.
    low_before, high_before = low.copy(), high.copy()
    for t in range(1, whole):
        if t % window:
            low_before[t] = min(low_before[t], low_before[t - 1])
            high_before[t] = max(high_before[t], high_before[t - 1])
    for t in range(whole - 2, -1, -1):
        if (t + 1) % window:
            low[t] = min(low[t], low[t + 1])
            high[t] = max(high[t], high[t + 1])
    least, most = np.empty(length, np.int64), np.empty(length, np.int64)
    for t in range(length):
        least[t] = min(low[t], low_before[t + window - 1]) - width + 1
        most[t] = max(high[t], high_before[t + window - 1])
    return least, most
