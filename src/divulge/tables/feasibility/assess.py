"""The assessment of a published table: the secret is the value of a sensitive cell.

Before the release every value from 0 to the smallest total that contains the cell is taken for
equally likely; after it, every table of whole numbers that agrees with what is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.assessment import Assessment, Most, Sentence
from divulge.qif import PriorPosterior
from divulge.tables.feasibility.cell_intervals import Intervals, intervals
from divulge.tables.feasibility.certificates import Certificates, certify_cells
from divulge.tables.feasibility.insiders import find_cells_known_to_insiders
from divulge.tables.feasibility.sensitivity import (
    Protection,
    SensitivityRules,
    compute_largest_share,
    compute_protection,
)
from divulge.tables.feasibility.shared_records import (
    find_cells_known_by_records,
    is_limited_by_records,
)
from divulge.tables.feasibility.table_counts import count_marginals
from divulge.tables.feasibility.whole_tables import find_proven_intervals
from divulge.tables.table import charts
from divulge.tables.table.cells_by_level import count_cells_by_level
from divulge.tables.table.published import Published, Zeros
from divulge.tables.table.table import Table
from divulge.work.arrays import Bools, Floats, Ints

CATALOGUE = "divulge.tables"
LARGEST_CELL_VALUE = 2.0**53
"""What is taken for a cell that nothing bounds."""


def assess(
    table: Table,
    published: Published,
    sensitive: Any,
    name: str = "table",
    *,
    rules: SensitivityRules | None = None,
    width: float | None = None,
    share: float | None = None,
    zeros: Zeros | None = None,
    insider: bool = False,
) -> Assessment:
    """What an adversary learns of the sensitive cells from what is published.

    A cell counts as known if it is known more closely than the rules, the width and the share ask
    for; without any of them, if it is known exactly.

    Args:
        table: the true table; rules ask by its values and contributors.
        published: what is published of it.
        sensitive: the sensitive cells: coordinates, or a pattern.
        name: what the table is called.
        rules: the rules of sensitivity, which say how uncertain a cell must be.
        width: how wide the interval of a sensitive cell must be.
        share: how uncertain it must be above and below, in percent of its value.
        zeros: "known" if the adversary knows which cells are empty, "secret" if a suppressed cell
            may be 0 for all they know. Known, unless an empty cell is sensitive.
        insider: whether the adversary may be any one of the contributors, who knows their own
            amounts.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> found = assess(table, published, {(0, 0)}, zeros="secret")
    >>> found.deterministic.posterior, round(found.probabilistic.posterior, 4), found.claim
    (0.0, 0.0556, 'exact')
    >>> assess(table, published, {(0, 0)}, zeros="secret", width=18).deterministic.posterior
    1.0
    """
    judgement = judge_cells(
        table,
        published,
        sensitive,
        rules=rules,
        width=width,
        share=share,
        zeros=zeros,
        insider=insider,
    )
    return assess_judgement(table, judgement, name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgement:
    """What is known of each sensitive cell, and whether that is more than the rules allow.

    `is_lacking` cells are surely known too closely; `is_open` ones are not shown to be protected.
    """

    cells: Ints
    published: Published
    cell_intervals: Intervals
    protection: Protection
    low: Floats
    high: Floats
    chance: Floats
    is_exact: Bools
    is_lacking: Bools
    is_open: Bools
    has_levels: bool
    to_insiders: int | None
    certified: Ints
    """Cells of the table that whole-numbered tables show to be protected, or not to be known; their
    intervals were not computed, and what stands for them is the least that they are."""


def judge_cells(
    table: Table,
    published: Published,
    sensitive: Any,
    *,
    rules: SensitivityRules | None = None,
    width: float | None = None,
    share: float | None = None,
    zeros: Zeros | None = None,
    insider: bool = False,
    protection: Protection | None = None,
) -> Judgement:
    """Compare what the sums leave to each sensitive cell with what the rules ask.

    `protection` says how much that is where no rule is known, in units of the table.
    """
    if zeros is None:
        has_empty = bool((table.structure.to_mask(sensitive) & table.empty).any())
        zeros = "secret" if has_empty else "known"
    table = table.read_with(zeros)
    published = published.read_with(zeros, table.empty & published.suppressed, table.smallest)
    cells = np.flatnonzero(table.structure.to_mask(sensitive))
    has_own_levels = protection is not None
    if protection is None:
        protection = compute_protection(table, rules or SensitivityRules(), width, share)
    values = table.units[cells]
    certificates = certify_cells(
        published, table.units, table.structure.to_mask(sensitive), protection
    )
    hidden = published.suppressed[cells]
    cell_intervals, certified, low, high = _bound_cells(table, published, cells, certificates)
    # How many values there may be at the most: a certified cell has no interval.
    spread = np.maximum(high - low, 0)
    if certified.any():
        largest = find_smallest_totals(_build_largest_table(published, cell_intervals))[cells]
        spread = np.where(certified[cells], largest, spread)
    chance, is_exact = np.ones(len(cells)), np.ones(len(cells), dtype=bool)
    is_counted = len(cells) > 0 and certificates is None
    value_counts = count_marginals(published, cell_intervals) if is_counted else {}
    for place in np.flatnonzero(high > low):
        counter = value_counts.get(int(cells[place]))
        is_exact[place] = counter is not None
        if counter is None:
            chance[place] = 1 / (spread[place] + 1)
        else:  # of whole numbers there may be fewer than an interval of fractions holds
            chance[place] = max(counter.values()) / sum(counter.values())
            low[place], high[place] = min(counter), max(counter)
    is_lacking = protection.is_lacking(cells, values, low, high)
    is_open = np.zeros(len(cells), dtype=bool)
    doubtful = np.flatnonzero(~is_exact & ~is_lacking & ~certified[cells])
    if not cell_intervals.integral and len(doubtful):
        proven = find_proven_intervals(
            published, table.units, cell_intervals, cells[doubtful], protection
        )
        is_open[doubtful] = protection.is_lacking(cells[doubtful], values[doubtful], *proven)
    if is_limited_by_records(table):
        asked = np.flatnonzero(hidden & ~is_lacking)
        is_exact[hidden] = False
        values_left = np.where(certified[cells], spread, np.maximum(high - low, 0))
        chance[hidden] = 1 / (values_left[hidden] + 1)
        known, untold = find_cells_known_by_records(
            published, table.units, cells[asked], protection
        )
        is_lacking[asked], is_open[asked] = known, is_open[asked] | untold
        is_open &= ~is_lacking
    to_insiders = None
    if insider:
        is_closer, is_undecided = find_cells_known_to_insiders(table, published, cells, protection)
        to_insiders = int((is_closer & ~is_lacking).sum())
        is_lacking |= is_closer
        if is_limited_by_records(table):  # what a contributor subtracts is compared by sums alone
            is_undecided = is_undecided | hidden
        is_open = (is_open | is_undecided) & ~is_lacking
    rules_on_amounts = rules is not None and compute_largest_share(rules) > 0
    return Judgement(
        cells=cells,
        published=published,
        cell_intervals=cell_intervals,
        protection=protection,
        low=low,
        high=high,
        chance=np.where(is_lacking, 1.0, chance),
        is_exact=is_exact,
        is_lacking=is_lacking,
        is_open=is_open,
        has_levels=has_own_levels or rules_on_amounts or not (width is None and share is None),
        to_insiders=to_insiders,
        certified=np.flatnonzero(certified),
    )


def _bound_cells(
    table: Table, published: Published, cells: Ints, certificates: Certificates | None
) -> tuple[Intervals, Bools, Floats, Floats]:
    """Intervals of cells that are not certified; of every cell the bounds by which it is judged."""
    values = table.units[cells].astype(float)
    hidden = published.suppressed[cells]
    certified = np.zeros(table.structure.size, dtype=bool)
    low, high = values.copy(), values.copy()
    if certificates is None:
        cell_intervals = intervals(published)
    else:
        certified = certificates.is_certified
        low, high = certificates.low[cells], certificates.high[cells]
        cell_intervals = intervals(published, published.suppressed & ~certified)
    bounded = hidden & ~certified[cells]
    places = np.searchsorted(cell_intervals.cells, cells[bounded])
    low[bounded], high[bounded] = cell_intervals.lower[places], cell_intervals.upper[places]
    return cell_intervals, certified, low, high


def assess_judgement(table: Table, judgement: Judgement, name: str) -> Assessment:
    """The judgement in the currency of all attacks."""
    cells, published, after = judgement.cells, judgement.published, judgement.chance
    if len(cells) == 0:
        return _assess_nothing(published, name)
    cell_intervals, width = judgement.cell_intervals, judgement.high - judgement.low
    before = 1 / (find_smallest_totals(_build_largest_table(published, cell_intervals))[cells] + 1)
    certain = int(judgement.is_lacking.sum())
    most = Most(
        int((judgement.is_lacking | judgement.is_open).sum()),
        float(np.where(judgement.is_exact & ~judgement.is_open, after, 1.0).sum()),
    )
    is_exact = bool(judgement.is_exact.all() and not judgement.is_open.any())
    sensitive = np.zeros(table.structure.size, dtype=bool)
    sensitive[cells] = True
    return Assessment.from_counts(
        attack="tables",
        model="audit",
        dataset=name,
        knows=(str(Sentence(CATALOGUE, "knowledge.published")),),
        seeks=("the sensitive cells",),
        secrets=len(cells),
        subjects="sensitive cells",
        claim="exact" if is_exact else "bound",
        certain=PriorPosterior(int((before == 1).sum()), certain),
        right=PriorPosterior(float(before.sum()), float(after.sum())),
        most=most,
        sentences=(
            *_describe_findings(judgement, before),
            *describe_certificates(judgement.certified),
            *describe_circumstances(table, published.zeros),
        ),
        figures={
            "suppressed_cells": int(published.suppressed.sum()),
            "narrowest_width": float(width.min()),
            "disclosed_cells": len(cell_intervals.disclosed),
            "closely_known_cells": certain,
        },
        _chart=lambda: charts.draw_audited_table(
            width,
            cell_intervals.crosstabs(sensitive),
            count_cells_by_level(table.structure, table.units, published.suppressed),
        ),
        _risk=lambda: after,
    )


def describe_circumstances(table: Table, zeros: Zeros) -> tuple[Sentence, ...]:
    """What the figures rest on: who knows of empty cells, and that weights are not used."""
    keys = [Sentence(CATALOGUE, f"zeros.{zeros}")]
    if is_limited_by_records(table):
        keys.append(Sentence(CATALOGUE, "records.ring"))
    if table.unused_weight is not None:
        keys.append(Sentence(CATALOGUE, "weight.unused", {"weight": table.unused_weight}))
    return tuple(keys)


def describe_certificates(certified: Ints) -> tuple[Sentence, ...]:
    """Which cells have no interval, since it was not needed to say that they are protected."""
    if len(certified) == 0:
        return ()
    return (Sentence(CATALOGUE, "certified", {"count": len(certified)}),)


def _assess_nothing(published: Published, name: str) -> Assessment:
    """No cell is sensitive: nothing is known of nothing."""
    none = PriorPosterior(0, 0)
    return Assessment(
        attack="tables",
        model="audit",
        dataset=name,
        knows=(str(Sentence(CATALOGUE, "knowledge.published")),),
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


def _describe_findings(judgement: Judgement, before: Floats) -> tuple[Sentence, ...]:
    after, is_exact = judgement.chance, judgement.is_exact
    total, certain = len(after), int(judgement.is_lacking.sum())
    width = judgement.high - judgement.low
    exactly = int((width == 0).sum())
    values = {
        "total": total,
        "certain": certain,
        "certain_share": certain / total,
        "exactly": exactly,
        "exactly_share": exactly / total,
        "open": int(judgement.is_open.sum()),
        "insiders": judgement.to_insiders,
        "right": float(after.sum()),
        "right_share": float(after.mean()),
        "right_before": float(before.sum()),
        "uncounted": int((~is_exact).sum()),
    }
    keys = ["closely_known"] if judgement.has_levels or judgement.to_insiders is not None else []
    keys.append("disclosed")
    if judgement.to_insiders is not None:
        keys.append("insiders")
    if judgement.is_open.any():
        keys.append("not_proven")
    keys.append("guessed.exact" if is_exact.all() else "guessed.bound")
    sentences = [Sentence(CATALOGUE, key, values) for key in keys]
    is_whole = len(judgement.certified) == 0
    if is_whole and width.min() > 0 and np.isfinite(width.min()):
        sentences.append(Sentence(CATALOGUE, "narrowest.text", {"values": float(width.min()) + 1}))
    return tuple(sentences)


def _build_largest_table(published: Published, cell_intervals: Intervals) -> Table:
    """The table with the largest value that every suppressed cell may have: no other is known.

    A cell without an interval has at the most the smallest total that contains it.
    """
    units = published.units.copy()
    is_unbounded = published.unknown.copy()
    is_unbounded[cell_intervals.cells] = False
    units[is_unbounded] = int(LARGEST_CELL_VALUE)
    units[cell_intervals.cells] = np.minimum(cell_intervals.upper, LARGEST_CELL_VALUE).astype(
        np.int64
    )
    table = Table(
        published.structure,
        units,
        published.decimals,
        published.measure,
        published.lowest,
        zeros=published.zeros,
    )
    while is_unbounded.any():
        most = np.minimum(units, find_smallest_totals(table) + table.floor)
        if np.array_equal(most[is_unbounded], units[is_unbounded]):
            break
        units[is_unbounded] = most[is_unbounded]
    return table


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
