"""`divulge rules` formats, checks, runs and explains what the library does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import divulge as dv
from divulge.cli.main import app

PROGRAM = """% groups
own(X, Y, W) from "ownership.csv".
% @name "{X} belongs to its own group"
rel(X,X) :- own(X,_,_).
% @name "{X} controls {Y}"
rel(X, Y) :- rel(X, Z), own(Z, Y, W), msum(W, <Z>) > 0.5.
"""


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    (tmp_path / "ownership.csv").write_text(
        "owner,company,share\nAlfa,Beta,0.4\nAlfa,Gamma,0.6\nGamma,Beta,0.2\nBeta,Delta,0.5\n"
    )
    path = tmp_path / "groups.rules"
    path.write_text(PROGRAM)
    return path


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["rules", *(str(argument) for argument in arguments)])


def test_a_program_is_formatted_and_its_file_left_alone(groups: Path, tmp_path: Path) -> None:
    told = invoke("format", groups)
    assert told.exit_code == 0, told.output
    assert "rel(X, X) :- own(X, _, _).\n" in told.stdout
    assert groups.read_text() == PROGRAM
    out = tmp_path / "formatted.rules"
    assert invoke("format", groups, "--out", out).exit_code == 0
    assert out.read_text() + "" == told.stdout
    assert isinstance(invoke("format", groups, "--out", groups).exception, dv.InvalidInput)
    assert groups.read_text() == PROGRAM


def test_a_program_is_checked_with_the_place_of_what_is_wrong(groups: Path) -> None:
    told = invoke("check", groups)
    assert told.exit_code == 0, told.output
    assert "3 statements, nothing wrong." in told.stdout
    groups.write_text("p(X) :- not q(X).\nq(a).\n")
    told = invoke("check", groups, "--json")
    assert told.exit_code == 2
    [problem] = json.loads(told.stdout)["problems"]
    assert "line 1" in problem
    groups.write_text("p(X) :- nto q(X).")
    assert 'Did you mean "not"?' in str(invoke("check", groups).exception)


def test_a_program_is_run_and_shows_counts_unless_facts_are_asked_for(
    groups: Path, tmp_path: Path
) -> None:
    told = invoke("run", groups)
    assert told.exit_code == 0, told.output
    assert told.stdout == "own: 4 facts\nrel: 5 facts\n"
    told = invoke("run", groups, "--show", "rel", "--out", tmp_path / "out")
    assert "rel(Alfa, Beta)" in told.stdout
    assert "Delta" not in told.stdout  # exactly half is no majority
    lines = (tmp_path / "out" / "rel.csv").read_text().splitlines()
    assert lines[1:] == ["Alfa,Alfa", "Alfa,Beta", "Alfa,Gamma", "Beta,Beta", "Gamma,Gamma"]
    content = json.loads(invoke("run", groups, "--show", "rel", "--json").stdout)
    assert content["counts"] == {"own": 4, "rel": 5}
    assert ["Alfa", "Beta"] in content["facts"]["rel"]
    wrong = invoke("run", groups, "--show", "rell").exception
    assert 'Did you mean "rel"?' in str(wrong)


def test_facts_come_from_files_that_are_handed_in(groups: Path, tmp_path: Path) -> None:
    path = tmp_path / "listed.csv"
    path.write_text("company\nBeta\n")
    groups.write_text(PROGRAM + "open(X) :- rel(X, Y), listed(Y).\n")
    told = invoke("run", groups, "--facts", f"listed={path}", "--show", "open")
    assert told.stdout == "open(Alfa)\nopen(Beta)\n", told.output
    assert isinstance(invoke("run", groups, "--facts", "listed").exception, dv.InvalidInput)


def test_a_fact_is_explained_and_values_are_hidden_unless_asked_for(
    groups: Path, tmp_path: Path
) -> None:
    told = invoke("why", groups, 'rel("Alfa", "Beta")')
    assert told.exit_code == 0, told.output
    assert "Alfa controls Beta" in told.stdout
    assert "Gamma" not in told.stdout
    assert "0.6" not in told.stdout
    drawing = tmp_path / "why.svg"
    told = invoke("why", groups, 'rel("Alfa", "Beta")', "--values", "--chart", drawing)
    assert "msum(W, <Z>) = 0.6, of 2 contributors:" in told.stdout
    assert "Gamma" in drawing.read_text()
    content = json.loads(invoke("why", groups, 'rel("Beta", "Delta")', "--json").stdout)
    assert content["holds"] is False
    assert content["facts"][0]["failures"][1]["no_match_for"] == "msum(W, <Z>) > 0.5"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("full", "is there already; name a folder that is not"),
        ("file", "is there already; name a folder that is not"),
        ("file/below", "lies in a file, not in a folder"),
    ],
)
def test_derived_facts_are_written_to_a_new_folder_only(
    groups: Path, tmp_path: Path, place: str, message: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "rel.csv").write_text("mine")
    (tmp_path / "file").write_text("mine")
    refused = invoke("run", groups, "--out", tmp_path / place).exception
    assert isinstance(refused, dv.InvalidInput)
    assert message in str(refused)
    assert "--overwrite" not in str(refused)
    assert (tmp_path / "full" / "rel.csv").read_text() == "mine"
    assert (tmp_path / "file").read_text() == "mine"


RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
subjects = "people"
[dataset.roles]
identifier = ["id"]
quasi_identifier = ["town"]
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 1
[rules]
files = ["few.rules", "more.rules"]
"""


@pytest.fixture
def release(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("id,town\np1,Roma\np2,Roma\np3,Bari\n")
    (tmp_path / "few.rules").write_text(
        '% @name "{I} lives where few do"\n'
        'risk(I, R) :- original(_, I, "town", "Bari"), #risk(I, R).\n'
    )
    (tmp_path / "more.rules").write_text(
        "alike(I, J) :- val(M, I, A, V), val(M, J, A, V), I < J.\n"
    )
    (tmp_path / "other.rules").write_text("role(A, C) :- category(_, A, C).\n")
    path = tmp_path / "release.toml"
    path.write_text(RELEASE)
    return path


def test_rules_read_the_data_of_a_release_and_what_they_say_of_themselves(release: Path) -> None:
    folder = release.parent
    told = invoke("run", folder / "few.rules", "--release", release, "--json")
    assert told.exit_code == 0, told.output
    counts = json.loads(told.stdout)["counts"]
    assert (counts["risk"], counts["alike"]) == (1, 1)
    shown = ["--show", "role", "--release", release]
    told = invoke("run", folder / "other.rules", *shown)
    assert told.stdout.splitlines() == ["role(id, identifier)", "role(town, quasi_identifier)"]
    (folder / "named.rules").write_text('person(id, town) from dataset "people".\n')
    assert invoke("run", folder / "named.rules", "--release", release).stdout == "person: 3 facts\n"
    both = invoke("run", folder / "few.rules", "--release", release, "--facts", "own=x.csv")
    assert "leave one of the two out" in str(both.exception)


def test_a_risk_of_a_record_of_a_release_opens_to_its_group(release: Path) -> None:
    told = invoke("why", release.parent / "few.rules", 'risk("p3", 1)', "--release", release)
    assert told.exit_code == 0, told.output
    assert "Nobody else of 3 people shows the same values." in told.stdout
    assert "place 1 of 1 in its group, 1 of 3 of all" in told.stdout
    assert "with town = [" in told.stdout
