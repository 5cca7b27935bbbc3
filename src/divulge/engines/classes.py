"""Classes of records that look alike, counted by plain group-by.

A class holds the records that agree on all the attributes in question. A missing value agrees
with a missing value and with nothing else: it is a value of its own here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge.engines.duck import DuckSession
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ClassSizes:
    """How many classes there are of every size that occurs, smallest first."""

    size: Ints
    classes: Ints

    @property
    def records(self) -> int:
        """All records."""
        return int(np.dot(self.size, self.classes))

    @property
    def count(self) -> int:
        """All classes: what the best guesses get right, one in each."""
        return int(self.classes.sum())

    @property
    def singletons(self) -> int:
        """Classes of one: records that nobody else looks like."""
        return int(self.classes[self.size == 1].sum())

    @property
    def smallest(self) -> int:
        """The size of the smallest class."""
        return int(self.size[0])

    def records_below(self, size: int) -> int:
        """Records in classes smaller than `size`."""
        small = self.size < size
        return int(np.dot(self.size[small], self.classes[small]))


def class_sizes(codes: pa.Table, by: Sequence[str]) -> ClassSizes:
    """Count the classes of every size.

    >>> import pyarrow as pa
    >>> sizes = class_sizes(pa.table({"sex": [0, 0, 1]}), by=["sex"])
    >>> sizes.size.tolist(), sizes.classes.tolist(), sizes.singletons
    ([1, 2], [1, 1], 1)
    """
    records, attributes = _rename_for_sql(codes, by)
    with DuckSession(records=records) as duck:
        counts = duck.arrays(
            f"""
            SELECT size, count(*) AS classes
            FROM (SELECT count(*) AS size FROM records GROUP BY {attributes})
            GROUP BY size ORDER BY size
            """
        )
    return ClassSizes(counts["size"].astype(np.int64), counts["classes"].astype(np.int64))


def _rename_for_sql(codes: pa.Table, by: Sequence[str]) -> tuple[pa.Table, str]:
    """The attributes under names of our own, and these names for SQL.

    A user's names never reach SQL: DuckDB takes "Age" and "age" for one even in quotation marks.
    """
    names = [f"a{number}" for number in range(len(by))]
    return codes.select(list(by)).rename_columns(names), ", ".join(names)
