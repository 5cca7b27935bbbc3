"""The true places, which only the owner has: a start for proofs, and never shown."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from divulge.data import Dataset
from divulge.data.column import column_from_codes
from divulge.data.dictionary import find_name_problems
from divulge.work import Problems


def true_places(
    records: Dataset,
    held: Dataset | None = None,
    on: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Dataset:
    """The true places of the records, one row each in their order, as `reconstruct` takes them.

    Args:
        records: the records.
        held: the dataset with the places; the records themselves if not given.
        on: the id by which a row of `held` is that of a record; by default rows are in the order of
            the records.
        columns: column of places of the tables -> column with the truth; by default all columns
            have the names that the tables have.

    >>> import pyarrow as pa
    >>> records = Dataset.from_arrow(pa.table({"number": [7, 8]}), name="records")
    >>> held = Dataset.from_arrow(pa.table({"number": [8, 7], "city": ["B", "A"]}), name="held")
    >>> true_places(records, held, on="number").to_arrow()["city"].to_pylist()
    ['A', 'B']
    """
    source = records if held is None else held
    problems = Problems("truth")
    of = f'dataset "{source.name}"'
    problems.extend("columns", find_name_problems("", (columns or {}).values(), source.names, of))
    if on is not None:
        for dataset in (records, source):
            name_problems = find_name_problems(
                "on", [on], dataset.names, f'dataset "{dataset.name}"'
            )
            problems.extend("", name_problems)
    elif source.rows != records.rows:
        message = f"{source.rows} rows, and {records.rows} records: give one row each, or `on`."
        problems.add(of, message)
    problems.raise_any()
    column_of_place = columns or {name: name for name in source.names if name != on}
    rows = (
        np.arange(source.rows)
        if on is None or held is None
        else _find_rows_by_id(records, source, on)
    )
    truth_columns = {}
    for place, name in column_of_place.items():
        own = source.columns[name]
        # A record that the owner has not placed has the code of a missing value.
        codes = np.append(own.codes, own.missing_code)[rows]
        truth_columns[place] = column_from_codes(codes.astype(np.int64), own.values)
    return Dataset(truth_columns, name=source.name, subjects=records.subjects).describe({})


def _find_rows_by_id(
    records: Dataset, source: Dataset, on: str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For every record the row with its id; the place after the last if there is none."""
    theirs = source.columns[on]
    repeated = source.rows - len(np.unique(theirs.codes))
    problems = Problems("truth")
    if repeated or theirs.has_missing:
        message = f'rows of dataset "{source.name}" must each have a "{on}" of their own.'
        problems.add("on", message)
    problems.raise_any()
    of_id = dict(zip(map(str, theirs.to_arrow().to_pylist()), range(source.rows), strict=True))
    ids = records.columns[on].to_arrow().to_pylist()
    return np.array([of_id.get(str(each), source.rows) for each in ids], np.int64)
