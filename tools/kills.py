"""Real kills: runs of long verbs end by SIGKILL at a moment that is drawn.

Then it is seen what they left, and the next run must end as if there had been none before it.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

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

# Small totals that are closed at once.
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
    needs_earlier: bool = False
    """It takes the secret of its random choices from the earlier set; without one, runs differ."""
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
        needs_earlier=True,
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
        self._restore_earlier(is_wanted=verb.needs_earlier)
        self.whole = self._results(self._to_the_end(verb.line))
        self._remove_results()
        self._restore_earlier(is_wanted=verb.needs_earlier)
        # The second run tells how long one takes: the first may have compiled kernels, and moments
        # drawn from its time would all come after the end.
        begun = time.monotonic()
        said = self._to_the_end(verb.line)
        self.seconds = time.monotonic() - begun
        again = self._results(said)
        self.unsteady = {name for name, was in self.whole.items() if again.get(name) != was}
        for name in sorted(self.unsteady):
            self._differs(f"two runs without a kill differ: {name or verb.out}")
        self._remove_results()

    def run(self, kills: int) -> None:
        """Kill so many runs, and look at what each of them left."""
        for number in range(1, kills + 1):
            had = bool(self.earlier) and (self.verb.needs_earlier or number % 2 == 1)
            self._restore_earlier(is_wanted=had)
            self._kill(aimed=number % 4 == 0)
            self._look(had)
            if number % self.verb.reruns == 0:
                self._compare(self._results(self._to_the_end(self.verb.line)), "run again")
                self._look_for_rest()
            self._remove_results()

    def _restore_earlier(self, is_wanted: bool) -> None:
        if is_wanted:
            earlier = self.folder.with_name(f"{self.folder.name}-earlier")
            shutil.copytree(earlier, self.folder / self.verb.out)

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
        """All that was written, and what was printed."""
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
        return found

    def _remove_results(self) -> None:
        for path in self.folder.iterdir():
            if path.name not in self.sources:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


_ROUNDED = re.compile(rb"[0-9]+\.[0-9]{6,}")


def _round(number: re.Match[bytes]) -> bytes:
    return f"{float(number[0]):.10g}".encode()


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


def kill_all(kills: int, seed: int, names: list[str]) -> bool:
    """Kill every long verb so often, and print what came of it; True if nothing differed.

    Each verb is named when it begins: where a machine is so busy that the run is ended before it is
    through, the row says at which verb, and what was found until then is printed all the same.
    """
    source = random.Random(seed)  # noqa: S311  # moments, not secrets
    differences: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "sources"
        sources.mkdir()
        make_sources(sources)
        print(f"{'verb':12}{'seconds':>9}{'kills':>7}{'before':>8}{'during':>8}{'after':>7}"
              f"{'differences':>13}", flush=True)  # fmt: skip
        try:
            for verb in LONG_VERBS:
                if names and verb.name not in names:
                    continue
                print(f"{verb.name:12}", end="", flush=True)
                killed = Kills(verb, sources, Path(folder) / verb.name, source)
                differences[verb.name] = killed.differences
                killed.run(kills)
                when = killed.when
                print(f"{killed.seconds:>9.1f}{kills:>7}{when['before']:>8}{when['during']:>8}"
                      f"{when['after']:>7}{len(killed.differences):>13}", flush=True)  # fmt: skip
        finally:
            for name, found in differences.items():
                for what in dict.fromkeys(found):
                    print(f"{name}: {what}", flush=True)
    return not any(differences.values())
