"""The formats that data come in and go out in, by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from divulge.data.formats.contents import kind_of
from divulge.work import InvalidInput, Problem, whole_file

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.column import Column


@dataclass(frozen=True)
class Options:
    """How a file is to be understood where its format leaves it open (that is: delimited text)."""

    separator: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ("",)


class Format(Protocol):
    """One format: the names of a file's columns, the columns themselves, and back."""

    kind: str

    def names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""

    def columns(self, path: Path, wanted: Sequence[str], options: Options) -> dict[str, Column]:
        """The columns that are wanted, as codes."""

    def write(self, table: pa.Table, path: Path) -> None:
        """Write a table."""


def format_of(path: Path) -> Format:
    """The format that a file's name promises, after a look at whether it keeps the promise."""
    chosen = _by_ending(path)
    if not path.exists():
        raise InvalidInput(str(path), [Problem("", "the file does not exist.")])
    if path.is_dir():
        raise InvalidInput(str(path), [Problem("", "is a folder; name a file in it.")])
    if path.stat().st_size == 0:
        raise InvalidInput(str(path), [Problem("", "the file is empty.")])
    found = kind_of(path)
    if found != chosen.kind:
        message = f"is {found}, not {chosen.kind} as its name says."
        raise InvalidInput(str(path), [Problem("", message)])
    return chosen


def write(table: pa.Table, path: Path) -> None:
    """Write a table in the format of the name; the file appears whole or not at all."""
    chosen = _by_ending(path)
    with whole_file(path) as part:
        chosen.write(table, part)


def _by_ending(path: Path) -> Format:
    formats = _formats()
    ending = path.suffix.lower()
    if ending not in formats:
        message = f'the ending "{ending}" is not one of a format that can be read.'
        raise InvalidInput(str(path), [Problem("", message, value=ending, allowed=list(formats))])
    return formats[ending]


def _formats() -> Mapping[str, Format]:
    from divulge.data.formats.arrow_file import ArrowFile
    from divulge.data.formats.delimited import DelimitedText
    from divulge.data.formats.parquet import Parquet

    text, parquet, arrow = DelimitedText(), Parquet(), ArrowFile()
    return {
        ".csv": text,
        ".tsv": text,
        ".txt": text,
        ".parquet": parquet,
        ".arrow": arrow,
        ".feather": arrow,
    }
