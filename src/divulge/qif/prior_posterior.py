"""What is known before and after an observation: the one pair of numbers that all results share."""

from __future__ import annotations

import math
from typing import NamedTuple


class PriorPosterior(NamedTuple):
    """A figure before the adversary has seen the release, and after.

    >>> success = PriorPosterior(prior=0.5, posterior=0.9)
    >>> round(success.additive, 3), success.multiplicative
    (0.4, 1.8)
    """

    prior: float
    posterior: float

    @property
    def additive(self) -> float:
        """How much the release adds: posterior minus prior."""
        return self.posterior - self.prior

    @property
    def multiplicative(self) -> float:
        """By what factor the release multiplies: posterior over prior.

        Nothing out of nothing is a factor of one; something out of nothing is infinite. Where
        the prior is a loss, a factor means nothing, and the answer is not a number.

        >>> PriorPosterior(0.0, 0.1).multiplicative
        inf
        """
        if self.prior == 0:
            return 1.0 if self.posterior == 0 else math.inf
        return self.posterior / self.prior if self.prior > 0 else math.nan

    def to_dict(self) -> dict[str, float | None]:
        """The pair and its leakages as plain values, for JSON.

        >>> PriorPosterior(0.5, 0.75).to_dict()["multiplicative"]
        1.5
        """
        factor = float(self.multiplicative)
        return {
            "prior": float(self.prior),
            "posterior": float(self.posterior),
            "additive": float(self.additive),
            "multiplicative": factor if math.isfinite(factor) else None,
        }
