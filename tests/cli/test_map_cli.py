"""`divulge map`: what is chosen is written only if it holds as it would be published."""

import json
from collections import Counter
from pathlib import Path

import pyarrow.csv as pc
from typer.testing import CliRunner

from divulge.cli.main import app

runner = CliRunner()


def run(*arguments: object, code: int = 0) -> str:
    result = runner.invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def write_people(path: Path, more: bool) -> Path:
    lines = [
        f"{20 + i % 7},{'fm'[i % 2]}" + (f",{2000 - i % 7}" if more else "") for i in range(84)
    ]
    path.write_text("\n".join(["age,sex" + (",born" if more else ""), *lines, *lines[:5]]) + "\n")
    return path


def test_the_chosen_way_is_written_and_drawn(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv", more=False)
    said = json.loads(
        run(
            "map", people, "-q", "age", "-q", "sex", "-k", 7, "--loss-at-most", 1, "--json",
            "--out", tmp_path / "chosen.csv", "--report", tmp_path / "map.html",
        )
    )  # fmt: skip
    assert said["published"]["status"] == "pass"
    assert "<html" in (tmp_path / "map.html").read_text()
    rows = pc.read_csv(tmp_path / "chosen.csv").to_pylist()
    assert min(Counter((row["age"], row["sex"]) for row in rows).values()) >= 6


def test_nothing_is_written_that_another_column_refutes(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv", more=True)
    rare = [f"{age},f,{2020 - age}" for age in range(60, 70)]
    people.write_text(people.read_text() + "\n".join(rare) + "\n")
    out = tmp_path / "chosen.csv"
    run(
        "map", people, "-q", "age", "-q", "sex", "-k", 5, "--loss-at-most", 0.9, "--out", out,
        "--unlisted", "non_identifying", code=1,
    )  # fmt: skip
    assert not out.exists()


def test_levels_of_a_file_are_ways_on_the_map(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv", more=False)
    levels = tmp_path / "ages.csv"
    levels.write_text("".join(f"{age};{age // 3 * 3};*\n" for age in range(20, 27)))
    said = json.loads(
        run("map", people, "-q", "age,sex", "--hierarchy", f"age={levels}", "-k", 7, "--json")
    )
    assert {point["levels"].get("age", 0) for point in said["points"]} == {0, 1, 2}
