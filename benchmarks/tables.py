"""How fast tables are audited and suppressed.

Run: python benchmarks/tables.py [--instances 30] [--large] [--survey]

The budgets: an audit of 100 x 100 with 1,000 suppressed cells in 1 s; an optimal pattern of
50 x 50 with 5% primary cells at width 10 in 30 s; a fast pattern of 10,000 cells with three
levels along both dimensions in 60 s. Every job runs in a process of its own; the very first run
on a machine also compiles.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from divulge import Hierarchy
from divulge.datasets import business_survey
from divulge.tables import Axis, SensitivityRules, Table, audit, intervals, suppress, tuning

sys.path.insert(0, str(Path(__file__).parent.parent))  # started as a script, from anywhere
from measure import cost


def crosstab(side: int, density: float, seed: int) -> Table:
    """Cells of 10 to 99, of which a share is made 1 to 9."""
    random = np.random.default_rng(seed)
    cells = random.integers(10, 100, (side, side))
    primary = random.choice(side * side, max(1, round(side * side * density)), replace=False)
    cells.flat[primary] = random.integers(1, 10, len(primary))
    return Table.from_cells(cells)


def make_hierarchical_table(groups: int, seed: int) -> Table:
    """Both dimensions: groups of 4 subgroups of 4 values; 5% small cells."""
    values = [f"{g}.{s}.{v}" for g, s, v in product(range(groups), range(4), range(4))]
    levels = [[value, value.rpartition(".")[0], value.partition(".")[0]] for value in values]
    axes = [Axis.hierarchical(name, values, Hierarchy.from_levels(levels)) for name in ("a", "b")]
    random = np.random.default_rng(seed)
    cells = random.integers(10, 100, (len(values), len(values)))
    small = random.random(cells.shape) < 0.05
    cells[small] = random.integers(1, 10, int(small.sum()))
    return Table.from_cells(cells, axes=axes)


def audit_table() -> str:
    random = np.random.default_rng(1)
    table = Table.from_cells(random.integers(0, 50, (100, 100)))
    hidden = np.zeros(table.shape, dtype=bool)
    hidden.flat[random.choice(hidden.size - 1, 1000, replace=False)] = True
    bounds = intervals(table.publish(hidden))
    return f"{len(bounds)} intervals, {len(bounds.disclosed)} disclosed"


def suppress_optimally(side: int, density: float, width: int, seed: int, seconds: float) -> str:
    result = suppress(crosstab(side, density, seed), 10, width, seconds=seconds)
    ties = "first of ties" if result.first else "ties open"
    return f"cost {result.cost:4.0f} bound {result.bound:4.0f} gap {result.gap:5.1%} {ties}"


def suppress_fast(groups: int) -> str:
    table = make_hierarchical_table(groups, 3)
    result = suppress(table, 10, 10, method="fast", margins="suppressible")
    primary = int(table.structure.to_mask(result.primary).sum())
    return (
        f"{table.structure.size:,} cells, {primary} primary, {result.cost:.0f} suppressed, audited"
    )


def audit_survey(detail: str) -> str:
    """Suppress a survey of businesses by p percent, and audit it by certificates and intervals."""
    table = Table.from_records(
        business_survey(detail=detail),
        by=["activity", "region", "size"],
        value="turnover",
        contributor="holding",
    )
    result = suppress(table, p_percent=10, method="fast", margins="suppressible")
    rules = SensitivityRules(p_percent=10)
    seconds = []
    for most_exact in (tuning.MOST_EXACT_CELLS, table.structure.size):
        tuning.MOST_EXACT_CELLS = most_exact
        start = time.process_time()
        found = audit(result.published, table, rules=rules)
        seconds.append(f"{time.process_time() - start:.2f} CPU-s ({len(found.undecided)} open)")
        assert not found.unprotected
    suppressed = int(result.published.suppressed.sum())
    return (
        f"{table.structure.size:,} cells, {suppressed:,} suppressed, audited in {seconds[0]} "
        f"by certificates, in {seconds[1]} by intervals"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--instances", type=int, default=30)
    arguments.add_argument("--seconds", type=float, default=30)
    arguments.add_argument("--large", action="store_true", help="also about 100,000 cells")
    arguments.add_argument("--survey", action="store_true", help="only three dimensions")
    chosen = arguments.parse_args()
    if chosen.survey:
        print(cost(audit_survey, "small").answer)
        return
    jobs: list[tuple[str, Callable[..., str], tuple[Any, ...]]] = [
        ("audit 100x100, 1,000 hidden", audit_table, ()),
        ("optimal 50x50, 5%, width 10", suppress_optimally, (50, 0.05, 10, 5, 30.0)),
        ("fast, three levels", suppress_fast, (5,)),
    ]
    if chosen.large:
        jobs.append(("fast, three levels, large", suppress_fast, (15,)))
    for name, job, job_arguments in jobs:
        spent = cost(job, *job_arguments)
        print(f"{name:<30}{spent}  {spent.answer}", flush=True)
    kinds = list(product((10, 20, 30), (0.02, 0.05, 0.1), (5, 10, 20)))
    for number in range(chosen.instances):
        side, density, width = kinds[number % len(kinds)]
        spent = cost(suppress_optimally, side, density, width, 100 + number, chosen.seconds)
        label = f"{side}x{side}, {density:.0%}, width {width}"
        print(f"{label:<30}{spent}  {spent.answer}", flush=True)


if __name__ == "__main__":
    main()
