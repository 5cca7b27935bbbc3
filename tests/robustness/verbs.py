"""Every verb that writes, on a small world of made-up data; what it reads and what it names."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import typer

from divulge.cli.main import app

PEOPLE = """town,age,sex,job,income
Roma,20,f,cook,100
Roma,20,f,cook,120
Roma,20,m,clerk,90
Bari,30,m,clerk,100
Bari,30,m,cook,110
Bari,30,f,judge,150
Bari,{age},f,cook,130
"""

RELEASE = """
[[dataset]]
name = "people"
source = "people.csv"
unlisted = "non_identifying"
roles = { quasi_identifier = ["town", "age", "sex"], sensitive = ["job"] }

[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
knows = ["town", "sex"]

[[limit]]
dataset = "people"
measure = "k_anonymity"
at_least = 2

[protection]
methods = ["suppress"]
"""

EVENTS = """user,date,goods
a,2020-01-01,tea
a,2020-01-02,milk
b,2020-01-01,tea
b,2020-01-03,{item}
c,2020-01-05,milk
"""

TOTALS = """
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
seconds = 5
"""

CROSSTAB = """row,a,b,total
x,*,*,{total}
y,*,*,8
total,9,7,{all}
"""


def make_world(folder: Path, age: int = 40) -> None:
    """Write all inputs; another age makes other results."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "people.csv": PEOPLE.format(age=age),
        "release.toml": RELEASE,
        "events.csv": EVENTS.format(item="milk" if age == 40 else "rum"),
        "reconstruction.toml": TOTALS,
        "records.csv": f"product,value\n1,5\n1,9\n1,{age}\n",
        "totals.csv": f"product,city,value\n1,a,14\n1,b,{age}\n",
        "parties.csv": "party,city\nx,a\ny,a\nz,b\nw,b\n",
        "published.csv": CROSSTAB.format(total=8, all=16),
        "levels.csv": "Roma;Italy\nBari;Italy\n",
    }
    if age != 40:
        texts["published.csv"] = CROSSTAB.format(total=8, all=16).replace("9,7", "10,6")
    for name, text in texts.items():
        (folder / name).write_text(text)


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A verb with its arguments, and the files or folders that it is told to write."""

    name: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    options: tuple[str, ...]
    """The options that name the outputs, in the same order."""
    resume: str | None = None
    beside: tuple[str, ...] = ()
    """Files that are written beside the outputs, in a folder named after them."""

    @property
    def written(self) -> tuple[str, ...]:
        """All that a run writes."""
        return (*self.outputs, *self.beside)

    def line(self, outputs: tuple[str, ...] | None = None, overwrite: bool = False) -> list[str]:
        """The whole command line, with other places for its outputs if they are given."""
        placed = zip(self.options, outputs or self.outputs, strict=True)
        line = [*self.arguments, *(part for pair in placed for part in pair)]
        line += ["--resume", self.resume] if self.resume else []
        return [*line, "--overwrite"] if overwrite else line


_KEYS = ("-q", "town", "-q", "age", "-q", "sex")
VERBS = {
    verb.name: verb
    for verb in (
        Verb(name="check", arguments=("check", "release.toml"), outputs=("results",), options=("--out",)),
        Verb(name="protect", arguments=("protect", "release.toml"), outputs=("protected",), options=("--out",)),
        Verb(
            name="suppress",
            arguments=("suppress", "people.csv", *_KEYS, "-k", "2", "--unlisted", "non_identifying"),
            outputs=("safe.csv", "log.parquet"),
            options=("--out", "--log"),
        ),
        Verb(
            name="recode",
            arguments=(
                "recode", "people.csv", *_KEYS, "-k", "2", "--suppression-limit", "1",
                "--unlisted", "non_identifying",
            ),
            outputs=("recoded.csv", "recoding.parquet", "recipe.json"),
            options=("--out", "--log", "--recipe"),
        ),
        Verb(name="hierarchy", arguments=("hierarchy", "people.csv", "age"), outputs=("ages.csv",), options=("--out",)),
        Verb(
            name="draw_map",
            arguments=("map", "people.csv", *_KEYS, "-k", "2"),
            outputs=("map.svg",),
            options=("--chart",),
        ),
        Verb(
            name="sweep",
            arguments=("sweep", "people.csv", "--knows", "town", "--knows", "age", "--seeks", "job"),
            outputs=("sweep.csv", "sweep.svg"),
            options=("--out", "--chart"),
            resume="kept",
        ),
        Verb(
            name="attack",
            arguments=("attack", "people.csv", "--knows", "town"),
            outputs=("attack.parquet", "attack.svg"),
            options=("--out", "--chart"),
        ),
        Verb(
            name="risk", arguments=("risk", "people.csv", *_KEYS), outputs=("risk.csv", "risk.svg"), options=("--out", "--chart")
        ),
        Verb(
            name="suda",
            arguments=("suda", "people.csv", *_KEYS),
            outputs=("suda.csv", "suda.svg"),
            options=("--out", "--chart"),
            resume="kept",
        ),
        Verb(
            name="tables suppress",
            arguments=(
                "tables", "suppress", "people.csv", "--by", "town,sex", "--min-frequency", "2",
                "--method", "fast",
            ),
            outputs=("table.csv", "table.html"),
            options=("--out", "--html"),
        ),
        Verb(name="tables audit", arguments=("tables", "audit", "published.csv"), outputs=("audit.html",), options=("--html",)),
        Verb(
            name="tables attack",
            arguments=("tables", "attack", "published.csv", "--min-frequency", "3", "--width", "3"),
            outputs=("matching.html",),
            options=("--html",),
        ),
        Verb(
            name="events attack",
            arguments=("events", "attack", "events.csv", "--user", "user", "--time", "date",
             "--item", "goods"),
            outputs=("events.svg",),
            options=("--chart",),
        ),
        Verb(
            name="events ten",
            arguments=("events", "ten", "events.csv", "--user", "user", "--time", "date",
             "--item", "goods"),
            outputs=("charts", "ten.svg"),
            options=("--charts", "--chart"),
        ),
        Verb(
            name="events unicity",
            arguments=("events", "unicity", "events.csv", "--user", "user", "--time", "date",
             "--item", "goods", "--points", "2"),
            outputs=("unicity.svg",),
            options=("--chart",),
        ),
        Verb(
            name="reconstruct",
            arguments=("reconstruct", "reconstruction.toml", "--workers", "1"),
            outputs=("phases.svg",),
            options=("--chart",),
            resume="kept",
        ),
        Verb(
            name="init",
            arguments=("init", "people.csv"),
            outputs=("draft.toml",),
            options=("--out",),
            beside=tuple(f"draft-hierarchies/people-{name}.csv" for name in ("age", "job", "sex", "town")),
        ),
    )
}  # fmt: skip


def run(line: list[str]) -> int:
    """Run the command line in this process and folder; gives the exit code that a user sees."""
    from divulge.work import DivulgeError

    try:
        with redirect_stdout(io.StringIO()):
            return int(_command().main(args=line, standalone_mode=False) or 0)
    except (DivulgeError, OSError):
        return 2  # as `main` has it


@lru_cache
def _command() -> Any:
    """The command line, put together once: that takes longer than most of the verbs here."""
    return typer.main.get_command(app)


def snapshot(place: Path) -> dict[str, bytes] | None:
    """A file, or all files of a folder, with their contents; None if there is nothing."""
    if place.is_dir():
        found = {
            path.relative_to(place).as_posix(): path.read_bytes()
            for path in place.rglob("*")
            if path.is_file() and not path.relative_to(place).parts[0].startswith(".divulge")
        }
        return found or None
    return {"": place.read_bytes()} if place.is_file() else None


def plain_svg(_: object) -> str:
    """A stand-in for a drawn chart, where only the writing of files is looked at."""
    return "<svg xmlns='http://www.w3.org/2000/svg'/>"
