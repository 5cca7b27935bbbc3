"""The formats that data come in and go out in, by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from divulge.data.formats.file_signature import COMPRESSED_TEXT, TEXT, detect_file_kind
from divulge.work import InvalidInput, Problem, Problems, input_file, whole_file

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.column import Column
    from divulge.data.dictionary import Attribute
    from divulge.data.encoding import Batch
    from divulge.data.formats.text_style import TextStyle


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a source is to be understood where its format leaves it open.

    All but the table (of a database, or the sheet of a spreadsheet) are about text; what is None is
    found out. `header` states that the first line holds names, whatever it looks like; `dates` are
    pairs of a column ("" for all) and the order of day, month and year, or the format.
    `guard_formulas` is of writing: texts that a spreadsheet would run get an apostrophe.
    """

    separator: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ("",)
    decimal: str | None = None
    thousands: str | None = None
    quote: str | None = None
    text: Sequence[str] = ()
    table: str | None = None
    guard_formulas: bool = True
    header: bool = False
    dates: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class EncodedRecords:
    """Columns of codes, and what their source says of them: descriptions, labels, codes, style."""

    columns: Mapping[str, Column]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    style: TextStyle | None = None

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""
        import pyarrow as pa

        return pa.schema([(name, column.values.type) for name, column in self.columns.items()])

    def iterate_tables(self) -> Iterator[pa.Table]:
        """The values as Arrow tables of some hundred thousand records each, one after another."""
        import pyarrow as pa

        from divulge.data.encoding import split_column

        for cut in zip(*(split_column(column) for column in self.columns.values()), strict=True):
            yield pa.table({n: c.to_arrow() for n, c in zip(self.columns, cut, strict=True)})


@dataclass(frozen=True)
class TypedColumns:
    """Columns as they are meant, and the style of the text that they were."""

    columns: Mapping[str, Column]
    style: TextStyle | None = None


class Format(Protocol):
    """One format: what a file says of its columns, its records batch by batch, and back."""

    kind: str

    def read_names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""

    def read_kinds(self, path: Path, options: Options) -> Mapping[str, str]:
        """What the columns hold, in words, where the file says so before it is read."""

    def read_attributes(self, path: Path, options: Options) -> Mapping[str, Attribute]:
        """What the file itself says of its attributes."""

    def estimate_memory(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Mapping[str, int]:
        """What reading will hold in memory, in bytes."""

    def read_batches(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Iterator[Batch]:
        """The records, some at a time."""

    def convert_types(
        self, paths: Sequence[Path], columns: Mapping[str, Column], options: Options
    ) -> TypedColumns:
        """The whole columns as they are meant: where a file holds text, its types are found."""

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:
        """Write records."""


class PlainFormat:
    """What most formats have in common: they say nothing of labels, and their types are given."""

    def read_kinds(self, path: Path, options: Options) -> Mapping[str, str]:  # noqa: ARG002  # asks no file
        """What the columns hold: not known before they are read."""
        return {}

    def read_attributes(self, path: Path, options: Options) -> Mapping[str, Attribute]:  # noqa: ARG002  # asks no file
        """What the file says of its attributes: nothing."""
        return {}

    def estimate_memory(
        self,
        path: Path,
        column_names: Sequence[str],  # noqa: ARG002  # by size alone
        options: Options,  # noqa: ARG002  # by size alone
    ) -> Mapping[str, int]:
        """What reading will hold: about the file's own size again."""
        return {"codes": path.stat().st_size}

    def convert_types(
        self,
        paths: Sequence[Path],  # noqa: ARG002  # text alone has problems to place
        columns: Mapping[str, Column],
        options: Options,  # noqa: ARG002  # text alone leaves something open
    ) -> TypedColumns:
        """The columns as they are: their types were given."""
        return TypedColumns(dict(columns))


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
            message = "holds a NUL character, which a text file cannot."
            problems.add(describe_column(name, number), message)
    problems.raise_any()


def _refuse_other_letters(records: EncodedRecords, path: Path, options: Options) -> None:
    """An encoding that is asked for must have every letter; one that was found gives way."""
    from divulge.data.formats.dialect import check_encoding
    from divulge.data.formats.names import describe_column
    from divulge.data.formats.text_style import find_unwritable_column

    if options.encoding is None:
        return
    problems = Problems(str(path))
    problems.extend("", check_encoding(options.encoding))
    problems.raise_any()
    column = find_unwritable_column(records.columns, options.encoding)
    if column is not None:
        place = describe_column(column, list(records.columns).index(column) + 1)
        problems.add(place, f'holds letters that the encoding "{options.encoding}" has not.')
    problems.raise_any()


def is_text_file(path: Path) -> bool:
    """Whether a file of this name is delimited text, which spreadsheets open.

    >>> is_text_file(Path("people.csv.gz")), is_text_file(Path("people.sav"))
    (True, False)
    """
    return _find_by_ending(path).kind in (TEXT, COMPRESSED_TEXT)


def parse_ending(path: Path) -> str:
    """The ending that says the format; a compressed file has two.

    >>> parse_ending(Path("people.CSV.gz")), parse_ending(Path("a.b.parquet"))
    ('.csv.gz', '.parquet')
    """
    endings = [suffix.lower() for suffix in path.suffixes]
    return "".join(endings[-2:]) if endings[-1:] == [".gz"] else "".join(endings[-1:])


def find_separator(path: Path, options: Options) -> str:
    r"""What a text file has between fields: the ending tells where the options do not.

    >>> [find_separator(Path(name), Options()) for name in ("people.TSV.gz", "people.tsv.csv")]
    ['\t', ',']
    """
    return options.separator or ("\t" if parse_ending(path).startswith(".tsv") else ",")


def list_endings() -> Iterable[str]:
    """All endings that are known."""
    return list(_load_formats())


def has_tagged_missing(path: Path) -> bool:
    """Whether the format of a file can say why a value is missing (`.s`)."""
    return parse_ending(path) in (".dta", ".xpt")


def has_declared_missing(path: Path) -> bool:
    """Whether the format of a file declares which values mean missing (SPSS)."""
    return parse_ending(path) in (".sav", ".zsav")


def _find_by_ending(path: Path) -> Format:
    formats = _load_formats()
    ending = parse_ending(path)
    if ending not in formats:
        message = f'the ending "{ending}" is not one of a format that can be read.'
        raise InvalidInput(str(path), [Problem("", message, value=ending, allowed=list(formats))])
    return formats[ending]


def _load_formats() -> Mapping[str, Format]:
    from divulge.data.formats.arrow_file import ArrowFile
    from divulge.data.formats.delimited import CompressedText, DelimitedText
    from divulge.data.formats.duckdb_file import DuckDbFile
    from divulge.data.formats.parquet import Parquet
    from divulge.data.formats.sas.transport import SasTransport
    from divulge.data.formats.spreadsheet import ExcelWorkbook, OpenDocumentSheet
    from divulge.data.formats.statistical import Sas, Spss, SpssCompressed, Stata

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
        ".duckdb": duck,
        ".ddb": duck,
    }
