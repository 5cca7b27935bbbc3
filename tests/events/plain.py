"""Plain twins of the attacks on histories: dicts and sets, record by record, nothing clever."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from statistics import mean
from typing import Any

Record = tuple[Any, dt.date, str]
"""User, day, item."""


@dataclass(frozen=True)
class Figures:
    uniform: float
    best: float
    certain: float


def baskets(records: list[Record]) -> dict[tuple[Any, dt.date], list[str]]:
    found = defaultdict(list)
    for user, day, item in records:
        found[user, day].append(item)
    return found


def knowledge(record: Record, basket: list[str], knows: list[str]) -> tuple[Any, ...]:
    """What the words say of a record, as values."""
    _, day, item = record
    said = {
        "day": day,
        "week": day.isocalendar()[:2],
        "month": (day.year, day.month),
        "quarter": (day.year, (day.month - 1) // 3),
        "year": day.year,
        "item": item,
        "kinds": len(set(basket)),
        "kinds by 2": (len(set(basket)) - 1) // 2,
        "records": len(basket),
        "all items": frozenset(basket),
        "all items as multiset": tuple(sorted(basket)),
    }
    return tuple(said[word] for word in knows)


def attack(records: list[Record], knows: list[str], weight: str = "record") -> Figures:
    """(1/E) sum over X of |R_X|/|U_X|, written down as it stands."""
    of_event = baskets(records)
    known = [(knowledge(r, of_event[r[0], r[1]], knows), r) for r in records]
    if weight == "event":
        once = {(x, r[0], r[1]): r for x, r in known}
        known = [(key[0], record) for key, record in once.items()]
    of_user = Counter(r[0] for r in records)
    users = defaultdict(set)
    drawn: dict[Any, Counter[Any]] = defaultdict(Counter)
    for x, (user, _, _) in known:
        users[x].add(user)
        drawn[x][user] += 1 / of_user[user] if weight == "user" else 1  # type: ignore[assignment]
    total = sum(sum(by.values()) for by in drawn.values())
    return Figures(
        uniform=sum(sum(drawn[x].values()) / len(users[x]) for x in drawn) / total,
        best=sum(max(drawn[x].values()) for x in drawn) / total,
        certain=sum(sum(drawn[x].values()) for x in drawn if len(users[x]) == 1) / total,
    )


def attack_with_items(records: list[Record], size: int, day: bool, weight: str) -> float:
    """Some items of an event: draw a record, then others of its basket; who has an event with all?"""
    of_event = baskets(records)
    of_user = Counter(r[0] for r in records)
    right = total = 0.0
    for (user, when), basket in of_event.items():
        kinds = sorted(set(basket))
        draws: list[tuple[frozenset[str], float]] = []
        if weight == "event":
            draws = [(frozenset(s), 1.0) for s in combinations(kinds, min(size, len(kinds)))]
        else:
            for item in basket:
                rest = [kind for kind in kinds if kind != item]
                others = list(combinations(rest, min(size - 1, len(rest))))
                share = (1 / of_user[user] if weight == "user" else 1) / len(others)
                draws += [(frozenset({item, *other}), share) for other in others]
        for chosen, share in draws:
            who = {
                u for (u, d), b in of_event.items() if chosen <= set(b) and (not day or d == when)
            }
            right += share / len(who)
            total += share
    return right / total


def released(original: list[Record], release: list[Record], knows: list[str]) -> Figures:
    """Knowledge of the original, matches in the release, drawn by record."""
    of_original, of_release = baskets(original), baskets(release)
    fits: dict[Any, Counter[Any]] = defaultdict(Counter)
    for r in release:
        fits[knowledge(r, of_release[r[0], r[1]], knows)][r[0]] += 1
    known = [(knowledge(r, of_original[r[0], r[1]], knows), r[0]) for r in original]
    chances = [1 / len(fits[x]) if user in fits[x] else 0 for x, user in known]
    return Figures(mean(chances), float("nan"), mean(chance == 1 for chance in chances))


def unicity(records: list[Record], knows: list[str], points: int) -> tuple[float, float]:
    """Over users and all sets of so many of their points: the share alone, and the mean chance."""
    of_event = baskets(records)
    having = defaultdict(set)
    for r in records:
        having[r[0]].add(knowledge(r, of_event[r[0], r[1]], knows))
    alone, chance = [], []
    for own in having.values():
        sets = list(combinations(sorted(own, key=str), min(points, len(own))))
        fits = [sum(set(chosen) <= other for other in having.values()) for chosen in sets]
        alone.append(mean(fit == 1 for fit in fits))
        chance.append(mean(1 / fit for fit in fits))
    return mean(alone), mean(chance)
