"""`divulge risk` and `divulge suda`, as a user or a script meets them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from divulge import datasets, read

Command = Callable[..., "subprocess.CompletedProcess[str]"]
KEYS = ["-q", "Area", "-q", "Sector", "-q", "Employees"]


@pytest.fixture
def companies(tmp_path: Path) -> Path:
    path = tmp_path / "companies.csv"
    datasets.inflation_and_growth_example().write(path)
    return path


def test_the_risk_of_a_file_in_sentences_and_by_group(divulge: Command, companies: Path) -> None:
    done = divulge("risk", companies, *KEYS, "--weight", "Weight", "--by", "Area")
    assert done.returncode == 0, done.stderr
    assert "18 of 20 records stand alone (maybe)." in done.stdout
    assert "The individual risk (approximate) is" in done.stdout
    assert "North" in done.stdout


def test_a_column_per_record_and_json(divulge: Command, companies: Path, tmp_path: Path) -> None:
    done = divulge(
        "risk", companies, *KEYS, "--weight", "Weight", "--measure", "reidentification",
        "--out", tmp_path / "risk.csv", "--json",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["records"] == 20
    assert told["frequencies"]["nulls"] == "maybe"
    column = read(tmp_path / "risk.csv").to_arrow().column("reidentification_risk").to_pylist()
    assert column[3] == pytest.approx(1 / 60)
    assert max(column) == pytest.approx(told["highest"])


def test_a_risk_above_what_is_allowed_is_exit_1(divulge: Command, companies: Path) -> None:
    assert divulge("risk", companies, *KEYS, "--at-most", "0.5").returncode == 1
    weighed = divulge("risk", companies, *KEYS, "--weight", "Weight", "--at-most", "0.5")
    assert weighed.returncode == 0


def test_what_an_adversary_who_knows_the_original_finds(divulge: Command, tmp_path: Path) -> None:
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    datasets.local_suppression_example().write(before)
    datasets.local_suppression_example(protected=True).write(after)
    keys = ["-q", "Area", "-q", "Sector", "-q", "Employees", "-q", "Residential Rev."]
    done = divulge("risk", after, *keys, "--nulls", "known", "--original", before)
    assert "Counting flatters" in done.stdout
    alone = divulge("risk", after, *keys, "--nulls", "known")
    assert alone.returncode == 2
    assert "give them as original" in alone.stderr


def test_what_makes_companies_special(divulge: Command, companies: Path) -> None:
    done = divulge("suda", companies, *KEYS)
    assert done.returncode == 0, done.stderr
    assert "unique on one alone" in done.stdout
    told = json.loads(divulge("suda", companies, *KEYS, "--max-size", "1", "--json").stdout)
    assert told["minimal_uniques"] == {"1": 1}
    assert told["contributions"]["Sector"] == 1


def test_a_release_file_brings_its_roles(divulge: Command) -> None:
    release = Path(__file__).parents[2] / "examples" / "risk" / "release.toml"
    done = divulge("risk", release, "--dataset", "survey", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["claim"] == "estimate"
    lost = divulge("risk", release, "--dataset", "surve")
    assert lost.returncode == 2
    assert 'Did you mean "survey"?' in lost.stderr


def test_attributes_that_do_not_exist_are_exit_2(divulge: Command, companies: Path) -> None:
    done = divulge("suda", companies, "-q", "Secto")
    assert done.returncode == 2
    assert 'Did you mean "Sector"?' in done.stderr


def test_a_word_for_missing_is_a_missing_value(divulge: Command, tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("town\nRoma\nRoma\nNA\n")
    plain = json.loads(divulge("risk", "towns.csv", "-q", "town", "--json").stdout)
    told = json.loads(
        divulge("risk", "towns.csv", "-q", "town", "--missing", "NA", "--json").stdout
    )
    assert plain["frequencies"]["uniques"] == 1
    assert told["frequencies"]["alone_by_semantics"] == {"maybe": 0, "standard": 1, "value": 1}
