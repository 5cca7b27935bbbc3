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
from divulge.classes.keys import IntArray
from divulge.data import Dataset
from divulge.events import Attacker, History, attack
from divulge.events.history.calendar import COARSER
from divulge.events.knowledge.facets import Facet, facet
from divulge.events.protected.item_compatibility import event_unclear
from divulge.protection.changes.changes import taken
from divulge.protection.history.changes import (
    coarser_items,
    coarser_times,
    common_items,
    first_of_baskets,
    sampled_users,
)
from divulge.protection.suppression.request import OutOfReachError
from divulge.work import DivulgeError

OF_EVENTS = ("kinds", "records", "basket", "items")
"""What is known of whole events."""


@dataclass(frozen=True)
class Setting:
    """How far each method has gone; None: not used."""

    time: str | None = None
    item: int | None = None
    rare: int | None = None
    basket: int | None = None
    sample: float | None = None


@dataclass(frozen=True)
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
    read: dict[str, Any]

    def coarsened(self, setting: Setting) -> Dataset:
        """All records, told as coarsely as a setting says."""
        current = self.dataset
        if setting.time is not None:
            current = coarser_times(current, self.time, setting.time)
        if setting.item is not None:
            current = coarser_items(current, self.item, setting.item)
        return current

    def released(self, setting: Setting) -> tuple[Dataset, IntArray]:
        """What would be released, and which records those are."""
        current = self.coarsened(setting)
        kept = np.arange(current.rows)
        for keep in self._filters(setting):
            places = keep(taken(current, kept))
            kept = kept[places]
        return taken(current, kept) if kept.size < current.rows else current, kept

    def _filters(self, setting: Setting) -> Iterator[Callable[[Dataset], IntArray]]:
        if setting.rare is not None:
            least = setting.rare
            yield lambda seen: common_items(seen, self.user, self.item, least)
        if setting.basket is not None:
            cap = setting.basket
            event = self.read.get("event", "day")
            yield lambda seen: first_of_baskets(seen, self.user, self.time, event, cap, self.seed)
        if setting.sample is not None:
            share = setting.sample
            yield lambda seen: sampled_users(seen, self.user, share, self.seed)

    def hold(self, setting: Setting) -> bool:
        """Whether every limit is shown to hold, by every way to attack."""
        try:
            return all(
                outcome.held
                for in_full in (False, True)
                for outcome in self.judged(setting, in_full)[0]
            )
        except DivulgeError:
            return False  # what cannot be asked is not shown

    def excess(self, setting: Setting) -> float:
        """By how much the limits are passed, all together."""
        outcomes, _ = self.judged(setting)
        passed = [
            (o.value if o.most is None else o.most) - o.limit.bound for o in outcomes if not o.held
        ]
        return sum(max(0.0, each) for each in passed)

    def judged(
        self, setting: Setting, in_full: bool = False
    ) -> tuple[tuple[Outcome, ...], Assessment]:
        """Every limit by the worst way to attack; and the assessment of the worst attacker.

        With `in_full`, also by who tells what they know as finely as they know it.
        """
        released, kept = self.released(setting)
        if kept.size == 0:
            raise OutOfReachError(f'dataset "{self.dataset.name}": no record would be left')
        outcomes, found = [], []
        for name, attacker in self.attackers.items():
            tries = [each.named(name) for each in self._tries(setting, attacker, released, in_full)]
            for limit in self.limits:
                if limit.adversary in (None, name):
                    judged = [limit.judge(each) for each in tries]
                    outcomes.append(max(judged, key=lambda o: (not o.held, o.value)))
            found += tries
        return tuple(outcomes), max(found, key=lambda each: each.probabilistic.posterior)

    def _tries(
        self, setting: Setting, attacker: Attacker, released: Dataset, in_full: bool
    ) -> list[Assessment]:
        """What an attacker finds, in every way that says something of its own."""
        whole = released.rows == self.dataset.rows
        seen = self._history(released)
        hiding = self._history(released, missing="maybe", rounded=setting.time)
        as_it_is = self._can_be_asked(attacker, hiding)
        if setting.time is not None and not as_it_is:
            attacker = self._knowing_longer_events(attacker, setting)
        tries: list[Assessment] = []
        try:
            if whole or self.members_known or attacker.points > 1:
                tries.append(attack(seen, attacker))
            if not whole and attacker.points == 1:
                tries.append(attack(self._history(self.coarsened(setting)), attacker, seen))
        except DivulgeError:
            if setting == Setting():
                raise
            tries = []  # of days nobody can be asked for hours; what is known still counts
        if tries and not as_it_is:
            return tries
        if not tries or (in_full and self._tells_more(setting, attacker)):
            tries.append(attack(self._history(self.dataset), attacker, hiding))
        return tries

    def _history(self, dataset: Dataset, **how: Any) -> History:
        return History(dataset, self.user, self.time, self.item, **{**self.read, **how})

    def _can_be_asked(self, attacker: Attacker, release: History) -> bool:
        """Whether the release tells apart the events of which an attacker knows what they hold."""
        of_events = any(each.kind in OF_EVENTS for each in self._facets(attacker))
        return not (of_events and event_unclear(release))

    def _knowing_longer_events(self, attacker: Attacker, setting: Setting) -> Attacker:
        """Who knows all that a week holds, for who knows something of a day of it: that is more.

        Drawn by record or user they find no less then. Nothing is shown where events are drawn
        (there are fewer weeks than days), or items are coarser too (two of a kind look like one).
        """
        if attacker.weight == "event" or setting.item is not None:
            raise DivulgeError("what is drawn by event cannot be shown where events run together")
        knows = []
        for words in attacker.knows:
            read = facet(words, self.dataset.names)
            some = isinstance(read, Facet) and read.kind == "items"
            level = f" at {read.level}" if isinstance(read, Facet) and read.level else ""
            knows.append(f"all items{level}" if some else words)
        knows = list(dict.fromkeys(knows))
        return Attacker(knows, attacker.points, attacker.weight, attacker.guess, self.dataset.names)

    def _facets(self, attacker: Attacker) -> list[Facet]:
        read = [facet(words, self.dataset.names) for words in attacker.knows]
        return [each for each in read if isinstance(each, Facet)]

    def _tells_more(self, setting: Setting, attacker: Attacker) -> bool:
        """Whether what is known says more of a coarser release than what it looks like there.

        Two days of a month want two records of it, three kinds of goods three; a week can lie in
        two months; and there are fewer months than days to be drawn. What is known of one record
        looks in the release as the record does.
        """
        if setting == Setting():
            return False
        facets = self._facets(attacker)
        apart = setting.time is not None and any(
            each.kind == "when"
            and setting.time not in COARSER[each.words]
            and each.words not in COARSER[setting.time]
            for each in facets
        )
        of_events = attacker.weight == "event" or any(each.kind in OF_EVENTS for each in facets)
        return attacker.points > 1 or apart or of_events
