"""The attack `risk` of a release: any measure of the risk of records, as an adversary's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records.risk.group_risk import cluster_risk
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.request import (
    RiskRequest,
    add_options,
    assess_risk,
    measure_risk,
    problems_with_request,
)
from divulge.work import Problem


class RiskSettings(RiskRequest):
    """What an adversary of `attack = "risk"` may be told."""

    links: str | None = Field(None, description="An attribute whose equal values link records.")


class RiskAttack:
    """One dataset; a second one is the original (`known`, `bayes`, masks) or the population."""

    Settings: ClassVar[type[BaseModel]] = add_options(RiskSettings)

    def problems(
        self, settings: RiskSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """As many datasets as the measure takes, and attributes that exist in them."""
        yield from problems_with_request(settings, len(names))
        spec = settings.spec
        # Classes are of whoever looks alike already; a model of a sample knows nothing of links.
        if settings.links is not None and (spec.of_attribute or not spec.names_datasets):
            yield Problem("links", f'do not go with measure "{settings.measure}".')
        known = as_names(settings.knows) if settings.knows is not None else []
        for place, (dataset, attributes) in enumerate(names.items()):
            subject = f'dataset "{dataset}"'
            yield from find_name_problems("knows", known, attributes, subject)
            for setting in ("links", "seeks") if place == 0 else ():
                value = getattr(settings, setting)
                if value is not None:
                    yield from find_name_problems(setting, [value], attributes, subject)

    def run(self, settings: RiskSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Measure, spread over links where they are named, and assess."""
        dataset, *others = datasets
        result = measure_risk(settings, dataset, others[0] if others else None)
        if settings.links is not None and isinstance(result, RecordRisk):
            result = cluster_risk(result, settings.links)
        return assess_risk(result, settings.threshold)
