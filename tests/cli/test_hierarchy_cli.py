"""`divulge hierarchy` shows, proposes and writes what the library does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from divulge import Hierarchy
from divulge.cli.main import app


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,town\n20,Roma\n21,Milano\n35,Torino\n67,Torino\n")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["hierarchy", *(str(argument) for argument in arguments)])


def test_a_proposal_is_shown_with_its_reason_its_setting_and_its_tree(people: Path) -> None:
    told = run(people, "age")
    assert told.exit_code == 0, told.output
    assert "because its values are numbers: intervals of 5, 10, 20, 40" in told.stdout
    assert "In a release file: { intervals = [[25, 30," in told.stdout
    assert "  < 40 (3 values, 3 records)" in told.stdout
    content = json.loads(run(people, "age", "--method", "quantiles", "--json").stdout)
    assert content["method"] == "quantiles"
    assert Hierarchy.from_settings(content["settings"]).height == content["levels"]


def test_a_hierarchy_that_is_written_can_be_edited_and_shown_again(
    people: Path, tmp_path: Path
) -> None:
    path = tmp_path / "town.csv"
    told = run(people, "town", "--out", path)
    assert told.exit_code == 0, told.output
    path.write_text("Roma;Center;*\nMilano;North;*\nTorino;North;*\n")
    assert "North (2 values, 3 records)" in run(people, "town", "--levels", path).stdout
    again = tmp_path / "town.hrc"
    said = run(people, "town", "--levels", path, "--out", again).stdout
    assert again.read_text() == "Center\n@Roma\nNorth\n@Milano\n@Torino\n"
    # What stands above all codes is not in such a file, and comes back if it is named.
    assert '--total "*" --out FILE.csv' in said
    whole = tmp_path / "whole.csv"
    run(people, "town", "--levels", again, "--total", "*", "--out", whole)
    assert whole.read_text() == path.read_text()
    refused = run(people, "town", "--levels", path, "--total", "*")
    assert "--total: goes with --levels and a file of tau-ARGUS" in str(refused.exception)


def test_a_call_that_cannot_be_is_refused_and_nothing_is_replaced(
    people: Path, tmp_path: Path
) -> None:
    path = tmp_path / "town.csv"
    path.write_text("Roma;Center\n")
    both = run(people, "town", "--levels", path, "--method", "frequency")
    assert "--method: goes with a proposal" in str(both.exception)
    assert "exists" in str(run(people, "town", "--out", path).exception)
    assert path.read_text() == "Roma;Center\n"
    assert 'Did you mean "town"' in str(run(people, "twon").exception)
