"""The attack `events` of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import (
    Adversary,
    Assessment,
    AttackDefaults,
    LimitedAdversary,
    ProtectedPart,
    ProtectionPlan,
    Sentence,
)
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.events.attack import attack
from divulge.events.history.calendar import UNITS
from divulge.events.history.history import History
from divulge.events.history.reading import Missing, Returns
from divulge.events.knowledge.attacker import Attacker, Guess, Weight, problems_with_settings
from divulge.events.knowledge.facets import parse_facet
from divulge.events.ten_attackers import TEN, Count, ten_attackers
from divulge.work import Problem

READING_SETTINGS = ("user", "time", "item", "event", "amount", "returns", "missing")
"""How records are read as a history."""


class EventsSettings(BaseModel):
    """What an adversary of `attack = "events"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: str = Field(description="The attribute that says whose record it is.")
    time: str = Field(description="The attribute that says when.")
    item: str = Field(description="The attribute that says what.")
    event: str = Field("day", description="A unit of time, or an attribute such as a receipt.")
    amount: str | None = Field(None, description="What was paid, or how many were bought.")
    returns: Returns | None = Field(None, description="What negative amounts are.")
    missing: Missing = Field("refuse", description="Records without user, time or item.")
    model: Literal["one", "ten"] = Field(
        "one", description="One attacker, or the ten of Ito et al. (2018), who know what they know."
    )
    count: Count = Field("kinds", description="What the ten count: kinds of items, or records.")
    knows: str | list[str] = Field(
        [], description="What the adversary knows of an event, in words."
    )
    points: int = Field(1, ge=1, description="Of how many events they know it.")
    weight: Weight = Field("record", description="What is drawn: a record, an event, a user.")
    guess: Guess = Field("uniform", description="Any user who matches, or the likeliest.")
    released: bool = Field(
        False, description="Of two datasets, the first is the original, the second its release."
    )
    rounded: str | None = Field(None, description="The unit that times of the release stand for.")


class EventsAttack(AttackDefaults):
    """A history (or an original and its protected release), attacked by who knows some events."""

    Settings: ClassVar[type[BaseModel]] = EventsSettings

    def problems(
        self, settings: EventsSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Datasets as announced, attributes that exist, words that mean something."""
        dataset_count = 2 if settings.released else 1
        if len(names) != dataset_count:
            hint = "" if settings.released else "; of an original and its release, say released"
            yield Problem(
                "dataset", f'names {len(names)}; attack "events" takes {dataset_count}{hint}.'
            )
        yield from problems_with_settings(settings.points, settings.weight, settings.guess)
        yield from _problems_with_model(settings)
        for dataset, attributes in names.items():
            yield from _problems_with_attributes(settings, dataset, attributes)

    def run(self, settings: EventsSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Read the records as a history and attack it."""
        reading = _reading_options(settings)
        history = History(datasets[0], **reading)
        if settings.model == "ten":
            ten = ten_attackers(history, settings.weight, settings.guess, settings.count)
            return ten.assessment()
        release = None
        if settings.released:
            release_reading = {**reading, "missing": "maybe", "rounded": settings.rounded}
            release = History(datasets[1], **release_reading)
        attacker = Attacker(
            settings.knows,
            settings.points,
            settings.weight,
            settings.guess,
            attributes=datasets[0].names,
        )
        return attack(history, attacker, release)

    def adds_amounts(self) -> bool:
        """What was paid, or how many were bought."""
        return True

    def undisclosed(self, settings: EventsSettings, datasets: Sequence[str]) -> Sequence[str]:
        """The original beside its release."""
        return datasets[:1] if settings.released else ()

    def needed_columns(self, settings: EventsSettings) -> Collection[str]:
        """What the history is read from, and what is known of an event."""
        columns = [settings.user, settings.time, settings.item, settings.event, settings.amount]
        return {*(name for name in columns if name is not None), *as_names(settings.knows)}

    def counts_people(self, settings: EventsSettings, person: str) -> bool:
        """Users are counted, however many events they have."""
        return settings.user == person

    def linking_columns(self, settings: EventsSettings) -> Collection[str]:
        """Whose events they are, and which lines make up one event."""
        columns: list[str | None] = [settings.user, settings.event]
        return [name for name in columns if name is not None]

    def identifying_columns(self, settings: EventsSettings) -> Collection[str]:
        """Whose history it is."""
        return (settings.user,)

    def protect(
        self, adversaries: Sequence[LimitedAdversary], dataset: Dataset, plan: ProtectionPlan
    ) -> Iterator[ProtectedPart]:
        """Make the history coarser, at once for all who read the records alike."""
        for group in _group_by_reading(adversaries):
            limits = [limit.for_adversary(each.name) for each in group for limit in each.limits]
            if not plan.has_failing(limits):
                continue
            history = _protect_history(group, dataset, plan)
            if history.steps:  # else what was done for others is enough
                yield history
            dataset = history.dataset

    def advice(self, adversary: Adversary) -> Sentence:  # noqa: ARG002
        """More methods, a hierarchy of items, or counts instead of a history."""
        return Sentence("divulge.protection", "advice.events")


def _group_by_reading(adversaries: Sequence[LimitedAdversary]) -> list[list[LimitedAdversary]]:
    """Those who read the records in the same way together; a given release is not changed."""
    groups: dict[tuple[Any, ...], list[LimitedAdversary]] = {}
    for adversary in adversaries:
        if not adversary.settings.released:
            reading = tuple(_reading_options(adversary.settings).values())
            groups.setdefault(reading, []).append(adversary)
    return list(groups.values())


def _protect_history(
    adversaries: Sequence[LimitedAdversary], dataset: Dataset, plan: ProtectionPlan
) -> Any:  # a `ProtectedHistory`, which lies above
    """Protect a history from adversaries who read it alike."""
    attackers, limits = {}, []
    for adversary in adversaries:
        for name, attacker in _build_attackers(adversary, dataset.names).items():
            attackers[name] = attacker
            limits += [limit.for_adversary(name) for limit in adversary.limits]
    return plan.protect_history(
        dataset,
        attackers,
        limits,
        methods=plan.settings.histories,
        seed=plan.settings.seed or 0,
        **_reading_options(adversaries[0].settings),
    )


def _build_attackers(adversary: LimitedAdversary, names: Sequence[str]) -> dict[str, Attacker]:
    """The attacker of an adversary by their name; the ten by it and a number."""
    settings: EventsSettings = adversary.settings
    weight, guess = settings.weight, settings.guess
    if settings.model == "one":
        attacker = Attacker(settings.knows, settings.points, weight, guess, names)
        return {adversary.name: attacker}
    ten = {}
    for number, words in enumerate(TEN):
        knows = [settings.count if word == "kinds" else word for word in words]
        ten[f"{adversary.name} {number}"] = Attacker(knows, weight=weight, guess=guess)
    return ten


def _reading_options(settings: EventsSettings) -> dict[str, Any]:
    return {part: getattr(settings, part) for part in READING_SETTINGS}


def _problems_with_model(settings: EventsSettings) -> Iterator[Problem]:
    """What the ten are not told, and what is said of a release only."""
    if settings.model == "ten":
        for place in ("knows", "points", "released"):
            if getattr(settings, place) != EventsSettings.model_fields[place].default:
                yield Problem(place, "the ten attackers know what they know, of one event.")
    if settings.rounded is not None and (not settings.released or settings.rounded not in UNITS):
        message = "is a unit of time, said of the times of a release (released = true)."
        yield Problem("rounded", message, value=settings.rounded, allowed=UNITS)


def _problems_with_attributes(
    settings: EventsSettings, dataset: str, attributes: Sequence[str]
) -> Iterator[Problem]:
    """Names that a dataset does not have, words that mean nothing in it."""
    for place in ("user", "time", "item", "amount"):
        name = getattr(settings, place)
        if name is not None:
            whose = f'dataset "{dataset}"'
            yield from find_name_problems(place, [name], attributes, whose)
    if settings.event not in (*UNITS, *attributes):
        message = f'"{settings.event}" is neither a unit of time nor an attribute.'
        allowed = [*UNITS, *attributes]
        yield Problem("event", message, value=settings.event, allowed=allowed)
    for words in as_names(settings.knows):
        meaning = parse_facet(words, attributes)
        if isinstance(meaning, Problem):
            yield meaning


def draft_history_adversary(
    dataset: str,
    *,
    user: str,
    time: str,
    item: str,
    knows: Sequence[str],
    points: int = 1,
    drops_missing: bool = False,
) -> dict[str, Any]:
    """The entry in a release file of somebody who knows some facts about events of a user.

    >>> said = draft_history_adversary("d", user="u", time="t", item="i", knows=["day", "item"])
    >>> said["attack"], said["knows"]
    ('events', ['day', 'item'])
    """
    settings: dict[str, Any] = {
        "attack": "events",
        "dataset": dataset,
        "user": user,
        "time": time,
        "item": item,
        "knows": list(knows),
    }
    if points > 1:
        settings["points"] = points
    if drops_missing:
        settings["missing"] = "drop"
    return settings
