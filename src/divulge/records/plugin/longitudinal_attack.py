"""The attack `longitudinal` of a release: everybody followed through several years."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel

from divulge.assessment import Adversary, Assessment, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import find_name_problems
from divulge.records.inference.gains import problems_with_gain
from divulge.records.longitudinal import longitudinal
from divulge.records.plugin.shared_answers import CountsPeople, run_on_protected_years
from divulge.records.settings import (
    LongitudinalSettings,
    collect_names,
    list_renamed,
    problems_with_names,
)
from divulge.work import Problem


class LongitudinalAttack(CountsPeople):
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
            yield from find_name_problems("on", [settings.on], attributes, f'dataset "{dataset}"')
        yield from problems_with_names(settings, names)

    def run(self, settings: LongitudinalSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Link the years and assess the last prefix."""
        originals, release = list(datasets), None
        if settings.protected:
            originals, release = originals[: len(originals) // 2], originals[len(originals) // 2 :]
        options = settings.model_dump(exclude={"protected"})
        growth = longitudinal(originals, release=release, **options)
        return replace(growth.assessments[-1], attack="longitudinal", _chart=growth.chart)

    def run_with_originals(
        self,
        settings: LongitudinalSettings,
        originals: Sequence[Dataset],
        released: Sequence[Dataset],
    ) -> Assessment | None:
        """The years as they were known, looked for in what is released of them."""
        if settings.protected:
            return None
        options = settings.model_dump(exclude={"protected"})
        return longitudinal(originals, release=released, **options).assessments[-1]

    def run_on_protected(
        self,
        settings: LongitudinalSettings,
        datasets: Sequence[Dataset],
        originals: Sequence[Dataset],
    ) -> Assessment | None:
        """Whether years code an attribute alike is seen in the originals."""
        if settings.protected:
            return None
        return run_on_protected_years(self, settings, datasets, originals)

    def undisclosed(self, settings: LongitudinalSettings, datasets: Sequence[str]) -> Sequence[str]:
        """Originals beside their protected versions; all years go out."""
        return datasets[: len(datasets) // 2] if settings.protected else ()

    def needed_columns(self, settings: LongitudinalSettings) -> Collection[str]:
        """The id, what is known and sought, and how likely."""
        chosen = collect_names(settings, "on", "knows", "seeks", "prior")
        return chosen | list_renamed(settings)

    def linking_columns(self, settings: LongitudinalSettings) -> Collection[str]:
        """The id that links the years."""
        return (settings.on,)

    def advice(self, adversary: Adversary) -> Sentence:
        """The datasets without the id that links them."""
        values = {"on": adversary.settings.on}
        return Sentence("divulge.protection", "advice.longitudinal", values)


def draft_years_adversary(datasets: Sequence[str], on: str, knows: Sequence[str]) -> dict[str, Any]:
    """The entry in a release file of somebody who follows everybody through several datasets.

    >>> draft_years_adversary(["y1", "y2"], "id", ["age"])["attack"]
    'longitudinal'
    """
    return {
        "attack": "longitudinal",
        "dataset": list(datasets),
        "on": on,
        "knows": list(knows),
    }
