"""Rung 3b: whether a pair of package and bin is possible, one pair after the other.

First whether some set of the bin has it, then whether some allocation has, with more and more time
for each question. An allocation that is found proves other pairs too, and what is excluded makes
the questions after it easier.
"""

from __future__ import annotations

import numpy as np

from divulge.reconstruction.local_search.explore import Walk
from divulge.reconstruction.propagation.state import Known
from divulge.reconstruction.solving.feasibility_search import some_allocation
from divulge.reconstruction.subset_sum.bin_support import Support
from divulge.work import Effort

QUESTIONS = ((20_000, 0.03), (100_000, 0.15), (600_000, 0.6), (3_000_000, 2.5))
"""How much is tried to answer one question: steps for one bin, nominal seconds for all."""
FOR_ONE_BIN = 0.5
"""Of the time, for questions to one bin alone: they exclude much, or nothing for long."""
WALKING = 0.1
"""Of the time, for a walk from where the questions have led."""


def pair_by_pair(
    known: Known, support: Support, walk: Walk | None, first: int, effort: Effort
) -> None:
    """Ask for all pairs that are open; `first` is the round of questions to begin with."""
    for steps, at_most in QUESTIONS[first:]:
        if effort.spent or not known.narrow():
            return
        narrowed = support.narrow(known.possible, known.proved, steps, effort.share(FOR_ONE_BIN))
        known.infeasible = narrowed is None
        if narrowed is None:
            return
        known.possible = narrowed
        _ask_for_all(known, walk, steps, at_most, effort)
        if known.settled:
            return
        if walk is not None:
            walk.explore(known.possible, known.proved, effort.share(WALKING))


def _ask_for_all(
    known: Known, walk: Walk | None, steps: int, at_most: float, effort: Effort
) -> None:
    waiting = np.argwhere(known.possible & ~known.proved)
    # Large packages fit in few ways, so that they are decided soon, and that helps others.
    large_first = np.argsort(-known.instance.amounts[waiting[:, 0], 0], kind="stable")
    for package, b in waiting[large_first]:
        if known.proved[package, b] or not known.possible[package, b]:
            continue
        if effort.spent:
            return
        assumed = known.possible.copy()
        assumed[package] = False
        assumed[package, b] = True
        answer = some_allocation(known.instance, assumed, effort.part(at_most), steps)
        if answer.allocation is not None:
            known.enter(answer.allocation.astype(np.int16)[None])
            if walk is not None:
                walk.place = answer.allocation.astype(np.int64)
        elif answer.sure:
            pair = np.zeros_like(known.possible)
            pair[package, b] = True
            if not known.exclude(pair):
                return
