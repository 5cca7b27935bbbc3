"""Made-up datasets for tests: hypothesis strategies for columns, labels and missing codes."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from divulge.data import Column, Dataset
from divulge.data.dictionary import Attribute, Dictionary, MissingCode

WORDS = st.text("abcXYZ 01-é", min_size=1, max_size=12).map(str.strip).filter(bool)
# Words that SPSS or Stata keep for themselves are refused by their writers.
RESERVED = {
    *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),
    *("byte", "double", "float", "if", "in", "int", "long", "str", "strl", "using"),
}
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(
    lambda name: name not in RESERVED and not re.fullmatch(r"str\d+", name)
)
DATES = st.dates(dt.date(1600, 1, 1), dt.date(2999, 12, 31))
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(  # noqa: DTZ001  # files know no zones
    lambda when: when.replace(microsecond=0)
)
WHOLE = st.integers(-(2**40), 2**40)
BROKEN = st.floats(-1e12, 1e12, allow_nan=False, allow_subnormal=False).filter(
    lambda x: x == 0 or abs(x) > 1e-12
)


@st.composite
def columns(draw: st.DrawFn, rows: int, texts: bool = True) -> pa.Array:
    """One column of any kind that all formats know; some values missing."""
    kinds = [(WHOLE, pa.int64()), (BROKEN, pa.float64()), (DATES, pa.date32())]
    if texts:
        kinds.append((WORDS, pa.string()))
    values, kind = draw(st.sampled_from(kinds))
    cells = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
    return pa.array(cells, kind)


@st.composite
def datasets(draw: st.DrawFn, max_rows: int = 12) -> Dataset:
    """Records of a few columns; each column has at least one value."""
    rows = draw(st.integers(1, max_rows))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    found = {}
    for name in names:
        found[name] = draw(columns(rows).filter(lambda array: array.null_count < len(array)))
    return Dataset.from_arrow(pa.table(found))


@st.composite
def labelled(draw: st.DrawFn, tags: bool) -> Dataset:
    """Records with descriptions, value labels, and codes (or tags) that mean missing."""
    rows = draw(st.integers(1, 12))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    found: dict[str, Column] = {}
    about: dict[str, Attribute] = {}
    for name in names:
        cells = draw(st.lists(st.none() | st.integers(-9, 99), min_size=rows, max_size=rows))
        column = Dataset.from_arrow(pa.table({name: pa.array(cells, pa.int64())})).columns[name]
        labels: dict[Any, str] = draw(st.dictionaries(st.integers(-9, 99), WORDS, max_size=4))
        codes: tuple[MissingCode, ...] = ()
        if tags:
            letters = [0, *map(ord, "abz")]
            drawn = draw(st.lists(st.sampled_from(letters), min_size=rows, max_size=rows))
            missing = np.array([cell is None for cell in cells])
            column = Column(
                column.codes,
                column.values,
                column.has_missing,
                np.where(missing, drawn, 0).astype(np.uint8),
            )
            if draw(st.booleans()):
                labels[".a"] = draw(WORDS)
        elif draw(st.booleans()):
            codes = (MissingCode(99, 99), MissingCode(-9, -1))
        found[name] = column
        about[name] = Attribute(
            name, description=draw(st.just("") | WORDS), labels=labels, missing=codes
        )
    return Dataset(found, Dictionary(about))
