"""The attacks `records`, `longitudinal` and `linkage` of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names, problems_with_names
from divulge.records.comparing import problems_with_comparisons
from divulge.records.linkage import link, problems_with_agreement
from divulge.records.longitudinal import longitudinal
from divulge.records.models import EVERYDAY_NAMES, attack, problems_with_model
from divulge.records.named_gain import problems_with_gain
from divulge.work import Problem

Target = dict[str, Any]


Gain = dict[str, Any] | list[list[float]] | None
GAIN = (
    "What guesses are worth: { guesses = 3 }, { within = 5 }, { worth = { yes = 10 }, wrong = 1 }, "
    "or rows of numbers, one row a guess."
)


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordsSettings(_Settings):
    """What an adversary of `attack = "records"` may be told."""

    model: str = Field("CRS", description="The attack model, by acronym or everyday name.")
    knows: str | list[str] | None = Field(
        None, description="What she knows of everybody; all quasi-identifiers if not given."
    )
    seeks: str | list[str] | None = Field(None, description="The secret; several are one secret.")
    target: Target | list[Target | None] | None = Field(
        None, description="The values of one person, by attribute (models with I)."
    )
    prior: str | None = Field(
        None, description="An attribute: how likely each record is the one she is after."
    )
    gain: Gain = Field(None, description=GAIN)
    on: str | None = Field(
        None, description="The id that links datasets (models with L) and protected versions."
    )
    by: str | None = Field(
        None, description="Who bears the risk: an attribute, whose groups the report then shows."
    )
    protected: bool = Field(
        False, description="After the original datasets come their protected versions."
    )
    duplicates: Literal["error", "first", "random"] = "error"
    seed: int = 0


class RecordsAttack:
    """Datasets, attacked by somebody who knows some attributes of the people in them.

    A membership attack takes the population last. With `protected`, the originals come first, and
    after them as many protected versions.
    """

    Settings: ClassVar[type[BaseModel]] = RecordsSettings

    def problems(
        self, settings: RecordsSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """A model that exists, as many datasets as it takes, attributes that exist."""
        yield from problems_with_model(settings.model)
        model = EVERYDAY_NAMES.get(settings.model, settings.model)
        yield from _problems_with_number(model, len(names), settings.protected)
        yield from problems_with_gain(settings.gain)
        if names and settings.by is not None:
            of, attributes = list(names.items())[-1 if model[1:2] == "M" else 0]
            yield from problems_with_names("by", [settings.by], attributes, f'dataset "{of}"')
        if model[1:2] == "A" and settings.seeks is None:
            yield Problem("seeks", f"is missing; {model} infers an attribute.")
        if model[:1] == "I" and settings.target is None:
            yield Problem("target", f"is missing; {model} is after one person.")
        yield from _problems_with_names(settings, names)

    def run(self, settings: RecordsSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Run the model."""
        model = EVERYDAY_NAMES.get(settings.model, settings.model)
        population = datasets[-1] if model[1] == "M" else None
        seen = list(datasets[:-1] if model[1] == "M" else datasets)
        release = None
        if settings.protected:
            seen, release = seen[: len(seen) // 2], seen[len(seen) // 2 :]
        given = settings.model_dump(exclude={"model", "protected", "by"})
        found = attack(seen, settings.model, population=population, release=release, **given)
        return _shown_by(found, settings.by)


class LongitudinalSettings(_Settings):
    """What an adversary of `attack = "longitudinal"` may be told."""

    on: str = Field(description="The id that links the datasets.")
    knows: str | list[str] | None = Field(None, description="What she knows in every dataset.")
    seeks: str | list[str] | None = Field(None, description="The secret; none: who is who.")
    prior: str | None = Field(
        None, description="An attribute: how likely each record is the one she is after."
    )
    gain: Gain = Field(None, description=GAIN)
    protected: bool = Field(
        False, description="After the original datasets come their protected versions."
    )
    duplicates: Literal["error", "first", "random"] = "error"
    seed: int = 0


class LongitudinalAttack:
    """Datasets of several years; the assessment is that of all, its chart shows the growth."""

    Settings: ClassVar[type[BaseModel]] = LongitudinalSettings

    def problems(
        self, settings: LongitudinalSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Two datasets or more, all with the id."""
        yield from problems_with_gain(settings.gain)
        if len(names) < 2:
            yield Problem("dataset", "name two or more, the focal one first.")
        if settings.protected and len(names) % 2:
            yield Problem("dataset", "name the originals, then as many protected versions.")
        for dataset, attributes in names.items():
            yield from problems_with_names("on", [settings.on], attributes, f'dataset "{dataset}"')
        yield from _problems_with_names(settings, names)

    def run(self, settings: LongitudinalSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Link the years and assess the last prefix."""
        seen, release = list(datasets), None
        if settings.protected:
            seen, release = seen[: len(seen) // 2], seen[len(seen) // 2 :]
        given = settings.model_dump(exclude={"protected"})
        growth = longitudinal(seen, release=release, **given)
        return replace(growth.assessments[-1], attack="longitudinal", _chart=growth.chart)


class LinkageSettings(_Settings):
    """What an adversary of `attack = "linkage"` may be told."""

    block: str | list[str] = Field(description="Only who agrees on these is compared.")
    compare: dict[str, Any] = Field(
        default_factory=dict, description='By attribute: "equal", ["near", 2], ["likeness", 0.9].'
    )
    truth: str | None = Field(None, description="An id that both have, to judge the links.")
    agreement: float | dict[str, float] | Literal["truth"] | None = Field(
        None, description="How often the values of one person agree; estimated if not given."
    )
    by: str | None = Field(
        None, description="Who bears the risk: an attribute, whose groups the report then shows."
    )
    coverage: float | None = Field(
        None, description="How likely a record's person is among its candidates."
    )


class LinkageAttack:
    """A release and a register of people: the release first."""

    Settings: ClassVar[type[BaseModel]] = LinkageSettings

    def problems(
        self, settings: LinkageSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Two datasets that have all that is compared."""
        if len(names) != 2:
            yield Problem("dataset", "name two: the release, then the register.")
        yield from problems_with_comparisons(settings.compare)
        yield from problems_with_agreement(settings.agreement, settings.compare, settings.truth)
        if names and settings.by is not None:
            dataset, attributes = next(iter(names.items()))
            of = f'dataset "{dataset}"'
            yield from problems_with_names("by", [settings.by], attributes, of)
        for dataset, attributes in names.items():
            of = f'dataset "{dataset}"'
            yield from problems_with_names("block", as_names(settings.block), attributes, of)
            yield from problems_with_names("compare", settings.compare, attributes, of)
            if settings.truth is not None:
                yield from problems_with_names("truth", [settings.truth], attributes, of)

    def run(self, settings: LinkageSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Link the release to the register."""
        release, register = datasets
        found = link(release, register, **settings.model_dump(exclude={"by"}))
        return _shown_by(found, settings.by)


def _shown_by(found: Assessment, group: str | None) -> Assessment:
    """The same assessment, with a chart of who bears the risk if that was asked for."""
    return found if group is None else replace(found, _chart=lambda: found.by(group).chart())


def _problems_with_number(model: str, number: int, protected: bool) -> Iterator[Problem]:
    """As many datasets as the model takes."""
    people = int(model[1:2] == "M")
    seen = number - people
    if people and seen < 1:
        yield Problem("dataset", f"{model} takes the release and, last, the population.")
    elif protected and seen % 2:
        yield Problem("dataset", "name the originals, then as many protected versions.")
    elif model.endswith("S") and seen > 1 + protected:
        parts = ["the original and its protected version" if protected else "the release"]
        wanted = " and ".join([*parts, *(["the population"] if people else [])])
        wanted = "one" if wanted == "the release" else wanted
        yield Problem("dataset", f"names {number}; {model} takes {wanted}.")


def _problems_with_names(
    settings: RecordsSettings | LongitudinalSettings, names: Mapping[str, Sequence[str]]
) -> Iterator[Problem]:
    """What is known stands in some dataset, what is sought in the first."""
    if not names:
        return
    first, attributes = next(iter(names.items()))
    everywhere = list(dict.fromkeys(name for each in names.values() for name in each))
    known = as_names(settings.knows) if settings.knows is not None else []
    of = f'dataset "{first}"' if len(names) == 1 else "none of the datasets"
    for problem in problems_with_names("knows", known, everywhere, of):
        message = problem.message.replace("none of the datasets has no", "no dataset has an")
        yield replace(problem, message=message)
    sought = as_names(settings.seeks) if settings.seeks is not None else []
    yield from problems_with_names("seeks", sought, attributes, f'dataset "{first}"')
    for name in sought:
        if name in known:
            yield Problem("seeks", f'"{name}" is known already; take it out of knows.')
