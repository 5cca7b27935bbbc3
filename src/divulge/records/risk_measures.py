"""Measures of a dataset that a limit of a release may name: risk, diversity, closeness.

Each says what is wrong with a limit before any record is read, and measures a dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from divulge.assessment import Limit, Measurement, Sentence
from divulge.data import Dataset
from divulge.records.class_measure import ClassMeasure
from divulge.records.closeness import DISTANCES, t_closeness
from divulge.records.clusters import household_risk
from divulge.records.diversity import (
    beta_likeness,
    distinct_l_diversity,
    entropy_l_diversity,
    recursive_l_diversity,
)
from divulge.records.frequencies import OF_ORIGINAL, SEMANTICS, frequencies
from divulge.records.individual_risk import METHODS, individual_risk, reidentification_risk
from divulge.records.presence import journalist_risk, k_map, prosecutor_risk
from divulge.records.record_risk import RecordRisk
from divulge.records.suda import suda
from divulge.work import Problem

COUNTED = tuple(each for each in SEMANTICS if each not in OF_ORIGINAL)
"""The ways to count that need nothing but the release."""


@dataclass(frozen=True)
class OneOf:
    """An option that is one of some words; the first is taken if it is not given."""

    words: tuple[str, ...]

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        if given in self.words:
            return None
        return Problem(name, f'"{given}" is not one of them.', str(given), self.words)


@dataclass(frozen=True)
class Positive:
    """An option that is a number above zero."""

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        number = isinstance(given, int | float) and not isinstance(given, bool)
        return None if number and given > 0 else Problem(name, "is not a number above 0.")


@dataclass(frozen=True)
class Whole:
    """An option that is a whole number from one."""

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        number = isinstance(given, int) and not isinstance(given, bool)
        return None if number and given > 0 else Problem(name, "is not a whole number from 1.")


@dataclass(frozen=True)
class Words:
    """An option that is a list of values."""

    def problem(self, name: str, given: Any) -> Problem | None:
        """What is wrong with what was given."""
        return None if isinstance(given, list | tuple) else Problem(name, "is not a list.")


@dataclass(frozen=True)
class RiskMeasure:
    """One measure: in which direction it protects, what its bounds are, and how it is taken."""

    name: str
    direction: Literal["at_least", "at_most"]
    scale: Literal["share", "count", "factor"]
    measure: Callable[..., tuple[float, int]]
    """Dataset, bound and options to the value and the number of records that fail the bound."""
    lowest: float = 0
    highest: float = float("inf")
    of_attribute: bool = False
    options: Mapping[str, OneOf | Positive | Whole | Words] = field(default_factory=dict)

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """The right direction, a bound that can be, an attribute where one is meant, options."""
        if getattr(limit, self.direction) is None:
            wrong = "at_most" if self.direction == "at_least" else "at_least"
            side = "below" if self.direction == "at_least" else "above"
            yield Problem(wrong, f"{self.name} protects from {side}; give {self.direction}.")
        elif not self.lowest <= limit.bound <= self.highest:
            upto = f"to {self.highest:g}" if self.highest < float("inf") else "or more"
            message = f"{limit.bound:g} is not a bound of {self.name} ({self.lowest:g} {upto})."
            yield Problem(self.direction, message)
        if limit.attribute is not None and not self.of_attribute:
            message = f"{self.name} looks at all quasi-identifiers together."
            yield Problem("attribute", message)
        for name, given in limit.options.items():
            if name == "among":
                continue
            if name not in self.options:
                allowed = ["dataset", "among", *self.options]
                message = f"is not an option of {self.name}."
                yield Problem(name, message, value=name, allowed=allowed)
            else:
                problem = self.options[name].problem(name, given)
                if problem is not None:
                    yield problem

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """The measure, and how many records fail the bound."""
        options = dict(limit.options)
        if self.of_attribute:
            options["attribute"] = limit.attribute
        value, failing = self.measure(dataset, limit.bound, **options)
        values = {"failing": failing, "total": dataset.rows, "subjects": dataset.subjects}
        return Measurement(value, self.scale, Sentence("divulge.records", "limit.failing", values))


def _of_classes(measure: Callable[..., ClassMeasure]) -> Callable[..., tuple[float, int]]:
    def taken(dataset: Dataset, bound: float, **options: Any) -> tuple[float, int]:
        found = measure(dataset, **options)
        return found.value, found.failing(bound)

    return taken


def _highest(measure: Callable[..., RecordRisk]) -> Callable[..., tuple[float, int]]:
    def taken(dataset: Dataset, bound: float, **options: Any) -> tuple[float, int]:
        found = measure(dataset, **options)
        return found.highest, found.above(bound)

    return taken


def _average(measure: Callable[..., RecordRisk]) -> Callable[..., tuple[float, int]]:
    def taken(dataset: Dataset, bound: float, **options: Any) -> tuple[float, int]:
        found = measure(dataset, **options)
        return found.average, found.above(bound)

    return taken


def _frequency(dataset: Dataset, bound: float, **options: Any) -> tuple[float, int]:
    found = frequencies(dataset, **options)
    return found.smallest, found.below(bound)


def _dis(dataset: Dataset, **options: Any) -> RecordRisk:
    return suda(dataset, **options).risk()


def _measure(name: str, *arguments: Any, **more: Any) -> Callable[[], RiskMeasure]:
    # An entry point names a class or function that is called once.
    return lambda: RiskMeasure(name, *arguments, **more)


_NULLS = {"nulls": OneOf(COUNTED)}
_CHANCE: dict[str, Any] = {"highest": 1}
_OF_VALUE: dict[str, Any] = {"of_attribute": True}

smallest_frequency = _measure("smallest_frequency", "at_least", "count", _frequency, options=_NULLS)
k_map_measure = _measure("k_map", "at_least", "count", _of_classes(k_map))
distinct_l = _measure(
    "distinct_l_diversity", "at_least", "count", _of_classes(distinct_l_diversity), **_OF_VALUE
)
entropy_l = _measure(
    "entropy_l_diversity", "at_least", "count", _of_classes(entropy_l_diversity), **_OF_VALUE
)
recursive_l = _measure(
    "recursive_l_diversity",
    "at_least",
    "count",
    _of_classes(recursive_l_diversity),
    options={"c": Positive()},
    **_OF_VALUE,
)
t_close = _measure(
    "t_closeness",
    "at_most",
    "share",
    _of_classes(t_closeness),
    options={"distance": OneOf(DISTANCES), "order": Words()},
    **_OF_VALUE,
    **_CHANCE,
)
beta_like = _measure("beta_likeness", "at_most", "count", _of_classes(beta_likeness), **_OF_VALUE)
reidentification = _measure(
    "reidentification_risk",
    "at_most",
    "share",
    _highest(reidentification_risk),
    options=_NULLS,
    **_CHANCE,
)
individual = _measure(
    "individual_risk",
    "at_most",
    "share",
    _highest(individual_risk),
    options={"method": OneOf(METHODS), **_NULLS},
    **_CHANCE,
)
global_risk = _measure(
    "global_risk",
    "at_most",
    "share",
    _average(individual_risk),
    options={"method": OneOf(METHODS), **_NULLS},
    **_CHANCE,
)
household = _measure(
    "household_risk",
    "at_most",
    "share",
    _highest(household_risk),
    options={"method": OneOf(METHODS), **_NULLS},
    **_CHANCE,
)
prosecutor = _measure(
    "prosecutor_risk", "at_most", "share", _highest(prosecutor_risk), options=_NULLS, **_CHANCE
)
journalist = _measure("journalist_risk", "at_most", "share", _highest(journalist_risk), **_CHANCE)
dis_suda = _measure(
    "dis_suda",
    "at_most",
    "share",
    _highest(_dis),
    options={"sampling_fraction": Positive(), "max_size": Whole()},
    **_CHANCE,
)
