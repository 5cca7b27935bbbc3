"""What goes out after protection is written as its source was, and others read it so."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import divulge as dv

ROWS = [
    ("31.12.1997", "F", "0,5", "Köln"),
    ("31.12.1997", "F", "1,5", "Bonn"),
    ("1.2.1960", "M", "2,5", "Köln"),
    ("1.2.1960", "M", "2,5", "Köln"),
    ("2.2.1960", "F", "3,5", "Bonn"),
    ("31.12.1997", "M", "0,5", "Bonn"),
]


def test_protected_records_keep_separator_marks_encoding_and_dates(tmp_path: Path) -> None:
    path, out = tmp_path / "people.csv", tmp_path / "out.csv"
    lines = ["born;sex;rate;town", *(";".join(row) for row in ROWS)]
    path.write_bytes(("\n".join(lines) + "\n").encode("windows-1252"))
    people = dv.read(
        path,
        roles={"quasi_identifier": ["born", "sex"], "sensitive": ["rate"]},
        encoding="windows-1252",
    )
    protected = dv.protection.suppress(people, k=2)
    protected.write(out, unlisted="non_identifying")
    theirs = pd.read_csv(out, sep=";", decimal=",", encoding="windows-1252")
    assert set(theirs["born"].dropna()) <= {row[0] for row in ROWS}
    assert sorted(theirs["rate"]) == [0.5, 0.5, 1.5, 2.5, 2.5, 3.5]
    assert set(theirs["town"]) == {"Köln", "Bonn"}
    assert protected.suppressed_cells > 0
