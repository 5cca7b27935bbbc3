"""Shannon and guessing entropy: how much is still unknown, before and after.

They fall where vulnerabilities rise: what a release leaks is the part that they lose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from divulge.qif import kernels
from divulge.qif.vulnerability import measure_before_and_after

if TYPE_CHECKING:
    from divulge.qif.columns import Columns, Numbers
    from divulge.qif.hyper import Hyper
    from divulge.qif.prior_posterior import PriorPosterior


def shannon_entropy(h: Hyper) -> PriorPosterior:
    """How many yes-no questions the secret still takes, on average: bits.

    What the release takes away, `-additive`, is the mutual information. Logarithms are not
    rational, so this is floating also for an exact hyper.

    >>> from divulge.qif import Hyper
    >>> shannon_entropy(Hyper.from_counts([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]))
    PriorPosterior(prior=1.5, posterior=0.5)
    """

    def measure_bits(columns: Columns) -> Numbers:
        floating = columns.to_floating()
        return kernels.run(kernels.column_entropies, columns.work, floating.starts, floating.values)

    return measure_before_and_after(h, measure_bits)


def guessing_entropy(h: Hyper) -> PriorPosterior:
    """How many guesses it takes to hit the secret, on average, trying the likeliest first.

    >>> from divulge.qif import Hyper
    >>> guessing_entropy(Hyper.from_counts([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]))
    PriorPosterior(prior=1.75, posterior=1.25)
    """

    def count_guesses(columns: Columns) -> Numbers:
        longest = int(columns.sizes.max())
        ranks = np.arange(1, longest + 1).astype(columns.values.dtype)
        return kernels.run(
            kernels.rank_weighted_sums, columns.work, columns.starts, columns.values, ranks
        )

    return measure_before_and_after(h, count_guesses)
