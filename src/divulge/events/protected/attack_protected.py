"""On a protected release: knowledge drawn from the original, matches looked up in the release.

A guess is right only if the right user is among those who may have what is known. Values that
were left as they were, coarser ones and hidden ones may all stand for it (`value_compatibility`).
Where they know several points, or several items of one event, each needs a record of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.events.history.history import History
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge.facets import Facet
from divulge.events.matching import kernels
from divulge.events.matching.item_subsets import ItemSubsets, enumerate_item_subsets
from divulge.events.matching.matching import Tally, weigh_record_by_user
from divulge.events.protected.candidate_lookup import Lookup, UserNumbering, build_lookup
from divulge.events.protected.item_compatibility import has_unclear_events
from divulge.events.protected.value_compatibility import has_only_omissions
from divulge.work import DivulgeError
from divulge.work.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class RecordShares:
    """What each record of a history bears: what it weighs, and how much of it is found."""

    weight: Floats
    uniform: Floats
    best: Floats
    certain: Floats

    def correct_shares(self, guess: str) -> Floats:
        """How much of each record's weight a guess gets right."""
        return self.best if guess == "best" else self.uniform


@dataclass(frozen=True, eq=False)
class Draws:
    """Pieces of knowledge that may be drawn: whose they are, and what each weighs."""

    pieces: Ints
    user: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class LookupResult:
    """What came of each draw: how many users fit, and what the two guesses get right."""

    draws: Draws
    matching: Ints
    includes_target: npt.NDArray[np.bool_]
    likeliest_chance: Floats
    """The chance that who has most records that fit is the right one: some may be alike."""

    @property
    def uniform_chance(self) -> Floats:
        """The chance that any of those who fit is the right one."""
        return np.where(self.includes_target, 1 / np.maximum(self.matching, 1), 0.0)

    @property
    def certain(self) -> npt.NDArray[np.bool_]:
        """Whether only the right user fits."""
        alone: npt.NDArray[np.bool_] = self.includes_target & (self.matching == 1)
        return alone

    @property
    def misled_share(self) -> float:
        """The share of draws that fit somebody, and not the right user."""
        wrong = (self.matching > 0) & ~self.includes_target
        return float(self.draws.weight @ wrong / self.draws.weight.sum())

    def to_tally(self, users: int) -> Tally:
        """The figures by user and by number of matches."""
        by_user = np.zeros((users, 5))
        weight, user = self.draws.weight, self.draws.user
        for column, share in (
            (kernels.RIGHT_UNIFORM, self.uniform_chance),
            (kernels.RIGHT_BEST, self.likeliest_chance),
            (kernels.CERTAIN, self.certain),
            (kernels.WEIGHT, 1.0),
        ):
            by_user[:, column] = np.bincount(user, weight * share, users)
        np.maximum.at(by_user[:, kernels.WORST_CASE], user, self.uniform_chance)
        cells = len(np.unique(self.draws.pieces, axis=0))
        return Tally(by_user, np.bincount(self.matching, weight).astype(np.float64), cells)


def look_up_draws(candidates: Lookup, draws: Draws) -> LookupResult:
    """Look up draws; those of the same knowledge stand together, so that it is done once."""
    order = np.lexsort(draws.pieces.T[::-1])
    with work.step("Matching knowledge with users"):
        sorted_results = candidates.match_draws(draws.pieces[order], draws.user[order])
    results = []
    for part in sorted_results:
        back = np.empty_like(part)
        back[order] = part
        results.append(back)
    return LookupResult(draws, *results)


def match_one_point(
    history: History, attacker: Attacker, release: History
) -> tuple[LookupResult, RecordShares]:
    """Knowledge of one event, looked up in the release: all of it, and what each record bears."""
    facets = attacker.facets(history)
    people = UserNumbering(history, release)
    items_facet = next((facet for facet in facets if facet.kind == "items"), None)
    if items_facet is not None:
        return _match_several_items(people, facets, items_facet, attacker.weight)
    candidates = build_lookup(people, facets, attacker.weight)
    user = history.user_of_record.astype(np.int64)
    weights, rows, copies = _weigh_records(history, candidates.x_of_record, attacker.weight)
    draws = Draws(candidates.x_of_record[rows][:, None], user[rows], weights[rows] * copies[rows])
    outcome = look_up_draws(candidates, draws)
    if attacker.weight != "event":
        return outcome, _share_by_record(outcome, weights)
    # Pairs stand in their own order; records that are one event (or pair) share weight and fate.
    pair = candidates.x_of_record * history.events + history.event_of_record
    _, of_record = np.unique(pair, return_inverse=True)
    spread = LookupResult(
        Draws(draws.pieces[of_record], user, weights),
        outcome.matching[of_record],
        outcome.includes_target[of_record],
        outcome.likeliest_chance[of_record],
    )
    return outcome, _share_by_record(spread, weights)


def _weigh_records(
    history: History, x: Ints, weight: str | Mapping[Any, float]
) -> tuple[Floats, Ints, Ints]:
    """What each record weighs, the records that are drawn, and how many each stands for."""
    if weight != "event":
        weights = weigh_record_by_user(history, weight)[history.user_of_record]
        every = np.arange(history.records)
        return weights, every, np.ones(history.records, np.int64)
    pair = x * history.events + history.event_of_record
    _, first, of_record, many = np.unique(
        pair, return_index=True, return_inverse=True, return_counts=True
    )
    return 1 / many[of_record], first, many[of_record]


def _share_by_record(outcome: LookupResult, weights: Floats) -> RecordShares:
    shares = (outcome.uniform_chance, outcome.likeliest_chance, outcome.certain)
    return RecordShares(weights, *(weights * share for share in shares))


def _match_several_items(
    people: UserNumbering,
    facets: list[Facet],
    items_facet: Facet,
    weight: str | Mapping[Any, float],
) -> tuple[LookupResult, RecordShares]:
    """Several items of an event, and what else is known of it, looked up by event."""
    history, release = people.original, people.release
    if has_unclear_events(release):
        raise DivulgeError(
            f'attacker, knows: "{items_facet.words}" is of one event, and in the release not every '
            f"record says its {release.event}; give event= an attribute that was left as it was"
        )
    others = [facet for facet in facets if facet.kind != "items"]
    items = build_lookup(people, [items_facet], weight, by_event=True)
    item_subsets: ItemSubsets = enumerate_item_subsets(history, others, items_facet, weight)
    pieces = np.where(
        item_subsets.place >= 0,
        items.x_of_record[item_subsets.record_of_pair[item_subsets.place]],
        -1,
    )
    candidates = items
    if others:
        rest = build_lookup(people, others, weight, by_event=True)
        candidates = items.append_lookup(rest)
        other = rest.x_of_record[history.first_of_event[item_subsets.event]] + items.pieces
        pieces = np.column_stack([pieces, other])
    user = history.user_of_event[item_subsets.event].astype(np.int64)
    outcome = look_up_draws(candidates, Draws(pieces, user, item_subsets.weight))
    shares = (outcome.uniform_chance, outcome.likeliest_chance, outcome.certain)
    return outcome, RecordShares(
        item_subsets.spread_on_records(1.0),
        *(item_subsets.spread_on_records(share) for share in shares),
    )


def may_overcount_users(
    history: History, release: History, facets: Sequence[Facet], points: int
) -> bool:
    """Whether users are counted who cannot fit: then the figures are an estimate.

    What single records show is matched exactly. But the number of kinds or the basket of an event
    with hidden items is known within bounds, beside which its items (or those of another point, or
    its basket at another level) are looked up by themselves.
    """
    kinds = {each.kind for each in facets}
    if points == 1:
        basket_facets = [each for each in facets if each.kind in ("kinds", "basket")]
        beside = bool(kinds & {"item", "items"}) or (
            len(basket_facets) > 1 and not _has_decisive_facet(basket_facets)
        )
        unclear = bool(basket_facets) and beside
    else:
        unclear = bool(kinds & {"kinds", "records", "basket"})
    return unclear and not has_only_omissions(history, release)


def _has_decisive_facet(basket_facets: Sequence[Facet]) -> bool:
    """Whether one of the things known of an event's items says all the others."""
    whole = [each for each in basket_facets if each.kind == "basket" and not each.level]
    repeated = any(each.every for each in basket_facets)
    return any(each.every for each in whole) or (bool(whole) and not repeated)
