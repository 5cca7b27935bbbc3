"""Figures of single records that stay where they are: an engine writes them to a Parquet file.

Records elsewhere have no numbers, so each row repeats an attribute that says whose it is. Rows come
as the engine finds them, and are never in memory all at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.classes.relation.classes import list_columns
from divulge.classes.relation.frequencies import build_frequency_query, weigh_sample
from divulge.classes.relation.record_view import RecordView, join_names
from divulge.classes.relation.weights import WEIGHT
from divulge.data.relation.relation import build_elsewhere_error
from divulge.work import AtomicFiles, InvalidInput, Problem, Problems
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    from divulge.data import Relation

PARQUET = ".parquet"


def require_place_of_figures(relation: Relation, path: Path, id_: str | None) -> str:
    """The attribute that names records; refuse what cannot be written.

    Raises:
        InvalidInput: if no attribute names the records, or the file is not to be Parquet.
    """
    problems = Problems(f'dataset "{relation.name}"')
    if id_ is None:
        message = (
            "records that stay where they are have no numbers: say which attribute names them."
        )
        problems.add("id", message)
    elif id_ not in relation.names:
        problems.add("id", f'there is no attribute "{id_}".', id_, relation.names)
    if path.suffix.lower() != PARQUET:
        message = f'"{path.name}" is no Parquet file, and only those are written by an engine.'
        problems.add("out", message)
    problems.raise_any()
    return str(id_)


def write_figures(
    view: RecordView, sql: str, path: Path, names: Sequence[str], *, overwrite: bool = False
) -> None:
    """Write the result of a query, whole or not at all; `names` are those of its columns.

    Raises:
        EngineError: if the engine is away, or the records change meanwhile.
    """
    _write(view, sql, path, names, overwrite=overwrite)


def build_risk_query(
    id_: str, known: Sequence[str], sought: Sequence[str], *, is_weighed: bool
) -> str:
    """Of each record the probability that somebody who knows its class gives to the truth."""
    amount = f"sum({WEIGHT})" if is_weighed else "count(*)"
    same = " AND ".join(f"r.{name} IS NOT DISTINCT FROM k.{name}" for name in known)
    by_class = f"""
        SELECT r.{id_} AS id, {{own}} AS own, k.whole AS whole
        FROM records AS r
        JOIN (SELECT {join_names(known)}, {amount} AS whole
              FROM records GROUP BY {join_names(known)}) AS k ON {same}"""
    if sought:
        both = list(dict.fromkeys([*known, *sought]))
        alike = " AND ".join(f"r.{name} IS NOT DISTINCT FROM j.{name}" for name in both)
        rows = f"""{by_class.format(own="j.own")}
        JOIN (SELECT {join_names(both)}, {amount} AS own
              FROM records GROUP BY {join_names(both)}) AS j ON {alike}"""
    else:
        rows = by_class.format(own=f"r.{WEIGHT}" if is_weighed else "1")
    return f"""
        SELECT id, CASE WHEN whole > 0 THEN CAST(own AS DOUBLE) / CAST(whole AS DOUBLE)
                        ELSE CAST(0 AS DOUBLE) END AS risk
        FROM ({rows}) AS q
        """


def write_frequency_figures(
    relation: Relation,
    names: Sequence[str],
    nulls: str,
    figures: Mapping[str, Floats],
    path: Path,
    *,
    id_: str | None,
    overwrite: bool = False,
) -> None:
    """Write figures that follow from how many look like a record, and what these weigh.

    `figures` are of the rows of `count_relation_frequencies`, in their order.

    Raises:
        RecordsElsewhere: if a missing value may be anything: then classes are not apart.
        InvalidInput: if no attribute names the records, or the file is not to be Parquet.
    """
    import pyarrow as pa

    name = require_place_of_figures(relation, path, id_)
    if nulls == "maybe":
        what = 'a figure for each record with nulls = "maybe"'
        raise build_elsewhere_error(relation.name, relation.engine, what)
    columns = list_columns(relation, names)
    sample = weigh_sample(relation)
    sql = build_frequency_query(columns, nulls)
    with sample.view.open() as session:
        rows = session.table(sql)
    numbered = [f"f{place}" for place in range(len(figures))]
    table = pa.table(
        [rows.column("size"), rows.column("weight"), *map(np.asarray, figures.values())],
        names=["size", "weight", *numbered],
    )
    view = RecordView(
        relations=sample.view.relations,
        rows=sample.view.rows,
        template=sample.view.template,
        tables=(*sample.view.tables, ("figures", table)),
    )
    missing = " OR ".join(f"r.{column} IS NULL" for column in columns)
    is_alone = missing if nulls == "standard" else "1 = 0"
    same = " AND ".join(f"r.{column} IS NOT DISTINCT FROM k.{column}" for column in columns)
    joined = f"""
        SELECT q.id, {join_names(f"f.{each}" for each in numbered)}
        FROM (
            SELECT r.{relation.find_column(name)} AS id,
                   CASE WHEN {is_alone} THEN 1 ELSE k.size END AS size,
                   CASE WHEN {is_alone} THEN r.{WEIGHT} ELSE k.weight END AS weight
            FROM records AS r JOIN (
                SELECT {join_names(columns)}, count(*) AS size, sum({WEIGHT}) AS weight
                FROM records GROUP BY {join_names(columns)}
            ) AS k ON {same}
        ) AS q JOIN figures AS f ON q.size = f.size AND q.weight = f.weight
        """
    _write(view, joined, path, [name, *figures], overwrite=overwrite)


def _write(
    view: RecordView, sql: str, path: Path, names: Sequence[str], *, overwrite: bool
) -> None:
    named = list(names)
    if len(set(named)) < len(named):
        problem = Problem("id", f'is called as a figure is: "{named[0]}".')
        raise InvalidInput("records", [problem])
    # The records are compared with those that were scanned before the file appears.
    with (
        work.step("Writing a figure for each record"),
        AtomicFiles(path.parent, overwrite) as files,
        view.open() as session,
    ):
        session.write_parquet(sql, files.path(path.name, private=True), named)
