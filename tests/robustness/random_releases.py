"""Made-up releases with everything that a file may hold and a reader may see: from a seed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

KEYS = ("town", "age", "old", "wage")
FORMATS = (".csv", ".parquet", ".sav", ".dta")
TOWNS = ("Roma", "Roma ", "Bari", "=HYPERLINK(1)", "'=HYPERLINK(1)", "Łódź", "a,b", 'say "x"')
SPELLINGS: dict[str, dict[Any, tuple[str, ...]]] = {  # one value, written in several ways
    "age": {20: ("20", "20.0", "20.00"), 30: ("30", "30.0"), 45: ("45",)},
    "old": {True: ("true", "TRUE", "True"), False: ("false", "FALSE")},
    "wage": {1.5: ("1.5", "1.50"), 2.25: ("2.25",)},
}


def write_source(path: Path, random: Random) -> None:
    """Write 8 to 14 records in the format of the name, with missing values of every kind."""
    rows = [_row(random) for _ in range(random.randint(8, 14))]
    if path.suffix == ".csv":
        _write_text(path, rows, random)
    elif path.suffix == ".parquet":
        _write_parquet(path, rows)
    else:
        _write_statistical(path, rows, random)


def _row(random: Random) -> dict[str, Any]:
    def perhaps(value: Any) -> Any:
        return None if random.random() < 0.1 else value

    return {
        "town": perhaps(random.choice(TOWNS[: random.choice((2, 3, 8))])),
        "age": perhaps(random.choice((20, 30, 45))),
        "old": perhaps(random.choice((True, False))),
        "wage": perhaps(random.choice((1.5, 2.25))),
        "job": perhaps(random.choice(("cook", "clerk", "judge"))),
    }


def _write_text(path: Path, rows: list[dict[str, Any]], random: Random) -> None:
    def written(name: str, value: Any) -> str:
        if value is None:  # missing, or an empty text: most readers see no difference
            return random.choice(("", '""')) if name in ("town", "job") else ""
        if name in SPELLINGS:
            return str(random.choice(SPELLINGS[name][value]))
        return '"' + str(value).replace('"', '""') + '"'

    lines = [",".join((*KEYS, "job"))]
    lines += [",".join(written(name, row[name]) for name in (*KEYS, "job")) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)


def _write_statistical(path: Path, rows: list[dict[str, Any]], random: Random) -> None:
    """By pyreadstat itself; in Stata some missing ages say why they are missing."""
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(rows)
    frame["old"] = frame["old"].map({True: 1.0, False: 0.0})
    for name in ("town", "job"):
        frame[name] = frame[name].fillna("").str.strip()
    if path.suffix == ".sav":
        frame["age"] = frame["age"].astype(float)
        pyreadstat.write_sav(frame, str(path), missing_ranges={"age": [45.0]})
        return
    tagged = [
        random.choice(("a", "b")) if pd.isna(age) and random.random() < 0.6 else age
        for age in frame["age"]
    ]
    frame["age"] = pd.Series(tagged, dtype=object)
    pyreadstat.write_dta(frame, str(path), missing_user_values={"age": ["a", "b"]})


RELEASE = """
[[dataset]]
name = "people"
source = "{source}"
roles = {{ quasi_identifier = ["town", "age", "old", "wage"], sensitive = ["job"] }}

[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = {k}
nulls = "{nulls}"

[protection]
methods = ["suppress"]
out_of_reach = "remove"
"""


def write_release(folder: Path, seed: int) -> tuple[Path, str, int]:
    """Write a release and its data; gives its file, how it reads a null, and its k."""
    random = Random(seed)  # noqa: S311  # made-up data, not secrets
    source = folder / f"people{FORMATS[seed % len(FORMATS)]}"
    write_source(source, random)
    nulls, k = random.choice(("maybe", "value")), random.choice((2, 3))
    path = folder / "release.toml"
    path.write_text(RELEASE.format(source=source.name, k=k, nulls=nulls))
    return path, nulls, k
