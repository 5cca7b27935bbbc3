"""The attack `risk` of a release: any measure of the risk of records, as an adversary's.

Where records are linked, the adversary who finds one of a cluster has found them all. Pairs are in
a dataset of the release, which comes after those that the adversary sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel, Field

from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records.risk.links.group_risk import describe_links, spread_risk
from divulge.records.risk.links.links import find_links_problems, read_links
from divulge.records.risk.links.links_table import LinksTable, as_settings
from divulge.records.risk.measure_spec import RiskResult, take_record_risk
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

    links: str | LinksTable | None = Field(
        None, description="What links records: an attribute, or a dataset of pairs."
    )

    @property
    def pairs_dataset(self) -> str | None:
        """The dataset of pairs, which comes last."""
        return self.links.dataset if isinstance(self.links, LinksTable) else None


class RiskAttack:
    """One dataset; a second one is the original (`known`, `bayes`, masks) or the population."""

    Settings: ClassVar[type[BaseModel]] = add_options(RiskSettings)

    def problems(
        self, settings: RiskSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """As many datasets as the measure takes, and attributes that exist in them."""
        if settings.pairs_dataset is not None:
            names = {name: of for name, of in names.items() if name != settings.pairs_dataset}
        yield from problems_with_request(settings, len(names))
        if settings.links is not None:
            # What classes give away, or a model of a sample, is of no record that could be linked.
            if settings.spec.linked is None or settings.spec.people_option is not None:
                yield Problem("links", f'do not go with measure "{settings.measure}".')
            yield from find_links_problems(as_settings(settings.links))
        known = as_names(settings.knows) if settings.knows is not None else []
        for place, (dataset, attributes) in enumerate(names.items()):
            subject = f'dataset "{dataset}"'
            yield from find_name_problems("knows", known, attributes, subject)
            linking = [("links", name) for name in list_linking_columns(settings)]
            for setting, value in [*linking, ("seeks", settings.seeks)] if place == 0 else ():
                if value is not None:
                    yield from find_name_problems(setting, [value], attributes, subject)

    def run(self, settings: RiskSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Measure, spread over links where they are named, and assess."""
        return self.run_on_records(settings, datasets, is_reduced=False)

    def run_on_records(
        self, settings: RiskSettings, datasets: Sequence[Dataset], *, is_reduced: bool
    ) -> Assessment:
        """The same, of records of which protection may have removed some (`is_reduced`)."""
        *seen, last = datasets
        dataset, *others = datasets if settings.pairs_dataset is None else seen
        other = others[0] if others else None
        result = measure_risk(settings, dataset, other)
        if settings.links is not None:
            # Who is linked is known from what was not yet hidden.
            source = dataset if other is None or "original" not in settings.spec.options else other
            pairs = None if settings.pairs_dataset is None else last
            result = _spread_over_links(settings, result, source, pairs, is_reduced=is_reduced)
        return assess_risk(result, settings.threshold)


def list_linking_columns(settings: RiskSettings) -> list[str]:
    """The attribute that links records, or the id that pairs name."""
    if settings.links is None or isinstance(settings.links, str):
        return [] if settings.links is None else [settings.links]
    return [name for name in (settings.links.attribute, settings.links.on) if name is not None]


def _spread_over_links(
    settings: RiskSettings,
    result: RiskResult,
    source: Dataset,
    pairs: Dataset | None,
    *,
    is_reduced: bool,
) -> RiskResult:
    """The risk of each record as that of its cluster."""
    assert settings.links is not None  # noqa: S101  # asked before
    links = read_links(as_settings(settings.links))
    links = links if pairs is None else links.with_dataset(pairs)
    clusters = links.find_clusters(source, is_reduced=is_reduced)
    spread = spread_risk(take_record_risk(result), clusters, "cluster_risk")
    return replace(spread, notes=(*spread.notes, *describe_links(clusters, source)))
