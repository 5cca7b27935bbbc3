"""What the refill attack costs: CPU seconds of finding relations and filling cells.

Run: python benchmarks/refill.py [--rows 100000]

CPU seconds of one thread; the data are made, protected and encoded first and not counted. Twenty
columns: a household number, weights by region and size, incomes, and six quasi-identifiers, of
which suppression (k = 3, `bayes`) hides cells. The plain leave-one-out oracle of the tests runs on
a small size, for the ratio.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from divulge import Dataset, protection
from divulge.protection.refill import kernels
from divulge.protection.refill.cells import ReleaseCells, read_cells
from divulge.protection.refill.search.discovery import complete_columns

sys.path.insert(0, str(Path(__file__).parent.parent))  # started as a script, from anywhere
from tests.protection.refill.plain import count_support_by_loops

KEYS = ["region", "age", "sex", "size", "citizenship", "status"]


def make_people(rows: int, seed: int = 1) -> Dataset:
    """People in households, with twenty columns; children have no status, citizenship, wage."""
    random = np.random.default_rng(seed)
    sizes = random.choice([1, 2, 3, 4, 5, 6], rows, p=[0.35, 0.3, 0.15, 0.13, 0.05, 0.02])
    household = np.repeat(np.arange(rows), sizes)[:rows]
    homes = int(household[-1]) + 1
    size = np.bincount(household)[household]
    region = random.choice(9, homes, p=np.arange(1, 10) / 45)[household]
    age = random.integers(0, 90, rows)
    is_child = age < 16
    status = np.where(age > 64, 5, random.choice(7, rows, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02]))
    citizen = random.choice(3, rows, p=[0.9, 0.07, 0.03])
    wage = random.gamma(2, 9_000, rows).round(2) * (status < 2)
    pension = random.gamma(3, 5_000, rows).round(2) * (age > 64)
    benefits = np.array([random.gamma(2, 900, homes).round(1)[household] for _ in range(5)])
    benefits *= (random.random((5, homes)) < 0.3)[:, household]
    income = np.bincount(household, wage + pension)[household].round(2)
    equivalent = (1 + 0.5 * (size - 1)).round(1)
    return Dataset.from_arrow(
        pa.table(
            {
                "household": household,
                "size": size,
                "region": [f"R{number}" for number in region],
                "age": age // 10 * 10,
                "sex": random.choice(["f", "m"], rows),
                "status": pa.array(status, mask=is_child),
                "citizenship": pa.array(citizen, mask=is_child),
                "wage": pa.array(wage, mask=is_child),
                "pension": pa.array(pension, mask=is_child),
                **{f"benefit {n}": benefit for n, benefit in enumerate(benefits)},
                "household income": income,
                "equivalent size": equivalent,
                "equivalent income": (income / equivalent).round(2),
                "weight": (100 + 3.7 * region + size / 8).round(3),
                "day": random.integers(0, 365, rows),
                "rooms": random.choice(6, homes)[household],
            }
        ),
        roles={"quasi_identifier": KEYS},
    )


def measure_seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    answer = run()
    return time.process_time() - began, answer


def protect_people(rows: int) -> ReleaseCells:
    people = make_people(rows)
    p = protection.suppress(people, 3, "bayes")
    return read_cells(p.dataset, p.original, KEYS)


def compare_with_plain(rows: int) -> float:
    """How many times faster one pass of evidence is than plain loops."""
    cells = protect_people(rows)
    household, region = cells.find_column("household"), cells.find_column("region")
    combination = np.zeros(rows, np.int64)
    grouped = kernels.group_rows(household.codes, household.cardinality, 1)
    arguments = (*grouped, region.codes, combination, 0)
    kernels.count_support(*arguments)
    fast, figures = measure_seconds(lambda: [kernels.count_support(*arguments) for _ in range(100)])
    plain, expected = measure_seconds(
        lambda: count_support_by_loops(household.codes, region.codes, combination, 0)
    )
    assert figures[0].tolist() == expected
    return plain / (fast / 100)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rows", type=int, default=100_000)
    rows = arguments.parse_args().rows
    cells = protect_people(rows)
    complete_columns(protect_people(2_000).columns, KEYS)  # compiled before it is measured
    seconds, completion = measure_seconds(lambda: complete_columns(cells.columns, KEYS))
    hidden = sum(int((cells.find_column(n).codes == kernels.HIDDEN).sum()) for n in cells.targets)
    claimed = right = 0
    for name, column in completion.columns.items():
        assert cells.truth is not None
        claimed += int((column.teller >= 0).sum())
        right += int(((column.teller >= 0) & (column.codes == cells.truth[name])).sum())
    columns = len(cells.columns)
    print(f"{rows:,} x {columns}: {seconds:.2f} CPU s, {len(completion.relations)} relations")
    print(f"hidden {hidden:,}, claimed {claimed:,}, right {right:,}")
    print(f"evidence of one column, 2,000 rows: {compare_with_plain(2_000):,.0f} times plain loops")


if __name__ == "__main__":
    main()
