"""Delimited text (CSV): separator found, rows checked, types told from all the values.

Everything is read as text first and dictionary-encoded; the type of a column is then told from
its distinct values, so it does not depend on which rows came first, and `007` stays a code.
An empty field is a missing value; an empty field in quotation marks is an empty text.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.column import Column, encode
from divulge.data.formats.contents import TEXT
from divulge.data.formats.types import typed
from divulge.work import InvalidInput, MemoryPlan, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats import Options

SEPARATORS = (",", ";", "\t", "|")
MOST_ROWS_NAMED = 5
ENCODINGS = ("utf-8", "utf-16", "windows-1252", "iso-8859-1", "iso-8859-15", "mac-roman")


class DelimitedText:
    """The CSV format and its relatives."""

    kind = TEXT

    def names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""
        return _header(path, options)[0]

    def columns(self, path: Path, wanted: Sequence[str], options: Options) -> dict[str, Column]:
        """The columns that are wanted, as codes."""
        names, separator, lines = _header(path, options)
        if lines == 1:
            raise _no_records(path)
        size = path.stat().st_size
        needs = {"text while it is read": size, "codes": size // 2}
        MemoryPlan(f"reading {path.name}", needs).require(
            "read fewer columns, or write the data to Parquet first"
        )
        table = _table(path, names, wanted, separator, options)
        if table.num_rows == 0:
            raise _no_records(path)
        found = {}
        for name in wanted:
            found[name] = typed(encode(table.column(name)))
            table = table.drop_columns([name])
        return found

    def write(self, table: pa.Table, path: Path) -> None:
        """Write a table; a missing value is an empty field, an empty text is `""`."""
        import pyarrow.csv as pa_csv

        separator = "\t" if ".tsv" in path.name else ","
        pa_csv.write_csv(table, path, pa_csv.WriteOptions(delimiter=separator))


def _header(path: Path, options: Options) -> tuple[list[str], str, int]:
    """The names in the first row, the separator between them, and how many lines were looked at."""
    encoding = _encoding(path, options)
    try:
        with path.open(encoding=encoding, newline="") as file:
            sample = [line for line, _ in zip(file, range(50), strict=False)]
    except UnicodeDecodeError:
        raise _undecodable(path, encoding) from None
    separator = options.separator or _separator(sample)
    if len(separator) != 1:
        message = "the separator must be one character."
        raise InvalidInput(str(path), [Problem("separator", message, separator, SEPARATORS)])
    rows = _rows(sample, separator)
    names = rows[0] if rows else []
    return names, separator, len(sample)


def _no_records(path: Path) -> InvalidInput:
    return InvalidInput(str(path), [Problem("", "has a header and no records.")])


def _separator(sample: list[str]) -> str:
    """The candidate that cuts the header into most fields and the other rows into as many."""

    def agreement(separator: str) -> tuple[int, int]:
        rows = _rows(sample, separator)
        fields = len(rows[0]) if rows else 0
        return (sum(len(row) == fields for row in rows) if fields > 1 else 0, fields)

    return max(SEPARATORS, key=agreement)


def _rows(sample: list[str], separator: str) -> list[list[str]]:
    """The rows of the first lines of a file; the last one may be cut, so what fails is left."""
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO("".join(sample), newline=""), delimiter=separator)
    with contextlib.suppress(csv.Error):
        rows.extend(row for row in reader if row)
    return rows


def _encoding(path: Path, options: Options) -> str:
    """The encoding given, or the one that a byte order mark tells, or UTF-8."""
    if options.encoding is not None:
        try:
            return codecs.lookup(options.encoding).name
        except LookupError:
            message = f'"{options.encoding}" is not an encoding that is known.'
            problem = Problem("encoding", message, options.encoding, ENCODINGS)
            raise InvalidInput(str(path), [problem]) from None
    with path.open("rb") as file:
        mark = file.read(4)
    if mark.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def _table(
    path: Path, names: Sequence[str], wanted: Sequence[str], separator: str, options: Options
) -> pa.Table:
    """All rows as dictionary-encoded text."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    uneven: list[Any] = []

    def note(row: Any) -> str:
        uneven.append(row)
        return "skip"

    encoding = _encoding(path, options)
    read = pa_csv.ReadOptions(
        column_names=list(names),
        skip_rows=1,
        encoding="utf8" if encoding == "utf-8-sig" else encoding,
        block_size=8 << 20,
    )
    parse = pa_csv.ParseOptions(
        delimiter=separator,
        newlines_in_values=True,
        invalid_row_handler=note,
        # In a file of one column, an empty line is a record whose value is missing.
        ignore_empty_lines=len(names) > 1,
    )
    text = pa.dictionary(pa.int32(), pa.string())
    convert = pa_csv.ConvertOptions(
        include_columns=list(wanted),
        column_types=dict.fromkeys(wanted, text),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=list(options.missing),
    )
    try:
        with (
            work.step(f"Reading {path.name}", path.stat().st_size) as step,
            pa.PythonFile(_Counted(path, step), mode="r") as file,
        ):
            table = pa_csv.read_csv(file, read, parse, convert)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raise _unreadable(path, encoding) from None
    if uneven:
        _raise_uneven(path, names, separator, encoding)
    return table


class _Counted(io.FileIO):
    """A file that says how much of it has been read; this is also where reading is cancelled."""

    def __init__(self, path: Path, step: Any) -> None:
        super().__init__(path, "rb")
        self._step = step

    def read(self, size: int | None = -1) -> bytes:
        block = super().read(-1 if size is None else size)
        self._step.advance(len(block or b""))
        return block or b""


def _raise_uneven(path: Path, names: Sequence[str], separator: str, encoding: str) -> None:
    """Name the rows whose number of fields is not the header's (their number, not their text)."""
    problems = Problems(str(path))
    found = 0
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        with contextlib.suppress(csv.Error):
            for row in reader:
                if not row or len(row) == len(names):
                    continue
                found += 1
                if found <= MOST_ROWS_NAMED:
                    message = f"has {len(row)} fields where the header has {len(names)}."
                    problems.add(f"line {reader.line_num}", message)
    if found > MOST_ROWS_NAMED:
        problems.add("", f"{found - MOST_ROWS_NAMED:,} more lines have another number of fields.")
    if not found:
        problems.add("", "some rows cannot be cut into fields; look at its quotation marks.")
    problems.raise_any()


def _unreadable(path: Path, encoding: str) -> InvalidInput:
    try:
        with path.open(encoding=encoding, newline="") as file:
            for _ in file:
                pass
    except UnicodeDecodeError:
        return _undecodable(path, encoding)
    message = "cannot be cut into rows and fields; look at its quotation marks."
    return InvalidInput(str(path), [Problem("", message)])


def _undecodable(path: Path, encoding: str) -> InvalidInput:
    """Name the first line that is not text in this encoding."""
    said = "utf-8" if encoding == "utf-8-sig" else encoding
    line = 1
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                raw.decode(said)
            except UnicodeDecodeError:
                line = number
                break
    message = f"is not {said.upper()} text; give its encoding, such as encoding = "
    return InvalidInput(str(path), [Problem(f"line {line}", message + '"windows-1252".')])
