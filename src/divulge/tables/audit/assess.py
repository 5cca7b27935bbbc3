"""The assessment of a published table: the secret is the value of a sensitive cell.

Before the release every value from 0 to the smallest total that contains the cell is taken for
equally likely; after it, every table of whole numbers that agrees with what is published.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.assessment import Assessment, Most, Sentence
from divulge.qif import PriorPosterior
from divulge.tables.audit.audit import Intervals, intervals
from divulge.tables.audit.table_counts import marginals
from divulge.tables.table import charts
from divulge.tables.table.axis import FloatArray, IntArray
from divulge.tables.table.published import Published
from divulge.tables.table.table import Table

CATALOGUE = "divulge.tables"
LARGEST = 2.0**53
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
    cells = np.flatnonzero(structure.mask(sensitive))
    if len(cells) == 0:
        return _nothing_sought(published, name)
    audited = intervals(published)
    width = np.zeros(len(cells))
    hidden = published.suppressed[cells]
    width[hidden] = audited.widths[np.searchsorted(audited.cells, cells[hidden])]
    counted = marginals(published, audited)
    after, exact = np.ones(len(cells)), np.ones(len(cells), dtype=bool)
    for place in np.flatnonzero(width > 0):
        values = counted.get(int(cells[place]))
        exact[place] = values is not None
        after[place] = (
            1 / (width[place] + 1)
            if values is None
            else max(values.values()) / sum(values.values())
        )
    before = 1 / (containing(_as_known(published, audited))[cells] + 1)
    # Of whole numbers there may be only one where an interval of fractions leaves room.
    certain = int((after == 1).sum())
    # A network reaches the ends of its intervals in whole numbers; elsewhere that is not said.
    doubtful = np.zeros_like(exact) if audited.integral else ~exact
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
        sentences=_sentences(width, before, after, exact, certain),
        figures={
            "suppressed_cells": int(published.suppressed.sum()),
            "narrowest_width": float(width.min()),
            "disclosed_cells": len(audited.disclosed),
        },
        _chart=lambda: charts.audited(width, audited.crosstabs(structure.mask(sensitive))),
        _risk=lambda: after,
    )


def _nothing_sought(published: Published, name: str) -> Assessment:
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


def _sentences(
    width: FloatArray, before: FloatArray, after: FloatArray, exact: Any, certain: int
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
    guessed = "guessed.exact" if exact.all() else "guessed.bound"
    said = [Sentence(CATALOGUE, "disclosed", values), Sentence(CATALOGUE, guessed, values)]
    if width.min() > 0 and np.isfinite(width.min()):
        said.append(Sentence(CATALOGUE, "narrowest.text", {"values": float(width.min()) + 1}))
    return tuple(said)


def _as_known(published: Published, audited: Intervals) -> Table:
    """The table with the largest value that every suppressed cell may have: no other is known."""
    units = published.units.copy()
    units[audited.cells] = np.minimum(audited.upper, LARGEST).astype(np.int64)
    return Table(
        published.structure, units, published.decimals, published.measure, published.lowest
    )


def containing(table: Table) -> IntArray:
    """The smallest total that contains each cell; its own value where none does."""
    relations = table.structure.relations
    total_of = np.zeros(relations.count, dtype=np.int64)
    is_total = relations.signs < 0
    total_of[relations.of_entry[is_total]] = relations.cells[is_total]
    values = table.units - table.floor
    smallest = np.full(table.structure.size, np.iinfo(np.int64).max)
    np.minimum.at(
        smallest, relations.cells[~is_total], values[total_of[relations.of_entry[~is_total]]]
    )
    return np.where(smallest == np.iinfo(np.int64).max, values, smallest)
