"""The formats that data come in and go out in, by the ending of the file's name."""

from divulge.data.formats.file_endings import (
    find_separator,
    has_declared_missing,
    has_tagged_missing,
    parse_ending,
)
from divulge.data.formats.format import EncodedRecords, Format, Options, PlainFormat, TypedColumns
from divulge.data.formats.registry import (
    find_format,
    is_text_file,
    list_endings,
    list_writable_endings,
    write_records,
)

__all__ = [
    "EncodedRecords",
    "Format",
    "Options",
    "PlainFormat",
    "TypedColumns",
    "find_format",
    "find_separator",
    "has_declared_missing",
    "has_tagged_missing",
    "is_text_file",
    "list_endings",
    "list_writable_endings",
    "parse_ending",
    "write_records",
]
