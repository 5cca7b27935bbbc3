"""Sheets of Excel workbooks and OpenDocument spreadsheets: one table, names in its first row.

A spreadsheet is a drawing before it is a table: cells may be merged, sheets hidden, formulas never
computed, numbers stored as text. What cannot be read as records is said with its cell. Values of
text cells are understood as those of a text file; all others have the type of their cell.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from divulge import work
from divulge.data.encoding import Batch
from divulge.data.formats.file_signature import EXCEL, OPEN_DOCUMENT
from divulge.data.formats.format import PlainFormat, TypedColumns
from divulge.data.formats.text.decimal_mark import find_types
from divulge.data.formats.workbook_writer import write_workbook
from divulge.work import InvalidInput, Problem, Problems, format_quantity

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.column import Column
    from divulge.data.formats.format import EncodedRecords, Options

_CELL = re.compile(rb"<c\b([^>]*)(?<!/)>((?:(?!</c>).)*)</c>", re.DOTALL)
_SPAN = re.compile(rb'number-(?:columns|rows)-spanned="(?!1")')
_CONTENT = "content.xml"
"""The part of an OpenDocument spreadsheet that holds its sheets."""
_DAMAGE = (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading an archive raises that is damaged or encrypted."""
_CELL_MEMORY = 60
"""Bytes that a cell takes while a sheet is read, as an object of Python."""
_KINDS = {bool: "a truth value", int: "a number", float: "a number", str: "text"}


class ExcelWorkbook(PlainFormat):
    """A sheet of an Excel workbook; the option `table` says which, if several are visible."""

    kind = EXCEL

    def read_names(self, path: Path, options: Options) -> list[str]:
        """The names in the first row of the sheet."""
        sheet = _open_sheet(path, options)
        header: list[Any] = next((row for row in sheet.iter_rows() if _has_content(row)), [])
        _refuse_merged_cells(path, sheet)
        return [_to_text(cell) for cell in _strip_end(header)]

    def estimate_memory(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Mapping[str, int]:
        """Codes, and all cells of the sheet at once."""
        sheet = _open_sheet(path, options)
        cells = sheet.total_height * sheet.total_width
        return {"codes": sheet.total_height * len(column_names) * 4, "cells": cells * _CELL_MEMORY}

    def read_batches(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Iterator[Batch]:
        """All records at once: a sheet has no more than a million."""
        sheet = _open_sheet(path, options)
        _refuse_merged_cells(path, sheet)
        first = sheet.start[0] + 1 if sheet.start else 1
        with work.step(f"Reading {path.name}"):
            rows = [
                (number, row)
                for number, row in enumerate(sheet.iter_rows(), start=first)
                if _has_content(row)
            ]
        if len(rows) < 2:
            raise InvalidInput(str(path), [Problem("", "has a header and no records.")])
        names = [_to_text(cell) for cell in _strip_end(rows[0][1])]
        problems = Problems(str(path))
        _refuse_wider_rows(problems, rows[1:], len(names))
        _refuse_valueless_cells(problems, path, sheet.name, options.missing)
        arrays = {}
        for name in column_names:
            place = names.index(name)
            cells = [(n, row[place] if place < len(row) else "") for n, row in rows[1:]]
            arrays[name] = _build_array(problems, name, cells, options)
        problems.raise_any()
        yield Batch(arrays)

    def convert_types(
        self, paths: Sequence[Path], columns: Mapping[str, Column], options: Options
    ) -> TypedColumns:
        """Text cells are understood as a text file's: numbers stored as text are numbers."""
        import pyarrow as pa

        texts = {
            name: column
            for name, column in columns.items()
            if pa.types.is_string(column.values.type)
        }
        found = find_types(str(paths[0]), texts, options, names=list(columns))
        return TypedColumns({**columns, **found.columns})

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:
        """Write records as the one sheet of a new workbook."""
        write_workbook(records, path, options.table)


class OpenDocumentSheet(ExcelWorkbook):
    """A sheet of an OpenDocument spreadsheet (LibreOffice)."""

    kind = OPEN_DOCUMENT
    can_write = False

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:
        """Not written: LibreOffice opens Excel's workbooks."""
        del records, options
        message = "OpenDocument is read and not written; write .xlsx, which LibreOffice opens."
        raise InvalidInput(str(path), [Problem("", message)])


def _open_sheet(path: Path, options: Options) -> Any:
    """The sheet that is meant: the only visible one that is not empty, or the one that is named."""
    try:
        import python_calamine
    except ImportError:
        message = "needs a reader of spreadsheets: pip install divulge[spreadsheets]"
        raise InvalidInput(str(path), [Problem("", f"{message}.")]) from None
    if path.suffix.lower() == ".ods":
        _require_well_formed(path)
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(str(path))
        sheets = [each for each in workbook.sheets_metadata if _is_worksheet(each)]
        if options.table is not None and options.table in workbook.sheet_names:
            return workbook.get_sheet_by_name(options.table)
        visible = [each.name for each in sheets if str(each.visible).endswith("Visible")]
        candidates = [
            name for name in visible if workbook.get_sheet_by_name(name).start is not None
        ]
        if options.table is None and len(candidates) == 1:
            return workbook.get_sheet_by_name(candidates[0])
    except (python_calamine.CalamineError, *_DAMAGE):
        raise _build_damage_error(path) from None
    message = "give the sheet to read." if options.table is None else f'no "{options.table}" in it.'
    if options.table is None and not candidates:
        message = "no visible sheet has a cell with content; name a hidden one to read it."
    problem = Problem("table", message, options.table or "", candidates or workbook.sheet_names)
    raise InvalidInput(str(path), [problem])


def _build_damage_error(path: Path) -> InvalidInput:
    message = "is a spreadsheet that is damaged, or protected by a password."
    return InvalidInput(str(path), [Problem("", message)])


def _require_well_formed(path: Path) -> None:
    """The reader of OpenDocument does not come to an end of a part that is no XML."""
    from xml.parsers import expat

    try:
        with zipfile.ZipFile(path) as archive, archive.open(_CONTENT) as part:
            expat.ParserCreate().ParseFile(part)
    except (expat.ExpatError, KeyError, *_DAMAGE):
        raise _build_damage_error(path) from None


def _is_worksheet(metadata: Any) -> bool:
    return str(metadata.typ).endswith("WorkSheet")


def _has_content(row: Sequence[Any]) -> bool:
    return any(cell not in ("", None) for cell in row)


def _strip_end(row: Sequence[Any]) -> list[Any]:
    """A row without the empty cells at its end."""
    cells = list(row)
    while cells and cells[-1] in ("", None):
        cells.pop()
    return cells


def _to_text(cell: Any) -> str:
    """A cell as it stands in a name or in a column of text."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)


def _refuse_merged_cells(path: Path, sheet: Any) -> None:
    """A merged cell has its value once, for several names or records: nobody can tell for which."""
    merged = list(sheet.merged_cell_ranges or ())
    if not merged:
        if path.suffix.lower() == ".ods" and _has_spans(path):
            message = "has merged cells; divide them, so that each column has a name and each "
            raise InvalidInput(str(path), [Problem("", f"{message}record its values.")])
        return
    (top, left), (bottom, right) = merged[0]
    place = f"cells {_name_cell(top, left)}:{_name_cell(bottom, right)}"
    more = f" So are {len(merged) - 1:,} more." if len(merged) > 1 else ""
    message = "are merged; divide them, so that each column has a name and each record its values."
    raise InvalidInput(str(path), [Problem(place, message + more)])


def _has_spans(path: Path) -> bool:
    """Whether a cell of an OpenDocument spreadsheet spans several, in whatever sheet."""
    with zipfile.ZipFile(path) as archive:
        return bool(_SPAN.search(archive.read(_CONTENT)))


def _refuse_wider_rows(problems: Problems, rows: Sequence[tuple[int, Any]], width: int) -> None:
    wide = [number for number, row in rows if len(_strip_end(row)) > width]
    if wide:
        rest = f" So have {len(wide) - 1:,} more rows." if len(wide) > 1 else ""
        message = "has content beside the columns that have a name; delete it, or name them."
        problems.add(f"row {wide[0]}", message + rest)


def _refuse_valueless_cells(
    problems: Problems, path: Path, sheet: str, missing: Sequence[str]
) -> None:
    """Formulas that were never computed, and errors, would be read as missing without a word."""
    formulas, errors = find_valueless_cells(path, sheet)
    if formulas:
        what = format_quantity(len(formulas), "formula has", "formulas have")
        message = "open and save the file in a spreadsheet program, or put values in their place."
        problems.add(f"cell {formulas[0]}", f"{what} never been computed; {message}")
    for error in sorted(set(errors.values()) - set(missing)):
        cell = next(cell for cell, each in errors.items() if each == error)
        message = f'contains the error {error}; correct it, or say missing = "{error}".'
        problems.add(f"cell {cell}", message)


def find_valueless_cells(path: Path, sheet: str) -> tuple[list[str], dict[str, str]]:
    """Of an Excel sheet the cells with a formula and no value, and those with an error."""
    if path.suffix.lower() != ".xlsx":
        return [], {}
    try:
        with zipfile.ZipFile(path) as archive:
            content = _read_sheet_part(archive, sheet)
    except _DAMAGE:
        raise _build_damage_error(path) from None
    formulas, errors = [], {}
    for match in _CELL.finditer(content) if b"<f" in content or b't="e"' in content else ():
        attributes, inner = match.groups()
        found = re.search(rb'\br="([A-Z]+[0-9]+)"', attributes)
        address = found[1].decode() if found else "?"
        value = re.search(rb"<v>([^<]+)", inner)
        if b't="e"' in attributes:
            errors[address] = value[1].decode() if value else "#N/A"
        elif b"<f" in inner and value is None and b't="str"' not in attributes:
            formulas.append(address)  # computed to an empty text, it has the type of one
    return formulas, errors


def _read_sheet_part(archive: zipfile.ZipFile, sheet: str) -> bytes:
    """The part of a workbook that holds a sheet."""
    from xml.etree import ElementTree  # calamine has read the same parts before

    try:
        workbook = ElementTree.fromstring(archive.read("xl/workbook.xml"))  # noqa: S314
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
    except (KeyError, ElementTree.ParseError):
        return b""
    ids = {
        each.get("name"): next((v for k, v in each.attrib.items() if k.endswith("}id")), "")
        for each in workbook.iter()
        if each.tag.endswith("}sheet")
    }
    targets = {each.get("Id"): each.get("Target", "") for each in links}
    target = targets.get(ids.get(sheet, ""), "")
    name = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return archive.read(name) if name in archive.namelist() else b""


def _build_array(
    problems: Problems, name: str, cells: Sequence[tuple[int, Any]], options: Options
) -> pa.Array:
    """The cells of one column as one kind of values."""
    import pyarrow as pa

    missing = {"", *options.missing}
    numbered = [(n, None if cell is None or cell in missing else cell) for n, cell in cells]
    if name in options.text:
        return pa.array([None if c is None else _to_text(c) for _, c in numbered], pa.string())
    values = [cell for _, cell in numbered]
    kinds = {_find_kind(value) for value in values if value is not None}
    if len(kinds) > 1 and kinds != {dt.date, dt.datetime}:
        _note_mixture(problems, name, numbered)
        return pa.array([None] * len(values), pa.string())
    if kinds == {dt.date, dt.datetime}:
        midnight = dt.time()
        values = [
            v if v is None or isinstance(v, dt.datetime) else dt.datetime.combine(v, midnight)
            for v in values
        ]
    if kinds <= {dt.timedelta}:
        values = [None if v is None else str(v) for v in values]
    return pa.array(values, pa.string() if not kinds else None)


def _find_kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _note_mixture(problems: Problems, name: str, cells: Sequence[tuple[int, Any]]) -> None:
    """Say which cell is of another kind than most."""
    kinds = [(number, _find_kind(cell)) for number, cell in cells if cell is not None]
    counts = {kind: sum(each == kind for _, each in kinds) for _, kind in kinds}
    rarest = min(counts, key=lambda kind: counts[kind])
    number = next(number for number, kind in kinds if kind == rarest)
    what = _KINDS.get(rarest, "a date or a time")
    others = format_quantity(
        len(kinds) - counts[rarest], "other cell contains", "other cells contain"
    )
    message = (
        f"contains {what} where {others} something else (a number stored as text looks like one); "
        f'make them alike, or read the column with text = ["{name}"].'
    )
    problems.add(f'row {number}, column "{name}"', message)


def _name_cell(row: int, column: int) -> str:
    """The address of a cell.

    >>> _name_cell(0, 0), _name_cell(4, 27)
    ('A1', 'AB5')
    """
    letters, rest = "", column + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row + 1}"
