"""`divulge tables attack`, and a suppression drawn on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from divulge import Release
from divulge.cli.main import app
from divulge.tables import Table, matching_attack, suppress, write_crosstab
from divulge.work import InvalidInput

PUBLISHED = """row,c1,c2,c3,c4,Total
r1,15,15,12,10,52
r2,19,*,13,x,55
r3,8,8,11,14,41
r4,9,x,26,*,44
Total,51,46,62,33,192
"""
PAPER = ["--zeros", "secret"]
COMPLETE = """row,c1,c2,c3,c4,Total
r1,15,15,12,10,52
r2,19,20,13,3,55
r3,8,8,11,14,41
r4,9,3,26,6,44
Total,51,46,62,33,192
"""


@pytest.fixture
def published(tmp_path: Path) -> str:
    file = tmp_path / "published.csv"
    file.write_text(PUBLISHED)
    return str(file)


def test_an_attack_that_narrows_cells_ends_with_code_1(published: str) -> None:
    asked = ["tables", "attack", published, "--min-frequency", "5", "--width", "8", *PAPER]
    told = CliRunner().invoke(app, asked)
    assert told.exit_code == 1
    assert "row=r2, column=c4" in told.output
    assert "1 to 4" in told.output
    assert "narrows the intervals of all 2 sensitive cells below the width of 8" in told.output
    content = json.loads(CliRunner().invoke(app, [*asked, "--json"]).output)
    assert content["candidates"] == 10
    assert content["unsafe"] == 2


def test_a_page_shows_what_is_left_to_every_cell_and_which_are_unsafe(
    published: str, tmp_path: Path
) -> None:
    page = tmp_path / "attack.html"
    asked = ["tables", "attack", published, "--min-frequency", "5", "--width", "8", *PAPER]
    CliRunner().invoke(app, [*asked, "--html", str(page)])
    drawn = page.read_text()
    assert "P [1, 4]" in drawn
    assert "* [5, 8]" in drawn
    assert "Unsafe: row=r2, column=c4." in drawn


def test_costs_by_value_change_what_the_attack_finds(tmp_path: Path) -> None:
    table = Table.from_cells([[25, 20, 16], [10, 11, 4], [5, 3, 7]])
    chosen = suppress(table, 6, 5, cost="value", zeros="secret")
    write_crosstab(chosen.published, tmp_path / "p.csv")
    asked = ["tables", "attack", str(tmp_path / "p.csv"), "--min-frequency", "6", "--width", "5"]
    asked += PAPER
    by_value = json.loads(CliRunner().invoke(app, [*asked, "--cost", "value", "--json"]).output)
    found = matching_attack(chosen.published, 6, 5, cost="value", zeros="secret")
    assert [cell["effective"] for cell in by_value["cells"]] == [
        list(interval) for interval in found.intervals.values()
    ]
    by_number = json.loads(CliRunner().invoke(app, [*asked, "--json"]).output)
    assert by_value["cells"][2]["effective"] == [0, 10]
    assert by_number["cells"][2]["effective"] == [1, 10]


def test_marks_that_tell_primary_cells_are_labels(published: str) -> None:
    asked = ["tables", "attack", published, "--min-frequency", "5", "--width", "8", *PAPER]
    told = CliRunner().invoke(app, [*asked, "--primary-mark", "x", "--json"])
    labelled = json.loads(told.output)
    judged = [cell["cell"] for cell in labelled["cells"] if cell["judged"]]
    assert judged == [[1, 3], [3, 1]]


def test_unknown_parameters_are_listed(published: str) -> None:
    told = CliRunner().invoke(app, ["tables", "attack", published, "--unknown", "--json", *PAPER])
    pairs = json.loads(told.output)["parameters"]
    assert {"min_frequency": 5, "width": 8} in pairs


def test_a_drawn_suppression_is_kept_in_its_file(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(COMPLETE)
    asked = ["tables", "suppress", str(table), "--min-frequency", "5", "--width", "8"]
    asked += ["--resist-matching", "--sealed", str(tmp_path / "draws.sealed")]
    first, again = (CliRunner().invoke(app, asked) for _ in range(2))
    assert first.exit_code == 0
    assert first.output == again.output
    assert "an adversary who knows everything but the seed" in first.output
    assert (tmp_path / "draws.sealed").exists()


def release_with(tmp_path: Path, settings: str) -> Path:
    lines = ["row,column"]
    rows = [line.split(",") for line in COMPLETE.splitlines()[1:-1]]
    for row in rows:
        for column, count in enumerate(row[1:-1]):
            lines += [f"{row[0]},c{column + 1}"] * int(count)
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    file = tmp_path / "release.toml"
    file.write_text(
        '[[dataset]]\nname = "people"\nsource = "people.csv"\n'
        '[[adversary]]\nname = "reader"\nattack = "tables"\nby = ["row", "column"]\n'
        f'min_frequency = 5\nwidth = 8\nmargins = "published"\nzeros = "secret"\n{settings}\n'
        '[[limit]]\nadversary = "reader"\nmeasure = "deterministic.posterior"\nat_most = 0.5\n'
    )
    return file


def test_an_adversary_of_a_release_may_know_the_algorithm(tmp_path: Path) -> None:
    verdict = Release.load(release_with(tmp_path, "")).check()
    [found] = verdict.assessments
    assert found.model == "matching"
    assert found.figures["unsafe_cells"] == 2
    assert found.claim == "exact"
    drawn = "resist_matching = true\nseed = 3"
    [resisted] = Release.load(release_with(tmp_path, drawn)).check().assessments
    assert resisted.figures["unsafe_cells"] == 0
    assert resisted.claim == "estimate"
    [unaware] = Release.load(release_with(tmp_path, 'method = "secret"')).check().assessments
    assert unaware.model == "audit"
    fast = 'suppress = "fast"'
    [matched] = Release.load(release_with(tmp_path, fast)).check().assessments
    assert matched.model == "matching"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("seed = 3", "is for resist_matching"),
        (
            "resist_matching = true\nseed = 1\np_percent = 5",
            "the one rule of sensitivity that it knows",
        ),
        ('resist_matching = true\nseed = 1\nvalue = "row"', "records must be counted"),
        ('resist_matching = true\nseed = 1\nsuppress = "fast"', "needs suppress"),
    ],
)
def test_settings_that_contradict_each_other_are_said(
    tmp_path: Path, settings: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Release.load(release_with(tmp_path, settings))
