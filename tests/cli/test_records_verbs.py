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
    told = run("attack", pupils, "--knows", "gender", "--knows", "grade", "--by", "gender")
    assert "singles out 1 of 10" in told.stdout
    assert "gender" in told.stdout.splitlines()[-3]
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


KNOWN = ("--knows", "gender", "--knows", "grade")


def test_attack_on_a_protected_version_by_an_id(pupils: Path, tmp_path: Path) -> None:
    """Without the first pupil, a girl with A: the other girl with A is taken for both."""
    released = tmp_path / "released.csv"
    dv.Dataset.from_arrow(dv.datasets.school_year_example().to_arrow().slice(1)).write(released)
    told = run("attack", pupils, *KNOWN, "--release", released, "--on", "id", "--json",
               "--out", tmp_path / "risk.csv", "--chart", tmp_path / "chart.svg")  # fmt: skip
    found = json.loads(told.stdout)
    assert found["figures"]["removed"] == 1
    assert found["deterministic"]["count"]["posterior"] == 2
    risk = dv.read(tmp_path / "risk.csv").to_arrow()["risk"].to_pylist()
    assert risk[:2] == [0, 1]
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")
    refused = run("attack", pupils, *KNOWN, "--release", released)
    assert isinstance(refused.exception, dv.InvalidInput)


def test_attack_with_a_gain_and_a_prior(pupils: Path) -> None:
    two = run("attack", pupils, *KNOWN, "--gain", "guesses=2", "--json")
    assert json.loads(two.stdout)["probabilistic"]["posterior"] == pytest.approx(0.9)
    paid = run("attack", pupils, "--model", "CAS", *KNOWN, "--seeks", "disability",
               "--gain", "worth=yes:10,no:0", "--gain", "wrong=1")  # fmt: skip
    assert "worth 4.8 on average" in " ".join(paid.stdout.split())
    assert "8 (80%)" in paid.stdout
    weighed = run("attack", pupils, *KNOWN, "--prior", "age", "--json")
    assert json.loads(weighed.stdout)["deterministic"]["posterior"] > 0.1
    strange = run("attack", pupils, *KNOWN, "--gain", "guesses=two")
    assert "write guesses=3" in str(strange.exception)


def test_attack_of_one_person_over_two_years(pupils: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.csv"
    dv.datasets.school_year_example(2).write(second)
    linked = (pupils, second, "--on", "id", *KNOWN)
    gone = run("attack", *linked, "--model", "IRL", "--target", "gender=M", "--target", "grade=D",
               "--target", "2:absent", "--json")  # fmt: skip
    assert json.loads(gone.stdout)["deterministic"]["posterior"] == 1
    there = run("attack", *linked, "--model", "IAL", "--seeks", "disability", "--target",
                "gender=F", "--target", "grade=A", "--target", "2:grade=B", "--json")  # fmt: skip
    assert json.loads(there.stdout)["probabilistic"]["posterior"] == 1
    wrong = run("attack", *linked, "--model", "IRL", "--target", "3:grade=B")
    assert "there is no dataset 3" in str(wrong.exception)


def test_a_year_given_twice_is_refused(pupils: Path) -> None:
    twice = run("attack", pupils, pupils, "--model", "CRL", "--on", "id", *KNOWN)
    assert "is given twice" in str(twice.exception)
