"""Rung 3b: whether a pair of package and bin is possible, one pair after the other.

First whether some set of the bin has it, then whether some allocation has, with more and more time
for each question. An allocation that is found proves other pairs too, and what is excluded makes
the questions after it easier.
"""

from __future__ import annotations

import numpy as np

from divulge.reconstruction import tuning
from divulge.reconstruction.local_search.explore import LocalSearch
from divulge.reconstruction.propagation.state import SearchState
from divulge.reconstruction.solving.feasibility_search import find_allocation
from divulge.reconstruction.subset_sum.bin_support import BinSupport
from divulge.work import Effort


def decide_pairs(
    state: SearchState, support: BinSupport, walk: LocalSearch | None, first: int, effort: Effort
) -> None:
    """Ask for all pairs that are open; `first` is the round of questions to begin with."""
    for steps, seconds in tuning.QUESTION_LIMITS[first:]:
        if effort.spent or not state.exclude_by_ratios():
            return
        remaining = support.exclude_unsupported(
            state.possible, state.proved, steps, effort.share(tuning.QUESTION_ONE_BIN_SHARE)
        )
        state.infeasible = remaining is None
        if remaining is None:
            return
        state.possible = remaining
        _decide_open_pairs(state, walk, steps, seconds, effort)
        if state.is_settled:
            return
        if walk is not None:
            walk.explore_allocations(
                state.possible, state.proved, effort.share(tuning.QUESTION_WALK_SHARE)
            )


def _decide_open_pairs(
    state: SearchState, walk: LocalSearch | None, steps: int, seconds: float, effort: Effort
) -> None:
    open_pairs = np.argwhere(state.possible & ~state.proved)
    # Large packages fit in few ways, so that they are decided soon, and that helps others.
    large_first = np.argsort(-state.instance.amounts[open_pairs[:, 0], 0], kind="stable")
    for package, b in open_pairs[large_first]:
        if state.proved[package, b] or not state.possible[package, b]:
            continue
        if effort.spent:
            return
        assumption = state.possible.copy()
        assumption[package] = False
        assumption[package, b] = True
        answer = find_allocation(state.instance, assumption, effort.part(seconds), steps)
        if answer.allocation is not None:
            state.add_certificates(answer.allocation.astype(np.int16)[None])
            if walk is not None:
                walk.place = answer.allocation.astype(np.int64)
        elif answer.sure:
            pair = np.zeros_like(state.possible)
            pair[package, b] = True
            if not state.exclude_pairs(pair):
                return
