"""The attack `refill` of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from divulge.assessment import Adversary, Assessment, AttackDefaults, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.protection.refill.attack import refill
from divulge.protection.refill.cells import has_secret_cells
from divulge.protection.refill.search.relations import CATALOGUE
from divulge.protection.result.hidden_cell_guesses import assess_nothing_hidden
from divulge.work import Problem


class RefillSettings(BaseModel):
    """What an adversary of `attack = "refill"` may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keys: str | list[str] | None = Field(
        None, description="The quasi-identifiers; those declared if not given."
    )
    columns: str | list[str] | None = Field(
        None, description="The columns that relations may read from; all if not given."
    )
    ordered: bool = Field(
        False, description="Whether neighbouring records tell; they do where the order is kept."
    )


class RefillAttack(AttackDefaults):
    """One dataset that hides cells; a second one is its original, to tell what is right."""

    Settings: ClassVar[type[BaseModel]] = RefillSettings

    def problems(
        self, settings: RefillSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """One or two datasets, and attributes that exist in the first."""
        if len(names) > 2:
            yield Problem("dataset", "name the release, and its original at the most.")
        for dataset, attributes in list(names.items())[:1]:
            for setting in ("keys", "columns"):
                given = getattr(settings, setting)
                told = [] if given is None else as_names(given)
                yield from find_name_problems(setting, told, attributes, f'dataset "{dataset}"')

    def run(self, settings: RefillSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Refill what is hidden; where nothing is, there is nothing to learn."""
        dataset, *others = datasets
        original = others[0] if others else None
        if not has_secret_cells(dataset, original):
            return assess_nothing_hidden("refill", dataset)
        found = refill(
            dataset,
            original,
            keys=settings.keys,
            columns=settings.columns,
            ordered=settings.ordered,
        )
        return found.assessment()

    def needed_columns(self, settings: RefillSettings) -> Collection[str]:
        """What is named."""
        given = [settings.keys, settings.columns]
        return {name for names in given if names is not None for name in as_names(names)}

    def same_records(
        self,
        settings: RefillSettings,  # noqa: ARG002
        datasets: Sequence[str],
    ) -> Mapping[str, str]:
        """The original, if it is given."""
        return dict.fromkeys(datasets[1:], datasets[0])

    def run_with_original(
        self,
        settings: RefillSettings,
        original: Dataset,
        released: Dataset,
        companions: Sequence[Dataset] = (),  # noqa: ARG002
    ) -> Assessment | None:
        """The same, told by the truth."""
        return self.run(settings, [released, original])

    def run_on_protected(
        self,
        settings: RefillSettings,
        datasets: Sequence[Dataset],
        originals: Sequence[Dataset],
    ) -> Assessment | None:
        """The same where only the original tells that something was made coarser.

        A recoded file need not look like one: its coarser values are all the values that it has.
        """
        dataset, original = datasets[0], originals[0]
        is_plain = len(datasets) > 1 or has_secret_cells(dataset)
        if is_plain or original.rows != dataset.rows or not has_secret_cells(dataset, original):
            return None
        return self.run(settings, [dataset, original])

    def advice(self, adversary: Adversary) -> Sentence:
        """Publish fewer of the columns that tell."""
        return Sentence(CATALOGUE, "refill.advice", {"adversary": adversary.name})
