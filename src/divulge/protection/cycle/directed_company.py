"""Company for records of which rules hide something: others that hide the same.

Whoever alone hides a value looks rare in the file, and would be removed in the end, since relations
might complete it so. A few others who show the same otherwise cost less than the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.protection.changes.changes import build_code_matrix
from divulge.protection.cycle.request import CycleRequest, CycleState
from divulge.protection.cycle.round_changes import hide_and_log
from divulge.protection.limits.per_record import Goal
from divulge.records.risk.null_readings import DEFAULT_NULLS
from divulge.work.arrays import Bools, Ints


def add_company(state: CycleState, goals: Sequence[Goal], plan: CycleRequest) -> None:
    """Let others hide what rules hide of few, as many as limits that count ask to look alike."""
    for goal in goals:
        if not goal.is_count_limit or goal.nulls != DEFAULT_NULLS:
            continue
        names = list(goal.among)
        hidden = mark_hidden(state.current, names)
        rows = build_code_matrix(state.current, names, absence_apart=True)
        kept = state.mark_kept(plan, names)
        never = np.array([name in plan.never | plan.never_hidden for name in names])
        found: dict[str, list[int]] = {}
        for pattern in np.unique(hidden[hidden.any(axis=1)], axis=0):
            if np.any(pattern & never):
                continue
            chosen = find_company(rows, hidden, pattern, ceil(goal.limit.bound), kept)
            for place in np.flatnonzero(pattern).tolist():
                found.setdefault(names[place], []).extend(chosen)
        cells = {name: np.unique(np.array(each, np.int64)) for name, each in found.items() if each}
        if cells:
            hide_and_log(state, goal, state.measure(goal), cells)


def find_company(
    rows: Ints, hidden: Bools, pattern: Bools, k: int, kept: Bools | None
) -> list[int]:
    """Records that show what too few who hide the pattern show, of different values in turn.

    None are found where there are too few to make up the number.
    """
    visible = rows[:, ~pattern]
    is_hiding = (hidden == pattern).all(axis=1)
    is_free = ~hidden.any(axis=1)
    if kept is not None:
        is_free &= ~kept[:, pattern].any(axis=1)
    company: list[int] = []
    for shown in np.unique(visible[is_hiding], axis=0):
        is_alike = (visible == shown).all(axis=1)
        lacking = k - int(np.count_nonzero(is_alike & is_hiding))
        free = np.flatnonzero(is_alike & is_free)
        if 0 < lacking <= free.size:
            _, value_of = np.unique(rows[free][:, pattern], axis=0, return_inverse=True)
            turns = _count_turns(value_of.reshape(-1))
            company += free[np.lexsort((free, turns))][:lacking].tolist()
    return company


def _count_turns(value_of: Ints) -> Ints:
    """For each record, how many with its value come before it."""
    order = np.argsort(value_of, kind="stable")
    _, starts = np.unique(value_of[order], return_index=True)
    first = np.repeat(starts, np.diff([*starts, value_of.size]))
    turns = np.empty(value_of.size, np.int64)
    turns[order] = np.arange(value_of.size) - first
    return turns


def mark_hidden(dataset: Dataset, names: Sequence[str]) -> Bools:
    """Which cells of some attributes are hidden."""
    return np.stack([find_hidden_cells(dataset.columns[name]) for name in names], axis=1)
