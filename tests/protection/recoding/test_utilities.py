"""What is kept as high as can be: in a protection, from a release file, and by functions of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from divulge import Dataset, Hierarchy, Limit, Release, protection
from divulge.protection.recoding import utilities
from divulge.work import InvalidInput

PEOPLE: dict[str, list[Any]] = {
    "town": ["Roma", "Ostia", "Como", "Lodi"] * 6,
    "age": [20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62, 63] * 2,
}
TOWNS = Hierarchy.from_levels(
    [["Roma", "South"], ["Ostia", "South"], ["Como", "North"], ["Lodi", "North"]]
)
AGES = Hierarchy.intervals([20, 40, 60, 80], [20])
LIMIT = Limit("k_anonymity", at_least=3)


def describe_people() -> Dataset:
    import pyarrow as pa

    return Dataset.from_arrow(
        pa.table(PEOPLE),
        roles={"quasi_identifier": ["town", "age"]},
        hierarchies={"town": TOWNS, "age": AGES},
    )


def count_lost_towns(original: Dataset, released: Dataset, kept: np.ndarray) -> float:
    """How many towns are shown less often than they could be."""
    shown = released.to_arrow()["town"].to_pylist()
    return float(original.rows - sum(town in PEOPLE["town"] for town in shown))


def count_lost_ages(original: Dataset, released: Dataset, kept: np.ndarray) -> float:
    return -float(len(set(released.to_arrow()["age"].to_pylist())))


@pytest.mark.parametrize("lost", [count_lost_towns, count_lost_ages])
def test_ways_to_recode_and_suppress_are_compared_by_a_function(lost: Any) -> None:
    people = describe_people()
    ways = [
        protection.protect(people, [LIMIT], suppression_limit=share, utility=utility)
        for utility in ("loss", "granularity", "discernibility", "class_size", lost)
        for share in (0.0, 1.0)
    ]
    figures = [lost(p.original, p.dataset, p.kept) for p in ways]
    assert figures[-1] == min(figures)
    assert all(outcome.held for p in ways for outcome in p.outcomes)
    if ways[-1].levels:
        assert f"the best by {lost.__name__}" in str(ways[-1])


def test_a_function_of_another_package_is_asked_for_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(utilities, "utilities", lambda: {"towns shown": count_lost_towns})
    people = describe_people()
    named = protection.recode(people, [LIMIT], 0.0, utility="towns shown")
    given = protection.recode(people, [LIMIT], 0.0, utility=count_lost_towns)
    assert named.levels == given.levels
    assert named.proof == given.proof
    with pytest.raises(InvalidInput, match='Did you mean "towns shown"'):
        protection.protect(people, [LIMIT], utility="town shown")


def write_release(folder: Path, protect: str) -> Path:
    rows = zip(*PEOPLE.values(), strict=True)
    (folder / "people.csv").write_text("town,age\n" + "".join(f"{t},{a}\n" for t, a in rows))
    file = folder / "release.toml"
    file.write_text(
        f"""
[[dataset]]
name = "people"
source = "people.csv"
roles = {{ quasi_identifier = ["town", "age"] }}
[dataset.hierarchies]
age = {{ intervals = [[20, 40, 60, 80], [20]] }}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 3
[protection]
methods = ["recode", "suppress"]
{protect}
"""
    )
    return file


def test_a_release_file_names_what_is_kept_and_what_is_predicted(tmp_path: Path) -> None:
    release = Release.load(write_release(tmp_path, 'utility = "precision"\ntarget = "town"'))
    result = release.protect(tmp_path / "out")
    assert result.status == "pass"
    told = json.loads((tmp_path / "out" / "internal" / "result.json").read_text())
    assert "town" in json.dumps(told)
    [part] = result.records.values()
    assert part.utility.model_of == "town"


@pytest.mark.parametrize(
    ("protect", "said"),
    [('utility = "los"', 'Did you mean "loss"'), ('target = "twon"', 'Did you mean "town"')],
)
def test_names_that_a_release_file_gets_wrong_are_said(
    tmp_path: Path, protect: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        Release.load(write_release(tmp_path, protect))
