"""The most that can come out where an audit left something open: who may be known with more time.

With more time places are only taken away. So whose possible places all have two parties is never
known for certain, whatever else is found; and who knew the place would still guess among its
parties. Where all instances that hang together are closed, nothing more will come out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge.reconstruction.amounts import Bools, Ints
from divulge.reconstruction.level import Level
from divulge.reconstruction.phases import Phase
from divulge.reconstruction.prior import Floats


@dataclass(frozen=True, eq=False)
class AtMost:
    """Per record, whether its party may be known for certain, and the best chance to guess it."""

    known: Bools
    chance: Floats


def at_most(levels: tuple[Level, ...], last: Phase, parties_at: Ints) -> AtMost:
    """What may be known of the records if the audit went on.

    Args:
        levels: the tables as far as they are settled, the finest first.
        last: what is known now. It stays so for records that the finest table does not have.
        parties_at: how many parties are listed at every place of the finest table.
    """
    fine = levels[0]
    by_known_rules = all(level.known for level in levels)
    unsettled = _unsettled(levels, len(last.certain))
    known, chance = last.identified.copy(), last.counted.copy()
    for n, group in enumerate(fine.matched.groups):
        result, possible = fine.results[n], fine.possible[n]
        parties = parties_at[fine.matched.place[group.rows]]
        party = fine.party(group, parties)
        done = by_known_rules and not unsettled[group.records].any()
        if (
            not by_known_rules
            or n in fine.contradicted
            or result is None
            or not result.proved.any()
        ):
            possible = np.ones_like(possible)  # by another rule, or other totals
        elif not result.sure.all():
            possible = fine.beyond_doubt[n]  # if records are missing
        if not done:
            known[group.records] = (possible & (parties == 1)).any(axis=1)
        if not done or result is None or result.shares is None:
            best = np.where(possible, party, 0.0).max(axis=1)
            chance[group.records] = np.maximum(best, chance[group.records])
    return AtMost(known, np.where(known, 1.0, chance))


def _unsettled(levels: tuple[Level, ...], rows: int) -> Bools:
    """Records of which more may come out: those of open instances, and all that hang together.

    What is doubtful, because records may be missing, is not settled either.
    """
    found = np.zeros(rows, bool)
    for level in levels:
        for n, group in enumerate(level.matched.groups):
            result = level.results[n]
            sure = result is not None and bool(result.sure.all())
            found[group.records] |= not (sure and (level.is_closed(n) or level.is_settled(n)))
    while True:
        before = int(found.sum())
        for level in levels:
            # Records without totals have the number -1, and so a place of their own at the end.
            touched = np.zeros(len(level.matched.groups) + 1, bool)
            touched[level.matched.group_of[found]] = True
            touched[-1] = False
            found |= touched[level.matched.group_of]
        if int(found.sum()) == before:
            return found
