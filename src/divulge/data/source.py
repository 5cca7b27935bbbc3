"""Reading data: from one file, several files, a folder or a database to a described dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from divulge.data.dataset import DEFAULT_SUBJECTS, Dataset, check_names
from divulge.data.dictionary import (
    Dictionary,
    RoleAssignment,
    as_names,
    find_name_problems,
    find_repeated_names,
)
from divulge.data.files import derive_dataset_name, describe_files, list_files, read_files
from divulge.data.formats import EncodedRecords, Options, find_format
from divulge.data.formats import postgres as postgresql
from divulge.data.hidden_marks import decode_hidden
from divulge.data.missing_kinds import mark_hidden
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    from divulge.data.hierarchies.hierarchy import Hierarchy


@runtime_checkable
class ArrowFrame(Protocol):
    """A table that hands out its columns as Arrow arrays: of Arrow, Polars, pandas, DuckDB, ..."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as a stream of Arrow."""


Place: TypeAlias = Path | str | Sequence[Path | str]
"""A file, several files, a folder of files, or the address of a PostgreSQL database."""


@dataclass(frozen=True)
class Source:
    """Where data are and how they are to be understood; their names can be asked before reading.

    >>> Source(Path("people.csv")).said
    'people.csv'
    """

    path: Place
    options: Options = field(default_factory=Options)
    columns: Sequence[str] | None = None

    @property
    def said(self) -> str:
        """The source as messages name it."""
        if postgresql.is_address(self.path):
            return postgresql.redact_address(str(self.path))
        return describe_files(self.path)

    def names(self) -> list[str]:
        """The names of the attributes that would be read, checked."""
        if postgresql.is_address(self.path):
            attribute_names = postgresql.read_names(str(self.path), self.options)
        else:
            first = list_files(self.path)[0]
            attribute_names = find_format(first).read_names(first, self.options)
        check_names(attribute_names, self.said)
        problems = Problems(self.said)
        for name in find_repeated_names(self.columns or ()):
            problems.add("columns", f'names "{name}" more than once.')
        problems.extend(
            "", find_name_problems("columns", self.columns or (), attribute_names, "the file")
        )
        problems.raise_any()
        return attribute_names if self.columns is None else list(self.columns)

    def read(self, name: str | None = None, subjects: str = DEFAULT_SUBJECTS) -> Dataset:
        """Read the records, and what the source itself says of them."""
        column_names = self.names()
        records = self._read_records(column_names)
        if len(next(iter(records.columns.values())).codes) == 0:
            raise InvalidInput(self.said, [Problem("", "has no records.")])
        dictionary = Dictionary.of(column_names, before=Dictionary(records.attributes))
        return Dataset(
            records.columns, dictionary, name or self._dataset_name, subjects, records.style
        )

    def _read_records(self, column_names: Sequence[str]) -> EncodedRecords:
        if not postgresql.is_address(self.path):
            return read_files(list_files(self.path), column_names, self.options)
        return EncodedRecords(postgresql.read_columns(str(self.path), column_names, self.options))

    @property
    def _dataset_name(self) -> str:
        if postgresql.is_address(self.path):
            return str(self.options.table)
        return derive_dataset_name(self.path)


def read(
    path: Place | ArrowFrame,
    roles: RoleAssignment | None = None,
    hierarchies: Mapping[str, Hierarchy | Path | str] | None = None,
    columns: str | Sequence[str] | None = None,
    separator: str | None = None,
    *,
    encoding: str | None = None,
    missing: str | Sequence[str] = (),
    name: str | None = None,
    subjects: str = DEFAULT_SUBJECTS,
    decimal: str | None = None,
    thousands: str | None = None,
    quote: str | None = None,
    text: str | Sequence[str] = (),
    table: str | None = None,
    header: bool = False,
    hidden: str | None = None,
    protected: bool = False,
    dates: str | Mapping[str, str] | None = None,
) -> Dataset:
    r"""Read records from a file, several files, a folder, a database, or a data frame.

    Formats by their endings: CSV (also .gz), Parquet, Arrow, SPSS (.sav, .zsav), Stata (.dta),
    SAS (.sas7bdat, .xpt), R (.rds), DuckDB (.duckdb), spreadsheets (.xlsx, .ods); and
    `postgresql://` addresses.

    Args:
        path: a data frame of pandas or Polars, or an Arrow table, which needs no options of files;
            the file; or files or a folder of files of one format, read as one dataset in the
            order given (of a folder: by name); or the address of a PostgreSQL database.
        roles: which attributes are identifiers, quasi-identifiers, sensitive, and so on.
        hierarchies: per attribute a `Hierarchy`, or a file of levels.
        columns: only these attributes are read.
        separator: what stands between the fields of a text file; found out if not given.
        encoding: of a text file; UTF-8, or what its byte order mark says, if not given.
        missing: what stands for a missing value in a text file, beside the empty field.
        name: what the dataset is called in results; the file's name if not given.
        subjects: whom or what the records are about ("pupils"), for sentences.
        decimal: the mark before decimals in a text file; found out if not given.
        thousands: the mark between thousands in a text file; none if not given.
        quote: the quotation mark of a text file ("" for none); found out if not given.
        text: columns of a text file that are read as text, whatever they look like.
        table: the table of a database, or the sheet of a spreadsheet; not needed if it is the only
            one.
        header: states that the first line of a text file holds names, where it looks like a record.
        hidden: what stands for a value that an earlier protection has hidden (`suppressed`, which
            is also looked for in columns `NAME_status`; `.s` in Stata and SAS).
        dates: how dates are written in a text file where it cannot be found out: "dmy", "mdy" or
            "ymd", or a format such as `%d.%m.%Y`; for all columns, or by column.
        protected: states that whatever is missing was hidden by an earlier protection. Otherwise a
            missing value is absent: it was never there.

    Raises:
        InvalidInput: with all that is wrong, and where.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age;sex\n25;F\n;M\n")
    >>> read(path, roles={"quasi_identifier": ["age", "sex"]}).to_arrow().to_pylist()
    [{'age': 25, 'sex': 'F'}, {'age': None, 'sex': 'M'}]
    """
    column_names = None if columns is None else as_names(columns)
    if isinstance(path, ArrowFrame):
        own = (separator, encoding, decimal, thousands, quote, table, dates)
        if any(option is not None for option in own) or missing or text or header:
            message = "says how files are read, and this is a data frame: its values have types."
            raise InvalidInput("the data frame", [Problem("options", message)])
        frame = read_frame(path, column_names, name or "data", subjects)
        return read_marks(frame, hidden, protected).describe(roles, hierarchies)
    options = Options(
        separator=separator,
        encoding=encoding,
        missing=tuple(as_names(missing)),
        decimal=decimal,
        thousands=thousands,
        quote=quote,
        text=tuple(as_names(text)),
        table=table,
        header=header,
        dates=list_date_formats(dates),
    )
    source = Source(path, options, column_names)
    if columns is not None and not columns:
        raise InvalidInput(source.said, [Problem("columns", "names no attribute.")])
    dataset = read_marks(source.read(name, subjects), hidden, protected)
    return dataset.describe(roles, hierarchies)


def read_frame(
    frame: ArrowFrame, column_names: Sequence[str] | None, name: str, subjects: str
) -> Dataset:
    """The records of a data frame: of pandas without its index, of any other as Arrow has them.

    >>> import polars as pl
    >>> read_frame(pl.DataFrame({"age": [25, 31]}), None, "people", "people")
    Dataset "people": 2 people, 1 attributes
    """
    import pyarrow as pa

    if type(frame).__module__.partition(".")[0] == "pandas":
        dataset = Dataset.from_pandas(frame, name=name, subjects=subjects)  # type: ignore[arg-type]
    else:
        dataset = Dataset.from_arrow(pa.table(frame), name=name, subjects=subjects)
    return dataset if column_names is None else dataset.select(column_names)


def list_date_formats(dates: str | Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """How dates are written as options have it: pairs of a column and a format.

    >>> list_date_formats("dmy"), list_date_formats({"born": "%d.%m.%Y"})
    ((('', 'dmy'),), (('born', '%d.%m.%Y'),))
    """
    if not dates:
        return ()
    return (("", dates),) if isinstance(dates, str) else tuple(dates.items())


def read_marks(dataset: Dataset, hidden: str | None, protected: bool) -> Dataset:
    """What a source says of values that an earlier protection has hidden."""
    if hidden is not None:
        dataset = decode_hidden(dataset, hidden)
    return mark_hidden(dataset) if protected else dataset
