"""A stranger's file on the command line: looked at, drafted, and asked about where it is unclear."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from divulge.cli.main import app
from divulge.data import Experience
from divulge.release import Release
from divulge.work import InvalidInput

MADE_UP = ("zzq", "vv1")
"""Attributes of which neither names nor values tell the role."""


def run(*arguments: object, answers: str = "") -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=answers)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def write(path: Path, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)
    return path


@pytest.fixture(autouse=True)
def own_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path / "own" / "experience.csv"
    base.parent.mkdir()
    monkeypatch.setenv("DIVULGE_EXPERIENCE", str(base))
    return base


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = [
        [20 + n % 60, "fm"[n % 2], n % 7 % 3, 5 + n * n % 11, 999 if n % 50 == 0 else n % 40]
        for n in range(400)
    ]
    return write(tmp_path / "people.csv", ["age", "sex", *MADE_UP, "hours"], rows)


def read_roles(folder: Path) -> dict[str, Any]:
    [dataset] = tomllib.loads((folder / "release.toml").read_text())["dataset"]
    return dict(dataset["roles"])


def test_what_is_unclear_is_asked_one_by_one_and_remembered(people: Path, own_base: Path) -> None:
    out = people.parent / "release.toml"
    result = run("init", people, "--out", out, "--ask", answers="sensitive\nnon identifying\n")
    roles = read_roles(people.parent)
    assert "zzq" in roles["sensitive"]
    assert "vv1" in roles["non_identifying"]
    assert "2 answers are remembered" in result.stdout
    assert "Question 1 of 2" in result.stderr
    assert {k.name: k.role for k in Experience.own(own_base)} == {
        "zzq": "sensitive",
        "vv1": "non_identifying",
    }
    run("init", people, "--out", people.parent / "release.toml", "--overwrite")
    assert read_roles(people.parent) == roles  # the second draft asks nothing


@pytest.mark.parametrize("answers", ["", "stop\n", "\n\n"], ids=["no input", "stop", "left out"])
def test_what_nobody_answers_stays_out(people: Path, answers: str, own_base: Path) -> None:
    out = people.parent / "release.toml"
    run("init", people, "--out", out, "--ask", answers=answers)
    drafted = {name for names in read_roles(people.parent).values() for name in names}
    assert not drafted & set(MADE_UP)
    assert not own_base.exists()


def test_an_answer_that_is_no_role_is_asked_again(people: Path) -> None:
    out = people.parent / "release.toml"
    result = run("init", people, "--out", out, "--ask", answers="secret\n?\nsens\nstop\n")
    assert read_roles(people.parent)["sensitive"] == ["zzq"]
    assert "That is not one role" in result.stderr
    assert "what nobody should learn" in result.stderr


def test_ambiguous_dates_are_answered_by_an_option_that_the_draft_keeps(tmp_path: Path) -> None:
    rows = [[f"0{1 + n % 9}/0{1 + n // 9 % 9}/1980", 100 + n] for n in range(162)]
    people = write(tmp_path / "people.csv", ["born", "income"], rows)
    out = tmp_path / "release.toml"
    with pytest.raises(InvalidInput, match="day"):
        run("init", people, "--out", out)
    assert not out.exists()
    run("init", people, "--out", out, "--dates", "born=dmy", "--missing", "x9")
    [dataset] = tomllib.loads(out.read_text())["dataset"]
    assert (dataset["dates"], dataset["missing"]) == ({"born": "dmy"}, ["x9"])
    assert Release.load(out).datasets["people"].read().columns["born"].values.type == "date32"


def test_a_file_is_described_with_charts_missing_codes_and_what_is_odd(people: Path) -> None:
    text = run("describe", people).stdout
    assert "people: 5 attributes of 400 records" in text
    assert "20 to 79" in text
    assert "999 may mean missing (8 records)" in text
    assert "sex  (texts; quasi_identifier, proposed)" in text
    content = json.loads(run("describe", people, "-a", "age,hours", "--json").stdout)
    [age, hours] = content["attributes"]
    assert (age["span"], hours["span"]) == (["20", "79"], ["0", "39"])  # the code is no hour
    assert age["proposed"]["role"] == "quasi_identifier"


def test_a_dataset_of_a_release_is_described_with_its_roles(people: Path) -> None:
    run("init", people, "--out", people.parent / "release.toml")
    text = run("describe", people.parent / "release.toml").stdout
    assert "sex  (texts; quasi_identifier)" in text


def test_texts_that_name_somebody_are_not_shown(tmp_path: Path) -> None:
    rows = [[f"Person {n}", n % 5] for n in range(60)]
    text = run("describe", write(tmp_path / "names.csv", ["who", "group"], rows)).stdout
    assert "60 values" in text
    assert "Person" not in text


def test_a_shell_completes_commands_by_the_script_that_is_printed() -> None:
    script = run("completion", "bash").stdout
    assert "_DIVULGE_COMPLETE=complete_bash" in script
    words = {"COMP_WORDS": "divulge des", "COMP_CWORD": "1", "_DIVULGE_COMPLETE": "complete_bash"}
    answer = subprocess.run(
        [sys.executable, "-m", "divulge.cli"],
        env={**os.environ, **words},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split() == ["describe"]
