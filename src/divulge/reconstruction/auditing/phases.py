"""What the adversary knows after a phase: the places left to a record, and who is alone there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from divulge.reconstruction.auditing.prior import Floats
from divulge.reconstruction.auditing.table_state import Level
from divulge.reconstruction.problem.amounts import Bools, Ints
from divulge.reconstruction.problem.result import Result


@dataclass(frozen=True, eq=False)
class Phase:
    """What is known after one phase: per record the places left, and the chance to name its party.

    `place` is the one place left as a number, -1 if there are several; `certain` are records
    whose place is known, `identified` those whose party is; `chance` is one over the parties in the
    places left, `counted` the best guess by counting allocations. `exact`: more time would not have
    changed them.
    """

    name: str
    places_left: Ints
    place: Ints
    certain: Bools
    identified: Bools
    chance: Floats
    counted: Floats
    exact: bool = False

    def confirmed_by(self, other: Phase) -> Phase:
        """The same, with as certain only what another reading of the totals finds certain too."""
        same = other.certain & (other.place == self.place)
        certain, identified = self.certain & same, self.identified & same
        return replace(self, certain=certain, identified=identified, exact=other.exact)


@dataclass(frozen=True, eq=False)
class Listed:
    """The parties that are listed: how many at every place of the finest table.

    `in_all` are all that a record may be of: those that are listed anywhere, and one at every place
    that has a total and nobody listed.
    """

    at_place: Ints
    in_all: int


def before_any_phase(fine: Level, rows: int, listed: Listed) -> Phase:
    """Before anything: every party is as likely."""
    nobody = np.zeros(rows, bool)
    chance = np.full(rows, 1 / listed.in_all)
    left = np.full(rows, len(fine.matched.names), np.int64)
    nowhere = np.full(rows, -1, np.int64)
    return Phase("prior", left, nowhere, nobody, nobody.copy(), chance, _blind(fine, chance))


def _blind(fine: Level, chance: Floats) -> Floats:
    """The best guess without any totals: by the sectors, where they are taken into account."""
    if fine.weights is None:
        return chance.copy()
    return fine.weights.everywhere[fine.weights.value_of_record]


def phase_of(name: str, fine: Level, sound: Bools, listed: Listed) -> Phase:
    """Where the records can be now, and who is alone there.

    Args:
        name: what the phase is called.
        fine: the finest table, as far as it is settled.
        sound: records of which something may be concluded.
        listed: the parties by place.
    """
    rows = len(sound)
    left = np.full(rows, len(fine.matched.names), np.int64)
    place = np.full(rows, -1, np.int64)
    certain, identified = np.zeros(rows, bool), np.zeros(rows, bool)
    chance = np.full(rows, 1 / listed.in_all)
    counted = _blind(fine, chance)
    for n, group in enumerate(fine.matched.groups):
        if fine.is_unsound(n):
            continue
        result, possible, free = fine.results[n], fine.possible[n], fine.discardable(n)
        parties = listed.at_place[fine.matched.place[group.rows]]
        somewhere = np.zeros(len(group.records), bool) if free is None else free
        sure = np.ones(len(group.records), bool) if result is None else result.sure
        sure = sure & (fine.rule != "unknown_clt") & sound[group.records]
        places = possible.sum(axis=1)
        # A place without a listed party has one that is not listed.
        people = np.where(somewhere, listed.in_all, possible @ np.maximum(parties, 1))
        alone = possible @ parties == 1
        left[group.records] = np.where(somewhere, len(fine.matched.names), places)
        one = fine.matched.place[group.rows][possible.argmax(axis=1)]
        place[group.records] = np.where((places == 1) & ~somewhere, one, -1)
        certain[group.records] = (places == 1) & ~somewhere & sure
        identified[group.records] = (people == 1) & alone & ~somewhere & sure
        chance[group.records] = 1 / np.maximum(people, 1)
        party = fine.party(group, parties)
        weights = fine.prior(group)
        if weights is not None and result is None:
            # Before anything is allocated, places are as likely as their parties.
            there = np.where(possible, weights, 0.0)
            there /= np.maximum(there.sum(axis=1, keepdims=True), 1e-300)
            guess = (there * party).max(axis=1)
        else:
            # Whatever the shares of the places are, the best of them is worth so much.
            guess = 1 / np.maximum((possible / party).sum(axis=1), 1)
        blind = counted[group.records]
        if result is not None and not result.proved.any():
            somewhere = np.ones_like(somewhere)  # the totals may lack it, for all that is known
        if weights is None:
            guess = np.where(somewhere, np.minimum(blind, guess), guess)
        else:
            # Whatever the share of what leaves it out is, the best of the two is worth so much.
            guess = np.where(somewhere, blind * guess / (blind + guess), guess)
        at_large = fine.party_at_large(group, listed.in_all)
        counted[group.records] = _best_guess(result, possible, party, guess, at_large, blind)
    return Phase(name, left, place, certain, identified, chance, counted)


def _best_guess(
    result: Result | None,
    possible: Bools,
    party: Floats,
    uniform: Floats,
    at_large: Floats,
    blind: Floats,
) -> Floats:
    """The best chance to name a party by counting allocations; by places left where not counted.

    In as many allocations as leave the record out of the totals, nothing tells where it is.
    """
    if result is None or result.shares is None:
        return uniform
    shares, out = np.where(possible, result.shares, 0.0), result.discarded
    total = shares.sum(axis=1) + out
    best: Floats = (shares * party + out[:, None] * at_large).max(axis=1, initial=0.0)
    best = np.maximum(best, out * blind)
    return np.where(total > 0, best / np.maximum(total, 1e-300), uniform)
