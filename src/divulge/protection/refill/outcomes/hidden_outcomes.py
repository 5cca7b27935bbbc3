"""What becomes of each hidden cell: claimed, filled with the truth, or guessed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.outcomes.figures import CellOutcomes
from divulge.protection.refill.outcomes.guesses import CellGuesses, guess_column, guess_mode
from divulge.protection.refill.search.discovery import CompletedColumn, Completion
from divulge.work.arrays import Floats, Ints


def judge_hidden_cells(
    column: CodedColumn,
    completion: Completion,
    verified: CompletedColumn | None,
    *,
    truth: Ints | None,
    others: Sequence[CodedColumn],
    keys: Sequence[CodedColumn],
) -> CellOutcomes:
    """The hidden cells of one attribute, each with what an attacker makes of it.

    Args:
        column: the attribute, with its hidden cells.
        completion: what an attacker without the original would fill.
        verified: the attribute as relations fill it that are mostly right; with the truth only.
        truth: what the attribute was; None without the original.
        others: the columns that relations are read from.
        keys: the other keys; a guess may use those, too.
    """
    rows = np.flatnonzero(column.codes == HIDDEN)
    sources = [*others, *(key for key in keys if not any(key is other for other in others))]
    from_keys = guess_column(column, keys, truth)
    guesses = max(guess_column(column, sources, truth), from_keys, key=lambda g: g.share)
    completed = completion.columns[column.name]
    is_claimed = completed.teller[rows] >= 0
    claimed = CellGuesses(
        codes=np.where(is_claimed, completed.codes[rows], guesses.codes), share=guesses.share
    )
    chances = _list_chances(claimed, rows, truth)
    is_right = is_verified = None
    if truth is None:
        tellers = [r for r in completion.relations if r.key == column.name and r.used]
        if is_claimed.any():
            shares = np.array([relation.support.share for relation in tellers])
            chances[is_claimed] = shares.min(initial=1.0)
    else:
        is_right = is_claimed & (chances == 1)
        assert verified is not None  # noqa: S101  # there is a truth
        is_verified = (verified.teller[rows] >= 0) & (verified.codes[rows] == truth[rows])
    alone = _list_chances(guesses, rows, truth)
    return CellOutcomes(
        rows=rows,
        is_claimed=is_claimed,
        is_right=is_right,
        is_verified=is_verified,
        # Claims that are mostly wrong must not make the best guess look worse than it is.
        best_guess=chances if chances.sum() >= alone.sum() else alone,
        guess=alone,
        keys_only=_list_chances(from_keys, rows, truth),
        base_rate=_list_chances(guess_mode(column, truth), rows, truth),
    )


def _list_chances(guesses: CellGuesses, rows: Ints, truth: Ints | None) -> Floats:
    """The chance that each guess is right: 0 or 1 where the truth is known."""
    if truth is None:
        return np.full(rows.size, guesses.share)
    return np.asarray(guesses.codes == truth[rows], np.float64)
