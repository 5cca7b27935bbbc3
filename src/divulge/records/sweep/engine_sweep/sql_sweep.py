"""The same sweep set by set in SQL: slow, but it runs where records are, and may spill to disk.

In memory the records are codes that DuckDB is handed; of a relation they are its own columns. The
sets of a portion are remembered together, so that an interrupted sweep goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.engines import Session
from divulge.records import tuning
from divulge.records.sweep.result import SweepFigures
from divulge.records.sweep.set_bits import build_set_bits
from divulge.records.sweep.set_choice import AttributeSet
from divulge.work.context import Step

# What the queries count changes with this number: what another version remembered is not taken up.
_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class SqlSweep:
    """What is swept by SQL: the columns of a session's `records`, and what identifies them."""

    known: Sequence[str]
    """The columns of the attributes that may be known."""
    sought: Mapping[str, str]
    """By secret its column."""
    rows: int
    key: Mapping[str, object]
    """What the counts depend on, besides the sets."""
    weight: str | None = None
    capacity: bool = True

    def count_sets(self, session: Session, sets: Sequence[AttributeSet]) -> SweepFigures:
        """The figures of every set, in the order in which they are given."""
        portions: list[dict[str, npt.NDArray[Any]]] = []
        step = max(1, tuning.ROWS_BETWEEN_CHECKPOINTS // max(1, self.rows))
        with work.step("Assessing every set of quasi-identifiers", len(sets)) as progress:
            for start in range(0, len(sets), step):
                chosen = sets[start : start + step]
                portions.append(self._recall_portion(session, chosen, progress))
        columns = {
            name: np.concatenate([portion[name] for portion in portions]) for name in portions[0]
        }
        return SweepFigures(build_set_bits(sets, len(self.known)), columns)

    def _recall_portion(
        self, session: Session, sets: Sequence[AttributeSet], progress: Step
    ) -> dict[str, npt.NDArray[Any]]:
        counted = 0

        def count_portion() -> dict[str, npt.NDArray[Any]]:
            nonlocal counted
            rows = []
            for chosen in sets:
                rows.append(self._count_set(session, chosen))
                counted += 1
                progress.advance()
            return {name: np.array([row[name] for row in rows]) for name in rows[0]}

        def build_key() -> dict[str, object]:
            sought = list(self.sought.items())
            named = {"known": list(self.known), "sought": sought, "weight": self.weight}
            options = {"capacity": self.capacity, "version": _VERSION}
            return {**self.key, **named, **options, "sets": [list(s) for s in sets]}

        portion = work.memoise("sql-sweep", build_key, count_portion)
        if not counted:
            progress.advance(len(sets))
        return dict(portion)

    def _count_set(self, session: Session, chosen: AttributeSet) -> dict[str, Any]:
        names = [self.known[i] for i in chosen]
        sizes = session.arrays(build_set_sizes_query(names, self.weight))
        figures = dict(_name_figures("", sizes))
        for secret, column in self.sought.items():
            sql = build_set_secret_query(names, column, self.weight, capacity=self.capacity)
            figures.update(_name_figures(f"{secret}.", session.arrays(sql)))
        return figures


def _name_figures(
    secret: str, columns: Mapping[str, npt.NDArray[Any]]
) -> Iterator[tuple[str, Any]]:
    """The figures of one set as the sweep names them; those of weights apart."""
    for name, values in columns.items():
        plain = name.removeprefix("weighted_")
        yield f"{secret}{name}" if plain == name else f"weighted.{secret}{plain}", values[0]


def build_set_sizes_query(names: Sequence[str], weight: str | None) -> str:
    """How many classes there are of which size; one row."""
    weighed = "" if weight is None else f", max({weight}) AS heaviest, {_count_positive(weight)}"
    sums = """,
               sum(heaviest) AS weighted_classes,
               sum(CASE WHEN likely = 1 THEN heaviest ELSE 0 END) AS weighted_singletons"""
    return f"""
        SELECT count(*) AS classes,
               {_count_sizes("size = 1")} AS singletons,
               {_count_sizes("size = 2")} AS classes_of_2,
               {_count_sizes("size BETWEEN 3 AND 4")} AS classes_of_3_to_4,
               {_count_sizes("size BETWEEN 5 AND 9")} AS classes_of_5_to_9,
               {_count_sizes("size >= 10")} AS classes_of_10_or_more,
               min(size) AS k_anonymity{"" if weight is None else sums}
        FROM (SELECT count(*) AS size{weighed} FROM records GROUP BY {", ".join(names)}) AS classes
        """


def build_set_secret_query(
    names: Sequence[str], secret: str, weight: str | None, *, capacity: bool
) -> str:
    """What classes leave of a secret; one row. Missing values are values of their own."""
    known = ", ".join(names)
    weighed = "" if weight is None else f", sum({weight}) AS w"
    by_class = "" if weight is None else f", sum(w) AS weighs, max(w) AS heaviest, {_count_w()}"
    sums = """,
               sum(CASE WHEN likely = 1 THEN weighs ELSE 0 END) AS weighted_pure,
               sum(heaviest) AS weighted_best"""
    joint = f"SELECT {known}, {secret} AS x, count(*) AS n{weighed} FROM records"
    joint = f"{joint} GROUP BY {known}, {secret}"
    shares = source = ""
    if capacity:
        shares = ", max(CAST(n AS DOUBLE) / CAST(total AS DOUBLE)) AS share"
        source = f"""
                 JOIN (SELECT {secret} AS value, count(*) AS total
                       FROM records GROUP BY {secret}) AS totals
                 ON joint.x IS NOT DISTINCT FROM totals.value"""
    return f"""
        SELECT CAST(sum(CASE WHEN secrets = 1 THEN size ELSE 0 END) AS BIGINT) AS pure,
               CAST(sum(best) AS BIGINT) AS best{", sum(share) AS capacity" if capacity else ""}
               {"" if weight is None else sums}
        FROM (SELECT sum(n) AS size, max(n) AS best, count(*) AS secrets{shares}{by_class}
              FROM ({joint}) AS joint{source}
              GROUP BY {known}) AS classes
        """


def _count_sizes(condition: str) -> str:
    return f"CAST(sum(CASE WHEN {condition} THEN 1 ELSE 0 END) AS BIGINT)"


def _count_positive(weight: str) -> str:
    return f"sum(CASE WHEN {weight} > 0 THEN 1 ELSE 0 END) AS likely"


def _count_w() -> str:
    return "sum(CASE WHEN w > 0 THEN 1 ELSE 0 END) AS likely"
