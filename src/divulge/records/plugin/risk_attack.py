"""The attack `risk` of a release: any measure of the risk of records, as an adversary."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from divulge.assessment import Adversary, Assessment, Sentence
from divulge.data import Dataset
from divulge.records.plugin.shared_answers import CountsPeople
from divulge.records.risk.attack import RiskAttack, RiskSettings, list_linking_columns
from divulge.records.risk.population.recoded_population import recode_population
from divulge.records.settings import (
    collect_names,
)


class RecordRiskAttack(RiskAttack, CountsPeople):
    """Any measure of the risk of records; the second dataset does not go out."""

    def same_records(self, settings: RiskSettings, datasets: Sequence[str]) -> Mapping[str, str]:
        """The original, of a measure that takes one."""
        if "original" not in settings.spec.names_datasets:
            return {}
        companions = self.companion_datasets(settings)
        return dict.fromkeys((n for n in datasets[1:] if n not in companions), datasets[0])

    def needed_columns(self, settings: RiskSettings) -> Collection[str]:
        """What is known, what classes give away, and what links records."""
        return collect_names(settings, "knows", "seeks") | set(list_linking_columns(settings))

    def companion_datasets(self, settings: RiskSettings) -> Sequence[str]:
        """The dataset of pairs that links records."""
        return () if settings.pairs_dataset is None else (settings.pairs_dataset,)

    def risk_per_record(self, settings: RiskSettings) -> bool:  # noqa: ARG002
        """That is what it measures."""
        return True

    def run_with_original(
        self,
        settings: RiskSettings,
        original: Dataset,
        released: Dataset,
        companions: Sequence[Dataset] = (),
    ) -> Assessment | None:
        """Where the measure weighs what is hidden by what it was."""
        if "original" not in settings.spec.options:
            return None
        return self.run_on_records(settings, [released, original, *companions], is_reduced=True)

    def run_on_protected(
        self, settings: RiskSettings, datasets: Sequence[Dataset], originals: Sequence[Dataset]
    ) -> Assessment | None:
        """With a list of the population, which is read as coarse as the release."""
        others = len(datasets) - len(self.companion_datasets(settings))
        if others != 2 or "population" not in settings.spec.names_datasets:
            if settings.links is None:
                return None
            return self.run_on_records(settings, datasets, is_reduced=True)
        population = recode_population(datasets[1], originals[0], datasets[0])
        seen = [datasets[0], population, *datasets[2:]]
        return self.run_on_records(settings, seen, is_reduced=True)

    def advice(self, adversary: Adversary) -> Sentence:
        """A limit on the measure itself, which protection can lower."""
        values = {"dataset": adversary.datasets[0], "measure": adversary.settings.measure}
        return Sentence("divulge.protection", "advice.risk", values)
