"""What attackers find in a history at a setting: how far each way to protect it has gone.

The release is attacked by who knows that their victim is in it and tells what is known as coarsely
as it does; by who knows the original, of which it may leave records out; and, where that says
more, by who tells what they know as finely as they know it. The worst of them counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Limit, Outcome
from divulge.data import Dataset
from divulge.events import Attacker, History, attack
from divulge.events.history.calendar import COARSER
from divulge.events.knowledge.facets import Facet, parse_facet
from divulge.events.protected.item_compatibility import has_unclear_events
from divulge.protection.changes.changes import select_records
from divulge.protection.history.changes import (
    cap_baskets,
    coarsen_items,
    coarsen_times,
    sample_users,
    select_common_items,
)
from divulge.protection.suppression.request import OutOfReachError
from divulge.work import DivulgeError, Interruption
from divulge.work.arrays import Ints

EVENT_FACETS = ("kinds", "records", "basket", "items")
"""What is known of whole events."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How far each method has gone; None: not used."""

    time: str | None = None
    item: int | None = None
    rare: int | None = None
    basket: int | None = None
    sample: float | None = None


@dataclass(frozen=True, kw_only=True)
class HistoryAttacks:
    """What is asked of a history: who attacks it, and what they may find.

    `members_known`: whether attackers know who is in the release; else leaving users out protects.
    """

    dataset: Dataset
    attackers: dict[str, Attacker]
    limits: tuple[Limit, ...]
    user: str
    time: str
    item: str
    seed: int
    members_known: bool
    reading_options: dict[str, Any]

    def coarsen_records(self, setting: Setting) -> Dataset:
        """All records, told as coarsely as a setting says."""
        current = self.dataset
        if setting.time is not None:
            current = coarsen_times(current, self.time, setting.time)
        if setting.item is not None:
            current = coarsen_items(current, self.item, setting.item)
        return current

    def build_release(self, setting: Setting) -> tuple[Dataset, Ints]:
        """What would be released, and which records those are."""
        current = self.coarsen_records(setting)
        kept = np.arange(current.rows)
        for keep in self._list_filters(setting):
            places = keep(select_records(current, kept))
            kept = kept[places]
        return select_records(current, kept) if kept.size < current.rows else current, kept

    def _list_filters(self, setting: Setting) -> Iterator[Callable[[Dataset], Ints]]:
        if setting.rare is not None:
            least = setting.rare
            yield lambda dataset: select_common_items(dataset, self.user, self.item, least)
        if setting.basket is not None:
            cap = setting.basket
            event = self.reading_options.get("event", "day")
            yield lambda dataset: cap_baskets(
                dataset, self.user, self.time, event=event, cap=cap, seed=self.seed
            )
        if setting.sample is not None:
            share = setting.sample
            yield lambda dataset: sample_users(dataset, self.user, share, self.seed)

    def is_within_limits(self, setting: Setting) -> bool:
        """Whether every limit is shown to hold, by every way to attack."""
        try:
            return all(
                outcome.held
                for in_full in (False, True)
                for outcome in self.judge_limits(setting, in_full)[0]
            )
        except Interruption:
            raise
        except DivulgeError:
            return False  # what cannot be asked is not shown

    def sum_excess(self, setting: Setting) -> float:
        """By how much the limits are passed, all together."""
        outcomes, _ = self.judge_limits(setting)
        passed = [
            (o.value if o.most is None else o.most) - o.limit.bound for o in outcomes if not o.held
        ]
        return sum(max(0.0, each) for each in passed)

    def judge_limits(
        self, setting: Setting, in_full: bool = False
    ) -> tuple[tuple[Outcome, ...], Assessment]:
        """Every limit by the worst way to attack; and the assessment of the worst attacker.

        With `in_full`, also by who tells what they know as finely as they know it.
        """
        released, kept = self.build_release(setting)
        if kept.size == 0:
            raise OutOfReachError(f'dataset "{self.dataset.name}": no record would be left')
        outcomes, all_assessments = [], []
        for name, attacker in self.attackers.items():
            assessments = [
                each.named(name) for each in self._run_attacks(setting, attacker, released, in_full)
            ]
            for limit in self.limits:
                if limit.adversary in (None, name):
                    candidates = [limit.judge(each) for each in assessments]
                    outcomes.append(max(candidates, key=lambda o: (not o.held, o.value)))
            all_assessments += assessments
        return tuple(outcomes), max(all_assessments, key=lambda each: each.probabilistic.posterior)

    def _run_attacks(
        self, setting: Setting, attacker: Attacker, released: Dataset, in_full: bool
    ) -> list[Assessment]:
        """What an attacker finds, in every way that says something of its own."""
        whole = released.rows == self.dataset.rows
        release_history = self._build_history(released)
        blurred_history = self._build_history(released, missing="maybe", rounded=setting.time)
        tells_events = self._can_tell_events(attacker, blurred_history)
        if setting.time is not None and not tells_events:
            attacker = self._extend_to_longer_events(attacker, setting)
        assessments: list[Assessment] = []
        try:
            if whole or self.members_known or attacker.points > 1:
                assessments.append(attack(release_history, attacker))
            if not whole and attacker.points == 1:
                assessments.append(
                    attack(
                        self._build_history(self.coarsen_records(setting)),
                        attacker,
                        release_history,
                    )
                )
        except Interruption:
            raise
        except DivulgeError:
            if setting == Setting():
                raise
            assessments = []  # of days nobody can be asked for hours; what is known still counts
        if assessments and not tells_events:
            return assessments
        if not assessments or (in_full and self._is_more_informative(setting, attacker)):
            assessments.append(attack(self._build_history(self.dataset), attacker, blurred_history))
        return assessments

    def _build_history(self, dataset: Dataset, **how: Any) -> History:
        return History(dataset, self.user, self.time, self.item, **{**self.reading_options, **how})

    def _can_tell_events(self, attacker: Attacker, release: History) -> bool:
        """Whether the release tells apart the events of which an attacker knows what they hold."""
        of_events = any(each.kind in EVENT_FACETS for each in self._list_facets(attacker))
        return not (of_events and has_unclear_events(release))

    def _extend_to_longer_events(self, attacker: Attacker, setting: Setting) -> Attacker:
        """Who knows all that a week holds, for who knows something of a day of it: that is more.

        Drawn by record or user they find no less then. Nothing is shown where events are drawn
        (there are fewer weeks than days), or items are coarser too (two of a kind look like one).
        """
        if attacker.weight == "event" or setting.item is not None:
            raise DivulgeError("what is drawn by event cannot be shown where events run together")
        knows = []
        for words in attacker.knows:
            known_facet = parse_facet(words, self.dataset.names)
            is_of_items = isinstance(known_facet, Facet) and known_facet.kind == "items"
            level = (
                f" at {known_facet.level}"
                if isinstance(known_facet, Facet) and known_facet.level
                else ""
            )
            knows.append(f"all items{level}" if is_of_items else words)
        knows = list(dict.fromkeys(knows))
        return Attacker(knows, attacker.points, attacker.weight, attacker.guess, self.dataset.names)

    def _list_facets(self, attacker: Attacker) -> list[Facet]:
        facets = [parse_facet(words, self.dataset.names) for words in attacker.knows]
        return [each for each in facets if isinstance(each, Facet)]

    def _is_more_informative(self, setting: Setting, attacker: Attacker) -> bool:
        """Whether what is known says more of a coarser release than what it looks like there.

        Two days of a month want two records of it, three kinds of goods three; a week can lie in
        two months; and there are fewer months than days to be drawn. What is known of one record
        looks in the release as the record does.
        """
        if setting == Setting():
            return False
        facets = self._list_facets(attacker)
        crosses_units = setting.time is not None and any(
            each.kind == "when"
            and setting.time not in COARSER[each.words]
            and each.words not in COARSER[setting.time]
            for each in facets
        )
        of_events = attacker.weight == "event" or any(each.kind in EVENT_FACETS for each in facets)
        return attacker.points > 1 or crosses_units or of_events
