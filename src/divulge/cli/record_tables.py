"""A file with a row per record: its number, from 1 as everywhere, its id if asked for, figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data import Dataset

RECORD = "record"
"""The column with the numbers of records."""

RecordId = Annotated[
    str | None,
    typer.Option(
        "--id", help="An attribute that --out repeats beside the number of each record.",
        show_default=False,
    ),
]  # fmt: skip


def write_record_table(
    table: pa.Table, records: Dataset, out: Path | None, id_: str | None
) -> None:
    """Write figures of records with their numbers; what has no row per record goes as it is."""
    import pyarrow as pa

    from divulge.data import Dataset
    from divulge.data.dictionary import find_name_problems
    from divulge.work import InvalidInput, Problem, Problems

    if id_ is not None and out is None:
        raise InvalidInput("records", [Problem("--id", "is for a file; give --out.")])
    if out is None:
        return
    problems = Problems(f'dataset "{records.name}"')
    problems.extend("", find_name_problems("--id", [id_] if id_ else [], records.names))
    problems.raise_any()
    if table.num_rows == records.rows:
        named = {RECORD: pa.array(range(1, records.rows + 1))}
        if id_ is not None:
            named[id_] = records.columns[id_].to_arrow()
        figures = dict(zip(table.column_names, table.columns, strict=True))
        table = pa.table({**named, **figures})
    Dataset.from_arrow(table).write(out)


def write_by_engine(
    write: Callable[..., None], out: Path | None, id_: str | None, overwrite: bool
) -> None:
    """Let the engine of records that stay elsewhere write a row a record, named by an attribute."""
    from divulge.work import InvalidInput, Problem

    if out is None:
        if id_ is not None:
            raise InvalidInput("records", [Problem("--id", "is for a file; give --out.")])
        return
    if id_ is None:
        message = "records that stay where they are have no numbers: name an attribute that does."
        raise InvalidInput("records", [Problem("--id", message)])
    write(out, id_, overwrite=overwrite)
