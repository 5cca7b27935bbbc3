"""Classes that hide the same: protection where a null is a value of its own.

Records that hide the same attributes (or show them equally coarse) and agree on the others look
alike to everybody, whatever an adversary takes a null for: under `value`, `known` and `bayes` each
of k such records is as likely as the next. So everybody at risk gives up as little as lets k of
them agree, cheap moves first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.keys import FloatArray, IntArray, classes
from divulge.protection.changes.kernels import HIDDEN

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Move:
    """What a record may give up: for some attributes, what each code becomes.

    A table has a place for every code and, last, one for HIDDEN; to hide is a table of HIDDEN.
    """

    tables: tuple[tuple[int, npt.NDArray[np.int32]], ...]
    cost: float

    def of(self, rows: Codes) -> Codes:
        """The rows after the move."""
        moved = rows.copy()
        for attribute, table in self.tables:
            moved[:, attribute] = table[rows[:, attribute]]
        return moved


def hiding(mask: Sequence[int], codes: Codes, costs: FloatArray) -> Move:
    """The move that hides some attributes."""
    tables = []
    for a in mask:
        top = int(codes[:, a].max(initial=0)) + 2
        tables.append((a, np.full(top, HIDDEN, np.int32)))
    return Move(tuple(tables), float(costs[list(mask)].sum()))


def gather(
    codes: Codes, k: int, moves: Sequence[Move], preference: FloatArray
) -> tuple[Codes, IntArray]:
    """Move records until every class of equal rows has k; the rows, and who is left over.

    Args:
        codes: one row per record, HIDDEN where a value is missing.
        k: how many must be equal.
        moves: what may be given up; the last is the most that may.
        preference: of equal records, the lowest are changed first.
    """
    rows = codes.copy()
    left = np.flatnonzero(sizes(rows) < k)
    if left.size == 0:
        return rows, left
    # Whoever hides something already is company for those who come to hide the same.
    moved = np.setdiff1d(np.flatnonzero(np.any(rows == HIDDEN, axis=1)), left)
    by_cost: dict[float, list[int]] = {}
    for number, move in enumerate(moves):
        by_cost.setdefault(round(move.cost, 9), []).append(number)
    with work.step("Gathering records that give up the same", len(by_cost)) as step:
        for cost in sorted(by_cost):
            # Of moves that cost the same, the one that helps most comes first.
            helps = [(-_joined(rows, left, moved, moves[n], k).size, n) for n in by_cost[cost]]
            for helped, number in sorted(helps):
                if helped == 0 or left.size == 0:
                    continue
                joined = _joined(rows, left, moved, moves[number], k)
                rows[joined] = moves[number].of(rows[joined])
                moved = np.concatenate([moved, joined])
                left = np.setdiff1d(left, joined)
            step.advance()
    if left.size == 0:
        return rows, left
    # Others join who gives up little, or (which brings more together) who gives up most.
    by_moves = [sorted(moves, key=lambda move: move.cost), [moves[-1]]]
    tries = [_joined_by_donors(rows, left, k, each, preference) for each in by_moves]
    return min(tries, key=lambda done: (done[1].size, int((done[0] != rows).sum())))


def _joined_by_donors(
    rows: Codes, left: IntArray, k: int, moves: Sequence[Move], preference: FloatArray
) -> tuple[Codes, IntArray]:
    """Those left over are joined by others, one kind of move after the other."""
    rows = rows.copy()
    for move in moves:
        if left.size == 0:
            break
        left = _with_donors(rows, left, k, move, preference)
    return rows, left


def _joined(rows: Codes, left: IntArray, moved: IntArray, move: Move, k: int) -> IntArray:
    """Of those left over, who would have k equal rows after a move."""
    if left.size == 0:
        return left
    both = np.concatenate([move.of(rows[left]), rows[moved]])
    return left[sizes(both)[: left.size] >= k]


def _with_donors(
    rows: Codes, left: IntArray, k: int, most: Move, preference: FloatArray
) -> IntArray:
    """Those who cannot be k among themselves are joined by records who could do without.

    First from classes that have more than k, then whole classes; who is still left over.
    """
    goal = most.of(rows)
    group = _groups(goal)
    beyond = []
    for here in np.unique(group[left]):
        mine = left[group[left] == here]
        everybody = np.flatnonzero(group == here)
        if everybody.size < k:
            beyond.append(mine)
            continue
        there = np.all(rows[everybody] == goal[everybody], axis=1)
        others = np.setdiff1d(everybody[~there], mine)
        need = k - mine.size - np.setdiff1d(everybody[there], mine).size
        changed = np.concatenate([mine, _spare(rows, others, k, need, preference)])
        rows[changed] = goal[changed]
    return np.concatenate([np.empty(0, np.int64), *beyond])


def _spare(rows: Codes, others: IntArray, k: int, need: int, preference: FloatArray) -> IntArray:
    """Records who can leave their classes: those above k first, else the smallest classes whole."""
    if need <= 0 or others.size == 0:
        return np.empty(0, np.int64)
    of = _groups(rows[others])
    size = np.bincount(of)
    order = np.lexsort((preference[others], of))
    place = np.arange(others.size) - np.searchsorted(of[order], of[order])
    surplus = others[order[place < (size - k)[of[order]]]]
    if surplus.size >= need:
        return surplus[np.argsort(preference[surplus], kind="stable")[:need]]
    chosen = np.empty(0, np.int64)
    for each in np.argsort(size, kind="stable"):
        chosen = np.concatenate([chosen, others[of == each]])
        if chosen.size >= need:
            break
    return chosen


def sizes(rows: Codes) -> IntArray:
    """How many rows are equal to each row.

    >>> sizes(np.array([[0, 1], [0, 1], [0, HIDDEN]], np.int32)).tolist()
    [2, 2, 1]
    """
    group = _groups(rows)
    return np.bincount(group)[group] if group.size else group


def _groups(rows: Codes) -> IntArray:
    columns = [rows[:, a].astype(np.int64) + 1 for a in range(rows.shape[1])]
    return classes(columns, [int(c.max(initial=0)) + 1 for c in columns], len(rows))
