"""Capacities (multiplicative, additive, Shannon): the worst that a release can do.

A vulnerability needs a prior and a gain. A capacity needs neither: it bounds the leakage for all
of them at once, so it still holds for the adversary nobody thought of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge.qif.channels import read_channel
from divulge.qif.columns import Columns, Numbers, as_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from divulge.qif.hyper import Hyper
    from divulge.qif.matrix_input import MatrixLike


def multiplicative_capacity(channel: MatrixLike) -> float:
    """By what factor a release can multiply any adversary's success, at the most.

    Holds for every prior and every gain without losses, and is reached by guessing in one try
    from a uniform prior. Exact for Fractions.

    >>> multiplicative_capacity([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]])
    2.5
    """
    capacity = as_number(read_channel(channel, "channel").column_maxima().sum())
    # Rows add up to one, and the largest cells to no less; rounding may say otherwise.
    return capacity if capacity >= 1 else 1.0


def additive_capacity(h: Hyper) -> float:
    """How much a release can add to any adversary's success with this prior, at the most.

    Holds for every gain whose values lie no further than 1 apart for each guess: the average over
    observations of half the absolute differences between posterior and prior. Exact for exact h.

    >>> from divulge.qif import Hyper
    >>> additive_capacity(Hyper.from_counts([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]))
    0.4375
    """
    joint = h.weights
    independent = h.prior[joint.rows] * np.repeat(joint.column_sums(), joint.sizes)
    # Rises and falls of belief cancel in every column, so half the absolute differences is what
    # rises alone; and what rises is stored, since it is not zero.
    rises = np.maximum(joint.values - independent, joint.values[:1] * 0)
    return as_number(rises.sum() / h.total)


class ShannonCapacity(float):
    """A Shannon capacity in bits per observation: a number that knows how sure it is.

    >>> found = shannon_capacity([[1, 0], [0, 1]])
    >>> found
    ShannonCapacity(value=1.0, lower=1.0, upper=1.0, iterations=1, reached=True)
    >>> found == 1
    True
    """

    lower: float
    """It surely lies between this,"""
    upper: float
    """and this; the value is the middle."""
    iterations: int
    reached: bool
    """Whether the bounds are as close as was asked for."""
    prior: Numbers
    """A prior under which the release tells at least almost as much."""

    def __new__(
        cls, lower: float, upper: float, iterations: int, reached: bool, prior: Numbers
    ) -> ShannonCapacity:
        """The middle of the bounds."""
        capacity = super().__new__(cls, (lower + upper) / 2)
        capacity.lower, capacity.upper = lower, upper
        capacity.iterations, capacity.reached, capacity.prior = iterations, reached, prior
        return capacity

    @property
    def value(self) -> float:
        """The number alone.

        >>> shannon_capacity([[1, 0], [0, 1]]).value
        1.0
        """
        return float(self)

    def to_dict(self) -> dict[str, float | int | bool]:
        """The number and its bounds as plain values.

        >>> shannon_capacity([[1, 0], [0, 1]]).to_dict()["upper"]
        1.0
        """
        return {
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "iterations": self.iterations,
            "reached": self.reached,
        }

    def __repr__(self) -> str:
        return (
            f"ShannonCapacity(value={self.value}, lower={self.lower}, upper={self.upper}, "
            f"iterations={self.iterations}, reached={self.reached})"
        )


def shannon_capacity(
    channel: MatrixLike, precision: float = 1e-6, max_iterations: int = 100_000
) -> ShannonCapacity:
    """How many bits a release can tell about the secret, for the prior that suits it best.

    By the algorithm of Blahut and Arimoto (1972), whose every round gives a lower and an upper
    bound.

    Args:
        channel: secrets x observations; every row sums to one. Dense or scipy sparse.
        precision: stop when the bounds are this close, in bits.
        max_iterations: stop at the latest after so many rounds; `reached` is then False.

    >>> capacity = shannon_capacity([[0.9, 0.1], [0.1, 0.9]])
    >>> round(capacity.value, 6), capacity.upper - capacity.lower <= 1e-6
    (0.531004, True)
    """
    if not precision > 0 or max_iterations < 1:
        raise ValueError("precision has to be positive, and max_iterations at least 1.")
    columns = read_channel(channel, "channel").to_floating()
    prior = np.full(columns.shape[0], 1 / columns.shape[0])
    own_entropy = _sum_rows(columns, columns.values * np.log2(columns.values))
    for iteration in range(1, max_iterations + 1):
        # The divergence of each row from the mixture: how telling this secret is by itself.
        divergence = own_entropy - _sum_rows(
            columns, columns.values * _compute_log_outer(columns, prior)
        )
        upper = float(divergence.max())
        # Powers relative to the largest one, which cannot overflow.
        factors = prior * np.exp2(divergence - upper)
        lower = upper + math.log2(factors.sum())
        if upper - lower <= precision or iteration == max_iterations:
            break
        prior = factors / factors.sum()
    lower, upper = max(lower, 0.0), max(upper, 0.0)  # rounding must not announce less than nothing
    return ShannonCapacity(
        lower=lower,
        upper=upper,
        iterations=iteration,
        reached=upper - lower <= precision,
        prior=prior,
    )


def _sum_rows(columns: Columns, values: Numbers) -> Numbers:
    return np.bincount(columns.rows, weights=values, minlength=columns.shape[0])


def _compute_log_outer(columns: Columns, prior: Numbers) -> Numbers:
    """The logarithm of each stored value's column in the mixture."""
    outer = np.bincount(
        columns.column_indices(),
        weights=prior[columns.rows] * columns.values,
        minlength=columns.shape[1],
    )
    # A prior that shrinks towards zero may empty a column in rounding; its secrets stay tiny.
    return np.log2(np.maximum(outer, np.finfo(float).tiny))[columns.column_indices()]


@dataclass(frozen=True)
class ReleaseCapacity:
    """What each part of a release can leak, and a bound for all parts together.

    >>> release_capacity({"2014": [[1, 0], [0, 1]], "2015": [[0.5, 0.5], [0.5, 0.5]]}).bound
    2.0
    """

    parts: dict[str, float]
    """The multiplicative capacity of each part."""
    secrets: int

    @property
    def product(self) -> float:
        """All parts together multiply success by no more than this.

        >>> ReleaseCapacity({"2014": 2.0, "2015": 1.5}, secrets=10).product
        3.0
        """
        return math.prod(self.parts.values())

    @property
    def bound(self) -> float:
        """The product, or the number of secrets where that is less: nobody can know more.

        >>> ReleaseCapacity({"2014": 8.0, "2015": 4.0}, secrets=10).bound
        10
        """
        return min(self.product, self.secrets)

    def to_dict(self) -> dict[str, object]:
        """The parts and the bounds as plain values.

        >>> ReleaseCapacity({"2014": 2.0}, secrets=10).to_dict()["bound"]
        2.0
        """
        parts = {name: float(capacity) for name, capacity in self.parts.items()}
        return {"parts": parts, "product": float(self.product), "bound": float(self.bound)}


def release_capacity(parts: Mapping[str, MatrixLike]) -> ReleaseCapacity:
    """Bound what several releases about the same secrets leak together.

    Holds where each part has its own chance (given the secret), as in `parallel`.

    Args:
        parts: a channel for every part, all with the same secrets.

    >>> yearly = {"2014": [[1, 0], [0.5, 0.5]], "2015": [[0.5, 0.5], [0, 1]]}
    >>> release_capacity(yearly).parts
    {'2014': 1.5, '2015': 1.5}
    """
    if not parts:
        raise ValueError("a release needs at least one part.")
    channels = {name: read_channel(part, f"part {name!r}") for name, part in parts.items()}
    size = next(iter(channels.values())).shape[0]
    for name, channel in channels.items():
        if channel.shape[0] != size:
            raise ValueError(
                f"part {name!r} has {channel.shape[0]} secrets, the first part has {size}."
            )
    return ReleaseCapacity(
        {name: as_number(channel.column_maxima().sum()) for name, channel in channels.items()}, size
    )
