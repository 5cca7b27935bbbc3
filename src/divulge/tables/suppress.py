"""`suppress`: choose the cells that protect the sensitive ones at the least cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from divulge.tables.candidate_tables.suppressor_parameters import build_resisting_parameters
from divulge.tables.feasibility.sensitivity import (
    SensitivityRules,
    compute_rule_levels,
    find_sensitive_cells,
    refuse_nothing_to_do,
)
from divulge.tables.resistance import draw_resisting_solution
from divulge.tables.suppression.result import (
    MARGINS,
    Method,
    Suppression,
    build_suppression,
    build_suppression_problem,
    protect_table,
)
from divulge.tables.table.published import ZEROS, Zeros
from divulge.tables.table.table import Table
from divulge.work import Problems
from divulge.work.arrays import Bools


def suppress(
    table: Table,
    min_frequency: int | None = None,
    width: float | None = None,
    zeros_primary: bool = False,
    method: Method = "optimal",
    *,
    share: float | None = None,
    zeros: Zeros | None = None,
    primary: Any = None,
    never_primary: Any = None,
    dominance: tuple[int, float] | None = None,
    p_percent: float | None = None,
    pq: tuple[float, float] | None = None,
    request: float | None = None,
    singletons: bool = False,
    upper: Any = 0,
    lower: Any = 0,
    cost: Any = "number",
    publish: Any = None,
    margins: Literal["published", "suppressible"] = "published",
    seconds: float = 60.0,
    rule_protection: bool = True,
    resist_matching: bool = False,
    seed: int | None = None,
    sealed: Path | str | None = None,
) -> Suppression:
    """Suppress the sensitive cells, and as few others as protect them.

    Every sensitive cell's feasibility interval becomes at least `width` wide, reaches `upper`
    above its value and `lower` below (numbers, or arrays in the shape of the table; one array a
    table where several are linked). Dominance, p percent, pq and request also say themselves how
    far a cell must be protected (see `rule_protection`).

    Args:
        table: the table, or several linked ones.
        min_frequency: cells with fewer contributors are sensitive; the other rules are those of
            `sensitive_cells`.
        width: the least width of a sensitive cell's interval; if it is not given, one unit for
            the cells of which nothing else is asked.
        zeros_primary: whether empty cells are below the minimum frequency.
        share: how far each sensitive cell must be uncertain above and below, in percent of it:
            for amounts that a minimum frequency makes sensitive, of which it asks nothing else.
        zeros: "known" if readers know which cells are empty: then none is suppressed to protect
            others, and no suppressed cell is taken for one (the default unless `zeros_primary`).
            "secret" if a suppressed cell may be empty for all they know, as in the paper.
        method: "optimal" proves its answer, "fast" is for large tables.
        primary: cells that are sensitive by hand.
        never_primary: cells that are not, whatever the rules say.
        dominance: see `sensitive_cells`.
        p_percent: see `sensitive_cells`.
        pq: see `sensitive_cells`.
        request: see `sensitive_cells`.
        singletons: see `sensitive_cells`.
        upper: how far above its value the interval must reach.
        lower: how far below.
        cost: what a suppressed cell costs: "number", "value", or whole numbers in the shape of
            the table.
        publish: cells that must be published.
        margins: whether totals may be suppressed for the sake of others. A sensitive total always
            is.
        seconds: the effort, in nominal seconds (counted steps, so that the pattern does not depend
            on the machine); where it is spent before the pattern is proven cheapest, there is a
            gap.
        rule_protection: whether a cell must be as uncertain as makes the rule content: by
            `100/k` times the n largest less the cell for dominance (and request), by p percent
            (or p/q) of the largest less what neither of the two largest gave.
        resist_matching: draw the pattern at random, so that knowing how it was chosen does not
            narrow a sensitive cell below `width` (frequency tables of at most 64 cells).
        seed: the secret of the draw; one is made up if none is given.
        sealed: a file that keeps the draw, so that the same table is released alike ever after.

    Raises:
        InvalidInput: if a demand cannot be met, with the cells that it concerns.

    >>> table = Table.from_cells([[7, 11, 60], [10, 60, 11], [60, 12, 60]])
    >>> found = suppress(table, min_frequency=10, width=10)
    >>> found
    Suppression(1 primary and 3 secondary cells; proven cheapest)
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
    refuse_nothing_to_do(rules, primary)
    _check_choices(
        width, margins, seconds, resist_matching=resist_matching, seed=seed, sealed=sealed
    )
    _check_zeros(zeros, zeros_primary, share)
    zeros = zeros or ("secret" if zeros_primary else "known")
    given_table, table = table, table.read_with(zeros)
    structure = table.structure
    sensitive = find_sensitive_cells(table, rules) | structure.to_mask(primary)
    sensitive &= ~structure.to_mask(never_primary)
    _refuse_known_zeros(table, sensitive)
    levels = compute_rule_levels(table, rules if rule_protection else SensitivityRules(), share)
    levels = np.maximum(levels[0], 0), np.maximum(levels[1], 0)
    problem = build_suppression_problem(
        table,
        sensitive,
        width,
        upper=upper,
        lower=lower,
        cost=cost,
        publish=publish,
        margins=margins,
        least=levels,
    )
    by_hand = primary is not None or never_primary is not None or publish is not None
    if resist_matching:
        parameters = build_resisting_parameters(
            table, rules, problem, changed=by_hand, method=method, cost=cost, margins=margins
        )
        solution, resistance = draw_resisting_solution(table, problem, parameters, seed, sealed)
        suppression = build_suppression(
            table, problem, solution, method=method, resistance=resistance
        )
    else:
        unit = 10**table.decimals if isinstance(cost, str) and cost == "value" else 1
        suppression = protect_table(table, problem, method, seconds, unit)
    by_hand |= bool(problem.upper.any() or problem.lower.any())
    return replace(
        suppression,
        table=given_table,
        published=given_table.publish(suppression.pattern),
        priced_by=cost,
        margins=margins,
        zeros=zeros,
        by_hand=by_hand,
    )


def _check_choices(
    width: float | None,
    margins: str,
    seconds: float,
    *,
    resist_matching: bool,
    seed: int | None,
    sealed: Path | str | None,
) -> None:
    problems = Problems("suppress")
    if margins not in MARGINS:
        problems.add("margins", f'"{margins}" is none.', str(margins), MARGINS)
    if width is not None and not 0 <= width < np.inf:
        problems.add("width", f"{width:g} is no number from 0.")
    if not seconds > 0:
        problems.add("seconds", f"{seconds:g} is no effort: give a number above 0.")
    for name, argument in (("seed", seed), ("sealed", sealed)):
        if argument is not None and not resist_matching:
            problems.add(name, "is of a draw: say resist_matching too.")
    problems.raise_any()


def _check_zeros(zeros: str | None, zeros_primary: bool, share: float | None) -> None:
    problems = Problems("suppress")
    if zeros is not None and zeros not in ZEROS:
        problems.add("zeros", f'"{zeros}" is none.', str(zeros), ZEROS)
    if zeros == "known" and zeros_primary:
        problems.add("zeros", "an empty cell that is sensitive is secret: leave one of them out.")
    if share is not None and not 0 < share < np.inf:
        problems.add("share", "give a percentage above 0.")
    problems.raise_any()


def _refuse_known_zeros(table: Table, sensitive: Bools) -> None:
    """A mark hides nothing of a cell of which everybody knows that it is empty."""
    problems = Problems("suppress")
    if table.zeros == "known":
        for cell in np.flatnonzero(sensitive & table.empty)[:10]:
            message = 'is empty, and readers know which cells are: say zeros="secret".'
            problems.add(table.structure.locate_cell(int(cell)), message)
    problems.raise_any()
