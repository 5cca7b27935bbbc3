"""Writing an Excel workbook of one sheet with records, and nothing else.

No formula, no hidden sheet, row or column, no comment, no author, no time of writing: what is in
the file is what is seen in it. Text is text, whatever it looks like. The same records make the same
file, byte by byte. What a sheet would change is refused before anything is written.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from divulge import work
from divulge.data import tuning
from divulge.work import Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.column import Column
    from divulge.data.formats.format import EncodedRecords

SHEET_NAME = "records"
MAX_RECORDS, MAX_COLUMNS, MAX_LETTERS = 1_048_575, 16_384, 32_767
_FIRST_DAY = dt.date(1900, 3, 1)
"""Excel takes 1900 for a leap year, so days before this are others elsewhere."""
_ZERO_DAY = (dt.date(1970, 1, 1) - dt.date(1899, 12, 30)).days
_DAY, _MOMENT = 1, 2
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
"""Letters that XML has not, or that Excel reads as others."""
_TIME_OF_PARTS = (1980, 1, 1, 0, 0, 0)

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f"""<Types xmlns="{_PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/>
<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>
</Types>""",
    "_rels/.rels": f"""<Relationships xmlns="{_PACKAGE}/relationships">
<Relationship Id="rId1" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/>
</Relationships>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{_PACKAGE}/relationships">
<Relationship Id="rId1" Type="{_LINKS}/worksheet" Target="worksheets/sheet1.xml"/>
<Relationship Id="rId2" Type="{_LINKS}/styles" Target="styles.xml"/>
</Relationships>""",
    "xl/styles.xml": f"""<styleSheet xmlns="{_MAIN}">
<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>
<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>
<fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill>
<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>""",
}


def write_workbook(records: EncodedRecords, path: Path, sheet: str | None = None) -> None:
    """Write records to the one sheet of a new workbook, names in its first row.

    Raises:
        InvalidInput: with the columns that a sheet would change.
    """
    columns = dict(records.columns)
    _refuse_unwritable(columns)
    name = quoteattr(sheet or SHEET_NAME)
    workbook = (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>'
        f'<sheet name={name} sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in {**_PARTS, "xl/workbook.xml": workbook}.items():
            archive.writestr(_describe_part(part), _XML + content)
        with archive.open(
            _describe_part("xl/worksheets/sheet1.xml"), "w", force_zip64=True
        ) as file:
            for piece in _iterate_sheet(columns):
                work.check()
                file.write(piece)


def _describe_part(name: str) -> zipfile.ZipInfo:
    part = zipfile.ZipInfo(name, _TIME_OF_PARTS)
    part.compress_type = zipfile.ZIP_DEFLATED
    return part


def _iterate_sheet(columns: dict[str, Column]) -> Iterator[bytes | memoryview]:
    """The sheet as XML, some thousand rows at once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    yield (_XML + f'<worksheet xmlns="{_MAIN}"><sheetData><row>').encode()
    yield "".join(_write_text(name) for name in columns).encode() + b"</row>"
    begin, end = (pa.scalar(text, pa.large_string()) for text in ("<row>", "</row>"))
    rendered = [_render_cells(column) for column in columns.values()]
    records = len(next(iter(columns.values())).codes)
    size = max(1, tuning.RECORDS_AT_A_TIME * 2 // max(2, len(columns)))
    for start in range(0, records, size):
        cells = [
            texts.take(pa.array(column.codes[start : start + size].astype(np.int64)))
            for column, texts in zip(columns.values(), rendered, strict=True)
        ]
        rows = pc.binary_join_element_wise(begin, *cells, end, pa.scalar("", pa.large_string()))
        _, offsets, content = rows.buffers()
        ends = np.frombuffer(offsets, np.int64)[rows.offset : rows.offset + len(rows) + 1]
        yield memoryview(content)[ends[0] : ends[-1]]
    yield b"</sheetData></worksheet>"


def _render_cells(column: Column) -> pa.Array:
    """The cells of the distinct values, and after them that of a missing one."""
    import pyarrow as pa

    kind = column.values.type
    write: Callable[[Any], str] = _write_number
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        write = _write_text
    elif pa.types.is_boolean(kind):
        write = _write_truth
    elif pa.types.is_date32(kind):
        write = _write_day
    elif pa.types.is_timestamp(kind):
        write = _write_moment
    return pa.array([*map(write, column.values.to_pylist()), "<c/>"], pa.large_string())


def _write_text(text: str) -> str:
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'


def _write_number(number: float) -> str:
    return f"<c><v>{number!r}</v></c>"


def _write_truth(truth: bool) -> str:
    return f'<c t="b"><v>{int(truth)}</v></c>'


def _write_day(day: dt.date) -> str:
    return f'<c s="{_DAY}"><v>{(day - dt.date(1970, 1, 1)).days + _ZERO_DAY}</v></c>'


def _write_moment(when: dt.datetime) -> str:
    seconds = (when - dt.datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001  # sheets know no zones
    return f'<c s="{_MOMENT}"><v>{seconds / 86_400 + _ZERO_DAY!r}</v></c>'


def _refuse_unwritable(columns: dict[str, Column]) -> None:
    from divulge.data.formats.names import describe_column

    problems = Problems("writing for Excel")
    if len(columns) > MAX_COLUMNS:
        problems.add("", f"a sheet has {MAX_COLUMNS:,} columns at most.")
    if len(next(iter(columns.values())).codes) > MAX_RECORDS:
        problems.add("", f"a sheet has {MAX_RECORDS:,} records at most; write .parquet or .csv.")
    is_empty = np.ones(len(next(iter(columns.values())).codes), np.bool_)
    for column in columns.values():
        is_empty &= column.codes == column.missing_code
    if is_empty.any():
        message = "has no value at all: an empty row of a sheet is no record. Write .csv."
        problems.add(f"record {int(np.argmax(is_empty)) + 1:,}", message)
    for number, (name, column) in enumerate(columns.items(), start=1):
        objection = _find_objection(column)
        if _UNWRITABLE.search(name):
            objection = "has a name with a letter that a sheet does not allow."
        if objection:
            problems.add(describe_column(name, number), objection)
    problems.raise_any()


def _find_objection(column: Column) -> str:
    """What a sheet would make of a column without a word; empty if nothing."""
    import pyarrow as pa

    kind, values = column.values.type, column.values.to_pylist()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if any(_UNWRITABLE.search(text) for text in values):
            return "contains a letter that a sheet does not allow."
        if "" in values:
            return "contains an empty text, which is a missing value in a sheet."
        return "contains a text too long for a cell." * any(len(t) > MAX_LETTERS for t in values)
    if pa.types.is_integer(kind):
        return "contains whole numbers that a sheet rounds." * any(abs(v) > 2**53 for v in values)
    if pa.types.is_floating(kind):
        return "contains an infinite number." * any(np.isinf(v) for v in values)
    if pa.types.is_date32(kind):
        return "contains days before March 1900." * any(v < _FIRST_DAY for v in values)
    if pa.types.is_timestamp(kind):
        if kind.tz or any(v.microsecond for v in values):
            return "contains moments with a zone, or parts of seconds, which a sheet cannot store."
        return "contains days before March 1900." * any(v.date() < _FIRST_DAY for v in values)
    return (
        "" if pa.types.is_boolean(kind) else "contains values of a kind that a sheet cannot store."
    )
