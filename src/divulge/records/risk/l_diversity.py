"""l-diversity and beta-likeness: what a class of records that look alike gives away together.

Where all of a class have the same sensitive value, nobody need be singled out to be exposed.
Distinct, entropy and recursive (c, l)-diversity: Machanavajjhala et al. 2007. Beta-likeness: Cao
& Karras 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np

from divulge.assessment.limit import HAIR
from divulge.classes.keys import FloatArray
from divulge.data import Dataset
from divulge.records.risk.class_measure import SensitiveMeasure
from divulge.records.risk.frequencies import Nulls
from divulge.records.risk.sensitive_classes import Count, SensitiveClasses, sensitive_classes
from divulge.work import DivulgeError

Names = str | Iterable[str] | None


def distinct_l_diversity(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    nulls: Nulls = "maybe",
    count: Count = "records",
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """How many different sensitive values each class has; the least is the l of the dataset.

    Args:
        dataset: the records.
        attribute: the sensitive attribute; may be left out if just one has that role.
        among: the attributes that make records look alike; all quasi-identifiers if none given.
        nulls: what a missing value of those attributes may stand for.
        count: `records`, or `population` (by sampling weights); how often a value occurs does
            not matter here, but it does for what the classes give away.
        original: the records before protection, for `nulls="known"` and `"bayes"`.

    >>> import divulge as dv
    >>> distinct_l_diversity(dv.datasets.school_year_example(), among="grade").value
    1.0
    """
    found = sensitive_classes(dataset, attribute, among, nulls, count, original)
    return measured("distinct_l_diversity", dataset, found, _distinct, "lowest")


def entropy_l_diversity(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    nulls: Nulls = "maybe",
    count: Count = "records",
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """The exponential of the entropy of the sensitive values in each class.

    The arguments are those of `distinct_l_diversity`.

    >>> import divulge as dv
    >>> round(entropy_l_diversity(dv.datasets.school_year_example(), among="gender").value, 4)
    1.7548
    """
    found = sensitive_classes(dataset, attribute, among, nulls, count, original)
    return measured("entropy_l_diversity", dataset, found, _entropy, "lowest")


def recursive_l_diversity(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    c: float = 3,
    nulls: Nulls = "maybe",
    count: Count = "records",
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """The largest l for which each class is recursively (c, l)-diverse; 0 if it is for none.

    With the counts of a class in descending order r1, r2, ...: r1 < c (r_l + r_(l+1) + ...). The
    other arguments are those of `distinct_l_diversity`.

    >>> import divulge as dv
    >>> recursive_l_diversity(dv.datasets.school_year_example(), among="gender", c=3).value
    1.0
    """
    if not c > 0:
        raise DivulgeError(f"c is {c:g}; recursive diversity takes a number above 0")
    found = sensitive_classes(dataset, attribute, among, nulls, count, original)
    return measured(
        "recursive_l_diversity", dataset, found, lambda classes: _recursive(classes, c), "lowest"
    )


def beta_likeness(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    nulls: Nulls = "maybe",
    count: Count = "records",
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """By how much, relative to all records, a sensitive value is more common in each class.

    The highest (q - p)/p over the values of a class, with q its share there and p its share
    among all records. The arguments are those of `distinct_l_diversity`.

    >>> import divulge as dv
    >>> round(beta_likeness(dv.datasets.school_year_example(), among="gender").value, 4)
    0.5
    """
    found = sensitive_classes(dataset, attribute, among, nulls, count, original)
    return measured("beta_likeness", dataset, found, _gain, "highest")


def measured(
    measure: str,
    dataset: Dataset,
    found: SensitiveClasses,
    figure: Callable[[SensitiveClasses], FloatArray],
    worst: Literal["lowest", "highest"],
) -> SensitiveMeasure:
    """A figure of each class as a measure that can be taken again under other semantics."""
    counting = found.counting

    def again(nulls: Nulls) -> float:
        other = sensitive_classes(
            dataset, found.attribute, found.among, nulls, counting.count, counting.original
        )
        figures = figure(other)
        return float(figures.min() if worst == "lowest" else figures.max())

    return SensitiveMeasure(
        measure,
        figure(found),
        found.of_record,
        found.size,
        dataset,
        worst,
        counting,
        again,
        found,
    )


def _distinct(found: SensitiveClasses) -> FloatArray:
    return found.per_class(np.ones(found.code.size))


def _entropy(found: SensitiveClasses) -> FloatArray:
    share = found.share
    return np.exp(found.per_class(-share * np.log(share)))


def _recursive(found: SensitiveClasses, c: float) -> FloatArray:
    order = np.lexsort((-found.count, found.of_class))
    count = found.count[order].astype(np.float64)
    starts = np.searchsorted(found.of_class, np.arange(found.classes))
    highest = count[starts]
    # The sum of an entry and all rarer ones of its class: the class less what stands before.
    before = np.cumsum(count) - count
    tail = found.total[found.of_class] - (before - before[starts][found.of_class])
    # Where records are weighed, sums end a hair beside what they are: as many is not fewer.
    whole = c == int(c) and bool(np.all(count == np.rint(count)))
    tail = tail if whole else tail - HAIR * highest[found.of_class]
    holds = highest[found.of_class] < c * tail
    return found.per_class(holds.astype(float))


def _gain(found: SensitiveClasses) -> FloatArray:
    everywhere = found.overall[found.code]
    gain = np.zeros(found.classes)
    np.maximum.at(gain, found.of_class, (found.share - everywhere) / everywhere)
    return gain
