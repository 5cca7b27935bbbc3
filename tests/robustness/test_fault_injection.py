"""The n-th change of the file system fails, or the process ends there, for every n and verb.

Afterwards there is the old set or the new one, never a mixture; the sources are as they were; and
the same command run again ends as if nothing had happened.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.robustness.verbs import VERBS, Verb, make_world, plain_svg, run, snapshot

from divulge.assessment import Chart
from divulge.work import filesystem, require_whole
from divulge.work.problems import InvalidInput

Fault = Literal["fails", "ends"]
FOLDERS = ("check", "protect")
"""Verbs whose results are a set in a folder of its own."""
TURNS = 3
"""They make many changes: a test takes every third."""


class Ended(BaseException):
    """The process has ended here: nothing that would clean up behind it is done either."""


class Injector:
    """Lets the n-th change of the file system fail, or the process end there."""

    def __init__(self, at: int, fault: Fault) -> None:
        self.at, self.fault, self.count = at, fault, 0

    def __call__(self, change: str, path: Path) -> None:
        self.count += 1
        if self.fault == "fails" and self.count == self.at:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        if self.fault == "ends" and self.count >= self.at:
            raise Ended(f"{change} {path.name}")


@pytest.fixture(autouse=True)
def _without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, pictures, disks and replays take most of the time; nothing here depends on them."""
    monkeypatch.setattr("divulge.protection.tuning.METHOD_CANDIDATES", 0)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a process that ends loses no page of memory
    monkeypatch.setattr("divulge.cli.commands.events._draw_all", _draw_two)
    monkeypatch.setattr(Chart, "svg", plain_svg)
    monkeypatch.setattr("divulge.report.results.page", lambda *parts: str(parts))
    monkeypatch.setattr("divulge.report.page.protection_page", lambda found, _: str(found))


def _draw_two(found: Any, folder: Path) -> None:
    for name in list(found.charts())[:2]:
        Chart.save(found.charts()[name], folder / f"{name.replace(' ', '-')}.svg")


def _unavailable(one: Path, other: Path) -> None:
    filesystem._notify_observers("exchange", other)
    raise filesystem.ExchangeUnavailable(errno.EINVAL, "no exchange here", str(other))


def _interrupted(verb: Verb, at: int, fault: Fault, overwrite: bool) -> tuple[int | None, int]:
    """Run a verb with a fault; its exit code (None if it ended), and how many changes it made."""
    injector = Injector(at, fault)
    try:
        with filesystem.observe_changes(injector):
            return run(verb.line(overwrite=overwrite)), injector.count
    except Ended:
        return None, injector.count


def _outputs(verb: Verb) -> list[dict[str, bytes] | None]:
    return [snapshot(Path(output)) for output in verb.written]


def _litter(known: set[str]) -> set[str]:
    return {str(path) for path in Path().rglob("*")} - known


def _try_every_change(
    verb: Verb,
    base: Path,
    fault: Fault,
    enter: Callable[[Path], object],
    overwrite: bool,
    turn: int = 0,
    turns: int = 1,
) -> int:
    """Inject the fault at every change there is (of several turns: at every so many-th)."""
    enter(base)
    make_world(Path(), age=40)
    if overwrite:
        assert run(verb.line()) in (0, 1)
    if overwrite and verb.name == "init":  # a draft goes by the names of columns alone
        Path(verb.outputs[0]).write_text("an older draft")
    old = _outputs(verb)
    make_world(Path(), age=30)
    inputs = snapshot(Path("people.csv"))
    template = base.with_name(f"{base.name}-template")
    shutil.copytree(base, template)
    code, changes = _interrupted(verb, 0, "fails", overwrite)  # there is no change 0
    assert code in (0, 1)
    new = _outputs(verb)
    assert old != new
    there = {str(path) for path in Path().rglob("*")}
    for at in range(1 + turn, changes + 1, turns):
        folder = base.with_name(f"{base.name}-{fault}-{at}")
        shutil.copytree(template, folder)
        enter(folder)
        code, _ = _interrupted(verb, at, fault, overwrite)
        found = _outputs(verb)
        _no_mixture(verb, found, old, new, f"{verb.name}, change {at} {fault}")
        if code in (0, 1):
            assert found == new, f"{verb.name} said that all is well, change {at} {fault}"
        assert snapshot(Path("people.csv")) == inputs
        assert run(verb.line(overwrite=True)) in (0, 1), f"the rerun after change {at} {fault}"
        assert _outputs(verb) == new, f"the rerun after change {at} {fault}"
        assert _litter(there) == set(), f"what is left after change {at} {fault}"
        enter(base)
        shutil.rmtree(folder)
    return changes


def _no_mixture(
    verb: Verb,
    found: list[dict[str, bytes] | None],
    old: list[dict[str, bytes] | None],
    new: list[dict[str, bytes] | None],
    where: str,
) -> None:
    for output, now, before, after in zip(verb.written, found, old, new, strict=True):
        if now in (before, after) or now is None:
            continue
        # Only a set without its manifest may be between the two, and no reader takes it for one.
        assert "manifest.json" not in now, f"{where}: {output} is neither old nor new"
        with pytest.raises(InvalidInput, match="not a whole set"):
            require_whole(Path(output))
    kinds = {
        "old" if now == before else "new"
        for now, before, after in zip(found, old, new, strict=True)
        if now is not None and before != after
    }
    if set(verb.outputs) & {"charts"}:
        return  # two results of one run, each whole by itself
    assert len(kinds) <= 1, f"{where}: old and new ones side by side"


@pytest.mark.parametrize("fault", ["fails", "ends"])
@pytest.mark.parametrize("name", [name for name in VERBS if name not in FOLDERS])
def test_a_fault_at_any_change_leaves_files_whole_and_the_rerun_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: Fault
) -> None:
    base = tmp_path / "world"
    base.mkdir()
    changes = _try_every_change(VERBS[name], base, fault, monkeypatch.chdir, overwrite=False)
    assert changes > 5


@pytest.mark.parametrize("fault", ["fails", "ends"])
@pytest.mark.parametrize("exchange", ["at once", "file by file"])
@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("turn", range(TURNS))
def test_a_set_is_replaced_as_a_whole_or_refused_by_its_readers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    exchange: str,
    fault: Fault,
    turn: int,
) -> None:
    if exchange == "file by file":
        monkeypatch.setattr(filesystem, "exchange", _unavailable)
    base = tmp_path / "world"
    base.mkdir()
    given = VERBS[name], base, fault, monkeypatch.chdir
    assert _try_every_change(*given, overwrite=True, turn=turn, turns=TURNS) > 15


@pytest.mark.parametrize("fault", ["fails", "ends"])
@pytest.mark.parametrize("name", ["suppress", "risk", "init"])
def test_files_that_are_replaced_are_old_or_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: Fault
) -> None:
    base = tmp_path / "world"
    base.mkdir()
    assert _try_every_change(VERBS[name], base, fault, monkeypatch.chdir, overwrite=True) > 5
