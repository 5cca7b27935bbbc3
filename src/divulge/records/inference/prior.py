"""What an adversary knows before they see more than the focal dataset."""

from __future__ import annotations

from typing import Literal

import numpy as np

from divulge.classes.relation.values import list_values
from divulge.data import Dataset, Relation
from divulge.work.arrays import Floats


def compute_prior_success(
    dataset: Dataset,
    seeks: str | None,
    kind: Literal["deterministic", "probabilistic"],
    weights: Floats | None = None,
) -> float:
    """The success before: a blind guess at a record, or the most frequent value of a secret.

    With weights, records are as likely as they weigh.

    >>> import divulge as dv
    >>> compute_prior_success(dv.datasets.school_year_example(), "disability", "probabilistic")
    0.5
    """
    if weights is not None:
        by_value: Floats = weights
        if seeks is not None:
            by_value = np.bincount(dataset.columns[seeks].codes, weights).astype(np.float64)
        if kind == "deterministic":
            return float(np.count_nonzero(by_value) == 1)
        return float(by_value.max() / weights.sum())
    if seeks is None:
        most, values = 1, dataset.rows
    elif isinstance(dataset, Relation):
        counts = list_values(dataset, seeks).counts
        most, values = int(counts.max()), int(np.count_nonzero(counts))
    else:
        occurrences = np.bincount(dataset.columns[seeks].codes)
        most, values = int(occurrences.max()), int(np.count_nonzero(occurrences))
    if kind == "deterministic":
        return float(values == 1)
    return most / dataset.rows
