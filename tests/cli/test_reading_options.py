"""Every verb reads data files and release files alike, and its errors name its options."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from divulge.cli.data_reader import READING_OPTIONS
from divulge.cli.main import app
from divulge.cli.usage_errors import write_as_options
from divulge.work.translation import translate_error

PEOPLE = "id;age;sex;town;income\n7;25;F;Köln;10,5\n8;25;M;Bonn;11,5\n9;30;F;Bonn;12,5\n6;30;F;Bonn;12,5\n"
RELEASE = """format = 1
[[dataset]]
name = "people"
source = "people.csv"
encoding = "windows-1252"
unlisted = "non_identifying"
roles = { identifier = ["id"], quasi_identifier = ["age", "sex"], sensitive = ["income"] }
[[dataset]]
name = "others"
source = "people.csv"
encoding = "windows-1252"
roles = { quasi_identifier = ["town"] }
"""
VERBS = [
    ["attack", "{}"],
    ["sweep", "{}"],
    ["risk", "{}"],
    ["suda", "{}"],
    ["suppress", "{}", "-k", "2"],
    ["recode", "{}", "-k", "1"],
    ["hierarchy", "{}", "town"],
    ["map", "{}", "-k", "2"],
    ["tables", "suppress", "{}", "--by", "sex,town", "--min-frequency", "1"],
    ["events", "attack", "{}", "--user", "id", "--time", "age", "--item", "town"],
]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "release.toml").write_text(RELEASE)
    path = tmp_path / "people.csv"
    path.write_bytes(PEOPLE.encode("windows-1252"))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def fail(*arguments: object) -> str:
    """What the command line says of a mistake, as it is shown."""
    error = run(*arguments).exception
    assert error is not None
    return write_as_options(translate_error(error), getattr(error, "option_names", {}))


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: " ".join(verb[:2]))
def test_every_verb_takes_the_options_of_reading(verb: list[str], people: Path) -> None:
    filled = [word.format(people) for word in verb]
    asked = fail(*filled)
    assert "is not UTF-8 text; give its encoding, such as --encoding windows-1252." in asked
    told = run(*filled, "--encoding", "windows-1252")
    assert "UTF-8" not in str(told.exception)
    help_page = run(*[word for word in verb[:2] if word != "{}"], "--help").stdout
    assert all(f"--{option}" in help_page for option in READING_OPTIONS)


@pytest.mark.parametrize("verb", VERBS[:6], ids=lambda verb: verb[0])
def test_a_dataset_of_a_release_file_is_read_as_the_file_says(
    verb: list[str], people: Path
) -> None:
    release = people.with_name("release.toml")
    by_mark = run(*[word.format(f"{release}#people") for word in verb])
    by_option = run(*[word.format(release) for word in verb], "--dataset", "people")
    assert by_mark.exit_code in (0, 3), by_mark.output + str(by_mark.exception)
    assert by_mark.stdout == by_option.stdout
    assert 'name one of its datasets with --dataset. Did you mean "people"?' in fail(
        *[word.format(f"{release}#peopl") for word in verb]
    )
    assert "the release file says this itself" in fail(
        *[word.format(f"{release}#people") for word in verb], "--encoding", "utf-8"
    )


def test_roles_of_a_release_are_known_and_sought_unless_others_are_given(people: Path) -> None:
    release = f"{people.with_name('release.toml')}#people"
    sets = json.loads(run("sweep", release, "--json").stdout)["sets"]
    assert [row["knows"] for row in sets] == [["age"], ["sex"], ["age", "sex"]]
    assert "income.pure" in sets[0]
    narrower = json.loads(run("sweep", release, "--knows", "town", "--json").stdout)["sets"]
    assert [row["knows"] for row in narrower] == [["town"]]


def test_attributes_are_named_with_commas_or_one_by_one(people: Path, tmp_path: Path) -> None:
    told = ["--encoding", "windows-1252", "--json"]
    several = run("sweep", people, "--knows", "age,sex", *told).stdout
    assert several == run("sweep", people, "--knows", "age", "--knows", "sex", *told).stdout
    odd = tmp_path / "odd.csv"
    odd.write_text('"town, country",age\nRoma,3\nBari,4\n')
    sets = json.loads(run("sweep", odd, "--knows", "town, country", "--json").stdout)["sets"]
    assert sets[0]["knows"] == ["town, country"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["attack", "{}", "--knows", "agee,sex"], '--knows: the dataset has no attribute "agee"'),
        (["sweep", "{}", "--seeks", "incom"], '--seeks: the dataset has no attribute "incom"'),
        (["suda", "{}", "-q", "tonw"], '--quasi-identifier: the dataset has no attribute "tonw"'),
        (
            ["risk", "{}", "-q", "age", "--at-most", "5"],
            "--at-most: is a share, a number from 0 to 1. For 5% write 0.05.",
        ),
        (["suda", "{}", "-q", "age", "--at-most", "20"], "For 20% write 0.2."),
        (
            ["tables", "suppress", "{}", "--by", "sex", "--dominance", "2,0.85"],
            "--dominance: is in percent: for 0.85 of the total write 2,85.",
        ),
        (
            ["tables", "suppress", "{}", "--by", "sex,age", "--min-frequency", "2"],
            "Let totals be (--margins suppressible)",
        ),
    ],
)
def test_errors_name_the_option(arguments: list[str], message: str, people: Path) -> None:
    told = ["--encoding", "windows-1252"]
    assert message in fail(*[word.format(people) for word in arguments], *told)


def test_dates_that_are_asked_for_are_given_as_an_option(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("who,when,what\n1,03/04/2020,a\n1,05/06/2020,b\n2,05/06/2020,a\n")
    verb = ["events", "attack", path, "--user", "who", "--time", "when", "--item", "what"]
    assert "--dates dmy or --dates mdy" in fail(*verb)
    assert run(*verb, "--dates", "dmy").exit_code == 0
    assert run(*verb, "--dates", "when=%m/%d/%Y").exit_code == 0


@pytest.mark.parametrize("verb", ["risk", "suda", "attack"])
def test_figures_of_records_carry_their_number_and_an_id_by_choice(
    verb: str, people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "figures.csv"
    option = "--knows" if verb == "attack" else "-q"
    told = ["--encoding", "windows-1252", "--out", out, "--overwrite"]
    assert run(verb, people, option, "age,sex", *told).exit_code == 0
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["record"] for row in rows] == ["1", "2", "3", "4"]
    assert "id" not in rows[0]
    assert run(verb, people, option, "age,sex", *told, "--id", "id").exit_code == 0
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["record"], row["id"]) for row in rows] == [
        ("1", "7"),
        ("2", "8"),
        ("3", "9"),
        ("4", "6"),
    ]
    assert 'the dataset has no attribute "idd"' in fail(
        verb, people, option, "age", *told, "--id", "idd"
    )


def test_settings_in_messages_stand_as_options() -> None:
    names = {"text": "--text", "header": "--header", "quote": "--quote", "decimal": "--decimal"}
    message = """say header = true, text = ["born"], quote = '"' or decimal = "," here."""
    expected = "say --header, --text born, --quote '\"' or --decimal , here."
    assert write_as_options(message, names) == expected
