"""Totals added up to coarser ones: what was wrong with each of them goes along as noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from divulge.data import Dataset
from divulge.data.column import column_from_codes, encode_array
from divulge.reconstruction.auditing.totals import Totals
from divulge.reconstruction.problem.rounding import compute_rounding_error

NOISE_COLUMN = "noise of weaker totals"


def regroup_totals(table: Totals, renamed: Mapping[str, Mapping[str, str]]) -> Totals:
    """A table with values of some columns renamed, and rows that are now of one key added up."""
    import pyarrow as pa

    rows = table.dataset.to_arrow()
    if NOISE_COLUMN in rows.column_names:
        rows = rows.drop_columns([NOISE_COLUMN])
    for column, new in renamed.items():
        texts = pa.array([new.get(str(v), str(v)) for v in rows[column].to_pylist()])
        rows = rows.set_column(rows.column_names.index(column), column, texts)
    own = _compute_rounding_error(table)
    rows = rows.append_column(
        NOISE_COLUMN, pa.array([float(noise + own) for noise in table.noises()])
    )
    keys = list(dict.fromkeys([*table.by, *table.places]))
    sums = [*table.summed.values(), NOISE_COLUMN]
    grouped = rows.select([*keys, *sums]).group_by(keys, use_threads=False)
    added = grouped.aggregate([(name, "sum") for name in sums])
    added = added.select([*keys, *(f"{name}_sum" for name in sums)])
    data = Dataset.from_arrow(
        added.rename_columns([*keys, *sums]),
        name=table.dataset.name,
        subjects=table.dataset.subjects,
    )
    # The rule of the table, or its tolerance, still explains what is wrong with one of the totals.
    noises = added[f"{NOISE_COLUMN}_sum"].to_numpy() - float(own)
    return attach_noise(table, data, noises)


def attach_noise(table: Totals, data: Dataset, noises: Any) -> Totals:
    """A table with other rows, each of which may be wrong by so much besides its rounding."""
    columns = {**data.columns, NOISE_COLUMN: encode_numbers(np.round(noises, 9))}
    return replace(table, dataset=replace(data, columns=columns).describe({}), noise=NOISE_COLUMN)


def _compute_rounding_error(table: Totals) -> Decimal:
    """By how much one total differs from its sum; what grows with packages adds up by itself."""
    if table.tolerance is not None:
        return Decimal(table.tolerance)
    return compute_rounding_error(table.rounding, Decimal(table.step))


def read_numbers(table: Totals, column: str) -> Any:
    """The totals of a column, row by row."""
    own = table.dataset.columns[column]
    return own.values.to_numpy(zero_copy_only=False).astype(float)[own.codes]


def encode_numbers(values: Any) -> Any:
    """Numbers as a column."""
    import pyarrow as pa

    return encode_array(pa.array(values))


def encode_texts(texts: list[str], codes: Any) -> Any:
    """A column whose distinct values got other names, some of them the same."""
    import pyarrow as pa

    distinct = sorted(set(texts))
    where = {text: number for number, text in enumerate(distinct)}
    table = np.array([*(where[text] for text in texts), len(distinct)])
    return column_from_codes(table[codes], pa.array(distinct))
