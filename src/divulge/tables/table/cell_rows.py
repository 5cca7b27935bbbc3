"""Published tables as rows, one a cell: how tables of more than two dimensions travel in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from divulge.data import Hierarchy, read
from divulge.tables.table.axis import TOTAL, Axis
from divulge.tables.table.crosstab_files import SUPPRESSION_MARKS, check_sums, parse_finite
from divulge.tables.table.published import Published
from divulge.tables.table.structure import Structure
from divulge.tables.table.units import to_units
from divulge.work import Problems


def read_cells(
    path: Path | str,
    by: Sequence[str],
    value: str = "count",
    hierarchies: Mapping[str, Hierarchy | Path | str] | None = None,
    total: str = TOTAL,
) -> Published:
    """A published table of any number of dimensions from a file with one row per cell.

    Margins are rows too, with `total` in place of a code; subtotals are codes of the hierarchy. A
    missing value, or a mark, is a suppressed cell. `Published.write` makes such files.

    Args:
        path: the file, in any format that records are read from.
        by: the attributes that are the dimensions.
        value: the attribute that holds the value.
        hierarchies: per attribute with subtotals, its hierarchy or a file of levels.
        total: what stands for the total.

    Raises:
        InvalidInput: for cells that are given twice or not at all, for codes that a hierarchy
            does not know, for a file of totals alone, and for margins that do not add up.
    """
    dataset = read(path, text=list(by))
    dataset.attributes([*by, value], "by and value")
    columns = [[str(code) for code in dataset.columns[name].to_arrow().to_pylist()] for name in by]
    problems = Problems(str(path))
    axes = [
        _build_axis(name, codes, (hierarchies or {}).get(name), total, problems)
        for name, codes in zip(by, columns, strict=True)
    ]
    if all(axis.size == 1 for axis in axes):
        problems.add("by", "names no attribute with a value besides the total: nothing adds up.")
    problems.raise_any()
    structure = Structure.from_grid(axes)
    shape = structure.numbers[0].shape
    places = [
        {**{code: k for k, code in enumerate(axis.codes)}, total: axis.size - 1} for axis in axes
    ]
    numbers = dataset.columns[value].to_arrow().to_pylist()
    row_values = np.array(
        [_parse_cell(number, row, problems) for row, number in enumerate(numbers, 1)]
    )
    flat = np.ravel_multi_index(
        tuple(
            np.array([place[code] for code in column])
            for place, column in zip(places, columns, strict=True)
        ),
        shape,
    )
    occurrences = np.bincount(flat, minlength=structure.size)
    for cell in np.flatnonzero(occurrences != 1)[:10]:
        lacking = (
            "is not in the file; totals are rows too"
            if occurrences[cell] == 0
            else "is there twice"
        )
        problems.add(structure.locate_cell(int(cell)), f"{lacking}.")
    problems.raise_any()
    values = np.empty(structure.size)
    values[flat] = row_values
    hidden = np.isnan(values)
    units, decimals = to_units(np.where(hidden, 0, values))
    published = Published(structure, units, hidden, decimals, value)
    check_sums(published, problems)
    return published


def _parse_cell(value: object, row: int, problems: Problems) -> float:
    """A number; not a number where the cell is suppressed."""
    if isinstance(value, int | float):
        return float(value)
    text = "" if value is None else str(value).strip()
    if text and text not in SUPPRESSION_MARKS:
        number = parse_finite(text)
        if np.isnan(number):
            message = "is neither a number nor a mark for a suppressed cell."
            problems.add(f"row {row}", message, "", SUPPRESSION_MARKS)
        return number
    return np.nan


def _build_axis(
    name: str,
    codes: Sequence[str],
    hierarchy: Hierarchy | Path | str | None,
    total: str,
    problems: Problems,
) -> Axis:
    distinct_codes = [code for code in dict.fromkeys(codes) if code != total]
    if hierarchy is None:
        return Axis.flat(name, distinct_codes)
    levels = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.from_file(hierarchy)
    lacking = set(levels.lacks(distinct_codes))
    values = [code for code in distinct_codes if code not in lacking]
    axis = Axis.hierarchical(name, values, levels)
    for code in sorted(lacking - set(axis.codes)):
        record = list(codes).index(code) + 1
        problems.add(
            f'record {record}, "{name}"', "contains a code that the hierarchy does not know."
        )
    return axis
