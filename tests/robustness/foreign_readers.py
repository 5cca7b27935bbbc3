"""Published files as other people read them, and what plain code makes of them.

Nothing here is shared with the product: Python's csv, pandas, pyreadstat and DuckDB read, and
counting is by hand. A record is a dict of texts; None is a missing value, and a tagged missing
value is a text of its own.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

Record = Mapping[str, str | None]


def by_python(path: Path) -> list[Record]:
    """A text file by Python's csv: an empty field is missing."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{n: v or None for n, v in row.items()} for row in csv.DictReader(file)]


def by_pandas(path: Path) -> list[Record]:
    """A text or Parquet file by pandas, every value as it is written."""
    import pandas as pd

    if path.suffix == ".parquet":
        return [_texts(row) for row in pd.read_parquet(path).to_dict("records")]
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    return [_texts(row) for row in frame.to_dict("records")]


def by_duckdb(path: Path) -> list[Record]:
    """A text or Parquet file by DuckDB."""
    import duckdb

    with duckdb.connect() as session:
        if path.suffix == ".parquet":
            found = session.execute("SELECT * FROM read_parquet(?)", [str(path)])
        else:
            given = "header=true, all_varchar=true, nullstr=''"
            found = session.execute(f"SELECT * FROM read_csv(?, {given})", [str(path)])
        names = [column[0] for column in found.description or ()]
        return [_texts(dict(zip(names, row, strict=True))) for row in found.fetchall()]


def by_pyreadstat(path: Path) -> list[Record]:
    """An SPSS or Stata file by pyreadstat, with tags and user-defined missing values as values."""
    import pyreadstat

    read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    frame, _ = read(str(path), user_missing=True)
    return [_texts(row) for row in frame.to_dict("records")]


READERS: Mapping[str, Sequence[Callable[[Path], list[Record]]]] = {
    ".csv": (by_python, by_pandas, by_duckdb),
    ".parquet": (by_pandas, by_duckdb),
    ".sav": (by_pyreadstat,),
    ".dta": (by_pyreadstat,),
}


def _texts(row: Mapping[Any, Any]) -> Record:
    def text(value: Any) -> str | None:
        missing = value is None or value == "" or (isinstance(value, float) and math.isnan(value))
        return None if missing or str(value) in ("nan", "NaT", "<NA>") else str(value)

    return {str(name): text(value) for name, value in row.items()}


def smallest_company(
    records: Sequence[Record], keys: Sequence[str], nulls: Literal["maybe", "value"]
) -> int:
    """k: the fewest records that look like one of them, itself included."""

    def is_null(record: Record, key: str) -> bool:
        return record[key] in (None, "suppressed", "s")

    def alike(one: Record, other: Record) -> bool:
        return all(
            (one[key], one.get(f"{key}_status")) == (other[key], other.get(f"{key}_status"))
            or (nulls == "maybe" and (is_null(one, key) or is_null(other, key)))
            for key in keys
        )

    return min(sum(alike(one, other) for other in records) for one in records)


def fewest_secrets(records: Sequence[Record], keys: Sequence[str], secret: str) -> int:
    """l: the fewest different secrets among records with the same keys, a null being a value."""
    seen: dict[Any, set[str | None]] = {}
    for record in records:
        # A reader of the file sees which cells were suppressed, and which were never there.
        shown = tuple((record[key], record.get(f"{key}_status")) for key in keys)
        seen.setdefault(shown, set()).add(record[secret])
    return min(map(len, seen.values()))
