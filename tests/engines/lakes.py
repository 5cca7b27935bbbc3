"""Lakes for tests: small tables with everything that engines tell apart in ways of their own."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import divulge as dv

SPARK = os.environ.get("DIVULGE_SPARK", "")
"""The address of a Spark server, which `make test-spark` starts."""

ENGINES = ["duckdb", "sail", pytest.param(SPARK, marks=pytest.mark.spark, id="spark")]


def list_runs(cases: Iterable[str], on_spark: Iterable[str]) -> list[Any]:
    """Which case is run on which engine: a real Spark takes seconds for each, so it gets few."""
    runs: list[Any] = [(case, engine) for case in cases for engine in ("duckdb", "sail")]
    marks = pytest.mark.spark
    return runs + [pytest.param(case, SPARK, marks=marks, id=f"{case}-spark") for case in on_spark]


ROLES = {
    "identifier": ["id"],
    "quasi_identifier": ["Age", "age", 'Residential "Rev."', "x'; DROP TABLE records; --"],
    "sensitive": ["income", "ill"],
    "group": ["school"],
}


def people() -> pa.Table:
    """Names that differ by case alone or would end a query, and values of every kind."""
    rows = [
        {
            "id": number,
            "Age": None if number % 11 == 0 else 20 + number % 7,
            "age": ["x", "y", "", "é", "o'Neill", None][number % 6],
            'Residential "Rev."': [0.0, -0.0, math.nan, 1.5, 2.0, None][number * number % 6],
            "x'; DROP TABLE records; --": number % 3 == 0,
            "income": ["low", "high", None, "low"][number % 4] if number < 50 else "\\",
            "ill": number % 5 == 0,
            "school": datetime.date(2020, 1, 1 + number % 4) if number % 13 else None,
        }
        for number in range(60)
    ]
    return pa.Table.from_pylist(rows)


def write_lake(folder: Path, table: pa.Table, parts: int = 3) -> Path:
    """The table as a folder of Parquet files."""
    folder.mkdir()
    size = -(-table.num_rows // parts)
    for part in range(-(-table.num_rows // size)):
        pq.write_table(table.slice(part * size, size), folder / f"part-{part}.parquet")
    return folder


def read_both(folder: Path, engine: str, **described: Any) -> tuple[dv.Dataset, dv.Dataset]:
    """The same records in memory and where they are."""
    described = {"roles": ROLES, "name": "people", **described}
    return dv.read(folder, **described), dv.scan(folder, engine=engine, **described)


def without_provenance(result: dict[str, Any]) -> dict[str, Any]:
    """A result without who counted, and without what is told of records in memory alone."""
    datasets = [
        {key: value for key, value in dataset.items() if key != "engine"}
        for dataset in result["datasets"]
    ]
    # What would help is tried on records in memory alone, and who bears the risk is told of them.
    alone: dict[str, Any] = {"next_steps": [], "exposure": {}}
    return {**result, "datasets": datasets, "provenance": [], **alone}
