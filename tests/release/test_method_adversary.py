"""A release and somebody who knows the method: reported, limited where named, and decoys."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from random import Random

import polars as pl
import pytest

from divulge.protection import OutOfReachError
from divulge.release import Release

KEYS = ("region", "age", "sex")

RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
subjects = "people"
[dataset.roles]
identifier = "id"
quasi_identifier = ["region", "age", "sex"]
{more}
[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 4

[protection]
methods = ["suppress"]
{protection}
"""

ADVERSARY = """
[[adversary]]
name = "reader of the manual"
attack = "method"
{settings}

[[limit]]
adversary = "reader of the manual"
measure = "probabilistic.posterior"
at_most = {at_most}
"""


def write(folder: Path, more: str = "", protection: str = "") -> Path:
    random = Random(5)  # noqa: S311  # made-up data
    lines = ["id,region,age,sex"]
    for number in range(700):
        region = random.choices("abcdefgh", [30, 20, 15, 10, 8, 5, 3, 1])[0]
        age, sex = random.choices(range(9), [9, 8, 7, 6, 5, 4, 3, 2, 1])[0], random.choice("FM")
        lines.append(f"{number},{region},{age},{sex}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    path = folder / "release.toml"
    path.write_text(RELEASE.format(more=more, protection=protection))
    return path


def test_who_knows_the_method_is_reported_without_being_named(tmp_path: Path) -> None:
    p = Release.load(write(tmp_path)).protect(out=tmp_path / "out")
    assert p.passed
    [part] = p.records.values()
    assert part.method is not None
    assert part.method.figures.narrowed > 0
    told = json.loads((tmp_path / "out" / "internal" / "result.json").read_text())
    figures = told["protection"]["datasets"]["people"]["method"]
    assert figures["hidden"] == part.suppressed_cells
    assert figures["right"] >= figures["base"]
    assert any("knows the method" in line for line in told["protection"]["sentences"])
    assert any('attack = "method"' in line for line in told["sentences"])


@pytest.mark.parametrize("settings", ["", "k = 4", 'keys = ["region", "age", "sex"]'])
def test_who_is_named_is_limited(tmp_path: Path, settings: str) -> None:
    generous = ADVERSARY.format(settings=settings, at_most=0.9)
    p = Release.load(write(tmp_path, generous)).protect()
    assert p.passed
    [part] = p.records.values()
    [assessment] = p.after.assessments
    assert part.method is not None
    assert assessment.attack == "method"
    assert assessment.figures["right"] == part.method.figures.right
    strict = ADVERSARY.format(settings=settings, at_most=0.001)
    with pytest.raises(OutOfReachError, match="decoys"):
        Release.load(write(tmp_path, strict)).protect()


def test_before_protection_nothing_is_hidden_from_them(tmp_path: Path) -> None:
    path = write(tmp_path, ADVERSARY.format(settings="", at_most=0.0))
    [assessment] = Release.load(path).check().assessments
    assert assessment.secrets == 0


@pytest.mark.parametrize(
    ("settings", "problem"),
    [('keys = ["regoin"]', "region"), ("k = 1", "k"), ("decoys = -1", "decoys"), ("n = 3", "n")],
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, settings: str, problem: str) -> None:
    path = write(tmp_path, ADVERSARY.format(settings=settings, at_most=0.5))
    with pytest.raises(Exception, match=problem):
        Release.load(path)


def read_hidden(folder: Path) -> set[tuple[int, str]]:
    """Rows (in the order of the file) and columns that say that a value was hidden."""
    table = pl.read_csv(folder / "release" / "people.csv", infer_schema=False)
    hidden = set()
    for name in KEYS:
        column = f"{name}_status" if f"{name}_status" in table.columns else name
        for row, value in enumerate(table[column].to_list()):
            if value == "suppressed":
                hidden.add((row, name))
    return hidden


def test_a_rerun_and_a_revision_draw_the_same_decoys(tmp_path: Path) -> None:
    path = write(tmp_path, protection="decoys = 0.5")
    out = tmp_path / "out"
    first = Release.load(path).protect(out=out)
    [part] = first.records.values()
    assert part.decoy_cells > 0
    before = (out / "release" / "people.csv").read_bytes()
    Release.load(path).protect(out=out, overwrite=True)
    assert (out / "release" / "people.csv").read_bytes() == before
    Release.load(path).protect(out=tmp_path / "revised", revises=out)
    assert (tmp_path / "revised" / "release" / "people.csv").read_bytes() == before
    assert len(read_hidden(out)) == part.suppressed_cells


def test_what_goes_out_does_not_tell_decoys_from_other_cells(tmp_path: Path) -> None:
    """The files name no decoy, no secret and no figure; all suppressed cells are marked alike."""
    out = tmp_path / "out"
    p = Release.load(write(tmp_path, protection="decoys = 0.5")).protect(out=out)
    [part] = p.records.values()
    secret = json.loads((out / "internal" / "secret.json").read_text())["key"]
    texts = [file.read_bytes() for file in sorted((out / "release").iterdir())]
    note = (out / "release" / "methods-note.txt").read_text()
    assert "drawn at random" in note
    assert not any(letter.isdigit() for letter in note)
    for text in texts:
        assert secret.encode() not in text
        assert bytes.fromhex(secret) not in text
        assert b"decoy" not in text
    mode = stat.S_IMODE((out / "internal" / "secret.json").stat().st_mode)
    assert mode == 0o600
    # Who hides the same is alike in the file, decoy or not: only the truth tells them apart.
    assert part.needed is not None
    needed = part.needed.dataset.to_arrow().select(list(KEYS)).to_pylist()
    released = part.dataset.to_arrow().select(list(KEYS)).to_pylist()
    changed = [new for old, new in zip(needed, released, strict=True) if old != new]
    assert len(changed) == part.decoy_cells
    assert all(row in needed for row in changed)
    decisions = (out / "internal" / "decisions.txt").read_text()
    assert decisions.count("it is a decoy") == part.decoy_cells


def test_another_secret_draws_other_decoys(tmp_path: Path) -> None:
    path = write(tmp_path, protection="decoys = 0.5")
    [one], [other] = (Release.load(path).protect().records.values() for _ in range(2))
    assert one.needed is not None
    assert other.needed is not None
    assert one.needed.dataset.equals(other.needed.dataset)
    assert not one.dataset.equals(other.dataset)
