"""An attacker who has the folder `release/` and nothing else tries to recover suppressed cells.

Every number in everything that lies beside the data is held to be a sum, a mean, a minimum or a
maximum of the original; every text in the folder is looked through for the hidden values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.robustness.foreign_readers import READERS, Record

from divulge import Release

RELEASE = """
[[dataset]]
name = "people"
source = "people{ending}"
roles = {{ quasi_identifier = ["town", "age"], sensitive = ["job"] }}

[dataset.labels]
age = {{ 987 = "the oldest of all" }}

[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
knows = ["town", "age"]

[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 2
nulls = "bayes"

[protection]
methods = ["suppress"]
"""
ROWS = [("Roma", 20)] * 4 + [("Bari", 30)] * 4 + [("Bari", 987)]


def protected(folder: Path, ending: str) -> tuple[Path, dict[tuple[int, str], str]]:
    """A protected release, and its hidden cells with what they were."""
    import pyarrow as pa

    import divulge as dv

    table: dict[str, list[Any]] = {
        "town": [t for t, _ in ROWS],
        "age": [a for _, a in ROWS],
        "job": ["cook"] * len(ROWS),
    }
    dv.Dataset.from_arrow(pa.table(table)).write(folder / f"people{ending}")
    (folder / "release.toml").write_text(RELEASE.format(ending=ending))
    p = Release.load(folder / "release.toml").protect(out=folder / "out")
    hidden = {
        (d.record, d.attribute): str(table[d.attribute][d.record])
        for d in p.decisions
        if d.record is not None and d.attribute is not None
    }
    assert hidden, "nothing was suppressed: there would be nothing to attack"
    return folder / "out", hidden


def recovered(
    data: Path, beside: Sequence[Path], hidden: Mapping[tuple[int, str], str]
) -> list[tuple[int, str]]:
    """The hidden cells that follow from the published data and the numbers beside them."""
    records = READERS[data.suffix][0](data)
    return [
        (record, name)
        for (record, name), true in hidden.items()
        if any(abs(float(true) - guess) < 1e-6 for guess in _guesses(records, name, beside))
    ]


def _guesses(records: Sequence[Record], name: str, beside: Sequence[Path]) -> Iterator[float]:
    """What a hidden number would be, if a number beside the data were a sum, mean or extreme.

    Where two are hidden, the other one is held to be a value that is shown elsewhere.
    """
    shown = [value for record in records if (value := record[name]) is not None]
    hidden = len(records) - len(shown)
    if hidden > 2 or not all(_is_number(value) for value in shown):
        return
    others = {0.0} if hidden == 1 else {float(value) for value in shown}
    known, n = sum(map(float, shown)), len(records)
    for path in beside:
        for text in re.findall(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", path.read_bytes()):
            figure = float(text)
            yield figure
            for other in others:
                yield from (figure - known - other, figure * n - known - other)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".sav", ".dta"])
def test_what_goes_out_does_not_undo_the_protection(tmp_path: Path, ending: str) -> None:
    out, hidden = protected(tmp_path, ending)
    files = sorted((out / "release").iterdir())
    assert [file.name for file in files] == ["methods-note.txt", f"people{ending}"]
    [note, data] = files
    numbers = {place: value for place, value in hidden.items() if _is_number(value)}
    assert numbers
    assert recovered(data, [note], numbers) == []
    for file in files:
        assert b"987" not in file.read_bytes()
        assert b"oldest of all" not in file.read_bytes()


def test_the_attacker_succeeds_with_what_stays_at_home(tmp_path: Path) -> None:
    """So that the test above could fail: with result.json the hidden age is computed."""
    out, hidden = protected(tmp_path, ".csv")
    numbers = {place: value for place, value in hidden.items() if _is_number(value)}
    inside = sorted(path for path in (out / "internal").iterdir() if path.suffix != ".html")
    [oldest] = [place for place, value in numbers.items() if value == "987"]
    assert oldest in recovered(out / "release" / "people.csv", inside, numbers)


def test_the_note_on_methods_tells_no_number_and_no_value(tmp_path: Path) -> None:
    out, _ = protected(tmp_path, ".csv")
    note = (out / "release" / "methods-note.txt").read_text()
    assert not re.search(r"\d", note)
    for value in ("Roma", "Bari", "cook"):
        assert value not in note


def test_only_its_owner_may_read_what_stays(tmp_path: Path) -> None:
    out, _ = protected(tmp_path, ".csv")
    assert (out / "internal").stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in (out / "internal").iterdir())
