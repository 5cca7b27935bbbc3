"""Compile the kernels of the matching attack ahead of time: `python -m divulge.tables.warm`.

The compiled code is kept beside the package (or in the user's cache), so that no later process
waits for it.
"""

from __future__ import annotations

from divulge.tables.matching.attack import matching_attack
from divulge.tables.suppress import suppress
from divulge.tables.table.table import Table


def warm() -> None:
    """Run every kernel on a small table: listed and visited, first, tied and drawn patterns."""
    cells = [[15, 15, 12, 10], [19, 20, 13, 3], [8, 8, 11, 14], [9, 3, 26, 6]]
    table = Table.from_cells(cells)
    suppression = suppress(table, 5, 8)
    matching_attack(suppression, 5, 8, mode="full", suppressor="any optimum")
    matching_attack(suppression, 5, 8, most_candidates=5, sample=10)
    resistance = suppress(table, 5, 8, resist_matching=True, seed=1).resistance
    if resistance is not None:
        resistance.to_dict()
