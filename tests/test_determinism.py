"""`make test` draws the same examples every time, whatever ran before it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import PROFILE, PROJECT

pytestmark = pytest.mark.skipif(PROFILE == "fuzz", reason="the fuzzer draws other examples")

ANYTHING = st.tuples(st.integers(), st.text(), st.floats(), st.binary(), st.sets(st.text()))

DRAWN = """
from tests.test_determinism import drawn_examples
print(drawn_examples())
"""


def drawn_examples() -> list[str]:
    drawn = []

    @given(example=ANYTHING)
    @settings(max_examples=300)
    def property_(example: tuple[object, ...]) -> None:
        # A set of texts is written in another order in every process.
        drawn.append(repr([sorted(part) if isinstance(part, set) else part for part in example]))

    property_()
    return drawn


def test_the_profile_of_the_tests_draws_nothing_at_random_and_keeps_nothing() -> None:
    profile = settings()
    assert profile.derandomize
    assert profile.database is None
    assert profile.deadline is None


def test_examples_do_not_depend_on_what_was_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn_examples()
    path = tmp_path / "constants.py"
    path.write_text(f"SOME = {[*range(1000, 9000, 100), *map(str, range(500, 560))]}\n")
    spec = importlib.util.spec_from_file_location("constants", path)
    assert spec is not None
    assert spec.loader is not None
    monkeypatch.setitem(sys.modules, "constants", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(sys.modules["constants"])
    assert drawn_examples() == before


def test_examples_are_the_same_in_every_process() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", DRAWN],
            cwd=PROJECT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert len(outputs[0]) > 1000
    assert outputs[0] == outputs[1]
