"""The attack `sweep` of a release: somebody of whom it is not known what they know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from divulge.assessment import Adversary, Assessment, AttackDefaults, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records.sweep.assess import assess_sweep
from divulge.records.sweep.details import build_schema
from divulge.records.sweep.known_originals import assess_protected_sweep
from divulge.records.sweep.settings import SweepSettings
from divulge.work import Problem


class SweepAttack(AttackDefaults):
    """One dataset, and every set of attributes that somebody may know of the people in it."""

    Settings: ClassVar[type[BaseModel]] = SweepSettings

    def problems(
        self, settings: SweepSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """One dataset, attributes that exist, sets of what is known."""
        if len(names) != 1:
            yield Problem("dataset", f"names {len(names)}; a sweep takes one.")
        if settings.sizes is not None and settings.sets is not None:
            message = "goes with all sets, and sets are listed: leave one of the two out."
            yield Problem("sizes", message)
        known = _list_named(settings)
        for dataset, attributes in list(names.items())[:1]:
            subject = f'dataset "{dataset}"'
            yield from find_name_problems("knows", known, attributes, subject)
            sought = [] if settings.seeks is None else [settings.seeks]
            yield from find_name_problems("seeks", sought, attributes, subject)
        if settings.seeks in known:
            yield Problem("seeks", f'"{settings.seeks}" is known already; take it out of knows.')

    def run(self, settings: SweepSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Assess every set, and tell of the worst."""
        return assess_sweep(datasets[0], settings)

    def counts_people(self, settings: SweepSettings, person: str) -> bool:  # noqa: ARG002
        """People are counted where somebody has several records."""
        return True

    def needed_columns(self, settings: SweepSettings) -> Collection[str]:
        """What is known and sought."""
        return {*_list_named(settings), *([] if settings.seeks is None else [settings.seeks])}

    def known_columns(self, settings: SweepSettings, dataset: Dataset) -> Sequence[str]:
        """All that somebody may know."""
        return _list_named(settings) or dataset.quasi_identifiers

    def risk_per_record(self, settings: SweepSettings) -> bool:  # noqa: ARG002
        """Of everybody, by the worst sets."""
        return True

    def run_with_original(
        self,
        settings: SweepSettings,
        original: Dataset,
        released: Dataset,
        companions: Sequence[Dataset] = (),  # noqa: ARG002
    ) -> Assessment | None:
        """Every set that may be the worst, by somebody who knows the values that were hidden."""
        return assess_protected_sweep(original, released, settings)

    def describe_details(self) -> Mapping[str, Any]:
        """Worst sets, what attributes add, and success by size."""
        return build_schema()

    def advice(self, adversary: Adversary) -> Sentence:
        """Coarser attributes."""
        return Sentence("divulge.protection", "advice.sweep", {"adversary": adversary.name})


def _list_named(settings: SweepSettings) -> list[str]:
    """What somebody may know, where it is named: outright, or in the sets that are listed."""
    if settings.knows is not None:
        return as_names(settings.knows)
    listed = [name for each in settings.sets or () for name in as_names(each)]
    return list(dict.fromkeys(listed))
