"""The ending of a file's name: the format that it promises, and what that format can say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from divulge.data.formats.format import Options


def parse_ending(path: Path) -> str:
    """The ending that says the format; a compressed file has two.

    >>> parse_ending(Path("people.CSV.gz")), parse_ending(Path("a.b.parquet"))
    ('.csv.gz', '.parquet')
    """
    endings = [suffix.lower() for suffix in path.suffixes]
    return "".join(endings[-2:]) if endings[-1:] == [".gz"] else "".join(endings[-1:])


def find_separator(path: Path, options: Options) -> str:
    r"""What a text file has between fields: the ending tells where the options do not.

    >>> from divulge.data.formats.format import Options
    >>> [find_separator(Path(name), Options()) for name in ("people.TSV.gz", "people.tsv.csv")]
    ['\t', ',']
    """
    return options.separator or ("\t" if parse_ending(path).startswith(".tsv") else ",")


def has_tagged_missing(path: Path) -> bool:
    """Whether the format of a file can say why a value is missing (`.s`)."""
    return parse_ending(path) in (".dta", ".xpt")


def has_declared_missing(path: Path) -> bool:
    """Whether the format of a file declares which values mean missing (SPSS)."""
    return parse_ending(path) in (".sav", ".zsav")
