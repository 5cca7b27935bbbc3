"""How a text file is written: encoding, separator, quotation mark; given, or found in it."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    from divulge.data.formats import Options

SEPARATORS = (",", ";", "\t", "|")
QUOTES = ('"', "'")
ENCODINGS = ("utf-8", "utf-16", "windows-1252", "iso-8859-1", "iso-8859-15", "mac-roman")
LINES_LOOKED_AT = 50


@dataclass(frozen=True)
class Dialect:
    """How one file is written, and the names in its first row."""

    names: tuple[str, ...]
    separator: str
    quote: str
    encoding: str
    lines: int
    header_lines: int
    bytes_per_line: int

    def for_reader(self) -> dict[str, Any]:
        """The same for Python's own reader of such files."""
        return _for_reader(self.separator, self.quote)


def dialect_of(path: Path, options: Options) -> Dialect:
    r"""How a file is written: what the options say, and what its first lines show.

    >>> import tempfile
    >>> from divulge.data.formats import Options
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age|name\n25|'a|b'\n")
    >>> found = dialect_of(path, Options())
    >>> found.separator, found.quote, found.names
    ('|', "'", ('age', 'name'))
    """
    encoding = _encoding(path, options)
    try:
        with opened(path, encoding) as file:
            sample = [line for line, _ in zip(file, range(LINES_LOOKED_AT), strict=False)]
    except UnicodeError:
        raise undecodable(path, encoding) from None
    except (OSError, EOFError, zlib.error):
        raise damaged_archive(path) from None
    quote = _quote(sample) if options.quote is None else options.quote
    problems = Problems(str(path))
    if len(quote.encode()) > 1:
        problems.add("quote", "must be one plain character, or empty for none.", quote, QUOTES)
    problems.raise_any()
    separator = options.separator or _separator(sample, quote)
    if len(separator.encode()) != 1:
        problems.add("separator", "must be one plain character.", separator, SEPARATORS)
    problems.raise_any()
    reader = csv.reader(io.StringIO("".join(sample)), **_for_reader(separator, quote))
    try:
        names = next((row for row in reader if row), [])
    except csv.Error:
        message = "the header cannot be cut into names; look at its quotation marks."
        raise InvalidInput(str(path), [Problem("line 1", message)]) from None
    size = sum(len(line.encode("utf-8", "replace")) for line in sample) // max(1, len(sample))
    return Dialect(
        tuple(names), separator, quote, encoding, len(sample), max(1, reader.line_num), size
    )


@contextmanager
def opened(path: Path, encoding: str) -> Iterator[TextIO]:
    """A text file, unpacked if it is a gzip archive."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path, "rb") as packed:
            yield io.TextIOWrapper(cast(BinaryIO, packed), encoding=encoding, newline="")
    else:
        with path.open(encoding=encoding, newline="") as file:
            yield file


def damaged_archive(path: Path) -> InvalidInput:
    """The error of an archive that cannot be unpacked to its end."""
    message = "is a gzip archive that is damaged or cut off."
    if path.suffix.lower() != ".gz":
        message = "cannot be read to its end."
    return InvalidInput(str(path), [Problem("", message)])


def undecodable(path: Path, encoding: str) -> InvalidInput:
    """Name the first line that is not text in this encoding, and what it might be."""
    said = "utf-8" if encoding == "utf-8-sig" else encoding
    line, likely = 1, "windows-1252"
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                raw.decode(said)
            except UnicodeDecodeError:
                line, likely = number, _likely(raw)
                break
    message = f"is not {said.upper()} text; give its encoding, such as encoding = "
    return InvalidInput(str(path), [Problem(f"line {line}", message + f'"{likely}".')])


def _likely(raw: bytes) -> str:
    """A single-byte encoding cannot be told for sure, so it is only ever proposed."""
    letters = sum(byte >= 0xC0 for byte in raw)
    return "windows-1252" if letters or any(0x80 <= byte < 0xA0 for byte in raw) else "mac-roman"


def _encoding(path: Path, options: Options) -> str:
    """The encoding given, or the one that a byte order mark tells, or UTF-8."""
    if options.encoding is not None:
        try:
            "".encode(options.encoding)
            given = codecs.lookup(options.encoding).name
        except (LookupError, UnicodeError):
            message = f'"{options.encoding}" is not an encoding that is known.'
            problem = Problem("encoding", message, options.encoding, ENCODINGS)
            raise InvalidInput(str(path), [problem]) from None
        return "utf-8-sig" if given == "utf-8" else given  # a byte order mark does no harm
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            mark = file.read(4)
    except (OSError, EOFError, zlib.error):
        raise damaged_archive(path) from None
    if mark.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def _quote(sample: list[str]) -> str:
    """The apostrophe if fields stand in apostrophes and none in quotation marks; else the usual."""
    if any('"' in line for line in sample):
        return '"'

    def quoted(separator: str) -> bool:
        cut = re.escape(separator)
        wrapped = re.compile(rf"(^|{cut})'[^']*'({cut}|$)")
        rows = [line.rstrip("\r\n") for line in sample[1:]]
        return sum(bool(wrapped.search(row)) for row in rows) * 2 >= len(rows) > 0

    return "'" if any(quoted(separator) for separator in SEPARATORS) else '"'


def _separator(sample: list[str], quote: str) -> str:
    """The candidate that cuts the header into most fields and the other rows into as many."""

    def agreement(separator: str) -> tuple[int, int]:
        reader = csv.reader(io.StringIO("".join(sample)), **_for_reader(separator, quote))
        try:
            rows = [row for row in reader if row]
        except csv.Error:
            return (0, 0)
        fields = len(rows[0]) if rows else 0
        return (sum(len(row) == fields for row in rows) if fields > 1 else 0, fields)

    return max(SEPARATORS, key=agreement)


def _for_reader(separator: str, quote: str) -> dict[str, Any]:
    if not quote:
        return {"delimiter": separator, "quoting": csv.QUOTE_NONE}
    return {"delimiter": separator, "quotechar": quote}
