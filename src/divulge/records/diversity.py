"""l-diversity and beta-likeness: what a class of records that look alike gives away together.

Where all of a class have the same sensitive value, nobody need be singled out to be exposed.
Distinct, entropy and recursive (c, l)-diversity: Machanavajjhala et al. 2007. Beta-likeness: Cao
& Karras 2012.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from divulge.data import Dataset
from divulge.records.alike import FloatArray
from divulge.records.class_measure import ClassMeasure
from divulge.records.equivalence import SensitiveClasses, sensitive_classes
from divulge.work import DivulgeError

Names = str | Iterable[str] | None


def distinct_l_diversity(
    dataset: Dataset, attribute: str | None = None, among: Names = None
) -> ClassMeasure:
    """How many different sensitive values each class has; the least is the l of the dataset.

    >>> import divulge as dv
    >>> distinct_l_diversity(dv.datasets.school_year_example(), among="grade").value
    1.0
    """
    found = sensitive_classes(dataset, attribute, among)
    return _least("distinct_l_diversity", dataset, found, found.per_class(np.ones(found.code.size)))


def entropy_l_diversity(
    dataset: Dataset, attribute: str | None = None, among: Names = None
) -> ClassMeasure:
    """The exponential of the entropy of the sensitive values in each class.

    >>> import divulge as dv
    >>> round(entropy_l_diversity(dv.datasets.school_year_example(), among="gender").value, 4)
    1.7548
    """
    found = sensitive_classes(dataset, attribute, among)
    share = found.share
    entropy = found.per_class(-share * np.log(share))
    return _least("entropy_l_diversity", dataset, found, np.exp(entropy))


def recursive_l_diversity(
    dataset: Dataset, attribute: str | None = None, among: Names = None, c: float = 3
) -> ClassMeasure:
    """The largest l for which each class is recursively (c, l)-diverse; 0 if it is for none.

    With the counts of a class in descending order r1, r2, ...: r1 < c (r_l + r_(l+1) + ...).

    >>> import divulge as dv
    >>> recursive_l_diversity(dv.datasets.school_year_example(), among="gender", c=3).value
    1.0
    """
    if not c > 0:
        raise DivulgeError(f"c is {c:g}; recursive diversity takes a number above 0")
    found = sensitive_classes(dataset, attribute, among)
    order = np.lexsort((-found.count, found.of_class))
    count = found.count[order].astype(np.float64)
    starts = np.searchsorted(found.of_class, np.arange(found.classes))
    highest = count[starts]
    # The sum of an entry and all rarer ones of its class: the class less what stands before.
    before = np.cumsum(count) - count
    tail = found.size[found.of_class] - (before - before[starts][found.of_class])
    holds = highest[found.of_class] < c * tail
    return _least("recursive_l_diversity", dataset, found, found.per_class(holds.astype(float)))


def beta_likeness(
    dataset: Dataset, attribute: str | None = None, among: Names = None
) -> ClassMeasure:
    """By how much, relative to all records, a sensitive value is more common in each class.

    The highest (q - p)/p over the values of a class, with q its share there and p its share
    among all records.

    >>> import divulge as dv
    >>> round(beta_likeness(dv.datasets.school_year_example(), among="gender").value, 4)
    0.5
    """
    found = sensitive_classes(dataset, attribute, among)
    everywhere = found.overall[found.code]
    gain = np.zeros(found.classes)
    np.maximum.at(gain, found.of_class, (found.share - everywhere) / everywhere)
    return ClassMeasure(
        "beta_likeness", gain, found.of_record, found.size, dataset, "highest", found
    )


def _least(
    measure: str, dataset: Dataset, found: SensitiveClasses, values: FloatArray
) -> ClassMeasure:
    return ClassMeasure(measure, values, found.of_record, found.size, dataset, "lowest", found)
