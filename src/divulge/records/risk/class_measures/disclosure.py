"""Statistical disclosure risk in general: one over an aggregate of those who look alike.

Bellomarini et al., Eq. 1: rho = 1 / lambda(the records with the same values). The choice of
lambda gives re-identification risk (sum of weights), k-anonymity (count), individual risk (mean
weight, Algorithm 5), or whatever an expert takes for the size of the crowd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from divulge import work
from divulge.assessment import Sentence
from divulge.classes.overlapping_classes import gather_overlapping_entries
from divulge.classes.people import require_one_record_each
from divulge.classes.population_size import is_sample
from divulge.classes.survey_design import weights_or_ones
from divulge.data import Dataset
from divulge.records.risk.class_measures.sensitive_classes import (
    CountingRules,
    build_counting,
    classify_records,
    has_overlap,
)
from divulge.records.risk.frequencies.figures_on_demand import SentencesOnDemand
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.null_readings import Nulls, settle_reading
from divulge.records.risk.record_risk import RecordRisk
from divulge.records.risk.weighted_rows import count_chosen, require_rows_at_home
from divulge.work import DivulgeError, InvalidInput, Problem
from divulge.work.arrays import Floats, Ints

AggregateName: TypeAlias = Literal["sum", "count", "mean", "min", "max"]
AGGREGATES: tuple[AggregateName, ...] = get_args(AggregateName)
Aggregate: TypeAlias = AggregateName | Callable[[Floats], float]
"""What is made of the weights of those who look alike: by name, or a function of them."""


def disclosure_risk(
    dataset: Dataset,
    aggregate: Aggregate = "sum",
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    original: Dataset | None = None,
) -> RecordRisk:
    """One over an aggregate of the weights of those who look like each record.

    Args:
        dataset: the records.
        aggregate: `sum`, `count`, `mean`, `min` or `max` of the weights, or a function that takes
            the weights of a class and gives a number of at least 1.
        among: the attributes to consider; all quasi-identifiers if none are given.
        nulls: what a missing value may stand for; chances (`bayes`) go
            with `sum`, `count` and `mean` only.
        original: the records before protection, for `nulls="known"` and `"bayes"`.

    >>> import divulge as dv
    >>> companies = dv.datasets.inflation_and_growth_example()
    >>> disclosure_risk(companies, "count", among="Area").highest
    0.2
    >>> round(1 / disclosure_risk(companies, np.median, among="Area").highest)
    97
    """
    if not callable(aggregate) and aggregate not in AGGREGATES:
        message = f'"{aggregate}" is not an aggregate; give one of these or a function.'
        problem = Problem("aggregate", message, str(aggregate), AGGREGATES)
        raise InvalidInput("disclosure_risk", [problem])
    require_one_record_each(dataset, "disclosure risk adds up the weights of records")
    notes: Sequence[Sentence] = ()
    number: Ints | None = None
    figures: Mapping[str, float] = {}
    weighed = False
    if aggregate in ("sum", "count", "mean"):
        counts = frequencies(dataset, nulls, among=among, original=original)
        weighed, number = counts.weighed, counts.number
        crowd = {
            "sum": counts.population,
            "count": counts.sample.astype(np.float64),
            "mean": counts.population / counts.sample,
        }[str(aggregate)]
        names, figures = counts.attributes, counts.side_by_side()
        notes = SentencesOnDemand(counts.flattery)
    else:
        nulls = settle_reading(dataset, dataset.attributes(among, "among"), nulls)
        counting = build_counting(dataset, among, nulls, original=original)
        names = counting.attributes
        require_rows_at_home(dataset)
        crowd = _aggregate_classes(dataset, counting, aggregate)
    if not np.all(crowd >= 1):
        few = count_chosen(~(crowd >= 1), number)
        raise DivulgeError(
            f"the aggregate is below 1 or not a number for {few:,} of {dataset.rows:,} "
            f"{dataset.subjects}; a crowd has at least one member"
        )
    is_counted = aggregate == "count" or not is_sample(dataset)
    name = aggregate if isinstance(aggregate, str) else "own aggregate"
    return RecordRisk(
        values=1 / crowd,
        number=number,
        measure="disclosure_risk",
        dataset=dataset,
        attributes=names,
        claim="exact" if is_counted and not weighed else "estimate",
        notes=notes,
        figures=figures,
        detail=name,
    )


def _aggregate_classes(dataset: Dataset, counting: CountingRules, aggregate: Aggregate) -> Floats:
    """The aggregate of the weights of each class, for each record; classes may overlap."""
    weights = weights_or_ones(dataset)
    if has_overlap(counting):
        counts = frequencies(
            dataset, counting.nulls, among=counting.attributes, original=counting.original
        )
        members = int(counts.sample.sum())
        work.MemoryPlan("all members of all classes", {"who is in which": 64 * members}).require(
            'take the sum, count or mean, or nulls="value"'
        )
        entries = gather_overlapping_entries(
            dataset,
            counting.attributes,
            counting.nulls,
            original=counting.original,
            codes=np.arange(dataset.rows),
            values=dataset.rows,
            weights=None,
        )
        of_record, of_member, member = entries.of_record, entries.of_class, entries.code
    else:
        of_record = classify_records(dataset, counting)
        member = np.argsort(of_record, kind="stable")
        of_member = of_record[member]
    ends = np.cumsum(np.bincount(of_member))[:-1]
    function = (
        {"min": np.min, "max": np.max}[aggregate] if isinstance(aggregate, str) else aggregate
    )
    crowds = [float(function(part)) for part in np.split(weights[member], ends)]
    return np.array(crowds)[of_record]
