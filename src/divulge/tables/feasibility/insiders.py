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
from divulge.assessment import Sentence
from divulge.solvers.highs import INFINITE
from divulge.tables import tuning
from divulge.tables.feasibility.cell_intervals import Intervals, intervals
from divulge.tables.feasibility.sensitivity import Protection
from divulge.tables.feasibility.whole_tables import find_proven_intervals
from divulge.tables.table.contributions import (
    Contributions,
    KnownContributors,
    LinkedContributions,
)
from divulge.tables.table.published import Published, floor
from divulge.tables.table.structure import Key
from divulge.tables.table.table import Table
from divulge.work import Effort, InvalidInput, Problem
from divulge.work.arrays import Bools, Ints


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """A cell in which somebody's amount can be computed, and how many insiders that takes."""

    key: Key
    label: str
    contributors: int
    insiders: int
    elsewhere: bool = False

    def __str__(self) -> str:
        values = {
            "cell": self.label,
            "contributors": self.contributors,
            "insiders": self.insiders,
        }
        place = "elsewhere" if self.elsewhere else "here"
        return str(Sentence("divulge.tables", f"exposure.{place}", values))


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
    numbers, _ = _list_exact_values(counts, intervals(counts))
    _, is_exact = _list_exact_values(amounts, intervals(amounts))
    exposures = []
    for cell in range(counts.structure.size):
        contributors = numbers[cell]
        if is_exact[cell] and 1 <= contributors <= coalition + 1:
            key, label = counts.structure.addresses[cell], counts.structure.describe_cell(cell)
            exposures.append(
                Exposure(
                    key=key,
                    label=label,
                    contributors=int(contributors),
                    insiders=int(contributors) - 1,
                )
            )
    return exposures


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
    town=a: of 2 contributors, one can compute the amount of the last.
    """
    contributions = _require_contributors(table, "exposed to insiders")
    members = contributions.list_members(coalition + 1)
    coalitions = sorted(
        {
            group
            for of_cell in members.values()
            for group in _enumerate_coalitions(of_cell, coalition)
        },
        key=lambda group: (len(group), group),
    )
    counts = contributions.count_contributors()
    exposures: dict[int, Exposure] = {}
    with work.step("Trying coalitions", len(coalitions)) as step:
        for group in coalitions:
            amounts, present = contributions.sum_amounts_of(group)
            for cell in _find_exposed_cells(published, counts - present, amounts):
                if cell not in exposures:
                    key, label = (
                        table.structure.addresses[cell],
                        table.structure.describe_cell(cell),
                    )
                    outside = bool(group) and int(present[cell]) == 0
                    exposures[cell] = Exposure(
                        key=key,
                        label=label,
                        contributors=int(counts[cell]),
                        insiders=len(group),
                        elsewhere=outside,
                    )
            step.advance()
    return [exposures[cell] for cell in sorted(exposures)]


def find_cells_known_to_insiders(
    table: Table, published: Published, cells: Ints, protection: Protection
) -> tuple[Bools, Bools]:
    """Which cells some single contributor knows more closely than is asked, and which they may.

    A contributor knows their own amount in every cell of every table that they are in, and the
    cells that they fill alone. What they gave themselves is no secret of others: no cell need be
    uncertain below it. Where cells form no network, whole-numbered tables prove what is not known;
    what is neither known nor proven, or of contributors not tried, is undecided.
    """
    contributions = _require_contributors(table, "insider")
    counts = contributions.count_contributors()
    insiders = contributions.list_distinct_contributors()
    is_closer, is_undecided = (np.zeros(len(cells), dtype=bool) for _ in range(2))
    tried = insiders[: tuning.MOST_INSIDERS]
    effort = Effort(tuning.INSIDER_PROOF_SECONDS)
    with work.step("Trying insiders", len(tried)) as step:
        for insider in tried:
            amounts, present = contributions.sum_amounts_of([insider])
            view = _see_as_insider(table, published, amounts, present > 0, counts - present)
            open_cells = np.flatnonzero(view.unknown[cells] & ~is_closer)
            step.advance()
            if not (amounts[published.unknown] != 0).any() or len(open_cells) == 0:
                continue
            targets = cells[open_cells]
            own = intervals(view, view.structure.to_grids(_to_mask(targets, len(counts))))
            places = np.searchsorted(own.cells, targets)
            values, least = table.units[targets], view.floor
            own_lower = protection.lower.copy()
            own_lower[targets] = np.minimum(own_lower[targets], values - least[targets])
            asked = replace(protection, lower=own_lower)
            is_known = asked.is_lacking(targets, values, own.lower[places], own.upper[places])
            is_closer[open_cells] = is_known
            if not own.integral:
                rest = targets[~is_known]
                bounds = _bound_all_cells(view, own)
                proven = find_proven_intervals(
                    view, table.units, bounds, rest, asked, effort=effort
                )
                lacks_proof = asked.is_lacking(rest, table.units[rest], *proven)
                is_undecided[open_cells[~is_known]] |= lacks_proof
    if len(tried) < len(insiders):
        is_undecided[:] = True
    return is_closer, is_undecided & ~is_closer


def _see_as_insider(
    table: Table, published: Published, amounts: Ints, is_present: Bools, others: Ints
) -> Published:
    """What is published to somebody who gave these amounts, beside so many others in each cell."""
    is_alone = is_present & (others == 0)
    unknown = published.unknown & ~is_alone
    lowest = floor(published.structure, table.lowest)
    smallest = table.smallest if table.zeros == "known" and table.lowest == 0 else 0
    # That others give something, or no less than the lowest value, is taken for known where it is
    # true: of a cell to which they gave 0 it would leave no possible table.
    strong, weak = amounts + lowest + smallest, lowest if table.lowest < 0 else amounts
    least = np.where(table.units >= strong, strong, np.maximum(weak, lowest))
    # Cells that they fill alone are known to them, and hold what they gave.
    known = np.where(published.suppressed, table.units * is_alone, published.units)
    return replace(
        published,
        units=np.where(unknown, 0, known),
        suppressed=unknown,
        empty=None,
        least=np.where(unknown, least, 0),
    )


def _bound_all_cells(view: Published, own: Intervals) -> Intervals:
    """The bounds of some cells, and none for the others."""
    cells = np.flatnonzero(view.unknown)
    lower, upper = view.floor[cells].astype(float), np.full(len(cells), INFINITE)
    places = np.searchsorted(cells, own.cells)
    lower[places], upper[places] = own.lower, own.upper
    return replace(own, cells=cells, lower=lower, upper=upper)


def _to_mask(cells: Ints, size: int) -> Bools:
    mask = np.zeros(size, dtype=bool)
    mask[cells] = True
    return mask


def _require_contributors(table: Table, subject: str) -> KnownContributors:
    """Who contributes; of linked tables only if they are made of the same records."""
    contributions = table.contributions
    if isinstance(contributions, LinkedContributions) and not contributions.has_common_population:
        message = (
            "linked tables must be made of the same records, with the same contributor, so that "
            "it is known who is who."
        )
        raise InvalidInput(subject, [Problem("table", message)])
    if not isinstance(contributions, Contributions | LinkedContributions):
        raise InvalidInput(subject, [Problem("table", "needs a table made from records.")])
    return contributions


def _enumerate_coalitions(of_cell: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """The contributors of a cell together, and all but one of them; nobody is an outsider."""
    yield ()
    for size in (len(of_cell) - 1, len(of_cell)):
        if size <= most:
            yield from combinations(of_cell, size)


def _find_exposed_cells(published: Published, others: Ints, amounts: Ints) -> list[int]:
    """The cells with one contributor beside the insiders whose amount they can compute."""
    filled = published.suppressed & (others == 0)
    rest = np.where(published.suppressed, 0, published.units - amounts)
    insider_view = replace(published, units=rest, suppressed=published.suppressed & ~filled)
    one_other = others == 1
    # Who is known when the insiders know no more than others do is exposed to everybody.
    cell_intervals = intervals(
        insider_view, insider_view.structure.to_grids(one_other & insider_view.suppressed)
    )
    is_exposed = one_other & ~insider_view.suppressed
    is_exposed[cell_intervals.cells[cell_intervals.widths == 0]] = True
    return np.flatnonzero(is_exposed).tolist()


def _list_exact_values(published: Published, cell_intervals: Intervals) -> tuple[Ints, Bools]:
    """What everybody knows of each cell exactly, published or computed (else -1); and of which."""
    values, is_exact = np.where(published.suppressed, -1, published.units), ~published.suppressed
    exact = cell_intervals.widths == 0
    values[cell_intervals.cells[exact]] = cell_intervals.lower[exact].astype(np.int64)
    is_exact[cell_intervals.cells[exact]] = True
    return values, is_exact
