"""Records coupled across tables: where several tables together exclude more than each by itself.

Tables limit each other by sets of places. Where a record has a choice in two of them, its places in
both may be connected, and whoever adds up both tables at once may exclude more.
"""

from __future__ import annotations

import numpy as np

from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.propagation.redundant_amounts import has_binding_totals
from divulge.work.arrays import Bools


def find_coupled_records(levels: tuple[TableState, ...], rows: int) -> Bools:
    """Records of instances of the finest table that have one with a choice in another table too.

    Args:
        levels: the tables as far as they are settled, the finest first.
        rows: how many records there are.
    """
    group_of = levels[0].totals_match.group_of
    # Records without totals have the number -1, and so a place of their own at the end.
    touched = np.zeros(len(levels[0].totals_match.groups) + 1, bool)
    touched[group_of[find_records_open_in_several(levels, rows)]] = True
    touched[-1] = False
    return touched[group_of]


def find_records_open_in_several(levels: tuple[TableState, ...], rows: int) -> Bools:
    """Records with a choice in the finest table and in another."""
    if len(levels) == 1:
        return np.zeros(rows, bool)
    fine, *others = (_find_open_records(level, rows) for level in levels)
    is_open: Bools = fine & np.any(others, axis=0)
    return is_open


def _find_open_records(level: TableState, rows: int) -> Bools:
    """Records with several places left in a table, or that it may leave out, if its totals tell.

    Totals so coarse that they allow whatever is left tell nothing that hangs together.
    """
    is_open = np.zeros(rows, bool)
    for n, group in enumerate(level.totals_match.groups):
        if level.is_unsound(n):
            continue  # nothing is concluded from it
        free, possible = level.find_discardable(n), level.possible[n]
        has_choice = possible.sum(axis=1) != 1
        has_choice = has_choice if free is None else has_choice | free
        if has_choice.any() and has_binding_totals(
            level.build_instance(group, level.readings, possible)
        ):
            is_open[group.records] = has_choice
    return is_open
