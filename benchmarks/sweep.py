"""Every set of quasi-identifiers: the cube beside one DuckDB group-by a set, in the same run.

    python benchmarks/sweep.py [rows] [quasi-identifiers] [largest set]

DuckDB is measured on 20 random sets and scaled to all; both count the same things of the same
codes, and the figures of the 20 sets are compared. The same sweep of a relation, with little memory
for DuckDB and for what it hands over, is told beside them. With 48176423 rows (the census of 2018)
the peer is left out, and the census goes through a Parquet file first. Where sets are of a few of
many attributes (1000000 90 3), only what is asked is measured.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import Cost, cost

import divulge as dv
from divulge.engines import DuckSession, identifier

ROWS = 1_000_000
PEER_SETS = 20
TOO_MANY_FOR_THE_PEER = 5_000_000
LIMIT = "256MB"


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    attributes = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    largest = int(sys.argv[3]) if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.parquet"
        cost(make_census, path, rows, attributes)
        if largest is not None:
            print(f"{rows:,} rows, {attributes} quasi-identifiers, sets of at most {largest}")
            print_cost("cube or prefixes, all figures", cost(sweep_only, path, True, largest))
            return
        print(f"{rows:,} rows, {attributes} quasi-identifiers, {2**attributes - 1:,} sets")
        whole = cost(sweep, path, True)
        print(f"  Parquet to table, all      {whole}")
        if rows <= TOO_MANY_FOR_THE_PEER:
            in_memory = cost(sweep_only, path, True)
            print_cost("cube, all figures", in_memory)
            in_portions = cost(sweep_in_portions, path)
            print_cost(f"in portions, {LIMIT}", in_portions)
            assert in_portions.answer["figures"] == in_memory.answer["figures"]
        plain = cost(sweep_only, path, False)
        print_cost("cube, without capacity", plain)
        if rows <= TOO_MANY_FOR_THE_PEER:
            peer = cost(group_by, path, plain.answer["figures"])
            scaled = peer.answer["cpu"] / PEER_SETS * (2**attributes - 1)
            print(f"  DuckDB, a group-by a set   {scaled:8.2f} CPU-s ({PEER_SETS} sets, scaled)")
            print(f"  ratio                      {scaled / plain.answer['cpu']:8.1f}")


def print_cost(what: str, measured: Cost) -> None:
    print(f"  {what:26} {measured.answer['cpu']:8.2f} CPU-s {measured.answer['wall']:8.2f} s "
          f"{measured.peak_bytes / 2**30:6.2f} GiB")  # fmt: skip


def make_census(path: Path, rows: int, attributes: int) -> None:
    """The census; beyond its eleven attributes, some more of few values."""
    import numpy as np
    import pyarrow as pa

    census = dv.datasets.school_census(rows)
    table = census.to_arrow()
    draw = np.random.default_rng(7)
    for extra in range(max(0, attributes - 11)):
        values = draw.choice(3 + 2 * extra, rows, p=None)
        table = table.append_column(f"extra_{extra}", pa.array(values))
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd", row_group_size=1 << 20)


def read(path: Path) -> dv.Dataset:
    return dv.read(path, roles=choose_roles(path))


def choose_roles(path: Path) -> dict[str, list[str]]:
    import pyarrow.parquet as pq

    names = pq.read_schema(path).names
    sensitive = ["disability", "transport"]
    known = [name for name in names if name not in sensitive]
    return {"quasi_identifier": known, "sensitive": sensitive}


def sweep_in_portions(path: Path) -> dict[str, Any]:
    """All figures of all sets, from combinations of values that pass in portions."""
    dv.records.sweep(dv.datasets.school_census(1000))
    return time_sweep(dv.scan(path, choose_roles(path), memory_limit=LIMIT), True)


def sweep(path: Path, capacity: bool) -> dict[str, Any]:
    return time_sweep(read(path), capacity)


def sweep_only(path: Path, capacity: bool, largest: int | None = None) -> dict[str, Any]:
    """After warm-up, from codes in memory to the finished table."""
    dataset = read(path)
    dv.records.sweep(dv.datasets.school_census(1000))
    return time_sweep(dataset, capacity, largest)


def time_sweep(dataset: dv.Dataset, capacity: bool, largest: int | None = None) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    table = dv.records.sweep(dataset, sizes=largest, capacity=capacity)
    took = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    choose = random.Random(1)  # noqa: S311  # which sets are compared is no secret
    places = choose.sample(range(len(table)), PEER_SETS)
    columns = ["knows", "classes", "singletons", "disability.pure", "disability.best",
               "transport.pure", "transport.best"]  # fmt: skip
    return {**took, "figures": table.to_arrow().select(columns).take(places).to_pylist()}


def group_by(path: Path, figures: list[dict[str, Any]]) -> dict[str, Any]:
    """The same integers by SQL over the codes."""
    dataset = read(path)
    with DuckSession(records=dataset.codes()) as duck:
        cpu = time.process_time()
        for row in figures:
            known = row["knows"]
            names = ", ".join(map(identifier, known))
            peer_figures = duck.arrays(
                f"""
                SELECT count(*) AS classes, count(*) FILTER (n = 1) AS singletons,
                       sum(n) FILTER (greatest({sql_columns(2, "d")}) = n) AS "disability.pure",
                       sum(greatest({sql_columns(2, "d")})) AS "disability.best",
                       sum(n) FILTER (greatest({sql_columns(3, "t")}) = n) AS "transport.pure",
                       sum(greatest({sql_columns(3, "t")})) AS "transport.best"
                FROM (SELECT count(*) AS n, {sql_counts(2, "disability", "d")},
                             {sql_counts(3, "transport", "t")} FROM records GROUP BY {names})
                """
            )
            assert all(int(peer_figures[name][0]) == row[name] for name in peer_figures)
        return {"cpu": time.process_time() - cpu}


def sql_columns(values: int, letter: str) -> str:
    return ", ".join(f"{letter}{value}" for value in range(values))


def sql_counts(values: int, secret: str, letter: str) -> str:
    return ", ".join(
        f"count(*) FILTER ({secret} = {value}) AS {letter}{value}" for value in range(values)
    )


if __name__ == "__main__":
    main()
