"""Local suppression by classes: records hide the same, where a null is a value of its own.

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
from divulge.classes.keys import assign_classes
from divulge.protection.changes.kernels import HIDDEN
from divulge.work.arrays import Bools, Floats, Ints

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class ClassMove:
    """What a record may give up: for some attributes, what each code becomes.

    A table has a place for every code and, last, one for HIDDEN; to hide is a table of HIDDEN.
    """

    tables: tuple[tuple[int, npt.NDArray[np.int32]], ...]
    cost: float

    def apply_to(self, rows: Codes) -> Codes:
        """The rows after the move."""
        moved = rows.copy()
        for attribute, table in self.tables:
            moved[:, attribute] = table[rows[:, attribute]]
        return moved


def build_hiding_move(
    mask: Sequence[int], codes: Codes, costs: Floats, absent: Sequence[int]
) -> ClassMove:
    """The move that hides some attributes; `absent` is the code of absence in each.

    Absence stays as it is: other columns tend to show it, so that hiding it hides nothing.
    """
    tables = []
    for a in mask:
        top = int(codes[:, a].max(initial=0)) + 2
        table = np.full(top, HIDDEN, np.int32)
        if 0 <= absent[a] < top - 1:
            table[absent[a]] = absent[a]
        tables.append((a, table))
    return ClassMove(tuple(tables), float(costs[list(mask)].sum()))


def gather_classes(
    codes: Codes,
    k: int,
    moves: Sequence[ClassMove],
    preference: Floats,
    kept: Bools | None = None,
) -> tuple[Codes, Ints]:
    """Move records until every class of equal rows has k; the rows, and who is left over.

    Args:
        codes: one row per record, HIDDEN where a value is missing.
        k: how many must be equal.
        moves: what may be given up; the last is the most that may.
        preference: of equal records, the lowest are changed first.
        kept: which cells stay as they are, whatever move their record takes.
    """
    rows = codes.copy()
    at_risk = np.flatnonzero(count_equal_rows(rows) < k)
    if at_risk.size == 0:
        return rows, at_risk
    # Whoever hides something already is company for those who come to hide the same.
    moved = np.setdiff1d(np.flatnonzero(np.any(rows == HIDDEN, axis=1)), at_risk)
    by_cost: dict[float, list[int]] = {}
    for number, move in enumerate(moves):
        by_cost.setdefault(round(move.cost, 9), []).append(number)
    with work.step("Gathering records that give up the same", len(by_cost)) as step:
        for cost in sorted(by_cost):
            # Of moves that cost the same, the one that helps most comes first.
            helps = [
                (-_find_satisfied(rows, at_risk, moved, moves[n], k=k, kept=kept).size, n)
                for n in by_cost[cost]
            ]
            for helped, number in sorted(helps):
                if helped == 0 or at_risk.size == 0:
                    continue
                joining = _find_satisfied(rows, at_risk, moved, moves[number], k=k, kept=kept)
                rows[joining] = _apply_move(moves[number], rows, joining, kept)
                moved = np.concatenate([moved, joining])
                at_risk = np.setdiff1d(at_risk, joining)
            step.advance()
    if at_risk.size == 0:
        return rows, at_risk
    # Others join who gives up little, or (which brings more together) who gives up most.
    by_moves = [sorted(moves, key=lambda move: move.cost), [moves[-1]]]
    attempts = [
        _try_donor_moves(rows, at_risk, k, each, preference=preference, kept=kept)
        for each in by_moves
    ]
    return min(attempts, key=lambda attempt: (attempt[1].size, int((attempt[0] != rows).sum())))


def _apply_move(move: ClassMove, rows: Codes, places: Ints, kept: Bools | None) -> Codes:
    """Some rows after a move, which leaves their kept cells as they are."""
    moved = move.apply_to(rows[places])
    return moved if kept is None else np.where(kept[places], rows[places], moved)


def _try_donor_moves(
    rows: Codes,
    at_risk: Ints,
    k: int,
    moves: Sequence[ClassMove],
    *,
    preference: Floats,
    kept: Bools | None,
) -> tuple[Codes, Ints]:
    """Those left over are joined by others, one kind of move after the other."""
    rows = rows.copy()
    for move in moves:
        if at_risk.size == 0:
            break
        at_risk = _join_donors(rows, at_risk, k, move, preference=preference, kept=kept)
    return rows, at_risk


def _find_satisfied(
    rows: Codes, at_risk: Ints, moved: Ints, move: ClassMove, *, k: int, kept: Bools | None
) -> Ints:
    """Of those left over, who would have k equal rows after a move."""
    if at_risk.size == 0:
        return at_risk
    both = np.concatenate([_apply_move(move, rows, at_risk, kept), rows[moved]])
    return at_risk[count_equal_rows(both)[: at_risk.size] >= k]


def _join_donors(
    rows: Codes,
    at_risk: Ints,
    k: int,
    move: ClassMove,
    *,
    preference: Floats,
    kept: Bools | None,
) -> Ints:
    """Those who cannot be k among themselves are joined by records who could do without.

    First from classes that have more than k, then whole classes; who is still left over.
    """
    target = _apply_move(move, rows, np.arange(len(rows)), kept)
    group = group_equal_rows(target)
    unprotected = []
    for number in np.unique(group[at_risk]):
        mine = at_risk[group[at_risk] == number]
        everybody = np.flatnonzero(group == number)
        if everybody.size < k:
            unprotected.append(mine)
            continue
        is_target = np.all(rows[everybody] == target[everybody], axis=1)
        others = np.setdiff1d(everybody[~is_target], mine)
        need = k - mine.size - np.setdiff1d(everybody[is_target], mine).size
        changed = np.concatenate([mine, _choose_spare_records(rows, others, k, need, preference)])
        rows[changed] = target[changed]
    return np.concatenate([np.empty(0, np.int64), *unprotected])


def _choose_spare_records(rows: Codes, others: Ints, k: int, need: int, preference: Floats) -> Ints:
    """Records who can leave their classes: those above k first, else the smallest classes whole."""
    if need <= 0 or others.size == 0:
        return np.empty(0, np.int64)
    class_of_record = group_equal_rows(rows[others])
    size = np.bincount(class_of_record)
    order = np.lexsort((preference[others], class_of_record))
    place = np.arange(others.size) - np.searchsorted(class_of_record[order], class_of_record[order])
    surplus = others[order[place < (size - k)[class_of_record[order]]]]
    if surplus.size >= need:
        return surplus[np.argsort(preference[surplus], kind="stable")[:need]]
    chosen = np.empty(0, np.int64)
    for each in np.argsort(size, kind="stable"):
        chosen = np.concatenate([chosen, others[class_of_record == each]])
        if chosen.size >= need:
            break
    return chosen


def count_equal_rows(rows: Codes) -> Ints:
    """How many rows are equal to each row.

    >>> count_equal_rows(np.array([[0, 1], [0, 1], [0, HIDDEN]], np.int32)).tolist()
    [2, 2, 1]
    """
    group = group_equal_rows(rows)
    return np.bincount(group)[group] if group.size else group


def group_equal_rows(rows: Codes) -> Ints:
    """The number of the class of equal rows that each row is in."""
    columns = [rows[:, a].astype(np.int64) + 1 for a in range(rows.shape[1])]
    return assign_classes(columns, [int(c.max(initial=0)) + 1 for c in columns], len(rows))
