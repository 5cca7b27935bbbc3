"""l-diversity, beta-likeness, delta-disclosure: what a class of those who look alike gives away.

Where all of a class have the same sensitive value, nobody need be singled out to be exposed.
Distinct, entropy and recursive (c, l)-diversity: Machanavajjhala et al. 2007. Beta-likeness: Cao
& Karras 2012. Delta-disclosure privacy: Brickell & Shmatikov 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

import numpy as np

from divulge.assessment.limit import RELATIVE_TOLERANCE
from divulge.data import Dataset
from divulge.records.risk.class_measures.class_measure import SensitiveMeasure
from divulge.records.risk.class_measures.sensitive_classes import (
    Count,
    SensitiveClasses,
    count_sensitive_values,
)
from divulge.records.risk.null_readings import Nulls
from divulge.work import DivulgeError
from divulge.work.arrays import Floats

Names = str | Iterable[str] | None

RECURSIVE_C = 3.0
"""The factor of recursive (c, l)-diversity that is taken if none is given."""

SharesFigure: TypeAlias = Callable[[SensitiveClasses], Floats]
"""A figure of each class from the values that it has of a sensitive attribute."""


def distinct_l_diversity(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    nulls: Nulls = "bayes",
    count: Count = "records",
    *,
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
    sensitive = count_sensitive_values(
        dataset, attribute, among, nulls=nulls, count=count, original=original
    )
    return build_sensitive_measure(
        "distinct_l_diversity", dataset, sensitive, count_distinct_values, "lowest"
    )


def entropy_l_diversity(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    nulls: Nulls = "bayes",
    count: Count = "records",
    *,
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """The exponential of the entropy of the sensitive values in each class.

    The arguments are those of `distinct_l_diversity`.

    >>> import divulge as dv
    >>> round(entropy_l_diversity(dv.datasets.school_year_example(), among="gender").value, 4)
    1.7548
    """
    sensitive = count_sensitive_values(
        dataset, attribute, among, nulls=nulls, count=count, original=original
    )
    return build_sensitive_measure(
        "entropy_l_diversity", dataset, sensitive, compute_entropy_diversity, "lowest"
    )


def recursive_l_diversity(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    c: float = RECURSIVE_C,
    nulls: Nulls = "bayes",
    *,
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
    sensitive = count_sensitive_values(
        dataset, attribute, among, nulls=nulls, count=count, original=original
    )
    return build_sensitive_measure(
        "recursive_l_diversity",
        dataset,
        sensitive,
        lambda classes: compute_recursive_diversity(classes, c),
        "lowest",
    )


def beta_likeness(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    nulls: Nulls = "bayes",
    count: Count = "records",
    *,
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """By how much, relative to all records, a sensitive value is more common in each class.

    The highest (q - p)/p over the values of a class, with q its share there and p its share
    among all records. The arguments are those of `distinct_l_diversity`.

    >>> import divulge as dv
    >>> round(beta_likeness(dv.datasets.school_year_example(), among="gender").value, 4)
    0.5
    """
    sensitive = count_sensitive_values(
        dataset, attribute, among, nulls=nulls, count=count, original=original
    )
    return build_sensitive_measure(
        "beta_likeness", dataset, sensitive, compute_relative_gain, "highest"
    )


def delta_disclosure(
    dataset: Dataset,
    attribute: str | None = None,
    among: Names = None,
    nulls: Nulls = "bayes",
    count: Count = "records",
    *,
    original: Dataset | None = None,
) -> SensitiveMeasure:
    """How far each class is from all records, as a ratio of shares: delta-disclosure privacy.

    The highest |ln(q/p)| over the sensitive values of all records, with q the share of a value in
    a class and p its share among all; infinite where a class lacks a value that others have. The
    arguments are those of `distinct_l_diversity`.

    >>> import divulge as dv
    >>> round(delta_disclosure(dv.datasets.school_year_example(), among="gender").value, 4)
    0.6931
    """
    sensitive = count_sensitive_values(
        dataset, attribute, among, nulls=nulls, count=count, original=original
    )
    return build_sensitive_measure(
        "delta_disclosure", dataset, sensitive, compute_log_ratio, "highest"
    )


def build_sensitive_measure(
    measure: str,
    dataset: Dataset,
    sensitive: SensitiveClasses,
    figure: Callable[[SensitiveClasses], Floats],
    worst: Literal["lowest", "highest"],
) -> SensitiveMeasure:
    """A figure of each class as a measure that can be taken again under other semantics."""
    counting = sensitive.counting

    def measure_again(nulls: Nulls) -> float:
        other = count_sensitive_values(
            dataset,
            sensitive.attribute,
            sensitive.among,
            nulls=nulls,
            count=counting.count,
            original=counting.original,
        )
        figures = figure(other)
        return float(figures.min() if worst == "lowest" else figures.max())

    return SensitiveMeasure(
        measure=measure,
        classes=figure(sensitive),
        of_record=sensitive.of_record,
        size=sensitive.size,
        dataset=dataset,
        worst=worst,
        counting=counting,
        again=measure_again,
        sensitive=sensitive,
        class_number=sensitive.class_number,
    )


def count_distinct_values(sensitive: SensitiveClasses) -> Floats:
    """How many different sensitive values each class has."""
    return sensitive.sum_per_class(np.ones(sensitive.code.size))


def compute_entropy_diversity(sensitive: SensitiveClasses) -> Floats:
    """The exponential of the entropy of the values of each class."""
    share = sensitive.share
    return np.exp(sensitive.sum_per_class(-share * np.log(share)))


def compute_recursive_diversity(sensitive: SensitiveClasses, c: float) -> Floats:
    """The largest l for which each class is recursively (c, l)-diverse."""
    order = np.lexsort((-sensitive.count, sensitive.of_class))
    count = sensitive.count[order].astype(np.float64)
    starts = np.searchsorted(sensitive.of_class, np.arange(sensitive.classes))
    highest = count[starts]
    # The sum of an entry and all rarer ones of its class: the class less what stands before.
    before = np.cumsum(count) - count
    tail = sensitive.total[sensitive.of_class] - (before - before[starts][sensitive.of_class])
    # Where records are weighed, sums end a hair beside what they are: as many is not fewer.
    is_whole = c == int(c) and bool(np.all(count == np.rint(count)))
    tail = tail if is_whole else tail - RELATIVE_TOLERANCE * highest[sensitive.of_class]
    holds = highest[sensitive.of_class] < c * tail
    return sensitive.sum_per_class(holds.astype(float))


def compute_relative_gain(sensitive: SensitiveClasses) -> Floats:
    """By how much a value is more common in each class than everywhere, at the most."""
    everywhere = sensitive.overall[sensitive.code]
    gain = np.zeros(sensitive.classes)
    np.maximum.at(gain, sensitive.of_class, (sensitive.share - everywhere) / everywhere)
    return gain


def compute_log_ratio(sensitive: SensitiveClasses) -> Floats:
    """How far the shares of each class are from those everywhere, as logarithms of ratios."""
    ratio = np.zeros(sensitive.classes)
    gap = np.abs(np.log(sensitive.share / sensitive.overall[sensitive.code]))
    np.maximum.at(ratio, sensitive.of_class, gap)
    lacks = count_distinct_values(sensitive) < np.count_nonzero(sensitive.overall)
    return np.where(lacks, np.inf, ratio)
