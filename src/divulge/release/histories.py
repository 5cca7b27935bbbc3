"""Adversaries of histories: who reads the records alike, and which attackers each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from divulge import protection
from divulge.assessment import Adversary, Limit
from divulge.data import Dataset
from divulge.protection import ProtectedHistory
from divulge.release.settings import ProtectionTable

if TYPE_CHECKING:
    from divulge.events import Attacker

READING = ("user", "time", "item", "event", "amount", "returns", "missing")
"""How records are read as a history."""


def read_alike(
    histories: Mapping[str, tuple[Adversary, Sequence[Limit]]],
) -> list[dict[str, tuple[Adversary, Sequence[Limit]]]]:
    """Adversaries of histories, those together who read the records in the same way."""
    alike: dict[Any, dict[str, tuple[Adversary, Sequence[Limit]]]] = {}
    for name, (adversary, limits) in histories.items():
        way = tuple(getattr(adversary.settings, part) for part in READING)
        alike.setdefault(way, {})[name] = (adversary, limits)
    return list(alike.values())


def protect_histories(
    dataset: Dataset,
    histories: Mapping[str, tuple[Adversary, Sequence[Limit]]],
    settings: ProtectionTable,
) -> ProtectedHistory:
    """Protect a history from adversaries who read it alike."""
    attackers, limits = {}, []
    for name, (adversary, hers) in histories.items():
        for label, attacker in _attackers(name, adversary.settings, dataset.names).items():
            attackers[label] = attacker
            limits += [limit.on(label) for limit in hers]
    told = next(iter(histories.values()))[0].settings
    return protection.protect_history(
        dataset,
        attackers,
        limits,
        methods=settings.histories,
        seed=settings.seed or 0,
        **{part: getattr(told, part) for part in READING},
    )


def _attackers(name: str, told: Any, names: Sequence[str]) -> dict[str, Attacker]:
    """The attacker of an adversary by her name; the ten by theirs."""
    from divulge.events import Attacker
    from divulge.events.ten import TEN

    if told.model == "one":
        return {name: Attacker(told.knows, told.points, told.weight, told.guess, names)}
    ten = {}
    for number, (words, _) in enumerate(TEN):
        knows = [told.count if word == "kinds" else word for word in words]
        ten[f"{name} {number}"] = Attacker(knows, weight=told.weight, guess=told.guess)
    return ten
