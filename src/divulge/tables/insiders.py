"""Contributors as adversaries: who knows their own amount, alone or with others.

Where a cell has one contributor, the cell is that contributor's amount. Where it has two, each of
them subtracts their own and knows the other's (Minami and Abe 2019, Sec. 2.1); k that share what
they know expose the last of k + 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from divulge.tables.audit import Intervals, intervals
from divulge.tables.structure import Key
from divulge.tables.table import Published
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True)
class Exposure:
    """A cell in which somebody's amount can be computed, and how many insiders that takes."""

    key: Key
    label: str
    contributors: int
    insiders: int

    def __str__(self) -> str:
        if self.insiders == 0:
            return f"{self.label}: the one contributor's amount is read off the table."
        who = "one contributor" if self.insiders == 1 else f"{self.insiders} together"
        return f"{self.label}: of {self.contributors} contributors, {who} can compute the last's."


def exposed_contributors(
    counts: Published, amounts: Published, coalition: int = 1
) -> list[Exposure]:
    """The cells in which up to `coalition` contributors can compute another one's amount.

    Args:
        counts: the published numbers of contributors.
        amounts: the published sums of the same cells.
        coalition: how many contributors may share what they know; 0 is an outsider.

    >>> from divulge.tables.table import Table
    >>> counts = Table.from_cells([[20, 1], [15, 2]]).publish()
    >>> amounts = Table.from_cells([[360, 22], [375, 363]], measure="income").publish()
    >>> [(found.key, found.insiders) for found in exposed_contributors(counts, amounts)]
    [((0, 1), 0), ((1, 1), 1)]
    """
    if [n.shape for n in counts.structure.numbers] != [n.shape for n in amounts.structure.numbers]:
        message = "counts and amounts must be tables of the same cells."
        raise InvalidInput("exposed contributors", [Problem("", message)])
    numbers, known = _known(counts, intervals(counts)), _known(amounts, intervals(amounts))
    found = []
    for cell in range(counts.structure.size):
        contributors = numbers[cell]
        if known[cell] >= 0 and 1 <= contributors <= coalition + 1:
            key, label = counts.structure.addresses[cell], counts.structure.label(cell)
            found.append(Exposure(key, label, int(contributors), int(contributors) - 1))
    return found


def _known(published: Published, audited: Intervals) -> np.ndarray:
    """What everybody knows of each cell exactly, published or computed; -1 where nothing."""
    known = np.where(published.suppressed, -1, published.units)
    exact = audited.widths == 0
    known[audited.cells[exact]] = audited.lower[exact].astype(np.int64)
    return known
