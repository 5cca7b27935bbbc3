"""Damaged files and odd command lines are read or refused, whatever they are (see fuzz_targets)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.robustness import fuzz_targets
from tests.robustness.fuzz_targets import TARGETS, input_of, run_case

import divulge as dv

CORPUS = Path(__file__).parent / "corpus"
FOUND = sorted(CORPUS.glob("*.bin"))


@pytest.mark.parametrize("name", TARGETS)
def test_a_damaged_input_is_read_or_refused_and_nothing_else_happens(
    name: str, tmp_path: Path
) -> None:
    target = TARGETS[name]
    for seed in range(target.cases):
        run_case(target, input_of(target, seed), tmp_path / str(seed))


@pytest.mark.parametrize("name", TARGETS)
def test_a_seed_gives_the_same_input_whenever_it_is_drawn(name: str) -> None:
    first = [input_of(TARGETS[name], seed) for seed in range(8)]
    fuzz_targets._written.cache_clear()
    assert [input_of(TARGETS[name], seed) for seed in range(8)] == first


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta", ".duckdb"])
def test_an_input_without_its_clock_is_still_one_that_is_read(ending: str, tmp_path: Path) -> None:
    for number, content in enumerate(fuzz_targets._written(ending)):
        path = tmp_path / f"{number}{ending}"
        path.write_bytes(content)
        assert dv.read(path).rows > 2
        assert b"01 Jan" in content or ending == ".duckdb"


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_an_input_that_once_broke_the_law_keeps_it(path: Path, tmp_path: Path) -> None:
    run_case(TARGETS[path.stem.partition("-")[0]], path.read_bytes(), tmp_path)
