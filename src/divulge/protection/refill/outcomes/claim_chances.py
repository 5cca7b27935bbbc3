"""How likely a claimed value is by the other quasi-identifiers alone.

Limits take for granted that somebody guesses hidden cells from what else a record shows: as often
as complete records that agree on the rest have a value, and as twenty whose attributes are
independent would (docs/risk.md). A claim that is right no more often tells nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from divulge.protection.refill.columns import CodedColumn, mix_codes
from divulge.protection.refill.kernels import HIDDEN
from divulge.work.arrays import Bools, Floats, Ints

INDEPENDENT: Final = 20
"""As many records count beside those that agree, as if attributes were independent."""


def measure_claim_chances(
    column: CodedColumn, rows: Ints, values: Ints, keys: Sequence[CodedColumn]
) -> Floats:
    """The chance of each claimed value, as records suggest that show one.

    Args:
        column: the attribute, with its hidden cells; of finer values, what coarser ones leave.
        rows: whose cells are claimed.
        values: the codes that are claimed; calculated ones may be new.
        keys: the other quasi-identifiers.
    """
    chances = np.zeros(rows.size)
    shown = np.flatnonzero(column.codes >= 0)
    published = np.full(rows.size, -1) if column.allowed is None else column.allowed.published[rows]
    for node in np.unique(published).tolist():
        cells = np.flatnonzero(published == node)
        possible = _find_possible(column, node)
        alike = shown[possible[column.codes[shown]]]
        counts = np.bincount(column.codes[alike], minlength=max(1, possible.size))
        known = np.where(values[cells] < counts.size, values[cells], -1)
        fitting = np.where(known >= 0, counts[known], 0)
        if node >= 0 and not alike.size:
            chances[cells] = 1 / max(1, int(np.count_nonzero(possible)))
            continue
        independent = np.where(fitting > 0, fitting / max(1, alike.size), 1 / (alike.size + 1))
        agreeing, comparable = _count_agreeing(
            column.codes, alike, rows[cells], values[cells], keys
        )
        chances[cells] = (agreeing + INDEPENDENT * independent) / (comparable + INDEPENDENT)
    return chances


def _find_possible(column: CodedColumn, node: int) -> Bools:
    """Which values a published one leaves; all where nothing is published."""
    if column.allowed is None or node < 0:
        return np.ones(column.cardinality, np.bool_)
    is_under = (column.allowed.ancestors == node).any(axis=0)
    possible = np.zeros(max(column.cardinality, is_under.size), np.bool_)
    possible[: is_under.size] = is_under
    return possible


def _count_agreeing(
    codes: Ints, shown: Ints, rows: Ints, values: Ints, keys: Sequence[CodedColumn]
) -> tuple[Floats, Floats]:
    """Of each cell, how many complete records agree on the rest; first those with its value."""
    agreeing, comparable = np.zeros(rows.size), np.zeros(rows.size)
    if not keys:
        return agreeing, comparable
    is_hidden = np.stack([key.codes == HIDDEN for key in keys])
    complete = shown[~is_hidden[:, shown].any(axis=0)]
    patterns = mix_codes(list(is_hidden[:, rows]), rows.size)
    for pattern in np.unique(patterns).tolist():
        cells = np.flatnonzero(patterns == pattern)
        visible = ~is_hidden[:, rows[cells[0]]]
        seen = [key.codes for key, shows in zip(keys, visible.tolist(), strict=True) if shows]
        both = np.concatenate([complete, rows[cells]])
        alike = mix_codes([each[both] for each in seen], both.size)
        _, groups = np.unique(alike, return_inverse=True)
        groups = groups.reshape(-1).astype(np.int64)
        size = int(max(codes[complete].max(initial=0), values[cells].max(initial=0))) + 1
        pairs = groups * size + np.concatenate([codes[complete], values[cells]])
        comparable[cells] = _count_equal(groups, complete.size)
        agreeing[cells] = _count_equal(pairs, complete.size)
    return agreeing, comparable


def _count_equal(numbers: Ints, first: int) -> Ints:
    """Of each number after the first ones, how many of these are equal to it."""
    order = np.sort(numbers[:first])
    sought = numbers[first:]
    return np.searchsorted(order, sought, "right") - np.searchsorted(order, sought, "left")
