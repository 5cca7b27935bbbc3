"""What is suppressed of a table that is too large to be drawn: counts by level.

A level is which axes a cell sums up: none of them (the finest), some in part (a subtotal), some
altogether. A cell that linked tables share is counted in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.assessment import Sentence
from divulge.tables.table.axis import Axis
from divulge.tables.table.structure import Structure
from divulge.work.arrays import Bools, Ints

CATALOGUE = "divulge.tables"
_VALUE, _SUBTOTAL, _TOTAL = range(3)


@dataclass(frozen=True, kw_only=True)
class CellsOfLevel:
    """The cells of one level of a table, and what they sum up to, suppressed ones apart."""

    name: str
    cells: int
    suppressed: int
    value: int
    """The sum of the magnitudes, in units of the table."""
    suppressed_value: int


def count_cells_by_level(
    structure: Structure, units: Ints, suppressed: Bools
) -> list[CellsOfLevel]:
    """By table and level, the finest first, how many cells and how much of the value is hidden.

    >>> import divulge as dv
    >>> table = dv.tables.Table.from_cells([[7, 11], [10, 60]])
    >>> published = table.publish({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> [(each.name, each.cells, each.suppressed, each.suppressed_value)
    ...  for each in count_cells_by_level(table.structure, table.units, published.suppressed)][:2]
    [('the finest level', 4, 4, 88), ('totals over column', 2, 0, 0)]
    """
    levels = []
    for number, (axes, cells) in enumerate(zip(structure.grids, structure.numbers, strict=True), 1):
        steps = np.stack(
            np.meshgrid(*(_classify_codes(axis) for axis in axes), indexing="ij"), axis=-1
        ).reshape(-1, len(axes))
        numbers = cells.reshape(-1)
        distinct, level_of_cell = np.unique(steps, axis=0, return_inverse=True)
        order = sorted(range(len(distinct)), key=lambda n: (distinct[n].sum(), *distinct[n]))
        for place in order:
            of_level = numbers[level_of_cell.reshape(-1) == place]
            hidden = of_level[suppressed[of_level]]
            name = _name_level(axes, distinct[place].tolist())
            values = {"number": number, "level": name}
            levels.append(
                CellsOfLevel(
                    name=_say("of_table", **values) if structure.is_linked else name,
                    cells=int(of_level.size),
                    suppressed=int(hidden.size),
                    value=int(np.abs(units[of_level]).sum()),
                    suppressed_value=int(np.abs(units[hidden]).sum()),
                )
            )
    return levels


def _classify_codes(axis: Axis) -> Ints:
    """Of each code, whether it is a value, a subtotal, or sums up everything."""
    is_top = axis.parent < 0
    return np.where(axis.is_leaf, _VALUE, np.where(is_top, _TOTAL, _SUBTOTAL))


def _name_level(axes: Sequence[Axis], steps: Sequence[int]) -> str:
    totals = [axis.name for axis, step in zip(axes, steps, strict=True) if step == _TOTAL]
    parts = [axis.name for axis, step in zip(axes, steps, strict=True) if step == _SUBTOTAL]
    if totals and parts:
        return _say("both", names=totals, others=parts)
    if totals:
        return _say("totals", names=totals)
    return _say("subtotals", names=parts) if parts else _say("finest")


def _say(key: str, **values: object) -> str:
    return str(Sentence(CATALOGUE, f"chart.levels.{key}", values))
