"""Population size: the sum of sampling weights, or the number of records."""

from __future__ import annotations

from divulge.classes.relation.frequencies import weigh_sample
from divulge.classes.survey_design import sampling_weights
from divulge.data import Dataset, Relation


def count_population(dataset: Dataset) -> float:
    """The sum of the sampling weights; the number of records if they are no sample.

    >>> import divulge as dv
    >>> count_population(dv.datasets.school_year_example())
    10.0
    """
    if isinstance(dataset, Relation):
        return weigh_sample(dataset).total
    weights = sampling_weights(dataset)
    return float(dataset.rows if weights is None else weights.sum())


def is_sample(dataset: Dataset) -> bool:
    """Whether records have sampling weights; of those in memory these are checked."""
    if isinstance(dataset, Relation):
        return bool(dataset.dictionary.having("weight"))
    return sampling_weights(dataset) is not None
