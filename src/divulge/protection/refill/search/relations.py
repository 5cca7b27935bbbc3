"""Relations between columns, by which a hidden cell is read from what is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from divulge.assessment import Sentence
from divulge.protection.refill.columns import CodedColumn
from divulge.protection.refill.search.support import Support

CATALOGUE = "divulge.protection"

Form: TypeAlias = Literal[
    "determines", "count", "plus", "minus", "times", "sum", "difference", "product", "ratio",
    "linear", "rest", "rest_of_mean", "total", "mean", "order", "range", "neighbours", "copy",
    "dictionary", "majority", "table",
]  # fmt: skip
"""How a relation predicts: groups share a value, rows are counted, or numbers are calculated.

`plus`, `minus` and `times` have a constant: B + c, c - B, c * B; `linear` sums several columns. A
`total` or `mean` is that of the members of a group, `rest` and `rest_of_mean` what the others leave
of it. A `range` is what the next numbers or dates of a column on both sides have in common. A
`copy` is another column of the same values; of a `majority` the groups mostly share a value; a
`dictionary` says from outside the release what a
column's values mean; a `table` of counts leaves one value.
"""


@dataclass(frozen=True, kw_only=True)
class ColumnRelation:
    """A relation that holds in the release: which columns tell which, and on what evidence.

    `cells` counts the hidden cells that it tells by itself, `used` those that were filled by it
    and by no stronger one.
    """

    form: Form
    columns: tuple[str, ...]
    target: str
    support: Support
    cells: int = 0
    used: int = 0
    constant: float | None = None
    is_finer: bool = False
    """Whether it tells the finer values of cells that were made coarser."""

    @property
    def key(self) -> str:
        """What tells relations to finer values from those to hidden cells of the same column."""
        return f"{self.target} finer" if self.is_finer else self.target

    def sentence(self) -> Sentence:
        """The relation, and how many cells it tells."""
        return Sentence(CATALOGUE, f"refill.relation.{self.form}", self._list_values())

    def to_dict(self) -> dict[str, Any]:
        """The relation and its evidence as plain values."""
        return {
            "form": self.form,
            "columns": list(self.columns),
            "target": self.target,
            "constant": self.constant,
            "cells": self.cells,
            "used": self.used,
            "rows": self.support.rows,
            "right": self.support.right,
            "groups": self.support.groups,
            "finer": self.is_finer,
        }

    def __str__(self) -> str:
        return str(self.sentence())

    def _list_values(self) -> dict[str, Any]:
        first, *rest = self.columns or ("",)
        return {
            "columns": self.columns,
            "first": first,
            "second": rest[0] if rest else "",
            "target": self.target,
            "told": Sentence(
                CATALOGUE,
                "refill.finer_cells" if self.is_finer else "refill.cells",
                {"cells": self.cells},
            ),
            "width": len(self.columns),
            "constant": 0.0 if self.constant is None else self.constant,
        }


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """A column that bounds another: how many hidden cells are left fewer values by it."""

    column: str
    target: str
    is_upper: bool
    cells: int
    rows: int

    def sentence(self) -> Sentence:
        """What bounds what, and how many cells that concerns."""
        key = "refill.narrowing.upper" if self.is_upper else "refill.narrowing.lower"
        told = Sentence(CATALOGUE, "refill.suppressed", {"cells": self.cells})
        values = {"column": self.column, "target": self.target, "told": told}
        return Sentence(CATALOGUE, key, values)

    def __str__(self) -> str:
        return str(self.sentence())


def name_column(column: CodedColumn) -> str:
    """How a column is called in a relation."""
    if column.origin in ("published", "group"):
        return column.name
    return str(Sentence(CATALOGUE, f"refill.column.{column.origin}", {"column": column.name}))
