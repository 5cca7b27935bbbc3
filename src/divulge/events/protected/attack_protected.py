"""On a protected release: knowledge drawn from the original, matches looked up in the release.

A guess is right only if the right user is among those who may have what is known. Values that
were left as they were, coarser ones and hidden ones may all stand for it (`covering`). Where they
know several points, or several items of one event, each needs a record of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.events.history.history import History
from divulge.events.history.ordering import Ints
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge.facets import Facet
from divulge.events.matching import kernels
from divulge.events.matching.item_subsets import Subsets, subsets
from divulge.events.matching.matching import Floats, Tally, weight_of_record
from divulge.events.protected.candidate_lookup import Lookup, People, lookup
from divulge.events.protected.item_compatibility import event_unclear
from divulge.events.protected.value_compatibility import as_it_was
from divulge.work import DivulgeError


@dataclass(frozen=True, eq=False)
class Each:
    """What each record of a history bears: what it weighs, and how much of it is found."""

    weight: Floats
    uniform: Floats
    best: Floats
    certain: Floats

    def right(self, guess: str) -> Floats:
        """How much of each record's weight a guess gets right."""
        return self.best if guess == "best" else self.uniform


@dataclass(frozen=True, eq=False)
class Draws:
    """Pieces of knowledge that may be drawn: whose they are, and what each weighs."""

    pieces: Ints
    user: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of each draw: how many users fit, and what the two guesses get right."""

    draws: Draws
    matching: Ints
    among: npt.NDArray[np.bool_]
    likeliest: Floats
    """The chance that who has most records that fit is the right one: some may be alike."""

    @property
    def uniform(self) -> Floats:
        """The chance that any of those who fit is the right one."""
        return np.where(self.among, 1 / np.maximum(self.matching, 1), 0.0)

    @property
    def certain(self) -> npt.NDArray[np.bool_]:
        """Whether only the right user fits."""
        alone: npt.NDArray[np.bool_] = self.among & (self.matching == 1)
        return alone

    @property
    def misled(self) -> float:
        """The share of draws that fit somebody, and not the right user."""
        wrong = (self.matching > 0) & ~self.among
        return float(self.draws.weight @ wrong / self.draws.weight.sum())

    def tally(self, users: int) -> Tally:
        """The figures by user and by number of matches."""
        by_user = np.zeros((users, 5))
        weight, user = self.draws.weight, self.draws.user
        for column, share in (
            (kernels.RIGHT_UNIFORM, self.uniform),
            (kernels.RIGHT_BEST, self.likeliest),
            (kernels.CERTAIN, self.certain),
            (kernels.WEIGHT, 1.0),
        ):
            by_user[:, column] = np.bincount(user, weight * share, users)
        np.maximum.at(by_user[:, kernels.MOST], user, self.uniform)
        cells = len(np.unique(self.draws.pieces, axis=0))
        return Tally(by_user, np.bincount(self.matching, weight).astype(np.float64), cells)


def looked_up(found: Lookup, draws: Draws) -> Outcome:
    """Look up draws; those of the same knowledge stand together, so that it is done once."""
    order = np.lexsort(draws.pieces.T[::-1])
    with work.step("Matching knowledge with users"):
        sorted_found = found.fits(draws.pieces[order], draws.user[order])
    results = []
    for part in sorted_found:
        back = np.empty_like(part)
        back[order] = part
        results.append(back)
    return Outcome(draws, *results)


def one_point_released(
    history: History, attacker: Attacker, release: History
) -> tuple[Outcome, Each]:
    """Knowledge of one event, looked up in the release: all of it, and what each record bears."""
    facets = attacker.facets(history)
    people = People(history, release)
    several = next((facet for facet in facets if facet.kind == "items"), None)
    if several is not None:
        return _several_items(people, facets, several, attacker.weight)
    found = lookup(people, facets, attacker.weight)
    user = history.user_of_record.astype(np.int64)
    weights, rows, copies = _record_weights(history, found.x_of_record, attacker.weight)
    draws = Draws(found.x_of_record[rows][:, None], user[rows], weights[rows] * copies[rows])
    outcome = looked_up(found, draws)
    if attacker.weight != "event":
        return outcome, _each(outcome, weights)
    # Pairs stand in their own order; records that are one event (or pair) share weight and fate.
    pair = found.x_of_record * history.events + history.event_of_record
    _, of_record = np.unique(pair, return_inverse=True)
    spread = Outcome(
        Draws(draws.pieces[of_record], user, weights),
        outcome.matching[of_record],
        outcome.among[of_record],
        outcome.likeliest[of_record],
    )
    return outcome, _each(spread, weights)


def _record_weights(
    history: History, x: Ints, weight: str | Mapping[Any, float]
) -> tuple[Floats, Ints, Ints]:
    """What each record weighs, the records that are drawn, and how many each stands for."""
    if weight != "event":
        weights = weight_of_record(history, weight)[history.user_of_record]
        every = np.arange(history.records)
        return weights, every, np.ones(history.records, np.int64)
    pair = x * history.events + history.event_of_record
    _, first, of_record, many = np.unique(
        pair, return_index=True, return_inverse=True, return_counts=True
    )
    return 1 / many[of_record], first, many[of_record]


def _each(outcome: Outcome, weights: Floats) -> Each:
    shares = (outcome.uniform, outcome.likeliest, outcome.certain)
    return Each(weights, *(weights * share for share in shares))


def _several_items(
    people: People, facets: list[Facet], several: Facet, weight: str | Mapping[Any, float]
) -> tuple[Outcome, Each]:
    """Several items of an event, and what else is known of it, looked up by event."""
    history, release = people.original, people.release
    if event_unclear(release):
        raise DivulgeError(
            f'attacker, knows: "{several.words}" is of one event, and in the release not every '
            f"record says its {release.event}; give event= an attribute that was left as it was"
        )
    others = [facet for facet in facets if facet.kind != "items"]
    items = lookup(people, [several], weight, by_event=True)
    drawn: Subsets = subsets(history, others, several, weight)
    pieces = np.where(drawn.place >= 0, items.x_of_record[drawn.record_of_pair[drawn.place]], -1)
    found = items
    if others:
        rest = lookup(people, others, weight, by_event=True)
        found = items.with_more(rest)
        other = rest.x_of_record[history.first_of_event[drawn.event]] + items.pieces
        pieces = np.column_stack([pieces, other])
    user = history.user_of_event[drawn.event].astype(np.int64)
    outcome = looked_up(found, Draws(pieces, user, drawn.weight))
    shares = (outcome.uniform, outcome.likeliest, outcome.certain)
    return outcome, Each(drawn.on_records(1.0), *(drawn.on_records(share) for share in shares))


def within_bounds(history: History, release: History, facets: Sequence[Facet], points: int) -> bool:
    """Whether users are counted who cannot fit: then the figures are an estimate.

    What single records show is matched exactly. But the number of kinds or the basket of an event
    with hidden items is known within bounds, beside which its items (or those of another point, or
    its basket at another level) are looked up by themselves.
    """
    kinds = {each.kind for each in facets}
    if points == 1:
        held = [each for each in facets if each.kind in ("kinds", "basket")]
        beside = bool(kinds & {"item", "items"}) or (len(held) > 1 and not _settled(held))
        unclear = bool(held) and beside
    else:
        unclear = bool(kinds & {"kinds", "records", "basket"})
    return unclear and not as_it_was(history, release)


def _settled(held: Sequence[Facet]) -> bool:
    """Whether one of the things known of an event's items says all the others."""
    whole = [each for each in held if each.kind == "basket" and not each.level]
    repeated = any(each.every for each in held)
    return any(each.every for each in whole) or (bool(whole) and not repeated)
