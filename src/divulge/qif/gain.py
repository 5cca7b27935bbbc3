"""Gain functions of g-leakage: what a guess is worth, and how the best guess is found.

A gain that is written out as a matrix weighs every guess. The others know a faster way, because
their matrix would have as many cells as there are pairs of secrets, or more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from divulge.qif import kernels, tuning
from divulge.qif.columns import Columns, Numbers, unify_numbers, zero_like


class Gain(ABC):
    """What each guess wins for each secret. Made by the functions in `gains`.

    >>> from divulge.qif import gains
    >>> isinstance(gains.one_of_k_guesses(2), Gain)
    True
    """

    @abstractmethod
    def best(self, columns: Columns) -> Numbers:
        """What the best guess is worth in every column, in proportion to the column's sum.

        >>> from divulge.qif import Hyper, gains
        >>> gains.one_of_k_guesses(1).best(Hyper.from_counts([[3, 1], [2, 0]]).weights).tolist()
        [3.0, 1.0]
        """

    @abstractmethod
    def matrix(self, secrets: int) -> Numbers:
        """The gain written out, guesses x secrets: for reading, and for small cases.

        >>> from divulge.qif import gains
        >>> gains.someone_in_group([True, False]).matrix(2).tolist()
        [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
        """


@dataclass(frozen=True, eq=False)
class MatrixGain(Gain):
    """A gain written out as a matrix, guesses x secrets.

    >>> MatrixGain(np.eye(2)).matrix(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    gains: Numbers

    def best(self, columns: Columns) -> Numbers:
        """Weigh every guess."""
        columns, (gains,) = _convert_gains(columns, self.matrix(columns.shape[0]))
        by_secret = np.ascontiguousarray(gains.T)
        return kernels.run(
            kernels.best_gains,
            columns.work * len(gains),
            columns.starts,
            columns.rows,
            columns.values,
            by_secret,
        )

    def matrix(self, secrets: int) -> Numbers:
        """The matrix itself, if it has one column for every secret."""
        if self.gains.shape[1] != secrets:
            raise ValueError(
                f"gain has {self.gains.shape[1]} columns; it needs one for each of the "
                f"{secrets} secrets (guesses x secrets)."
            )
        return self.gains


@dataclass(frozen=True, eq=False)
class KGuesses(Gain):
    """Several secrets may be named; a win if one of them is right.

    >>> KGuesses(2).matrix(3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """

    guesses: int

    def __post_init__(self) -> None:
        if self.guesses < 1 or self.guesses != int(self.guesses):
            message = f"an adversary needs at least 1 guess, and whole ones, not {self.guesses}."
            raise ValueError(message)

    def best(self, columns: Columns) -> Numbers:
        """Name the likeliest: no need to look at every choice of k secrets."""
        weights = np.ones(min(self.guesses, columns.shape[0]), columns.values.dtype)
        return kernels.run(
            kernels.rank_weighted_sums, columns.work, columns.starts, columns.values, weights
        )

    def matrix(self, secrets: int) -> Numbers:
        """One row for every choice of k secrets."""
        guess_size = min(self.guesses, secrets)
        require_small_matrix(comb(secrets, guess_size), secrets)
        guess_sets = list(combinations(range(secrets), guess_size))
        gains = np.zeros((len(guess_sets), secrets))
        for row, guess_set in zip(gains, guess_sets, strict=True):
            row[list(guess_set)] = 1
        return gains


@dataclass(frozen=True, eq=False)
class Worth(Gain):
    """A right guess is worth what the secret is worth; a wrong one costs; they may keep silent.

    >>> Worth(np.array([4.0, 1.0]), np.array([0.5, 0.5]), may_abstain=True).matrix(2).tolist()
    [[4.0, -0.5], [-0.5, 1.0], [0.0, 0.0]]
    """

    worth: Numbers
    cost: Numbers
    may_abstain: bool

    def best(self, columns: Columns) -> Numbers:
        """Weigh only the secrets that are still possible, and the cheapest of the others."""
        if self.worth.size != columns.shape[0]:
            raise ValueError(
                f"gain has a worth for {self.worth.size} secrets; there are {columns.shape[0]}."
            )
        columns, (worth, cost) = _convert_gains(columns, self.worth, self.cost)
        # Guessing w wins worth[w] with probability p(w), else loses cost[w]. For a secret that is
        # impossible here, only the loss is left: the smallest loss stands for all of those.
        # It never beats a possible secret of the same cost, so it may be offered everywhere.
        sums = columns.column_sums()
        rows, totals = columns.rows, np.repeat(sums, columns.sizes)
        expected_gains = columns.values * (worth + cost)[rows] - cost[rows] * totals
        least_loss = zero_like(columns.values) if self.may_abstain else cost.min()
        best: Numbers = -least_loss * sums
        occupied = columns.starts[:-1] < columns.starts[1:]
        best[occupied] = np.maximum(
            best[occupied], np.maximum.reduceat(expected_gains, columns.starts[:-1][occupied])
        )
        return best

    def matrix(self, secrets: int) -> Numbers:
        """One row for every secret named, and one for silence if that is allowed."""
        require_small_matrix(secrets, secrets)
        gains = np.repeat(0 - self.cost[:, None], secrets, axis=1)
        gains = gains.astype(np.result_type(self.worth, self.cost))
        np.fill_diagonal(gains, self.worth)
        silence = np.full((int(self.may_abstain), secrets), zero_like(gains), dtype=gains.dtype)
        return np.concatenate([gains, silence])


def _convert_gains(columns: Columns, *gains: Numbers) -> tuple[Columns, list[Numbers]]:
    """Bring gains to the kind of the matrix. Only an exact matrix makes an exact result."""
    if not columns.exact:
        return columns, [each.astype(np.float64, copy=False) for each in gains]
    values, *converted = unify_numbers(columns.values, *gains)
    return columns.with_values(values), converted


def require_small_matrix(guesses: int, secrets: int) -> None:
    """Raise if a matrix of gains is too large to be written out."""
    if guesses * secrets > tuning.LARGEST_GAIN_MATRIX:
        raise ValueError(
            f"a gain matrix of {guesses} guesses x {secrets} secrets is too large to write out."
        )
