"""Long fuzzing, outside of the tests: `make fuzz SECONDS=600 SEED=7 KILLS=20`.

Cases run in child processes: a crash or a hang of one ends its child and not the fuzzing. An input
that breaks the law is made smaller and kept in tests/robustness/corpus, where the tests run it.
Half of the time is for the properties of the tests (`properties`), with examples drawn anew. With
`--kills`, runs of long verbs are killed as well (`kills`).
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import resource
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = PROJECT / "tests" / "robustness" / "corpus"
sys.path.insert(0, str(PROJECT))

BATCH_SECONDS = 15.0
CASE_CPU_SECONDS = 60
CASE_SECONDS = 150.0
START_SECONDS = 1_800.0
"""Until a child says its first word: on a busy machine, loading alone takes minutes."""
MOST_DATA = 6 << 30
MOST_GROWTH = 1 << 30
"""A case that needs more memory than this on a file of some kilobytes trusts the file too much."""
REDUCTION_SECONDS = 4.0
KINDS_SHOWN = 40


def _find_place(corpus: Path, name: str, kind: str, content: bytes) -> Path:
    """Where an input is kept: named after its kind, and beside an older one of that kind.

    The older one may have been mended, and shows that it is.
    """
    digest = hashlib.sha256(kind.encode()).hexdigest()[:12]
    place = corpus / f"{name}-{digest}.bin"
    if not place.exists() or place.read_bytes() == content:
        return place
    return corpus / f"{name}-{digest}-{hashlib.sha256(content).hexdigest()[:6]}.bin"


# One batch of cases, in a child process.


def run_batch(name: str, first: int, seconds: float, count: int, last: Path) -> None:
    """Run cases one after another; a line of JSON says how each begins and ends."""
    from tests.robustness.fuzz_targets import TARGETS, Violation, input_of, run_case

    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    target, until, reduced = TARGETS[name], time.monotonic() + seconds, set()

    def run(content: bytes) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return run_case(target, content, Path(folder).resolve())

    def breaks(kind: str, content: bytes) -> bool:
        try:
            run(content)
        except Violation as violation:
            return violation.kind == kind
        return False

    for seed in range(first, first + count):
        if time.monotonic() > until:
            break
        _limit_cpu()
        content = input_of(target, seed)
        last.write_bytes(content)
        _say(begin=seed)
        before = _peak_memory(reset=True)
        try:
            outcome = run(content)
        except Violation as violation:
            if violation.kind not in reduced and name not in ("arguments", "process"):
                content = _reduced(content, partial(breaks, violation.kind))
            reduced.add(violation.kind)
            kept = base64.b64encode(content).decode()
            _say(end="failed", kind=violation.kind, detail=str(violation), content=kept)
            continue
        if _peak_memory() - before > MOST_GROWTH:
            kept = base64.b64encode(content).decode()
            _say(end="failed", kind=f"{name}: takes too much memory", detail="", content=kept)
            continue
        _say(end=outcome)


def _say(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _limit_cpu() -> None:
    used = time.process_time()
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + CASE_CPU_SECONDS, hard))


def _peak_memory(reset: bool = False) -> int:
    """The most memory since the last reset, or now."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def _reduced(content: bytes, breaks: Callable[[bytes], bool]) -> bytes:
    """A smaller input that breaks the law in the same way, by leaving out ever smaller blocks."""
    until, size = time.monotonic() + REDUCTION_SECONDS, len(content) // 2
    while size and time.monotonic() < until:
        place = 0
        while place < len(content) and time.monotonic() < until:
            smaller = content[:place] + content[place + size :]
            if breaks(smaller):
                content = smaller
            else:
                place += size
        size //= 2
    return content


# All batches, from the parent.


@dataclass
class Tally:
    """What became of the cases of a target."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)


class Fuzzing:
    """Batches of all targets in turn, and what they found."""

    def __init__(self, names: list[str], seed: int) -> None:
        # Whose turn comes first is drawn: in a short run there is no time for all.
        turns = random.Random(seed).sample(names, len(names))  # noqa: S311  # no secret
        self.tallies = {name: Tally() for name in turns}
        self.next_seed = dict.fromkeys(names, seed)
        self.details: dict[str, str] = {}

    def run(self, seconds: float) -> None:
        """Fuzz for so long; every target has a turn in each round."""
        until = time.monotonic() + seconds
        # A child takes a while to begin: half of a turn is left for that.
        each = max(2.0, min(BATCH_SECONDS, seconds / len(self.tallies) / 2))
        while True:
            for name in self.tallies:
                left = until - time.monotonic()
                if left <= 0:
                    return
                self._batch(name, min(each, left + 1), 1 << 30)

    def run_cases(self, name: str, count: int) -> None:
        """So many cases of one target, however long they take."""
        until = self.next_seed[name] + count
        while self.next_seed[name] < until:
            begun = self.next_seed[name]
            self._batch(name, START_SECONDS, until - begun)
            if self.next_seed[name] == begun:
                return

    def _batch(self, name: str, seconds: float, count: int, alone: bool = False) -> None:
        tally, begun = self.tallies[name], None
        with tempfile.TemporaryDirectory() as folder:
            last = Path(folder) / "last.bin"
            first = self.next_seed[name]
            with _child(name, first, seconds, count, last) as child, _ended_with_us(child):
                for said in _lines(child):
                    if "begin" in said:
                        begun = said["begin"]
                        self.next_seed[name] = begun + 1
                        continue
                    begun = None
                    tally.outcomes[said["end"]] += 1
                    if said["end"] == "failed":
                        content = base64.b64decode(said["content"])
                        self._note(name, said["kind"], said["detail"], content)
                ended = child.wait()
                error = child.stderr.read().decode("utf-8", "replace") if child.stderr else ""
            if begun is None and ended == 0:
                return
            if begun is None:
                self._note(name, f"{name}: the batch ended with {ended}", error, b"")
                return
            content = last.read_bytes()
        how = signal.Signals(-ended).name if ended < 0 else f"exit code {ended}"
        if not alone:  # does the case do it by itself, or only after all those before it?
            self.next_seed[name] = begun
            self._batch(name, seconds, 1, alone=True)
            self.next_seed[name] = begun + 1
            if any(kind.startswith(f"{name}: ended by") for kind in tally.kinds):
                return
            how += " after other cases"
        tally.outcomes["failed"] += 1
        self._note(name, f"{name}: ended by {how}", f"seed {begun}\n{error[-3000:]}", content)

    def _note(self, name: str, kind: str, detail: str, content: bytes) -> None:
        """Count a failure; the first of its kind is kept in the corpus."""
        self.tallies[name].kinds[kind] += 1
        if kind in self.details:
            return
        self.details[kind] = detail
        if not content:
            return
        CORPUS.mkdir(exist_ok=True)
        _find_place(CORPUS, name, kind, content).write_bytes(content)

    def show(self) -> bool:
        """Print the table and the failures; gives whether there were none."""
        print(f"{'target':12}{'cases':>9}{'refused':>9}{'read':>9}{'failures':>10}")
        total: Counter[str] = Counter()
        for name, tally in self.tallies.items():
            _print_row(name, tally.outcomes)
            total += tally.outcomes
        _print_row("all", total)
        for kind, detail in list(self.details.items())[:KINDS_SHOWN]:
            times = sum(tally.kinds[kind] for tally in self.tallies.values())
            print(f"\n{kind} ({times} times)\n{detail}")
        return not self.details


def _print_row(name: str, of: Counter[str]) -> None:
    cells = sum(of.values()), of["refused"], of["read"], of["failed"]
    print(f"{name:12}{cells[0]:>9,}{cells[1]:>9,}{cells[2]:>9,}{cells[3]:>10,}")


def _child(
    name: str, first: int, seconds: float, count: int, last: Path
) -> subprocess.Popen[bytes]:
    line = [sys.executable, __file__, "--batch", name, str(first), str(seconds), str(count)]
    # What a case leaves behind when it crashes goes with the folder of its batch.
    surroundings = {**os.environ, "TMPDIR": str(last.parent)}
    return subprocess.Popen(
        [*line, str(last)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings
    )


@contextmanager
def _ended_with_us(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """No child goes on alone after the fuzzing was interrupted."""
    try:
        yield
    except BaseException:
        child.kill()
        raise


def _lines(child: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """What a child says; one that says nothing for too long hangs and is ended."""
    assert child.stdout is not None  # noqa: S101  # for the types: it was asked for
    pending, patience = b"", START_SECONDS
    while select.select([child.stdout], [], [], patience)[0]:
        heard = os.read(child.stdout.fileno(), 1 << 16)
        if not heard:
            return
        patience = CASE_SECONDS
        *lines, pending = (pending + heard).split(b"\n")
        yield from map(json.loads, lines)
    child.send_signal(signal.SIGABRT)


def repeat(name: str, seed: int) -> bool:
    """Run one case in this process and say what came of it."""
    from tests.robustness.fuzz_targets import TARGETS, Violation, input_of, run_case

    content = input_of(TARGETS[name], seed)
    print(f"{len(content):,} bytes: {content[:400]!r}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(run_case(TARGETS[name], content, Path(folder).resolve()))
        except Violation as violation:
            print(violation)
            return False
    return True


def main() -> int:
    """Read the arguments and do what they ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="of fuzzing; 0 for none")
    parser.add_argument("--seed", type=int, help="of all that is drawn; drawn itself if not given")
    parser.add_argument("--target", action="append", default=[], help="only this one; repeat")
    parser.add_argument(
        "--tests", action="append", default=[], help="only properties, of this file; repeat"
    )
    parser.add_argument("--kills", type=int, default=0, help="of each long verb")
    parser.add_argument("--verb", action="append", default=[], help="kill only this one; repeat")
    parser.add_argument("--case", nargs=2, metavar=("TARGET", "SEED"), help="repeat one case")
    parser.add_argument(
        "--programs", type=int, default=0, help="damaged programs of rules, before all else"
    )
    parser.add_argument("--batch", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.batch:
        name, first, seconds, count, last = given.batch
        run_batch(name, int(first), float(seconds), int(count), Path(last))
        return 0
    if given.case:
        return 0 if repeat(given.case[0], int(given.case[1])) else 1
    seed = given.seed if given.seed is not None else secrets.randbelow(10**9)
    print(f"seed {seed}", flush=True)
    # Asked to end, a run does what it does when it is interrupted: its children and folders go too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return 0 if fuzz_all(given, seed) else 1
    except KeyboardInterrupt:
        print(f"interrupted (seed {seed})", flush=True)
        return 130


def fuzz_all(given: argparse.Namespace, seed: int) -> bool:
    """Damaged inputs, properties and kills, in turn; gives whether nothing was found."""
    from properties import fuzz_properties  # beside this script

    fine = True
    if given.programs > 0:
        programs = Fuzzing(["rules"], seed)
        try:
            programs.run_cases("rules", given.programs)
        finally:
            fine = programs.show()
    share = given.seconds if given.target or given.tests else given.seconds / 2
    if share > 0 and not given.tests:
        from tests.robustness.fuzz_targets import TARGETS

        fuzzing = Fuzzing(given.target or list(TARGETS), seed)
        try:
            fuzzing.run(share)
        finally:
            fine = fuzzing.show() and fine
    if share > 0 and not given.target:
        fine = fuzz_properties(share, seed, given.tests) and fine
    if given.kills > 0:
        from kills import kill_all

        fine = kill_all(given.kills, seed, given.verb) and fine
    return fine


if __name__ == "__main__":
    sys.exit(main())
