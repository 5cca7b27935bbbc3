r"""Writing delimited text in the style of its source: every distinct value is rendered once.

Text stands in quotation marks, so an empty text is not a missing value, which is an empty field.
Numbers, dates and truth values stand as they are, unless the separator is in them.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.formats.dates.date_formats import DateFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats.format import Options


def write_delimited_text(
    columns: Mapping[str, Column], path: Path, options: Options, *, compressed: bool
) -> None:
    """Write columns with the separator, the marks, the encoding and the formats that are given."""
    import pyarrow as pa

    separator = str(options.separator)
    quote = '"' if options.quote is None else options.quote
    dates = {name: DateFormat(text) for name, text in options.dates}
    encoder = codecs.getincrementalencoder(options.encoding or "utf-8")()
    header = separator.join(_quote_text(name, quote) for name in columns) + "\n"
    rendered = [
        _render_values(column, separator, quote, options.decimal or ".", dates.get(name))
        for name, column in columns.items()
    ]
    with pa.output_stream(str(path), compression="gzip" if compressed else None) as sink:
        sink.write(encoder.encode(header))
        for lines in _iterate_lines(list(columns.values()), rendered, separator):
            work.check()
            sink.write(encoder.encode(str(lines, "utf-8")) if options.encoding else lines)


def _iterate_lines(
    columns: list[Column], rendered: list[pa.Array], separator: str
) -> Iterator[memoryview]:
    """The records as text, some hundred thousand of them at once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    end, nothing = pa.scalar("\n", pa.large_string()), pa.scalar("", pa.large_string())
    records = len(columns[0].codes)
    size = max(1, tuning.RECORDS_AT_A_TIME * 16 // max(16, len(columns)))
    for start in range(0, records, size):
        part = slice(start, start + size)
        cells = [
            texts.take(pa.array(column.codes[part].astype(np.int64)))
            for column, texts in zip(columns, rendered, strict=True)
        ]
        cells[-1] = pc.binary_join_element_wise(cells[-1], end, nothing)
        lines = cells[0]
        if len(cells) > 1:
            lines = pc.binary_join_element_wise(*cells, pa.scalar(separator, pa.large_string()))
        _, offsets, content = lines.buffers()
        ends = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
        yield memoryview(content)[ends[0] : ends[-1]]


def _render_values(
    column: Column, separator: str, quote: str, decimal: str, date_format: DateFormat | None
) -> pa.Array:
    """The distinct values as fields, and after them the field of a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.values
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        fields = _quote_fields(values.cast(pa.large_string()), quote)
    else:
        if date_format is not None:
            texts = date_format.write(values)
        else:
            texts = values.cast(pa.string())
            if decimal != "." and _has_decimals(values.type):
                texts = pc.replace_substring(texts, ".", decimal)
        fields = texts.cast(pa.large_string())
        has_separator = pc.match_substring(fields, separator)
        if pc.any(has_separator).as_py():
            fields = pc.if_else(has_separator, _quote_fields(fields, quote), fields)
    return pa.concat_arrays([_combine(fields), pa.array([""], pa.large_string())])


def _combine(fields: Any) -> pa.Array:
    import pyarrow as pa

    return fields.combine_chunks() if isinstance(fields, pa.ChunkedArray) else fields


def _has_decimals(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _quote_fields(texts: pa.Array, quote: str) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    mark, nothing = pa.scalar(quote, pa.large_string()), pa.scalar("", pa.large_string())
    if not quote:
        return texts
    doubled = pc.replace_substring(texts, quote, quote * 2)
    return pc.binary_join_element_wise(mark, doubled, mark, nothing)


def _quote_text(text: str, quote: str) -> str:
    return f"{quote}{text.replace(quote, quote * 2)}{quote}" if quote else text
