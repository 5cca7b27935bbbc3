"""Fewer cells for the same limit: show again what need not be hidden, or hide another instead.

Whatever chose the cells planned by classes. The limit itself may allow less: who stands among
enough others need not hide what these hide. So cells are shown again, the dearest first, as long
as the limit holds; then one more cell is hidden, the cheapest first, to see whether that lets
dearer ones be shown. Every step is measured, and their number is counted, not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from divulge.protection import tuning
from divulge.work.arrays import Floats

Mask = npt.NDArray[np.bool_]


def count_affordable_tries(records: int) -> int:
    """How many hidden sets of cells are measured for so many records.

    >>> count_affordable_tries(10) > count_affordable_tries(100_000)
    True
    """
    return min(tuning.REFINEMENT_TRIES, tuning.REFINEMENT_RECORDS // max(records, 1))


@dataclass
class CellRefinement:
    """A search for cheaper cells under a limit.

    Attributes:
        costs: what it costs to hide each cell; infinite where it may not be hidden.
        is_held: whether the limit holds if these cells are hidden.
        tries: how often that may still be asked.
    """

    costs: Floats
    is_held: Callable[[Mask], bool]
    tries: int

    def find_cheaper(self, hidden: Mask) -> Mask:
        """The cells to hide instead of these, which keep to the limit and cost no more."""
        hidden = self._show_unneeded(hidden)
        improved = True
        while improved and self.tries > 0:
            improved = False
            for record, attribute in self._order_cells(~hidden & np.isfinite(self.costs)):
                if self.tries <= 0:
                    break
                trial = hidden.copy()
                trial[record, attribute] = True
                trial = self._show_unneeded(trial, but=(record, attribute))
                if self._sum_cost(trial) < self._sum_cost(hidden) - 1e-9:
                    hidden, improved = trial, True
                    break
        return hidden

    def _sum_cost(self, hidden: Mask) -> float:
        return float(self.costs[hidden].sum())

    def _show_unneeded(self, hidden: Mask, but: tuple[int, int] | None = None) -> Mask:
        hidden = hidden.copy()
        for record, attribute in reversed(self._order_cells(hidden)):
            if self.tries <= 0:
                break
            if (record, attribute) == but:
                continue
            hidden[record, attribute] = False
            self.tries -= 1
            if not self.is_held(hidden):
                hidden[record, attribute] = True
        return hidden

    def _order_cells(self, chosen: Mask) -> list[tuple[int, int]]:
        """Cells by their cost, the cheapest first."""
        records, attributes = np.nonzero(chosen)
        order = np.argsort(self.costs[records, attributes], kind="stable")
        return list(zip(records[order].tolist(), attributes[order].tolist(), strict=True))
