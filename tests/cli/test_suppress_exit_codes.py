"""`divulge tables suppress` ends with what is known of somebody who knows the method: 0, 1 or 3."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from divulge.cli.main import app
from divulge.tables import Table, matching_attack, suppress, tuning, write_crosstab
from divulge.work import Effort

SETTLED = [[7, 11, 60], [10, 60, 11], [60, 12, 60]]
GIVEN_AWAY = [[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]]


def draw_long_table() -> Table:
    """23 rows of 3 small counts: too many cells for the compiled search, and 96,404 candidates."""
    random = Random(3)  # noqa: S311  # made-up data
    return Table.from_cells([[random.randint(1, 9) for _ in range(3)] for _ in range(23)])


def run_suppress(folder: Path, table: Table, *asked: str) -> tuple[int, dict[str, Any], bool]:
    """The exit code, what is told, and whether the table was written."""
    write_crosstab(table.publish(), folder / "table.csv")
    out = folder / "out.csv"
    files = [str(folder / "table.csv"), "--out", str(out)]
    done = CliRunner().invoke(app, ["tables", "suppress", *files, "--json", *asked])
    return done.exit_code, json.loads(done.stdout), out.exists()


def test_a_table_that_withstands_who_knows_the_method_ends_with_0(tmp_path: Path) -> None:
    asked = ("--min-frequency", "10", "--width", "10")
    code, told, is_written = run_suppress(tmp_path, Table.from_cells(SETTLED), *asked)
    assert (code, told["status"], is_written) == (0, "pass", True)
    assert told["assessment"]["claim"] == "exact"


def test_a_table_that_gives_cells_away_to_who_knows_the_method_ends_with_1(tmp_path: Path) -> None:
    asked = ("--min-frequency", "5", "--width", "8", "--zeros", "secret")
    code, told, is_written = run_suppress(tmp_path, Table.from_cells(GIVEN_AWAY), *asked)
    assert (code, told["status"], is_written) == (1, "fail", False)
    (tmp_path / "sums").mkdir()
    secret = (*asked, "--method-secret")
    code, told, is_written = run_suppress(tmp_path / "sums", Table.from_cells(GIVEN_AWAY), *secret)
    assert (code, told["status"], is_written) == (0, "pass", True)


def test_an_attack_that_cannot_be_finished_ends_with_3(tmp_path: Path) -> None:
    before = Effort(1e6)
    asked = ("--min-frequency", "3", "--seconds", "2")
    code, told, is_written = run_suppress(tmp_path, draw_long_table(), *asked)
    assert (code, told["status"], is_written) == (3, "not judged", False)
    assert told["gap"] == 0, "the pattern itself was found and proven"
    assert "did not finish" in told["assessment"]["sentences"][0]
    # Two searches of two seconds, and at most one candidate, twice, beyond the end of the second.
    assert before.used < 2 * 2 + 2 * tuning.CANDIDATE_SECONDS + 1


def test_a_pattern_that_is_not_proven_is_not_chosen_again_for_every_candidate(
    tmp_path: Path,
) -> None:
    before = Effort(1e6)
    asked = ("--min-frequency", "3", "--seconds", "0.01")
    code, told, is_written = run_suppress(tmp_path, draw_long_table(), *asked)
    assert (code, told["status"], is_written) == (3, "not judged", False)
    assert not told["first_of_ties"]
    assert "did not finish" in told["assessment"]["sentences"][0]
    assert before.used < 1


def test_a_candidate_whose_own_pattern_is_not_proven_is_not_ruled_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = suppress(draw_long_table(), 3)
    monkeypatch.setattr(tuning, "CANDIDATE_SECONDS", 1e-6)
    attack = matching_attack(chosen, 3, 1, seconds=0.5)
    assert not attack.complete
    assert set(attack.status.tolist()) == {-1}
    assert attack.outer.widths.tolist() == attack.feasible.widths.tolist()
