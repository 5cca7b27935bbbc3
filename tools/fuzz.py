"""Long fuzzing and real kills, outside of the tests: `make fuzz SECONDS=600 SEED=7 KILLS=20`.

Cases run in child processes: a crash or a hang of one ends its child and not the fuzzing. An input
that breaks the law is made smaller and kept in tests/robustness/corpus, where the tests run it.
Killed runs end by SIGKILL at a moment that is drawn; then it is seen what they left.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import re
import resource
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
MOST_DATA = 6 << 30
MOST_GROWTH = 1 << 30
"""A case that needs more memory than this on a file of some kilobytes trusts the file too much."""
REDUCTION_SECONDS = 4.0
KINDS_SHOWN = 40


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
        self.tallies = {name: Tally() for name in names}
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

    def _batch(self, name: str, seconds: float, count: int, alone: bool = False) -> None:
        tally, begun = self.tallies[name], None
        with tempfile.TemporaryDirectory() as folder:
            last = Path(folder) / "last.bin"
            first = self.next_seed[name]
            with _child(name, first, seconds, count, last) as child:
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
        # Named after its kind, so that a mistake that is found every night is kept once.
        digest = hashlib.sha256(kind.encode()).hexdigest()[:12]
        CORPUS.mkdir(exist_ok=True)
        (CORPUS / f"{name}-{digest}.bin").write_bytes(content)

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
    return subprocess.Popen([*line, str(last)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _lines(child: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """What a child says; one that says nothing for too long hangs and is ended."""
    assert child.stdout is not None  # noqa: S101  # for the types: it was asked for
    pending = b""
    while select.select([child.stdout], [], [], CASE_SECONDS)[0]:
        heard = os.read(child.stdout.fileno(), 1 << 16)
        if not heard:
            return
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


# Real kills.

CHECKED = """
[[dataset]]
name = "pupils"
source = "pupils.parquet"
[dataset.roles]
quasi_identifier = ["day_of_birth", "month_of_birth", "year_of_birth", "gender", "school_code"]
sensitive = ["disability"]
[[adversary]]
name = "classmate"
attack = "records"
dataset = "pupils"
model = "CRS"
knows = ["day_of_birth", "month_of_birth", "school_code"]
[[limit]]
adversary = "classmate"
measure = "deterministic.posterior"
at_most = {bound}
[[limit]]
dataset = "pupils"
measure = "k_anonymity"
at_least = 3
"""

# Without identifiers: the keys of pseudonyms are drawn anew in every run.
PROTECTED = """
[[dataset]]
name = "companies"
source = "companies.csv"
[dataset.roles]
quasi_identifier = ["Area", "Sector", "Employees", "Residential Rev."]
weight = "Weight"
[[limit]]
dataset = "companies"
measure = "k_anonymity"
nulls = "maybe"
at_least = {bound}
[protection]
methods = ["suppress"]
"""

# Small totals that are closed at once, so that no budget of time decides what is found.
RECONSTRUCTED = """
[[dataset]]
name = "records"
source = "records.csv"
[[dataset]]
name = "totals"
source = "totals.csv"
[[dataset]]
name = "parties"
source = "parties.csv"
[[adversary]]
name = "reader"
attack = "reconstruction"
dataset = ["records", "totals", "parties"]
parties = "parties"
totals.totals = { by = { product = "product" }, place = "city", amounts = ["value"] }
seconds = 20
workers = 1
"""


@dataclass(frozen=True, kw_only=True)
class LongVerb:
    """A verb that takes seconds: its arguments, what it writes, and an earlier set, if any."""

    name: str
    line: tuple[str, ...]
    out: str
    earlier: tuple[str, ...] | None = None
    is_set: bool = True
    reruns: int = 1
    """Every so many kills, the run is taken up and goes to its end."""


_KNOWN = ("day_of_birth", "month_of_birth", "year_of_birth", "gender", "school_code", "ethnicity",
          "nationality", "city_of_birth")  # fmt: skip
LONG_VERBS = (
    LongVerb(
        name="check",
        line=("check", "new.toml", "--out", "out"),
        out="out",
        earlier=("check", "old.toml", "--out", "out"),
    ),
    LongVerb(
        name="protect",
        line=("protect", "new-protection.toml", "--out", "out", "--overwrite"),
        out="out",
        earlier=("protect", "old-protection.toml", "--out", "out"),
    ),
    LongVerb(
        name="sweep",
        line=("sweep", "pupils.parquet", *(w for k in _KNOWN for w in ("--knows", k)),
              "--seeks", "disability", "--resume", "kept", "--out", "out.csv", "--overwrite"),
        out="out.csv",
        is_set=False,
    ),
    LongVerb(
        name="suda",
        line=("suda", "pupils.parquet", *(w for k in _KNOWN for w in ("-q", k)), "--max-size", "4",
              "--resume", "kept", "--out", "out.csv", "--overwrite"),
        out="out.csv",
        is_set=False,
    ),
    LongVerb(
        name="reconstruct",
        line=("reconstruct", "totals.toml", "--resume", "kept", "--json"),
        out="",
        is_set=False,
    ),
    LongVerb(
        name="demo",
        line=("demo", "--pupils", "1000", "--out", "out", "--overwrite"),
        out="out",
        reruns=5,
    ),
)  # fmt: skip


def make_sources(folder: Path) -> None:
    """Made-up data on which the verbs take some seconds."""
    from divulge import datasets
    from divulge.data import Dataset

    datasets.school_census(300_000).write(folder / "pupils.parquet")
    companies = datasets.inflation_and_growth(15_000, "U").to_arrow().drop_columns(["Id"])
    Dataset.from_arrow(companies).write(folder / "companies.csv")
    for name, bound in (("old", 0.5), ("new", 0.05)):
        (folder / f"{name}.toml").write_text(CHECKED.replace("{bound}", str(bound)))
    for name, bound in (("old", 2), ("new", 3)):
        text = PROTECTED.replace("{bound}", str(bound))
        (folder / f"{name}-protection.toml").write_text(text)
    (folder / "totals.toml").write_text(RECONSTRUCTED)
    _make_totals(folder)


def _make_totals(folder: Path) -> None:
    source = random.Random(3)  # noqa: S311  # data, not secrets
    records, sums = ["product,value"], Counter[tuple[int, str]]()
    for product in range(400):
        for _ in range(4):
            value = source.randrange(1, 10**6)
            records.append(f"{product},{value}")
            sums[product, source.choice("abc")] += value
    totals = ["product,city,value", *(f"{p},{city},{v}" for (p, city), v in sums.items())]
    parties = ["party,city", *(f"p{k},{'abc'[k % 3]}" for k in range(9))]
    for name, lines in (("records", records), ("totals", totals), ("parties", parties)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


class Kills:
    """One verb, killed again and again."""

    def __init__(self, verb: LongVerb, sources: Path, folder: Path, source: random.Random) -> None:
        self.verb, self.folder, self.source = verb, folder, source
        self.when: Counter[str] = Counter()
        self.differences: list[str] = []
        self.sources = {path.name for path in sources.iterdir()}
        shutil.copytree(sources, folder)
        self.digests = _digests(folder)
        self.earlier: Mapping[str, bytes] = {}
        if verb.earlier is not None:
            self._to_the_end(verb.earlier)
            self.earlier = self._results()
            (folder / verb.out).rename(folder.with_name(f"{folder.name}-earlier"))
        begun = time.monotonic()
        said = self._to_the_end(verb.line)
        self.seconds = time.monotonic() - begun
        self.whole = self._results(said)
        self._remove_results()
        again = self._results(self._to_the_end(verb.line))
        self.unsteady = {name for name, was in self.whole.items() if again.get(name) != was}
        for name in sorted(self.unsteady):
            self._differs(f"two runs without a kill differ: {name or verb.out}")
        self._remove_results()

    def run(self, kills: int) -> None:
        """Kill so many runs, and look at what each of them left."""
        for number in range(1, kills + 1):
            if self.earlier and number % 2:
                shutil.copytree(
                    self.folder.with_name(f"{self.folder.name}-earlier"),
                    self.folder / self.verb.out,
                )
            had = bool(self.earlier and number % 2)
            self._kill(aimed=number % 4 == 0)
            self._look(had)
            if number % self.verb.reruns == 0:
                self._compare(self._results(self._to_the_end(self.verb.line)), "run again")
                self._look_for_rest()
            self._remove_results()

    def _kill(self, aimed: bool) -> None:
        """At any moment; or, because writing is short, soon after it began."""
        with subprocess.Popen(
            self._command(self.verb.line),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as run:
            until = time.monotonic() + self.source.random() * self.seconds
            if aimed:
                while run.poll() is None and not self._is_staged(self.folder):
                    time.sleep(0.001)
                until = time.monotonic() + self.source.random() * 0.05
            while run.poll() is None and time.monotonic() < until:
                time.sleep(0.001)
            ended = run.poll() is not None
            run.kill()
            run.wait()
            staged = any(self.folder.rglob(".divulge-*.part"))
            self.when["after" if ended else "during" if staged else "before"] += 1
            # What the run had started itself ends with it; what does not is a difference.
            time.sleep(0.2)
            self._end_rest(run.pid)

    def _end_rest(self, group: int) -> None:
        for _ in range(100):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        self._differs("a process that the run had started lives on")
        os.killpg(group, signal.SIGKILL)

    def _is_staged(self, folder: Path) -> bool:
        return any(folder.glob(".divulge-*.part")) or any(folder.glob("*/.divulge-*.part"))

    def _look(self, had: bool) -> None:
        """The old set or the new one, or none; the sources as they were; nothing else."""
        from divulge.work import DivulgeError, require_whole

        changed = {n for n, d in self.digests.items() if _digests(self.folder).get(n) != d}
        if changed:
            self._differs(f"sources changed: {sorted(changed)}")
        place = self.folder / self.verb.out
        if self.verb.is_set and (place / "manifest.json").exists():
            try:
                require_whole(place)
            except DivulgeError as error:
                self._differs(f"after the kill: {error}")
        left = self._results()
        if left and not any(self._is_same(left, right) for right in (self.earlier, self.whole)):
            self._differs(f"after the kill there is neither set: {sorted(left)}")
        if had and not left:
            self._differs("after the kill the earlier set is gone")
        for path in self.folder.iterdir():
            ours = path.name.startswith((".divulge-", f".{self.verb.out}.divulge-lock"))
            if not ours and path.name not in {*self.sources, self.verb.out, "kept"}:
                self._differs(f"after the kill there is {path.name}")

    def _is_same(self, one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
        return set(one) == set(other) and not any(self._changed(one, other))

    def _changed(self, one: Mapping[str, bytes], other: Mapping[str, bytes]) -> Iterator[str]:
        """The names of what differs; of what differs from run to run, by more than a last digit."""
        for name in sorted({*one, *other}):
            mine, theirs = one.get(name, b""), other.get(name, b"")
            if name in self.unsteady:
                mine, theirs = (_ROUNDED.sub(_round, content) for content in (mine, theirs))
            if (name in one) != (name in other) or mine != theirs:
                yield name or self.verb.out

    def _look_for_rest(self) -> None:
        rest = [p for p in self.folder.rglob("*") if ".divulge-" in p.name or p.name == "kept"]
        if rest:
            self._differs(f"run again, there is still {sorted(p.name for p in rest)}")

    def _compare(self, results: Mapping[str, bytes], when: str) -> None:
        for name in self._changed(results, self.whole):
            self._differs(f"{when}: {name} differs from that of the run without a kill")

    def _differs(self, what: str) -> None:
        self.differences.append(what)

    def _to_the_end(self, line: tuple[str, ...]) -> str:
        ended = subprocess.run(
            self._command(line), cwd=self.folder, capture_output=True, text=True, check=False
        )
        if ended.returncode not in (0, 1, 3):
            self._differs(f"run again: exit code {ended.returncode}: {ended.stderr[-500:]}")
        return ended.stdout if not self.verb.out else ""

    def _command(self, line: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "divulge.cli", *line]

    def _results(self, said: str = "") -> dict[str, bytes]:
        """All that was written, without what holds times."""
        place = self.folder / self.verb.out if self.verb.out else self.folder / "nothing"
        found = {"": place.read_bytes()} if place.is_file() else {}
        if place.is_dir():
            found = {
                path.relative_to(place).as_posix(): path.read_bytes()
                for path in sorted(place.rglob("*"))
                if path.is_file() and ".divulge-" not in path.relative_to(place).as_posix()
            }
        if said:
            found["output"] = said.encode()
        return {name: _timeless(name, content, self.verb) for name, content in found.items()}

    def _remove_results(self) -> None:
        for path in self.folder.iterdir():
            if path.name not in self.sources:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


_ROUNDED = re.compile(rb"[0-9]+\.[0-9]{6,}")


def _round(number: re.Match[bytes]) -> bytes:
    return f"{float(number[0]):.10g}".encode()


def _timeless(name: str, content: bytes, verb: LongVerb) -> bytes:
    if name == "output":
        told = {key: value for key, value in json.loads(content).items() if key != "seconds"}
        return json.dumps(told).encode()
    if verb.name != "demo":
        return content
    # Its reconstruction has a budget of time: what depends on it is not compared.
    if name.endswith(("manifest.json", "result.json", ".svg", "report.html")):
        return b""
    return re.sub(rb"[0-9.]+ s\b", b"", content)


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


def kill_all(kills: int, seed: int, names: list[str]) -> bool:
    """Kill every long verb so often, and print what came of it; True if nothing differed."""
    source = random.Random(seed)  # noqa: S311  # moments, not secrets
    differences = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "sources"
        sources.mkdir()
        make_sources(sources)
        print(f"{'verb':12}{'seconds':>9}{'kills':>7}{'before':>8}{'during':>8}{'after':>7}"
              f"{'differences':>13}", flush=True)  # fmt: skip
        for verb in LONG_VERBS:
            if names and verb.name not in names:
                continue
            killed = Kills(verb, sources, Path(folder) / verb.name, source)
            killed.run(kills)
            when, found = killed.when, killed.differences
            print(f"{verb.name:12}{killed.seconds:>9.1f}{kills:>7}{when['before']:>8}"
                  f"{when['during']:>8}{when['after']:>7}{len(found):>13}", flush=True)  # fmt: skip
            differences[verb.name] = found
    for name, found in differences.items():
        for what in dict.fromkeys(found):
            print(f"{name}: {what}")
    return not any(differences.values())


def main() -> int:
    """Read the arguments and do what they ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="of fuzzing; 0 for none")
    parser.add_argument("--seed", type=int, help="of all that is drawn; drawn itself if not given")
    parser.add_argument("--target", action="append", default=[], help="only this one; repeat")
    parser.add_argument("--kills", type=int, default=0, help="of each long verb")
    parser.add_argument("--verb", action="append", default=[], help="kill only this one; repeat")
    parser.add_argument("--case", nargs=2, metavar=("TARGET", "SEED"), help="repeat one case")
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
    fine = True
    if given.seconds > 0:
        from tests.robustness.fuzz_targets import TARGETS

        fuzzing = Fuzzing(given.target or list(TARGETS), seed)
        fuzzing.run(given.seconds)
        fine = fuzzing.show()
    if given.kills > 0:
        fine = kill_all(given.kills, seed, given.verb) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
