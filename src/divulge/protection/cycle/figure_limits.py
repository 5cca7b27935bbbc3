"""Limits on what an adversary finds: as many alike as the figure needs, and no more cells hidden.

Such a limit is on a figure of the whole, so no record's change makes it hold by itself. Cells are
hidden until everybody has k that look alike, for a rising k, until the figure keeps to its limit.
That may be more than it needs: groups of records that look alike show their cells again, those
that lost most first, as many as the limit allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

import numpy as np

from divulge.classes.keys import assign_classes
from divulge.classes.people import find_people
from divulge.protection import tuning
from divulge.protection.changes.changes import build_code_matrix, hide_cells
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.cycle.count_limits import suppress_by_count
from divulge.protection.cycle.request import CycleRequest, CycleState
from divulge.protection.cycle.round_changes import list_cells
from divulge.protection.limits.per_record import Goal
from divulge.protection.suppression.equal_nulls import Codes
from divulge.work.arrays import Bools, Floats, Ints


def find_figure_cells(state: CycleState, goal: Goal, plan: CycleRequest) -> Bools | None:
    """By record and attribute, whether its cell is hidden; None if no number alike suffices."""
    if "suppress" not in plan.methods or find_people(state.current) is not None:
        return None
    names = list(goal.among)
    before = build_code_matrix(state.current, names)
    costs = np.array([float(plan.importance.get(name, 1.0)) for name in names])

    def is_held(hidden: Bools) -> bool:
        return state.measure(goal, hide_cells(state.current, list_cells(names, hidden))).held

    for k in list_figure_counts(state.current.rows, [goal]):
        counted = suppress_by_count(state, goal, plan, k=k)
        if counted is None:
            return None
        rows = build_code_matrix(counted, names)
        hidden: Bools = (rows == HIDDEN) & (before != HIDDEN)
        if is_held(hidden):
            return _show_groups(rows, hidden, hidden @ costs, is_held)
    return None


def list_figure_counts(records: int, goals: Sequence[Goal]) -> list[int]:
    """How many alike are tried, the fewest first; of a share, also as many as it is one in."""
    shares = [goal.limit.at_most for goal in goals]
    exact = {ceil(1 / share - 1e-9) for share in shares if share is not None and 0 < share < 1}
    return sorted(k for k in {*tuning.FIGURE_COUNTS, *exact} if 1 < k <= records)


def _show_groups(
    rows: Codes, hidden: Bools, lost: Floats, is_held: Callable[[Bools], bool]
) -> Bools:
    """The same with as many groups shown as the limit allows, who lost most of a record first."""
    codes = [rows[:, a].astype(np.int64) + 1 for a in range(rows.shape[1])]
    group = assign_classes(codes, [int(c.max(initial=0)) + 1 for c in codes], len(rows))
    place, dearest = rank_groups(group, lost, np.ones(len(rows)))

    def hide_from(first: int) -> Bools:
        """All groups but the dearest ones."""
        still: Bools = hidden & (place[group] >= first)[:, None]
        return still

    return hide_from(find_most_shown(dearest, lambda first: is_held(hide_from(first))))


def rank_groups(group: Ints, lost: Floats, records: Floats | Ints) -> tuple[Ints, int]:
    """By group, its place among those that lost most of a record; and how many lost anything.

    >>> rank_groups(np.array([0, 0, 1, 2]), np.array([0.5, 0.5, 0.0, 2.0]), np.ones(4))
    (array([1, 3, 0]), 2)
    """
    price = np.bincount(group, lost * records) / np.maximum(np.bincount(group, records), 1e-9)
    dearest = np.argsort(-price, kind="stable")[: int(np.count_nonzero(price))]
    place = np.full(price.size, price.size, np.int64)
    place[dearest] = np.arange(dearest.size)
    return place, int(dearest.size)


def find_most_shown(groups: int, is_held: Callable[[int], bool]) -> int:
    """How many groups can be shown: by halves, as if each that is shown only made it worse."""
    shown, refused = 0, groups + 1
    while refused - shown > 1:
        middle = (shown + refused) // 2
        if is_held(middle):
            shown = middle
        else:
            refused = middle
    return shown
