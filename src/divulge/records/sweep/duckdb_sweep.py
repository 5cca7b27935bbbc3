"""The same sweep set by set in DuckDB: slow, but it spills to disk where the cube does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.weights import read_weights
from divulge.data import Dataset
from divulge.engines import DuckSession
from divulge.records.sweep.result import SweepFigures

if TYPE_CHECKING:
    pass


def count_by_sql(
    dataset: Dataset, known: Sequence[str], sought: Sequence[str], at_most: int, weight: str | None
) -> SweepFigures:
    """One group-by a set and secret."""
    import pyarrow as pa

    sets = [s for size in range(1, at_most + 1) for s in combinations(range(len(known)), size)]
    values_by_name: dict[str, list[float]] = {}
    # A user's names never reach SQL: DuckDB takes "Age" and "age" for one.
    known_as = [f"known{i}" for i in range(len(known))]
    sought_as = [f"sought{i}" for i in range(len(sought))]
    codes = dataset.codes([*known, *sought]).rename_columns([*known_as, *sought_as])
    weights = np.ones(dataset.rows) if weight is None else read_weights(dataset, weight)
    codes = codes.append_column("weight", pa.array(weights))
    with (
        DuckSession(records=codes) as duck,
        work.step("Assessing every set of quasi-identifiers", len(sets)) as step,
    ):
        for chosen in sets:
            names = [known_as[i] for i in chosen]
            figures = dict(
                _name_figures("", duck.arrays(_build_sizes_sql(names)), weight is not None)
            )
            for secret, column in zip(sought, sought_as, strict=True):
                counts = duck.arrays(_build_secret_sql(names, column))
                figures.update(_name_figures(f"{secret}.", counts, weight is not None))
            for name, value in figures.items():
                values_by_name.setdefault(name, []).append(value)
            step.advance()
    columns = {name: np.array(values) for name, values in values_by_name.items()}
    return SweepFigures(np.array([sum(1 << i for i in s) for s in sets], np.int64), columns)


def _name_figures(
    secret: str, columns: Mapping[str, npt.NDArray[Any]], weighed: bool
) -> Iterator[tuple[str, Any]]:
    """The figures of one set as the sweep names them; weighted ones if there is a weight."""
    for name, values in columns.items():
        plain = name.removeprefix("weighted_")
        if plain == name:
            yield f"{secret}{name}", values[0]
        elif weighed:
            yield f"weighted.{secret}{plain}", values[0]


def _build_sizes_sql(names: Sequence[str]) -> str:
    return f"""
        SELECT count(*) AS classes,
               count(*) FILTER (size = 1) AS singletons,
               count(*) FILTER (size = 2) AS classes_of_2,
               count(*) FILTER (size BETWEEN 3 AND 4) AS classes_of_3_to_4,
               count(*) FILTER (size BETWEEN 5 AND 9) AS classes_of_5_to_9,
               count(*) FILTER (size >= 10) AS classes_of_10_or_more,
               min(size) AS k_anonymity,
               sum(heaviest) AS weighted_classes,
               coalesce(sum(heaviest) FILTER (sought = 1), 0) AS weighted_singletons
        FROM (SELECT count(*) AS size, max(weight) AS heaviest,
                     count(*) FILTER (weight > 0) AS sought
              FROM records GROUP BY {_list_columns(names)})
        """


def _build_secret_sql(names: Sequence[str], secret: str) -> str:
    return f"""
        WITH totals AS (SELECT {secret} AS x, count(*) AS total
                        FROM records GROUP BY x),
        joint AS (SELECT {_list_columns(names, numbered=True)}, {secret} AS x, count(*) AS n,
                         sum(weight) AS w
                  FROM records GROUP BY ALL),
        classes AS (SELECT sum(n) AS size, max(n) AS best, count(*) AS secrets,
                           max(n / total) AS capacity, sum(w) AS weighs, max(w) AS heaviest,
                           count(*) FILTER (w > 0) AS sought
                    FROM joint JOIN totals USING (x) GROUP BY {_list_column_aliases(names)})
        SELECT coalesce(sum(size) FILTER (secrets = 1), 0)::BIGINT AS pure,
               sum(best)::BIGINT AS best, sum(capacity) AS capacity,
               coalesce(sum(weighs) FILTER (sought = 1), 0) AS weighted_pure,
               sum(heaviest) AS weighted_best
        FROM classes
        """


def _list_columns(names: Sequence[str], numbered: bool = False) -> str:
    columns = [f"{name} AS y{i}" for i, name in enumerate(names)] if numbered else names
    return ", ".join(columns)


def _list_column_aliases(names: Sequence[str]) -> str:
    return ", ".join(f"y{i}" for i in range(len(names)))
