"""What the adversary knows before and after: priors, joints, channels and hypers.

A hyper is what a release makes of a prior: for every observation how probable it is (the outer)
and what they then believe about the secret (the posterior).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.qif import tuning
from divulge.qif.columns import Columns, Matrix, Numbers, unify_numbers, zero_like
from divulge.qif.matrix_input import (
    MatrixLike,
    VectorLike,
    read_columns,
    read_numbers,
    require_rows_sum_to_one,
    require_sums_to_one,
)

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False, repr=False)
class Hyper:
    """The adversary's knowledge of a secret, before and after each possible observation.

    Make one with `from_counts`, `from_prior` or `from_records`. The counts are kept as they came
    and divided only in results, so shares of whole counts are not rounded twice.

    >>> people = [[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]  # language x (gender, age)
    >>> h = Hyper.from_counts(people)
    >>> h
    Hyper(3 secrets, 4 observations)
    >>> h.prior.tolist(), h.outer.tolist()
    ([0.25, 0.25, 0.5], [0.5, 0.25, 0.25, 0.0])
    """

    weights: Columns
    """Counts or probabilities of secret and observation together, not yet divided by `total`."""
    total: Any
    prior: Numbers
    """How probable each secret is before anything is observed."""

    @classmethod
    def from_counts(cls, counts: MatrixLike, *, exact: bool = False) -> Hyper:
        """Make a hyper from how often each secret occurs with each observation.

        Args:
            counts: secrets x observations: counts or joint probabilities, dense or scipy sparse.
                They are divided by their sum. Fractions make the hyper exact. The arrays of a
                float64 CSC matrix are shared, not copied: leave them as they are.
            exact: take whole numbers as exact too.

        Raises:
            ValueError: negative, infinite or missing values, an empty matrix, nothing but zeros.

        >>> Hyper.from_counts([[3, 0], [1, 4]]).posteriors.tolist()
        [[0.75, 0.0], [0.25, 1.0]]
        """
        weights = read_columns(counts, "counts", exact=exact)
        if weights.values.size == 0:
            raise ValueError("counts are all zero: no secret was ever observed.")
        with np.errstate(over="ignore"):
            total = weights.values.sum()
        if not weights.exact and not np.isfinite(total):
            raise ValueError("counts are too large to be added up.")
        return cls(weights, total, weights.row_sums() / total)

    @classmethod
    def from_prior(cls, prior: VectorLike, channel: MatrixLike) -> Hyper:
        """Make a hyper from a prior and a channel.

        Args:
            prior: the probability of every secret; sums to one.
            channel: secrets x observations; every row sums to one. Dense or scipy sparse.
                The hyper is exact if both are given as Fractions.

        Raises:
            ValueError: the prior or a row does not sum to one, lengths differ, a bad value.

        >>> Hyper.from_prior([0.5, 0.5], [[1, 0], [0.5, 0.5]]).outer.tolist()
        [0.75, 0.25]
        """
        rows = read_columns(channel, "channel")
        before = read_numbers(prior, "prior", dimensions=1)
        if before.size != rows.shape[0]:
            raise ValueError(
                f"prior has {before.size} secrets, channel has {rows.shape[0]} rows: "
                "there has to be one row per secret."
            )
        require_sums_to_one(before, "prior")
        require_rows_sum_to_one(rows, "channel")
        if rows.layout == "sparse":  # scipy's matrices hold no Fractions
            before = before.astype(np.float64)
        before, likelihood = unify_numbers(before, rows.values)
        joint_values = before[rows.rows] * likelihood
        underflows = np.flatnonzero((joint_values == 0) & (before[rows.rows] != 0))
        if underflows.size:
            raise ValueError(
                f"prior times channel is too small for a floating number in row "
                f"{rows.rows[underflows[0]]}; give Fractions."
            )
        joint = rows.with_values(joint_values)
        one = Fraction(1) if joint.exact else 1.0
        return cls(joint, one, before)

    @classmethod
    def from_records(
        cls,
        secrets: npt.ArrayLike,
        observations: npt.ArrayLike,
        prior: VectorLike | None = None,
        shape: tuple[int, int] | None = None,
    ) -> Hyper:
        """Make a hyper from records, each with the code of its secret and of its observation.

        Args:
            secrets: per record, the secret as a whole number from 0 on.
            observations: per record, what is observed of it, likewise.
            prior: the selection prior: how probable (or how heavy) each record is as the
                adversary's target. It induces the joint and with it the prior on the secret.
                Without it every record is equally likely.
            shape: how many secrets and observations there can be, if more than occur.

        Raises:
            ValueError: lengths differ, codes are not whole numbers from 0 on, bad weights.

        >>> disability, school = [1, 0, 0], [0, 0, 1]
        >>> Hyper.from_records(disability, school).prior.round(2).tolist()
        [0.67, 0.33]
        >>> Hyper.from_records(disability, school, prior=[0.5, 0.25, 0.25]).prior.tolist()
        [0.5, 0.5]
        """
        secret, observation = (
            _check_codes(secrets, "secrets"),
            _check_codes(observations, "observations"),
        )
        if secret.size != observation.size:
            raise ValueError(f"{secret.size} secrets, but {observation.size} observations.")
        weight = (
            np.ones(secret.size)
            if prior is None
            else read_numbers(prior, "prior on records", dimensions=1)
        )
        if weight.size != secret.size:
            raise ValueError(f"{secret.size} records, but a prior on {weight.size} of them.")
        needed = (int(secret.max()) + 1, int(observation.max()) + 1)
        if max(needed) > tuning.MAX_UNUSED_CODES + 100 * secret.size:
            raise ValueError("codes are numbered from 0 without large gaps; these look like ids.")
        if shape is not None and (shape[0] < needed[0] or shape[1] < needed[1]):
            raise ValueError(f"shape {shape} is too small: the codes need at least {needed}.")
        if weight.dtype == object:
            joint = np.full(shape or needed, Fraction(0), dtype=object)
            np.add.at(joint, (secret, observation), weight)
            return cls.from_counts(joint)
        from scipy.sparse import coo_array

        return cls.from_counts(coo_array((weight, (secret, observation)), shape=shape or needed))

    @property
    def shape(self) -> tuple[int, int]:
        """How many secrets and how many observations there are, impossible ones included.

        >>> Hyper.from_counts([[1, 0, 2]]).shape
        (1, 3)
        """
        return self.weights.shape

    @property
    def exact(self) -> bool:
        """Whether all numbers are Fractions, and all results with them.

        >>> Hyper.from_counts([[1, 2]], exact=True).exact
        True
        """
        return self.weights.exact

    @cached_property
    def outer(self) -> Numbers:
        """How probable each observation is; zero for an impossible one.

        >>> Hyper.from_counts([[1, 2, 0, 1]]).outer.tolist()
        [0.25, 0.5, 0.0, 0.25]
        """
        outer: Numbers = self.weights.column_sums() / self.total
        return outer

    @property
    def joint(self) -> Matrix:
        """How probable each secret is together with each observation.

        >>> Hyper.from_counts([[1, 2], [0, 1]]).joint.tolist()
        [[0.25, 0.5], [0.0, 0.25]]
        """
        return self.weights.with_values(self.weights.values / self.total).to_matrix()

    @property
    def posteriors(self) -> Matrix:
        """What they believe after each observation: one column each, in the form of the input.

        The column of an impossible observation stays in its place and is all zero.

        >>> Hyper.from_counts([[1, 0, 2], [1, 0, 6]]).posteriors.tolist()
        [[0.5, 0.0, 0.25], [0.5, 0.0, 0.75]]
        """
        sums = np.repeat(self.weights.column_sums(), self.weights.sizes)
        return self.weights.with_values(self.weights.values / sums).to_matrix()

    @property
    def channel(self) -> Matrix:
        """How probable each observation is for each secret, in the form of the input.

        Raises:
            ValueError: a secret of probability zero; nothing tells what would be observed of it.

        >>> Hyper.from_counts([[1, 1], [0, 4]]).channel.tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        sums = self.weights.row_sums()
        impossible = np.flatnonzero(sums == 0)
        if impossible.size:
            raise ValueError(
                f"secret {impossible[0]} has probability 0: its channel row is unknown."
            )
        return self.weights.with_values(self.weights.values / sums[self.weights.rows]).to_matrix()

    def posterior(self, observation: int) -> Numbers:
        """What the adversary believes after one observation.

        Raises:
            ValueError: there is no such observation, or it is impossible.

        >>> Hyper.from_counts([[1, 0], [3, 0]]).posterior(0).tolist()
        [0.25, 0.75]
        """
        if not 0 <= observation < self.shape[1]:
            raise ValueError(f"observation {observation} is not one of 0 to {self.shape[1] - 1}.")
        first, last = self.weights.starts[observation], self.weights.starts[observation + 1]
        if first == last:
            raise ValueError(f"observation {observation} is impossible: it has no posterior.")
        values = self.weights.values[first:last]
        belief = np.full(self.shape[0], zero_like(values), dtype=values.dtype)
        belief[self.weights.rows[first:last]] = values / values.sum()
        return belief

    def with_prior(self, prior: VectorLike) -> Hyper:
        """Let the same release be seen by an adversary who believed something else before.

        >>> h = Hyper.from_counts([[2, 2], [0, 4]])
        >>> h.with_prior([0.9, 0.1]).outer.round(2).tolist()
        [0.45, 0.55]
        """
        return Hyper.from_prior(prior, self.channel)

    def to_dict(self) -> dict[str, Any]:
        """How large it is, and what is believed before, as plain values.

        >>> Hyper.from_counts([[1, 1], [0, 2]]).to_dict()
        {'secrets': 2, 'observations': 2, 'exact': False, 'prior': [0.5, 0.5]}
        """
        secrets, observations = self.shape
        return {
            "secrets": secrets,
            "observations": observations,
            "exact": self.exact,
            "prior": [float(each) for each in self.prior],
        }

    def __repr__(self) -> str:
        secrets, observations = self.shape
        exact = ", exact" if self.exact else ""
        return f"Hyper({secrets} secrets, {observations} observations{exact})"


def _check_codes(codes: npt.ArrayLike, name: str) -> Any:
    array = np.asarray(codes)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} has to be one code per record, and not empty.")
    if array.dtype.kind not in "biu":
        raise ValueError(
            f"{name} has to contain whole numbers (codes from 0 on), not {array.dtype}."
        )
    negative = np.flatnonzero(array < 0)
    if negative.size:
        raise ValueError(f"{name} has a negative code at index {negative[0]}.")
    return array
