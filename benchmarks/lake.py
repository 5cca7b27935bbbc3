"""What counting costs where records are: a school census of 48 million pupils in Parquet files.

DuckDB counts one attack from the files, within a limit of memory, beside a GROUP BY that is written
by hand for the same numbers; a whole release is checked, twenty sets are swept, and the memory that
the process ever held is shown. With a number of pupils it is tried small; with `--all` the records
are also read, and all 2,047 sets of 11 attributes are counted, beside the reading alone:

    python benchmarks/lake.py 1000000 --all
"""

from __future__ import annotations

import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from measure import cost

import divulge as dv

PUPILS = 48_000_000
PUPILS_PER_FILE = 2_000_000
LIMIT = "1GB"
KNOWN = ["day_of_birth", "month_of_birth", "gender", "city_of_residency"]
SOUGHT = "disability"
LISTED_SETS = 20

RELEASE = """
[[dataset]]
name = "census"
source = "*.parquet"
engine = "duckdb"
memory_limit = "{limit}"
subjects = "pupils"
roles = {{ quasi_identifier = {known}, sensitive = "{secret}" }}
unlisted = "drop"

[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"

[[adversary]]
name = "teacher"
attack = "records"
model = "CAS"
seeks = "{secret}"

[[limit]]
adversary = "neighbour"
measure = "deterministic.posterior"
at_most = 0.5
"""


def make_lake(folder: Path, pupils: int) -> None:
    """Write the census in files, each of schools of its own draw."""
    for number, start in enumerate(range(0, pupils, PUPILS_PER_FILE)):
        census = dv.datasets.school_census(min(PUPILS_PER_FILE, pupils - start), seed=number)
        census.write(folder / f"part-{number:03}.parquet")
    known = str(KNOWN).replace("'", '"')
    text = RELEASE.format(limit=LIMIT, known=known, secret=SOUGHT)
    (folder / "release.toml").write_text(text, encoding="utf-8")


def scan(folder: Path) -> dv.Dataset:
    return dv.scan(folder / "*.parquet", engine="duckdb", memory_limit=LIMIT)


def attack(folder: Path) -> int:
    return int(dv.records.attack(scan(folder), "CRS", KNOWN).certain.posterior)


def attack_secret(folder: Path) -> int:
    return int(dv.records.attack(scan(folder), "CAS", KNOWN, SOUGHT).certain.posterior)


def group_by_hand(folder: Path) -> int:
    return _ask_by_hand(
        f"SELECT count(*) FILTER (n = 1) FROM (SELECT count(*) AS n "
        f"FROM read_parquet('{folder}/*.parquet') GROUP BY {', '.join(KNOWN)})"
    )


def group_secret_by_hand(folder: Path) -> int:
    known = ", ".join(KNOWN)
    return _ask_by_hand(
        f"SELECT coalesce(sum(n) FILTER (kinds = 1), 0) FROM "
        f"(SELECT sum(n) AS n, count(*) AS kinds, max(n) FROM "
        f"(SELECT {known}, {SOUGHT}, count(*) AS n FROM read_parquet('{folder}/*.parquet') "
        f"GROUP BY {known}, {SOUGHT}) GROUP BY {known})"
    )


def _ask_by_hand(sql: str) -> int:
    import duckdb

    spill = tempfile.gettempdir()
    settings: dict[str, Any] = {"memory_limit": LIMIT, "temp_directory": f"{spill}/divulge-by-hand"}
    with duckdb.connect(config=settings) as connection:
        connection.execute("SET preserve_insertion_order = false")
        [row] = connection.execute(sql).fetchall()
    return int(row[0])


def check(folder: Path) -> str:
    return dv.Release.load(folder / "release.toml").check().status


def sweep_listed(folder: Path) -> int:
    from itertools import combinations

    names = scan(folder).names[:11]
    sets = list(islice(combinations(names, 4), 0, 330, 330 // LISTED_SETS))[:LISTED_SETS]
    return len(dv.records.sweep(scan(folder), sets=sets, seeks=[], engine="duckdb"))


def read_all(folder: Path) -> int:
    return dv.read(folder).rows


def sweep_all(folder: Path) -> int:
    census = dv.read(folder)
    return len(dv.records.sweep(census, census.names[:11], census.names[11:]))


def main() -> None:
    numbers = [text for text in sys.argv[1:] if text.isdigit()]
    pupils = int(numbers[0]) if numbers else PUPILS
    with tempfile.TemporaryDirectory(prefix="divulge-lake-") as name:
        folder = Path(name)
        print(f"writing {pupils:,} pupils             {cost(make_lake, folder, pupils)}")
        for what, ours, by_hand in (
            ("whose record each is", attack, group_by_hand),
            ("a secret of everybody", attack_secret, group_secret_by_hand),
        ):
            mine, theirs = cost(ours, folder), cost(by_hand, folder)
            assert mine.answer == theirs.answer, (mine.answer, theirs.answer)
            print(f"{what}: divulge by DuckDB, {LIMIT}     {mine}")
            print(f"{what}: GROUP BY by hand           {theirs}")
            print(f"{what}: {mine.cpu_seconds / theirs.cpu_seconds:.2f} times")
        checked = cost(check, folder)
        print(f"a release is checked ({checked.answer})           {checked}")
        print(f"{LISTED_SETS} sets of 4 attributes                {cost(sweep_listed, folder)}")
        if "--all" in sys.argv:
            read, swept = cost(read_all, folder), cost(sweep_all, folder)
            print(f"reading into memory                  {read}")
            print(f"{swept.answer:,} sets, reading included       {swept}")
            print(f"{swept.cpu_seconds / read.cpu_seconds:.1f} times reading")


if __name__ == "__main__":
    main()
