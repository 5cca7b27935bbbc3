"""`divulge recode`: what it prints, writes and refuses."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from divulge.cli.main import app
from divulge.protection.recoding.cell_costs import CELL_UTILITIES
from divulge.protection.recoding.utilities import CLASS_UTILITIES
from divulge.work import InvalidInput

FOLDER = Path(__file__).parent.parent.parent / "examples" / "recoding"
KEYS = ["sex", "town", "education"]
runner = CliRunner()


def run(*arguments: object, code: int = 0) -> str:
    result = runner.invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def options() -> list[object]:
    names = [option for key in KEYS for option in ("-q", key)]
    files = [f"town={FOLDER / 'towns.csv'}", f"education={FOLDER / 'education.csv'}"]
    return [*names, *(option for file in files for option in ("--hierarchy", file))]


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_file_is_recoded_and_every_class_has_k_records(tmp_path: Path) -> None:
    out = tmp_path / "recoded.csv"
    said = run(
        "recode", FOLDER / "people.csv", *options(), "-k", 5, "--sensitive", "diagnosis", "-l", 2,
        "--unlisted", "drop", "--out", out, "--log", tmp_path / "log.parquet",
    )  # fmt: skip
    assert "combinations of levels loses less than 0." in said
    assert "was recoded to level 1 of 2 of its hierarchy: at level 0, " in " ".join(said.split())
    rows = read_rows(out)
    assert set(rows[0]) == {*KEYS, "diagnosis"}
    classes = Counter(tuple(row[key] for key in KEYS) for row in rows)
    assert min(classes.values()) >= 5
    assert (tmp_path / "log.parquet").exists()


def test_single_records_are_recoded_with_less_loss(tmp_path: Path) -> None:
    whole = json.loads(run("recode", FOLDER / "people.csv", *options(), "-k", 5, "--json"))
    for search in ("nested", "clusters"):
        out = tmp_path / f"{search}.csv"
        said = run(
            "recode", FOLDER / "people.csv", *options(), "-k", 5, "--search", search, "--json",
            "--unlisted", "drop", "--out", out,
        )  # fmt: skip
        assert json.loads(said)["utility"]["loss"] <= whole["utility"]["loss"] + 1e-12
        classes = Counter(tuple(row[key] for key in KEYS) for row in read_rows(out))
        assert min(classes.values()) >= 5


def test_the_limits_of_a_release_file_are_taken() -> None:
    figures = json.loads(run("recode", FOLDER / "release.toml", "--json"))
    assert [limit["measure"] for limit in figures["limits"]] == [
        "k_anonymity", "distinct_l_diversity",
    ]  # fmt: skip
    assert figures["proved"]
    assert figures["published"]["status"] == "pass"
    assert any("1 limit on an adversary" in sentence for sentence in figures["sentences"])


def test_a_recipe_is_kept_and_applied_to_other_data(tmp_path: Path) -> None:
    recipe, source = tmp_path / "recipe.json", FOLDER / "people.csv"
    kept = ["--recipe", recipe, "--unlisted", "drop", "--json"]
    first = json.loads(run("recode", source, *options(), "-k", 10, *kept))
    more = tmp_path / "more.csv"
    lines = source.read_text().splitlines()
    more.write_text("\n".join([lines[0], *lines[1:], *lines[1::2]]) + "\n")
    names = options()[: 2 * len(KEYS)]
    applied = ["--apply", recipe, "--unlisted", "drop", "--json"]
    again = json.loads(run("recode", more, *names, *applied))
    assert first["levels"]
    assert again["levels"] == first["levels"]


def test_a_recipe_may_remove_more_and_says_all_else_itself(tmp_path: Path) -> None:
    recipe, few = tmp_path / "recipe.json", tmp_path / "few.csv"
    run("recode", FOLDER / "people.csv", *options(), "-k", 5, "--unlisted", "drop",
        "--recipe", recipe)  # fmt: skip
    few.write_text("\n".join((FOLDER / "people.csv").read_text().splitlines()[:150]) + "\n")
    applied = ["recode", few, "--apply", recipe, "--unlisted", "drop"]
    with pytest.raises(InvalidInput, match="allow suppression_limit"):
        run(*applied)
    said = json.loads(run(*applied, "--suppression-limit", 1, "--json"))
    assert said["removed_records"] > 0.05 * said["records"]
    for option in (["-k", 20], ["--local"], ["--utility", "precision"], ["--never", "sex"]):
        with pytest.raises(InvalidInput, match=f"{option[0]}: is what the recipe says"):
            run(*applied, *option)


def test_a_quasi_identifier_is_not_silently_made_something_else(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    for role in ("--sensitive", "--identifier"):
        with pytest.raises(InvalidInput, match=f'{role}: "education" is a quasi-identifier'):
            run("recode", FOLDER / "people.csv", *options(), "-k", 5, role, "education",
                "--unlisted", "drop", "--out", out)  # fmt: skip
    assert not out.exists()


def test_every_utility_can_be_asked_for_and_attributes_weighed() -> None:
    source = [FOLDER / "people.csv", *options(), "-k", 5, "--json"]
    found = {
        utility: json.loads(run("recode", *source, "--utility", utility))
        for utility in (*CELL_UTILITIES, *CLASS_UTILITIES)
    }
    assert all(figures["proved"] for figures in found.values())
    for utility, figures in found.items():
        best = max if utility in ("granularity", "precision", "entropy") else min
        kept = [each["utility"][utility] for each in found.values()]
        assert figures["utility"][utility] == pytest.approx(best(kept))
    dear = json.loads(run("recode", *source, "--importance", "education=50"))
    assert dear["levels"].get("education", 0) == 0


def test_how_well_an_attribute_is_predicted_is_said_before_and_after() -> None:
    said = run("recode", FOLDER / "people.csv", *options(), "-k", 5, "--target", "diagnosis")
    assert "diagnosis predicted right by a model" in said
    with pytest.raises(InvalidInput, match="shoe size"):
        run("recode", FOLDER / "people.csv", *options(), "-k", 5, "--target", "shoe size")


def test_what_another_column_restores_is_not_written(tmp_path: Path) -> None:
    source, levels = tmp_path / "ages.csv", tmp_path / "levels.csv"
    ages = [age for age in range(20, 60) for _ in range(1 + age % 3)] * 6
    source.write_text("age,born,sex\n" + "".join(f"{a},{2020 - a},f\n" for a in ages))
    levels.write_text("".join(f"{a};{a // 10}0s;*\n" for a in range(20, 60)))
    out = tmp_path / "out.csv"
    said = run(
        "recode", source, "-q", "age", "-q", "sex", "--hierarchy", f"age={levels}", "-k", 20,
        "--unlisted", "non_identifying", "--out", out, code=1,
    )  # fmt: skip
    assert "nothing was written" in said
    assert not out.exists()


def test_bad_options_are_messages(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="names none; give -k"):
        run("recode", FOLDER / "people.csv", *options())
    with pytest.raises(InvalidInput, match="an attribute, an equals sign and a file"):
        run("recode", FOLDER / "people.csv", "-q", "age", "--hierarchy", "age", "-k", 2)
    with pytest.raises(InvalidInput, match="an attribute, an equals sign and a number"):
        run("recode", FOLDER / "people.csv", *options(), "-k", 2, "--importance", "age=dear")
    with pytest.raises(InvalidInput, match='Did you mean "loss"'):
        run("recode", FOLDER / "people.csv", *options(), "-k", 2, "--utility", "los")
