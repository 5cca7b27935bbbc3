"""Contributors as adversaries: who knows their own amount, alone or with others.

Where a cell has one contributor, the cell is that contributor's amount. Where it has two, each of
them subtracts their own and knows the other's (Minami and Abe 2019, Sec. 2.1); k that share what
they know expose the last of k + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from divulge import work
from divulge.tables.audit.audit import Intervals, intervals
from divulge.tables.table.axis import IntArray
from divulge.tables.table.contributions import Contributions
from divulge.tables.table.published import Published
from divulge.tables.table.structure import BoolArray, Key
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True)
class Exposure:
    """A cell in which somebody's amount can be computed, and how many insiders that takes."""

    key: Key
    label: str
    contributors: int
    insiders: int
    elsewhere: bool = False

    def __str__(self) -> str:
        if self.elsewhere:
            who = "a contributor to" if self.insiders == 1 else f"{self.insiders} contributors to"
            return f"{self.label}: {who} another suppressed cell can compute an amount in this one."
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

    >>> from divulge.tables.table.table import Table
    >>> counts = Table.from_cells([[20, 1], [15, 2]]).publish()
    >>> amounts = Table.from_cells([[360, 22], [375, 363]], measure="income").publish()
    >>> [(found.key, found.insiders) for found in exposed_contributors(counts, amounts)]
    [((0, 1), 0), ((1, 1), 1)]
    """
    if [n.shape for n in counts.structure.numbers] != [n.shape for n in amounts.structure.numbers]:
        message = "counts and amounts must be tables of the same cells."
        raise InvalidInput("exposed contributors", [Problem("", message)])
    numbers, _ = _known(counts, intervals(counts))
    _, known = _known(amounts, intervals(amounts))
    found = []
    for cell in range(counts.structure.size):
        contributors = numbers[cell]
        if known[cell] and 1 <= contributors <= coalition + 1:
            key, label = counts.structure.addresses[cell], counts.structure.label(cell)
            found.append(Exposure(key, label, int(contributors), int(contributors) - 1))
    return found


def exposed_to_insiders(table: Table, published: Published, coalition: int = 1) -> list[Exposure]:
    """The cells of a table from records in which insiders can compute another's amount.

    Insiders subtract what they gave from every cell. A suppressed cell that they filled alone is
    then known to them, and may undo the pattern that hides others. Tried are all coalitions of
    at most so many that form in a cell: all of its contributors, or all but one.

    Args:
        table: the table, made from records (contributors are records, or what `contributor` says).
        published: what is published of it.
        coalition: how many contributors may share what they know; 0 is an outsider.

    >>> import pyarrow as pa
    >>> from divulge.data import Dataset
    >>> columns = {"town": ["a", "a", "b", "b", "b"], "amount": [5, 7, 1, 2, 3]}
    >>> table = Table.from_records(Dataset.from_arrow(pa.table(columns)), "town", "amount")
    >>> print(exposed_to_insiders(table, table.publish())[0])
    town=a: of 2 contributors, one contributor can compute the last's.
    """
    if not isinstance(table.contributions, Contributions):
        message = "needs one table made from records."
        raise InvalidInput("exposed to insiders", [Problem("table", message)])
    members = table.contributions.members(coalition + 1)
    tried = sorted(
        {group for of_cell in members.values() for group in _coalitions(of_cell, coalition)},
        key=lambda group: (len(group), group),
    )
    counts = table.contributions.counts()
    found: dict[int, Exposure] = {}
    with work.step("Trying coalitions", len(tried)) as step:
        for group in tried:
            amounts, present = table.contributions.amounts_of(group)
            for cell in _computed(published, counts - present, amounts):
                if cell not in found:
                    key, label = table.structure.addresses[cell], table.structure.label(cell)
                    outside = bool(group) and int(present[cell]) == 0
                    found[cell] = Exposure(key, label, int(counts[cell]), len(group), outside)
            step.advance()
    return [found[cell] for cell in sorted(found)]


def _coalitions(of_cell: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """The contributors of a cell together, and all but one of them; nobody is an outsider."""
    yield ()
    for size in (len(of_cell) - 1, len(of_cell)):
        if size <= most:
            yield from combinations(of_cell, size)


def _computed(published: Published, others: IntArray, amounts: IntArray) -> list[int]:
    """The cells with one contributor beside the insiders whose amount they can compute."""
    filled = published.suppressed & (others == 0)
    rest = np.where(published.suppressed, 0, published.units - amounts)
    seen = replace(published, units=rest, suppressed=published.suppressed & ~filled)
    alone = others == 1
    # Who is known when the insiders know no more than others do is exposed to everybody.
    audited = intervals(seen, seen.structure.spread(alone & seen.suppressed))
    known = alone & ~seen.suppressed
    known[audited.cells[audited.widths == 0]] = True
    return np.flatnonzero(known).tolist()


def _known(published: Published, audited: Intervals) -> tuple[IntArray, BoolArray]:
    """What everybody knows of each cell exactly, published or computed (else -1); and of which."""
    values, known = np.where(published.suppressed, -1, published.units), ~published.suppressed
    exact = audited.widths == 0
    values[audited.cells[exact]] = audited.lower[exact].astype(np.int64)
    known[audited.cells[exact]] = True
    return values, known
