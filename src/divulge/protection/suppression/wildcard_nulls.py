"""Local suppression, greedy set cover: a record that hides cells may be anybody who fits the rest.

A record that hides the attributes of a mask is one more possible match for all records that agree
with it on the others: its *neighbourhood*. Under `maybe` it suffices that each record has k
possible matches, so k - 1 such wildcards cure a whole neighbourhood; the larger the mask, the
fewer neighbourhoods there are. Every step takes the neighbourhood that cures the most records for
the cells it costs; afterwards each cell that is not needed any more is given back.

Under `known` nothing is gained by hiding the victim's own cells: the adversary knows them. Only
the wildcards of others are company.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, repeat

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.keys import assign_classes
from divulge.protection import tuning
from divulge.protection.changes import kernels
from divulge.protection.changes.kernels import HIDDEN
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(kw_only=True)
class Board:
    """Distinct rows, how many records are each, and how many fit them; wildcards come after.

    `codes`, `count` and `matches` have room for the wildcards to come; `size` rows are in use.
    """

    codes: npt.NDArray[np.int32]
    count: Ints
    matches: Ints
    size: int
    known: bool
    patterns: int
    members: list[Ints]
    """The records of each pattern, those that may be changed first in front."""
    used_members: Ints
    pattern: Ints
    """The pattern of each record."""
    record_of: dict[int, int] = field(default_factory=dict)
    """The record that a wildcard is."""
    home_pattern: dict[int, int] = field(default_factory=dict)
    """The pattern that a wildcard was."""
    kept: Bools | None = None
    """Of each pattern, the attributes that its records must go on to show; None if none are."""

    @classmethod
    def from_codes(
        cls,
        codes: npt.NDArray[np.int32],
        frequency: Ints,
        known: bool,
        preference: Floats,
        kept: Bools | None = None,
    ) -> Board:
        """From a row of codes a record (HIDDEN where missing) and how many fit each record.

        Records that must go on to show other attributes (`kept`) are of different patterns.
        """
        rows, width = codes.shape
        columns = [codes[:, a].astype(np.int64) + 1 for a in range(width)]
        if kept is not None:
            columns += [kept[:, a].astype(np.int64) for a in range(width)]
        pattern = assign_classes(columns, [int(c.max(initial=0)) + 1 for c in columns], rows)
        total = int(pattern.max(initial=-1)) + 1
        order = np.lexsort((preference, pattern))
        bounds = np.searchsorted(pattern[order], np.arange(total + 1))
        first = order[bounds[:-1]]
        members = [order[bounds[p] : bounds[p + 1]] for p in range(total)]
        # At most every record becomes a wildcard once; room is made as it is needed.
        room = total + min(rows, tuning.WILDCARD_ROOM)
        padded_codes = np.full((room, width), HIDDEN, np.int32)
        padded_codes[:total] = codes[first]
        count, matches = np.zeros(room, np.int64), np.zeros(room, np.int64)
        count[:total] = np.diff(bounds)
        matches[:total] = frequency[first]
        used_members = np.zeros(total, np.int64)
        return cls(
            codes=padded_codes,
            count=count,
            matches=matches,
            size=total,
            known=known,
            patterns=total,
            members=members,
            used_members=used_members,
            pattern=pattern,
            kept=None if kept is None else kept[first],
        )

    def may_hide(self, rows: Ints, attributes: Sequence[int]) -> Bools:
        """Which rows may hide some attributes, whatever they hide already."""
        if self.kept is None:
            return np.ones(rows.size, np.bool_)
        homes = [self.home_pattern.get(row, row) for row in rows.tolist()]
        is_kept: Bools = np.max(self.kept[homes][:, list(attributes)], axis=1)
        return ~is_kept

    def find_at_risk(self, k: int) -> Bools:
        """The rows in use that too few records fit; under `known`, the original ones."""
        size = self.patterns if self.known else self.size
        risky = self.matches[:size] < k
        return risky if self.known else risky & (self.count[:size] > 0)

    def hide_cells(self, row: int, attributes: Sequence[int]) -> int:
        """One record of a row hides some attributes; the wildcard it becomes."""
        if self.size == len(self.count):
            self._grow_arrays()
        new = self.size
        self.codes[new] = self.codes[row]
        self.codes[new, list(attributes)] = HIDDEN
        compared = self.patterns if self.known else self.size
        kernels.update_match_counts(
            self.codes, self.matches, compared, self.codes[row], self.codes[new], self.known
        )
        if row < self.patterns:
            record = int(self.members[row][self.used_members[row]])
            self.used_members[row] += 1
            self.home_pattern[new] = row
        else:
            record, self.home_pattern[new] = self.record_of.pop(row), self.home_pattern[row]
        self.count[row] -= 1
        self.count[new] = 1
        self.size += 1
        self.record_of[new] = record
        if not self.known:
            self.matches[new] = kernels.count_matches(
                self.codes, self.count, self.size, self.codes[new]
            )
        return new

    def reveal_unneeded(self, k: int, costs: Floats) -> None:
        """Show again every hidden cell that nobody needs, the dearest first."""
        for row in sorted(self.record_of, reverse=True):
            original = self.codes[self.home_pattern[row]]
            for a in np.argsort(-costs, kind="stable").tolist():
                if self.codes[row, a] != HIDDEN or original[a] == HIDDEN:
                    continue
                old, new = self.codes[row].copy(), self.codes[row].copy()
                new[a] = original[a]
                compared = self.patterns if self.known else self.size
                own = k
                if not self.known:
                    own = kernels.count_matches(self.codes, self.count, self.size, new)
                if own >= k and kernels.may_reveal(
                    self.codes, self.count, self.matches, compared, old, new, self.known, k
                ):
                    self.codes[row] = new
                    kernels.update_match_counts(
                        self.codes, self.matches, compared, old, new, self.known
                    )
                    if not self.known:
                        self.matches[row] = own

    def list_hidden_cells(self) -> list[tuple[int, list[int]]]:
        """Each record that hides more than before, and the attributes it hides in addition."""
        cells = []
        for row, record in self.record_of.items():
            before = self.codes[self.home_pattern[row]]
            hidden = np.flatnonzero((self.codes[row] == HIDDEN) & (before != HIDDEN))
            if hidden.size:
                cells.append((record, hidden.tolist()))
        return sorted(cells)

    def _grow_arrays(self) -> None:
        more = len(self.count)
        self.codes = np.concatenate([self.codes, np.full_like(self.codes, HIDDEN)])
        self.count = np.concatenate([self.count, np.zeros(more, np.int64)])
        self.matches = np.concatenate([self.matches, np.zeros(more, np.int64)])


@dataclass(frozen=True, kw_only=True)
class Neighbourhoods:
    """The patterns that agree outside a mask, group by group."""

    mask: tuple[int, ...]
    cost: float
    group: Ints
    """Of each pattern; -1 if it hides something outside the mask."""
    order: Ints
    starts: Ints
    size: Ints
    """Records in each group."""

    def list_patterns(self, group: int) -> Ints:
        """The patterns of a group."""
        return self.order[self.starts[group] : self.starts[group + 1]]


def group_neighbourhoods(
    board: Board, mask: tuple[int, ...], costs: Floats, within: Bools
) -> Neighbourhoods | None:
    """Group the patterns that show every attribute outside a mask; only groups with risk."""
    visible = [a for a in range(board.codes.shape[1]) if a not in mask]
    codes = board.codes[: board.patterns]
    whole = np.flatnonzero(np.all(codes[:, visible] != HIDDEN, axis=1))
    if whole.size == 0 or not np.any(within[whole]):
        return None
    columns = [codes[whole, a].astype(np.int64) for a in visible]
    group_of_pattern = assign_classes(columns, [int(c.max()) + 1 for c in columns], whole.size)
    total = int(group_of_pattern.max()) + 1
    size = np.bincount(group_of_pattern, board.count[whole], minlength=total).astype(np.int64)
    group = np.full(board.patterns, -1, np.int64)
    group[whole] = group_of_pattern
    order = whole[np.argsort(group_of_pattern, kind="stable")]
    starts = np.append(0, np.cumsum(np.bincount(group_of_pattern, minlength=total)))
    return Neighbourhoods(
        mask=mask,
        cost=float(costs[list(mask)].sum()),
        group=group,
        order=order,
        starts=starts,
        size=size,
    )


def list_masks(allowed: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """The sets of attributes that a record may hide, small ones first.

    Where they are too many, the largest sizes are left to the set of all.
    """
    masks: list[tuple[int, ...]] = []
    for size in range(1, most + 1):
        sets = list(combinations(allowed, size))
        if len(masks) + len(sets) > tuning.MOST_MASKS:
            break
        masks += sets
    everything = tuple(allowed)
    if most == len(allowed) and everything not in masks:
        masks.append(everything)
    return masks


def spread_wildcards(
    board: Board, k: int, masks: Sequence[tuple[int, ...]], costs: Floats
) -> Bools:
    """Hide cells until every row has k that fit, as far as the masks allow; who is left over.

    The neighbourhood that cures most for its cost comes first; its figures are taken anew when
    its turn comes, because what was hidden before may have cured some of it.
    """
    with work.step("Hiding the fewest cells", int(board.find_at_risk(k).sum())) as step:
        while True:
            risky = board.find_at_risk(k)
            before = int(risky.sum())
            if before == 0:
                return risky
            _cure_neighbourhoods(board, k, masks, costs)
            after = int(board.find_at_risk(k).sum())
            step.advance(max(0, before - after))
            if after >= before and not _hide_own_cells(board, k, masks):
                return board.find_at_risk(k)


def _cure_neighbourhoods(
    board: Board, k: int, masks: Sequence[tuple[int, ...]], costs: Floats
) -> None:
    risky = board.find_at_risk(k)[: board.patterns]
    tables: list[Neighbourhoods] = []
    heap: list[tuple[float, int, int]] = []
    for mask in masks:
        table = group_neighbourhoods(board, mask, costs, risky)
        if table is None:
            continue
        worths = _estimate_worths(board, k, table, risky)
        place = len(tables)
        groups = np.flatnonzero(worths > 0)
        heap += zip((-worths[groups]).tolist(), repeat(place), groups.tolist(), strict=False)
        tables.append(table)
    heapq.heapify(heap)
    while heap:
        worth_then, place, group = heapq.heappop(heap)
        table = tables[place]
        worth = _compute_worth(board, k, table, group)
        if worth <= 0:
            continue
        if heap and worth < -heap[0][0] and worth < -worth_then:
            heapq.heappush(heap, (-worth, place, group))
            continue
        _cure_group(board, k, table, group)
        if not np.any(board.find_at_risk(k)):
            return
        work.check()


def _estimate_worths(board: Board, k: int, table: Neighbourhoods, risky: Bools) -> Floats:
    """For every group, the records cured a unit of cost (an upper estimate, refined later)."""
    total = table.size.size
    chosen = np.flatnonzero(risky & (table.group >= 0))
    group_of_pattern = table.group[chosen]
    records = np.bincount(group_of_pattern, board.count[chosen], minlength=total)
    # Who lacks most is written last, and stays.
    lacks = k - board.matches[chosen]
    ascending = np.argsort(lacks, kind="stable")
    lacking = np.zeros(total)
    lacking[group_of_pattern[ascending]] = lacks[ascending]
    needed = lacking if board.known else np.minimum(lacking, records)
    worth = np.zeros(total)
    fit = (records > 0) & (table.size >= k)
    worth[fit] = records[fit] / (np.maximum(needed[fit], 1) * table.cost)
    return worth


def _compute_worth(board: Board, k: int, table: Neighbourhoods, group: int) -> float:
    """The same for one group as it stands now."""
    patterns = table.list_patterns(group)
    risky = patterns[(board.matches[patterns] < k) & ((board.count[patterns] > 0) | board.known)]
    if risky.size == 0 or table.size[group] < k:
        return 0.0
    records = int(np.maximum(board.count[risky], 1).sum())
    lacking = int((k - board.matches[risky]).max())
    needed = lacking if board.known else min(lacking, records)
    return records / (max(needed, 1) * table.cost)


def _cure_group(board: Board, k: int, table: Neighbourhoods, group: int) -> None:
    """Make wildcards of a group's records until it is cured or none is left that helps."""
    patterns = table.list_patterns(group)
    while True:
        lacks = (board.matches[patterns] < k) & ((board.count[patterns] > 0) | board.known)
        if not np.any(lacks):
            return
        free = patterns[board.count[patterns] > 0]
        free = free[board.may_hide(free, table.mask)]
        if board.known:
            # The wildcard is no company for itself: one who has enough comes first.
            useful = free[board.matches[free] >= k]
            worst = patterns[lacks][np.argmin(board.matches[patterns[lacks]])]
            others = free[free != worst]
            pool = useful if useful.size else others
        else:
            # Whoever lacks most is cured by becoming a wildcard, and is company for the others.
            pool = free[np.argsort(board.matches[free], kind="stable")[:1]]
        if pool.size == 0:
            return
        choice = pool[np.argmax(board.count[pool])] if board.known else pool[0]
        before = int((k - board.matches[patterns][lacks]).clip(0).sum())
        new = board.hide_cells(int(choice), table.mask)
        if board.known:
            now = int((k - board.matches[patterns]).clip(0).sum())
            if now >= before:
                return
        elif board.matches[new] < k:
            return


def _hide_own_cells(board: Board, k: int, masks: Sequence[tuple[int, ...]]) -> bool:
    """Where no neighbourhood helps, a row at risk hides the fewest cells that cure it. Did any?"""
    if board.known:
        return _hide_others_cells(board, k, masks[-1])
    changed = False
    for row in np.flatnonzero(board.find_at_risk(k)).tolist():
        while board.count[row] > 0 and board.matches[row] < k:
            allowed = (mask for mask in masks if board.may_hide(np.array([row]), mask)[0])
            mask = next((mask for mask in allowed if _is_cured_by(board, k, row, mask)), None)
            if mask is None:
                break
            board.hide_cells(row, mask)
            changed = True
    return changed


def _hide_others_cells(board: Board, k: int, mask: tuple[int, ...]) -> bool:
    """Under `known`, whoever can fit a victim at risk by hiding a mask does so. Did any?"""
    visible = [a for a in range(board.codes.shape[1]) if a not in mask]
    changed = False
    for victim in np.flatnonzero(board.find_at_risk(k)).tolist():
        while board.matches[victim] < k:
            alike = board.codes[: board.size] == board.codes[victim]
            fits = alike | (board.codes[: board.size] == HIDDEN)
            able = np.all(fits[:, visible], axis=1) & ~np.all(fits, axis=1)
            able &= board.count[: board.size] > 0
            if board.kept is not None:
                able &= board.may_hide(np.arange(board.size), mask)
            if not np.any(able):
                break
            board.hide_cells(int(np.flatnonzero(able)[0]), mask)
            changed = True
    return changed


def _is_cured_by(board: Board, k: int, row: int, mask: tuple[int, ...]) -> bool:
    trial = board.codes[row].copy()
    trial[list(mask)] = HIDDEN
    return bool(kernels.count_matches(board.codes, board.count, board.size, trial) >= k)
