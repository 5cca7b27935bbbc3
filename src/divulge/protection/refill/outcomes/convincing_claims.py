"""Which claims convince: those of relations that are right more often than guesses from the keys.

Whoever has no original believes every relation that shown cells bear out. Where suppression made
evidence of the few who are alike, that misleads: a relation that is right no more often than who
guesses from the other keys alone, as limits take it for granted, makes nobody surer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from divulge.protection.refill.kernels import HIDDEN
from divulge.protection.refill.outcomes.figures import CellOutcomes
from divulge.protection.refill.search.discovery import CompletedColumn, Completion


def drop_unconvincing(completion: Completion, outcomes: Mapping[str, CellOutcomes]) -> Completion:
    """The completion without what relations tell that convince nobody.

    `outcomes` are of cells whose truth is known, by the key of their column.
    """
    columns = dict(completion.columns)
    for key, cells in outcomes.items():
        columns[key] = _hide_unconvincing(columns[key], cells)
    return replace(completion, columns=columns)


def _hide_unconvincing(column: CompletedColumn, cells: CellOutcomes) -> CompletedColumn:
    assert cells.is_right is not None  # noqa: S101  # the truth is known
    teller = column.teller[cells.rows]
    is_believed = np.ones(teller.size, np.bool_)
    for relation in np.unique(teller[teller >= 0]).tolist():
        told = teller == relation
        right = np.count_nonzero(cells.is_right & told)
        is_believed[told] = right > float(cells.keys_only[told].sum())
    rows = cells.rows[~is_believed]
    codes, tellers = column.codes.copy(), column.teller.copy()
    codes[rows], tellers[rows] = HIDDEN, -1
    return replace(column, codes=codes, teller=tellers)
