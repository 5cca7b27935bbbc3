"""Best guesses at hidden cells: by naive Bayes, and by the most frequent value among who is alike.

A guess needs no relation that always holds. What columns beyond the keys add to it is what they
give away; so guesses from the other keys alone stand beside, and the most frequent value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge import work
from divulge.protection import tuning
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.search.support import find_mode
from divulge.work.arrays import Array, Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class CellGuesses:
    """A guess for each hidden cell of a column, and how often such guesses are right.

    `share` is of shown cells, each guessed from the others; with the truth at hand, of the hidden.
    """

    codes: Ints
    share: float


def guess_mode(column: CodedColumn, truth: Ints | None) -> CellGuesses:
    """The most frequent value shown."""
    hidden = np.flatnonzero(column.codes == HIDDEN)
    mode = find_mode(column.codes, column.cardinality)
    shown = column.codes[column.codes >= 0]
    share = float(np.mean(shown == mode)) if shown.size else 0.0
    return _judge_guesses(np.full(hidden.size, mode), share, hidden, truth)


def guess_column(
    column: CodedColumn, others: Sequence[CodedColumn], truth: Ints | None
) -> CellGuesses:
    """The better guesses of two kinds: by classes, or by naive Bayes.

    With the truth at hand it says which are better; else the shown cells do.
    """
    hidden = np.flatnonzero(column.codes == HIDDEN)
    mode = guess_mode(column, truth)
    if not others or not (column.codes >= 0).any():
        return mode
    choices = [
        mode,
        _judge_guesses(*_guess_by_classes(column, others, hidden), hidden, truth),
    ]
    if column.cardinality * hidden.size * len(others) <= tuning.REFILL_GUESS_EFFORT:
        choices.append(_judge_guesses(*_guess_by_bayes(column, others, hidden), hidden, truth))
    return max(choices, key=lambda guesses: guesses.share)


def _judge_guesses(guesses: Ints, share: float, hidden: Ints, truth: Ints | None) -> CellGuesses:
    if truth is not None and hidden.size:
        share = float(np.mean(guesses == truth[hidden]))
    return CellGuesses(codes=guesses, share=share)


def _guess_by_classes(
    column: CodedColumn, others: Sequence[CodedColumn], hidden: Ints
) -> tuple[Ints, float]:
    """Add the column that helps most, up to a few; who is then alone keeps the guess before."""
    from divulge.protection.refill import kernels

    target, cardinality = column.codes, column.cardinality
    shown = np.flatnonzero(target >= 0)
    guesses = np.full(target.size, find_mode(target, cardinality), np.int32)
    right = np.count_nonzero(guesses[shown] == target[shown])
    left, partition = list(others), None
    for _ in range(tuning.REFILL_GUESS_COLUMNS):
        best = None
        for other in left:
            work.check()
            if partition is None:
                rows, starts = kernels.group_rows(other.codes, other.cardinality, 1)
            else:
                rows, starts = kernels.refine_groups(*partition, other.codes, other.cardinality)
            trial = guesses.copy()
            kernels.guess_modes(rows, starts, target, cardinality, trial)
            count = np.count_nonzero(trial[shown] == target[shown])
            if count > right:
                right, best = count, (other, (rows, starts), trial)
        if best is None:
            break
        other, partition, guesses = best
        left = [column for column in left if column is not other]
    return guesses[hidden], right / shown.size


@dataclass(frozen=True, eq=False, kw_only=True)
class BayesTables:
    """What naive Bayes has learnt from the shown cells of a column."""

    features: Array
    """By record and other column, the code of its value or of the interval that it is in."""
    offsets: Ints
    sizes: Ints
    prior: Ints
    """How often each value is shown."""
    joint: Floats
    """How often with each feature; those of one column begin at its offset."""

    @property
    def logs(self) -> Floats:
        """The logarithm of the chance of each feature given a value (one added, after Laplace)."""
        sizes = np.repeat(self.sizes, self.sizes)[:, None]
        return np.asarray(np.log((self.joint + 1) / (self.prior + sizes)), np.float64)


def learn_bayes(column: CodedColumn, others: Sequence[CodedColumn]) -> BayesTables:
    """Count what naive Bayes needs to guess a column from others."""
    target = column.codes
    shown = np.flatnonzero(target >= 0)
    binned = [_bin_codes(other) for other in others]
    nothing = np.empty((target.size, 0), np.int32)
    features = np.stack([codes for codes, _ in binned], axis=1) if binned else nothing
    sizes = np.array([size for _, size in binned], np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])[:-1]
    joint = np.zeros((int(sizes.sum()), column.cardinality))
    for j, offset in enumerate(offsets.tolist()):
        rows = shown[features[shown, j] >= 0]
        np.add.at(joint, (features[rows, j] + offset, target[rows]), 1)
    return BayesTables(
        features=features,
        offsets=offsets,
        sizes=sizes,
        prior=np.bincount(target[shown], minlength=column.cardinality),
        joint=joint,
    )


def _guess_by_bayes(
    column: CodedColumn, others: Sequence[CodedColumn], hidden: Ints
) -> tuple[Ints, float]:
    from divulge.protection.refill import kernels

    target = column.codes
    shown = np.flatnonzero(target >= 0)
    tables = learn_bayes(column, others)
    logs = tables.logs
    guesses = np.full(target.size, -1, np.int32)
    step = max(1, shown.size // tuning.REFILL_GUESS_SAMPLE)
    tried = shown[::step]
    for rows in (hidden, tried):
        work.check()
        kernels.guess_naive_bayes(
            rows,
            tables.features,
            tables.offsets,
            tables.sizes,
            tables.prior,
            tables.joint,
            logs,
            target,
            guesses,
        )
    return guesses[hidden], float(np.mean(guesses[tried] == target[tried]))


def _bin_codes(column: CodedColumn) -> tuple[Ints, int]:
    """The codes as they are, or in intervals with about as many rows each."""
    bins = tuning.REFILL_GUESS_BINS
    if column.cardinality <= bins or (column.numbers is None and column.cardinality <= bins**2):
        return column.codes, column.cardinality
    shown = column.codes[column.codes >= 0]
    edges = np.unique(np.quantile(shown, np.arange(1, bins) / bins)) if shown.size else np.empty(0)
    codes = np.searchsorted(edges, column.codes, side="right").astype(np.int32)
    return np.where(column.codes >= 0, codes, column.codes), int(edges.size) + 1
