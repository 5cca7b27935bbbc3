"""How many look like each record, where records stay: rows that stand for many records each.

Records whose class has the same size and the same weight are alike to every measure of
frequencies, so they come home as one row. Where a missing value may be anything, patterns come home
instead: each combination of values once, with how many records have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.classes import null_semantics
from divulge.classes.key_codes import KeyCodes
from divulge.classes.relation.classes import list_columns
from divulge.classes.relation.record_view import RecordView, join_names
from divulge.classes.relation.weights import (
    WEIGHT,
    WIDE,
    require_relation_weights,
    weigh_by_attribute,
)
from divulge.classes.tuning import MAX_PATTERNS_AT_HOME
from divulge.data.relation.relation import build_elsewhere_error
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data import Relation


@dataclass(frozen=True, kw_only=True)
class FrequencyRows:
    """Rows of records that are alike to measures: f, F, and how many records each row is."""

    sample: Floats
    population: Floats
    number: Ints


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """Records with what each of them weighs as a whole number, and what one is in that number."""

    view: RecordView
    unit: Fraction
    total: float
    """What all records weigh together: how many the population has."""


def count_relation_frequencies(
    relation: Relation, names: Sequence[str], nulls: str, alpha: float = 1.0
) -> FrequencyRows:
    """Frequency and weight of each record; a missing value is absent, unless `nulls` says else.

    Raises:
        RecordsElsewhere: if more patterns would have to come home than there is room for.
        InvalidInput: if sampling weights are missing or below one.
    """
    sample = weigh_sample(relation)
    columns = list_columns(relation, names)
    if nulls == "maybe":
        return _count_by_maybe(relation, names, sample, alpha)
    sql = build_frequency_query(columns, nulls)

    def count() -> dict[str, Any]:
        with sample.view.open() as session:
            found = session.table(sql)
        return {
            "size": found.column("size").to_numpy().astype(np.int64),
            "weight": _read_weights(found, sample.unit),
            "records": found.column("records").to_numpy().astype(np.int64),
        }

    counts = work.memoise(
        "relation-frequencies",
        lambda: {"data": sample.view.fingerprint, "knows": sorted(columns), "nulls": nulls},
        count,
    )
    return FrequencyRows(
        sample=counts["size"].astype(np.float64),
        population=np.asarray(counts["weight"], np.float64),
        number=counts["records"],
    )


def weigh_sample(relation: Relation) -> SampleView:
    """The records with their sampling weights; of one each where no attribute has that role.

    Raises:
        InvalidInput: if weights are missing, no numbers, or below one.
    """
    view = RecordView.from_relation(relation)
    names = relation.dictionary.having("weight")
    if not names:
        view = view.extend(f"CAST(1 AS {WIDE}) AS {WEIGHT}")
        return SampleView(view=view, unit=Fraction(1), total=float(relation.rows))
    [name] = names
    require_relation_weights(relation, name)
    weighed = weigh_by_attribute(relation, view, name, relation.find_column(name))
    with weighed.view.open() as session:
        total = int(session.table(f"SELECT sum({WEIGHT}) AS w FROM records")["w"][0].as_py())
    return SampleView(view=weighed.view, unit=weighed.unit, total=float(total / weighed.unit))


def gather_relation_patterns(
    relation: Relation, names: Sequence[str], sample: SampleView
) -> null_semantics.Patterns:
    """Each combination of values once, in codes of its columns, with how many records have it.

    Raises:
        RecordsElsewhere: if there are more than there is room for.
    """
    columns = join_names(list_columns(relation, names))
    grouped = f"SELECT {columns}, count(*) AS n, sum({WEIGHT}) AS w FROM records GROUP BY {columns}"
    with sample.view.open() as session:
        number = int(session.arrays(f"SELECT count(*) AS n FROM ({grouped}) AS g")["n"][0])
        if number > MAX_PATTERNS_AT_HOME:
            what = 'nulls = "maybe" of so many different records'
            raise build_elsewhere_error(relation.name, relation.engine, what)
        found = session.table(grouped)
    keys = []
    for place, name in enumerate(names):
        column = relation.encode_values(name, found.column(place).combine_chunks())
        keys.append(
            KeyCodes(column.codes.astype(np.int64), len(column.values) + 1, column.missing_code)
        )
    patterns = null_semantics.gather_patterns(keys, _read_weights(found, sample.unit))
    counts = np.zeros(number)
    counts[patterns.of_record] = found.column("n").to_numpy()
    return null_semantics.Patterns(
        columns=patterns.columns,
        cardinalities=patterns.cardinalities,
        hidden_codes=patterns.hidden_codes,
        count=counts,
        weight=patterns.weight,
        mask=patterns.mask,
        of_record=patterns.of_record,
    )


def _count_by_maybe(
    relation: Relation, names: Sequence[str], sample: SampleView, alpha: float
) -> FrequencyRows:
    patterns = gather_relation_patterns(relation, names, sample)
    counts, weights = null_semantics.count_by_maybe(patterns, alpha)
    return FrequencyRows(sample=counts, population=weights, number=patterns.count.astype(np.int64))


def _read_weights(table: pa.Table, unit: Fraction) -> Floats:
    import pyarrow as pa

    name = "weight" if "weight" in table.column_names else "w"
    numbers = table.column(name).cast(pa.float64()).to_numpy()
    return np.asarray(numbers / float(unit), np.float64)


def build_frequency_query(columns: Sequence[str], nulls: str) -> str:
    """How many records stand in classes of which size and weight: size, weight, records."""
    return _build_standard_query(columns) if nulls == "standard" else _build_size_query(columns)


def _build_size_query(columns: Sequence[str]) -> str:
    return f"""
        SELECT size, weight, CAST(sum(size) AS BIGINT) AS records
        FROM (
            SELECT count(*) AS size, sum({WEIGHT}) AS weight
            FROM records GROUP BY {join_names(columns)}
        ) AS k
        GROUP BY size, weight ORDER BY size, weight
        """


def _build_standard_query(columns: Sequence[str]) -> str:
    """A record with a missing value is alone: it equals nothing but itself."""
    missing = " OR ".join(f"{column} IS NULL" for column in columns)
    return f"""
        SELECT size, weight, CAST(sum(records) AS BIGINT) AS records FROM (
            SELECT size, weight, size AS records FROM (
                SELECT count(*) AS size, sum({WEIGHT}) AS weight
                FROM records WHERE NOT ({missing}) GROUP BY {join_names(columns)}
            ) AS k
            UNION ALL
            SELECT CAST(1 AS BIGINT) AS size, {WEIGHT} AS weight, CAST(1 AS BIGINT) AS records
            FROM records WHERE {missing}
        ) AS u
        GROUP BY size, weight ORDER BY size, weight
        """
