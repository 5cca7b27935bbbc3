"""Records of which tables tell more together than by the places that each of them leaves.

Tables limit each other by sets of places. Where a record has a choice in two of them, its places in
both may hang together, and whoever adds up both tables at once may exclude more.
"""

from __future__ import annotations

import numpy as np

from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.problem.amounts import Bools
from divulge.reconstruction.propagation.redundant_amounts import tells


def coupled(levels: tuple[Level, ...], rows: int) -> Bools:
    """Records of instances of the finest table that have one with a choice in another table too.

    Args:
        levels: the tables as far as they are settled, the finest first.
        rows: how many records there are.
    """
    group_of = levels[0].matched.group_of
    # Records without totals have the number -1, and so a place of their own at the end.
    touched = np.zeros(len(levels[0].matched.groups) + 1, bool)
    touched[group_of[torn(levels, rows)]] = True
    touched[-1] = False
    return touched[group_of]


def torn(levels: tuple[Level, ...], rows: int) -> Bools:
    """Records with a choice in the finest table and in another."""
    if len(levels) == 1:
        return np.zeros(rows, bool)
    fine, *others = (_with_a_choice(level, rows) for level in levels)
    found: Bools = fine & np.any(others, axis=0)
    return found


def _with_a_choice(level: Level, rows: int) -> Bools:
    """Records with several places left in a table, or that it may leave out, if its totals tell.

    Totals so coarse that they allow whatever is left tell nothing that hangs together.
    """
    found = np.zeros(rows, bool)
    for n, group in enumerate(level.matched.groups):
        if level.is_unsound(n):
            continue  # nothing is concluded from it
        free, possible = level.discardable(n), level.possible[n]
        choice = possible.sum(axis=1) != 1
        choice = choice if free is None else choice | free
        if choice.any() and tells(level.instance(group, level.readings, possible)):
            found[group.records] = choice
    return found
