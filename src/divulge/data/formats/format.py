"""What a format can do with a file, how it is to be understood, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.column import Column
    from divulge.data.dictionary import Attribute
    from divulge.data.encoding import Batch
    from divulge.data.formats.text.text_style import TextStyle


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
    can_write: bool

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

    can_write = True
    """Whether files of this format are written; else what goes out is written as Parquet."""

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
