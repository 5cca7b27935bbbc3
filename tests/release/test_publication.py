"""What is published: no id that its owner has not named, no attribute that nobody decided on."""

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import divulge as dv
from divulge import InvalidInput
from divulge.cli.main import app
from divulge.release import Release
from divulge.release.output.release_secret import read_secret

PEOPLE = 60

RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
{settings}

[dataset.roles]
{roles}

[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 2
"""

ROLES = """identifier = ["passport"]
person = "pid"
household = "hh"
group = ["firm", "school"]
quasi_identifier = ["age", "sex"]
weight = "w"
sensitive = ["income"]"""


def write(folder: Path, settings: str = "", roles: str = ROLES, more: str = "") -> Path:
    table = {
        "passport": [f"P{number}" for number in range(PEOPLE)],
        "pid": [1000 + number for number in range(PEOPLE)],
        "hh": [number // 3 for number in range(PEOPLE)],
        "firm": [f"firm {number % 7}" for number in range(PEOPLE)],
        "school": [f"school {number % 5}" for number in range(PEOPLE)],
        "age": [20 + number % 5 for number in range(PEOPLE)],
        "sex": ["FM"[number % 2] for number in range(PEOPLE)],
        "w": [number % 4 + 1 for number in range(PEOPLE)],
        "income": [1000 + number for number in range(PEOPLE)],
    }
    pyarrow.csv.write_csv(pa.table(table), folder / "people.csv")
    path = folder / "release.toml"
    path.write_text(RELEASE.format(settings=settings, roles=roles) + more)
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def read_released(out: Path) -> pl.DataFrame:
    return pl.read_csv(out / "release" / "people.csv")


def test_ids_of_people_and_clusters_do_not_go_out(tmp_path: Path) -> None:
    result = run("protect", write(tmp_path), "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert read_released(tmp_path / "out").columns == ["age", "sex", "w", "income"]
    assert "passport, pid, hh, firm and school" in " ".join(result.output.split())


def test_an_attribute_without_a_role_is_not_judged(tmp_path: Path) -> None:
    path = write(tmp_path, roles=ROLES.replace('group = ["firm", "school"]\n', ""))
    checked = run("check", path)
    assert checked.exit_code == 3
    assert "NOT JUDGED" in checked.output
    assert "2 attributes have no role (firm and school)" in " ".join(checked.output.split())
    protected = run("protect", path, "--out", tmp_path / "out")
    assert protected.exit_code == 3
    assert not (tmp_path / "out" / "release").exists()
    assert Release.load(path).check().to_dict()["status"] == "not judged"


def test_nothing_is_protected_that_could_not_go_out(tmp_path: Path) -> None:
    roles = ROLES.replace('group = ["firm", "school"]\n', "").replace(
        "sensitive", "non_identifying"
    )
    path = write(tmp_path, roles=roles.replace('"age", "sex"', '"age", "sex", "income"'))
    path.write_text(path.read_text().replace('non_identifying = ["income"]\n', ""))
    assert not Release.load(path).check().passed
    protected = Release.load(path).protect()
    assert (protected.status, dict(protected.parts)) == ("not judged", {})
    assert protected.after.datasets["people"].rows == PEOPLE
    result = run("protect", path, "--out", tmp_path / "out")
    said = " ".join(result.output.split())
    assert result.exit_code == 3
    assert "2 attributes have no role (firm and school)" in said
    assert "nothing could be released, and nothing was protected" in said
    assert not (tmp_path / "out" / "release").exists()


def test_who_knows_what_is_dropped_is_told_to_give_it_a_role(tmp_path: Path) -> None:
    knower = '\n[[adversary]]\nname = "kin"\nattack = "records"\nmodel = "CRS"\n'
    knower += 'knows = ["age", "firm", "school"]\n'
    roles = ROLES.replace('group = ["firm", "school"]\n', "")
    with pytest.raises(InvalidInput, match='"firm", "school": without a role, and dropped by'):
        Release.load(write(tmp_path, 'unlisted = "drop"', roles, knower))


@pytest.mark.parametrize(
    ("choice", "published", "said"),
    [("drop", False, "are not published"), ("non_identifying", True, "this was not examined")],
)
def test_attributes_without_a_role_go_out_or_not_by_choice(
    tmp_path: Path, choice: str, published: bool, said: str
) -> None:
    roles = ROLES.replace('group = ["firm", "school"]\n', "")
    path = write(tmp_path, f'unlisted = "{choice}"', roles)
    assert said in " ".join(run("check", path).output.split())
    result = run("protect", path, "--out", tmp_path / "out")
    assert (result.exit_code, said in " ".join(result.output.split())) == (0, True)
    assert ("firm" in read_released(tmp_path / "out").columns) is published
    note = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert said in note


def test_a_published_direct_identifier_fails(tmp_path: Path) -> None:
    path = write(tmp_path, 'publish = ["passport"]')
    checked = run("check", path)
    assert (checked.exit_code, "would publish direct identifiers" in checked.output) == (1, True)
    protected = run("protect", path, "--out", tmp_path / "out")
    assert protected.exit_code == 1
    assert not (tmp_path / "out" / "release").exists()


def test_ids_of_clusters_go_out_under_pseudonyms_if_named(tmp_path: Path) -> None:
    path = write(tmp_path, 'publish = ["hh"]')
    assert run("protect", path, "--out", tmp_path / "out").exit_code == 0
    released = read_released(tmp_path / "out")
    assert released.columns == ["hh", "age", "sex", "w", "income"]
    assert set(released["hh"].str.len_chars()) == {24}
    sizes = released.group_by("hh").len()["len"].to_list()
    assert sizes == [3] * 20


def test_fail_outranks_not_judged(tmp_path: Path) -> None:
    roles = ROLES.replace('group = ["firm", "school"]\n', "")
    path = write(tmp_path, roles=roles)
    path.write_text(path.read_text().replace("at_least = 2", "at_least = 1000"))
    assert run("check", path).exit_code == 1


def test_nobody_is_found_by_what_is_not_published(tmp_path: Path) -> None:
    knower = '\n[[adversary]]\nname = "kin"\nattack = "records"\nmodel = "CRS"\nknows = ["hh"]\n'
    with pytest.raises(InvalidInput, match='"hh" is not published'):
        Release.load(write(tmp_path, more=knower))
    assert Release.load(write(tmp_path, 'publish = ["hh"]', more=knower)).check().assessments


@pytest.mark.parametrize("kept", [False, True])
def test_the_order_of_the_source_is_not_published(tmp_path: Path, kept: bool) -> None:
    path = write(tmp_path, "keep_order = true" if kept else "")
    result = run("protect", path, "--out", tmp_path / "out")
    incomes = read_released(tmp_path / "out")["income"].to_list()
    assert sorted(incomes) == list(range(1000, 1000 + PEOPLE))
    assert (incomes == sorted(incomes)) is kept
    assert ("keep the order of the source" in " ".join(result.output.split())) is kept


def test_a_rerun_and_a_revision_draw_nothing_anew(tmp_path: Path) -> None:
    path = write(tmp_path, 'publish = ["hh"]')
    run("protect", path, "--out", tmp_path / "out")
    first = (tmp_path / "out" / "release" / "people.csv").read_bytes()
    secret = tmp_path / "out" / "internal" / "secret.json"
    assert secret.stat().st_mode & 0o777 == 0o600
    run("protect", path, "--out", tmp_path / "out", "--overwrite")
    assert (tmp_path / "out" / "release" / "people.csv").read_bytes() == first
    run("protect", path, "--out", tmp_path / "next", "--revises", tmp_path / "out")
    assert (tmp_path / "next" / "release" / "people.csv").read_bytes() == first
    run("protect", path, "--out", tmp_path / "other")
    assert (tmp_path / "other" / "release" / "people.csv").read_bytes() != first


def test_a_damaged_secret_is_not_replaced_by_a_new_one(tmp_path: Path) -> None:
    for content in ("", "{}", '{"format": 1, "key": "00"}', '{"format": 2, "key": ""}', "[1]"):
        (tmp_path / "secret.json").write_text(content)
        with pytest.raises(InvalidInput, match=r"damaged|format 2"):
            read_secret(tmp_path)
    assert read_secret(tmp_path / "nowhere") is None


def test_a_folder_that_was_never_protected_cannot_be_revised(tmp_path: Path) -> None:
    path = write(tmp_path)
    result = run("protect", path, "--out", tmp_path / "out", "--revises", tmp_path / "none")
    assert result.exit_code != 0
    assert not (tmp_path / "out").exists()


COUNTS_RECORDS = """
[[limit]]
dataset = "people"
measure = "individual_risk"
at_most = 0.9
"""


def test_several_records_of_a_person_are_not_judged_by_counting_records(tmp_path: Path) -> None:
    path = write(tmp_path)
    frame = pl.read_csv(tmp_path / "people.csv").with_columns(pl.col("pid") // 2)
    frame.write_csv(tmp_path / "people.csv")
    result = run("check", path)
    assert result.exit_code == 0, result.output
    assert "People are counted, 30 of them with 60 records" in " ".join(result.output.split())
    path.write_text(path.read_text() + COUNTS_RECORDS)
    result = run("check", path)
    assert result.exit_code == 3
    assert "60 records of 30 people" in " ".join(result.output.split())
    assert run("protect", path, "--out", tmp_path / "out").exit_code == 3
    assert not (tmp_path / "out" / "release").exists()


def test_what_is_not_published_cannot_be_kept_as_it_is(tmp_path: Path) -> None:
    keeping = '\n[protection]\nmethods = ["suppress"]\nnever = ["passport"]\n'
    with pytest.raises(InvalidInput, match='"passport" .* is not published'):
        Release.load(write(tmp_path, more=keeping))


def test_protected_records_are_not_written_with_ids_by_the_way(tmp_path: Path) -> None:
    table = pa.table({"id": range(9), "home": [n // 3 for n in range(9)], "age": [3] * 7 + [4, 5]})
    roles = {"identifier": ["id"], "household": "home", "quasi_identifier": ["age"]}
    people = dv.Dataset.from_arrow(table, roles=roles)
    people.write(tmp_path / "source.csv")  # nothing is hidden: it is the owner's own file
    protected = dv.protection.suppress(people, 2)
    with pytest.raises(InvalidInput, match='"id", "home" do not go out with protected records'):
        protected.dataset.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    protected.dataset.write(tmp_path / "kept.csv", with_ids=True)
    protected.write(tmp_path / "out.csv")
    assert dv.read(tmp_path / "out.csv").names == ["age", "age_status"]
    protected.write(tmp_path / "linked.csv", publish=["home"])
    assert "home" in dv.read(tmp_path / "linked.csv").names
