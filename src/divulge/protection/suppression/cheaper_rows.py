"""Local suppression, improved cell by cell: what classes planned, and the limit does not need.

Few records are also put into classes anew in which some need not hide what the others do; the
cheapest of what comes out is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from divulge.protection import tuning
from divulge.protection.changes.kernels import HIDDEN
from divulge.protection.suppression.cell_choice import build_cell_costs, list_hidden_cells
from divulge.protection.suppression.partition import find_cheapest_partition, hide_differences
from divulge.protection.suppression.refinement import CellRefinement, Mask, count_affordable_tries
from divulge.protection.suppression.request import SuppressionRequest
from divulge.work.arrays import Floats, Ints

Codes = npt.NDArray[np.int32]


def find_cheaper_rows(
    before: Codes,
    rows: Codes,
    request: SuppressionRequest,
    *,
    absent: Sequence[int],
    is_held: Callable[[Mapping[str, Ints]], bool],
) -> Codes:
    """The rows with the cells hidden that cost least, of all that were tried.

    Args:
        before: the rows of codes before anything was hidden.
        rows: the rows as they were chosen, which keep to the limit.
        request: what was asked for.
        absent: by attribute, the code of absence.
        is_held: whether the limit holds if these cells are hidden, by attribute.
    """
    chosen = (rows == HIDDEN) & (before != HIDDEN)
    tries = count_affordable_tries(len(rows))
    if not np.any(chosen) or tries == 0:
        return rows
    names = list(request.names)
    costs = build_cell_costs(before, request, subset=names, absent=absent)

    def is_enough(hidden: Mask) -> bool:
        trial = np.where(hidden, HIDDEN, before)
        if request.nulls != "maybe" and _is_short(before, trial, request.k):
            return False
        return is_held(list_hidden_cells(names, before, trial, np.empty(0, np.int64)))

    hideable = np.where(before == HIDDEN, np.inf, costs)
    # Absence is hidden for those whom nothing else helps: that counts, and is not asked for again.
    nothing_absent = [-1] * len(names)
    hideable[chosen] = build_cell_costs(before, request, subset=names, absent=nothing_absent)[
        chosen
    ]
    others = _list_other_starts(before, costs, request)
    found = [
        CellRefinement(hideable, is_enough, tries).find_cheaper(start)
        for start in (chosen, *filter(is_enough, others))
    ]
    best = min(found, key=lambda hidden: float(hideable[hidden].sum()))
    return np.where(best, HIDDEN, before)


def _list_other_starts(before: Codes, costs: Floats, request: SuppressionRequest) -> Iterator[Mask]:
    """Of few records, what the cheapest classes hide, whether or not some may do without."""
    if len(before) > tuning.PARTITION_RECORDS or request.nulls not in ("bayes", "value"):
        return
    for spare in (False, True):
        number = find_cheapest_partition(before, costs, request.k, spare)
        if number[0] >= 0:
            yield (hide_differences(before, number) == HIDDEN) & (before != HIDDEN)


def _is_short(before: Codes, rows: Codes, k: int) -> bool:
    """Whether somebody fits fewer than k rows: then they are found, however what fits is weighed.

    Only a quick look at few records; it spares the measurement of most sets of cells.
    """
    if len(rows) > tuning.QUICK_LOOK_RECORDS:
        return False
    fits = np.ones((len(rows), len(rows)), np.bool_)
    for a in range(rows.shape[1]):
        known, shown = before[:, a, None], rows[None, :, a]
        fits &= (known == shown) | (shown == HIDDEN) | (known == HIDDEN)
    return bool(np.any(fits.sum(axis=1) < k))
