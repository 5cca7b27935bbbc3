"""Every format by the ending of its files: found for a file, and used to write one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from divulge.data.formats.file_endings import parse_ending
from divulge.data.formats.file_signature import COMPRESSED_TEXT, TEXT, detect_file_kind
from divulge.data.formats.format import EncodedRecords, Format, Options
from divulge.work import InvalidInput, Problem, Problems, input_file, whole_file


def find_format(path: Path) -> Format:
    """The format that a file's name promises, after a look at whether it keeps the promise."""
    format_ = _find_by_ending(path)
    input_file(path)
    if path.stat().st_size == 0:
        raise InvalidInput(str(path), [Problem("", "the file is empty.")])
    actual_kind = detect_file_kind(path)
    if actual_kind != format_.kind:
        message = f"is {actual_kind}, not {format_.kind} as its name says."
        raise InvalidInput(str(path), [Problem("", message)])
    return format_


def write_records(
    records: EncodedRecords, path: Path, options: Options | None = None, overwrite: bool = False
) -> None:
    """Write records in the format of the name; the file appears whole or not at all."""
    from divulge.data.formats.formulas import guard_formulas

    format_, write_options = _find_by_ending(path), options or Options()
    if is_text_file(path):
        _refuse_nul(records, path)
        _refuse_other_letters(records, path, write_options)
    if write_options.guard_formulas and is_text_file(path):
        columns = {name: guard_formulas(column) for name, column in records.columns.items()}
        records = replace(records, columns=columns)
    with whole_file(path, overwrite) as part:
        format_.write(records, part, write_options)


def _refuse_nul(records: EncodedRecords, path: Path) -> None:
    """A text file with a NUL character is taken for a binary file by us and by others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from divulge.data.formats.names import describe_column

    problems = Problems(str(path))
    for number, (name, column) in enumerate(records.columns.items(), start=1):
        kind = column.values.type
        texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if texts and len(column.values) and pc.any(pc.match_substring(column.values, "\0")).as_py():
            message = "contains a NUL character, which a text file cannot."
            problems.add(describe_column(name, number), message)
    problems.raise_any()


def _refuse_other_letters(records: EncodedRecords, path: Path, options: Options) -> None:
    """An encoding that is asked for must have every letter; one that was found gives way."""
    from divulge.data.formats.names import describe_column
    from divulge.data.formats.text.dialect import check_encoding
    from divulge.data.formats.text.text_style import find_unwritable_column

    if options.encoding is None:
        return
    problems = Problems(str(path))
    problems.extend("", check_encoding(options.encoding))
    problems.raise_any()
    column = find_unwritable_column(records.columns, options.encoding)
    if column is not None:
        place = describe_column(column, list(records.columns).index(column) + 1)
        problems.add(place, f'contains letters that the encoding "{options.encoding}" lacks.')
    problems.raise_any()


def is_text_file(path: Path) -> bool:
    """Whether a file of this name is delimited text, which spreadsheets open.

    >>> is_text_file(Path("people.csv.gz")), is_text_file(Path("people.sav"))
    (True, False)
    """
    return _find_by_ending(path).kind in (TEXT, COMPRESSED_TEXT)


def list_endings() -> Iterable[str]:
    """All endings that are known."""
    return list(_load_formats())


def list_writable_endings() -> Iterable[str]:
    """The endings of files that can be written.

    >>> set(list_endings()) - set(list_writable_endings()) == {".sas7bdat", ".ods", ".rds"}
    True
    """
    return [ending for ending, format_ in _load_formats().items() if format_.can_write]


def _find_by_ending(path: Path) -> Format:
    formats = _load_formats()
    ending = parse_ending(path)
    if ending not in formats:
        message = f'the ending "{ending}" is not one of a format that can be read.'
        raise InvalidInput(str(path), [Problem("", message, value=ending, allowed=list(formats))])
    return formats[ending]


def _load_formats() -> Mapping[str, Format]:
    from divulge.data.formats.arrow_file import ArrowFile
    from divulge.data.formats.duckdb_file import DuckDbFile
    from divulge.data.formats.parquet import Parquet
    from divulge.data.formats.r_data.rds_file import RdsFile
    from divulge.data.formats.sas.transport import SasTransport
    from divulge.data.formats.spreadsheet import ExcelWorkbook, OpenDocumentSheet
    from divulge.data.formats.statistical import Sas, Spss, SpssCompressed, Stata
    from divulge.data.formats.text.delimited import CompressedText, DelimitedText

    text, compressed, arrow, duck = DelimitedText(), CompressedText(), ArrowFile(), DuckDbFile()
    return {
        ".csv": text,
        ".tsv": text,
        ".txt": text,
        ".csv.gz": compressed,
        ".tsv.gz": compressed,
        ".txt.gz": compressed,
        ".parquet": Parquet(),
        ".arrow": arrow,
        ".feather": arrow,
        ".sav": Spss(),
        ".zsav": SpssCompressed(),
        ".dta": Stata(),
        ".sas7bdat": Sas(),
        ".xpt": SasTransport(),
        ".xlsx": ExcelWorkbook(),
        ".ods": OpenDocumentSheet(),
        ".rds": RdsFile(),
        ".duckdb": duck,
        ".ddb": duck,
    }
