"""Which claims convince: those that are right more often than the claimed values would be anyway.

Whoever has no original believes every relation that shown cells bear out. Where suppression made
evidence of the few who are alike, that misleads: claims that are right no more often than what the
other keys alone make likely of these values, as limits take it for granted, make nobody surer. Not
how often the best guess is right counts: who is told of a rare value knows more than whoever says
the most frequent one, though that is right more often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

import numpy as np

from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.outcomes.claim_chances import measure_claim_chances
from divulge.protection.refill.search.discovery import CompletedColumn, Completion
from divulge.work.arrays import Bools, Floats, Ints

OF_RELATION: Final = 1.0
OF_VALUE: Final = 2.0
"""So many standard deviations above what is likely, the claims of a relation convince, or those of
one value by themselves: of many values, some are above by chance."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Claims:
    """The cells of a column that are claimed, where their truth is known."""

    rows: Ints
    is_right: Bools
    chances: Floats
    """How likely each claimed value is by the other keys alone."""


def find_claims(
    column: CodedColumn, completed: CompletedColumn, truth: Ints, keys: Sequence[CodedColumn]
) -> Claims:
    """What relations tell of a column, whether it is right, and how likely that was anyway."""
    rows = np.flatnonzero(completed.teller >= 0)
    values = completed.codes[rows]
    return Claims(
        rows=rows,
        is_right=np.asarray(values == truth[rows], np.bool_),
        chances=measure_claim_chances(column, rows, values, keys),
    )


def drop_unconvincing(completion: Completion, claims: Mapping[str, Claims]) -> Completion:
    """The completion without what relations tell that convince nobody.

    `claims` are by the key of their column.
    """
    columns = dict(completion.columns)
    for key, of_column in claims.items():
        columns[key] = _hide_unconvincing(columns[key], of_column)
    return replace(completion, columns=columns)


def _hide_unconvincing(column: CompletedColumn, claims: Claims) -> CompletedColumn:
    teller, values = column.teller[claims.rows], column.codes[claims.rows]
    is_believed = np.zeros(teller.size, np.bool_)
    for relation in np.unique(teller).tolist():
        told = np.flatnonzero(teller == relation)
        if _measure_excess(claims, told) > OF_RELATION:
            is_believed[told] = True
            continue
        for value in np.unique(values[told]).tolist():
            same = told[values[told] == value]
            is_believed[same] = _measure_excess(claims, same) > OF_VALUE
    rows = claims.rows[~is_believed]
    codes, tellers = column.codes.copy(), column.teller.copy()
    codes[rows], tellers[rows] = HIDDEN, -1
    return replace(column, codes=codes, teller=tellers)


def _measure_excess(claims: Claims, cells: Ints) -> float:
    """How many standard deviations more claims are right than are likely to be right anyway."""
    chances = claims.chances[cells]
    excess = float(np.count_nonzero(claims.is_right[cells]) - chances.sum())
    spread = sqrt(float(np.sum(chances * (1 - chances))))
    return excess / spread if spread else 0.0
