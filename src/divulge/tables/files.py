"""Tables in files: crosstabs with margins, and the JJ format that table-protection solvers share.

A JJ file holds `0`, the number of cells, a line a cell (number, value, weight, status, bounds and
three protection levels), the number of relations, and a line a relation:
`0 3 : 0 (-1) 1 (1) 2 (1)`. Status: u unsafe, s safe, z must be published, m suppressed already.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from divulge.tables.axis import Axis, IntArray
from divulge.tables.linear import FloatArray
from divulge.tables.problem import SuppressionProblem
from divulge.tables.published import Published
from divulge.tables.structure import BoolArray, Relations, Structure
from divulge.tables.table import Table
from divulge.tables.units import in_units, out_of_units
from divulge.work import InvalidInput, Problem, Problems, whole_file

MARKS = ("*", "x", "X", "c", ":", "..", "-")
"""What stands in a published table in place of a suppressed cell."""

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_CELL = re.compile(rf"\d+ {_NUMBER} {_NUMBER} [szum](?: {_NUMBER}){{5}}$")
_ENTRY = re.compile(r"(\d+)\s*\(\s*(-?\d+(?:\.\d+)?)\s*\)")


def read_crosstab(path: Path | str, separator: str = ",") -> Published:
    """A crosstab with margins from a text file: codes in the first row and column, totals last.

    A mark (`*`, `x`, `c`, `:`, ...) stands for a suppressed cell; the others must add up.

    Raises:
        InvalidInput: with the line, for what is neither a number nor a mark; for margins that do
            not add up.
    """
    problems = Problems(str(path))
    if len(separator) != 1 or separator in '\r\n"':
        problems.add("separator", "must be one plain character.")
        problems.raise_any()
    lines = io.StringIO(_text(path), newline="")
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if len(rows) < 3 or len(rows[0]) < 3:
        problems.add("", "a crosstab has a head, a first column of codes, and totals last.")
        problems.raise_any()
    numbers = np.zeros((len(rows) - 1, len(rows[0]) - 1))
    hidden = np.zeros(numbers.shape, dtype=bool)
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            problems.add(f"line {line}", f"has {len(row)} fields; the head has {len(rows[0])}.")
            continue
        for column, text in enumerate(row[1:]):
            if text.strip() in MARKS:
                hidden[line - 2, column] = True
            else:
                numbers[line - 2, column] = number = finite(text)
                if np.isnan(number):
                    message = "is neither a number nor a mark for a suppressed cell."
                    problems.add(f"line {line}, column {column + 2}", message, "", MARKS)
    problems.raise_any()
    names = [rows[0][0].strip() or "row", "column"]
    axes = [
        Axis.flat(names[0], [row[0] for row in rows[1:-1]]),
        Axis.flat(names[1], rows[0][1:-1]),
    ]
    structure = Structure.of_grid(axes)
    units, decimals = in_units(numbers)
    published = Published(structure, units.ravel(), hidden.ravel(), decimals)
    check_sums(published, problems)
    return published


def marked_cells(path: Path | str, mark: str, separator: str = ",") -> set[tuple[int, int]]:
    """The coordinates of the cells that a crosstab marks in one way, such as primary ones."""
    if mark not in MARKS:
        message = f'"{mark}" marks no cell.'
        raise InvalidInput(str(path), [Problem("mark", message, mark, MARKS)])
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, delimiter=separator) if row]
    return {
        (line, column)
        for line, row in enumerate(rows[1:])
        for column, text in enumerate(row[1:])
        if text.strip() == mark
    }


def read_complete_crosstab(path: Path | str, separator: str = ",") -> Table:
    """A crosstab of which nothing is suppressed."""
    published = read_crosstab(path, separator)
    if published.suppressed.any():
        message = f"{int(published.suppressed.sum())} cells are suppressed; all are needed here."
        raise InvalidInput(str(path), [Problem("", message)])
    return Table(published.structure, published.units, published.decimals)


def write_crosstab(published: Published, path: Path | str, table: int = 0) -> None:
    """Write what is published as a crosstab (one of several linked); suppressed cells are `*`."""
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(published.to_rows(table=table))


def finite(text: str) -> float:
    """A number; not a number for any other text."""
    try:
        number = float(text)
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def check_sums(published: Published, problems: Problems) -> None:
    """Refuse a published table with cells below 0, or of which whole sums do not add up."""
    # Where one cell is below 0 suppressed ones may be: bounds from 0 would leave the truth out.
    for cell in np.flatnonzero(~published.suppressed & (published.units < 0))[:10]:
        message = "is below 0; a table of differences is made by `from_cells`, with its `lowest`."
        problems.add(published.structure.label(int(cell)), message)
    relations = published.structure.relations
    whole = np.ones(relations.count, dtype=bool)
    whole[relations.of_entry[published.suppressed[relations.cells]]] = False
    off = relations.imbalance(published.units)
    for relation in np.flatnonzero(whole & (off != 0))[:10]:
        excess = out_of_units(off[[relation]], published.decimals)[0]
        place = relations.names(int(relation))
        problems.add(place, f"the parts exceed their total by {excess:g}.")
    problems.raise_any()


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
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInput(str(path), [Problem(f"line {line}", "is not UTF-8 text.")]) from None


def read_jj(path: Path | str) -> JJ:
    """Read a table-protection problem in JJ format.

    The two bounds of each cell are not used: every cell is thought of as anything from 0.

    Raises:
        InvalidInput: with the line and what is wrong with it.
    """
    lines = _text(path).splitlines()
    problems = Problems(str(path))
    count = _whole(lines, 1, problems, "the number of cells")
    cells = [_cell(lines, 2 + k, k, problems) for k in range(count)]
    sums = _whole(lines, 2 + count, problems, "the number of relations")
    relations = [_relation(lines, 3 + count + k, count, problems) for k in range(sums)]
    if not count:
        problems.add("line 2", "there is no cell.")
    problems.raise_any()
    numbers = np.array([[*cell[0:2], *cell[3:6]] for cell in cells])
    units, decimals = in_units(numbers[:, [0, 2, 3, 4]])
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
    for cell in np.flatnonzero(table.units < 0)[:10]:
        problems.add(f"line {3 + cell}", "the value is below 0; such tables are not read.")
    for relation in np.flatnonzero(off)[:10]:
        excess = out_of_units(off[[relation]], decimals)[0]
        problems.add(f"line {4 + count + relation}", f"the cells are off by {excess:g}.")
    problems.raise_any()
    cost, cost_decimals = in_units(np.maximum(numbers[:, 1], 0))
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
    with whole_file(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _plain(field: object) -> str:
    return repr(float(field)).removesuffix(".0") if isinstance(field, float) else str(field)


def _whole(lines: Sequence[str], line: int, problems: Problems, what: str) -> int:
    text = lines[line].strip() if line < len(lines) else ""
    if not text.isdigit():
        problems.add(f"line {line + 1}", f"{what} should stand here, a whole number.")
        problems.raise_any()
    return int(text)


def _cell(
    lines: Sequence[str], line: int, number: int, problems: Problems
) -> tuple[float, float, str, float, float, float]:
    fields = lines[line].split() if line < len(lines) else []
    found = _CELL.match(" ".join(fields))
    if found is None or int(fields[0]) != number:
        message = f"cell {number} should stand here: number, value, weight, status (s, u, z, m), "
        problems.add(f"line {line + 1}", f"{message}two bounds, three protection levels.")
        return 0, 0, "s", 0, 0, 0
    value, weight, lower, upper, sliding = (float(fields[k]) for k in (1, 2, 6, 7, 8))
    return value, weight, fields[3], lower, upper, sliding


def _relation(
    lines: Sequence[str], line: int, count: int, problems: Problems
) -> list[tuple[int, int]]:
    head, _, tail = (lines[line] if line < len(lines) else "").partition(":")
    entries = [(int(cell), round(float(sign))) for cell, sign in _ENTRY.findall(tail)]
    fields = head.split()
    if len(fields) != 2 or not fields[1].isdigit() or int(fields[1]) != len(entries):
        message = "a relation should stand here: 0, how many cells, `:`, then cell (sign) each."
        problems.add(f"line {line + 1}", message)
    elif any(not 0 <= cell < count for cell, _ in entries):
        problems.add(f"line {line + 1}", f"names a cell outside 0 to {count - 1}.")
    elif any(abs(sign) != 1 for _, sign in entries) or float(fields[0]) != 0:
        problems.add(f"line {line + 1}", "only sums can be read: signs 1 and -1, and 0 in front.")
    return entries
