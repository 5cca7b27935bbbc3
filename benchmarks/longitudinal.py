"""Four census years linked by an id: re-identification and two secrets, each prefix.

    python benchmarks/longitudinal.py [rows]

The census of the paper has 48 million rows a year. One in ten leaves every year, others come, one
in five changes school.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa
from measure import cost

import divulge as dv
from divulge.data import Column

ROWS = 1_000_000
YEARS = 4


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    measured = cost(link_and_assess, rows)
    answer = measured.answer
    print(f"{YEARS} years of {rows:,} rows, re-identification and two secrets")
    print(f"  linked and assessed        {answer['cpu']:8.2f} CPU-s {answer['wall']:8.2f} s "
          f"{measured.peak_bytes / 2**30:6.2f} GiB with the data")  # fmt: skip
    for seeks, shares in answer["certain"].items():
        print(f"  {seeks:26} " + "  ".join(f"{share:.2%}" for share in shares))


def link_and_assess(rows: int) -> dict[str, Any]:
    datasets = list(make_years(rows))
    wall, cpu = time.perf_counter(), time.process_time()
    assessments = dv.records.longitudinal_of_each(
        datasets, "id", ["city", "school", "stage"], [None, "disability", "transport"]
    )
    certain = {
        seeks or "re-identification": [a.deterministic.posterior for a in growth]
        for seeks, growth in assessments.items()
    }
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "certain": certain,
    }


def make_years(rows: int) -> Any:
    draw = np.random.default_rng(5)
    schools = max(1, rows // 270)
    city_of_school = draw.integers(0, 5570, schools).astype(np.uint16)
    ids = np.arange(rows, dtype=np.int64)
    school = draw.integers(0, schools, rows, dtype=np.uint32)
    stage = draw.integers(0, 12, rows, dtype=np.uint8)
    for year in range(YEARS):
        columns = {
            "id": Column(np.arange(rows, dtype=np.uint32), pa.array(ids), False),
            "city": make_column(city_of_school[school], 5570),
            "school": make_column(school.copy(), schools),
            "stage": make_column(stage.copy(), 16),
        }
        if year == 0:
            columns["disability"] = make_column((draw.random(rows) < 0.024).astype(np.uint8), 2)
            columns["transport"] = make_column(
                draw.choice(3, rows, p=[0.17, 0.82, 0.01]).astype(np.uint8), 3
            )
        yield dv.Dataset(columns, name=f"year {year + 1}", subjects="pupils")
        # The oldest tenth leaves, and as many come; the ids stay sorted.
        ids = ids + rows // 10
        is_moving = draw.random(rows) < 0.2
        school[is_moving] = draw.integers(0, schools, int(is_moving.sum()), dtype=np.uint32)
        leavers = rows // 10
        school = np.concatenate(
            [school[leavers:], draw.integers(0, schools, leavers, dtype=np.uint32)]
        )
        stage_after = np.minimum(stage[leavers:] + 1, 15).astype(np.uint8)
        stage = np.concatenate([stage_after, draw.integers(0, 12, leavers, dtype=np.uint8)])


def make_column(codes: Any, values: int) -> Column:
    return Column(codes, pa.array(range(values)), False)


if __name__ == "__main__":
    main()
