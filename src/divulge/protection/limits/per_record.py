"""What a limit asks of each record: who is at risk, and how much.

A limit judges a whole dataset; protection must know which records keep it from holding. Limits
that count (`k_anonymity`, `smallest_frequency`), risks of records, measures of classes, and
figures of an adversary's attack all come down to the same: a risk per record, and who is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import records
from divulge.assessment import Assessment, Limit, Measurement, Outcome
from divulge.classes.people import RecordsKnown, find_people
from divulge.data import Dataset
from divulge.records.risk.class_measure import ClassMeasure
from divulge.records.risk.frequencies import DEFAULT_NULLS, SEMANTICS_OF_ORIGINAL, Nulls
from divulge.records.risk.measure_spec import (
    MeasureSpec,
    PerRecord,
    judge_average_risk,
    take_record_risk,
)
from divulge.records.risk.people_frequencies import describe_people
from divulge.records.risk.registry import MEASURES
from divulge.work import Problems
from divulge.work.arrays import Bools, Floats

AttackRunner = Callable[[Dataset], Assessment]
"""An attack on a dataset, ready to be run."""


@dataclass(frozen=True)
class Standing:
    """How a dataset stands to a limit."""

    outcome: Outcome
    risk: Floats
    """Of each record, 0 to 1."""
    at_risk: Bools
    """Who keeps the limit from holding; nobody if it holds."""

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
    links: Any = None
    on: str | None = None

    @property
    def is_count_limit(self) -> bool:
        """Whether it counts records that look alike."""
        return is_count_limit(self.limit)

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
    def rule(self) -> str:
        """The limit in short."""
        whose = f" of {self.limit.adversary}" if self.limit.adversary else ""
        of = f" of {self.limit.attribute}" if self.limit.attribute else ""
        nulls = f" ({self.nulls})" if self.is_count_limit else ""
        bound = f"{self.limit.direction} {self.limit.bound:g}"
        return f"{self.limit.measure}{of}{whose} {bound}{nulls}"

    def measure_standing(self, dataset: Dataset, original: Dataset) -> Standing:
        """How a dataset stands; `original` holds the same records as they were."""
        if self.limit.of_assessment:
            return self._measure_attack(dataset)
        if self.is_count_limit:
            return self._measure_counts(dataset, original)
        options = dict(self.limit.options)
        options.pop("original", None)  # as it was given it has all records, also removed ones
        measure = MEASURES[self.limit.measure]
        if self.nulls in SEMANTICS_OF_ORIGINAL and "original" in measure.options:
            options["original"] = original
        if measure.per_record == "class":
            if self.limit.attribute is not None:
                options["attribute"] = self.limit.attribute
            measurement: Any = measure.function(dataset, **options)
            at_risk = self.limit.broken_by(measurement.values)
            outcome = self.limit.judge_measurement(
                Measurement(measurement.value, "count"), dataset.name
            )
            return Standing(outcome, _as_risk(measurement), at_risk)
        return self._measure_record_risk(measure, dataset, options)

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
        if self.links is not None:
            risk = records.cluster_risk(risk, self.links, self.on)
        if measure.figure is judge_average_risk:
            is_met = not self.limit.broken_by(risk.average)
            # What is above this threshold is too much for the average.
            at_risk = risk.values > (1.0 if is_met else risk.threshold_for(self.limit.bound))
            value = risk.average
        else:
            at_risk, value = self.limit.broken_by(risk.values), risk.highest
        outcome = self.limit.judge_measurement(Measurement(value, "share"), dataset.name)
        return Standing(outcome, risk.values, at_risk)

    def _measure_attack(self, dataset: Dataset) -> Standing:
        assert self.run_attack is not None  # noqa: S101  # a goal of an adversary has their attack
        assessment = self.run_attack(dataset)
        outcome = self.limit.judge(assessment)
        risk = assessment.risk()
        at_risk = np.zeros(risk.size, np.bool_)
        if not outcome.held:
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
        order = np.argsort(-risk, kind="stable")
        return order[: max(1, int((risk > 0.5 * risk.max()).sum()))]


def _as_risk(class_measure: ClassMeasure) -> Floats:
    values = class_measure.values
    if class_measure.worst == "lowest":
        return 1 / np.maximum(values, 1.0)
    return np.clip(
        values / (1 + values) if class_measure.measure == "beta_likeness" else values, 0, 1
    )


def classify_limit(limit: Limit) -> PerRecord | None:
    """How a measure of a dataset sees who keeps a limit from holding; None if it does not."""
    measure = MEASURES.get(limit.measure)
    return measure.per_record if measure is not None else None


def is_count_limit(limit: Limit) -> bool:
    """Whether a limit counts records that look alike."""
    return classify_limit(limit) == "count"


def has_protection_method(limit: Limit) -> bool:
    """Whether there is a method that can make a limit hold; others are only judged."""
    return limit.of_assessment or classify_limit(limit) is not None


def build_goals(
    dataset: Dataset,
    limits: Sequence[Limit],
    attacks: Mapping[str | None, tuple[AttackRunner, Sequence[str]]] | None = None,
    links: Any = None,
    on: str | None = None,
) -> list[Goal]:
    """The goals of some limits, checked for sense together.

    A limit of an adversary without an attack is taken of somebody who knows all
    quasi-identifiers and seeks the record (CRS).
    """
    problems = Problems(f'protection of "{dataset.name}"')
    if isinstance(limits, Limit):
        problems.add("limits", "must be a list.")
        problems.raise_any()
    if not limits:
        problems.add("limits", "holds none; say what must hold.")
    goals = []
    for place, limit in enumerate(limits, start=1):
        where = f"limit {place}"
        among: Iterable[str] | None = limit.options.get("among")
        if limit.of_assessment:
            run, knows = (attacks or {}).get(limit.adversary, (None, ()))
            if run is None:
                knows = dataset.attributes(None, "knows")
                run = _build_crs_attack(list(knows))
            if limit.measure.endswith(".prior"):
                message = f"{limit.measure} is known before the release; nothing can change it."
                problems.add(where, message)
            goals.append(Goal(limit=limit, among=tuple(knows), run_attack=run))
            continue
        if not has_protection_method(limit):
            message = f"{limit.measure} has no risk per record; no method of protection lowers it."
            problems.add(where, message)
            continue
        goals.append(
            Goal(
                limit=limit,
                among=tuple(dataset.attributes(among, "among")),
                run_attack=None,
                links=links,
                on=on,
            )
        )
    _check_contradictions(dataset, goals, problems)
    problems.raise_any()
    return goals


def _build_crs_attack(knows: list[str]) -> AttackRunner:
    return lambda dataset: records.attack(dataset, "CRS", knows=knows)


def _check_contradictions(dataset: Dataset, goals: Sequence[Goal], problems: Problems) -> None:
    """Limits that no data of this kind can keep."""
    people = find_people(dataset)
    for goal in goals:
        limit = goal.limit
        if goal.is_count_limit and limit.bound > dataset.rows:
            message = f"{limit.bound:g} records cannot look alike: there are {dataset.rows:,}."
            problems.add(limit.measure, message)
        elif goal.is_count_limit and people is not None and limit.bound > people.number:
            message = f"{limit.bound:g} people cannot look alike: there are {people.number:,}."
            problems.add(limit.measure, message)
        column = dataset.columns.get(limit.attribute or "")
        kinds = inf if column is None else column.cardinality
        if limit.measure.endswith("l_diversity") and limit.bound > kinds:
            message = f'"{limit.attribute}" has {kinds} values; {limit.bound:g} cannot be.'
            problems.add(limit.measure, message)
