"""The assessment of a published table: the secret is the value of a sensitive cell.

Before the release every value from 0 to the smallest total that contains the cell is taken for
equally likely; after it, every table of whole numbers that agrees with what is published.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.assessment import Assessment, Most, Sentence
from divulge.qif import PriorPosterior
from divulge.tables.feasibility.cell_intervals import Intervals, intervals
from divulge.tables.feasibility.table_counts import count_marginals
from divulge.tables.table import charts
from divulge.tables.table.published import Published
from divulge.tables.table.table import Table
from divulge.work.arrays import Floats, Ints

CATALOGUE = "divulge.tables"
LARGEST_CELL_VALUE = 2.0**53
"""What is taken for a cell that nothing bounds."""


def assess(table: Table, published: Published, sensitive: Any, name: str = "table") -> Assessment:
    """What an adversary learns of the sensitive cells from what is published.

    Args:
        table: the true table; it is needed for the totals that are thought of before.
        published: what is published of it.
        sensitive: the sensitive cells: coordinates, or a pattern.
        name: what the table is called.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> found = assess(table, published, {(0, 0)})
    >>> found.deterministic.posterior, round(found.probabilistic.posterior, 4), found.claim
    (0.0, 0.0556, 'exact')
    """
    structure = table.structure
    cells = np.flatnonzero(structure.to_mask(sensitive))
    if len(cells) == 0:
        return _assess_nothing(published, name)
    cell_intervals = intervals(published)
    width = np.zeros(len(cells))
    hidden = published.suppressed[cells]
    width[hidden] = cell_intervals.widths[np.searchsorted(cell_intervals.cells, cells[hidden])]
    value_counts = count_marginals(published, cell_intervals)
    after, exact = np.ones(len(cells)), np.ones(len(cells), dtype=bool)
    for place in np.flatnonzero(width > 0):
        values = value_counts.get(int(cells[place]))
        exact[place] = values is not None
        after[place] = (
            1 / (width[place] + 1)
            if values is None
            else max(values.values()) / sum(values.values())
        )
    before = 1 / (find_smallest_totals(_build_largest_table(published, cell_intervals))[cells] + 1)
    # Of whole numbers there may be only one where an interval of fractions leaves room.
    certain = int((after == 1).sum())
    # A network reaches the ends of its intervals in whole numbers; elsewhere that is not said.
    doubtful = np.zeros_like(exact) if cell_intervals.integral else ~exact
    most = Most(int(((after == 1) | doubtful).sum()), float(np.where(exact, after, 1.0).sum()))
    return Assessment.from_counts(
        attack="tables",
        model="audit",
        dataset=name,
        knows=("what is published",),
        seeks=("the sensitive cells",),
        secrets=len(cells),
        subjects="sensitive cells",
        claim="exact" if exact.all() else "bound",
        certain=PriorPosterior(int((before == 1).sum()), certain),
        right=PriorPosterior(float(before.sum()), float(after.sum())),
        most=most,
        sentences=_describe_findings(width, before, after, exact, certain),
        figures={
            "suppressed_cells": int(published.suppressed.sum()),
            "narrowest_width": float(width.min()),
            "disclosed_cells": len(cell_intervals.disclosed),
        },
        _chart=lambda: charts.draw_audited_table(
            width, cell_intervals.crosstabs(structure.to_mask(sensitive))
        ),
        _risk=lambda: after,
    )


def _assess_nothing(published: Published, name: str) -> Assessment:
    """No cell is sensitive: nothing is known of nothing."""
    none = PriorPosterior(0, 0)
    return Assessment(
        attack="tables",
        model="audit",
        dataset=name,
        knows=("what is published",),
        seeks=("the sensitive cells",),
        secrets=0,
        subjects="sensitive cells",
        claim="exact",
        certain=none,
        right=none,
        deterministic=none,
        probabilistic=none,
        sentences=(Sentence(CATALOGUE, "none.text"),),
        figures={"suppressed_cells": int(published.suppressed.sum())},
    )


def _describe_findings(
    width: Floats, before: Floats, after: Floats, exact: Any, certain: int
) -> tuple[Sentence, ...]:
    total = len(width)
    values = {
        "total": total,
        "certain": certain,
        "certain_share": certain / total,
        "right": float(after.sum()),
        "right_share": float(after.mean()),
        "right_before": float(before.sum()),
        "uncounted": int((~exact).sum()),
    }
    guess_key = "guessed.exact" if exact.all() else "guessed.bound"
    sentences = [Sentence(CATALOGUE, "disclosed", values), Sentence(CATALOGUE, guess_key, values)]
    if width.min() > 0 and np.isfinite(width.min()):
        sentences.append(Sentence(CATALOGUE, "narrowest.text", {"values": float(width.min()) + 1}))
    return tuple(sentences)


def _build_largest_table(published: Published, cell_intervals: Intervals) -> Table:
    """The table with the largest value that every suppressed cell may have: no other is known."""
    units = published.units.copy()
    units[cell_intervals.cells] = np.minimum(cell_intervals.upper, LARGEST_CELL_VALUE).astype(
        np.int64
    )
    return Table(
        published.structure, units, published.decimals, published.measure, published.lowest
    )


def find_smallest_totals(table: Table) -> Ints:
    """The smallest total that contains each cell; its own value where none does."""
    relations = table.structure.relations
    total_of = np.zeros(relations.count, dtype=np.int64)
    is_total = relations.signs < 0
    total_of[relations.relation_of_entry[is_total]] = relations.cells[is_total]
    values = table.units - table.floor
    smallest = np.full(table.structure.size, np.iinfo(np.int64).max)
    np.minimum.at(
        smallest,
        relations.cells[~is_total],
        values[total_of[relations.relation_of_entry[~is_total]]],
    )
    return np.where(smallest == np.iinfo(np.int64).max, values, smallest)
