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
    assert "18 of 20 records are unique (bayes)." in done.stdout
    assert "The individual risk (approximate) is" in done.stdout
    assert "North" in done.stdout


def test_a_column_per_record_and_json(divulge: Command, companies: Path, tmp_path: Path) -> None:
    done = divulge(
        "risk", companies, *KEYS, "--weight", "Weight", "--measure", "reidentification",
        "--out", tmp_path / "risk.csv", "--json",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["records"] == 20
    assert told["frequencies"]["nulls"] == "bayes"
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
    datasets.local_suppression_example(protected=True).write(after, with_ids=True)
    keys = ["-q", "Area", "-q", "Sector", "-q", "Employees", "-q", "Residential Rev."]
    done = divulge(
        "risk", after, *keys, "--nulls", "known", "--original", before, "--hidden", "suppressed"
    )
    assert "This count understates the risk" in done.stdout
    alone = divulge("risk", after, *keys, "--nulls", "known")
    assert alone.returncode == 2
    assert "--original or --population" in alone.stderr
    assert "takes two datasets: the release, the original" in alone.stderr


def test_what_makes_companies_special(divulge: Command, companies: Path) -> None:
    done = divulge("suda", companies, *KEYS)
    assert done.returncode == 0, done.stderr
    assert "unique on a single attribute" in done.stdout
    told = json.loads(divulge("suda", companies, *KEYS, "--max-size", "1", "--json").stdout)
    assert told["minimal_uniques"] == {"1": 1}
    assert told["contributions"]["Sector"] == 1


def test_a_release_file_brings_its_roles(divulge: Command) -> None:
    release = Path(__file__).parents[2] / "examples" / "risk" / "release.toml"
    done = divulge("risk", release, "--dataset", "survey", "--nulls", "maybe", "--json")
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
    assert told["frequencies"]["alone_by_semantics"] == {
        "maybe": 0, "standard": 1, "value": 1, "known": 1, "bayes": 1,
    }  # fmt: skip


def test_what_classes_give_away_on_the_command_line(divulge: Command, tmp_path: Path) -> None:
    path, picture = tmp_path / "pupils.csv", tmp_path / "pupils.svg"
    datasets.school_year_example().write(path)
    given = ["risk", path, "-q", "gender", "--sensitive", "disability", "--measure"]
    done = divulge(*given, "t_closeness", "--at-most", "0.2", "--by", "gender", "--chart", picture)
    assert done.returncode == 1, done.stderr
    assert "The worst class has a t-closeness of 0.25." in done.stdout
    assert "<svg" in picture.read_text()
    told = json.loads(divulge(*given, "distinct_l_diversity", "--at-least", "2", "--json").stdout)
    assert told["value_by_semantics"]["bayes"] == told["value"] == 2
    assert divulge(*given, "distinct_l_diversity", "--at-least", "3").returncode == 1


def test_a_list_of_the_population_and_a_masked_file(divulge: Command, tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("age,income\n1,10\n1,20\n2,30\n3,40\n")
    (tmp_path / "ill.csv").write_text("age\n1\n2\n")
    (tmp_path / "masked.csv").write_text("age,income\n1,10\n1,90\n2,30\n3,40\n")
    given = ["risk", "ill.csv", "-q", "age", "--population", "town.csv", "--json"]
    assert json.loads(divulge(*given, "--measure", "k_map").stdout)["value"] == 1
    present = json.loads(divulge(*given, "--measure", "delta_presence", "--by", "age").stdout)
    assert len(present["by"]["groups"]) == 3
    assert json.loads(divulge(*given, "--measure", "journalist").stdout)["highest"] == 1
    masked = ["risk", "masked.csv", "-q", "income", "--original", "town.csv"]
    done = divulge(*masked, "--measure", "interval_disclosure", "--set", "width=0", "--json")
    assert json.loads(done.stdout)["average"] == 0.75
    lost = divulge("risk", "masked.csv", "--measure", "delta_presense", "--set", "widht=0")
    assert lost.returncode == 2
    assert 'Did you mean "width"?' in lost.stderr
    assert '"delta_presense" is not a measure; the nearest is "delta_presence".' in lost.stderr


def test_the_demonstration_says_where_counting_flatters_and_who_finds_whom(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from divulge.cli.commands.demonstration import _show_special_companies

    _show_special_companies()
    told = " ".join(capsys.readouterr().out.split())
    for wanted in (
        "This count understates the risk",
        "The risk from the prosecutor is",
        "unique in the population",
    ):
        assert wanted in told


def test_a_measure_is_the_same_by_each_of_its_names(divulge: Command, companies: Path) -> None:
    for name, other in (("dis_suda", "suda"), ("prosecutor_risk", "prosecutor")):
        one = divulge("risk", companies, *KEYS, "--measure", name, "--json")
        assert one.returncode == 0, one.stderr
        assert one.stdout == divulge("risk", companies, *KEYS, "--measure", other, "--json").stdout


def test_a_count_on_the_command_line_has_its_bound_below(divulge: Command, companies: Path) -> None:
    given = ["risk", companies, *KEYS, "--measure", "smallest_frequency", "--at-least"]
    assert divulge(*given, "1").returncode == 0
    assert divulge(*given, "2").returncode == 1


def test_what_a_missing_value_makes_special(divulge: Command, tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("town,x\nRoma,1\nRoma,1\n,1\nBari,1\n")
    plain = json.loads(
        divulge("suda", "towns.csv", "-q", "town", "--nulls", "maybe", "--json").stdout
    )
    assert plain["special"] == 0
    assert plain["alone_by_semantics"] == {
        "maybe": 0, "standard": 2, "value": 2, "known": 2, "bayes": 2,
    }  # fmt: skip
    told = json.loads(
        divulge("suda", "towns.csv", "-q", "town", "--nulls", "value", "--json").stdout
    )
    assert told["special"] == 2
    refused = divulge("suda", "towns.csv", "-q", "town", "--nulls", "valeu")
    assert refused.returncode == 2
    assert 'Did you mean "value"?' in refused.stderr


def test_a_search_keeps_its_work_in_a_folder_and_clears_it(
    divulge: Command, companies: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    plain = divulge("suda", companies, *KEYS, "--json")
    done = divulge("suda", companies, *KEYS, "--resume", kept, "--json")
    assert done.stdout == plain.stdout
    assert not kept.exists()
