"""The cycle of local suppression: one record after the other hides what gives it most company."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.suppression.match_index import MatchIndex
from divulge.work.arrays import Bools, Floats, Ints


def hide_record_by_record(
    codes: npt.NDArray[np.int32],
    k: int,
    allowed: Sequence[int],
    costs: Floats,
    order: Ints,
    *,
    kept: Bools | None = None,
) -> tuple[npt.NDArray[np.int32], Ints]:
    """Each record in turn hides what gives it most company for its cost, until it has enough.

    What others hid before it counts (Bellomarini et al., Sec. 4.4: less significant tuples first,
    most risky attribute first). The rows after it, and who could not be helped.

    Args:
        codes: one row per record, HIDDEN where a value is missing.
        k: how many must fit each record, where a hidden cell may be anything.
        allowed: the attributes that may be hidden.
        costs: of one cell of each attribute.
        order: the records that too few fit, in the order in which they are changed.
        kept: cells of records that must not be hidden, if there are any.

    >>> rows = np.array([[0, 0], [0, 1], [0, 1]], np.int32)
    >>> hide_record_by_record(rows, 2, [0, 1], np.ones(2), np.array([0]))[0].tolist()
    [[0, -1], [0, 1], [0, 1]]
    """
    index = MatchIndex.from_codes(codes)
    rows = codes.copy()
    stuck: list[tuple[int, int]] = []
    with work.step("Protecting record by record", order.size) as step:
        for record in order.tolist():
            row = int(index.pattern[record])
            free = [a for a in allowed if kept is None or not kept[record, a]]
            while index.count_fitting(row) < k:
                best = _choose_attribute(index, row, free, costs)
                if best is None:
                    stuck.append((record, row))
                    break
                row = index.hide_cell(row, best)
                rows[record, best] = HIDDEN
            step.advance()
    # What others hid later may have helped them.
    lost = [record for record, row in stuck if index.count_fitting(row) < k]
    return rows, np.array(sorted(lost), np.int64)


def _choose_attribute(
    index: MatchIndex, row: int, allowed: Sequence[int], costs: Floats
) -> int | None:
    """The attribute whose hiding gives a row the most company for its cost; None if none is left.

    Of equal ones, the first.
    """
    best, most = None, -1.0
    for a in allowed:
        if index.codes[row, a] == HIDDEN:
            continue
        worth = index.count_fitting(row, a) / float(costs[a])
        if worth > most:
            best, most = a, worth
    return best
