"""What an adversary knows before they see more than the focal dataset."""

from __future__ import annotations

from typing import Literal

import numpy as np

from divulge.classes.relation.values import list_values
from divulge.data import Dataset, Relation


def compute_prior_success(
    dataset: Dataset, seeks: str | None, kind: Literal["deterministic", "probabilistic"]
) -> float:
    """The success before: a blind guess at a record, or the most frequent value of a secret.

    >>> import divulge as dv
    >>> compute_prior_success(dv.datasets.school_year_example(), "disability", "probabilistic")
    0.5
    """
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
