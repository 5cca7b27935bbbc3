"""What the adversary's best guess wins at each record, whatever a guess is worth to them.

The best guess is the same for all who cannot be told apart; what it wins depends on the truth
about each. Equally good guesses are drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.qif.gain import Gain, KGuesses
from divulge.records import tuning
from divulge.work import DivulgeError
from divulge.work.arrays import Ints

TIE_TOLERANCE = 1e-12


def compute_payoffs(
    gain: Gain, beliefs: Any, of_record: npt.NDArray[Any], truth: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """What the best guess wins at each record.

    Args:
        gain: what guesses are worth.
        beliefs: classes x secret values, sparse: what each value weighs to the adversary.
        of_record: the class of each record.
        truth: the secret value of each record; -1 where no guess can be right.

    >>> from scipy import sparse
    >>> beliefs = sparse.csr_array([[2.0, 1.0, 1.0]])
    >>> compute_payoffs(KGuesses(2), beliefs, np.zeros(3, int), np.arange(3)).tolist()
    [1.0, 0.5, 0.5]
    """
    if isinstance(gain, KGuesses):
        return _compute_top_k_chance(gain.guesses, beliefs, of_record, truth)
    try:
        matrix = np.asarray(gain.matrix(beliefs.shape[1]), np.float64)
    except ValueError as error:
        raise DivulgeError(f"the risk by group cannot be computed for this gain: {error}") from None
    if beliefs.shape[0] * max(matrix.shape) > tuning.MAX_GAIN_CELLS:
        message = "too many classes and guesses to compute the gain for each record"
        raise DivulgeError(message)
    expected = np.asarray(beliefs @ matrix.T)
    # What guesses win may be negative, and what beliefs weigh may be tiny.
    tolerance = TIE_TOLERANCE * np.abs(expected).max(axis=1, keepdims=True)
    best = expected >= expected.max(axis=1, keepdims=True) - tolerance
    winnings = (best / best.sum(axis=1, keepdims=True)) @ matrix
    # A truth that no guess can name still costs what a wrong guess costs, at the cheapest.
    extended_winnings = np.append(winnings, winnings.min(axis=1, keepdims=True), axis=1)
    return np.asarray(extended_winnings[of_record, truth], np.float64)


def _compute_top_k_chance(
    guesses: int, beliefs: Any, of_record: npt.NDArray[Any], truth: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """The chance that the truth is among the likeliest few; those that tie for a place draw."""
    rows, columns, weights = list_entries(beliefs)
    order = np.lexsort([-weights, rows])
    first = np.append(True, (rows[order][1:] != rows[order][:-1]))
    lighter = weights[order][1:] < weights[order][:-1] * (1 - TIE_TOLERANCE)
    starts_tie = first | np.append(True, lighter)
    start_of_class = np.flatnonzero(first)[np.cumsum(first) - 1]
    starts = np.flatnonzero(starts_tie)
    tie_size = np.diff(np.append(starts, len(order)))[np.cumsum(starts_tie) - 1]
    heavier = starts[np.cumsum(starts_tie) - 1] - start_of_class
    chance = np.empty(len(order))
    chance[order] = np.clip((guesses - heavier) / tie_size, 0, 1)
    return look_up_entries(
        rows, columns, chance, width=beliefs.shape[1], of_record=of_record, truth=truth
    )


def look_up_entries(
    rows: Ints,
    columns: Ints,
    values: npt.NDArray[np.float64],
    *,
    width: int,
    of_record: npt.NDArray[Any],
    truth: npt.NDArray[Any],
) -> npt.NDArray[np.float64]:
    """The value at (class, truth) of each record; 0 where there is none. Entries are in order."""
    if len(rows) == 0:
        return np.zeros(len(truth))
    keys = rows * width + columns
    record_keys = of_record.astype(np.int64) * width + truth
    place = np.minimum(np.searchsorted(keys, record_keys), len(keys) - 1)
    return np.where((keys[place] == record_keys) & (truth >= 0), values[place], 0.0)


def list_entries(matrix: Any) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
    """Rows, columns and values of a sparse matrix, in the order of rows and columns."""
    ordered = matrix.tocsr()
    ordered.sort_indices()
    rows = np.repeat(np.arange(ordered.shape[0], dtype=np.int64), np.diff(ordered.indptr))
    return rows, ordered.indices.astype(np.int64), np.asarray(ordered.data, np.float64)
