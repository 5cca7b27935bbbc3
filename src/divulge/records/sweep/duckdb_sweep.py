"""The same sweep set by set in DuckDB: slow, but it spills to disk where the cube does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.classes.weights import weights_of
from divulge.data import Dataset
from divulge.engines import DuckSession
from divulge.records.sweep.result import Figures

if TYPE_CHECKING:
    from divulge.records.sweep.result import Figures


def counted_by_sql(
    dataset: Dataset, known: Sequence[str], sought: Sequence[str], at_most: int, weight: str | None
) -> Figures:
    """One group-by a set and secret."""
    import pyarrow as pa

    sets = [s for size in range(1, at_most + 1) for s in combinations(range(len(known)), size)]
    found: dict[str, list[float]] = {}
    # A user's names never reach SQL: DuckDB takes "Age" and "age" for one.
    known_as = [f"known{i}" for i in range(len(known))]
    sought_as = [f"sought{i}" for i in range(len(sought))]
    codes = dataset.codes([*known, *sought]).rename_columns([*known_as, *sought_as])
    weights = np.ones(dataset.rows) if weight is None else weights_of(dataset, weight)
    codes = codes.append_column("weight", pa.array(weights))
    with (
        DuckSession(records=codes) as duck,
        work.step("Assessing every set of quasi-identifiers", len(sets)) as step,
    ):
        for chosen in sets:
            names = [known_as[i] for i in chosen]
            told = dict(_named("", duck.arrays(_sizes(names)), weight is not None))
            for secret, named in zip(sought, sought_as, strict=True):
                found_of = duck.arrays(_secret(names, named))
                told.update(_named(f"{secret}.", found_of, weight is not None))
            for name, value in told.items():
                found.setdefault(name, []).append(value)
            step.advance()
    columns = {name: np.array(values) for name, values in found.items()}
    return Figures(np.array([sum(1 << i for i in s) for s in sets], np.int64), columns)


def _named(
    secret: str, found: Mapping[str, npt.NDArray[Any]], weighed: bool
) -> Iterator[tuple[str, Any]]:
    """The figures of one set as the sweep names them; weighted ones if there is a weight."""
    for name, values in found.items():
        plain = name.removeprefix("weighted_")
        if plain == name:
            yield f"{secret}{name}", values[0]
        elif weighed:
            yield f"weighted.{secret}{plain}", values[0]


def _sizes(names: Sequence[str]) -> str:
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
              FROM records GROUP BY {_list(names)})
        """


def _secret(names: Sequence[str], secret: str) -> str:
    return f"""
        WITH totals AS (SELECT {secret} AS x, count(*) AS total
                        FROM records GROUP BY x),
        joint AS (SELECT {_list(names, numbered=True)}, {secret} AS x, count(*) AS n,
                         sum(weight) AS w
                  FROM records GROUP BY ALL),
        classes AS (SELECT sum(n) AS size, max(n) AS best, count(*) AS secrets,
                           max(n / total) AS capacity, sum(w) AS weighs, max(w) AS heaviest,
                           count(*) FILTER (w > 0) AS sought
                    FROM joint JOIN totals USING (x) GROUP BY {_numbers(names)})
        SELECT coalesce(sum(size) FILTER (secrets = 1), 0)::BIGINT AS pure,
               sum(best)::BIGINT AS best, sum(capacity) AS capacity,
               coalesce(sum(weighs) FILTER (sought = 1), 0) AS weighted_pure,
               sum(heaviest) AS weighted_best
        FROM classes
        """


def _list(names: Sequence[str], numbered: bool = False) -> str:
    columns = [f"{name} AS y{i}" for i, name in enumerate(names)] if numbered else names
    return ", ".join(columns)


def _numbers(names: Sequence[str]) -> str:
    return ", ".join(f"y{i}" for i in range(len(names)))
