"""What becomes of each cell that was made coarser: told, told rightly, or guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from divulge.protection.refill.coarse_cells import FinerCells
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.kernels import ABSENT, HIDDEN
from divulge.protection.refill.outcomes.figures import CellOutcomes
from divulge.protection.refill.outcomes.guesses import guess_column
from divulge.protection.refill.search.discovery import Completion
from divulge.work.arrays import Floats, Ints


def judge_coarse_cells(
    finer: FinerCells,
    completion: Completion,
    verified: Completion | None,
    *,
    others: Sequence[CodedColumn],
    keys: Sequence[CodedColumn],
) -> CellOutcomes:
    """The cells of one attribute that were made coarser, each with what an attacker makes of it.

    Who knows nothing else draws one of the finer values that the coarser one stands for. Where some
    records show finer values, guesses are those of hidden cells.
    """
    assert finer.column.allowed is not None  # noqa: S101  # it has coarse cells
    rows = finer.rows
    told = finer.find_told(completion.columns[finer.column.key])
    base = 1 / np.maximum(finer.column.allowed.count_finer()[rows], 1)
    from_keys = np.maximum(base, _guess_cells(finer, rows, keys))
    alone = np.maximum(from_keys, _guess_cells(finer, rows, [*others, *keys]))
    is_right = is_verified = None
    best = np.where(told, 1.0, alone)
    if finer.truth is not None and verified is not None:
        is_right = finer.find_right(completion.columns[finer.column.key])
        is_verified = finer.find_right(verified.columns[finer.column.key])
        best = np.where(told, is_right.astype(np.float64), alone)
    return CellOutcomes(
        rows=rows,
        is_claimed=told,
        is_right=is_right,
        is_verified=is_verified,
        best_guess=best if best.sum() >= alone.sum() else alone,
        guess=alone,
        keys_only=from_keys,
        base_rate=base,
    )


def _guess_cells(finer: FinerCells, rows: Ints, others: Sequence[CodedColumn]) -> Floats:
    """The chance that each cell is guessed right, as records that show finer values suggest."""
    column = finer.column
    if not (column.codes >= 0).any() or not others:
        return np.zeros(rows.size)
    codes = np.where(finer.is_coarse, HIDDEN, np.where(column.codes >= 0, column.codes, ABSENT))
    sources = [*others, *([] if finer.lifted is None else [finer.lifted])]
    guesses = guess_column(replace(column, codes=codes.astype(np.int32)), sources, finer.truth)
    if finer.truth is None:
        return np.full(rows.size, guesses.share)
    return np.asarray(guesses.codes == finer.truth[rows], np.float64)
