"""Measures of a dataset that a limit of a release may name: risk, diversity, closeness, presence.

Each says what is wrong with a limit before any record is read, and measures a dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from divulge.assessment import Limit, Measurement, Sentence
from divulge.data import Dataset
from divulge.records.anonymity import anonymity_of_each, k_anonymity
from divulge.records.class_measure import ClassMeasure
from divulge.records.classes import class_sizes
from divulge.records.closeness import DISTANCES, t_closeness
from divulge.records.clusters import household_risk
from divulge.records.continuous import INTERVALS, distance_linkage, interval_disclosure
from divulge.records.disclosure_risk import AGGREGATES, disclosure_risk
from divulge.records.diversity import (
    beta_likeness,
    distinct_l_diversity,
    entropy_l_diversity,
    recursive_l_diversity,
)
from divulge.records.equivalence import COUNTS, counting_of, overlaps
from divulge.records.frequencies import COUNTED, SEMANTICS, frequencies
from divulge.records.individual_risk import METHODS, individual_risk, reidentification_risk
from divulge.records.population_list import LISTED
from divulge.records.population_models import MODELS, population_uniques
from divulge.records.presence import (
    delta_presence,
    journalist_risk,
    k_map,
    marketer_risk,
    prosecutor_risk,
)
from divulge.records.record_risk import RecordRisk
from divulge.records.risk_options import OneOf, Option, OtherDataset, Positive, Whole, Words
from divulge.records.suda import suda
from divulge.work import InvalidInput, Problem


class Taken(NamedTuple):
    """A measure that was taken: its value, who fails the bound, and what a reader should know."""

    value: float
    failing: int
    total: int
    notes: tuple[Sentence, ...] = ()


@dataclass(frozen=True)
class RiskMeasure:
    """One measure: in which direction it protects, what its bounds are, and how it is taken."""

    name: str
    direction: Literal["at_least", "at_most"]
    scale: Literal["share", "count", "factor"]
    measure: Callable[..., Taken]
    """Dataset, bound and options to what was taken."""
    lowest: float = 0
    highest: float = float("inf")
    whole: bool = False
    of_attribute: bool = False
    options: Mapping[str, Option] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Options that must be given."""
    says: str = "limit.failing"
    """The sentence that tells who fails the bound."""

    @property
    def names_datasets(self) -> tuple[str, ...]:
        """The options that name another dataset of the release."""
        return tuple(name for name, kind in self.options.items() if isinstance(kind, OtherDataset))

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """The right direction, a bound that can be, an attribute where one is meant, options."""
        yield from self._problems_of_bound(limit)
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
        for name in self.needs:
            if name not in limit.options:
                yield Problem(name, f"is missing; {self.name} cannot be taken without it.")

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """The measure, and how many records fail the bound."""
        options = dict(limit.options)
        for name in self.names_datasets:
            if isinstance(options.get(name), str):
                message = f'names the dataset "{options[name]}"; outside a release, give it itself.'
                raise InvalidInput(f"limit on {self.name}", [Problem(name, message)])
        if self.of_attribute:
            options["attribute"] = limit.attribute
        taken = self.measure(dataset, limit.bound, **options)
        values = {
            "failing": taken.failing,
            "total": taken.total,
            "subjects": dataset.subjects,
            "bound": f"{limit.bound:g}",
        }
        sentence = Sentence("divulge.records", self.says, values)
        return Measurement(taken.value, self.scale, sentence, taken.notes)

    def _problems_of_bound(self, limit: Limit) -> Iterator[Problem]:
        if getattr(limit, self.direction) is None:
            wrong = "at_most" if self.direction == "at_least" else "at_least"
            side = "below" if self.direction == "at_least" else "above"
            yield Problem(wrong, f"{self.name} protects from {side}; give {self.direction}.")
        elif self.whole and (limit.bound < 1 or limit.bound != int(limit.bound)):
            yield Problem(self.direction, f"{limit.bound:g} is not a whole number from 1.")
        elif not self.lowest <= limit.bound <= self.highest:
            upto = f"to {self.highest:g}" if self.highest < float("inf") else "or more"
            message = f"{limit.bound:g} is not a bound of {self.name} ({self.lowest:g} {upto})."
            yield Problem(self.direction, message)


def _of_classes(measure: Callable[..., ClassMeasure]) -> Callable[..., Taken]:
    def taken(dataset: Dataset, bound: float, **options: Any) -> Taken:
        found = measure(dataset, **options)
        return Taken(found.value, found.failing(bound), int(found.size.sum()), found.flattery())

    return taken


def _highest(measure: Callable[..., RecordRisk]) -> Callable[..., Taken]:
    def taken(dataset: Dataset, bound: float, **options: Any) -> Taken:
        found = measure(dataset, **options)
        return Taken(found.highest, found.above(bound), found.values.size, found.notes)

    return taken


def _average(measure: Callable[..., RecordRisk]) -> Callable[..., Taken]:
    def taken(dataset: Dataset, bound: float, **options: Any) -> Taken:
        found = measure(dataset, **options)
        return Taken(found.average, found.above(bound), found.values.size, found.notes)

    return taken


def _frequency(dataset: Dataset, bound: float, **options: Any) -> Taken:
    found = frequencies(dataset, **options)
    return Taken(found.smallest, found.below(bound), dataset.rows, found.flattery())


def _k(dataset: Dataset, bound: float, **options: Any) -> Taken:
    """k-anonymity; counted by the engine, and remembered, where no cell is missing."""
    counting = counting_of(dataset, **options)
    if overlaps(counting) or counting.nulls == "standard" or counting.count == "population":
        found = anonymity_of_each(dataset, **options)
        value = found.value if counting.nulls == "bayes" else k_anonymity(dataset, **options)
        return Taken(value, found.failing(bound), dataset.rows, found.flattery())
    sizes = class_sizes(dataset, counting.attributes)
    return Taken(sizes.smallest, sizes.records_below(int(bound)), dataset.rows)


def _of_dis_suda(dataset: Dataset, **options: Any) -> RecordRisk:
    return suda(dataset, **options).risk()


def _uniques(dataset: Dataset, bound: float, **options: Any) -> Taken:
    """The share of the records that are estimated to be unique in the population."""
    found = population_uniques(dataset, **options)
    share = found.population_uniques / dataset.rows
    return Taken(share, int((found.unique > bound).sum()), dataset.rows, (found.sentence(),))


def _matches(dataset: Dataset, **options: Any) -> RecordRisk:
    return population_uniques(dataset, **options).risk()


def _masked(measure: Callable[..., RecordRisk]) -> Callable[..., RecordRisk]:
    return lambda dataset, original, **options: measure(original, dataset, **options)


def _measure(name: str, *arguments: Any, **more: Any) -> Callable[[], RiskMeasure]:
    # An entry point names a class or function that is called once.
    return lambda: RiskMeasure(name, *arguments, **more)


def _risk(name: str, taken: Callable[..., Taken], **more: Any) -> Callable[[], RiskMeasure]:
    return _measure(name, "at_most", "share", taken, highest=1, **more)


_NULLS = {"nulls": OneOf(SEMANTICS), "original": OtherDataset()}
_CLASS = {**_NULLS, "count": OneOf(COUNTS)}
_LIST = {"nulls": OneOf(COUNTED), "population": OtherDataset()}
_METHOD = {"method": OneOf(METHODS), **_NULLS}
_MODEL: dict[str, Option] = {
    "model": OneOf(MODELS),
    "sampling_fraction": Positive(),
    "interactions": Whole(largest=2),
    "cells": Positive(),
    "nulls": OneOf(("maybe", "value")),
}
_OF_VALUE: dict[str, Any] = {"of_attribute": True}

k_anonymity_measure = _measure(
    "k_anonymity", "at_least", "count", _k, whole=True, options=_CLASS, says="k_anonymity"
)
smallest_frequency = _measure("smallest_frequency", "at_least", "count", _frequency, options=_NULLS)
k_map_measure = _measure("k_map", "at_least", "count", _of_classes(k_map), options=_LIST)
distinct_l = _measure(
    "distinct_l_diversity",
    "at_least",
    "count",
    _of_classes(distinct_l_diversity),
    options=_CLASS,
    **_OF_VALUE,
)
entropy_l = _measure(
    "entropy_l_diversity",
    "at_least",
    "count",
    _of_classes(entropy_l_diversity),
    options=_CLASS,
    **_OF_VALUE,
)
recursive_l = _measure(
    "recursive_l_diversity",
    "at_least",
    "count",
    _of_classes(recursive_l_diversity),
    options={"c": Positive(), **_CLASS},
    **_OF_VALUE,
)
t_close = _risk(
    "t_closeness",
    _of_classes(t_closeness),
    options={"distance": OneOf(DISTANCES), "order": Words(), **_CLASS},
    **_OF_VALUE,
)
beta_like = _measure(
    "beta_likeness",
    "at_most",
    "count",
    _of_classes(beta_likeness),
    options=_CLASS,
    **_OF_VALUE,
)
presence = _risk(
    "delta_presence",
    _of_classes(delta_presence),
    options={"nulls": OneOf(LISTED), "population": OtherDataset()},
    needs=("population",),
)
reidentification = _risk("reidentification_risk", _highest(reidentification_risk), options=_NULLS)
disclosure = _risk(
    "disclosure_risk",
    _highest(disclosure_risk),
    options={"aggregate": OneOf(AGGREGATES), **_NULLS},
)
individual = _risk("individual_risk", _highest(individual_risk), options=_METHOD)
global_risk = _risk("global_risk", _average(individual_risk), options=_METHOD)
household = _risk("household_risk", _highest(household_risk), options=_METHOD)
prosecutor = _risk("prosecutor_risk", _highest(prosecutor_risk), options=_NULLS)
journalist = _risk("journalist_risk", _highest(journalist_risk), options=_LIST)
marketer = _risk("marketer_risk", _average(marketer_risk), options=_LIST)
dis_suda = _risk(
    "dis_suda",
    _highest(_of_dis_suda),
    options={
        "sampling_fraction": Positive(),
        "max_size": Whole(),
        "nulls": OneOf(("maybe", "value")),
    },
)
uniques = _risk("population_uniques", _uniques, options=_MODEL)
matches = _risk("correct_matches", _average(_matches), options=_MODEL)
intervals = _risk(
    "interval_disclosure",
    _average(_masked(interval_disclosure)),
    options={"original": OtherDataset(), "width": Positive(), "by": OneOf(INTERVALS)},
    needs=("original", "among"),
)
distances = _risk(
    "distance_linkage",
    _average(_masked(distance_linkage)),
    options={"original": OtherDataset()},
    needs=("original", "among"),
)
