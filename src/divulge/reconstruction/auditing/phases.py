"""What the adversary knows after a phase: the places left to a record, and who is alone there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from divulge.reconstruction.auditing.table_state import TableState
from divulge.reconstruction.problem.result import InstanceResult
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Phase:
    """What is known after one phase: per record the places left, and the chance to name its party.

    `place` is the one place left as a number, -1 if there are several; `certain` are records
    whose place is known, `identified` those whose party is; `chance` is one over the parties in the
    places left, `guess_chance` the best guess by counting allocations. `exact`: more time would
    not have changed them.
    """

    name: str
    places_left: Ints
    place: Ints
    certain: Bools
    identified: Bools
    chance: Floats
    guess_chance: Floats
    exact: bool = False

    def confirm_by(self, other: Phase) -> Phase:
        """The same, with as certain only what another reading of the totals finds certain too."""
        same = other.certain & (other.place == self.place)
        certain, identified = self.certain & same, self.identified & same
        return replace(self, certain=certain, identified=identified, exact=other.exact)


@dataclass(frozen=True, eq=False)
class PartyCounts:
    """The parties that are listed: how many at every place of the finest table.

    `in_all` are all that a record may be of: those that are listed anywhere, and one at every place
    that has a total and nobody listed.
    """

    at_place: Ints
    in_all: int


def build_prior_phase(fine: TableState, rows: int, party_counts: PartyCounts) -> Phase:
    """Before anything: every party is as likely."""
    nobody = np.zeros(rows, bool)
    chance = np.full(rows, 1 / party_counts.in_all)
    places_left = np.full(rows, len(fine.totals_match.names), np.int64)
    nowhere = np.full(rows, -1, np.int64)
    return Phase(
        name="prior",
        places_left=places_left,
        place=nowhere,
        certain=nobody,
        identified=nobody.copy(),
        chance=chance,
        guess_chance=_compute_prior_guess(fine, chance),
    )


def _compute_prior_guess(fine: TableState, chance: Floats) -> Floats:
    """The best guess without any totals: by the sectors, where they are taken into account."""
    if fine.weights is None:
        return chance.copy()
    return fine.weights.everywhere[fine.weights.value_of_record]


def build_phase(name: str, fine: TableState, sound: Bools, party_counts: PartyCounts) -> Phase:
    """Where the records can be now, and who is alone there.

    Args:
        name: what the phase is called.
        fine: the finest table, as far as it is settled.
        sound: records of which something may be concluded.
        party_counts: the parties by place.
    """
    rows = len(sound)
    places_left = np.full(rows, len(fine.totals_match.names), np.int64)
    place = np.full(rows, -1, np.int64)
    certain, identified = np.zeros(rows, bool), np.zeros(rows, bool)
    chance = np.full(rows, 1 / party_counts.in_all)
    best_guess = _compute_prior_guess(fine, chance)
    for n, group in enumerate(fine.totals_match.groups):
        if fine.is_unsound(n):
            continue
        result, possible, free = fine.results[n], fine.possible[n], fine.find_discardable(n)
        parties = party_counts.at_place[fine.totals_match.place[group.rows]]
        may_be_left_out = np.zeros(len(group.records), bool) if free is None else free
        sure = np.ones(len(group.records), bool) if result is None else result.sure
        sure = sure & (fine.rule != "unknown_clt") & sound[group.records]
        places = possible.sum(axis=1)
        # A place without a listed party has one that is not listed.
        people = np.where(may_be_left_out, party_counts.in_all, possible @ np.maximum(parties, 1))
        alone = possible @ parties == 1
        places_left[group.records] = np.where(may_be_left_out, len(fine.totals_match.names), places)
        only_place = fine.totals_match.place[group.rows][possible.argmax(axis=1)]
        place[group.records] = np.where((places == 1) & ~may_be_left_out, only_place, -1)
        certain[group.records] = (places == 1) & ~may_be_left_out & sure
        identified[group.records] = (people == 1) & alone & ~may_be_left_out & sure
        chance[group.records] = 1 / np.maximum(people, 1)
        party = fine.compute_party_chance(group, parties)
        weights = fine.compute_place_prior(group)
        if weights is not None and result is None:
            # Before anything is allocated, places are as likely as their parties.
            place_shares = np.where(possible, weights, 0.0)
            place_shares /= np.maximum(place_shares.sum(axis=1, keepdims=True), 1e-300)
            guess = (place_shares * party).max(axis=1)
        else:
            # Whatever the shares of the places are, the best of them is worth so much.
            guess = 1 / np.maximum((possible / party).sum(axis=1), 1)
        prior_guess = best_guess[group.records]
        if result is not None and not result.proved.any():
            may_be_left_out = np.ones_like(
                may_be_left_out
            )  # the totals may lack it, for all that is known
        if weights is None:
            guess = np.where(may_be_left_out, np.minimum(prior_guess, guess), guess)
        else:
            # Whatever the share of what leaves it out is, the best of the two is worth so much.
            guess = np.where(may_be_left_out, prior_guess * guess / (prior_guess + guess), guess)
        at_large = fine.compute_chance_anywhere(group, party_counts.in_all)
        best_guess[group.records] = _compute_best_guess(
            result, possible, party, uniform=guess, at_large=at_large, prior_guess=prior_guess
        )
    return Phase(
        name=name,
        places_left=places_left,
        place=place,
        certain=certain,
        identified=identified,
        chance=chance,
        guess_chance=best_guess,
    )


def _compute_best_guess(
    result: InstanceResult | None,
    possible: Bools,
    party: Floats,
    *,
    uniform: Floats,
    at_large: Floats,
    prior_guess: Floats,
) -> Floats:
    """The best chance to name a party by counting allocations; by places left where not counted.

    In as many allocations as leave the record out of the totals, nothing tells where it is.
    """
    if result is None or result.shares is None:
        return uniform
    shares, left_out_share = np.where(possible, result.shares, 0.0), result.discarded
    total = shares.sum(axis=1) + left_out_share
    best: Floats = (shares * party + left_out_share[:, None] * at_large).max(axis=1, initial=0.0)
    best = np.maximum(best, left_out_share * prior_guess)
    return np.where(total > 0, best / np.maximum(total, 1e-300), uniform)
