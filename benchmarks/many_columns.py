"""What many columns cost: drafting a release of 20,000 of them, checking one of 100,000.

Twenty records each, names of a few families, a third of them unheard-of. Run with a number of
columns to try it small: python benchmarks/many_columns.py 2000
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from measure import cost

import divulge as dv
from divulge.release import draft

TO_DRAFT = 20_000
TO_CHECK = 100_000
RECORDS = 20
FAMILIES = ("income", "v", "quxomat", "birth date", "expenditure on", "answer", "region code")


def write_inputs(folder: Path, columns: int) -> None:
    """Write a table of so many columns as Parquet and CSV, and a release of each."""
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    random = np.random.default_rng(1)
    table = pa.table({_name(number): _column(number, random) for number in range(columns)})
    pq.write_table(table, folder / "data.parquet")
    pa_csv.write_csv(table, folder / "data.csv")
    known = json.dumps([_name(number) for number in (0, 1, 4)])
    for ending in ("parquet", "csv"):
        (folder / f"{ending}.toml").write_text(
            f"""
            [[dataset]]
            name = "data"
            source = "data.{ending}"
            roles = {{ quasi_identifier = {known} }}
            [[adversary]]
            name = "neighbour"
            attack = "records"
            model = "CRS"
            knows = {known}
            [[limit]]
            measure = "k_anonymity"
            among = {known}
            at_least = 1
            """
        )


def _name(number: int) -> str:
    family = FAMILIES[number % len(FAMILIES)]
    if number % 3:
        return f"{family} {number}"
    letters = str(number).translate(str.maketrans("0123456789", "bcdfghjklm"))
    return f"{family}_{letters}"


def _column(number: int, random: np.random.Generator) -> pa.Array:
    if number % 4 == 2:
        return pa.array([("a", "b", "c")[place] for place in random.integers(0, 3, RECORDS)])
    if number % 4 == 3:
        return pa.array(random.normal(size=RECORDS).round(2))
    return pa.array(random.integers(0, 5, RECORDS))


def draft_release(path: Path) -> int:
    return len(draft([path], path.parent).text)


def check_release(path: Path) -> bool:
    return dv.Release.load(path).check().passed


def main(columns: int | None) -> None:
    os.environ["DIVULGE_EXPERIENCE"] = os.devnull
    for what, many in (("draft", TO_DRAFT), ("check", TO_CHECK)):
        with tempfile.TemporaryDirectory() as folder:
            write_inputs(Path(folder), columns or many)
            for ending in ("parquet", "csv"):
                if what == "draft":
                    measured_cost = cost(draft_release, Path(folder) / f"data.{ending}")
                else:
                    measured_cost = cost(check_release, Path(folder) / f"{ending}.toml")
                print(f"{what} {columns or many:>8,} columns {ending:8} {measured_cost}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
