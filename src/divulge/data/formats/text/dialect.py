"""How a text file is written: encoding, separator, quotation mark; given, or found in it.

What is found in a file must not be guessed wrong in silence: names that are a record, and marks
that make one record of several, are refused here or when the records are read (`quoting`).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

from divulge import work
from divulge.data import tuning
from divulge.data.formats.text.quoting import Grammar, find_quote_problem
from divulge.data.header import confirms_names, contradicts_names, has_figure
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    from divulge.data.formats.format import Options

SEPARATORS = (",", ";", "\t", "|")
QUOTES = ('"', "'")
ROW_NAME = "row name"
ENCODINGS = ("utf-8", "utf-16", "windows-1252", "iso-8859-1", "iso-8859-15", "mac-roman")
# In these encodings every mark is the one byte that it is in ASCII, and stands for nothing else.
ASCII_COMPATIBLE = ("ascii", "utf-8", "cp125", "iso8859-", "mac-roman")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one file is written, and the names in its first row."""

    names: tuple[str, ...]
    names_confirmed: bool
    separator: str
    quote: str
    quote_stated: bool
    encoding: str
    written_encoding: str
    lines: int
    header_lines: int
    bytes_per_line: int

    @property
    def grammar(self) -> Grammar:
        """The same for those who look after quotation marks."""
        return _build_grammar(self.separator, self.quote, len(self.names), self.quote_stated)

    def to_csv_options(self) -> dict[str, Any]:
        """The same for Python's own reader of such files."""
        return _build_csv_options(self.separator, self.quote)


def detect_dialect(path: Path, options: Options) -> Dialect:
    r"""How a file is written: what the options say, and what its first lines show.

    >>> import tempfile
    >>> from divulge.data.formats.format import Options
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age|name\n25|'a|b'\n")
    >>> found = detect_dialect(path, Options())
    >>> found.separator, found.quote, found.names
    ('|', "'", ('age', 'name'))
    """
    encoding = _detect_encoding(path, options)
    try:
        with open_text(path, encoding) as file:
            sample = [line for line, _ in zip(file, range(tuning.MAX_SAMPLED_LINES), strict=False)]
    except UnicodeError:
        raise build_decoding_error(path, encoding) from None
    except (OSError, EOFError, zlib.error):
        raise build_archive_error(path) from None
    quote = _detect_quote(sample) if options.quote is None else options.quote
    separator = _choose_separator(path, sample, quote, options)
    reader = csv.reader(
        io.StringIO("".join(sample), newline=""), **_build_csv_options(separator, quote)
    )
    try:
        names = next((row for row in reader if row), [])
    except csv.Error:
        message = "the header cannot be cut into names; look at its quotation marks."
        raise InvalidInput(str(path), [Problem("line 1", message)]) from None
    header_lines = max(1, reader.line_num)
    if quote:
        grammar = _build_grammar(separator, quote, len(names), options.quote is not None)
        _check_header_quotes(path, "".join(sample[:header_lines]), grammar)
    rows = [row for row in _take_readable_rows(reader) if len(row) == len(names)]
    has_names = options.header or confirms_names(names, rows, options.missing)
    if not has_names and contradicts_names(names, rows):
        message = (
            "looks like a record, not like names; the first line must name the columns. If it "
            "does, say header = true."
        )
        raise InvalidInput(str(path), [Problem(f"line {_find_first_line(sample)}", message)])
    line_bytes = sum(len(line.encode("utf-8", "replace")) for line in sample) // max(1, len(sample))
    return Dialect(
        names=_name_row_names(names),
        # A text among figures may be in a record as well; a figure for a name makes that likelier.
        names_confirmed=options.header or (has_names and not has_figure(names)),
        separator=separator,
        quote=quote,
        quote_stated=options.quote is not None,
        encoding=encoding,
        written_encoding=_find_written_encoding(path, encoding),
        lines=len(sample),
        header_lines=header_lines,
        bytes_per_line=line_bytes,
    )


def _name_row_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with one for the first column where it alone has none: R and pandas write rows so.

    >>> _name_row_names(["", "age", "sex"]), _name_row_names(["", "age", ""])
    (('row name', 'age', 'sex'), ('', 'age', ''))
    """
    if not names:
        return ()
    first, *others = names
    if first.strip() or not others or not all(name.strip() for name in others):
        return tuple(names)
    numbered = (ROW_NAME, *(f"{ROW_NAME} {number}" for number in range(2, len(names) + 2)))
    return (next(name for name in numbered if name not in others), *others)


def _choose_separator(path: Path, sample: list[str], quote: str, options: Options) -> str:
    """What stands between fields, after a look at whether both marks can be what they are."""
    problems = Problems(str(path))
    if len(quote) > 1 or not quote.isascii() or quote in ("\r", "\n", "\0"):
        problems.add("quote", "must be one plain character, or empty for none.", quote, QUOTES)
    problems.raise_any()
    separator = options.separator or _detect_separator(sample, quote)
    if len(separator) != 1 or not separator.isascii() or separator in "\r\n\0":
        problems.add("separator", "must be one plain character.", separator, SEPARATORS)
    elif separator == quote:
        problems.add("separator", "is the quotation mark too; they must differ.")
    problems.raise_any()
    return separator


def _check_header_quotes(path: Path, header: str, grammar: Grammar) -> None:
    """A header that goes on over records would have them for names."""
    problem = find_quote_problem(lambda: iter([header.encode("utf-8", "replace")]), grammar)
    if problem is not None:
        raise InvalidInput(str(path), [problem[1]])


def _take_readable_rows(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows up to the first that cannot be cut: a sample ends where it ends."""
    try:
        yield from rows
    except csv.Error:
        return


def _find_first_line(sample: list[str]) -> int:
    """The number of the first line that is not empty."""
    return next((n for n, line in enumerate(sample, start=1) if line.strip("\r\n")), 1)


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[TextIO]:
    """A text file, unpacked if it is a gzip archive."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path, "rb") as packed:
            yield io.TextIOWrapper(cast(BinaryIO, packed), encoding=encoding, newline="")
    else:
        with path.open(encoding=encoding, newline="") as file:
            yield file


def read_blocks(path: Path, encoding: str) -> Iterator[bytes]:
    """A text file as bytes in which all marks are ASCII, some at a time."""
    if not encoding.startswith(ASCII_COMPATIBLE):
        with open_text(path, encoding) as file:
            while text := file.read(tuning.SCANNED_BYTES_AT_A_TIME):
                work.check()
                yield text.encode("utf-8", "surrogatepass")
        return
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as raw:
        block = raw.read(tuning.SCANNED_BYTES_AT_A_TIME)
        if encoding == "utf-8-sig":
            block = block.removeprefix(codecs.BOM_UTF8)
        while block:
            work.check()
            yield block
            block = raw.read(tuning.SCANNED_BYTES_AT_A_TIME)


def build_archive_error(path: Path) -> InvalidInput:
    """The error of an archive that cannot be unpacked to its end."""
    message = "is a gzip archive that is damaged or cut off."
    if path.suffix.lower() != ".gz":
        message = "cannot be read to its end."
    return InvalidInput(str(path), [Problem("", message)])


def build_decoding_error(path: Path, encoding: str) -> InvalidInput:
    """Name the first line that is not text in this encoding, and what it might be."""
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    line, likely_encoding = 1, "windows-1252"
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                try:
                    raw.decode(codec)
                except UnicodeDecodeError:
                    line, likely_encoding = number, _guess_encoding(raw)
                    break
    except (OSError, EOFError, zlib.error):
        return build_archive_error(path)
    message = f"is not {codec.upper()} text; give its encoding, such as encoding = "
    return InvalidInput(str(path), [Problem(f"line {line}", message + f'"{likely_encoding}".')])


def _guess_encoding(raw: bytes) -> str:
    """A single-byte encoding cannot be told for sure, so it is only ever proposed."""
    letters = sum(byte >= 0xC0 for byte in raw)
    return "windows-1252" if letters or any(0x80 <= byte < 0xA0 for byte in raw) else "mac-roman"


def _detect_encoding(path: Path, options: Options) -> str:
    """The encoding given, or the one that a byte order mark tells, or UTF-8."""
    if options.encoding is not None:
        problems = check_encoding(options.encoding)
        if problems:
            raise InvalidInput(str(path), problems)
        codec = codecs.lookup(options.encoding).name
        return "utf-8-sig" if codec == "utf-8" else codec  # a byte order mark does no harm
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            first_bytes = file.read(4)
    except (OSError, EOFError, zlib.error):
        raise build_archive_error(path) from None
    if first_bytes.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def check_encoding(encoding: str) -> list[Problem]:
    """What is wrong with the name of an encoding."""
    try:
        "".encode(encoding)
    except (LookupError, UnicodeError):
        message = f'"{encoding}" is not an encoding that is known.'
        return [Problem("encoding", message, encoding, ENCODINGS)]
    return []


def _find_written_encoding(path: Path, encoding: str) -> str:
    """The encoding as the file has it: UTF-8 with a byte order mark, or without."""
    if encoding != "utf-8-sig":
        return encoding
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        has_mark = file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return encoding if has_mark else "utf-8"


def _detect_quote(sample: list[str]) -> str:
    """The apostrophe if fields stand in apostrophes and none in quotation marks; else the usual."""
    if any('"' in line for line in sample):
        return '"'

    def has_quoted_fields(separator: str) -> bool:
        escaped = re.escape(separator)
        quoted_field = re.compile(rf"(^|{escaped})'[^']*'({escaped}|$)")
        quoted_names = re.compile(rf"'[^']*'({escaped}'[^']*')+")
        header, *rows = (line.rstrip("\r\n") for line in sample)
        if quoted_names.fullmatch(header):
            return True  # numbers below need no marks
        return sum(bool(quoted_field.search(row)) for row in rows) * 2 >= len(rows) > 0

    return "'" if sample and any(has_quoted_fields(separator) for separator in SEPARATORS) else '"'


def _detect_separator(sample: list[str], quote: str) -> str:
    """The candidate that cuts the header into most fields and the other rows into as many."""

    def score_separator(separator: str) -> tuple[int, int]:
        reader = csv.reader(
            io.StringIO("".join(sample), newline=""), **_build_csv_options(separator, quote)
        )
        try:
            rows = [row for row in reader if row]
        except csv.Error:
            return (0, 0)
        fields = len(rows[0]) if rows else 0
        return (sum(len(row) == fields for row in rows) if fields > 1 else 0, fields)

    return max((separator for separator in SEPARATORS if separator != quote), key=score_separator)


def _build_csv_options(separator: str, quote: str) -> dict[str, Any]:
    if not quote:
        return {"delimiter": separator, "quoting": csv.QUOTE_NONE}
    return {"delimiter": separator, "quotechar": quote}


def _build_grammar(separator: str, quote: str, fields: int, quote_stated: bool) -> Grammar:
    return Grammar(
        separator=separator.encode(),
        quote=quote.encode(),
        fields=fields,
        line_breaks_meant=quote_stated,
    )
