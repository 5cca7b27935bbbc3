"""k-anonymity: how many records, at the least, share each combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from divulge.assessment.limit import RELATIVE_TOLERANCE
from divulge.classes.class_sizes import count_dataset_classes
from divulge.classes.people import RecordsKnown, find_people, require_one_record_each
from divulge.data import Dataset, Relation
from divulge.records.risk.class_measures.class_measure import CrowdMeasure
from divulge.records.risk.class_measures.sensitive_classes import (
    Count,
    CountingRules,
    build_counting,
    classify_records,
    has_overlap,
)
from divulge.records.risk.frequencies.frequencies import frequencies
from divulge.records.risk.frequencies.result import Frequencies
from divulge.records.risk.null_readings import Nulls
from divulge.work.arrays import Floats


def k_anonymity(
    dataset: Dataset,
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    count: Count = "records",
    original: Dataset | None = None,
    *,
    records_known: RecordsKnown = "one",
) -> int:
    """The size of the smallest class of records that look alike.

    Whole numbers: an effective frequency (`bayes`) or a sum of weights is rounded down. For the
    classes, who bears the risk and a chart see `anonymity_of_each`, which takes the same arguments.

    >>> import divulge as dv
    >>> k_anonymity(dv.datasets.school_year_example(), among=["gender"])
    4
    >>> after = dv.datasets.local_suppression_example(protected=True)
    >>> k_anonymity(after, nulls="maybe"), k_anonymity(after, nulls="standard")
    (2, 1)
    """
    counting = build_counting(dataset, among, nulls, count, original, records_known=records_known)
    people = find_people(dataset)
    if (
        people is None
        and count == "records"
        and not has_overlap(counting)
        and nulls != "standard"
        and not isinstance(dataset, Relation)
    ):
        return count_dataset_classes(dataset, counting.attributes).smallest
    # Sums of chances end a hair below what they are.
    found = anonymity_of_each(dataset, among, nulls, count, original, records_known=records_known)
    return int(found.value * (1 + RELATIVE_TOLERANCE))


def anonymity_of_each(
    dataset: Dataset,
    among: str | Iterable[str] | None = None,
    nulls: Nulls = "bayes",
    count: Count = "records",
    original: Dataset | None = None,
    *,
    records_known: RecordsKnown = "one",
) -> CrowdMeasure:
    """How many look like the records of each class; the least is the k of the dataset.

    Args:
        dataset: the records.
        among: the attributes in question; all quasi-identifiers if none are given.
        nulls: what a missing value may stand for.
        count: `records`, or `population`: each record as many as its sampling weight says.
        original: the records before protection, for `nulls="known"` and `"bayes"`.
        records_known: with the role `person`, people are counted: those who have a record like
            the `one` that is known, or those who are alike in `all` their records.

    >>> import divulge as dv
    >>> found = anonymity_of_each(dv.datasets.inflation_and_growth_example(), among="Area")
    >>> found.value, found.classes.tolist()
    (5.0, [8.0, 7.0, 5.0])
    """
    counting = build_counting(dataset, among, nulls, count, original, records_known=records_known)
    return measure_crowds("k_anonymity", dataset, counting)


def measure_crowds(measure: str, dataset: Dataset, counting: CountingRules) -> CrowdMeasure:
    """The crowd of each record, as a measure of classes."""
    if counting.count == "population":
        require_one_record_each(dataset, 'count = "population" weighs records')

    def count_crowd(nulls: Nulls) -> Floats:
        counts = frequencies(
            dataset,
            nulls,
            among=counting.attributes,
            original=counting.original,
            records_known=counting.records_known,
        )
        each = counts.sample if counting.count == "records" else counts.population
        return each.astype(np.float64)

    if isinstance(dataset, Relation):
        return _measure_crowds_elsewhere(measure, dataset, counting)
    # Records that look alike now may have been different before: then they are told apart.
    alike = classify_records(dataset, counting)
    pairs, of_record = np.unique(
        np.stack([alike, count_crowd(counting.nulls)]), axis=1, return_inverse=True
    )
    of_record = of_record.reshape(-1).astype(np.int64)
    return CrowdMeasure(
        measure=measure,
        classes=pairs[1],
        of_record=of_record,
        size=np.bincount(of_record),
        dataset=dataset,
        worst="lowest",
        counting=counting,
        again=lambda nulls: float(count_crowd(nulls).min()),
    )


def _measure_crowds_elsewhere(
    measure: str, relation: Relation, counting: CountingRules
) -> CrowdMeasure:
    """The same where an engine counts: classes of one size and one weight come home as one."""

    def count_crowd(nulls: Nulls) -> tuple[Floats, Frequencies]:
        counts = frequencies(relation, nulls, among=counting.attributes)
        each = counts.sample if counting.count == "records" else counts.population
        return each.astype(np.float64), counts

    crowd, counts = count_crowd(counting.nulls)
    assert counts.number is not None  # noqa: S101  # rows of a relation have numbers
    # Of overlapping classes each pattern has its own; of others, records are shared out by size.
    is_apart = has_overlap(counting)
    classes = np.ones(crowd.size, np.int64) if is_apart else counts.number // counts.sample
    return CrowdMeasure(
        measure=measure,
        classes=crowd,
        of_record=np.arange(crowd.size),
        size=counts.number,
        dataset=relation,
        worst="lowest",
        counting=counting,
        again=lambda nulls: float(count_crowd(nulls)[0].min()),
        class_number=classes.astype(np.int64),
    )
