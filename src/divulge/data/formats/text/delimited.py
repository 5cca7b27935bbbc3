"""Delimited text (CSV), plain or in gzip: rows checked, types told from all the values.

Everything is read as text first and encoded batch by batch; the type of a column is then told
from its distinct values, so it does not depend on which rows came first, and `007` stays a code.
An empty field is a missing value; an empty field in quotation marks is an empty text.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.encoding import Batch
from divulge.data.formats.file_endings import find_separator
from divulge.data.formats.file_signature import COMPRESSED_TEXT, TEXT
from divulge.data.formats.format import Options, PlainFormat, TypedColumns
from divulge.data.formats.names import TEXT_NAMES, refuse_names
from divulge.data.formats.text.decimal_mark import find_types
from divulge.data.formats.text.delimited_writer import write_delimited_text
from divulge.data.formats.text.dialect import (
    SEPARATORS,
    Dialect,
    build_archive_error,
    build_decoding_error,
    detect_dialect,
    open_text,
    read_blocks,
)
from divulge.data.formats.text.quoting import find_quote_problem
from divulge.data.formats.text.text_style import TextStyle, choose_style
from divulge.work import InvalidInput, Problem, UnconfirmedName

if TYPE_CHECKING:
    from divulge.data.formats.format import EncodedRecords

MAX_ROWS_NAMED = 5


class DelimitedText(PlainFormat):
    """The CSV format and its relatives."""

    kind = TEXT

    def read_names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""
        dialect = detect_dialect(path, options)
        name_type = str if dialect.names_confirmed else UnconfirmedName
        return [name_type(name) for name in dialect.names]

    def estimate_memory(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Mapping[str, int]:
        """Codes at four bytes, as many records as the first lines make likely."""
        dialect = detect_dialect(path, options)
        text_bytes = path.stat().st_size * (8 if self.kind == COMPRESSED_TEXT else 1)
        records = text_bytes // max(1, dialect.bytes_per_line)
        return {
            "codes": records * (len(column_names) + 1) * 4,
            "some rows as text": tuning.PARSED_BYTES_AT_A_TIME * 8,
        }

    def read_batches(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Iterator[Batch]:
        """The records as encoded text, some at a time."""
        dialect = detect_dialect(path, options)
        if dialect.lines == 1:
            raise _build_no_records_error(path)
        rows = 0
        for arrays in _read_text_blocks(path, dialect, column_names, options):
            rows += len(next(iter(arrays.values())))
            yield Batch(arrays)
        if rows == 0:
            raise _build_no_records_error(path)

    def convert_types(
        self, paths: Sequence[Path], columns: Mapping[str, Column], options: Options
    ) -> TypedColumns:
        """Find out the types of all columns, and how the first file was written."""
        more = f" and {len(paths) - 1} more, records counted on" if len(paths) > 1 else ""
        types = find_types(f"{paths[0]}{more}", columns, options)
        dialect = detect_dialect(paths[0], options)
        has_own_separator = find_separator(paths[0], Options()) != dialect.separator
        style = TextStyle(
            separator=dialect.separator if has_own_separator else None,
            quote=dialect.quote,
            decimal=types.decimal,
            encoding=dialect.written_encoding,
            dates=types.dates,
        )
        return TypedColumns(types.columns, style)

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:
        """Write records in their style; a missing value is an empty field, an empty text `""`."""
        refuse_names(records.columns, TEXT_NAMES)
        styled = choose_style(records.style, records.columns, options)
        styled = replace(styled, separator=_choose_separator(path, styled))
        is_compressed = self.kind == COMPRESSED_TEXT
        write_delimited_text(records.columns, path, styled, compressed=is_compressed)


class CompressedText(DelimitedText):
    """Delimited text in a gzip archive."""

    kind = COMPRESSED_TEXT


def _choose_separator(path: Path, options: Options) -> str:
    """What is written between fields; the file's name tells it where the options do not."""
    separator = find_separator(path, options)
    if len(separator) != 1 or not separator.isascii() or separator in '\r\n\0"':
        message = "must be one plain character, and not the quotation mark."
        problem = Problem("separator", message, separator, SEPARATORS)
        raise InvalidInput("writing for text files", [problem])
    return separator


def _build_no_records_error(path: Path) -> InvalidInput:
    return InvalidInput(str(path), [Problem("", "has a header and no records.")])


def _read_text_blocks(
    path: Path, dialect: Dialect, column_names: Sequence[str], options: Options
) -> Iterator[dict[str, Any]]:
    """All rows as dictionary-encoded text, block by block."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    read_options = pa_csv.ReadOptions(
        column_names=list(dialect.names),
        skip_rows=dialect.header_lines,
        encoding="utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding,
        block_size=tuning.PARSED_BYTES_AT_A_TIME,
    )
    parse_options = pa_csv.ParseOptions(
        delimiter=dialect.separator,
        quote_char=dialect.quote or False,
        newlines_in_values=True,
        # In a file of one column, an empty line is a record whose value is missing.
        ignore_empty_lines=len(dialect.names) > 1,
    )
    convert_options = pa_csv.ConvertOptions(
        include_columns=list(column_names),
        column_types=dict.fromkeys(column_names, pa.dictionary(pa.int32(), pa.string())),
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
            _decompress_stream(path, raw) as file,
            pa_csv.open_csv(file, read_options, parse_options, convert_options) as reader,
        ):
            for batch in reader:
                step.advance(raw.tell() - step.done)
                yield {name: batch.column(name) for name in column_names}
            step.advance(path.stat().st_size - step.done)
        _refuse_stray_quotes(path, dialect)
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError, EOFError):
        raise _build_unreadable_error(path, dialect) from None


def _decompress_stream(path: Path, raw: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(raw, "gzip") if path.suffix.lower() == ".gz" else raw


def _refuse_stray_quotes(path: Path, dialect: Dialect) -> None:
    """Quotation marks that open or close by mistake swallow records without a word."""
    stray = _find_stray_quote(path, dialect)
    if stray is not None:
        raise InvalidInput(str(path), [stray[1]])


def _find_stray_quote(path: Path, dialect: Dialect) -> tuple[int, Problem] | None:
    if not dialect.quote:
        return None
    return find_quote_problem(lambda: read_blocks(path, dialect.encoding), dialect.grammar)


def _build_unreadable_error(path: Path, dialect: Dialect) -> InvalidInput:
    """Why a file could not be read: no archive, no text, or rows of another length."""
    try:
        stray = _find_stray_quote(path, dialect)
        # Behind a stray mark no line is what it seems.
        problems = list(_find_uneven_rows(path, dialect, stray[0] if stray else None))
        problems += [stray[1]] if stray else []
    except UnicodeDecodeError:
        return build_decoding_error(path, dialect.encoding)
    except (OSError, EOFError, zlib.error):
        return build_archive_error(path)
    except csv.Error:
        problems = []
    message = "cannot be cut into rows and fields; look at its quotation marks."
    return InvalidInput(str(path), problems or [Problem("", message)])


def _find_uneven_rows(path: Path, dialect: Dialect, until: int | None = None) -> Iterator[Problem]:
    """The rows whose number of fields is not the header's (their line, not their text)."""
    uneven_rows, first_line = 0, 1
    with open_text(path, dialect.encoding) as file:
        reader = csv.reader(file, **dialect.to_csv_options())
        for row in reader:
            if until is not None and first_line >= until:
                break
            if row and len(row) != len(dialect.names):
                uneven_rows += 1
                if uneven_rows <= MAX_ROWS_NAMED:
                    message = f"has {len(row)} fields where the header has {len(dialect.names)}."
                    yield Problem(f"line {first_line}", message)
            first_line = reader.line_num + 1
    if uneven_rows > MAX_ROWS_NAMED:
        more = uneven_rows - MAX_ROWS_NAMED
        yield Problem("", f"{more:,} more lines have another number of fields.")
