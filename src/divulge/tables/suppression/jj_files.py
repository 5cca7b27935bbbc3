"""The JJ format that table-protection solvers share.

A JJ file holds `0`, the number of cells, a line a cell (number, value, weight, status, bounds and
three protection levels), the number of relations, and a line a relation:
`0 3 : 0 (-1) 1 (1) 2 (1)`. Status: u unsafe, s safe, z must be published, m suppressed already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from divulge.tables.feasibility.sensitivity import Protection
from divulge.tables.suppression.problem import SuppressionProblem
from divulge.tables.table.axis import Axis
from divulge.tables.table.crosstab_files import (
    LONGEST_NUMBER,
    MAX_REPORTED_ERRORS,
    parse_finite,
    read_text,
    to_checked_units,
)
from divulge.tables.table.structure import Relations, Structure
from divulge.tables.table.table import Table
from divulge.tables.table.units import LARGEST_SUM, from_units
from divulge.work import Problems, whole_file
from divulge.work.arrays import Bools, Floats, Ints

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_CELL = re.compile(rf"[0-9]+ {_NUMBER} {_NUMBER} [szum](?: {_NUMBER}){{5}}")


@dataclass(frozen=True, eq=False)
class JJ:
    """What a JJ file says: cells with relations, which are unsafe, and how to protect them.

    Costs are whole numbers: the weights of the file times `cost_unit`.
    """

    table: Table
    primary: Bools
    publish: Bools
    cost: Ints
    lower: Ints
    upper: Ints
    sliding: Ints
    cost_unit: int = 1

    def protection(self) -> Protection:
        """How uncertain every cell must be, in units of the table."""
        none_said = (self.upper <= 0) & (self.lower <= 0)
        sliding = np.maximum(self.sliding, none_said.astype(np.int64))
        return Protection(np.maximum(self.upper, 0), np.maximum(self.lower, 0), sliding)

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


def read_jj(path: Path | str) -> JJ:
    """Read a table-protection problem in JJ format.

    The two bounds of each cell are not used: every cell is thought of as anything from 0.

    Raises:
        InvalidInput: with the line and what is wrong with it.
    """
    lines = re.split(r"\r\n|\r|\n", read_text(path))
    problems = Problems(str(path))
    count = _parse_count(lines, 1, problems, "cells")
    cells = [_parse_cell(lines, 2 + k, k, problems) for k in range(count)]
    sums = _parse_count(lines, 2 + count, problems, "relations")
    relations = [_parse_relation(lines, 3 + count + k, count, problems) for k in range(sums)]
    if not count:
        problems.add("line 2", "there is no cell.")
    problems.raise_any()
    numbers = np.array([[*cell[0:2], *cell[3:6]] for cell in cells])
    units, decimals = to_checked_units(numbers[:, [0, 2, 3, 4]], problems)
    status = np.array([cell[2] for cell in cells])
    codes = tuple(str(k) for k in range(count))
    axis = Axis("cell", codes, np.full(count, -1))
    entries = [entry for relation in relations for entry in relation]
    structure = Structure(
        ((axis,),),
        (np.arange(count),),
        Relations(
            starts=np.cumsum([0, *(len(relation) for relation in relations)]),
            cells=np.array([cell for cell, _ in entries], dtype=np.int64),
            signs=np.array([sign for _, sign in entries], dtype=np.int64),
            independent=np.ones(sums, dtype=bool),
            names=lambda relation: f"relation {relation + 1}",
        ),
        count,
    )
    table = Table(structure, units[:, 0], decimals, "value")
    imbalance = structure.relations.compute_imbalance(table.units)
    for cell in np.flatnonzero(table.units < 0)[:MAX_REPORTED_ERRORS]:
        problems.add(f"line {3 + cell}", "the value is below 0; such tables are not read.")
    for relation in np.flatnonzero(imbalance)[:MAX_REPORTED_ERRORS]:
        problems.add(f"line {4 + count + relation}", "the cells do not add up.")
    problems.raise_any()
    cost, cost_decimals = to_checked_units(np.maximum(numbers[:, 1], 0), problems)
    levels = units[:, 1], units[:, 2], units[:, 3]
    primary = np.isin(status, ["u", "m"])
    return JJ(table, primary, status == "z", cost, *levels, 10**cost_decimals)


def write_jj(
    table: Table,
    primary: Bools,
    path: Path | str,
    width: float = 0,
    cost: Sequence[int] = (),
    *,
    upper: Sequence[float] | Floats = (),
    lower: Sequence[float] | Floats = (),
    overwrite: bool = False,
) -> None:
    """Write a table and its sensitive cells in JJ format; `width` is the sliding protection.

    `primary`, `cost`, `upper` and `lower` have an entry a cell, in the order of the cells.
    """
    values = from_units(table.units, table.decimals)
    most = values.max(initial=0)
    lines = ["0", str(table.structure.size)]
    for cell, value in enumerate(values.tolist()):
        status, level = ("u", width) if primary[cell] else ("s", 0)
        weight = cost[cell] if len(cost) else 1
        below = lower[cell] if primary[cell] and len(lower) else 0
        above = upper[cell] if primary[cell] and len(upper) else 0
        # All digits: `g` would round what has more than six, and sums would be off.
        fields = (value, weight, status, 0, most, below, above, level)
        lines.append(" ".join([str(cell), *map(_format_field, fields)]))
    relations = table.structure.relations
    lines.append(str(relations.count))
    for begin, end in zip(relations.starts[:-1], relations.starts[1:], strict=True):
        pairs = zip(relations.cells[begin:end], relations.signs[begin:end], strict=True)
        terms = " ".join(f"{cell} ({sign})" for cell, sign in pairs)
        lines.append(f"0 {end - begin} : {terms}")
    with whole_file(path, overwrite) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _format_field(field: object) -> str:
    return repr(float(field)).removesuffix(".0") if isinstance(field, float) else str(field)


def _parse_count(lines: Sequence[str], line: int, problems: Problems, what: str) -> int:
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


def _parse_cell(
    lines: Sequence[str], line: int, number: int, problems: Problems
) -> tuple[float, float, str, float, float, float]:
    nothing = 0.0, 0.0, "s", 0.0, 0.0, 0.0
    if len(problems) >= MAX_REPORTED_ERRORS:
        return nothing
    fields = lines[line].split()
    if not _CELL.fullmatch(" ".join(fields)) or (fields[0].lstrip("0") or "0") != str(number):
        message = f"cell {number} should stand here: number, value, weight, status (s, u, z, m), "
        problems.add(f"line {line + 1}", f"{message}two bounds, three protection levels.")
        return nothing
    value, weight, lower, upper, sliding = (parse_finite(fields[k]) for k in (1, 2, 6, 7, 8))
    if not all(abs(number) < LARGEST_SUM for number in (value, weight, lower, upper, sliding)):
        problems.add(f"line {line + 1}", "a number is too large.")
        return nothing
    return value, weight, fields[3], lower, upper, sliding


def _parse_relation(
    lines: Sequence[str], line: int, count: int, problems: Problems
) -> list[tuple[int, int]]:
    if len(problems) >= MAX_REPORTED_ERRORS:
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
    elif any(abs(parse_finite(sign)) != 1 for sign in signs) or parse_finite(fields[0]) != 0:
        problems.add(place, "only sums can be read: signs 1 and -1, and 0 in front.")
    elif len(set(map(int, cells))) < len(cells):
        problems.add(place, "names a cell twice.")
    else:
        return [
            (int(cell), round(parse_finite(sign))) for cell, sign in zip(cells, signs, strict=True)
        ]
    return []
