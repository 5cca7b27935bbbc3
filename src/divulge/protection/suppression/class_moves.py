"""Moves of whole classes: records at risk give up the same until a limit holds for them.

Where a null (or a coarser value) is a value of its own, records are only helped by others who give
up the same. A move is tried on everybody who is at risk; whoever the limit lets pass afterwards
keeps it, the others stay as they were and try the next one. Cheap moves come first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import product
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.data import Column, Dataset
from divulge.data.column import HIDDEN_TAG, column_from_codes, find_hidden_cells
from divulge.protection import tuning
from divulge.protection.changes.changes import build_code_matrix
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.changes.recodings import build_level_tables
from divulge.protection.limits.per_record import Standing
from divulge.protection.suppression.equal_nulls import ClassMove, Codes
from divulge.work.arrays import Bools, Ints

if TYPE_CHECKING:
    import pyarrow as pa


Judge = Callable[[Dataset], Standing]
"""How the records stand to a limit once they are changed."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The quasi-identifiers of a dataset as rows of codes, and what may be given up of them."""

    dataset: Dataset
    names: tuple[str, ...]
    rows: Codes
    values: tuple[pa.Array, ...]
    """What the codes of each attribute stand for: its values, then all that is above them."""
    moves: tuple[ClassMove, ...]
    kept: Bools | None = None
    """Which cells stay as they are, whatever move their record takes."""

    def move_records(self, rows: Codes, move: ClassMove, places: Ints) -> Codes:
        """Some rows after a move."""
        moved = move.apply_to(rows[places])
        return moved if self.kept is None else np.where(self.kept[places], rows[places], moved)

    def build_release(self, rows: Codes) -> Dataset:
        """The dataset with other rows."""
        columns = dict(self.dataset.columns)
        for a, name in enumerate(self.names):
            if np.array_equal(rows[:, a], self.rows[:, a]):
                continue
            codes = np.where(rows[:, a] == HIDDEN, len(self.values[a]), rows[:, a])
            moved = column_from_codes(codes, self.values[a])
            columns[name] = self._mark_hidden(columns[name], moved)
        return replace(self.dataset, columns=columns)

    @staticmethod
    def _mark_hidden(before: Column, after: Column) -> Column:
        """What is missing now and was not before is hidden."""
        tags = np.zeros(len(after.codes), np.uint8) if before.tags is None else before.tags.copy()
        tags[find_hidden_cells(after, before)] = HIDDEN_TAG
        return replace(after, tags=tags)


def build_grid(
    dataset: Dataset,
    names: Sequence[str],
    never: frozenset[str],
    *,
    importance: Mapping[str, float],
    recode: bool,
    hide: bool,
    kept: Bools | None = None,
) -> Grid:
    """All that records may give up: levels of hierarchies (`recode`), cells (`hide`)."""
    import pyarrow as pa

    values, options = [], []
    for a, name in enumerate(names):
        column, hierarchy = dataset.columns[name], dataset.dictionary[name].hierarchy
        tables, texts = build_level_tables(column, hierarchy) if recode else ([], [])
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
        dataset=dataset,
        names=tuple(names),
        rows=build_code_matrix(dataset, list(names)),
        values=tuple(values),
        moves=_list_cheapest_moves(options),
        kept=kept,
    )


def _list_cheapest_moves(options: Sequence[Sequence[tuple[float, Any]]]) -> tuple[ClassMove, ...]:
    """The cheapest combinations, and the most that may be given up, last."""
    full_move = ClassMove(
        tuple(steps[-1][1] for steps in options if steps[-1][1] is not None),
        sum(steps[-1][0] for steps in options),
    )
    if prod(map(len, options)) > tuning.MOST_MOVE_COMBINATIONS:
        options = [[steps[0], steps[-1]] if len(steps) > 1 else steps for steps in options]
    chosen = nsmallest(
        tuning.MOST_MOVES,
        (combination for combination in product(*options) if any(c[1] for c in combination)),
        key=lambda combination: sum(c[0] for c in combination),
    )
    moves = [
        ClassMove(
            tuple(c[1] for c in combination if c[1] is not None), sum(c[0] for c in combination)
        )
        for combination in chosen
    ]
    return (*moves, full_move)


def apply_moves(
    grid: Grid, measure: Judge, name: str, most_cost: float = inf
) -> tuple[Codes, Ints]:
    """Move records until a limit, of which `measure` tells how data stand, holds.

    What is given is the rows, and who is still at risk. It ends where moving all who are at risk
    would cost more than something else does that was found before (`most_cost`).

    A limit of an adversary may hold before everybody is helped: then the rest stays.
    """
    rows, cost = grid.rows.copy(), 0.0
    standing = measure(grid.dataset)
    at_risk = np.flatnonzero(standing.at_risk)
    with work.step(f"Protecting for {name}", len(grid.moves)) as step:
        for move in grid.moves:
            if at_risk.size == 0:
                break
            if cost + move.cost * at_risk.size > most_cost:
                return rows, at_risk
            trial = rows.copy()
            trial[at_risk] = grid.move_records(rows, move, at_risk)
            if np.array_equal(trial, rows):
                step.advance()
                continue
            standing = measure(grid.build_release(trial))
            saved = at_risk[~standing.at_risk[at_risk]] if not standing.held else at_risk
            if saved.size:
                rows[saved] = trial[saved]
                cost += move.cost * saved.size
                after = measure(grid.build_release(rows))
                at_risk = np.flatnonzero(after.at_risk)
            step.advance()
    if at_risk.size:
        at_risk = _join_others(grid, measure, rows, at_risk)
    return rows, at_risk


def _join_others(grid: Grid, measure: Judge, rows: Codes, at_risk: Ints) -> Ints:
    """Those who gave up all and are still at risk are joined by ever more of the others."""
    full_move = grid.moves[-1]
    others = np.setdiff1d(np.arange(len(rows)), at_risk)
    count = 1
    while True:
        joining = others[:: max(1, others.size // count)][:count]
        trial = rows.copy()
        chosen = np.concatenate([at_risk, joining])
        trial[chosen] = grid.move_records(rows, full_move, chosen)
        standing = measure(grid.build_release(trial))
        if standing.held:
            rows[chosen] = trial[chosen]
            return np.empty(0, np.int64)
        if count >= others.size:
            return np.flatnonzero(standing.at_risk)
        count *= 2
