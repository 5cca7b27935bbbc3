"""Linked records made safe with few cells: changes are chosen by what they do for whole clusters.

A cluster is at risk as a whole, so its members need not all be changed: it is lowered by those of
them who are found most easily, or cost least. First every cluster at risk takes its cheapest move,
judged by how many would then look alike; on small data all moves are tried, the one first that
lowers most for its cost. In the end whatever can be shown again is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil, log1p

import numpy as np
import numpy.typing as npt

from divulge.protection import tuning
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.limits.per_record import Standing
from divulge.protection.suppression.equal_nulls import count_equal_rows
from divulge.work.arrays import Bools, Floats, Ints

Codes = npt.NDArray[np.int32]
Mask = tuple[int, ...]


@dataclass(frozen=True)
class ClusterMove:
    """Some records hide some attributes."""

    records: tuple[int, ...]
    mask: Mask
    cost: float

    def apply_to(self, rows: Codes) -> Codes:
        """The rows after the move."""
        moved = rows.copy()
        moved[np.ix_(self.records, self.mask)] = HIDDEN
        return moved


@dataclass(kw_only=True)
class ClusterSearch:
    """What may be hidden, what it costs, and how rows of codes stand to the limit."""

    before: Codes
    of_record: Ints
    """The cluster of each record; every record its own where none is linked."""
    masks: tuple[Mask, ...]
    costs: Floats
    measure: Callable[[Codes], Standing]
    bound: float
    """The highest risk that a cluster may have."""
    wild: bool
    """Whether a hidden cell matches everything, so that hiding helps the record itself."""
    preference: Floats
    """Of records that would do as well, the lowest are changed first."""
    kept: Bools | None = None
    """Which cells must not be hidden; None if all may."""
    trials: int = field(default=0, init=False)
    _classes: tuple[Codes, Bools] | None = field(default=None, init=False)

    def find_rows(self, starts: list[Codes]) -> Codes:
        """The cheapest rows found that stand best to the limit, from some rows to begin with."""
        candidates = []
        for start in starts:
            if self._is_too_much(start):
                candidates.append(start)
                continue
            candidates.append(self._lower_by_estimate(start))
            if self._is_small:
                candidates.append(self._lower_by_trial(start))
        best = min((self._prune(rows) for rows in candidates), key=self._rate)
        if self._is_small:
            best = self._rebuild(best)
        return best

    def lower_in_order(self, start: Codes) -> Codes:
        """The paper's cycle: of each cluster at risk one member hides one attribute, and again.

        The member at the highest risk (of equal ones the least significant), and the attribute
        that leaves most who agree on the rest.
        """
        rows = start.copy()
        for _ in range(rows.size):
            standing = self._measure(rows)
            moved = rows.copy()
            own = standing.risk if standing.own is None else standing.own
            for cluster in np.unique(self.of_record[standing.at_risk]).tolist():
                members = np.flatnonzero(self.of_record == cluster)
                for place in np.lexsort((self.preference[members], -own[members])).tolist():
                    move = self._hide_for_company(moved, int(members[place]))
                    if move is not None:
                        moved = move.apply_to(moved)
                        break
            if np.array_equal(moved, rows):
                break
            rows = moved
        return rows

    def _hide_for_company(self, rows: Codes, record: int) -> ClusterMove | None:
        """The single attribute of a record that gives it most company for its cost."""
        best: tuple[float, ClusterMove] | None = None
        for mask in self.masks:
            if len(mask) > 1 or rows[record, mask[0]] == HIDDEN:
                continue
            for move, reached in self._list_moves(rows, record, mask, 1):
                if best is None or reached / move.cost > best[0]:
                    best = (reached / move.cost, move)
        return None if best is None else best[1]

    def _is_too_much(self, start: Codes) -> bool:
        """Whether so many clusters are at risk that looking for each one's move takes too long."""
        at_risk = np.unique(self.of_record[self._measure(start).at_risk]).size
        work = at_risk * tuning.MOST_TRIED_MEMBERS * len(self.masks) * self.before.size
        return work > tuning.MOST_CLUSTER_WORK

    @property
    def _is_small(self) -> bool:
        return len(self.before) * len(self.masks) <= tuning.MOST_TRIED_MOVES

    def _rate(self, rows: Codes) -> tuple[float, float]:
        """How far rows are from the limit, and what they cost."""
        return round(self._compute_excess(rows), 9), self._sum_costs(rows)

    def _sum_costs(self, rows: Codes) -> float:
        return float(((rows == HIDDEN) & (self.before != HIDDEN)).sum(axis=0) @ self.costs)

    def _measure(self, rows: Codes) -> Standing:
        self.trials += 1
        return self.measure(rows)

    def _compute_excess(self, rows: Codes) -> float:
        """By how much clusters exceed the limit, in logarithms of the chance that nobody is found.

        Of each member it is seen, so that lowering one of two certain finds counts as well.
        """
        standing = self._measure(rows)
        if not np.any(standing.at_risk):
            return 0.0
        own = standing.risk if standing.own is None else standing.own
        parts = -np.log1p(-np.minimum(own, tuning.CERTAIN_RISK))
        sums = np.bincount(self.of_record, parts)
        at_risk = np.unique(self.of_record[standing.at_risk])
        return float(np.maximum(sums[at_risk] + _log_survival(self.bound), 1e-9).sum())

    def _lower_by_estimate(self, start: Codes) -> Codes:
        """Every cluster at risk takes its cheapest move, until none is at risk or none can."""
        rows = start.copy()
        for _ in range(tuning.MOST_CLUSTER_ROUNDS):
            standing = self._measure(rows)
            if not np.any(standing.at_risk):
                break
            own = standing.risk if standing.own is None else standing.own
            moved = rows.copy()
            for cluster in np.unique(self.of_record[standing.at_risk]).tolist():
                members = np.flatnonzero(self.of_record == cluster)
                move = self._choose_move(moved, members, own[members])
                if move is not None:
                    moved = move.apply_to(moved)
            if np.array_equal(moved, rows):
                break
            rows = moved
        return rows

    def _choose_move(self, rows: Codes, members: Ints, own: Floats) -> ClusterMove | None:
        """The cheapest move that lowers a cluster as far as it must, by what looks alike then."""
        order = np.lexsort((self.preference[members], -own))
        parts = -np.log1p(-np.minimum(own, tuning.CERTAIN_RISK))
        allowance = -_log_survival(self.bound)
        fair = -np.expm1(-allowance / members.size)
        best: ClusterMove | None = None
        for place in order[: tuning.MOST_TRIED_MEMBERS].tolist():
            rest = allowance - float(parts.sum() - parts[place])
            # One member alone may not suffice: then all share what is allowed.
            wanted = -np.expm1(-rest) if rest > 0 else fair
            move = self._find_move(rows, int(members[place]), own[place], max(wanted, 1e-9))
            if move is not None and (best is None or move.cost < best.cost):
                best = move
            if rest <= 0 and best is not None:
                break
        return best

    def _find_move(self, rows: Codes, record: int, own: float, wanted: float) -> ClusterMove | None:
        """The cheapest way for a record to look like so many that its risk is as wanted."""
        now = self._count_alike(rows, record)
        # Risks fall at least about as crowds grow.
        need = max(now + 1, ceil(now * own / wanted - 1e-9))
        best: tuple[float, int, ClusterMove] | None = None
        for mask in self._list_masks(rows[record]):
            for move, reached in self._list_moves(rows, record, mask, need):
                rank = (move.cost, -reached, move)
                if reached > now and (
                    best is None or (reached < need, rank[:2]) < (-best[1] < need, best[:2])
                ):
                    best = rank
        return None if best is None else best[2]

    def _list_masks(self, row: Codes) -> list[Mask]:
        """What a record may hide in the end; others may also come to hide what it hides already."""
        hidden = {a for a in self.masks[-1] if row[a] == HIDDEN} if self.masks else set()
        if not hidden:
            return list(self.masks)
        unions = dict.fromkeys(tuple(sorted(hidden | set(mask))) for mask in self.masks)
        joined = tuple(sorted(hidden))
        return [*([] if self.wild else [joined]), *(each for each in unions if each != joined)]

    def _list_moves(
        self, rows: Codes, record: int, mask: Mask, need: int
    ) -> Iterator[tuple[ClusterMove, int]]:
        """Moves that hide a set of attributes of a record, and how many look like it then."""
        fresh = [a for a in mask if rows[record, a] != HIDDEN]
        if self._find_kept(mask)[record]:
            return
        price = float(self.costs[fresh].sum())
        rest = [a for a in range(rows.shape[1]) if a not in mask]
        target = rows[record].copy()
        target[list(mask)] = HIDDEN
        if self.wild:
            agree = np.all(_matches(rows[:, rest], target[rest]), axis=1)
            yield ClusterMove((record,), mask, price), int(agree.sum())
            return
        agree = np.all(rows[:, rest] == target[rest], axis=1)
        there = np.all(rows == target, axis=1)
        joining = np.flatnonzero(agree & ~there & ~self._find_kept(mask))
        if joining.size == 0:
            return
        alike = np.all(rows[joining] == rows[record], axis=1)
        order = np.lexsort(
            (self.preference[joining], self._do_harm(rows)[joining], ~alike, joining != record)
        )
        wanted = max(1, need - int(there.sum()))
        chosen = joining[order[:wanted]]
        shown = (rows[chosen][:, list(mask)] != HIDDEN).astype(float) @ self.costs[list(mask)]
        move = ClusterMove(tuple(chosen.tolist()), mask, float(shown.sum()))
        yield move, int(there.sum()) + chosen.size

    def _find_kept(self, mask: Mask) -> Bools:
        """The records that must go on to show some attribute of a set."""
        if self.kept is None:
            return np.zeros(len(self.before), np.bool_)
        is_kept: Bools = np.max(self.kept[:, list(mask)], axis=1)
        return is_kept

    def _do_harm(self, rows: Codes) -> Bools:
        """Who leaves too few behind if they come to look otherwise: of a class of just enough."""
        if self._classes is None or self._classes[0] is not rows:
            size = count_equal_rows(rows)
            self._classes = (rows, (size > 1) & (size <= ceil(1 / max(self.bound, 1e-9))))
        return self._classes[1]

    def _count_alike(self, rows: Codes, record: int) -> int:
        if self.wild:
            return int(np.all(_matches(rows, rows[record]), axis=1).sum())
        return int(np.all(rows == rows[record], axis=1).sum())

    def _lower_by_trial(self, start: Codes) -> Codes:
        """All moves of all records are tried; the one is taken that lowers most for its cost."""
        rows, excess = start, self._compute_excess(start)
        while excess > 0 and self.trials < tuning.MOST_CLUSTER_TRIALS:
            best: tuple[float, Codes, float] | None = None
            for move in self._list_all_moves(rows):
                moved = move.apply_to(rows)
                left = self._compute_excess(moved)
                gain = (excess - left) / move.cost
                # What ends the search is worth no more than what it ends.
                if left < excess - 1e-12 and (best is None or gain > best[0] + 1e-12):
                    best = (gain, moved, left)
            if best is None:
                break
            _, rows, excess = best
        return rows

    def _list_all_moves(self, rows: Codes) -> Iterator[ClusterMove]:
        for record in range(len(rows)):
            for mask in self._list_masks(rows[record]):
                fresh = [a for a in mask if rows[record, a] != HIDDEN]
                if self._find_kept(mask)[record]:
                    continue
                if fresh:
                    yield ClusterMove((record,), mask, float(self.costs[fresh].sum()))
                if self.wild:
                    continue
                alike = {
                    len(move.records): move
                    for need in range(2, len(rows) + 1)
                    for move, _ in self._list_moves(rows, record, mask, need)
                }
                if fresh:
                    alike.pop(1, None)
                yield from (move for move in alike.values() if move.cost > 0)

    def _prune(self, rows: Codes) -> Codes:
        """Show again what is not needed, the dearest cells first."""
        excess = self._compute_excess(rows)
        fresh = np.argwhere((rows == HIDDEN) & (self.before != HIDDEN))
        most = max(1, tuning.MOST_PRUNED_ROWS // max(1, len(rows)))
        order = np.argsort(-self.costs[fresh[:, 1]], kind="stable")[:most]
        for record, attribute in fresh[order].tolist():
            trial = rows.copy()
            trial[record, attribute] = self.before[record, attribute]
            if self._compute_excess(trial) <= excess + 1e-12:
                rows = trial
        return rows

    def _rebuild(self, rows: Codes) -> Codes:
        """Show all that one record hides, and lower again: fewer cells may do."""
        best, rate = rows, self._rate(rows)
        for record in np.flatnonzero(np.any(rows != self.before, axis=1)).tolist():
            if self.trials >= tuning.MOST_CLUSTER_TRIALS:
                break
            trial = best.copy()
            trial[record] = self.before[record]
            trial = self._prune(self._lower_by_trial(trial))
            if self._rate(trial) < rate:
                best, rate = trial, self._rate(trial)
        return best


def list_cheapest_masks(allowed: list[int], costs: Floats) -> tuple[Mask, ...]:
    """Sets of attributes that may be hidden, cheap ones first; the most that may is the last."""
    masks: list[Mask] = []
    for size in range(1, len(allowed) + 1):
        masks += combinations(allowed, size)
        if len(masks) > tuning.MOST_CLUSTER_MASKS:
            break
    masks = sorted(masks[: tuning.MOST_CLUSTER_MASKS], key=lambda mask: costs[list(mask)].sum())
    whole = tuple(allowed)
    return (*(mask for mask in masks if mask != whole), *([whole] if whole else []))


def _log_survival(risk: float) -> float:
    return log1p(-min(risk, tuning.CERTAIN_RISK))


def _matches(rows: Codes, target: Codes) -> Bools:
    """Whether cells may be the same where a hidden one may be anything."""
    may_match: Bools = (rows == target) | (rows == HIDDEN) | (target == HIDDEN)
    return may_match
