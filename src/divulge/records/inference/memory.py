"""Whether an attack fits into memory, said before it starts, with what else could be done."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.data import Dataset
from divulge.work import MemoryPlan

BYTES_PER_RECORD = 24
"""Bytes a record while it is put into its class: two keys, and the class."""
BYTES_PER_LINKED_RECORD = 12
"""Bytes a record of a further dataset: its place, and its id's."""


def require_memory(datasets: Sequence[Dataset], weighed: bool = False) -> None:
    """Raise `NotEnoughMemory` if the classes of these records will not fit.

    >>> import divulge as dv
    >>> require_memory([dv.datasets.school_year_example()])
    """
    focal, *others = datasets
    needs = {"classes": focal.rows * (BYTES_PER_RECORD + 16 * weighed)}
    if others:
        needs["linked datasets"] = sum(
            BYTES_PER_LINKED_RECORD * d.rows for d in others
        ) + 4 * focal.rows * len(others)
    advice = 'use dv.records.sweep(..., engine="duckdb"), which spills to disk'
    if others:
        advice = "link fewer datasets at a time, or take a part of the focal records"
    MemoryPlan(f'attacking "{focal.name}"', needs).require(advice)
