"""Against a population: k-map, delta-presence, and what journalists and prosecutors find.

An adversary who has a list of the population looks for a record in it. k-map: how many of the
population look like each record (Sweeney 2002). Delta-presence: the chance that somebody of the
population is in the release at all (Nergiz, Atzori & Clifton 2007). The prosecutor knows that their
victim is in the release, the journalist does not and wants any one, the marketer wants as many as
possible (El Emam & Dankar 2008).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Claim, Sentence
from divulge.classes.people import RecordsKnown, require_one_record_each
from divulge.classes.population_size import is_sample
from divulge.data import Dataset
from divulge.qif import PriorPosterior
from divulge.records.risk.class_measures.class_measure import ClassMeasure, CrowdMeasure
from divulge.records.risk.class_measures.k_anonymity import measure_crowds
from divulge.records.risk.class_measures.sensitive_classes import (
    Count,
    CountingRules,
    build_counting,
)
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.null_readings import SEMANTICS_OF_RELEASE, Nulls
from divulge.records.risk.population.population_list import PopulationMatch, match_population
from divulge.records.risk.record_risk import RecordRisk
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools

Names = str | Iterable[str] | None


@dataclass(frozen=True, repr=False)
class Presence(ClassMeasure):
    """The chance that each person of the population is in the release, class by class.

    `values` are of the people of the population, in its order, and so is `by`.
    """

    population: Dataset

    @property
    def _people(self) -> Dataset:
        return self.population

    @property
    def lowest(self) -> float:
        """The lowest chance: with `value`, the highest, the two deltas of the release."""
        return float(self.classes.min())

    @property
    def claim(self) -> Claim:
        """Exact if every record and person shows all cells and stands for one."""
        weighed = is_sample(self.population)
        is_guessed = self.counting.hides and self.counting.nulls != "value"
        return "estimate" if weighed or is_guessed else "exact"

    def assess(self, chosen: Bools, whole: bool = False) -> Assessment:
        """For whom of the population it is certain that they are in, or that they are not."""
        chance = self.values[chosen]
        share = float(self.values.mean())
        total = int(chance.size)
        sentence_values: dict[str, Any] = {
            "certain": int(((chance == 0) | (chance == 1)).sum()),
            "present": int((chance == 1).sum()),
            "lowest": float(chance.min()),
            "highest": float(chance.max()),
            "total": total,
            "subjects": self.population.subjects,
        }
        right = float(np.maximum(chance, 1 - chance).sum())
        callbacks: dict[str, Any] = {}
        if whole:
            callbacks = {"_chart": self.chart, "_breakdown": self.by, "_risk": lambda: self.values}
        return Assessment.from_counts(
            attack="risk",
            model=self.measure,
            dataset=self.dataset.name,
            knows=self.counting.attributes,
            seeks=(),
            secrets=total,
            subjects=self.population.subjects,
            claim=self.claim,
            certain=PriorPosterior(total if share in (0, 1) else 0, sentence_values["certain"]),
            right=PriorPosterior(min(right, max(share, 1 - share) * total), right),
            sentences=(
                Sentence("divulge.records", "presence.level", sentence_values),
                Sentence("divulge.records", "presence.certain", sentence_values),
            ),
            figures={
                "lowest_presence": sentence_values["lowest"],
                "highest_presence": sentence_values["highest"],
            },
            **callbacks,
        )


def k_map(
    dataset: Dataset,
    population: Dataset | None = None,
    among: Names = None,
    nulls: Nulls = "bayes",
    *,
    original: Dataset | None = None,
) -> CrowdMeasure:
    """How many of the population look like the records of each class; the least is k.

    Args:
        dataset: the records of the release.
        population: the list that the adversary has; if None, the sampling weights stand for it.
        among: the attributes that both have; all quasi-identifiers of the release if none given.
        nulls: what a missing value may stand for; with a list `maybe`, `value`, or by default
            anything if it is hidden, and itself if it is absent.
        original: the records before protection, if weights stand for the population.

    >>> import divulge as dv
    >>> k_map(dv.datasets.inflation_and_growth_example(), among="Area").value
    728.0
    """
    require_one_record_each(dataset, "the population is compared with records")
    if population is None:
        if nulls == "known":
            message = f'"{nulls}" does not go with k-map; what is known is in the population.'
            problem = Problem("nulls", message, nulls, SEMANTICS_OF_RELEASE)
            raise InvalidInput(f'dataset "{dataset.name}"', [problem])
        weighed = is_sample(dataset)
        count: Count = "population" if weighed else "records"
        return measure_crowds(
            "k_map", dataset, build_counting(dataset, among, nulls, count, original)
        )
    counting, matches = _match_listed_people(dataset, population, among, nulls)
    return CrowdMeasure(
        measure="k_map",
        classes=matches.crowd,
        of_record=matches.of_record,
        size=np.bincount(matches.of_record),
        dataset=dataset,
        worst="lowest",
        counting=counting,
        again=lambda nulls: float(
            match_population(dataset, population, counting.attributes, nulls).crowd.min()
        ),
    )


def delta_presence(
    dataset: Dataset, population: Dataset, among: Names = None, nulls: Nulls = "bayes"
) -> Presence:
    """The chance, for each class of the population, that somebody of it is in the release.

    The release is delta-present for the lowest and the highest of these chances: `lowest` and
    `value`. A record that hides cells is equally likely anybody whom it may be.

    >>> import pyarrow as pa
    >>> town = Dataset.from_arrow(pa.table({"age": [1, 1, 2, 3]}))
    >>> ill = Dataset.from_arrow(pa.table({"age": [1, 2]}))
    >>> delta_presence(ill, town, among="age").classes.tolist()
    [0.5, 1.0, 0.0]
    """
    counting, matches = _match_listed_people(dataset, population, among, nulls)
    return Presence(
        measure="delta_presence",
        classes=matches.presence,
        of_record=matches.of_person,
        size=np.bincount(matches.of_person),
        dataset=dataset,
        worst="highest",
        counting=counting,
        again=lambda nulls: float(
            match_population(dataset, population, counting.attributes, nulls).presence.max()
        ),
        population=population,
    )


def prosecutor_risk(
    dataset: Dataset,
    among: Names = None,
    nulls: Nulls = "bayes",
    original: Dataset | None = None,
    records_known: RecordsKnown = "one",
) -> RecordRisk:
    """The risk if the adversary knows that their victim is in the release: 1/f.

    With the role `person`, the chance of the likeliest person of whom a record (or all records)
    would look so.

    >>> import divulge as dv
    >>> prosecutor_risk(dv.datasets.inflation_and_growth_example(), among="Area").highest
    0.2
    """
    return frequencies(
        dataset, nulls, among=among, original=original, records_known=records_known
    ).risk()


def journalist_risk(
    dataset: Dataset,
    population: Dataset | None = None,
    among: Names = None,
    nulls: Nulls = "bayes",
    measure: str = "journalist_risk",
    *,
    original: Dataset | None = None,
) -> RecordRisk:
    """The risk if they do not know it and look in the population: 1/F.

    >>> import divulge as dv
    >>> round(1 / journalist_risk(dv.datasets.inflation_and_growth_example(), among="Area").highest)
    728
    """
    crowd = k_map(dataset, population, among, nulls, original=original)
    ways = {f"k_map_{way}": value for way, value in crowd.side_by_side.items()}
    return RecordRisk(
        values=1 / np.maximum(crowd.values, 1),
        number=crowd.number,
        measure=measure,
        dataset=dataset,
        attributes=crowd.counting.attributes,
        claim=crowd.claim,
        notes=crowd.flattery(),
        figures=ways,
    )


def marketer_risk(
    dataset: Dataset,
    population: Dataset | None = None,
    among: Names = None,
    nulls: Nulls = "bayes",
    *,
    original: Dataset | None = None,
) -> RecordRisk:
    """The risk if they want many, whoever it is: their average counts, not the highest.

    With a population (or sampling weights) it is the journalist's of each record; where the
    release is all there is, the prosecutor's.

    >>> import divulge as dv
    >>> round(marketer_risk(dv.datasets.school_year_example(), among="gender").average, 2)
    0.2
    """
    return journalist_risk(dataset, population, among, nulls, "marketer_risk", original=original)


def _match_listed_people(
    dataset: Dataset, population: Dataset, among: Names, nulls: Nulls
) -> tuple[CountingRules, PopulationMatch]:
    names = tuple(dataset.attributes(among, "among"))
    matches = match_population(dataset, population, names, nulls)
    hides = any(
        source.columns[name].has_missing for source in (dataset, population) for name in names
    )
    # Under another way of counting, a record with a null might look like nobody of the list.
    count: Count = "records" if not is_sample(population) else "population"
    return CountingRules(
        attributes=names, nulls=nulls, count=count, original=None, hides=hides, ways=(nulls,)
    ), matches
