"""What is fuzzed: everything of a user's that Divulge reads, and the law that every case obeys.

A damaged input is read or refused, in words of ours that hold no value out of a record; nothing
outside the case's folder is changed, and the input is as it was. A case is known by its target and
seed; some writers put the time or an id into a file, so inputs that were found are kept as bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from tests.data.test_r_data import NA_INTEGER
from tests.data.test_r_data import frame as r_frame
from tests.data.test_r_data import integers as r_integers
from tests.data.test_r_data import reals as r_reals
from tests.data.test_r_data import strings as r_strings
from tests.robustness.mutations import NAMES, NUMBERS, mutate, mutate_json, mutate_value
from tests.robustness.spreadsheets import damage_spreadsheet, make_open_document, write_cell
from typer.testing import CliRunner

import divulge as dv
from divulge.assessment import Chart
from divulge.cli.main import app
from divulge.data import Dataset, Experience, Hierarchy
from divulge.data.formats import Options
from divulge.data.formats.text.delimited import DelimitedText
from divulge.data.header import select_listable_names
from divulge.release.output.output_files import METADATA_KEY
from divulge.rules import Program
from divulge.rules.language.formatter import format_program, remove_places
from divulge.tables.randomised.draw_record import SealedDraws
from divulge.tables.table.crosstab_files import find_marked_cells
from divulge.work import (
    Checkpoints,
    DivulgeError,
    OutputFolder,
    filesystem,
    require_whole,
)

Outcome: TypeAlias = Literal["read", "refused"]
Random: TypeAlias = random.Random

MARK = "Zx7-secret-"
MARKED_NUMBER = 73_456_789
LEAKS = ("Zx7", "x7-sec", "secret-0", str(MARKED_NUMBER))
"""What no message may hold: it stands in records, and in the seed of sealed draws."""
BESIDE = "beside.txt"
KIND = "results of a check"


class Violation(AssertionError):
    """A case broke the law; `kind` is the same for cases that break it in the same place."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}\n{detail}")
        self.kind = kind


def _nothing_beside(_: Path) -> None:
    """A target whose input needs no other files."""


def _nothing(_: bytes) -> Collection[str]:
    """No file may be changed."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Target:
    """One thing that is read: how damaged inputs are made, and what reads them."""

    name: str
    file: str
    make: Callable[[Random], bytes]
    run: Callable[[Path], object]
    beside: Callable[[Path], None] = _nothing_beside
    may_change: Callable[[bytes], Collection[str]] = _nothing
    user_names: Collection[str] = ()
    """The attributes that `run` names, as a user who knows the file would."""
    cases: int = 40
    """How many cases `make test` looks at."""


def input_of(target: Target, seed: int) -> bytes:
    """The damaged input of a case."""
    return target.make(random.Random(f"{target.name} {seed}"))  # noqa: S311  # no secret


def run_case(target: Target, content: bytes, folder: Path) -> Outcome:
    """Run one case in a folder of its own.

    Raises:
        Violation: if the law is broken.
    """
    case = folder / "case"
    case.mkdir(parents=True)
    target.beside(case)
    (case / BESIDE).write_text("nobody touches this")
    path = case / target.file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    before = _files(case)
    outside: list[str] = []
    with _surrounded_by(folder, case), _watched(folder, outside), warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = _outcome(target, path)
    if outside:
        raise Violation(f"{target.name}: changed what is outside", "\n".join(sorted(set(outside))))
    after = _files(case)
    free = target.may_change(content)
    for name, was in before.items():
        if after.get(name) != was and name not in free:
            raise Violation(f"{target.name}: changed {name}", f"{name} was there before the case")
    return outcome


def _outcome(target: Target, path: Path) -> Outcome:
    try:
        target.run(path)
    except DivulgeError as error:
        require_no_leak(target.name, _without_names(str(error), path, target.user_names))
        return "refused"
    except Violation:
        raise
    except Exception as error:
        trace = traceback.format_exc()
        raise Violation(f"{target.name}: {_place_of(error)}", trace[-6000:]) from None
    return "read"


def _without_names(message: str, path: Path, user_names: Collection[str]) -> str:
    """A message without the names of a text file.

    A word above nothing but figures is a name to everybody, and so is one beside a name that the
    user knows, also where a mutation has put it there (docs/security.md, "Not guaranteed").
    """
    if path.suffix not in (".csv", ".tsv"):
        return message
    try:
        names = DelimitedText().read_names(path, Options())
    except DivulgeError:
        return message
    for name in select_listable_names(names, user_names):
        message = message.replace(f'"{name}"', '""')
    return message


def require_no_leak(name: str, message: str) -> None:
    """A message holds no marked value."""
    for mark in LEAKS:
        if mark in message:
            raise Violation(f"{name}: a value in a message", message[:2000])


def _place_of(error: BaseException) -> str:
    """The kind of an exception, and the last line of ours that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f"{os.sep}src{os.sep}divulge{os.sep}" in f.filename] or frames
    place = ours[-1].filename.rpartition(f"{os.sep}src{os.sep}")[2]
    return f"{type(error).__name__} at {place}:{ours[-1].lineno}"


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@contextmanager
def _surrounded_by(folder: Path, case: Path) -> Iterator[None]:
    """Home, settings, temporary files and the working folder lie in the case's own folder."""
    home = folder / "home"
    home.mkdir()
    settings = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "DIVULGE_EXPERIENCE": str(home / "experience.csv"),
        "TMPDIR": str(home),
    }
    at = Path.cwd()
    with mock.patch.dict(os.environ, settings), mock.patch.object(tempfile, "tempdir", str(home)):
        os.chdir(case)
        try:
            yield
        finally:
            os.chdir(at)


_listeners: list[Callable[[str], None]] = []
_CHANGES = {"os.rename": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1, "os.chmod": 1,
            "os.link": 2, "os.symlink": 2, "os.truncate": 1}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listeners:
        return
    paths: Sequence[Any] = ()
    if event in _CHANGES:
        paths = arguments[: _CHANGES[event]]
    elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        paths = arguments[:1]
    for path in paths:
        if isinstance(path, str | bytes | os.PathLike):
            _listeners[-1](os.fsdecode(path))


@cache
def _listen() -> None:
    sys.addaudithook(_hear)


@contextmanager
def _watched(folder: Path, outside: list[str]) -> Iterator[None]:
    """Note what Python is asked to change outside a folder (compiled code and devices aside)."""
    inside = (str(folder.resolve()) + os.sep, "/dev/")
    resolved = {}

    def note(path: str) -> None:
        parent, name = os.path.split(path)
        if parent not in resolved:
            resolved[parent] = os.path.realpath(parent) if "\0" not in parent else parent
        whole = os.path.join(resolved[parent], name)  # noqa: PTH118  # no link is followed
        if not (whole + os.sep).startswith(inside) and "__pycache__" not in whole:
            outside.append(path)

    _listen()
    _listeners.append(note)
    try:
        with filesystem.observe_changes(lambda _, path: note(str(path))):
            yield
    finally:
        _listeners.remove(note)


# Records, in every format.


def _people(rows: int = 24) -> pa.Table:
    source = random.Random(7)  # noqa: S311  # data, not secrets
    return pa.table(
        {
            "name": [f"{MARK}{number:03}" for number in range(rows)],
            "town": [f"{MARK}{source.choice(('Roma', 'Bari', 'Pisa'))}" for _ in range(rows)],
            "age": [source.choice((20, 30, 40, None)) for _ in range(rows)],
            "sex": [source.choice("fm") for _ in range(rows)],
            "income": [MARKED_NUMBER + 0.5 * source.randrange(9) for _ in range(rows)],
        }
    )


def _text_of(separator: str = ",", decimal: str = ".") -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    table = _people()
    writer.writerow(table.column_names)
    for row in table.to_pylist():
        written = str(row["income"]).replace(".", decimal)
        writer.writerow(["" if v is None else v for v in (*list(row.values())[:-1], written)])
    return file.getvalue()


@cache
def _texts(separator: str) -> tuple[bytes, ...]:
    plain = _text_of(separator)
    lines = plain.splitlines()
    quoted = "\n".join([lines[0], *(f'"{line.replace(separator, chr(34) + separator + chr(34))}"'
                                    for line in lines[1:])])  # fmt: skip
    broken = plain.replace(f"{MARK}Roma", f'"{MARK}\nRoma"')
    return (
        plain.encode(),
        quoted.encode(),
        broken.encode(),
        _text_of(";", ",").encode(),
        plain.replace("Pisa", "Forlì").encode("latin-1"),
        plain.encode("utf-16"),
        plain.replace("\n", "\r\n").encode("utf-8-sig"),
        f"born{separator}sum\n2001-02-28{separator}1.5\n2001-02-30{separator}2\n".encode(),
    )


def _damaged(bases: Sequence[bytes], source: Random, text: bool) -> bytes:
    return mutate(source.choice(bases), bases, source, text)


def _compressed(source: Random) -> bytes:
    texts = _texts(",")
    if source.random() < 0.5:
        return gzip.compress(_damaged(texts, source, text=True), 1, mtime=0)
    return _damaged([gzip.compress(text, 6, mtime=0) for text in texts], source, text=False)


WRITTEN = Path(__file__).parent / "written"
"""Files that Divulge wrote once."""


@cache
def _written(ending: str) -> tuple[bytes, ...]:
    """The same people in a format, as Divulge writes them."""
    if ending == ".duckdb":
        # Its files hold memory that nobody has written to, so that no two are the same.
        kept = (WRITTEN / f"{name}.duckdb.gz" for name in ("people", "small"))
        return tuple(gzip.decompress(path.read_bytes()) for path in kept)
    described = Dataset.from_arrow(_people()).describe(descriptions={"age": "Age in years"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"people{ending}"
        described.write(path)
        small = Path(folder) / f"small{ending}"
        Dataset.from_arrow(_people(3).select(["name", "income"])).write(small)
        return _without_clock(path.read_bytes()), _without_clock(small.read_bytes())


def _without_clock(content: bytes) -> bytes:
    """A file without what is another each time it is written: a seed gives one input for ever."""
    if content.startswith((b"$FL2", b"$FL3")):
        return content[:92] + b"01 Jan 6000:00:00" + content[109:]
    if content.startswith(b"<stata_dta>"):
        fixed = b"<timestamp>\x1101 Jan 1960 00:00</timestamp>"
        return re.sub(rb"<timestamp>\x11.{17}</timestamp>", fixed, content, flags=re.DOTALL)
    if content[8:12] == b"DUCK":
        for header in (0, 8192):
            content = _without_identifier(content, header)
    return content


def _without_identifier(content: bytes, header: int) -> bytes:
    """A DuckDB file whose header has no identifier, and the checksum that goes with it."""
    raw = bytearray(content)
    raw[header + 124 : header + 140] = bytes(16)
    words = np.frombuffer(bytes(raw[header + 8 : header + 4096]), "<u8")
    checksum = np.bitwise_xor.reduce(words * np.uint64(0xBF58476D1CE4E5B9)) ^ np.uint64(5381)
    raw[header : header + 8] = int(checksum).to_bytes(8, "little")
    return bytes(raw)


def _binary(ending: str) -> Callable[[Random], bytes]:
    return lambda source: _damaged(_written(ending), source, text=False)


def _workbook(source: Random) -> bytes:
    return damage_spreadsheet(_written(".xlsx"), source)


def _open_document(source: Random) -> bytes:
    return damage_spreadsheet(_open_documents(), source)


@cache
def _open_documents() -> tuple[bytes, ...]:
    """The same people on a sheet of OpenDocument, which Divulge reads and does not write."""
    people = _people().select(["name", "age", "income"])
    rows = [[*people.column_names], *(list(row.values()) for row in people.to_pylist())]
    cells = [[write_cell(value) for value in row] for row in rows]
    return make_open_document(cells), make_open_document([row[:2] for row in cells[:4]])


def _rds(source: Random) -> bytes:
    """Frames of R, damaged before they are compressed or after."""
    frames = _frames_of_r()
    if source.random() < 0.7:
        return gzip.compress(_damaged(frames, source, text=False), 1, mtime=0)
    return _damaged([gzip.compress(each, 6, mtime=0) for each in frames], source, text=False)


@cache
def _frames_of_r() -> tuple[bytes, ...]:
    """The same people as R saves them, which Divulge reads and does not write."""
    people = _people().to_pydict()
    ages = [NA_INTEGER if age is None else age for age in people["age"]]
    places = sorted(set(people["town"]))
    towns = [places.index(town) + 1 for town in people["town"]]
    factor = r_integers(*towns, levels=r_strings(*places), class_=r_strings("factor"))
    whole = r_frame(
        name=r_strings(*people["name"]),
        town=factor,
        age=r_integers(*ages),
        income=r_reals(*people["income"], label=r_strings("Income in a year")),
    )
    return whole, r_frame(name=r_strings(*people["name"][:3]), income=r_reals(1.5, 2.0, 3.0))


@cache
def _columns() -> tuple[pa.Array, ...]:
    """Columns of three records as other programs write them."""
    import decimal

    text = pa.array([f"{MARK}001", None, "b"])
    broken = pa.Array.from_buffers(
        pa.string(), 3,
        [None, pa.array([0, 1, 2, 3], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfea")],
    )  # fmt: skip
    codes = pa.array([0, 1, 0], pa.int8())
    return (
        text,
        broken,
        pa.array([None, None, None]),
        pa.array([[1], [], None]),
        pa.array([{"a": 1}, {"a": None}, None]),
        pa.array([b"\xff", None, b""]),
        pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-9e20")]),
        pa.array([1 << 62, 0, -(1 << 62)], pa.timestamp("s")),
        pa.array([1 << 62, 0, -(1 << 62)], pa.timestamp("ns", "Europe/Rome")),
        pa.array([1, 2, 3], pa.timestamp("us", "No/Where")),
        pa.array([(1 << 31) - 1, 0, -(1 << 31)], pa.date32()),
        pa.array([86_400_000 * 2**32, 0, 1], pa.date64()),
        pa.array([1 << 62, None, 0], pa.duration("ns")),
        pa.array([0, 1, 86_399_999_999], pa.time64("us")),
        pa.array([float("nan"), float("inf"), -0.0]),
        pa.array(np.array([1, 2, np.nan], dtype=np.float16)),
        pa.array([(1 << 64) - 1, 0, MARKED_NUMBER], pa.uint64()),
        pa.array(["a", "b", None], pa.large_string()),
        pa.array(["a", "b", None], pa.string_view()),
        pa.DictionaryArray.from_arrays(codes, pa.array(["a", "a"])),
        pa.DictionaryArray.from_arrays(codes, pa.array([None, f"{MARK}002"])),
        pa.DictionaryArray.from_arrays(codes, pa.array([1.5, 2.5])),
        pa.array([True, None, False]),
        pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        pa.array([(1, 2, 3), None, (0, 0, 0)], pa.month_day_nano_interval()),
        pa.array([b"abc", None, b"def"], pa.binary(3)),
    )


def _odd_table(source: Random) -> pa.Table:
    columns = source.choices(_columns(), k=source.randint(1, 4))
    names = [source.choice(("a", "a", "b", "c", "A", "é", " ", *NAMES[:6])) for _ in columns]
    table = pa.Table.from_arrays(columns, names=names)
    return table.slice(0, source.choice((0, 1, 3, 3, 3)))


def _parquet(source: Random) -> bytes:
    """Files with checksums and without, because checksums keep damage from the decoders."""
    if source.random() < 0.3:
        return _damaged(_written(".parquet"), source, text=False)
    table = _odd_table(source) if source.random() < 0.4 else _people()
    file = io.BytesIO()
    try:
        pq.write_table(
            table,
            file,
            compression=source.choice(("none", "none", "snappy", "zstd")),
            use_dictionary=source.random() < 0.5,
            data_page_version=source.choice(("1.0", "2.0")),
        )
    except (pa.ArrowException, ValueError, OSError):
        return _damaged(_written(".parquet"), source, text=False)
    whole = file.getvalue()
    return whole if source.random() < 0.3 else mutate(whole, (), source, text=False)


def _arrow(source: Random) -> bytes:
    if source.random() < 0.5:
        return _damaged(_written(".arrow"), source, text=False)
    table = _odd_table(source)
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    whole = file.getvalue()
    return whole if source.random() < 0.4 else mutate(whole, (), source, text=False)


_SQL = ("1::HUGEINT", "'6f9619ff-8b86-d011-b42d-00c04fc964ff'::UUID", "INTERVAL 1 MONTH", "[1, 2]", "{'a': 1}", "MAP {'a': 1}",
        "'\\xFF'::BLOB", "'0101'::BIT", "'infinity'::DATE", "'infinity'::TIMESTAMP", "NULL",
        "'290000-01-01'::TIMESTAMP", "TIME '10:00'", "'2020-01-01'::TIMESTAMPTZ", "'x'::ENUM('x')", "1.5::DECIMAL(38,9)",
        "'nan'::DOUBLE", f"'{MARK}003'", "repeat('x', 70000)", "'10:00:00+02'::TIMETZ",
        "'2020-01-01'::TIMESTAMP_NS", "18446744073709551615::UBIGINT", "1/0")  # fmt: skip


def _duckdb(source: Random) -> bytes:
    if source.random() < 0.7:
        return _damaged(_written(".duckdb"), source, text=False)
    import duckdb

    columns = ", ".join(f'{source.choice(_SQL)} AS "c{k}"' for k in range(source.randint(1, 4)))
    kind = source.choice(("TABLE", "TABLE", "VIEW"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.duckdb"
        with duckdb.connect(str(path)) as connection, suppress(duckdb.Error):
            connection.execute(f"CREATE {kind} odd AS SELECT {columns} FROM range(3)")
        whole = _without_clock(path.read_bytes())
    return whole if source.random() < 0.7 else mutate(whole, (), source, text=False)


def _read(path: Path) -> None:
    dataset = dv.read(path)
    rows = {len(column.codes) for column in dataset.columns.values()}
    if rows != {dataset.rows}:
        raise Violation("columns of different lengths", f"{rows} of {dataset.rows}")


# Releases, and the other files that people write.

RELEASES = (
    """
[[dataset]]
name = "people"
source = "people.csv"
subjects = "people"
unlisted = "non_identifying"
roles = { identifier = ["name"], quasi_identifier = ["town", "age", "sex"], sensitive = ["income"] }
hierarchies = { town = "levels.csv", age = { intervals = [[0, 25, 35], [0, 35]] } }
descriptions = { age = "Age in years" }
missing = ["NA"]

[[adversary]]
name = "neighbour"
attack = "records"
model = "CRS"
knows = ["town", "sex"]

[[limit]]
adversary = "neighbour"
measure = "deterministic.posterior"
at_most = 0.10

[[limit]]
dataset = "people"
measure = "k_anonymity"
nulls = "bayes"
at_least = 2

[protection]
methods = ["recode", "suppress"]
never = ["sex"]
importance = { age = 2.5 }
seed = 3
""",
    """
[[dataset]]
name = "people"
source = "people.csv"
unlisted = "non_identifying"
roles = { quasi_identifier = ["town", "sex"], sensitive = ["age"], weight = "income" }

[[adversary]]
name = "register"
attack = "risk"
measure = "individual"
method = "exact"

[[adversary]]
name = "reader"
attack = "tables"
by = ["town", "sex"]
min_frequency = 4
width = 2

[[limit]]
adversary = "reader"
measure = "deterministic.posterior"
at_most = 0

[[limit]]
dataset = "people"
measure = "t_closeness"
attribute = "age"
distance = "equal"
at_most = 0.5

[[limit]]
dataset = "people"
measure = "dis_suda"
max_size = 2
at_most = 0.2
""",
    """
[[dataset]]
name = "shop"
source = "events.csv"
unlisted = "non_identifying"
roles = { identifier = ["user"], time = "date", sensitive = ["goods"] }

[[adversary]]
name = "queue"
attack = "events"
user = "user"
time = "date"
item = "goods"
knows = ["day", "item"]
points = 2

[[limit]]
adversary = "queue"
measure = "probabilistic.posterior"
at_most = 0.2

[protection]
methods = ["suppress"]
histories = ["time", "item"]
""",
    """
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
seconds = 1
workers = 1
""",
)

LEVELS = f"{MARK}Roma;South;Italy\n{MARK}Bari;South;Italy\n{MARK}Pisa;North;Italy\n"
CROSSTAB = f"row,{MARK}a,b,total\n{MARK}x,*,*,8\ny,*,x,8\ntotal,9,7,16\n"
WHOLE_CROSSTAB = f"row;{MARK}a;b;total\n{MARK}x;1.5;2;3.5\ny;3;4.0;7\ntotal;4.5;6;10.5\n"
JJ = """0
4
0 20 1 s 0 20 0 0 0
1 3 1 u 0 20 1 1 2
2 7 1 s 0 20 0 0 0
3 10.0 2.5 z 0 20 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""
CELLS = "town,sex,count\n" + "".join(
    f"{town},{sex},{count}\n"
    for town, counts in ((f"{MARK}x", "1*3"), ("y", "3*6"), ("Total", "459"))
    for sex, count in zip(("f", "m", "Total"), counts, strict=True)
)
OWN_BASE = "age;quasi_identifier\ntown;quasi_identifier\nincome;sensitive\nname;identifier\n"
OTHERS_BASE = "".join(f"{MARK}{k:03};{MARK}{k:03}\n" for k in range(3))
WORLD: Mapping[str, str] = {
    "people.csv": _text_of(),
    "levels.csv": LEVELS,
    "events.csv": "user,date,goods\n" + "".join(
        f"{MARK}{u},2020-01-0{d},{MARK}{g}\n"
        for u, d, g in ((1, 1, "tea"), (1, 2, "milk"), (2, 1, "tea"), (2, 3, "rum"), (3, 5, "milk"))
    ),
    "records.csv": "product,value\n1,5\n1,9\n1,40\n",
    "totals.csv": "product,city,value\n1,a,14\n1,b,40\n",
    "parties.csv": f"party,city\n{MARK}1,a\n{MARK}2,a\nz,b\nw,b\n",
    "published.csv": CROSSTAB.replace(f"{MARK}a", "a"),  # a head is names
    "table.jj": JJ,
    "release.toml": RELEASES[0],
    "risk.toml": RELEASES[1],
    "events.toml": RELEASES[2],
    "totals.toml": RELEASES[3],
    "folder/data.csv": _text_of(),
    "folder/notes.txt": "a note\n",
}  # fmt: skip


def _world(folder: Path) -> None:
    for name, text in WORLD.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def _world_with_pipe(folder: Path) -> None:
    _world(folder)
    os.mkfifo(folder / "pipe")


def _of_texts(*texts: str) -> Callable[[Random], bytes]:
    bases = [text.encode() for text in texts]
    return lambda source: _damaged(bases, source, text=True)


_PLAUSIBLE = {
    "measure": [f'"{name}"' for name in (
        "k_map", "distinct_l_diversity", "entropy_l_diversity", "recursive_l_diversity",
        "beta_likeness", "delta_disclosure", "reidentification_risk", "household_risk", "global_risk", "marketer_risk",
        "population_uniques", "correct_matches", "prosecutor_risk", "disclosure_risk", "suda",
        "deterministic.count", "probabilistic.multiplicative", "additive_leakage", "household",
        "interval_disclosure", "distance_linkage", "smallest_frequency", "delta_presence")],
    "at_most": ("0", "1", "0.5", "1e-300", "5", "true"),
    "at_least": ("0", "1", "1000", "2.5", "1e300"),
    "knows": ('["town"]', '["income", "age"]', '["name"]', '["month", "item"]', '["town", "town"]'),
    "roles": ('{ quasi_identifier = ["income", "age"] }', '{ weight = "age" }', "{}",
              '{ household = "name", quasi_identifier = "sex" }', '{ weight = "name" }'),
    "attack": ('"records"', '"risk"', '"tables"', '"events"', '"linkage"', '"longitudinal"'),
    "source": ('"people.csv"', '"events.csv"', '"folder/data.csv"', '"totals.csv"', '"folder"'),
    "width": ("0", "0.5", "1000000", "1e15"),
    "points": ("1", "3", "100"),
    "by": ('["town"]', '["town", "age", "sex"]', '["name", "income"]'),
    "time": ('"goods"', '"user"'),
    "seed": ("0", "-1", "99999999999999999999"),
    "methods": ('["suppress"]', '["recode"]', '["suppress", "recode"]'),
    "max_size": ("1", "50"),
}  # fmt: skip


def _release(source: Random) -> bytes:
    """A release whose text is damaged, or in which the value of a setting is another."""
    if source.random() < 0.35:
        return _damaged([*map(str.encode, RELEASES), *_texts(",")[:1]], source, text=True)
    lines = source.choice(RELEASES).splitlines()
    for _ in range(source.choice((1, 1, 1, 2))):
        place = source.choice([k for k, line in enumerate(lines) if " = " in line])
        name, _, value = lines[place].partition(" = ")
        if name in _PLAUSIBLE and source.random() < 0.5:
            lines[place] = f"{name} = {source.choice(_PLAUSIBLE[name])}"
            continue
        odd = source.choice(
            ("true", "[]", "{}", '""', "1979-05-27", "nan", "-inf", "[[]]", '[""]', "0", "-1",
             '"age"', '["age", "age"]', '"no such"', "{ a = 1 }", "1e300", "99999999999999999999",
             f"[{value}]", f"{{ x = {value} }}", f"{value}\n{name} = {value}", '"people.csv"', '"/"',
             '"folder"', '"\\u0000"', '"totals"', '"CRM"', "0.5", "1", "07:32:00")
        )  # fmt: skip
        lines[place] = f"{name} = {odd}"
    return "\n".join(lines).encode()


def _check(path: Path) -> None:
    dv.Release.load(path).check()


def _protect(path: Path) -> None:
    dv.Release.load(path).protect()


def _crosstab(path: Path) -> None:
    for separator in ",;":
        try:
            dv.tables.read_crosstab(path, separator)
            find_marked_cells(path, "x", separator)
        except DivulgeError as error:
            require_no_leak("crosstab", str(error))
    dv.tables.read_crosstab(path)


CELL_AXES = ("town", "sex")


def _cells(path: Path) -> None:
    dv.tables.read_cells(path, CELL_AXES)


# What Divulge itself has written.


@cache
def _sealed() -> bytes:
    draws = {"ab" * 32: {"draws": 3, "pattern": "0110"}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sealed.json"
        SealedDraws(MARKED_NUMBER * 10**20, draws).write(path)
        return path.read_bytes()


def _json_or_text(base: bytes, source: Random) -> bytes:
    if source.random() < 0.5:
        return mutate_json(base, source)
    return mutate(base, (), source, text=True)


_KEPT = {"size": np.arange(7), "share": np.linspace(0, 1, 5)}
_ANEW = {"size": np.arange(9), "share": np.zeros(2)}
_KEY = {"knows": ["age"]}


@cache
def _archive() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        Checkpoints(folder).remember("sizes", _KEY, lambda: _KEPT)
        [kept] = Path(folder).glob("*.npz")
        return kept.read_bytes()


def _checkpoint(path: Path) -> None:
    folder = path.parent / "kept"
    Checkpoints(folder).remember("sizes", _KEY, lambda: _KEPT)
    [kept] = folder.glob("*.npz")
    kept.write_bytes(path.read_bytes())
    arrays = Checkpoints(folder).remember("sizes", _KEY, lambda: _ANEW)
    if not any(_same(arrays, right) for right in (_KEPT, _ANEW)):
        raise Violation("checkpoint: arrays that nobody kept", repr(arrays))


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return set(one) == set(other) and all(
        one[name].dtype == other[name].dtype and np.array_equal(one[name], other[name])
        for name in one
    )


def _fill(folder: Path) -> None:
    (folder / "result.json").write_text("{}")
    (folder / "inner").mkdir()
    (folder / "inner" / "report.html").write_text("<p>")


def _set_beside(folder: Path) -> None:
    OutputFolder(folder / "set", KIND).write(_fill)


@cache
def _manifest() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _set_beside(Path(folder))
        return (Path(folder) / "set" / "manifest.json").read_bytes()


def _write_over(path: Path) -> None:
    """Look at a set whose manifest is damaged, and replace it where it stands."""
    try:
        require_whole(path.parent)
    except DivulgeError as error:
        require_no_leak("manifest", str(error))
    with mock.patch.object(
        filesystem, "_load_renameat2", return_value=None
    ):  # as where none can exchange
        OutputFolder(path.parent, KIND, overwrite=True).check()
        OutputFolder(path.parent, KIND, overwrite=True).write(_fill)
    require_whole(path.parent)


_OF_SET = ("set/manifest.json", "set/result.json", "set/inner/report.html")


@cache
def _logs() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        _world(path)
        dv.Release.load(path / "release.toml").protect(path / "out", values=True)
        [log] = (path / "out").rglob("decisions*.parquet")
        return (log.read_bytes(),)


def _log(source: Random) -> bytes:
    """A log whose bytes are damaged, or one with other columns or another note on the release."""
    [whole] = _logs()
    if source.random() < 0.3:
        return mutate(whole, (), source, text=False)
    table = pq.read_table(io.BytesIO(whole))
    note = (table.schema.metadata or {}).get(METADATA_KEY, b"{}")
    rows = [{**row, "record": source.choice((0, None, row["record"]))} for row in table.to_pylist()]
    if source.random() < 0.6 and rows:
        name = source.choice(table.column_names)
        other: Any = mutate_value(rows[0][name], source)
        rows = [{**row, name: other} for row in rows]
    if source.random() < 0.6:
        note = source.choice((mutate_json, mutate_json, _text_of_note))(note, source)
    file = io.BytesIO()
    try:
        changed = pa.Table.from_pylist(rows) if rows else table
        pq.write_table(changed.replace_schema_metadata({METADATA_KEY: note}), file)
    except (pa.ArrowException, ValueError, OverflowError, OSError, UnicodeError):
        return mutate(whole, (), source, text=False)
    return file.getvalue()


def _text_of_note(note: bytes, source: Random) -> bytes:
    return mutate(note, (), source, text=True)


def _explain(path: Path) -> None:
    for number, further in (("1", ()), ("2", ("--json",)), ("1", ("--dataset", "people"))):
        invoke(["explain", "record", number, "--log", str(path), *further])


# The command line.


def invoke(line: Sequence[str]) -> None:
    """Run the command line in this process; what it ends with is an exit code or an error."""
    with mock.patch.object(Chart, "svg", return_value="<svg xmlns='http://www.w3.org/2000/svg'/>"):
        result = CliRunner().invoke(app, list(line))
    require_no_leak(line[0] if line else "divulge", result.stderr)
    error = result.exception
    if isinstance(error, UnicodeEncodeError):
        return  # `main` lets a stream that lacks a letter show another
    if isinstance(error, OSError):  # `main` says these in words
        require_no_leak(line[0], f"{error.filename} {error.strerror}")
        raise DivulgeError("cannot be opened") from None
    if error is not None and not isinstance(error, SystemExit):
        raise error
    if result.exit_code == 2:
        raise DivulgeError("could not run")
    if result.exit_code not in (0, 1, 3):
        raise Violation(f"exit code {result.exit_code}", " ".join(line))


@cache
def _verbs() -> tuple[tuple[tuple[str, ...], Any], ...]:
    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*path, name))
        if not hasattr(command, "commands"):
            yield path, command

    return tuple(walk(typer.main.get_command(app), ()))


_INPUTS = ("people.csv", "people.csv", "release.toml", "release.toml", "risk.toml", "events.toml",
           "totals.toml", "events.csv", "published.csv", "table.jj", "levels.csv", "records.csv",
           "folder", "nowhere.csv", "no/where.toml", "pipe", "/dev/null", "/dev/zero", BESIDE,
           *NAMES)  # fmt: skip
_OUTPUTS = ("out.csv", "out", "out.svg", "out.parquet", "out.html", "new/deep/out.csv", "folder",
            "people.csv", "release.toml", "pipe", "/dev/null", "nowhere/", "people.csv/x", "out.jj",
            *NAMES)  # fmt: skip
_WORDS = ("town", "age", "sex", "income", "name", "user", "date", "goods", "town,sex", "people",
          "no such", "CRS", "maybe", "fast", "optimal", "individual", "count", "day", "item", "month",
          ";", ",", "*", "x", "town=levels.csv", "a=b", "3:0.1", "0", "1", "2", "3", "0.5",
          *NUMBERS[:13], *NAMES)  # fmt: skip
_SUITED = {"--user": ("user",), "--time": ("date",), "--item": ("goods",), "--by": ("town,sex", "sex"),
           "--knows": ("town", "age", "sex"), "--seeks": ("income",), "--workers": ("1", "0", "x"),
           "--quasi-identifier": ("town", "age"), "--min-frequency": ("2", "3"), "-k": ("2", "3"),
           "--width": ("2", "4"), "--method": ("fast", "optimal"), "--max-size": ("2",)}  # fmt: skip
_PLACES = ("--out", "--chart", "--charts", "--html", "--resume", "--log", "--mapping", "--sealed")
_FILES = ("--population", "--release", "--original", "--prior", "--truth", "--accept", "--request")


_RELEASES = ("release.toml", "risk.toml", "events.toml", "totals.toml")
_SUITED_INPUTS = {
    ("check",): _RELEASES,
    ("protect",): _RELEASES,
    ("reconstruct",): ("totals.toml",),
    ("events",): ("events.csv",),
    ("tables", "audit"): ("published.csv",),
    ("tables", "attack"): ("published.csv",),
    ("tables", "suppress"): ("people.csv", "table.jj"),
}


def _value_for(option: str, oddness: float, source: Random) -> str:
    suited: Sequence[str] = _SUITED.get(option, ())
    if option in _PLACES:
        suited = _OUTPUTS if source.random() < oddness else _OUTPUTS[:6]
    elif option in _FILES:
        suited = _INPUTS if source.random() < oddness else _INPUTS[:8]
    if option == "--workers" or (suited and source.random() >= oddness):
        return source.choice(suited)
    return source.choice(_WORDS)


def _input_for(path: tuple[str, ...], oddness: float, source: Random) -> str:
    if source.random() < oddness:
        return source.choice(_INPUTS)
    return source.choice(
        _SUITED_INPUTS.get(path) or _SUITED_INPUTS.get(path[:1]) or ("people.csv", "release.toml")
    )


def _line(source: Random) -> list[str]:
    """A verb with values for what it needs and for some of its options, suited to them or not."""
    path, command = source.choice(_verbs())
    line, oddness = [*path], source.choice((0.02, 0.1, 0.5))
    for parameter in command.params:
        name = parameter.opts[0]
        needed = name in _SUITED and path[0] in ("events", "sweep", "suda", "suppress", "attack")
        if not name.startswith("-"):
            first = {"what": "record", "of": "release", "number": "1"}.get(name)
            line.append(_input_for(path, oddness, source) if first is None else first)
        elif source.random() < (0.7 if needed else 0.15):
            flags = [*parameter.opts, *parameter.secondary_opts]
            is_flag = getattr(parameter, "is_flag", False)
            line += [source.choice(flags)] if is_flag else [name, _value_for(name, oddness, source)]
    if path == ("demo",):  # a demonstration takes a while: it is killed in tools/fuzz.py instead
        line += ["--pupils", source.choice(("5", "x", "-1", "99"))]
    if source.random() < oddness / 3:
        line.insert(source.randrange(len(line) + 1), source.choice((*_WORDS, "--odd", "--", "-x")))
    if source.random() < oddness / 10:
        del line[source.randrange(len(line))]
    return line


def _arguments(source: Random) -> bytes:
    return json.dumps(_line(source)).encode()


def _may_overwrite(content: bytes) -> Collection[str]:
    """Files that a line lets Divulge replace: none that it also reads."""
    line = _line_in(content)
    if "--overwrite" not in line:
        return ()
    places = {value for option, value in pairwise(line) if option in _PLACES}
    if line[:1] == ["init"] and "--out" not in line:
        places.add("release.toml")  # where a draft goes if nothing is said
        line = [*line, "release.toml"]
    counted = {name: line.count(name) for name in WORLD}
    release = any(word.endswith(".toml") and word not in places for word in line)
    read = {name for name in WORLD if release and not name.endswith(".toml")}
    return {name for name in places if counted.get(name) == 1 and name not in read}


def _line_in(content: bytes) -> list[str]:
    line: list[str] = json.loads(content)
    return line


def _run_line(path: Path) -> None:
    invoke(_line_in(path.read_bytes()))


def _run_process(path: Path) -> None:
    """The same by a process of its own, where nothing may be unexpected."""
    line = [word for word in _line_in(path.read_bytes()) if "\0" not in word]
    ended = subprocess.run(
        [sys.executable, "-m", "divulge.cli", *line],
        capture_output=True, text=True, errors="replace", timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    require_no_leak("process", ended.stderr)
    if ended.returncode not in (0, 1, 2, 3):
        raise Violation(f"process: exit code {ended.returncode}", f"{line}\n{ended.stderr}")
    if "something unexpected" in ended.stderr or "Traceback" in ended.stderr:
        raise Violation("process: something unexpected", f"{line}\n{ended.stderr}")
    if ended.returncode == 2:
        raise DivulgeError("could not run")


def _reader(ending: str, make: Callable[[Random], bytes], cases: int = 40) -> Target:
    return Target(name=ending, file=f"people.{ending}", make=make, run=_read, cases=cases)


# Programs of rules.

GROUPS_RULES = """% Companies of one group move together.
own(X, Y, W) from "ownership.csv".
person(id, "year of birth") from dataset "people".

% @name "{X} belongs to its own group"
rel(X, X) :- own(X, _, _).

% @name "{X} controls {Y}"
rel(X, Y) :- rel(X, Z), own(Z, Y, W), not former(Z, Y), msum(W, <Z>) > 0.5. % the majority
former("ACME", "Roma"). former(acme, roma_2).
exists C cat(M, A, C) :- att(M, A).
C1 = C2 :- cat(M, A, C1), cat(M, A, C2).
"""
RISK_RULES = """tuple(M, I, VSet) :-
    val(M, I, A, V), cat(M, A, C), C in {quasi_identifier, "weight"}, VSet = munion((A, V)).
seen(R, *VSet[S]) :- tuple(M, I, VSet), names(S), R = 1 / msum(VSet[W], <I, M>), cat(M, W, weight).
risk(I, R) :- tuple(M, I, V), #rank(I, N), seen(R1, *V),
    R = case R1 < 3 and N >= -1.50 or N is null then 1 case I not in {} then (N + 2) * 3 else 0,
    size(union(V, {(area, "a \\"b\\"\\n")})) > 2, N =? R1, V subset V, mcount(<I>) > 1.
"""


def _read_rules(path: Path) -> None:
    """What is read is written back as the same program, and then stays as it is."""
    program = Program.load(path)
    text = format_program(program)
    again = Program.parse(text)
    if remove_places(again).statements != remove_places(program).statements:
        raise Violation("rules: formatting changed the program", text[:2000])
    if again.comments != program.comments or format_program(again) != text:
        raise Violation("rules: formatting is not settled", text[:2000])


TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        _reader("csv", lambda source: _damaged(_texts(","), source, text=True)),
        _reader("tsv", lambda source: _damaged(_texts("\t"), source, text=True)),
        _reader("csv.gz", _compressed),
        _reader("parquet", _parquet),
        _reader("arrow", _arrow),
        _reader("feather", _arrow),
        _reader("sav", _binary(".sav")),
        _reader("zsav", _binary(".zsav")),
        _reader("dta", _binary(".dta")),
        _reader("xpt", _binary(".xpt")),
        _reader("xlsx", _workbook),
        _reader("ods", _open_document),
        _reader("rds", _rds),
        _reader("duckdb", _duckdb, 20),
        Target(name="release", file="fuzzed.toml", make=_release, run=_check, beside=_world),
        Target(name="protect", file="fuzzed.toml", make=_release, run=_protect, beside=_world),
        Target(
            name="hierarchy",
            file="levels.csv",
            make=_of_texts(LEVELS, LEVELS.replace("South", "")),
            run=Hierarchy.from_file,
        ),
        Target(
            name="jj",
            file="table.jj",
            make=_of_texts(JJ, JJ.replace(" ", "\t")),
            run=lambda path: dv.tables.read_jj(path).problem(),
        ),
        Target(
            name="crosstab",
            file="crosstab.csv",
            make=_of_texts(CROSSTAB, WHOLE_CROSSTAB),
            run=_crosstab,
        ),
        Target(
            name="cells",
            file="cells.csv",
            make=_of_texts(CELLS),
            run=_cells,
            user_names=CELL_AXES,
        ),
        Target(
            name="rules",
            file="groups.rules",
            make=_of_texts(GROUPS_RULES, GROUPS_RULES, RISK_RULES),
            run=_read_rules,
            cases=1000,
        ),
        Target(
            name="sealed",
            file="sealed.json",
            make=lambda source: _json_or_text(_sealed(), source),
            run=SealedDraws.read,
        ),
        Target(
            name="experience",
            file="own.csv",
            make=_of_texts(OWN_BASE, OWN_BASE, OTHERS_BASE),
            run=Experience.own,
        ),
        Target(
            name="checkpoint",
            file="damaged.npz",
            make=lambda source: mutate(_archive(), (_archive(),), source, text=False),
            run=_checkpoint,
        ),
        Target(
            name="manifest",
            file="set/manifest.json",
            make=lambda source: _json_or_text(_manifest(), source),
            run=_write_over,
            beside=_set_beside,
            may_change=lambda _: _OF_SET,
        ),
        Target(name="log", file="decisions.parquet", make=_log, run=_explain),
        Target(
            name="arguments",
            file="line.json",
            make=_arguments,
            run=_run_line,
            beside=_world_with_pipe,
            may_change=_may_overwrite,
        ),
        Target(
            name="process",
            file="line.json",
            make=_arguments,
            run=_run_process,
            beside=_world_with_pipe,
            may_change=_may_overwrite,
            cases=4,
        ),
    )
}
