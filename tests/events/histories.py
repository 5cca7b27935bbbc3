"""Hypothesis strategies for small histories."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
from hypothesis import strategies as st
from tests.events.plain import Record

from divulge.data import Dataset
from divulge.events import History

DAYS = [dt.date(2010, 12, 1), dt.date(2010, 12, 2), dt.date(2010, 12, 31), dt.date(2011, 4, 9)]

records = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(DAYS), st.sampled_from("abcd")),
    min_size=1,
    max_size=16,
)


def history(rows: list[Record]) -> History:
    columns = dict(zip(("user", "day", "goods"), map(list, zip(*rows, strict=True)), strict=True))
    return History(Dataset.from_arrow(pa.table(columns)), "user", "day", "goods")
