"""`divulge sweep` and `divulge attack` say what the library says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import divulge as dv
from divulge.cli.main import app


@pytest.fixture
def pupils(tmp_path: Path) -> Path:
    path = tmp_path / "pupils.csv"
    dv.datasets.school_year_example().write(path)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_sweep_prints_every_set_as_json(pupils: Path) -> None:
    told = run("sweep", pupils, "--knows", "gender", "--knows", "grade", "--seeks", "disability",
               "--json")  # fmt: skip
    assert told.exit_code == 0, told.output
    sets = json.loads(told.stdout)["sets"]
    assert [row["knows"] for row in sets] == [["gender"], ["grade"], ["gender", "grade"]]
    assert (sets[-1]["singletons"], sets[-1]["disability.pure"]) == (1, 6)


def test_sweep_writes_its_table_and_chart(pupils: Path, tmp_path: Path) -> None:
    told = run("sweep", pupils, "--knows", "gender", "--knows", "grade",
               "--out", tmp_path / "sets.csv", "--chart", tmp_path / "sets.svg",
               "--resume", tmp_path / "kept")  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "most dangerous set" in told.stdout
    table = dv.read(tmp_path / "sets.csv").to_arrow()
    assert table["knows"].to_pylist()[-1] == "gender + grade"
    assert (tmp_path / "sets.svg").read_text().startswith("<svg")
    assert not (tmp_path / "kept").exists()


def test_attack_of_one_person_and_by_group(pupils: Path) -> None:
    one = run("attack", pupils, "--model", "IAS", "--knows", "age", "--seeks", "disability",
              "--target", "age=60", "--json")  # fmt: skip
    assert json.loads(one.stdout)["deterministic"]["posterior"] == 1
    by = run("attack", pupils, "--knows", "gender", "--knows", "grade", "--by", "gender", "--json")
    groups = json.loads(by.stdout)["groups"]
    assert {group["value"]: group["deterministic"]["count"]["posterior"] for group in groups} == {
        "F": 1, "M": 0}  # fmt: skip


def test_attack_over_two_years(pupils: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.csv"
    dv.datasets.school_year_example(2).write(second)
    told = run("attack", pupils, second, "--model", "CAL", "--on", "id", "--knows", "gender",
               "--knows", "grade", "--seeks", "disability")  # fmt: skip
    assert "8 of 10" in told.stdout
