"""Tables in files: crosstabs with margins, and the JJ format that table-protection solvers share.

A JJ file holds `0`, the number of cells, a line a cell (number, value, weight, status, bounds and
three protection levels), the number of relations, and a line a relation:
`0 3 : 0 (-1) 1 (1) 2 (1)`. Status: u unsafe, s safe, z must be published, m suppressed already.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from divulge.data.formats.formulas import guard_text
from divulge.data.formats.quoting import Grammar
from divulge.tables.axis import Axis, IntArray
from divulge.tables.linear import FloatArray
from divulge.tables.problem import SuppressionProblem
from divulge.tables.published import Published
from divulge.tables.structure import BoolArray, Relations, Structure
from divulge.tables.table import Table
from divulge.tables.units import LARGEST_SUM, in_units, out_of_units
from divulge.work import InvalidInput, Problem, Problems, input_file, whole_file

MARKS = ("*", "x", "X", "c", ":", "..", "-")
"""What stands in a published table in place of a suppressed cell."""

MOST_NAMED = 10
"""So many places of one kind of error are named."""

LONGEST_NUMBER = 400
"""No number that is meant as one is written with more letters."""

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_CELL = re.compile(rf"[0-9]+ {_NUMBER} {_NUMBER} [szum](?: {_NUMBER}){{5}}")


def read_crosstab(path: Path | str, separator: str = ",") -> Published:
    """A crosstab with margins from a text file: codes in the first row and column, totals last.

    A mark (`*`, `x`, `c`, `:`, ...) stands for a suppressed cell; the others must add up.

    Raises:
        InvalidInput: with the line, for what is neither a number nor a mark; for margins that do
            not add up.
    """
    rows, lines = _rows_and_lines(path, separator)
    problems = Problems(str(path))
    if len(rows) < 3 or len(rows[0]) < 3:
        problems.add("", "a crosstab has a head, a first column of codes, and totals last.")
        problems.raise_any()
    numbers, hidden = _numbers(rows, lines, problems)
    names = [rows[0][0].strip() or "row", "column"]
    axes = [
        Axis.flat(names[0], [row[0] for row in rows[1:-1]]),
        Axis.flat(names[1], rows[0][1:-1]),
    ]
    structure = Structure.of_grid(axes)
    units, decimals = _units(numbers, problems)
    published = Published(structure, units.ravel(), hidden.ravel(), decimals)

    def place(cell: int) -> str:
        row, column = structure.addresses[cell]
        return f"line {lines[row + 1]}, column {column + 2}"

    check_sums(published, problems, place)
    return published


def marked_cells(path: Path | str, mark: str, separator: str = ",") -> set[tuple[int, int]]:
    """The coordinates of the cells that a crosstab marks in one way, such as primary ones."""
    if mark not in MARKS:
        message = f'"{mark}" marks no cell.'
        raise InvalidInput(str(path), [Problem("mark", message, mark, MARKS)])
    rows, _ = _rows_and_lines(path, separator)
    return {
        (line, column)
        for line, row in enumerate(rows[1:])
        for column, text in enumerate(row[1:])
        if text.strip() == mark
    }


def _rows_and_lines(path: Path | str, separator: str) -> tuple[list[list[str]], list[int]]:
    """The rows of a text file that are not empty, and the lines in which they begin."""
    problems = Problems(str(path))
    if len(separator.encode("utf-8", "replace")) != 1 or separator in '\r\n\0"':
        problems.add("separator", "must be one plain character.")
        problems.raise_any()
    text = _text(path)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InvalidInput(str(path), [Problem(f"line {line}", "holds a NUL character.")])
    written = list(io.StringIO(text, newline=""))
    reader = csv.reader(written, delimiter=separator, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    begun, astray = 1, None
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(begun)
                if _are_rows(written[begun - 1 : reader.line_num], len(rows[0]), separator):
                    astray = astray or begun
            begun = reader.line_num + 1
    except csv.Error:
        astray = astray or begun
    if astray is not None:
        message = "cannot be cut into fields: a quotation mark is astray, or a field is too long."
        raise InvalidInput(str(path), [Problem(f"line {astray}", message)])
    return rows, lines


def _are_rows(written: Sequence[str], fields: int, separator: str) -> bool:
    """Whether two stray quotation marks have made one row of several (see `formats.quoting`)."""
    grammar = Grammar(
        separator=separator.encode(), quote=b'"', fields=fields, line_breaks_meant=False
    )
    return len(written) > 1 and all(
        grammar.may_be_record(line.rstrip("\r\n").encode()) for line in written
    )


def _numbers(
    rows: Sequence[Sequence[str]], lines: Sequence[int], problems: Problems
) -> tuple[FloatArray, BoolArray]:
    """The numbers of a crosstab, and which cells are suppressed."""
    found: list[Problem] = []
    numbers: list[list[float]] = []
    for line, row in zip(lines[1:], rows[1:], strict=True):
        if len(found) > MOST_NAMED:
            break
        if len(row) != len(rows[0]):
            message = f"has {len(row)} fields; the head has {len(rows[0])}."
            found.append(Problem(f"line {line}", message))
            continue
        numbers.append([finite(text) for text in row[1:]])
        for column, (text, number) in enumerate(zip(row[1:], numbers[-1], strict=True), start=2):
            place = f"line {line}, column {column}"
            if abs(number) >= LARGEST_SUM:
                found.append(Problem(place, "is too large a number."))
            elif np.isnan(number) and text.strip() not in MARKS:
                message = "is neither a number nor a mark for a suppressed cell."
                found.append(Problem(place, message, "", MARKS))
    problems.extend("", found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        problems.add("", "there are more lines or cells like these.")
    problems.raise_any()
    table = np.array(numbers)
    return np.nan_to_num(table), np.isnan(table)


def _units(numbers: FloatArray, problems: Problems) -> tuple[IntArray, int]:
    """Whole numbers and their decimals; what is too large is a problem of the file."""
    try:
        return in_units(numbers)
    except InvalidInput as error:
        problems.extend("", error.problems)
        problems.raise_any()
        raise


def read_complete_crosstab(path: Path | str, separator: str = ",") -> Table:
    """A crosstab of which nothing is suppressed."""
    published = read_crosstab(path, separator)
    if published.suppressed.any():
        message = f"{int(published.suppressed.sum())} cells are suppressed; all are needed here."
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


def finite(text: str) -> float:
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
    where = place or published.structure.place
    # Where one cell is below 0 suppressed ones may be: bounds from 0 would leave the truth out.
    for cell in np.flatnonzero(~published.suppressed & (published.units < 0))[:MOST_NAMED]:
        message = "is below 0; a table of differences is made by `from_cells`, with its `lowest`."
        problems.add(where(int(cell)), message)
    relations = published.structure.relations
    whole = np.ones(relations.count, dtype=bool)
    whole[relations.of_entry[published.suppressed[relations.cells]]] = False
    off = relations.imbalance(published.units)
    for relation in np.flatnonzero(whole & (off != 0))[:MOST_NAMED]:
        begin, end = relations.starts[relation : relation + 2]
        first, *_, total = relations.cells[begin:end].tolist()
        direction = _direction(published.structure, first, total)
        problems.add(where(total), f"its parts{direction} do not add up to it.")
    problems.raise_any()


def _direction(structure: Structure, part: int, total: int) -> str:
    """Along what a part and its total lie."""
    pairs = zip(structure.addresses[part], structure.addresses[total], strict=True)
    axis = next(k for k, (one, other) in enumerate(pairs) if one != other)
    dimensions = len(structure.addresses[total])
    if dimensions == 1:
        return ""
    return f" in the {('column', 'row')[axis]}" if dimensions == 2 else f" along axis {axis + 1}"


@dataclass(frozen=True, eq=False)
class JJ:
    """What a JJ file says: cells with relations, which are unsafe, and how to protect them.

    Costs are whole numbers: the weights of the file times `cost_unit`.
    """

    table: Table
    primary: BoolArray
    publish: BoolArray
    cost: IntArray
    lower: IntArray
    upper: IntArray
    sliding: IntArray
    cost_unit: int = 1

    def problem(self) -> SuppressionProblem:
        """The suppression problem, in units of the table."""
        cells = np.flatnonzero(self.primary)
        return SuppressionProblem(
            self.table.structure.relations,
            self.table.units,
            cells,
            self.upper[cells],
            self.lower[cells],
            self.sliding[cells],
            self.cost,
            ~self.publish,
        )


def _text(path: Path | str) -> str:
    plain = input_file(path)
    try:
        return plain.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInput(str(path), [Problem(f"line {line}", "is not UTF-8 text.")]) from None
    except OSError as error:
        reason = (error.strerror or "no reason is given").lower()
        raise InvalidInput(str(path), [Problem("", f"cannot be read: {reason}.")]) from None


def read_jj(path: Path | str) -> JJ:
    """Read a table-protection problem in JJ format.

    The two bounds of each cell are not used: every cell is thought of as anything from 0.

    Raises:
        InvalidInput: with the line and what is wrong with it.
    """
    lines = re.split(r"\r\n|\r|\n", _text(path))
    problems = Problems(str(path))
    count = _count(lines, 1, problems, "cells")
    cells = [_cell(lines, 2 + k, k, problems) for k in range(count)]
    sums = _count(lines, 2 + count, problems, "relations")
    relations = [_relation(lines, 3 + count + k, count, problems) for k in range(sums)]
    if not count:
        problems.add("line 2", "there is no cell.")
    problems.raise_any()
    numbers = np.array([[*cell[0:2], *cell[3:6]] for cell in cells])
    units, decimals = _units(numbers[:, [0, 2, 3, 4]], problems)
    status = np.array([cell[2] for cell in cells])
    codes = tuple(str(k) for k in range(count))
    axis = Axis("cell", codes, np.full(count, -1))
    entries = [entry for relation in relations for entry in relation]
    structure = Structure(
        ((axis,),),
        (np.arange(count),),
        Relations(
            np.cumsum([0, *(len(relation) for relation in relations)]),
            np.array([cell for cell, _ in entries], dtype=np.int64),
            np.array([sign for _, sign in entries], dtype=np.int64),
            np.ones(sums, dtype=bool),
            lambda relation: f"relation {relation + 1}",
        ),
        count,
    )
    table = Table(structure, units[:, 0], decimals, "value")
    off = structure.relations.imbalance(table.units)
    for cell in np.flatnonzero(table.units < 0)[:MOST_NAMED]:
        problems.add(f"line {3 + cell}", "the value is below 0; such tables are not read.")
    for relation in np.flatnonzero(off)[:MOST_NAMED]:
        problems.add(f"line {4 + count + relation}", "the cells do not add up.")
    problems.raise_any()
    cost, cost_decimals = _units(np.maximum(numbers[:, 1], 0), problems)
    levels = units[:, 1], units[:, 2], units[:, 3]
    primary = np.isin(status, ["u", "m"])
    return JJ(table, primary, status == "z", cost, *levels, 10**cost_decimals)


def write_jj(
    table: Table,
    primary: BoolArray,
    path: Path | str,
    width: float = 0,
    cost: Sequence[int] = (),
    upper: Sequence[float] | FloatArray = (),
    lower: Sequence[float] | FloatArray = (),
    overwrite: bool = False,
) -> None:
    """Write a table and its sensitive cells in JJ format; `width` is the sliding protection.

    `primary`, `cost`, `upper` and `lower` have an entry a cell, in the order of the cells.
    """
    values = out_of_units(table.units, table.decimals)
    most = values.max(initial=0)
    lines = ["0", str(table.structure.size)]
    for cell, value in enumerate(values.tolist()):
        status, level = ("u", width) if primary[cell] else ("s", 0)
        weight = cost[cell] if len(cost) else 1
        below = lower[cell] if primary[cell] and len(lower) else 0
        above = upper[cell] if primary[cell] and len(upper) else 0
        # All digits: `g` would round what has more than six, and sums would be off.
        fields = (value, weight, status, 0, most, below, above, level)
        lines.append(" ".join([str(cell), *map(_plain, fields)]))
    relations = table.structure.relations
    lines.append(str(relations.count))
    for begin, end in zip(relations.starts[:-1], relations.starts[1:], strict=True):
        pairs = zip(relations.cells[begin:end], relations.signs[begin:end], strict=True)
        said = " ".join(f"{cell} ({sign})" for cell, sign in pairs)
        lines.append(f"0 {end - begin} : {said}")
    with whole_file(path, overwrite) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _plain(field: object) -> str:
    return repr(float(field)).removesuffix(".0") if isinstance(field, float) else str(field)


def _count(lines: Sequence[str], line: int, problems: Problems, what: str) -> int:
    """How many cells or relations the next lines hold; nothing is made before they are there."""
    text = lines[line].strip() if line < len(lines) else ""
    if not re.fullmatch("[0-9]+", text):
        message = f"the number of {what} should stand here, a whole number."
        problems.add(f"line {line + 1}", message)
        problems.raise_any()
    if len(text) > LONGEST_NUMBER or int(text) > len(lines) - line - 1:
        message = f"more {what} are announced than there are lines after this one."
        problems.add(f"line {line + 1}", message)
        problems.raise_any()
    return int(text)


def _cell(
    lines: Sequence[str], line: int, number: int, problems: Problems
) -> tuple[float, float, str, float, float, float]:
    nothing = 0.0, 0.0, "s", 0.0, 0.0, 0.0
    if len(problems) >= MOST_NAMED:
        return nothing
    fields = lines[line].split()
    if not _CELL.fullmatch(" ".join(fields)) or (fields[0].lstrip("0") or "0") != str(number):
        message = f"cell {number} should stand here: number, value, weight, status (s, u, z, m), "
        problems.add(f"line {line + 1}", f"{message}two bounds, three protection levels.")
        return nothing
    value, weight, lower, upper, sliding = (finite(fields[k]) for k in (1, 2, 6, 7, 8))
    if not all(abs(number) < LARGEST_SUM for number in (value, weight, lower, upper, sliding)):
        problems.add(f"line {line + 1}", "a number is too large.")
        return nothing
    return value, weight, fields[3], lower, upper, sliding


def _relation(
    lines: Sequence[str], line: int, count: int, problems: Problems
) -> list[tuple[int, int]]:
    if len(problems) >= MOST_NAMED:
        return []
    head, _, tail = lines[line].partition(":")
    words = tail.replace("(", " ( ").replace(")", " ) ").split()
    fields, cells, signs = head.split(), words[0::4], words[2::4]
    place = f"line {line + 1}"
    if (
        len(fields) != 2
        or fields[1] != str(len(cells))
        or words[1::4] != ["("] * len(cells)
        or words[3::4] != [")"] * len(cells)
        or not all(re.fullmatch("[0-9]+", cell) for cell in cells)
    ):
        message = "a relation should stand here: 0, how many cells, `:`, then cell (sign) each."
        problems.add(place, message)
    elif any(len(cell) > LONGEST_NUMBER or int(cell) >= count for cell in cells):
        problems.add(place, f"names a cell outside 0 to {count - 1}.")
    elif any(abs(finite(sign)) != 1 for sign in signs) or finite(fields[0]) != 0:
        problems.add(place, "only sums can be read: signs 1 and -1, and 0 in front.")
    elif len(set(map(int, cells))) < len(cells):
        problems.add(place, "names a cell twice.")
    else:
        return [(int(cell), round(finite(sign))) for cell, sign in zip(cells, signs, strict=True)]
    return []
