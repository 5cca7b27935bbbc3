"""The attack `linkage` of a release: records found in a register by what nearly agrees."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel

from divulge.assessment import Adversary, Assessment, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records.linkage.comparison import problems_with_comparisons
from divulge.records.linkage.linkage import link
from divulge.records.linkage.request import problems_with_agreement
from divulge.records.plugin.shared_answers import CountsPeople, add_group_chart
from divulge.records.settings import (
    LinkageSettings,
    collect_names,
)
from divulge.work import Problem


class LinkageAttack(CountsPeople):
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
            subject = f'dataset "{dataset}"'
            yield from find_name_problems("by", [settings.by], attributes, subject)
        for dataset, attributes in names.items():
            subject = f'dataset "{dataset}"'
            yield from find_name_problems("block", as_names(settings.block), attributes, subject)
            yield from find_name_problems("compare", settings.compare, attributes, subject)
            if settings.truth is not None:
                yield from find_name_problems("truth", [settings.truth], attributes, subject)

    def run(self, settings: LinkageSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Link the release to the register."""
        release, register = datasets
        assessment = link(release, register, **settings.model_dump(exclude={"by"}))
        return add_group_chart(assessment, settings.by)

    def needed_columns(self, settings: LinkageSettings) -> Collection[str]:
        """What is compared, and the id by which links are judged."""
        return collect_names(settings, "block", "truth", "by") | set(settings.compare)

    def advice(self, adversary: Adversary) -> Sentence:
        """What records are linked through, made coarser."""
        values = {"block": as_names(adversary.settings.block)}
        return Sentence("divulge.protection", "advice.linkage", values)
