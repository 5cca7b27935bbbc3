"""A file tells records apart as the dataset that was judged does, or its columns are named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Column, Dataset, tuning
from divulge.data.column import column_from_codes, encode_array
from divulge.data.faithful_writer import write_faithfully
from divulge.data.faithfulness import find_writing_differences, is_same_partition
from divulge.data.formats import EncodedRecords, Options
from divulge.data.formats.parquet import Parquet

CELLS = st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=8)
FORMATS = (".csv", ".tsv", ".csv.gz", ".parquet", ".arrow", ".duckdb", ".sav", ".dta", ".xpt")


def tagged(cells: Sequence[object], tags: Sequence[int]) -> Column:
    column = encode_array(pa.array(cells))
    return Column(column.codes, column.values, column.has_missing, np.array(tags, dtype=np.uint8))


def by_pairs(one: Sequence[object], other: Sequence[object]) -> bool:
    """The plain twin: every two records are alike in both or in neither, and so is what is gone."""
    return all((a is None) == (b is None) for a, b in zip(one, other, strict=True)) and all(
        (one[i] == one[j]) == (other[i] == other[j]) for i in range(len(one)) for j in range(i)
    )


@given(CELLS, st.data())
def test_two_columns_tell_records_apart_alike_if_every_two_records_do(
    one: list[int | None], data: st.DataObject
) -> None:
    other = data.draw(st.lists(st.none() | st.integers(0, 3), min_size=len(one), max_size=len(one)))
    names = pa.array([None if cell is None else "dbca"[cell] for cell in other], pa.string())
    assert is_same_partition(
        encode_array(pa.array(one, pa.int64())), encode_array(names)
    ) == by_pairs(one, other)


@given(CELLS, st.permutations(range(4)))
def test_other_names_for_the_same_values_tell_records_apart_alike(
    cells: list[int | None], names: list[int]
) -> None:
    renamed = pa.array([None if c is None else f"v{names[c]}" for c in cells], pa.string())
    assert is_same_partition(encode_array(pa.array(cells, pa.int64())), encode_array(renamed))


@pytest.mark.parametrize("place", [0, tuning.PLACES_AT_A_TIME, 2 * tuning.PLACES_AT_A_TIME])
def test_one_record_of_many_that_is_told_otherwise_is_seen(place: int) -> None:
    codes = np.arange(2 * tuning.PLACES_AT_A_TIME + 1) % 300
    values = pa.array(range(301))
    moved = codes.copy()
    moved[place] = (moved[place] + 1) % 300
    alone = codes.copy()
    alone[place] = 300
    column = column_from_codes(codes, values)
    assert is_same_partition(column, column)
    for other in (moved, alone):
        assert not is_same_partition(column, column_from_codes(other, values))
        assert not is_same_partition(column_from_codes(other, values), column)


def test_values_that_no_record_has_tell_nothing_apart() -> None:
    held = encode_array(pa.array(["a", "b", "a"]))
    listed = Column(np.array([3, 1, 3], np.uint8), pa.array(["p", "q", "r", "s"]), False)
    assert is_same_partition(held, listed)
    assert is_same_partition(listed, held)


def test_tags_of_missing_values_count_and_tags_of_others_do_not() -> None:
    plain = encode_array(pa.array([1, None, None]))
    assert is_same_partition(plain, tagged([1, None, None], [0, 0, 0]))
    assert is_same_partition(plain, tagged([1, None, None], [97, 0, 0]))
    assert not is_same_partition(plain, tagged([1, None, None], [0, 97, 0]))
    assert not is_same_partition(
        tagged([1, None, None], [0, 97, 98]), tagged([1, None, None], [0, 97, 97])
    )


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_tells_what_was_judged(ending: str, tmp_path: Path) -> None:
    dataset = Dataset.from_arrow(
        pa.table(
            {
                "code": ["1.5", "1.50", None, "007"],
                "income": [1.5, None, 3.25, 1e-5],
                "age": [25, 31, None, 31],
                "text": ["a,b", "a;b", 'a"b', "a\nb"],
            }
        )
    )
    path = tmp_path / f"people{ending}"
    dataset.write(path)
    assert find_writing_differences(dataset, path) == []


def test_the_separator_is_the_one_that_was_written_and_is_not_guessed(tmp_path: Path) -> None:
    dataset = Dataset.from_arrow(pa.table({"a": ["1,2,3", "1,2,4"], "b": ["x", "y"]}))
    path = tmp_path / "people.csv"
    dataset.write(path, separator=";")
    assert find_writing_differences(dataset, path, Options(separator=";")) == []


def test_a_table_of_a_database_is_read_by_its_name(tmp_path: Path) -> None:
    dataset = Dataset.from_arrow(pa.table({"a": ["x", "y"]}))
    path = tmp_path / "people.duckdb"
    dataset.write(path, table="firms")
    assert find_writing_differences(dataset, path, Options(table="firms")) == []


def test_tags_matter_only_where_the_format_has_them(tmp_path: Path) -> None:
    dataset = Dataset({"age": tagged([25, None, None], [0, 97, 98])})
    for ending in (".csv", ".parquet", ".dta", ".xpt"):
        dataset.write(tmp_path / f"people{ending}")
        assert find_writing_differences(dataset, tmp_path / f"people{ending}") == []
    lost = Dataset({"age": tagged([25, None, None], [0, 97, 97])})
    lost.write(tmp_path / "lost.dta")
    assert find_writing_differences(dataset, tmp_path / "lost.dta") == ["age"]


def test_a_writer_that_cuts_or_rounds_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(column: Column) -> Column:
        texts = [text.partition("\0")[0] for text in column.values.to_pylist()]
        return column_from_codes(column.codes, pa.array(texts))

    def rounded(column: Column) -> Column:
        return column_from_codes(column.codes, pa.array(np.round(column.values.to_numpy(), 2)))

    def damaged(self: Parquet, records: EncodedRecords, path: Path, options: Options) -> None:
        columns = dict(records.columns)
        columns["note"] = cut(columns["note"])
        columns["price"] = rounded(columns["price"])
        honest(self, EncodedRecords(columns, records.attributes), path, options)

    honest = Parquet.write
    table = {"note": ["a\0b", "a\0c", "d"], "price": [1.001, 1.002, 3.5], "age": [1, 2, 3]}
    dataset = Dataset.from_arrow(pa.table(table))
    dataset.write(tmp_path / "honest.parquet")
    assert find_writing_differences(dataset, tmp_path / "honest.parquet") == []
    monkeypatch.setattr(Parquet, "write", damaged)
    dataset.write(tmp_path / "damaged.parquet")
    assert find_writing_differences(dataset, tmp_path / "damaged.parquet") == ["note", "price"]
    with pytest.raises(dv.InvalidInput, match='column "note".*\n.*column "price"'):
        write_faithfully(dataset, tmp_path / "refused.parquet")
    assert not (tmp_path / "refused.parquet").exists()


def test_a_column_or_record_too_many_or_too_few_is_a_difference(tmp_path: Path) -> None:
    whole = Dataset.from_arrow(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    narrow = whole.select(["a"])
    short = Dataset.from_arrow(whole.to_arrow().slice(1))
    for dataset, name in ((whole, "whole"), (narrow, "narrow"), (short, "short")):
        dataset.write(tmp_path / f"{name}.parquet")
    assert find_writing_differences(whole, tmp_path / "narrow.parquet") == ["b"]
    assert find_writing_differences(narrow, tmp_path / "whole.parquet") == ["b"]
    assert find_writing_differences(whole, tmp_path / "short.parquet") == ["a", "b"]


def test_a_file_that_cannot_be_read_tells_nothing_of_what_was_judged(tmp_path: Path) -> None:
    dataset = Dataset.from_arrow(pa.table({"a": [1, 2]}))
    path = tmp_path / "people.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    assert find_writing_differences(dataset, path) == ["a"]
