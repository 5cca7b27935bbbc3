"""The most that can come out where an audit left something open: who may be known with more time.

With more time places are only taken away. So whose possible places all have two parties is never
known for certain, whatever else is found; and who knew the place would still guess among its
parties. Where all connected instances are closed, and nobody has a choice in two tables,
nothing more will come out. While a rule of rounding is in doubt, what counts is what all rules that
may be right exclude.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.reconstruction.auditing.phases import Phase
from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.solving.extra_record import allow_one_more_record
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class RiskBound:
    """Per record, whether its party may be known for certain, and the best chance to guess it."""

    may_be_known: Bools
    chance: Floats


def bound_remaining_risk(
    levels: tuple[TableState, ...],
    by_any_rule: tuple[TableState, ...],
    phases: Sequence[Phase],
    *,
    parties_at: Ints,
    used: Bools,
    coupled: Bools,
    at_fixpoint: bool,
) -> RiskBound:
    """What may be known of the records if the audit went on.

    Args:
        levels: the tables as far as they are settled, the finest first.
        by_any_rule: the same, read by every rule that they may be rounded by, where a rule is in
            doubt: what is excluded there is excluded by the right one.
        phases: what is known before any phase, ..., and now. What is known now stays so for
            records that the finest table does not have.
        parties_at: how many parties are listed at every place of the finest table.
        used: records whose amounts can be used.
        coupled: records of which the tables may tell more together.
        at_fixpoint: whether tables were left to limit each other until nothing changed.
    """
    prior_phase, last = phases[0], phases[-1]
    fine = by_any_rule[0] if by_any_rule else levels[0]
    # Whoever learns by which rule totals were rounded may exclude more.
    unsettled = np.ones(len(used), bool)
    if at_fixpoint and not by_any_rule:
        unsettled = _find_unsettled_records(levels, len(used)) | coupled
    may_be_known, chance = last.identified.copy(), last.guess_chance.copy()
    for n, group in enumerate(fine.totals_match.groups):
        result, possible = fine.results[n], _find_possible_places(fine, n, used)
        parties = parties_at[fine.totals_match.place[group.rows]]
        party = fine.compute_party_chance(group, parties)
        is_settled = not unsettled[group.records].any()
        if not is_settled:
            alone = (possible & (parties == 1)).any(axis=1)
            may_be_known[group.records] = alone | last.identified[group.records]
        if not is_settled or result is None or result.shares is None:
            # Who is in none of the totals is guessed among all.
            best = np.where(possible, party, 0.0).max(axis=1)
            best = np.maximum(best, prior_phase.guess_chance[group.records])
            chance[group.records] = np.maximum(best, chance[group.records])
    return RiskBound(may_be_known, np.where(may_be_known, 1.0, chance))


def _find_possible_places(level: TableState, n: int, used: Bools) -> Bools:
    """Where records of an instance may be, even if records are missing or one is too many."""
    group, result = level.totals_match.groups[n], level.results[n]
    everywhere = np.ones_like(level.possible[n])
    if result is None and used[group.records].all():
        instance = allow_one_more_record(level.build_instance(group, level.readings, everywhere))
        most = instance.high + instance.slack_by_count[:, -1] + instance.extra_above[:, -1]
        return np.array((instance.amounts[:, None] <= most).all(axis=2), bool)
    if result is None or n in level.contradictions or not result.proved.any():
        return everywhere  # by other totals
    return level.possible[n] if result.sure.all() else level.beyond_doubt[n]


def _find_unsettled_records(levels: tuple[TableState, ...], rows: int) -> Bools:
    """Records of which more may come out: those of open instances, and all connected with them.

    What is doubtful, because records may be missing, is not settled either.
    """
    unsettled = np.zeros(rows, bool)
    for level in levels:
        for n, group in enumerate(level.totals_match.groups):
            result = level.results[n]
            sure = result is not None and bool(result.sure.all())
            unsettled[group.records] |= not (sure and (level.is_closed(n) or level.is_settled(n)))
    while True:
        before = int(unsettled.sum())
        for level in levels:
            # Records without totals have the number -1, and so a place of their own at the end.
            touched = np.zeros(len(level.totals_match.groups) + 1, bool)
            touched[level.totals_match.group_of[unsettled]] = True
            touched[-1] = False
            unsettled |= touched[level.totals_match.group_of]
        if int(unsettled.sum()) == before:
            return unsettled
