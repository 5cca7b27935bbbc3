"""The attack `method` of a release: somebody who knows that as little as possible is suppressed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Adversary, Assessment, AttackDefaults, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.protection.method.attack import exclude_by_method
from divulge.protection.method.decoys import MOST_DECOYS
from divulge.protection.method.result import CATALOGUE
from divulge.protection.result.hidden_cell_guesses import assess_nothing_hidden
from divulge.work import Problem


class MethodSettings(BaseModel):
    """What an adversary of `attack = "method"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keys: str | list[str] | None = Field(
        None, description="The quasi-identifiers; those declared if not given."
    )
    k: int | None = Field(
        None,
        ge=2,
        description="How many must look alike; as many as do in the release if not given.",
    )
    decoys: float = Field(
        0.0,
        ge=0,
        le=MOST_DECOYS,
        description="The decoys that they reckon with, for each cell that had to be suppressed.",
    )


class MethodAttack(AttackDefaults):
    """One dataset that hides cells; a second one is its original, to tell what is right."""

    Settings: ClassVar[type[BaseModel]] = MethodSettings

    def problems(
        self, settings: MethodSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """One or two datasets, and attributes that exist in the first."""
        if len(names) > 2:
            yield Problem("dataset", "name the release, and its original at the most.")
        for dataset, attributes in list(names.items())[:1]:
            told = [] if settings.keys is None else as_names(settings.keys)
            yield from find_name_problems("keys", told, attributes, f'dataset "{dataset}"')

    def run(self, settings: MethodSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Exclude what would have been safe; where nothing is hidden, there is nothing to learn."""
        dataset, *others = datasets
        found = exclude_by_method(
            dataset,
            others[0] if others else None,
            dataset.attributes(settings.keys, "keys"),
            settings.k,
            settings.decoys,
        )
        return assess_nothing_hidden("method", dataset) if found is None else found.assessment()

    def needed_columns(self, settings: MethodSettings) -> Collection[str]:
        """What is named."""
        return set() if settings.keys is None else set(as_names(settings.keys))

    def same_records(
        self,
        settings: MethodSettings,  # noqa: ARG002
        datasets: Sequence[str],
    ) -> Mapping[str, str]:
        """The original, if it is given."""
        return dict.fromkeys(datasets[1:], datasets[0])

    def run_on_protected(
        self,
        settings: MethodSettings,
        datasets: Sequence[Dataset],
        originals: Sequence[Dataset],
    ) -> Assessment | None:
        """The same, told by the truth."""
        return self.run(settings, [datasets[0], originals[0]])

    def advice(self, adversary: Adversary) -> Sentence:
        """Decoys, or fewer cells to hide."""
        return Sentence(CATALOGUE, "method.advice", {"adversary": adversary.name})
