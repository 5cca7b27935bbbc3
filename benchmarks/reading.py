"""What reading costs: a school census of 48 million pupils, beside DuckDB's and Arrow's reading.

Arrow's own reading holds the decoded table; DuckDB's reads every value and keeps none (a sum of
hashes), so it is the floor of what reading can cost. Run with a number of pupils to try it small:
python benchmarks/reading.py 1000000
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import cost

import divulge as dv

PUPILS = 48_000_000
SOME = ["gender", "city_of_residency", "school_code"]


def make_census(folder: Path, pupils: int) -> None:
    """Make the census and write it as Parquet."""
    census = dv.datasets.school_census(pupils)
    census.write(folder / "census.parquet")


def make_text(folder: Path) -> None:
    """The same as CSV."""
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    with (
        pq.ParquetFile(folder / "census.parquet") as file,
        pa_csv.CSVWriter(folder / "census.csv", file.schema_arrow) as text,
    ):
        for batch in file.iter_batches():
            text.write_batch(batch)


def read_with_divulge(path: Path, columns: list[str] | None = None) -> int:
    return dv.read(path, columns=columns).rows


def fingerprint_with_divulge(path: Path) -> str:
    return dv.read(path).fingerprint


def read_with_arrow(path: Path) -> int:
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    table = pa_csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)
    return int(table.num_rows)


def read_with_duckdb(path: Path) -> int:
    import duckdb as engine

    with engine.connect() as connection:
        connection.execute("SET threads = 2")
        relation = connection.sql(f"SELECT * FROM '{path}'")
        sums = ", ".join(f'sum(hash("{name}"))' for name in relation.columns)
        rows = connection.sql(f"SELECT count(*), {sums} FROM '{path}'").fetchall()
        return int(rows[0][0])


def main() -> None:
    pupils = int(sys.argv[1]) if len(sys.argv) > 1 else PUPILS
    with tempfile.TemporaryDirectory(prefix="divulge-reading-") as name:
        folder = Path(name)
        print(f"making and writing {pupils:,} pupils        {cost(make_census, folder, pupils)}")
        parquet = folder / "census.parquet"
        size = parquet.stat().st_size / 2**30
        print(f"Parquet, {size:.2f} GiB")
        print(f"  divulge, all 13 attributes           {cost(read_with_divulge, parquet)}")
        print(f"  divulge, 3 attributes                {cost(read_with_divulge, parquet, SOME)}")
        print(f"  Arrow, whole table                   {cost(read_with_arrow, parquet)}")
        print(f"  DuckDB, every value looked at        {cost(read_with_duckdb, parquet)}")
        make_text(folder)
        text = folder / "census.csv"
        print(f"CSV, {text.stat().st_size / 2**30:.2f} GiB")
        read = cost(fingerprint_with_divulge, text)
        print(f"  divulge, all 13 attributes           {read}")
        print(f"  Arrow, whole table                   {cost(read_with_arrow, text)}")
        print(f"  DuckDB, every value looked at        {cost(read_with_duckdb, text)}")
        same = cost(fingerprint_with_divulge, parquet).answer == read.answer
        print(f"the same dataset from both: {same}")


if __name__ == "__main__":
    main()
