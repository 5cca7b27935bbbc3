"""Compile the kernels ahead of time: `python -m divulge.qif.warm`, once, at set-up."""

from __future__ import annotations

import numpy as np

from divulge.qif import Hyper, bayes_vulnerability, g_vulnerability, kernels, shannon_entropy


def warm() -> None:
    """Run every kernel on a hyper that is large enough to be worth compiling."""
    from scipy.sparse import csc_array

    columns = kernels.WORTH_COMPILING
    rows = np.zeros(columns, np.int32)
    counts = csc_array((np.ones(columns), rows, np.arange(columns + 1)), shape=(2, columns))
    h = Hyper.from_counts(counts)
    bayes_vulnerability(h)
    g_vulnerability(h, np.eye(2))
    shannon_entropy(h)
