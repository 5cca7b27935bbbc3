"""Delimited text (CSV), plain or in gzip: rows checked, types told from all the values.

Everything is read as text first and encoded batch by batch; the type of a column is then told
from its distinct values, so it does not depend on which rows came first, and `007` stays a code.
An empty field is a missing value; an empty field in quotation marks is an empty text.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.column import Column
from divulge.data.encoding import Batch
from divulge.data.formats import PlainFormat
from divulge.data.formats.contents import COMPRESSED_TEXT, TEXT
from divulge.data.formats.dialect import (
    SEPARATORS,
    Dialect,
    blocks,
    damaged_archive,
    dialect_of,
    opened,
    undecodable,
)
from divulge.data.formats.names import TEXT_NAMES, refuse_names
from divulge.data.formats.numerals import find_types
from divulge.data.formats.quoting import problem_with_quotes
from divulge.work import InvalidInput, Problem, UnconfirmedName

if TYPE_CHECKING:
    from divulge.data.formats import Options, Records

MOST_ROWS_NAMED = 5
BYTES_AT_A_TIME = 8 << 20


class DelimitedText(PlainFormat):
    """The CSV format and its relatives."""

    kind = TEXT

    def names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""
        dialect = dialect_of(path, options)
        known = str if dialect.names_confirmed else UnconfirmedName
        return [known(name) for name in dialect.names]

    def needs(self, path: Path, wanted: Sequence[str], options: Options) -> Mapping[str, int]:
        """Codes at four bytes, as many records as the first lines make likely."""
        dialect = dialect_of(path, options)
        inside = path.stat().st_size * (8 if self.kind == COMPRESSED_TEXT else 1)
        records = inside // max(1, dialect.bytes_per_line)
        return {"codes": records * (len(wanted) + 1) * 4, "some rows as text": BYTES_AT_A_TIME * 8}

    def batches(self, path: Path, wanted: Sequence[str], options: Options) -> Iterator[Batch]:
        """The records as encoded text, some at a time."""
        dialect = dialect_of(path, options)
        if dialect.lines == 1:
            raise _no_records(path)
        rows = 0
        for arrays in _text(path, dialect, wanted, options):
            rows += len(next(iter(arrays.values())))
            yield Batch(arrays)
        if rows == 0:
            raise _no_records(path)

    def settle(
        self, paths: Sequence[Path], columns: Mapping[str, Column], options: Options
    ) -> dict[str, Column]:
        """Find out the types of all columns."""
        more = f" and {len(paths) - 1} more, records counted on" if len(paths) > 1 else ""
        return find_types(f"{paths[0]}{more}", columns, options)

    def write(self, records: Records, path: Path, options: Options) -> None:
        """Write records; a missing value is an empty field, an empty text is `""`."""
        import pyarrow as pa
        import pyarrow.csv as pa_csv

        refuse_names(records.columns, TEXT_NAMES)
        chosen = pa_csv.WriteOptions(delimiter=_separator_of(path, options))
        compression = "gzip" if self.kind == COMPRESSED_TEXT else None
        with (
            pa.output_stream(str(path), compression=compression) as sink,
            pa_csv.CSVWriter(sink, records.schema, write_options=chosen) as file,
        ):
            for table in records.tables():
                file.write_table(table)


class CompressedText(DelimitedText):
    """Delimited text in a gzip archive."""

    kind = COMPRESSED_TEXT


def _separator_of(path: Path, options: Options) -> str:
    """What is written between fields; the file's name tells it where the options do not."""
    separator = options.separator or ("\t" if ".tsv" in path.name else ",")
    if len(separator) != 1 or not separator.isascii() or separator in '\r\n\0"':
        message = "must be one plain character, and not the quotation mark."
        problem = Problem("separator", message, separator, SEPARATORS)
        raise InvalidInput("writing for text files", [problem])
    return separator


def _no_records(path: Path) -> InvalidInput:
    return InvalidInput(str(path), [Problem("", "has a header and no records.")])


def _text(
    path: Path, dialect: Dialect, wanted: Sequence[str], options: Options
) -> Iterator[dict[str, Any]]:
    """All rows as dictionary-encoded text, block by block."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    read = pa_csv.ReadOptions(
        column_names=list(dialect.names),
        skip_rows=dialect.header_lines,
        encoding="utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding,
        block_size=BYTES_AT_A_TIME,
    )
    parse = pa_csv.ParseOptions(
        delimiter=dialect.separator,
        quote_char=dialect.quote or False,
        newlines_in_values=True,
        # In a file of one column, an empty line is a record whose value is missing.
        ignore_empty_lines=len(dialect.names) > 1,
    )
    convert = pa_csv.ConvertOptions(
        include_columns=list(wanted),
        column_types=dict.fromkeys(wanted, pa.dictionary(pa.int32(), pa.string())),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=["", *options.missing],
    )
    try:
        with (
            work.step(f"Reading {path.name}", path.stat().st_size) as step,
            # Arrow reads ahead in threads of its own; a file object of Python's would draw them
            # into an interpreter that may be ending.
            pa.OSFile(str(path)) as raw,
            _unpacked(path, raw) as file,
            pa_csv.open_csv(file, read, parse, convert) as reader,
        ):
            for batch in reader:
                step.advance(raw.tell() - step.done)
                yield {name: batch.column(name) for name in wanted}
            step.advance(path.stat().st_size - step.done)
        _refuse_stray_quotes(path, dialect)
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError, EOFError):
        raise _unreadable(path, dialect) from None


def _unpacked(path: Path, raw: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(raw, "gzip") if path.suffix.lower() == ".gz" else raw


def _refuse_stray_quotes(path: Path, dialect: Dialect) -> None:
    """Quotation marks that open or close by mistake swallow records without a word."""
    found = _stray_quote(path, dialect)
    if found is not None:
        raise InvalidInput(str(path), [found[1]])


def _stray_quote(path: Path, dialect: Dialect) -> tuple[int, Problem] | None:
    if not dialect.quote:
        return None
    return problem_with_quotes(lambda: blocks(path, dialect.encoding), dialect.grammar)


def _unreadable(path: Path, dialect: Dialect) -> InvalidInput:
    """Why a file could not be read: no archive, no text, or rows of another length."""
    try:
        stray = _stray_quote(path, dialect)
        # Behind a stray mark no line is what it seems.
        problems = list(_uneven(path, dialect, stray[0] if stray else None))
        problems += [stray[1]] if stray else []
    except UnicodeDecodeError:
        return undecodable(path, dialect.encoding)
    except (OSError, EOFError, zlib.error):
        return damaged_archive(path)
    except csv.Error:
        problems = []
    message = "cannot be cut into rows and fields; look at its quotation marks."
    return InvalidInput(str(path), problems or [Problem("", message)])


def _uneven(path: Path, dialect: Dialect, until: int | None = None) -> Iterator[Problem]:
    """The rows whose number of fields is not the header's (their line, not their text)."""
    found, begun = 0, 1
    with opened(path, dialect.encoding) as file:
        reader = csv.reader(file, **dialect.for_reader())
        for row in reader:
            if until is not None and begun >= until:
                break
            if row and len(row) != len(dialect.names):
                found += 1
                if found <= MOST_ROWS_NAMED:
                    message = f"has {len(row)} fields where the header has {len(dialect.names)}."
                    yield Problem(f"line {begun}", message)
            begun = reader.line_num + 1
    if found > MOST_ROWS_NAMED:
        more = found - MOST_ROWS_NAMED
        yield Problem("", f"{more:,} more lines have another number of fields.")
