"""What a limit asks of each record: who is at risk, and how much.

A limit judges a whole dataset; protection must know which records keep it from holding. Limits
that count (`k_anonymity`, `smallest_frequency`), risks of records, measures of classes, and
figures of an adversary's attack all come down to the same: a risk per record, and who is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import records
from divulge.assessment import Assessment, Limit, Measurement, Outcome, Sentence, measures
from divulge.assessment.assessment_measures import HIGHEST_RISK
from divulge.assessment.limit import is_beyond_bound
from divulge.classes.people import RecordsKnown
from divulge.data import Dataset
from divulge.protection.limits.limit_kinds import classify_limit, describe_rule, is_count_limit
from divulge.records.risk.class_measures.class_measure import ClassMeasure
from divulge.records.risk.custom_risk import name_function, read_risks
from divulge.records.risk.frequencies.people_frequencies import describe_people
from divulge.records.risk.links.clusters import Clusters
from divulge.records.risk.links.group_risk import describe_links, spread_risk
from divulge.records.risk.measure_spec import (
    MeasureSpec,
    judge_average_risk,
    take_record_risk,
)
from divulge.records.risk.null_readings import DEFAULT_NULLS, SEMANTICS_OF_ORIGINAL, Nulls
from divulge.records.risk.population.recoded_population import recode_population
from divulge.records.risk.registry import MEASURES
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Bools, Floats, Ints

AttackRunner = Callable[[Dataset, Dataset], Assessment]
"""An attack on a dataset, ready to be run; beside it the same records as they were."""


@dataclass(frozen=True)
class Standing:
    """How a dataset stands to a limit."""

    outcome: Outcome
    risk: Floats
    """Of each record, 0 to 1."""
    at_risk: Bools
    """Who keeps the limit from holding; nobody if it holds."""
    own: Floats | None = None
    """The risk of each record alone, where `risk` is that of its cluster."""

    @property
    def held(self) -> bool:
        """Whether the limit holds."""
        return self.outcome.held


@dataclass(frozen=True, kw_only=True)
class Goal:
    """One limit, and all that is needed to see who stands in its way."""

    limit: Limit
    among: tuple[str, ...]
    run_attack: AttackRunner | None = None
    clusters: Clusters | None = None
    """Which records are linked, of all that were there when the goal was set."""
    thresholds: Floats | None = None
    """The risk that each of these records may have; no number where the limit's bound holds."""
    threshold_rules: tuple[str, ...] = ()

    @property
    def is_count_limit(self) -> bool:
        """Whether it counts records that look alike."""
        return is_count_limit(self.limit)

    @property
    def is_crowd_limit(self) -> bool:
        """Whether it asks how many look alike: records, or the population that they stand for."""
        return self.is_count_limit or self.counts_population

    @property
    def counts_population(self) -> bool:
        """Whether records that look alike count with their sampling weights."""
        measure = MEASURES.get(self.limit.measure)
        is_crowd = measure is not None and measure.per_record == "count"
        return is_crowd and not self.is_count_limit

    @property
    def nulls(self) -> Nulls:
        """What a null may stand for when records are counted."""
        semantics: Nulls = self.limit.options.get("nulls", DEFAULT_NULLS)
        return semantics

    @property
    def records_known(self) -> RecordsKnown:
        """Of somebody with several records, whether one is known or all."""
        known: RecordsKnown = self.limit.options.get("records_known", "one")
        return known

    @property
    def is_class_limit(self) -> bool:
        """Whether whole classes are judged, in which a null is a value of its own."""
        return self.limit.of_assessment or classify_limit(self.limit) == "class"

    @property
    def is_cluster_limit(self) -> bool:
        """Whether linked records are judged by the chance that one of them is found."""
        measure = MEASURES.get(self.limit.measure)
        return (
            self.clusters is not None
            and measure is not None
            and measure.linked != "lowest"
            and measure.figure is not judge_average_risk
        )

    @property
    def highest_risk(self) -> float:
        """The highest risk that the limit leaves every record: one in k where it counts."""
        bound = self.limit.bound
        risk = bound if self.limit.at_most is not None else 1 / max(bound, 1.0)
        return risk if self.thresholds is None else min(risk, float(np.nanmin(self.thresholds)))

    @property
    def takes_thresholds(self) -> bool:
        """Whether single records may have limits of their own: it bounds the risk of each."""
        if self.limit.of_assessment or self.is_class_limit:
            return False
        measure = MEASURES.get(self.limit.measure)
        return measure is None or measure.figure is not judge_average_risk

    @property
    def rule(self) -> str:
        """The limit in short."""
        risk = self.limit.options.get("risk")
        written = getattr(risk, "written_measure", None)
        text = self.limit.measure if written is None else str(written)
        function = name_function(risk) if written is None else ""
        for subject in filter(None, (function, self.limit.attribute, self.limit.adversary)):
            text = describe_rule("of", rule=text, subject=subject)
        side = "at_most" if self.limit.at_most is not None else "at_least"
        text = describe_rule(side, rule=text, bound=f"{self.limit.bound:g}")
        text += f" ({self.nulls})" if self.is_count_limit else ""
        return text if self.clusters is None else describe_rule("linked", rule=text)

    def measure_standing(
        self, dataset: Dataset, original: Dataset, kept: Ints | None = None
    ) -> Standing:
        """How a dataset stands; `original` holds the same records as they were.

        `kept` are their numbers among the records that the goal was set for, where some of those
        are gone: whoever was linked by way of them still is.
        """
        standing = self._measure_bound(dataset, original, kept)
        if self.thresholds is None:
            return standing
        return self._judge_singly(standing, dataset, kept)

    def find_rare_records(self, counts: npt.ArrayLike, kept: Ints | None = None) -> Bools:
        """Who has fewer alike than a limit that counts asks of them."""
        rare: Bools = np.asarray(self.limit.is_broken_by(counts))
        if self.thresholds is None:
            return rare
        own = self.thresholds if kept is None else self.thresholds[kept]
        risk = 1 / np.maximum(np.asarray(counts, np.float64), 1.0)
        # A looser threshold does not let a record off: the limit is on everybody.
        stricter: Bools = rare | (np.isfinite(own) & is_beyond_bound(risk, own, "highest"))
        return stricter

    def _judge_singly(self, standing: Standing, dataset: Dataset, kept: Ints | None) -> Standing:
        """How records stand of which some have a threshold of their own."""
        assert self.thresholds is not None  # noqa: S101  # asked before
        own = self.thresholds if kept is None else self.thresholds[kept]
        if own.size != dataset.rows:
            message = "are of other records than those that are judged."
            raise InvalidInput(f'dataset "{dataset.name}"', [Problem("thresholds", message)])
        is_own = np.isfinite(own)
        beyond = is_own & is_beyond_bound(standing.risk, own, "highest")
        at_risk = standing.at_risk | beyond
        values = {"count": int(is_own.sum()), "rules": ", ".join(self.threshold_rules)}
        sentence = Sentence("divulge.protection", "thresholds", values)
        outcome = replace(
            standing.outcome,
            held=standing.outcome.held and not np.any(beyond),
            vacuous=False,
            sentences=(*standing.outcome.sentences, sentence),
        )
        return replace(standing, outcome=outcome, at_risk=at_risk)

    def _measure_bound(self, dataset: Dataset, original: Dataset, kept: Ints | None) -> Standing:
        """How a dataset stands to the bound of the limit."""
        if self.limit.of_assessment:
            return self._measure_attack(dataset, original)
        if self.clusters is not None:
            return self._measure_linked(dataset, original, self._select_clusters(dataset, kept))
        if self.is_count_limit:
            return self._measure_counts(dataset, original)
        if self.limit.measure not in MEASURES:
            return self._measure_elsewhere(dataset)
        measure = MEASURES[self.limit.measure]
        options = self._build_options(measure, dataset, original)
        if classify_limit(self.limit) == "class":
            measurement: Any = measure.function(dataset, **options)
            at_risk = self.limit.is_broken_by(measurement.values)
            outcome = self.limit.judge_measurement(
                Measurement(measurement.value, "count"), dataset.name
            )
            return Standing(outcome, _as_risk(measure, measurement), at_risk)
        return self._measure_record_risk(measure, dataset, options)

    def _build_options(
        self, measure: MeasureSpec, dataset: Dataset, original: Dataset
    ) -> dict[str, Any]:
        options = measure.settle_options(self.limit.bound, self.limit.options)
        # As it was given the original has all records, also removed ones.
        for name in ("original", "links"):
            options.pop(name, None)
        if isinstance(options.get("population"), Dataset):
            options["population"] = recode_population(options["population"], original, dataset)
        if self.nulls in SEMANTICS_OF_ORIGINAL and "original" in measure.options:
            options["original"] = original
        if self.limit.attribute is not None:
            options["attribute"] = self.limit.attribute
        return options

    def _select_clusters(self, dataset: Dataset, kept: Ints | None) -> Clusters:
        assert self.clusters is not None  # noqa: S101  # asked before
        clusters = self.clusters if kept is None else self.clusters.select(kept)
        if clusters.of_record.size != dataset.rows:
            message = "links are of other records than those that are judged."
            raise InvalidInput(f'dataset "{dataset.name}"', [Problem("links", message)])
        return clusters

    def _measure_linked(self, dataset: Dataset, original: Dataset, clusters: Clusters) -> Standing:
        """Everybody as exposed as their cluster."""
        measure = MEASURES[self.limit.measure]
        if self.is_count_limit:
            known = original if self.nulls in SEMANTICS_OF_ORIGINAL else None
            result: Any = records.frequencies(dataset, self.nulls, among=self.among, original=known)
        else:
            result = measure.function(dataset, **self._build_options(measure, dataset, original))
        values = measure.combine_linked(result, clusters)
        at_risk = self.limit.is_broken_by(values)
        lowest = measure.direction == "at_least"
        value = float(values.min() if lowest else values.max())
        if measure.figure is judge_average_risk:
            value = fsum(values) / values.size
            is_met = not self.limit.is_broken_by(value)
            spread = spread_risk(take_record_risk(result), clusters, "cluster_risk")
            at_risk = values > (1.0 if is_met else spread.threshold_for(self.limit.bound))
        elif not np.any(at_risk):
            # A sum of chances may lack the last digit of what it is.
            value = max(value, self.limit.bound) if lowest else min(value, self.limit.bound)
        notes = describe_links(clusters, dataset)
        outcome = self.limit.judge_measurement(
            Measurement(value, measure.scale, notes=notes), dataset.name
        )
        alone = measure.combine_linked(result, Clusters(np.arange(dataset.rows)))
        risk, own = (1 / np.maximum(each, 1.0) if lowest else each for each in (values, alone))
        return Standing(outcome, risk, at_risk, own)

    def _measure_counts(self, dataset: Dataset, original: Dataset) -> Standing:
        known_original = original if self.nulls in SEMANTICS_OF_ORIGINAL else None
        frequencies = records.frequencies(
            dataset,
            self.nulls,
            among=self.among,
            original=known_original,
            records_known=self.records_known,
        )
        at_risk = frequencies.sample < self.limit.bound - 1e-9
        # A weighed count may lack the last digit of what it is.
        value = (
            frequencies.smallest if np.any(at_risk) else max(frequencies.smallest, self.limit.bound)
        )
        people = describe_people(dataset, self.records_known)
        measurement = Measurement(value, "count", notes=people)
        outcome = self.limit.judge_measurement(measurement, dataset.name)
        return Standing(outcome, 1 / np.maximum(frequencies.sample, 1.0), at_risk)

    def _measure_record_risk(
        self, measure: MeasureSpec, dataset: Dataset, options: Mapping[str, Any]
    ) -> Standing:
        risk = take_record_risk(measure.function(dataset, **options))
        if measure.figure is judge_average_risk:
            is_met = not self.limit.is_broken_by(risk.average)
            # What is above this threshold is too much for the average.
            at_risk = risk.values > (1.0 if is_met else risk.threshold_for(self.limit.bound))
            value = risk.average
        else:
            at_risk, value = self.limit.is_broken_by(risk.values), risk.highest
        outcome = self.limit.judge_measurement(Measurement(value, "share"), dataset.name)
        return Standing(outcome, risk.values, at_risk)

    def _measure_elsewhere(self, dataset: Dataset) -> Standing:
        """A measure of another package, which judges the dataset and tells the risk of records."""
        measure: Any = measures()[self.limit.measure]
        outcome = self.limit.judge_measurement(measure.of(dataset, self.limit), dataset.name)
        risk = read_risks(measure.record_risk(dataset, self.limit), dataset, self.limit.measure)
        at_risk = np.zeros(risk.size, np.bool_)
        if not outcome.held:
            if self.limit.at_most is not None:
                at_risk |= self.limit.is_broken_by(risk)
            if not np.any(at_risk):
                at_risk[_list_riskiest(risk)] = True
        return Standing(outcome, risk, at_risk)

    def _measure_attack(self, dataset: Dataset, original: Dataset) -> Standing:
        assert self.run_attack is not None  # noqa: S101  # a goal of an adversary has their attack
        assessment = self.run_attack(dataset, original)
        outcome = self.limit.judge(assessment)
        risk = assessment.risk()
        at_risk = np.zeros(risk.size, np.bool_)
        if not outcome.held and self.limit.measure == HIGHEST_RISK:
            at_risk = self.limit.is_broken_by(risk)
        elif not outcome.held:
            at_risk[self._find_most_at_risk(assessment, risk)] = True
        return Standing(outcome, risk, at_risk)

    def _find_most_at_risk(self, assessment: Assessment, risk: Floats) -> npt.NDArray[np.int64]:
        """As many of the records at the highest risk as stand between the limit and what is."""
        if self.limit.measure.startswith("deterministic"):
            certain = np.flatnonzero(risk >= 1 - 1e-12)
            excess = certain.size
            if self.limit.measure in ("deterministic.posterior", "deterministic.count"):
                share = self.limit.measure == "deterministic.posterior"
                allowed = self.limit.bound * (assessment.secrets if share else 1)
                excess = ceil(float(assessment.certain.posterior) - allowed - 1e-9)
            if assessment.secrets != risk.size:
                excess = certain.size  # of people with several records, each is a part of one
            return certain[: max(1, excess)] if certain.size else np.flatnonzero(risk > 0)[:1]
        return _list_riskiest(risk)


def _list_riskiest(risk: Floats) -> Ints:
    """Those at more than half of the highest risk, or one: where nothing tells who is over."""
    order = np.argsort(-risk, kind="stable")
    return order[: max(1, int((risk > 0.5 * risk.max()).sum()))]


def _as_risk(measure: MeasureSpec, class_measure: ClassMeasure) -> Floats:
    """Values of classes as risks of their records; where lower is worse, one over them."""
    values = class_measure.values
    if class_measure.worst == "lowest":
        return 1 / np.maximum(values, 1.0)
    return np.clip(values if measure.probability is None else measure.probability(values), 0, 1)
