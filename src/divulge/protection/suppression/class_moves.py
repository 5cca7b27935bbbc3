"""Moves of whole classes: records at risk give up the same until a limit holds for them.

Where a null (or a coarser value) is a value of its own, records are only helped by others who give
up the same. A move is tried on everybody who is at risk; whoever the limit lets pass afterwards
keeps it, the others stay as they were and try the next one. Cheap moves come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.classes.keys import IntArray
from divulge.data import Dataset
from divulge.data.column import from_codes
from divulge.protection.changes.changes import codes_of
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.changes.recodings import level_codes
from divulge.protection.limits.per_record import Goal
from divulge.protection.suppression.equal_nulls import Codes, Move

if TYPE_CHECKING:
    import pyarrow as pa

MOST_MOVES = 512


@dataclass(frozen=True)
class Grid:
    """The quasi-identifiers of a dataset as rows of codes, and what may be given up of them."""

    dataset: Dataset
    names: tuple[str, ...]
    rows: Codes
    values: tuple[pa.Array, ...]
    """What the codes of each attribute stand for: its values, then all that is above them."""
    moves: tuple[Move, ...]

    def released(self, rows: Codes) -> Dataset:
        """The dataset with other rows."""
        columns = dict(self.dataset.columns)
        for a, name in enumerate(self.names):
            if np.array_equal(rows[:, a], self.rows[:, a]):
                continue
            codes = np.where(rows[:, a] == HIDDEN, len(self.values[a]), rows[:, a])
            tags = columns[name].tags
            columns[name] = replace(from_codes(codes, self.values[a]), tags=tags)
        return replace(self.dataset, columns=columns)


def grid_of(
    dataset: Dataset,
    names: Sequence[str],
    never: frozenset[str],
    importance: Mapping[str, float],
    recode: bool,
    hide: bool,
) -> Grid:
    """All that records may give up: levels of hierarchies (`recode`), cells (`hide`)."""
    import pyarrow as pa

    values, options = [], []
    for a, name in enumerate(names):
        column, hierarchy = dataset.columns[name], dataset.dictionary[name].hierarchy
        tables, texts = level_codes(column, hierarchy) if recode else ([], [])
        nodes = pa.array(texts, pa.string()) if tables else column.values
        values.append(nodes)
        weight = float(importance.get(name, 1.0))
        # Nothing, or a level of the hierarchy, or the whole cell: what each costs.
        steps: list[tuple[float, Any]] = [(0.0, None)]
        if name not in never:
            height = len(tables) + 1
            steps += [(weight * (n + 1) / height, (a, t)) for n, t in enumerate(tables)]
            if hide:
                steps.append((weight, (a, np.full(len(nodes) + 1, HIDDEN, np.int32))))
        options.append(steps)
    return Grid(
        dataset, tuple(names), codes_of(dataset, list(names)), tuple(values), _moves(options)
    )


def _moves(options: Sequence[Sequence[tuple[float, Any]]]) -> tuple[Move, ...]:
    """The cheapest combinations, and the most that may be given up, last."""
    most = Move(
        tuple(steps[-1][1] for steps in options if steps[-1][1] is not None),
        sum(steps[-1][0] for steps in options),
    )
    if prod(map(len, options)) > 200_000:
        options = [[steps[0], steps[-1]] if len(steps) > 1 else steps for steps in options]
    chosen = nsmallest(
        MOST_MOVES,
        (combination for combination in product(*options) if any(c[1] for c in combination)),
        key=lambda combination: sum(c[0] for c in combination),
    )
    moves = [
        Move(tuple(c[1] for c in combination if c[1] is not None), sum(c[0] for c in combination))
        for combination in chosen
    ]
    return (*moves, most)


def settle(grid: Grid, goal: Goal, original: Dataset) -> tuple[Codes, IntArray]:
    """Move records until a limit holds; the rows, and who is still at risk.

    A limit of an adversary may hold before everybody is helped: then the rest stays.
    """
    rows = grid.rows.copy()
    standing = goal.standing(grid.dataset, original)
    left = np.flatnonzero(standing.at_risk)
    with work.step(f"Protecting for {goal.limit.measure}", len(grid.moves)) as step:
        for move in grid.moves:
            if left.size == 0:
                break
            trial = rows.copy()
            trial[left] = move.of(rows[left])
            if np.array_equal(trial, rows):
                step.advance()
                continue
            standing = goal.standing(grid.released(trial), original)
            saved = left[~standing.at_risk[left]] if not standing.held else left
            if saved.size:
                rows[saved] = trial[saved]
                after = goal.standing(grid.released(rows), original)
                left = np.flatnonzero(after.at_risk)
            step.advance()
    if left.size:
        left = _joined_by_others(grid, goal, original, rows, left)
    return rows, left


def _joined_by_others(
    grid: Grid, goal: Goal, original: Dataset, rows: Codes, left: IntArray
) -> IntArray:
    """Those who gave up all and are still at risk are joined by ever more of the others."""
    most = grid.moves[-1]
    others = np.setdiff1d(np.arange(len(rows)), left)
    count = 1
    while True:
        joining = others[:: max(1, others.size // count)][:count]
        trial = rows.copy()
        chosen = np.concatenate([left, joining])
        trial[chosen] = most.of(rows[chosen])
        standing = goal.standing(grid.released(trial), original)
        if standing.held:
            rows[chosen] = trial[chosen]
            return np.empty(0, np.int64)
        if count >= others.size:
            return np.flatnonzero(standing.at_risk)
        count *= 2
