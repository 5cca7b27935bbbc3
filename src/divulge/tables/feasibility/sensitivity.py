"""Which cells must not be published: the rules that agencies use.

A rule looks at how many contribute to a cell and how much the largest give. Frequency tables know
only the counts. What a rule asks is also how far the cell must be protected: far enough that the
rule would be content with the largest value that seems possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem, Problems
from divulge.work.arrays import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class SensitivityRules:
    """The rules of sensitivity of one publication; what is None does not apply.

    Attributes:
        min_frequency: a cell with fewer contributors is sensitive.
        zeros_primary: whether a cell of 0 contributors is below the minimum frequency too.
        dominance: (n, k): sensitive if the n largest contributors hold more than k percent.
        p_percent: sensitive if the second largest can estimate the largest within p percent.
        pq: (p, q): as p percent, where everybody knows the others within q percent before.
        request: (share): sensitive if one contributor that asked for it (all might) holds more.
        singletons: a cell with a single contributor is sensitive.
    """

    min_frequency: int | None = None
    zeros_primary: bool = False
    dominance: tuple[int, float] | None = None
    p_percent: float | None = None
    pq: tuple[float, float] | None = None
    request: float | None = None
    singletons: bool = False


def sensitive_cells(
    table: Table,
    min_frequency: int | None = None,
    zeros_primary: bool = False,
    dominance: tuple[int, float] | None = None,
    p_percent: float | None = None,
    *,
    pq: tuple[float, float] | None = None,
    request: float | None = None,
    singletons: bool = False,
    also: Any = None,
    never: Any = None,
) -> Any:
    """The sensitive cells of a table by the rules that are given, in the shape of the table.

    Args:
        table: the table; rules on contributors need one made from records.
        min_frequency: a cell with fewer contributors is sensitive.
        zeros_primary: whether 0 counts as fewer.
        dominance: (n, k): the n largest contributors hold more than k percent of the cell.
        p_percent: the second largest can estimate the largest within p percent.
        pq: (p, q): the same, where all know each other within q percent beforehand.
        request: a contributor with more than this percentage may ask to be protected.
        singletons: a cell with one contributor is sensitive.
        also: cells that are sensitive by hand.
        never: cells that are not, whatever the rules say.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> np.argwhere(sensitive_cells(table, min_frequency=10)).tolist()
    [[0, 0]]
    """
    rules = SensitivityRules(
        min_frequency=min_frequency,
        zeros_primary=zeros_primary,
        dominance=dominance,
        p_percent=p_percent,
        pq=pq,
        request=request,
        singletons=singletons,
    )
    mask = find_sensitive_cells(table, rules)
    mask |= table.structure.to_mask(also)
    mask &= ~table.structure.to_mask(never)
    return table.structure.to_grids(mask)


def find_sensitive_cells(table: Table, rules: SensitivityRules) -> Bools:
    """The sensitive cells by their numbers."""
    _check_rules(table, rules)
    mask = np.zeros(table.structure.size, dtype=bool)
    if rules.min_frequency is not None or rules.singletons:
        counts, one = _count_contributors(table)
        if rules.min_frequency is not None:
            below = counts < rules.min_frequency * one
            mask |= below if rules.zeros_primary else below & (counts > 0)
        if rules.singletons:
            mask |= counts == one
    total = table.units
    if rules.dominance is not None:
        n, k = rules.dominance
        mask |= (_find_largest_amounts(table, n).sum(axis=1) * 100 > k * total) & (total > 0)
    if rules.p_percent is not None:
        mask |= _apply_pq_rule(table, rules.p_percent, 100)
    if rules.pq is not None:
        mask |= _apply_pq_rule(table, *rules.pq)
    if rules.request is not None:
        mask |= (_find_largest_amounts(table, 1)[:, 0] * 100 > rules.request * total) & (total > 0)
    return mask


@dataclass(frozen=True, eq=False)
class Protection:
    """How uncertain each cell must be, in units: above, below, and in all, wherever it lies."""

    upper: Ints
    lower: Ints
    sliding: Ints

    def is_lacking(self, cells: Ints, values: Ints, low: Floats, high: Floats) -> Bools:
        """Which cells with these values are known more closely than that by their intervals."""
        lacking: Bools = high - values < self.upper[cells]
        lacking |= values - low < self.lower[cells]
        return lacking | (high - low < self.sliding[cells])


def compute_protection(
    table: Table,
    rules: SensitivityRules,
    width: float | None = None,
    share: float | None = None,
) -> Protection:
    """What the rules, a width and a share of the cell ask for together, as `suppress` asks it.

    >>> table = Table.from_cells([[200, 11], [10, 60]])
    >>> asked = compute_protection(table, SensitivityRules(min_frequency=100), share=10)
    >>> int(asked.upper[0]), int(asked.lower[0]), int(asked.sliding[0])
    (20, 20, 0)
    """
    upper, lower = compute_rule_levels(table, rules, share)
    if width is None:
        sliding = (upper + lower <= 0).astype(np.int64)
    else:
        units = int(np.ceil(width * 10**table.decimals - 1e-9))
        sliding = np.full(len(upper), max(units, 1), dtype=np.int64)
    return Protection(np.maximum(upper, 0), np.maximum(lower, 0), sliding)


def compute_largest_share(rules: SensitivityRules) -> float:
    """The most that rules on contributors can ask, in percent of the cell.

    A cell that a single contributor fills is asked for most: p percent of it, or 100/k - 1 times
    the cell. Where contributions are not known, this share stands in for the rule.

    >>> compute_largest_share(SensitivityRules(p_percent=10)), compute_largest_share(
    ...     SensitivityRules(dominance=(2, 80), pq=(10, 50))
    ... )
    (10, 25.0)
    """
    shares = [0.0]
    if rules.p_percent is not None:
        shares.append(rules.p_percent)
    if rules.pq is not None:
        shares.append(100 * rules.pq[0] / rules.pq[1])
    if rules.dominance is not None:
        shares.append(100 * (100 / rules.dominance[1] - 1))
    if rules.request is not None:
        shares.append(100 * (100 / rules.request - 1))
    return max(shares)


def compute_rule_levels(
    table: Table, rules: SensitivityRules, share: float | None = None
) -> tuple[Ints, Ints]:
    """How far the rules ask every cell to be uncertain, above and below its value, in units.

    Above: to the smallest total at which the rule would no longer find the same contributors
    sensitive. Below: as far, but not below the lowest possible value. A minimum frequency says
    nothing of amounts: there the width decides, or a `share` of every cell in percent.
    """
    _check_rules(table, rules)
    total = table.units
    required_levels = [np.zeros(len(total))]
    if share is not None:
        required_levels.append(np.abs(total) * share / 100)
    if rules.dominance is not None:
        n, k = rules.dominance
        required_levels.append(_find_largest_amounts(table, n).sum(axis=1) * 100 / k - total)
    if rules.request is not None:
        required_levels.append(_find_largest_amounts(table, 1)[:, 0] * 100 / rules.request - total)
    for p, q in [(rules.p_percent, 100.0), rules.pq or (None, 100.0)]:
        if p is not None:
            largest = _find_largest_amounts(table, 2)
            required_levels.append(largest[:, 0] * p / q - (total - largest.sum(axis=1)))
    upper = np.ceil(np.max(required_levels, axis=0) - 1e-9).astype(np.int64)
    return upper, np.minimum(upper, total - table.floor)


def _apply_pq_rule(table: Table, p: float, q: float) -> Bools:
    """Without the two largest, what is left hides less than p percent of the largest."""
    largest = _find_largest_amounts(table, 2)
    rest = table.units - largest.sum(axis=1)
    is_close: Bools = rest * q < p * largest[:, 0]
    return is_close & (table.units > 0)


def _count_contributors(table: Table) -> tuple[Ints, int]:
    """How many contribute to each cell, and how much one of them is: weighted counts have units."""
    if table.contributions is not None:
        return table.contributions.count_contributors(), 1
    return table.units, 10**table.decimals


def _find_largest_amounts(table: Table, how_many: int) -> Ints:
    assert table.contributions is not None  # noqa: S101  # _check has refused
    return table.contributions.find_largest_amounts(how_many)


def _check_rules(table: Table, rules: SensitivityRules) -> None:
    problems = Problems("sensitivity")
    needs = {
        "dominance": rules.dominance,
        "p_percent": rules.p_percent,
        "pq": rules.pq,
        "request": rules.request,
    }
    has_counts = table.is_frequency or table.contributions is not None
    for name, value in needs.items():
        if value is not None and table.contributions is None:
            problems.add(name, "needs the contributors: make the table from records.")
    if (rules.min_frequency is not None or rules.singletons) and not has_counts:
        message = "needs counts: make the table from records, or give the sensitive cells by hand."
        problems.add("min_frequency" if rules.min_frequency is not None else "singletons", message)
    if rules.min_frequency is not None and rules.min_frequency < 1:
        problems.add("min_frequency", f"{rules.min_frequency} is not a number from 1.")
    if rules.dominance is not None and not (
        rules.dominance[0] >= 1 and 0 < rules.dominance[1] <= 100
    ):
        problems.add("dominance", "give (n, k): n contributors from 1, k percent above 0 to 100.")
    if rules.p_percent is not None and not rules.p_percent > 0:
        problems.add("p_percent", "give a percentage above 0.")
    if rules.request is not None and not 0 < rules.request <= 100:
        problems.add("request", "give a percentage above 0, to 100.")
    if rules.pq is not None and not 0 < rules.pq[0] < rules.pq[1] <= 100:
        problems.add("pq", "give (p, q) with 0 < p < q <= 100.")
    problems.raise_any()


def refuse_nothing_to_do(rules: SensitivityRules, also: Any) -> None:
    """Somebody who gives no rule and no cell has forgotten them."""
    if also is None and rules == SensitivityRules(zeros_primary=rules.zeros_primary):
        raise InvalidInput(
            "suppress",
            [Problem("", "no rule of sensitivity is given: give min_frequency, p_percent, ...")],
        )
