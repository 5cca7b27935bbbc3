"""The sweep of records that stay where they are: listed sets in SQL, all sets from the cube.

The cube needs no records, only which combinations of values there are, and how often each occurs.
An engine counts these; where they fit into memory they come home and are walked as records are, and
else they pass in portions (`relation_lattice`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.classes.relation.values import count_missing, count_values
from divulge.records import tuning
from divulge.records.sweep.cube_rows import CubeAttribute
from divulge.records.sweep.engine_sweep.relation_lattice import RelationLattice
from divulge.records.sweep.engine_sweep.sql_sweep import SqlSweep
from divulge.records.sweep.result import SweepFigures
from divulge.records.sweep.set_bits import build_set_bits
from divulge.records.sweep.set_choice import AttributeSet
from divulge.records.sweep.subset_cube import MOST_ROWS
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


def count_relation_lattice(
    relation: Relation,
    known: Sequence[str],
    groups: Sequence[Sequence[str]],
    *,
    at_most: int,
    capacity: bool,
) -> SweepFigures:
    """The figures of all sets up to a size, from combinations of values that pass in portions.

    `groups` are the secrets that go through one walk together.
    """
    found = [
        RelationLattice(
            relation=relation,
            known=known,
            sought=group,
            at_most=at_most,
            capacity=capacity,
            most_rows=choose_portion_rows(relation, len(known) + len(group)),
        ).count_sets()
        for group in groups
    ]
    left_over = sorted({each for part in found for each in part.left_over})
    bits = build_set_bits(left_over, len(known)).tolist()
    # What one group could not walk is grouped for all.
    walked = [part.counts.leave_out(bits) for part in found if part.counts is not None]
    parts = []
    if len(walked) == len(groups) and len(walked[0].sets):
        cardinalities = {name: kinds for part in found for name, kinds in part.kinds.items()}
        parts.append(
            SweepFigures.from_counts(
                walked, groups, rows=relation.rows, cardinalities=cardinalities
            )
        )
    if left_over:
        sought = [name for group in groups for name in group]
        parts.append(count_relation_sets(relation, known, sought, left_over, capacity=capacity))
    return SweepFigures.join(parts)


def count_code_bits(relation: Relation, name: str) -> int:
    """The bits of a code of an attribute; a missing value has one too."""
    kinds = count_values(relation, name) + (count_missing(relation, name) > 0)
    return max(0, kinds - 1).bit_length()


def choose_portion_rows(relation: Relation, attributes: int) -> int:
    """How many combinations of values are held at once."""
    budget = relation.memory_limit
    if budget is None:
        budget = int(work.available_memory() * tuning.SHARE_FOR_PORTIONS)
    rows = budget // plan_combinations(relation.name, 1, attributes).total
    # A power of two: a run that is resumed with a little less memory cuts alike.
    rows = 1 << max(0, rows.bit_length() - 1)
    return min(tuning.MOST_PORTION_ROWS, max(tuning.LEAST_PORTION_ROWS, rows))


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
        if relation.rows > MOST_ROWS:
            return plan_combinations(relation.name, relation.rows, len(columns))
        if relation.rows > tuning.COMBINATIONS_FETCHED_UNCOUNTED:
            plan = plan_combinations(
                relation.name, count_combinations(session, columns), len(columns)
            )
            if not plan.fits() or plan.total > (relation.memory_limit or plan.total):
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
