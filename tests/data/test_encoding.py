"""A column that arrives in pieces is the column that arrives whole."""

from __future__ import annotations

import datetime as dt
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_up_datasets import columns

import divulge as dv
from divulge import work
from divulge.data.column import encode_array
from divulge.data.encoding import ColumnEncoder, PieceMismatch, split_column


@st.composite
def cut(draw: st.DrawFn) -> tuple[pa.Array, list[pa.Array]]:
    """An array, and the same in pieces, some of them as codes with values that do not occur."""
    whole = draw(columns(draw(st.integers(0, 20))))
    places = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    ends = [0, *places, len(whole)]
    parts = [whole.slice(a, b - a) for a, b in itertools.pairwise(ends)]
    found = []
    for part in parts:
        if draw(st.booleans()) and len(whole):
            coded = pa.concat_arrays([part, whole]).dictionary_encode()
            part = coded.slice(0, len(part))  # the same values as codes
        found.append(part)
    return whole, found


@given(cut())
def test_pieces_give_the_same_column_as_the_whole(given: tuple[pa.Array, list[pa.Array]]) -> None:
    whole, parts = given
    encoder = ColumnEncoder()
    for part in parts:
        encoder.add_piece(part)
    assert encoder.build_column().equals(encode_array(whole))


ENDS = {
    pa.int8(): (-128, 127),
    pa.int64(): (-(2**63), 2**63 - 1),
    pa.uint64(): (0, 2**64 - 1),
    pa.date32(): (-(2**31), 2**31 - 1),
}


@given(st.sampled_from(list(ENDS)), st.data())
def test_numbers_that_lie_close_together_are_what_they_were(kind: Any, data: st.DataObject) -> None:
    low, high = ENDS[kind]
    first = data.draw(st.sampled_from([low, high - 9, max(low, -4)]))
    many = data.draw(st.lists(st.integers(first, first + 9), min_size=1, max_size=40))
    bare = pa.int32() if kind == pa.date32() else kind
    encoder = ColumnEncoder()
    encoder.add_piece(pa.array(many, bare).view(kind))
    found = encoder.build_column()
    numbers = found.values.view(found.values.type if kind != pa.date32() else bare).to_pylist()
    assert [numbers[code] for code in found.codes] == many
    assert numbers == sorted(set(many))


@pytest.mark.parametrize("values", [[None, None], [1.5, float("nan")], [None, 3]])
def test_what_is_missing_in_a_piece_is_missing_in_the_column(values: list[Any]) -> None:
    encoder = ColumnEncoder()
    encoder.add_piece(pa.array(values).dictionary_encode())
    encoder.add_piece(pa.array(values))
    known = [None if value is None or value != value else value for value in values]
    assert encoder.build_column().to_arrow().to_pylist() == known * 2


@given(columns(17), st.integers(1, 20))
def test_a_column_cut_for_writing_is_the_column(array: pa.Array, size: int) -> None:
    column = encode_array(array)
    again: list[Any] = [
        v for part in split_column(column, size) for v in part.to_arrow().to_pylist()
    ]
    assert again == column.to_arrow().to_pylist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array([1]), pa.array(["a"])),
        (pa.array([dt.date(2020, 1, 1)]), pa.array([1])),
        (pa.array([2**60]), pa.array([0.5])),
    ],
)
def test_pieces_of_different_kinds_are_not_made_one(one: pa.Array, other: pa.Array) -> None:
    encoder = ColumnEncoder()
    encoder.add_piece(one)
    encoder.add_piece(other)
    with pytest.raises(PieceMismatch):
        encoder.build_column()


def test_codes_stay_as_small_as_the_values_allow(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": np.arange(100_000) % 200}), tmp_path / "a.parquet")
    assert dv.read(tmp_path / "a.parquet").columns["n"].codes.dtype == np.uint8


def test_row_groups_with_their_own_dictionaries_are_made_one(tmp_path: Path) -> None:
    towns = [f"town {n}" for n in range(500)] * 4
    pq.write_table(pa.table({"town": towns}), tmp_path / "a.parquet", row_group_size=300)
    read = dv.read(tmp_path / "a.parquet")
    assert read.to_arrow()["town"].to_pylist() == towns
    assert len(read.columns["town"].values) == 500


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz", ".sav", ".duckdb"])
def test_reading_tells_how_far_it_is_and_stops_when_asked(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"pupils{ending}"
    dv.datasets.school_census(2000).write(path)
    seen: list[work.Progress] = []
    with work.run_with(reporter=seen.append):
        dv.read(path)
    assert seen[-1].step == f"Reading {path.name}"
    assert seen[-1].share == 1
    cancellation = work.Cancellation()
    cancellation.cancel()
    with work.run_with(cancellation=cancellation), pytest.raises(work.Cancelled):
        dv.read(path)
