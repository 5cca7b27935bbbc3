"""The properties of the tests at random: other examples in every round, until the time is used.

Each file of tests with properties runs in a process of its own, under the profile `fuzz` of
`tests/conftest.py` and a seed that is drawn and printed. A falsifying example is kept in
tests/robustness/corpus/properties, where the next run begins with it.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TESTS = PROJECT / "tests"
CORPUS = TESTS / "robustness" / "corpus" / "properties"
TIME_TO_STOP = 30.0
"""How long a process may take to stop after it was interrupted, before it is killed."""

_EXAMPLES = re.compile(r"(\d+) passing")
_TESTS = re.compile(r"(\d+) (?:passed|failed)")
_BROKEN = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
NO_TESTS_COLLECTED = 5


@dataclass
class PropertyRun:
    """What came of all rounds: how much was tried, and what broke."""

    files: int = 0
    tests: int = 0
    examples: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    """Per property the seed with which it broke first."""


def fuzz_properties(seconds: float, seed: int, only: Sequence[str] = ()) -> bool:
    """Run properties for so long and print what broke them; gives whether nothing did."""
    until = time.monotonic() + seconds
    run = PropertyRun()
    try:
        for path, drawn in _turns(seed, only):
            left = until - time.monotonic()
            if left <= 0:
                break
            _run_file(path, drawn, left, run)
    finally:
        _show(run)
    return not run.failures


def _show(run: PropertyRun) -> None:
    print(
        f"properties: {run.examples:,} examples in {run.tests:,} runs of tests"
        f" ({run.files:,} of files), {len(run.failures):,} failures"
    )
    for test, seed in run.failures.items():
        stated = " ".join(f"{name}={value}" for name, value in _settings(seed).items())
        print(f"  repeat: {stated} {sys.executable} -m pytest '{test}'")
    if run.failures:
        print("  what to do with it: CONTRIBUTING.md, What the fuzzer finds", flush=True)


def _turns(seed: int, only: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Files of tests in an order that is drawn, each with a seed; then all of them again."""
    source = random.Random(seed)  # noqa: S311  # no secret
    paths = [Path(name).resolve() for name in only] or _files_with_properties()
    while True:
        for path in source.sample(paths, len(paths)):
            yield path, source.randrange(10**9)


def _files_with_properties() -> list[Path]:
    files = sorted(TESTS.rglob("test_*.py"))
    return [path for path in files if "@given(" in path.read_text(encoding="utf-8")]


def _run_file(path: Path, seed: int, seconds: float, run: PropertyRun) -> None:
    name = path.relative_to(PROJECT)
    print(f"{name} with seed {seed}", flush=True)
    # All that a run leaves behind, also one that is killed, is in a folder that goes with it.
    with tempfile.TemporaryDirectory(prefix="divulge-fuzz-") as folder:
        beneath = Path(folder) / "beneath"
        beneath.mkdir()
        # Hypothesis also keeps the example at which it is interrupted: only what broke comes back.
        examples = shutil.copytree(CORPUS, Path(folder) / "examples")
        stated = {"TMPDIR": str(beneath), "DIVULGE_EXAMPLES": str(examples)}
        surroundings = {**os.environ, **_settings(seed), **stated}
        line = [sys.executable, "-m", "pytest", str(name), "-m", "hypothesis", "-q"]
        line += ["--hypothesis-show-statistics", "-p", "no:cacheprovider"]
        line += [f"--basetemp={folder}/pytest"]
        said, ended = Path(folder) / "said.txt", None
        try:
            with said.open("wb") as output:
                ended = _run_for(line, surroundings, output.fileno(), seconds)
        finally:  # also of a run that is interrupted, all that it has found is told
            text = said.read_text(encoding="utf-8", errors="replace")
            if _note(name, seed, text, ended, run):
                shutil.copytree(examples, CORPUS, dirs_exist_ok=True)


def _note(name: Path, seed: int, text: str, ended: int | None, run: PropertyRun) -> bool:
    """Count what came of a file, and print it if something broke for the first time."""
    broken = _BROKEN.findall(text)
    if ended not in (0, NO_TESTS_COLLECTED, None) and not broken:
        broken = [str(name)]  # the file itself could not be run
    run.files += 1
    run.tests += sum(map(int, _TESTS.findall(text.rpartition("\n=")[2] or text)))
    run.examples += sum(map(int, _EXAMPLES.findall(text)))
    new = [test for test in broken if test not in run.failures]
    run.failures.update(dict.fromkeys(new, seed))
    if new:
        print(_without_statistics(text), flush=True)
    return bool(broken)


def _settings(seed: int) -> dict[str, str]:
    """What makes `tests/conftest.py` draw other examples."""
    return {"DIVULGE_PROFILE": "fuzz", "DIVULGE_SEED": str(seed)}


def _run_for(
    line: list[str], surroundings: dict[str, str], said: int, seconds: float
) -> int | None:
    """Run a line for so long; gives how it ended, and None if its time was over before."""
    # A group of its own: who is interrupted here stops it and all that it has started.
    with subprocess.Popen(
        line, cwd=PROJECT, env=surroundings, stdout=said, stderr=said, start_new_session=True
    ) as child:
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _stop(child)


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Interrupt a child, so that it says what it has found; kill it and its own if it goes on."""
    if child.poll() is not None:
        return
    child.send_signal(signal.SIGINT)
    try:
        child.wait(TIME_TO_STOP)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)


def _without_statistics(text: str) -> str:
    """What pytest said, without a paragraph on each property."""
    return re.sub(r"=+ Hypothesis Statistics =+\n.*?(?=^=+ )", "", text, flags=re.S | re.M)
