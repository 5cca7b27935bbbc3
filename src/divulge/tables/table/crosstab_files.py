"""Crosstabs with margins in text files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from divulge.data.formats.formulas import guard_text
from divulge.data.formats.text.quoting import Grammar
from divulge.tables.table.axis import Axis
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Structure
from divulge.tables.table.table import Table
from divulge.tables.table.units import LARGEST_SUM, to_units
from divulge.work import InvalidInput, Problem, Problems, format_quantity, input_file, whole_file
from divulge.work.arrays import Bools, Floats, Ints

SUPPRESSION_MARKS = ("*", "x", "X", "c", ":", "..", "-")
"""What stands in a published table in place of a suppressed cell."""

MAX_REPORTED_ERRORS = 10
"""So many places of one kind of error are named."""

LONGEST_NUMBER = 400
"""No number that is meant as one is written with more letters."""


def read_crosstab(path: Path | str, separator: str = ",") -> Published:
    """A crosstab with margins from a text file: codes in the first row and column, totals last.

    A mark (`*`, `x`, `c`, `:`, ...) stands for a suppressed cell; the others must add up.

    Raises:
        InvalidInput: with the line, for what is neither a number nor a mark; for margins that do
            not add up.
    """
    rows, lines = _read_rows_and_lines(path, separator)
    problems = Problems(str(path))
    if len(rows) < 3 or len(rows[0]) < 3:
        problems.add("", "a crosstab has a head, a first column of codes, and totals last.")
        problems.raise_any()
    numbers, hidden = _parse_numbers(rows, lines, problems)
    names = [rows[0][0].strip() or "row", "column"]
    axes = [
        Axis.flat(names[0], [row[0] for row in rows[1:-1]]),
        Axis.flat(names[1], rows[0][1:-1]),
    ]
    structure = Structure.from_grid(axes)
    units, decimals = to_checked_units(numbers, problems)
    published = Published(structure, units.ravel(), hidden.ravel(), decimals)

    def locate_cell(cell: int) -> str:
        row, column = structure.addresses[cell]
        return f"line {lines[row + 1]}, column {column + 2}"

    check_sums(published, problems, locate_cell)
    return published


def find_marked_cells(path: Path | str, mark: str, separator: str = ",") -> set[tuple[int, int]]:
    """The coordinates of the cells that a crosstab marks in one way, such as primary ones."""
    if mark not in SUPPRESSION_MARKS:
        message = f'"{mark}" marks no cell.'
        raise InvalidInput(str(path), [Problem("mark", message, mark, SUPPRESSION_MARKS)])
    rows, _ = _read_rows_and_lines(path, separator)
    return {
        (line, column)
        for line, row in enumerate(rows[1:])
        for column, text in enumerate(row[1:])
        if text.strip() == mark
    }


def _read_rows_and_lines(path: Path | str, separator: str) -> tuple[list[list[str]], list[int]]:
    """The rows of a text file that are not empty, and the lines in which they begin."""
    problems = Problems(str(path))
    if len(separator.encode("utf-8", "replace")) != 1 or separator in '\r\n\0"':
        problems.add("separator", "must be one plain character.")
        problems.raise_any()
    text = read_text(path)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InvalidInput(str(path), [Problem(f"line {line}", "contains a NUL character.")])
    text_lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(text_lines, delimiter=separator, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    first_line, bad_line = 1, None
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(first_line)
                if _has_merged_rows(
                    text_lines[first_line - 1 : reader.line_num], len(rows[0]), separator
                ):
                    bad_line = bad_line or first_line
            first_line = reader.line_num + 1
    except csv.Error:
        bad_line = bad_line or first_line
    if bad_line is not None:
        message = "cannot be cut into fields: a quotation mark is astray, or a field is too long."
        raise InvalidInput(str(path), [Problem(f"line {bad_line}", message)])
    return rows, lines


def _has_merged_rows(text_lines: Sequence[str], fields: int, separator: str) -> bool:
    """Whether two stray quotation marks have made one row of several (see `formats.quoting`)."""
    grammar = Grammar(
        separator=separator.encode(), quote=b'"', fields=fields, line_breaks_meant=False
    )
    return len(text_lines) > 1 and all(
        grammar.may_be_record(line.rstrip("\r\n").encode()) for line in text_lines
    )


def _parse_numbers(
    rows: Sequence[Sequence[str]], lines: Sequence[int], problems: Problems
) -> tuple[Floats, Bools]:
    """The numbers of a crosstab, and which cells are suppressed."""
    errors: list[Problem] = []
    numbers: list[list[float]] = []
    for line, row in zip(lines[1:], rows[1:], strict=True):
        if len(errors) > MAX_REPORTED_ERRORS:
            break
        if len(row) != len(rows[0]):
            message = f"has {len(row)} fields; the head has {len(rows[0])}."
            errors.append(Problem(f"line {line}", message))
            continue
        numbers.append([parse_finite(text) for text in row[1:]])
        for column, (text, number) in enumerate(zip(row[1:], numbers[-1], strict=True), start=2):
            place = f"line {line}, column {column}"
            if abs(number) >= LARGEST_SUM:
                errors.append(Problem(place, "is too large a number."))
            elif np.isnan(number) and text.strip() not in SUPPRESSION_MARKS:
                message = "is neither a number nor a mark for a suppressed cell."
                errors.append(Problem(place, message, "", SUPPRESSION_MARKS))
    problems.extend("", errors[:MAX_REPORTED_ERRORS])
    if len(errors) > MAX_REPORTED_ERRORS:
        problems.add("", "there are more lines or cells like these.")
    problems.raise_any()
    table = np.array(numbers)
    return np.nan_to_num(table), np.isnan(table)


def to_checked_units(numbers: Floats, problems: Problems) -> tuple[Ints, int]:
    """Numbers as whole multiples of a unit, and its decimals; what is wrong is noted."""
    """Whole numbers and their decimals; what is too large is a problem of the file."""
    try:
        return to_units(numbers)
    except InvalidInput as error:
        problems.extend("", error.problems)
        problems.raise_any()
        raise


def read_complete_crosstab(path: Path | str, separator: str = ",") -> Table:
    """A crosstab of which nothing is suppressed."""
    published = read_crosstab(path, separator)
    if published.suppressed.any():
        cells = format_quantity(int(published.suppressed.sum()), "cell is", "cells are")
        message = f"{cells} suppressed; all are needed here."
        raise InvalidInput(str(path), [Problem("", message)])
    return Table(published.structure, published.units, published.decimals)


def write_crosstab(
    published: Published,
    path: Path | str,
    table: int = 0,
    overwrite: bool = False,
    guard_formulas: bool = True,
) -> None:
    """Write what is published as a crosstab (one of several linked); suppressed cells are `*`.

    Categories that a spreadsheet would take for formulas get an apostrophe before them.
    """
    head, *rows = published.to_rows(table=table)
    if guard_formulas:
        head = [guard_text(name) for name in head]
        rows = [[guard_text(row[0]), *row[1:]] for row in rows]
    with (
        whole_file(path, overwrite) as part,
        part.open("w", newline="", encoding="utf-8") as file,
    ):
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def parse_finite(text: str) -> float:
    """A number; not a number for any other text."""
    try:
        number = float(text) if len(text) <= LONGEST_NUMBER else np.nan
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def check_sums(
    published: Published, problems: Problems, place: Callable[[int], str] | None = None
) -> None:
    """Refuse a published table with cells below 0, or of which whole sums do not add up.

    Messages name cells by `place`, or else by their coordinates: codes are of the data, and so
    are amounts.
    """
    locate = place or published.structure.locate_cell
    # Where one cell is below 0 suppressed ones may be: bounds from 0 would leave the truth out.
    for cell in np.flatnonzero(~published.suppressed & (published.units < 0))[:MAX_REPORTED_ERRORS]:
        message = "is below 0; a table of differences is made by `from_cells`, with its `lowest`."
        problems.add(locate(int(cell)), message)
    relations = published.structure.relations
    is_complete = np.ones(relations.count, dtype=bool)
    is_complete[relations.relation_of_entry[published.suppressed[relations.cells]]] = False
    imbalance = relations.compute_imbalance(published.units)
    for relation in np.flatnonzero(is_complete & (imbalance != 0))[:MAX_REPORTED_ERRORS]:
        begin, end = relations.starts[relation : relation + 2]
        first, *_, total = relations.cells[begin:end].tolist()
        direction = _describe_direction(published.structure, first, total)
        problems.add(locate(total), f"its parts{direction} do not add up to it.")
    problems.raise_any()


def _describe_direction(structure: Structure, part: int, total: int) -> str:
    """Along what a part and its total lie."""
    pairs = zip(structure.addresses[part], structure.addresses[total], strict=True)
    axis = next(k for k, (one, other) in enumerate(pairs) if one != other)
    dimensions = len(structure.addresses[total])
    if dimensions == 1:
        return ""
    return f" in the {('column', 'row')[axis]}" if dimensions == 2 else f" along axis {axis + 1}"


def read_text(path: Path | str) -> str:
    """The text of a file; what cannot be read is said with its line."""
    file = input_file(path)
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInput(str(path), [Problem(f"line {line}", "is not UTF-8 text.")]) from None
    except OSError as error:
        reason = (error.strerror or "no reason is given").lower()
        raise InvalidInput(str(path), [Problem("", f"cannot be read: {reason}.")]) from None
