"""The attack `risk` of a release: any measure of the risk of records, as an adversary's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names, problems_with_names
from divulge.records.clusters import cluster_risk
from divulge.records.frequencies import OF_ORIGINAL
from divulge.records.named_risk import (
    OF_CLASSES,
    OF_MASKED,
    OF_POPULATION,
    RiskQuestion,
    assessed,
    measured_risk,
)
from divulge.records.record_risk import RecordRisk
from divulge.work import Problem

TWO_NULLS = ("suda", "population_uniques", *OF_POPULATION)
"""Measures that need no original: what is hidden may be anything, or is a value."""


class RiskSettings(RiskQuestion):
    """What an adversary of `attack = "risk"` may be told."""

    links: str | None = Field(None, description="An attribute whose equal values link records.")


class RiskAttack:
    """One dataset; a second one is the original (`known`, `bayes`, masks) or the population."""

    Settings: ClassVar[type[BaseModel]] = RiskSettings

    def problems(
        self, settings: RiskSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """As many datasets as the measure takes, and attributes that exist in them."""
        yield from problems_of_question(settings, len(names))
        if settings.links is not None and settings.measure in (*TWO_NULLS[:2], *OF_CLASSES):
            yield Problem("links", f'do not go with measure "{settings.measure}".')
        known = as_names(settings.knows) if settings.knows is not None else []
        for place, (dataset, attributes) in enumerate(names.items()):
            of = f'dataset "{dataset}"'
            yield from problems_with_names("knows", known, attributes, of)
            for setting in ("links", "seeks") if place == 0 else ():
                given = getattr(settings, setting)
                if given is not None:
                    yield from problems_with_names(setting, [given], attributes, of)

    def run(self, settings: RiskSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Measure, spread over links where they are named, and assess."""
        dataset, *others = datasets
        found = measured_risk(settings, dataset, others[0] if others else None)
        if settings.links is not None and isinstance(found, RecordRisk):
            found = cluster_risk(found, settings.links)
        return assessed(found, settings.threshold)


def problems_of_question(asked: RiskQuestion, datasets: int) -> Iterator[Problem]:
    """What does not go together: the measure, its way of counting, and the number of datasets."""
    measure, nulls = asked.measure, asked.nulls
    original = nulls in OF_ORIGINAL and measure not in TWO_NULLS
    if nulls in OF_ORIGINAL and measure in TWO_NULLS:
        yield Problem("nulls", f'"{nulls}" does not go with measure {measure}; use maybe or value.')
    if measure in TWO_NULLS[:2] and nulls == "standard":
        message = f'"standard" does not go with measure {measure}; use maybe or value.'
        yield Problem("nulls", message)
    most = 1 if measure in TWO_NULLS[:2] else 2
    if datasets > most:
        takes = "one" if most == 1 else "one or two"
        yield Problem("dataset", f'names {datasets}; measure "{measure}" takes {takes}.')
    if original and datasets < 2:
        message = f'nulls = "{nulls}" takes two datasets: the release, the original.'
        yield Problem("dataset", message)
    if measure in OF_MASKED and datasets < 2:
        message = f'measure "{measure}" takes two datasets: the masked, the original.'
        yield Problem("dataset", message)
    if measure in OF_MASKED and asked.knows is None:
        yield Problem("knows", f"is missing; {measure} is of numbers that are named.")
    if measure == "delta_presence" and datasets < 2:
        message = 'measure "delta_presence" takes two datasets: the release, the population.'
        yield Problem("dataset", message)
    if asked.seeks is not None and measure not in OF_CLASSES:
        yield Problem("seeks", f'does not go with measure "{measure}".')
