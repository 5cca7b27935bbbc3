"""The attack `risk` of a release: any measure of the risk of records, as an adversary's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names, problems_with_names
from divulge.records.clusters import cluster_risk, household_risk
from divulge.records.frequencies import OF_ORIGINAL, Nulls, frequencies
from divulge.records.individual_risk import Method, individual_risk, reidentification_risk
from divulge.records.presence import journalist_risk
from divulge.records.record_risk import DEFAULT_THRESHOLD, RecordRisk
from divulge.records.suda import suda
from divulge.work import Problem

Kind = Literal["reidentification", "individual", "household", "prosecutor", "journalist", "suda"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class RiskSettings(BaseModel):
    """What an adversary of `attack = "risk"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: Kind = Field("individual", description="Which risk of records.")
    knows: str | list[str] | None = Field(
        None, description="The attributes to consider; all quasi-identifiers if not given."
    )
    method: Method = Field("approximate", description="How individual risk is computed.")
    nulls: Nulls = Field("maybe", description="What a missing value may stand for.")
    links: str | None = Field(None, description="An attribute whose equal values link records.")
    threshold: float = Field(DEFAULT_THRESHOLD, ge=0, le=1, description="Records at risk.")
    sampling_fraction: float = Field(0.01, gt=0, le=1, description="Of DIS-SUDA.")
    max_size: int | None = Field(None, ge=1, description="Most attributes of a minimal unique.")


class RiskAttack:
    """One dataset; a second one is the original (`known`, `bayes`) or the population."""

    Settings: ClassVar[type[BaseModel]] = RiskSettings

    def problems(
        self, settings: RiskSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """As many datasets as the measure takes, and attributes that exist in them."""
        original = settings.nulls in OF_ORIGINAL
        if original and settings.measure not in ("individual", "prosecutor"):
            message = f'"{settings.nulls}" goes with measure individual or prosecutor.'
            yield Problem("nulls", message)
        if settings.measure == "suda" and settings.nulls == "standard":
            yield Problem("nulls", '"standard" does not go with measure suda; use maybe or value.')
        if len(names) > 2 or (len(names) == 2 and not original and not _of_two(settings)):
            yield Problem("dataset", f'names {len(names)}; measure "{settings.measure}" takes one.')
        if original and len(names) < 2:
            message = f'nulls = "{settings.nulls}" takes two datasets: the release, the original.'
            yield Problem("dataset", message)
        known = as_names(settings.knows) if settings.knows is not None else []
        for place, (dataset, attributes) in enumerate(names.items()):
            yield from problems_with_names("knows", known, attributes, f'dataset "{dataset}"')
            if settings.links is not None and place == 0:
                of = f'dataset "{dataset}"'
                yield from problems_with_names("links", [settings.links], attributes, of)

    def run(self, settings: RiskSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Measure, spread over links where they are named, and assess."""
        dataset, *others = datasets
        risk = self._risk(settings, dataset, others[0] if others else None)
        if settings.links is not None:
            risk = cluster_risk(risk, settings.links)
        return risk.assessment(settings.threshold)

    def _risk(self, settings: RiskSettings, dataset: Dataset, other: Dataset | None) -> RecordRisk:
        knows, nulls = settings.knows, settings.nulls
        if settings.measure == "reidentification":
            return reidentification_risk(dataset, knows, nulls)
        if settings.measure == "household":
            return household_risk(dataset, settings.method, knows, nulls)
        if settings.measure == "prosecutor":
            return frequencies(dataset, nulls, among=knows, original=other).risk()
        if settings.measure == "journalist":
            return journalist_risk(dataset, other, knows)
        if settings.measure == "suda":
            way: Literal["maybe", "value"] = "value" if nulls == "value" else "maybe"
            return suda(dataset, settings.max_size, settings.sampling_fraction, knows, way).risk()
        return individual_risk(dataset, settings.method, knows, nulls, other)


def _of_two(settings: RiskSettings) -> bool:
    return settings.measure in ("journalist", "prosecutor")
