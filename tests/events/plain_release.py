"""The plain twin of attacks on a protected release: who may have what is known, one by one.

A released record is (user, time, item): the time a date, a (year, month) or None, the item as it
was, a coarser label or None.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations, permutations, product
from statistics import mean
from typing import Any

from tests.events.plain import Record, baskets

KINDS = {"a": "vowel", "b": "consonant", "c": "consonant", "d": "consonant"}
Released = tuple[Any, Any, Any]


def when_fits(day: dt.date, shown: Any, unit: str) -> bool:
    """Whether the known unit around a day and the time that is shown have a day in common."""
    if shown is None:
        return True
    known = [day]
    if unit == "week":
        known = [day + dt.timedelta(days=n - day.weekday()) for n in range(7)]
    if unit == "month":
        return (day.year, day.month) == (
            shown if isinstance(shown, tuple) else shown.timetuple()[:2]
        )
    if isinstance(shown, tuple):
        return any((each.year, each.month) == shown for each in known)
    return shown in known


def item_fits(item: str, shown: Any) -> bool:
    return shown is None or shown in (item, KINDS[item])


def may_show(released: Released, known: Record, knows: list[str]) -> bool:
    """Whether a released record may be the known one."""
    _, when, item = released
    return all(
        item_fits(known[2], item) if word == "item" else when_fits(known[1], when, word)
        for word in knows
    )


def fitting(release: list[Released], known: Record, knows: list[str]) -> set[Any]:
    """The users with a record that may be the known one."""
    return {each[0] for each in release if may_show(each, known, knows)}


def fitting_all(release: list[Released], known: Sequence[Record], knows: list[str]) -> set[Any]:
    """The users with as many records that may be the known ones, each with one of its own."""
    return {
        user
        for user in {each[0] for each in release}
        if any(
            all(may_show(one, other, knows) for one, other in zip(tried, known, strict=True))
            for tried in permutations([r for r in release if r[0] == user], len(known))
        )
    }


def attack(
    original: list[Record], release: list[Released], knows: list[str]
) -> tuple[float, float]:
    """Drawn by record: the mean chance, and the share that fits only the right user."""
    found = [(fitting(release, known, knows), known[0]) for known in original]
    chances = [1 / len(who) if user in who else 0 for who, user in found]
    return mean(chances), mean(who == {user} for who, user in found)


def unicity(
    original: list[Record], release: list[Released], knows: list[str], points: int
) -> tuple[float, float]:
    """Over users and all sets of so many of their points: the share alone, and the mean chance."""
    own: dict[Any, dict[Any, Record]] = defaultdict(dict)
    for record in original:
        said = {
            "day": record[1],
            "week": record[1].isocalendar()[:2],
            "month": (record[1].year, record[1].month),
            "item": record[2],
        }
        own[record[0]][tuple(said[word] for word in knows)] = record
    alone, chance = [], []
    for user, having in own.items():
        who = [
            fitting_all(release, chosen, knows)
            for chosen in combinations(having.values(), min(points, len(having)))
        ]
        alone.append(mean(each == {user} for each in who))
        chance.append(mean(1 / len(each) if user in each else 0 for each in who))
    return mean(alone), mean(chance)


def may_count(basket: set[str], shown: list[Any]) -> bool:
    seen = len({item for item in shown if item is not None})
    return max(seen, 1) <= len(basket) <= seen + shown.count(None)


def may_be(basket: list[str], shown: list[Any]) -> bool:
    """Whether the shown, coarser and hidden items can be just the items of the basket."""
    return any(
        set(tried) == set(basket) and all(map(item_fits, tried, shown))
        for tried in product(sorted(set(basket)), repeat=len(shown))
    )


def may_be_every(basket: list[str], shown: list[Any]) -> bool:
    """The same, item by item: as often as it is in the basket."""
    return len(basket) == len(shown) and any(
        all(map(item_fits, tried, shown)) for tried in set(permutations(basket))
    )


def may_hold(chosen: set[str], shown: list[Any]) -> bool:
    """Whether each chosen item can be a shown one of its own, as it was, coarser or hidden."""
    return any(
        all(item_fits(item, each) for item, each in zip(sorted(chosen), tried, strict=True))
        for tried in permutations(shown, len(chosen))
    )


FITS: dict[str, Callable[[Any, list[Any]], bool]] = {
    "kinds": may_count,
    "all items": may_be,
    "all items as multiset": may_be_every,
    "2 items": may_hold,
}


def attack_on_events(
    original: list[Record], release: list[Released], words: str, day: bool
) -> float:
    """Kinds, all items, or two items of an event, by record, where items may be hidden."""
    shown = defaultdict(list)
    for user, when, item in release:
        shown[user, when].append(item)
    right = []
    for (user, when), basket in baskets(original).items():
        for item in basket:
            rest = sorted(set(basket) - {item})
            known: list[Any] = [basket if words.endswith("multiset") else set(basket)]
            if words == "2 items":
                known = [{item, *other} for other in combinations(rest, min(1, len(rest)))]
            chances = []
            for each in known:
                who = {
                    u
                    for (u, d), items in shown.items()
                    if FITS[words](each, items) and (not day or d == when)
                }
                chances.append(1 / len(who) if user in who else 0)
            right.append(mean(chances))
    return mean(right)
