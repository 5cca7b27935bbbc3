"""How a text file was written, kept with its records: what is written of them is alike."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from divulge.data.formats.dates.date_formats import DateFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.column import Column
    from divulge.data.formats.format import Options

PLAIN_ENCODING, PLAIN_QUOTE = "utf-8", '"'
PLAIN_TEXT = r"^[\p{L}0-9_ ()/-]+$"
"""Texts that need no quotation marks, whatever stands between fields."""


@dataclass(frozen=True, kw_only=True)
class TextStyle:
    """Separator, quotation mark, decimal mark, encoding, and the formats of dates by column.

    A separator that the ending of the file tells (`.tsv`) is none of its own.
    """

    separator: str | None = None
    quote: str | None = None
    decimal: str = "."
    encoding: str = PLAIN_ENCODING
    dates: Mapping[str, DateFormat] = field(default_factory=dict)


def choose_style(
    style: TextStyle | None, columns: Mapping[str, Column], options: Options
) -> Options:
    """Options for writing some columns: what is not given is as it was in their source.

    What the source's way cannot hold is written in the way of this program: a date that has become
    a moment, and all text if one letter is not in the encoding.
    """
    before = style or TextStyle()
    dates = {
        name: format_
        for name, format_ in before.dates.items()
        if name in columns and format_.holds(columns[name].values)
    }
    encoding = options.encoding
    if encoding is None:
        can_hold = _can_encode(before.encoding, _list_texts(columns))
        encoding = before.encoding if can_hold else PLAIN_ENCODING
    return replace(
        options,
        separator=before.separator if options.separator is None else options.separator,
        quote=_choose_quote(before.quote if options.quote is None else options.quote, columns),
        decimal=before.decimal if options.decimal is None else options.decimal,
        encoding=encoding,
        dates=tuple((name, format_.text) for name, format_ in dates.items()),
    )


def _choose_quote(quote: str | None, columns: Mapping[str, Column]) -> str:
    """The quotation mark; a file can go without one if all its texts are plain."""
    import pyarrow.compute as pc

    if quote != "":
        return quote or PLAIN_QUOTE
    for texts in _list_texts(columns):
        if pc.any(pc.invert(pc.match_substring_regex(texts, PLAIN_TEXT))).as_py():
            return PLAIN_QUOTE
    return quote


def find_unwritable_column(columns: Mapping[str, Column], encoding: str) -> str | None:
    """The first column with a text, or a name, that an encoding does not have."""
    for name, column in columns.items():
        if not _can_encode(encoding, _list_texts({name: column})):
            return name
    return None


def _list_texts(columns: Mapping[str, Column]) -> Iterable[pa.Array]:
    import pyarrow as pa

    yield pa.array(list(columns), pa.string())
    for column in columns.values():
        kind = column.values.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield column.values


def _can_encode(encoding: str, texts: Iterable[pa.Array]) -> bool:
    """Whether an encoding has all letters of some texts; those of Unicode have every letter."""
    import pyarrow.compute as pc

    if codecs.lookup(encoding).name.startswith("utf"):
        return True
    try:
        for array in texts:
            beyond_ascii = array.filter(pc.invert(pc.string_is_ascii(array)))
            for text in beyond_ascii.to_pylist():
                text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
