"""Whether an attack fits into memory, said before it starts, with what else could be done."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.data import Dataset
from divulge.work import MemoryPlan

CLASSES = 24
"""Bytes a record while it is put into its class: two keys, and the class."""
OF_A_YEAR = 12
"""Bytes a record of a further dataset: its place, and its id's."""


def require_room(datasets: Sequence[Dataset], weighed: bool = False) -> None:
    """Raise `NotEnoughMemory` if the classes of these records will not fit.

    >>> import divulge as dv
    >>> require_room([dv.datasets.school_year_example()])
    """
    focal, *others = datasets
    needs = {"classes": focal.rows * (CLASSES + 16 * weighed)}
    if others:
        needs["linked datasets"] = sum(OF_A_YEAR * d.rows for d in others) + 4 * focal.rows * len(
            others
        )
    otherwise = 'use dv.records.sweep(..., engine="duckdb"), which spills to disk'
    if others:
        otherwise = "link fewer datasets at a time, or take a part of the focal records"
    MemoryPlan(f'attacking "{focal.name}"', needs).require(otherwise)
