"""The attack `records` of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names, problems_with_names
from divulge.records.models import attack, problems_with_model
from divulge.work import Problem


class RecordsSettings(BaseModel):
    """What an adversary of `attack = "records"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field("CRS", description="The attack model, by acronym or everyday name.")
    knows: str | list[str] | None = Field(
        None, description="What she knows of everybody; all quasi-identifiers if not given."
    )


class RecordsAttack:
    """One dataset, attacked by somebody who knows some attributes of the people in it."""

    Settings: ClassVar[type[BaseModel]] = RecordsSettings

    def problems(
        self, settings: RecordsSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """One dataset, a model that exists, attributes that exist."""
        if len(names) > 1:
            yield Problem("dataset", f'names {len(names)}; attack "records" takes one.')
        yield from problems_with_model(settings.model)
        for dataset, attributes in names.items():
            known = as_names(settings.knows) if settings.knows is not None else []
            yield from problems_with_names("knows", known, attributes, f'dataset "{dataset}"')

    def run(self, settings: RecordsSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Run the model."""
        [dataset] = datasets
        return attack(dataset, settings.model, settings.knows)
