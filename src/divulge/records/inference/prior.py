"""What an adversary knows before they see more than the focal dataset."""

from __future__ import annotations

from typing import Literal

import numpy as np

from divulge.data import Dataset


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
    else:
        occurrences = np.bincount(dataset.columns[seeks].codes)
        most, values = int(occurrences.max()), int(np.count_nonzero(occurrences))
    if kind == "deterministic":
        return float(values == 1)
    return most / dataset.rows
