"""Damaged files and odd command lines are read or refused, whatever they are (see fuzz_targets)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.robustness.fuzz_targets import TARGETS, input_of, run_case

CORPUS = Path(__file__).parent / "corpus"
FOUND = sorted(CORPUS.glob("*.bin"))


@pytest.mark.parametrize("name", TARGETS)
def test_a_damaged_input_is_read_or_refused_and_nothing_else_happens(
    name: str, tmp_path: Path
) -> None:
    target = TARGETS[name]
    for seed in range(target.cases):
        run_case(target, input_of(target, seed), tmp_path / str(seed))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_an_input_that_once_broke_the_law_keeps_it(path: Path, tmp_path: Path) -> None:
    run_case(TARGETS[path.stem.rpartition("-")[0]], path.read_bytes(), tmp_path)
