"""Every verb and option that takes a path, among files of others: only what was named changes."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import typer
from tests.robustness.verbs import VERBS, Verb, make_world, plain_svg, run
from typer.models import OptionInfo

from divulge.assessment import Chart
from divulge.cli.main import app

READ = {
    ("attack", "population"), ("attack", "release"), ("init", "accept"),
    ("reconstruct", "prior"), ("reconstruct", "truth"), ("risk", "original"),
    ("risk", "population"), ("explain", "log"), ("protect", "revises"), ("events attack", "release"),
    ("events ten", "release"), ("events unicity", "release"), ("tables suppress", "hierarchy"),
    ("tables audit", "hierarchy"), ("tables audit", "original"), ("hierarchy", "levels"),
    ("recode", "apply"),
    ("rules run", "release"), ("rules why", "release"), ("verify", "key"),
    ("verify", "original"), ("verify", "release"),
}  # fmt: skip
"""Options that name what is read."""
ELSEWHERE = {
    ("tables suppress", "sealed"), ("protect", "mapping"), ("demo", "out"),
    ("draw_map", "out"), ("draw_map", "report"), ("rules format_rules", "out"),
    ("rules run", "out"), ("rules why", "chart"),
}  # fmt: skip
"""Options that name what is written and have tests of their own, below or with their verb."""


@pytest.fixture(autouse=True)
def _without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chart, "svg", plain_svg)
    monkeypatch.setattr("divulge.report.results.page", lambda *parts: str(parts))
    monkeypatch.setattr("divulge.report.page.protection_page", lambda found, _: str(found))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of inputs and of files that belong to somebody else."""
    folder = tmp_path / "world"
    make_world(folder)
    (folder / "mine").mkdir()
    (folder / "mine" / "letter.txt").write_text("not yours")
    (folder / ".hidden").write_text("not yours either")
    (folder / "notes.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(folder)
    return folder


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All files with their modes and contents; folders too, so that none comes or goes."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
        )
        for path in folder.rglob("*")
    }


def _path_options(verbs: typer.Typer = app, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every option of every verb whose type is a path."""
    for group in verbs.registered_groups:
        assert group.typer_instance is not None
        yield from _path_options(group.typer_instance, f"{group.name} ")
    for verb in verbs.registered_commands:
        assert verb.callback is not None
        parameters = inspect.signature(verb.callback, eval_str=True).parameters
        for name, parameter in parameters.items():
            kind, *told = get_args(parameter.annotation) or (parameter.annotation,)
            is_option = any(isinstance(each, OptionInfo) for each in told)
            if is_option and "Path" in str(kind):
                yield f"{prefix}{verb.callback.__name__}", name


def test_no_option_that_takes_a_path_is_forgotten_here() -> None:
    found = set(_path_options())
    assert len(found) > 20
    covered = {
        (verb.name, option.removeprefix("--"))
        for verb in VERBS.values()
        for option in (*verb.options, *(["--resume"] if verb.resume else []))
    }
    covered |= {("reconstruct", "out")}  # what --resume was called before
    assert found - covered - READ - ELSEWHERE == set()


@pytest.mark.parametrize("name", VERBS)
def test_only_what_was_named_changes(world: Path, name: str) -> None:
    verb = VERBS[name]
    before = everything(world)
    assert run(verb.line()) in (0, 1)
    after = everything(world)
    assert {path: after.get(path) for path in before} == before
    named = {path.split("/")[0] for path in set(after) - set(before)}
    assert named == {path.split("/")[0] for path in verb.written}, (
        "what an interrupted run would take up is gone too"
    )


def _misplaced(verb: Verb) -> Iterator[tuple[str, ...]]:
    """The verb's outputs, one after the other put where it may not go."""
    sources = [part for part in verb.arguments if "." in part]
    for place in range(len(verb.outputs)):
        for wrong in [*sources, "link.csv", "hard.csv", "notes.csv", "/dev/null", "pipe", "mine"]:
            yield (*verb.outputs[:place], wrong, *verb.outputs[place + 1 :])


@pytest.mark.parametrize("name", VERBS)
def test_inputs_links_devices_and_files_of_others_are_never_written_to(
    world: Path, name: str
) -> None:
    verb = VERBS[name]
    source = next(part for part in verb.arguments if "." in part)
    Path("link.csv").symlink_to(source)
    Path("hard.csv").hardlink_to(source)
    os.mkfifo("pipe")
    before = everything(world)
    for outputs in _misplaced(verb):
        assert run(verb.line(outputs)) == 2, outputs
        assert everything(world) == before, outputs
        if "notes.csv" in outputs and "mine" not in outputs:
            continue  # with this option a file of the user may be replaced: they say so
        assert run(verb.line(outputs, overwrite=True)) == 2, outputs
        assert everything(world) == before, outputs


@pytest.mark.parametrize("name", [verb.name for verb in VERBS.values() if verb.resume])
@pytest.mark.parametrize("folder", [".", "mine", "people.csv", "../world"])
def test_a_folder_that_is_not_of_checkpoints_is_never_cleared(
    world: Path, name: str, folder: str
) -> None:
    before = everything(world)
    line = [*VERBS[name].arguments, "--resume", folder]
    assert run(line) == 2
    assert everything(world) == before


def test_checkpoints_are_closed_to_others_and_foreign_files_among_them_stay(world: Path) -> None:
    from divulge.work import Checkpoints, InvalidInput

    kept = Checkpoints("kept")
    kept.remember("n", {}, lambda: {"n": np.array([1])})
    assert Path("kept").stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in Path("kept").iterdir())
    Path("kept/letter.txt").write_text("not yours")
    with pytest.raises(InvalidInput, match="did not write"):
        Checkpoints("kept")
    kept.clear()
    assert [path.name for path in Path("kept").iterdir() if path.suffix != ".txt"] == []
    assert Path("kept/letter.txt").read_text() == "not yours"


def test_the_other_places_keep_to_the_same_rules(world: Path) -> None:
    before = everything(world)
    for line in (
        ["protect", "release.toml", "--mapping", "people.csv", "--overwrite"],
        ["protect", "release.toml", "--mapping", "notes.csv"],
        ["demo", "--out", ".", "--overwrite"],
        ["demo", "--out", "mine", "--overwrite"],
        ["tables", "suppress", "people.csv", "--by", "town,sex", "--min-frequency", "2",
         "--width", "2", "--resist-matching", "--sealed", "notes.csv"],
    ):  # fmt: skip
        assert run(line) == 2, line
        assert everything(world) == before, line


def test_of_two_writers_to_one_place_one_is_refused_before_it_writes(world: Path) -> None:
    from divulge.work import BeingWritten, OutputFolder

    first = OutputFolder(Path("results"), "the results of a check")
    with first.held():
        assert run(VERBS["check"].line()) == 2
        with pytest.raises(BeingWritten, match="another run is writing there"):
            OutputFolder(Path("results"), "the results of a check").held().__enter__()
        assert not Path("results").exists()
    assert run(VERBS["check"].line()) in (0, 1)


def test_a_set_that_somebody_changed_is_not_replaced_unasked(world: Path) -> None:
    assert run(VERBS["check"].line()) in (0, 1)
    assert run(VERBS["check"].line()) in (0, 1), "an unchanged set of our own may be renewed"
    Path("results/report.html").write_text("with remarks of mine")
    before = everything(world)
    assert run(VERBS["check"].line()) == 2
    assert everything(world) == before
    assert run(VERBS["check"].line(overwrite=True)) in (0, 1)
    Path("results/remarks.txt").write_text("of mine")
    before = everything(world)
    assert run(VERBS["check"].line(overwrite=True)) == 2
    assert everything(world) == before
