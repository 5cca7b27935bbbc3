"""The sweep of records that stay where they are: listed sets in SQL, all sets from the cube.

The cube needs no records, only which combinations of values there are, and how often each occurs.
An engine counts these; where they fit into memory they come home and are walked as records are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.records import tuning
from divulge.records.sweep.cube_rows import CubeAttribute
from divulge.records.sweep.result import SweepFigures
from divulge.records.sweep.set_choice import AttributeSet
from divulge.records.sweep.sql_sweep import SqlSweep
from divulge.work import MemoryPlan

if TYPE_CHECKING:
    from divulge.data import Relation
    from divulge.engines import Session


def count_relation_sets(
    relation: Relation,
    known: Sequence[str],
    sought: Sequence[str],
    sets: Sequence[AttributeSet],
    *,
    capacity: bool,
) -> SweepFigures:
    """The figures of some sets, counted where the records are."""
    swept = SqlSweep(
        known=[relation.find_column(name) for name in known],
        sought={name: relation.find_column(name) for name in sought},
        rows=relation.rows,
        key={"data": relation.fingerprint},
        capacity=capacity,
    )
    with relation.open() as session:
        return swept.count_sets(session, sets)


def plan_combinations(name: str, combinations: int, attributes: int) -> MemoryPlan:
    """What it takes to fetch combinations of values, and to walk all sets of their attributes."""
    copies = min(attributes, tuning.MOST_KEY_ATTRIBUTES + 1) + 2
    needs = {
        "values": combinations * (attributes + 1) * tuning.BYTES_PER_FETCHED_VALUE,
        "keys": 2 * combinations * tuning.BYTES_PER_KEY * copies,
    }
    return MemoryPlan(f'sweeping "{name}"', needs)


def count_combinations(session: Session, columns: Sequence[str]) -> int:
    """How many combinations of values there are."""
    joined = ", ".join(columns)
    sql = f"SELECT count(*) AS n FROM (SELECT {joined} FROM records GROUP BY {joined}) AS t"
    return int(session.arrays(sql)["n"][0])


def fetch_combinations(
    relation: Relation, names: Sequence[str]
) -> dict[str, CubeAttribute] | MemoryPlan:
    """Each combination of values once, with how often it occurs; a plan where they do not fit."""
    columns = [relation.find_column(name) for name in names]
    joined = ", ".join(columns)
    with work.step("Counting combinations of values"), relation.open() as session:
        if relation.rows > tuning.COMBINATIONS_FETCHED_UNCOUNTED:
            plan = plan_combinations(
                relation.name, count_combinations(session, columns), len(columns)
            )
            if not plan.fits():
                return plan
        # In order, so that a run that is resumed cuts them into the same portions.
        table = session.table(
            f"SELECT {joined}, count(*) AS n FROM records GROUP BY {joined} ORDER BY {joined}"
        )
        counts = table.column("n").to_numpy().astype(np.int32)
        found: dict[str, CubeAttribute] = {}
        for name, column in zip(names, columns, strict=True):
            values: Any = table.column(column).combine_chunks()
            encoded = relation.encode_values(name, values)
            found[name] = CubeAttribute(encoded.codes, max(1, encoded.cardinality), counts)
        return found
