"""The audit of a published table by rules and thresholds, with or without the table behind it.

With the true table every rule is judged as the release would judge it. Without it a width is judged
as well, because it does not depend on the value; what rules ask does depend on it. There a cell
fails if no value in its interval would content the rules, and else it is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from divulge.assessment import Sentence
from divulge.tables.feasibility.assess import (
    describe_certificates,
    describe_circumstances,
    judge_cells,
)
from divulge.tables.feasibility.cell_intervals import Intervals, intervals
from divulge.tables.feasibility.sensitivity import (
    Protection,
    SensitivityRules,
    compute_largest_share,
    find_sensitive_cells,
)
from divulge.tables.feasibility.whole_tables import find_proven_intervals, find_whole_table
from divulge.tables.table.published import Published, Zeros
from divulge.tables.table.structure import Key
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Bools, Ints

CATALOGUE = "divulge.tables"


@dataclass(frozen=True, eq=False, kw_only=True)
class TableAudit:
    """What the suppressed cells can be, and which are known more closely than is allowed."""

    intervals: Intervals
    judged: Ints
    is_lacking: Bools
    is_open: Bools
    sentences: Sequence[Sentence]
    certified: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """Cells that whole-numbered tables show to be protected; their intervals were not computed."""

    @property
    def status(self) -> Literal["pass", "fail", "not judged"]:
        """Whether all judged cells are protected as is asked."""
        if self.is_lacking.any() or self.intervals.disclosed:
            return "fail"
        return "not judged" if self.is_open.any() else "pass"

    @property
    def unprotected(self) -> list[Key]:
        """The cells that are known more closely than is allowed."""
        return self._list_keys(self.is_lacking)

    @property
    def undecided(self) -> list[Key]:
        """The cells of which it is not shown that they are protected."""
        return self._list_keys(self.is_open)

    def explain(self) -> list[str]:
        """What is known of the suppressed cells, in sentences."""
        structure = self.intervals.published.structure
        lines = self.intervals.explain()
        for key, mask in (("unprotected", self.is_lacking), ("undecided", self.is_open)):
            for cell in self.judged[mask]:
                values = {"cell": structure.describe_cell(int(cell))}
                lines.append(Sentence(CATALOGUE, f"audit.{key}", values).render())
        by_sums = Sentence(CATALOGUE, "audit.by_sums")
        return [*lines, *(sentence.render() for sentence in (*self.sentences, by_sums))]

    def to_dict(self) -> dict[str, Any]:
        """The intervals and the verdict on them as plain values, for JSON."""
        return {
            **self.intervals.to_dict(),
            "status": self.status,
            "unprotected": [list(key) for key in self.unprotected],
            "undecided": [list(key) for key in self.undecided],
            "certified": len(self.certified),
        }

    def _list_keys(self, mask: Bools) -> list[Key]:
        addresses = self.intervals.published.structure.addresses
        return [addresses[cell] for cell in self.judged[mask]]


def audit(
    published: Published,
    table: Table | None = None,
    *,
    rules: SensitivityRules | None = None,
    width: float | None = None,
    share: float | None = None,
    zeros: Zeros | None = None,
    insider: bool = False,
) -> TableAudit:
    """Judge what is published by rules and thresholds.

    Args:
        published: what is published.
        table: the table behind it, if it is at hand; contributors need one made from records.
        rules: the rules of sensitivity: which cells are judged, and how uncertain they must be.
        width: how wide the interval of a judged cell must be.
        share: how uncertain a judged cell must be above and below, in percent of its value.
        zeros: "known" if readers know which cells are empty (unless `zeros_primary`), or "secret".
        insider: whether any one contributor, who knows their own amounts, is tried too.

    >>> table = Table.from_cells([[1_000_000, 2], [2, 3]], measure="turnover")
    >>> published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> found = audit(published, table, rules=SensitivityRules(p_percent=10), zeros="secret")
    >>> found.intervals[(0, 0)], found.status
    ((999997, 1000002), 'fail')
    """
    rules = rules or SensitivityRules()
    zeros = zeros or ("secret" if rules.zeros_primary else "known")
    if table is None:
        if insider:
            message = "needs the records behind the table, which say who contributes what."
            raise InvalidInput("audit", [Problem("insider", message)])
        return _audit_alone(published, rules, width, share, zeros)
    _refuse_other_table(published, table)
    rules, share, remarks = _replace_unknown_rules(table, rules, share)
    sensitive = published.suppressed
    if rules != SensitivityRules(zeros_primary=rules.zeros_primary):
        sensitive = find_sensitive_cells(table, rules)
    judgement = judge_cells(
        table,
        published,
        table.structure.to_grids(sensitive),
        rules=rules,
        width=width,
        share=share,
        zeros=zeros,
        insider=insider,
    )
    return TableAudit(
        intervals=judgement.cell_intervals,
        judged=judgement.cells,
        is_lacking=judgement.is_lacking,
        is_open=judgement.is_open,
        sentences=(
            *describe_certificates(judgement.certified),
            *remarks,
            *describe_circumstances(table, zeros),
        ),
        certified=judgement.certified,
    )


def _replace_unknown_rules(
    table: Table, rules: SensitivityRules, share: float | None
) -> tuple[SensitivityRules, float | None, list[Sentence]]:
    """Rules on contributors become the most that they can ask, where no contributor is known."""
    most = compute_largest_share(rules)
    if table.contributions is not None or most == 0:
        return rules, share, []
    share = max(share or 0.0, most)
    # Which cells such a rule finds sensitive is not known either: all suppressed ones may be.
    plain = SensitivityRules(zeros_primary=rules.zeros_primary)
    return plain, share, [Sentence(CATALOGUE, "contributions.unknown", {"share": share})]


def _audit_alone(
    published: Published,
    rules: SensitivityRules,
    width: float | None,
    share: float | None,
    zeros: Zeros,
) -> TableAudit:
    """Judge by what is published alone."""
    published = published.read_with(zeros)
    cell_intervals = intervals(published)
    is_judged = _find_maybe_sensitive(cell_intervals, rules)
    cells = cell_intervals.cells[is_judged]
    low, high = cell_intervals.lower[is_judged], cell_intervals.upper[is_judged]
    units = 1 if width is None else max(int(np.ceil(width * 10**published.decimals - 1e-9)), 1)
    size = published.structure.size
    nothing = np.zeros(size, dtype=np.int64)
    protection = Protection(nothing, nothing, np.full(size, units, dtype=np.int64))
    is_lacking = high - low < units
    is_open = np.zeros(len(cells), dtype=bool)
    if not cell_intervals.integral and not is_lacking.all():
        is_open |= ~_is_width_proven(published, cell_intervals, cells, protection)
    fraction = max(share or 0.0, compute_largest_share(rules)) / 100
    remarks = []
    if fraction > 0:
        floor = published.floor[cells]
        highest_content = high / (1 + fraction)
        lowest_content = np.where(low <= floor, low, np.inf)
        if fraction < 1:
            lowest_content = np.minimum(lowest_content, low / (1 - fraction))
        is_lacking |= highest_content < lowest_content
        is_open |= ~is_lacking
        remarks = [Sentence(CATALOGUE, "contributions.unknown", {"share": 100 * fraction})]
    circumstances = Sentence(CATALOGUE, f"zeros.{zeros}")
    return TableAudit(
        intervals=cell_intervals,
        judged=cells,
        is_lacking=is_lacking,
        is_open=is_open & ~is_lacking,
        sentences=(*remarks, circumstances),
    )


def _find_maybe_sensitive(cell_intervals: Intervals, rules: SensitivityRules) -> Bools:
    """Suppressed cells that the rules may find sensitive; by a frequency alone, the small ones."""
    all_cells = np.ones(len(cell_intervals.cells), dtype=bool)
    published = cell_intervals.published
    is_frequency = published.measure == "count"
    if rules.min_frequency is None or compute_largest_share(rules) > 0 or not is_frequency:
        return all_cells
    lowest = np.maximum(cell_intervals.lower, 0 if rules.zeros_primary else 1)
    threshold = rules.min_frequency * 10**published.decimals
    is_small: Bools = (lowest < threshold) & (lowest <= cell_intervals.upper)
    return is_small


def _is_width_proven(
    published: Published, cell_intervals: Intervals, cells: Ints, protection: Protection
) -> Bools:
    """Which cells two whole-numbered tables show to be as wide as is asked."""
    whole = find_whole_table(published)
    if whole is None:
        return np.zeros(len(cells), dtype=bool)
    low, high = find_proven_intervals(published, whole, cell_intervals, cells, protection)
    is_wide: Bools = high - low >= protection.sliding[cells]
    return is_wide


def _refuse_other_table(published: Published, table: Table) -> None:
    """What is judged must be published of the table that it is judged by."""
    shapes = [[numbers.shape for numbers in each.structure.numbers] for each in (published, table)]
    problems = Problems("audit")
    if shapes[0] != shapes[1]:
        problems.add("table", "has other cells than what is published.")
        problems.raise_any()
    scale = 10 ** max(published.decimals, table.decimals)
    ours = table.units * (scale // 10**table.decimals)
    theirs = published.units * (scale // 10**published.decimals)
    for cell in np.flatnonzero(~published.suppressed & (ours != theirs))[:10]:
        label = published.structure.locate_cell(int(cell))
        problems.add(label, "has another value in the table than it is published with.")
    problems.raise_any()
