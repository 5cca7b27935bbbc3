"""What was written is read again by foreign readers and judged by plain code: the same verdict."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.robustness.foreign_readers import READERS, fewest_secrets, smallest_company
from tests.robustness.random_releases import KEYS, write_release

from divulge import Release
from divulge.protection import OutOfReachError

SEEDS = range(int(os.environ.get("DIVULGE_THOROUGH", "1")) * 40)


@pytest.mark.parametrize("seed", SEEDS)
def test_foreign_readers_find_what_was_judged_in_what_goes_out(tmp_path: Path, seed: int) -> None:
    path, nulls, k = write_release(tmp_path, seed)
    try:
        protected = Release.load(path).protect(out=tmp_path / "out")
    except OutOfReachError:
        assert not (tmp_path / "out").exists()
        return
    told: Any = json.loads((tmp_path / "out" / "internal" / "result.json").read_text())
    [limit] = told["limits"]
    assert (told["status"], limit["passed"]) == ("pass", True)
    [file] = [f for f in (tmp_path / "out" / "release").iterdir() if f.name != "methods-note.txt"]
    for read in READERS[file.suffix]:
        records = read(file)
        assert len(records) == protected.datasets["people"].rows, read.__name__
        found = smallest_company(records, KEYS, nulls)  # type: ignore[arg-type]
        assert found == limit["value"], f"{read.__name__}: {found}"
        assert found >= k


@pytest.mark.parametrize("seed", SEEDS)
def test_foreign_readers_find_what_was_judged_in_the_source(tmp_path: Path, seed: int) -> None:
    path, nulls, _ = write_release(tmp_path, seed)
    [source] = tmp_path.glob("people.*")
    if source.suffix == ".csv":
        return  # the source may spell a value in several ways; what we write does not
    path.write_text(path.read_text().replace("nulls =", 'among = ["age"]\nnulls ='))
    [outcome] = Release.load(path).check().outcomes
    for read in READERS[source.suffix]:
        found = smallest_company(read(source), ["age"], nulls)  # type: ignore[arg-type]
        assert found == outcome.value, read.__name__


@pytest.mark.parametrize("seed", range(12))
def test_secrets_are_as_different_in_the_file_as_they_were_judged(
    tmp_path: Path, seed: int
) -> None:
    path, _, _ = write_release(tmp_path, seed)
    text = path.read_text().replace('measure = "k_anonymity"', 'measure = "distinct_l_diversity"')
    path.write_text(text.replace("[protection]", 'attribute = "job"\n[protection]'))
    path.write_text(path.read_text().replace('nulls = "maybe"', 'nulls = "value"'))
    try:
        Release.load(path).protect(out=tmp_path / "out")
    except OutOfReachError:
        return
    told: Any = json.loads((tmp_path / "out" / "internal" / "result.json").read_text())
    [file] = [f for f in (tmp_path / "out" / "release").iterdir() if f.name != "methods-note.txt"]
    for read in READERS[file.suffix]:
        assert fewest_secrets(read(file), KEYS, "job") == told["limits"][0]["value"], read.__name__
