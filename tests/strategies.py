"""Hypothesis strategies for our own types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from divulge.data import Dataset

# Few values, so that records look alike often enough to be interesting.
_VALUES: list[st.SearchStrategy[Any]] = [
    st.none() | st.integers(-2, 2),
    st.none() | st.sampled_from(["", "a", "b", "é"]),
    st.booleans(),
    st.just("the same"),
]


@st.composite
def tables(draw: st.DrawFn, max_columns: int = 4, max_rows: int = 12) -> pa.Table:
    """Small tables with missing values, constants and repeated records."""
    rows = draw(st.integers(1, max_rows))
    count = draw(st.integers(1, max_columns))
    columns = {}
    for number in range(count):
        values = draw(st.sampled_from(_VALUES))
        columns[f"a{number}"] = draw(st.lists(values, min_size=rows, max_size=rows))
    return pa.table(columns)


@st.composite
def datasets(draw: st.DrawFn, max_columns: int = 4, max_rows: int = 12) -> Dataset:
    """Small datasets whose attributes are all quasi-identifiers."""
    table = draw(tables(max_columns, max_rows))
    return Dataset.from_arrow(table, roles={"quasi_identifier": table.column_names})
