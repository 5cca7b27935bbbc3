"""What single attributes of records hold that stay where they are: values, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from divulge.work.arrays import Ints

if TYPE_CHECKING:
    from divulge.data import Column, Relation


@dataclass(frozen=True)
class ValueCounts:
    """The different values of an attribute as a column has them, and how often each occurs."""

    column: Column
    counts: Ints
    """By code; a missing value last."""


@lru_cache(maxsize=64)
def count_missing(relation: Relation, name: str) -> int:
    """How many records lack a value of an attribute."""
    sql = f"SELECT count(*) - count({relation.find_column(name)}) AS n FROM records"
    with relation.open() as session:
        return int(session.arrays(sql)["n"][0])


@lru_cache(maxsize=64)
def count_values(relation: Relation, name: str) -> int:
    """How many different values an attribute has, the missing one aside."""
    sql = f"SELECT count(DISTINCT {relation.find_column(name)}) AS n FROM records"
    with relation.open() as session:
        return int(session.arrays(sql)["n"][0])


@lru_cache(maxsize=64)
def list_values(relation: Relation, name: str) -> ValueCounts:
    """The values of an attribute, sorted as in memory, and how many records have each."""
    column = relation.find_column(name)
    with relation.open() as session:
        found = session.table(f"SELECT {column} AS v, count(*) AS n FROM records GROUP BY {column}")
    values = relation.encode_values(name, found.column("v").combine_chunks())
    counts = np.zeros(max(1, values.cardinality), np.int64)
    counts[values.codes] = found.column("n").to_numpy()
    return ValueCounts(values, counts)
