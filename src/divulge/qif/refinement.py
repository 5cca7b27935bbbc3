"""Blackwell order of channels (refinement): is one never worse than the other, whoever looks?

B is safer than A against every adversary exactly if B is A followed by some post-processing. A
linear program (HiGHS) finds that post-processing, or an adversary who prefers B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.qif.channels import read_channel
from divulge.qif.hyper import Hyper
from divulge.qif.prior_posterior import PriorPosterior
from divulge.qif.vulnerability import g_vulnerability
from divulge.solvers.highs import INFINITE, LinearProgram

if TYPE_CHECKING:
    from divulge.qif.columns import Numbers
    from divulge.qif.matrix_input import MatrixLike

# Far above the 1e-9 to which HiGHS is asked to keep each constraint, so that noise is no proof.
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Refinement:
    """Whether a channel refines another, with the proof for either answer.

    >>> refinement([[1, 0], [0, 1]], by=[[0.5, 0.5], [0.5, 0.5]])
    Refinement(holds=True)
    """

    holds: bool
    """Whether the second channel is as safe as the first against every adversary."""
    residual: float
    """How far the best post-processing is from the second channel: its largest difference in
    any cell. Nearly zero where the refinement holds."""
    witness: Numbers
    """The best post-processing: observations of the first x observations of the second."""
    gain: Numbers | None
    """Where it does not hold: a gain (guesses x secrets) with which the second leaks more."""
    prior: Numbers | None
    """Where it does not hold: the prior that goes with the gain."""
    expected: PriorPosterior | None
    """Where it does not hold: what that adversary expects to gain from the first channel
    (`prior`) and from the second (`posterior`)."""

    def to_dict(self) -> dict[str, object]:
        """The answer and what it rests on, without the matrices.

        >>> refinement([[1, 0], [0, 1]], by=[[0.5, 0.5], [0.5, 0.5]]).to_dict()["holds"]
        True
        """
        expected = None if self.expected is None else self.expected.to_dict()
        return {"holds": self.holds, "residual": float(self.residual), "expected": expected}

    def __repr__(self) -> str:
        return f"Refinement(holds={self.holds})"


def refinement(channel: MatrixLike, by: MatrixLike) -> Refinement:
    """Ask whether a channel is refined by another: whether the other is never worse.

    Works in floating point, for small channels: the linear program has a variable for every pair
    of observations. Answers hold up to a difference of a millionth per cell.

    Args:
        channel: secrets x observations; every row sums to one.
        by: the channel that may be safer, with the same secrets.

    Raises:
        ValueError: the channels have different secrets, or a row is no distribution.
        RuntimeError: the solver gave up; says with what status.

    >>> noisy = [[0.75, 0.25], [0.25, 0.75]]
    >>> refinement([[1, 0], [0, 1]], by=noisy).witness.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    >>> back = refinement(noisy, by=[[1, 0], [0, 1]])
    >>> back.holds, back.expected.posterior > back.expected.prior
    (False, True)
    """
    before = _read_dense_channel(channel, "channel")
    after = _read_dense_channel(by, "the other channel")
    if len(before) != len(after):
        raise ValueError(
            f"the channels have {len(before)} and {len(after)} rows: "
            "there has to be one row per secret in both."
        )
    witness, prices = _find_closest_post_processing(before, after)
    residual = float(np.abs(before @ witness - after).max())
    if residual <= TOLERANCE:
        return Refinement(
            holds=True, residual=residual, witness=witness, gain=None, prior=None, expected=None
        )
    # The prices of the cells say which deviations hurt. Read as a gain, with a guess for every
    # observation of the second channel, they make an adversary who gains from the second channel
    # at least its distance from all post-processings of the first.
    lowest, highest = prices.min(), prices.max()
    gain = (prices.T - lowest) / (highest - lowest)  # all adversaries with 0 to 1 are alike
    prior = np.full(len(before), 1 / len(before))
    expected = PriorPosterior(
        g_vulnerability(Hyper.from_prior(prior, before), gain).posterior,
        g_vulnerability(Hyper.from_prior(prior, after), gain).posterior,
    )
    return Refinement(
        holds=False, residual=residual, witness=witness, gain=gain, prior=prior, expected=expected
    )


def _read_dense_channel(channel: MatrixLike, name: str) -> Any:
    columns = read_channel(channel, name).to_floating()
    matrix = columns.to_matrix()
    return matrix.toarray() if columns.layout == "sparse" else matrix


def _find_closest_post_processing(before: Numbers, after: Numbers) -> tuple[Numbers, Numbers]:
    """The W whose before @ W is closest to after (sum of absolute differences), and prices."""
    from scipy.sparse import csc_array, csr_array, eye_array, hstack, kron, vstack

    secrets, inputs = before.shape
    outputs = after.shape[1]
    cells, choices = secrets * outputs, inputs * outputs
    # Variables: W row by row, then what is missing and what is too much in every cell.
    # Rows: before @ W + missing - surplus = after; every row of W sums to one.
    identity = eye_array(outputs)
    cell_rows = hstack([kron(before, identity), eye_array(cells), -eye_array(cells)])
    sum_rows = hstack(
        [kron(eye_array(inputs), np.ones((1, outputs))), csc_array((inputs, 2 * cells))]
    )
    target = np.concatenate([after.ravel(), np.ones(inputs)])
    cost = np.concatenate([np.zeros(choices), np.ones(2 * cells)])

    # Interior points are several times faster than the simplex method where no post-processing
    # fits (80 x 80 cells: 3 s instead of 25 s).
    program = LinearProgram(
        csr_array(vstack([cell_rows, sum_rows])),
        target,
        target,
        lower=np.zeros(cost.size),
        upper=np.full(cost.size, INFINITE),
        method="interior point",
    )
    result = program.minimise(cost)
    if not result.is_optimal:
        raise RuntimeError(f"HiGHS did not solve the refinement: {result.status}.")
    witness = result.values[:choices].reshape(inputs, outputs)
    prices = result.prices[:cells].reshape(secrets, outputs)
    witness = np.maximum(witness, 0)
    return witness / witness.sum(axis=1, keepdims=True), prices
