"""Data that go out and come in again are the same, in every format that can hold them."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.made_up_datasets import datasets, labelled

import divulge as dv
from divulge.data import Dataset
from divulge.data.column import find_hidden_cells
from divulge.data.dictionary import Dictionary, MissingCode
from divulge.data.formats import list_endings, list_writable_endings
from divulge.data.missing_kinds import mark_hidden
from divulge.work import DivulgeError

ENDINGS = (
    ".csv",
    ".csv.gz",
    ".tsv",
    ".parquet",
    ".arrow",
    ".duckdb",
    ".sav",
    ".zsav",
    ".dta",
    ".xpt",
)


def again(dataset: Dataset, ending: str) -> Dataset:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        dataset.write(path)
        return dv.read(path)


def said(dataset: Dataset) -> dict[str, object]:
    return {a.name: (a.description, dict(a.labels), set(a.missing)) for a in dataset.dictionary}


def _names_are_no_values(dataset: Dataset) -> bool:
    """In a text file, a first line with a value of its own column may be a record."""
    return all(name not in column.values.to_pylist() for name, column in dataset.columns.items())


@pytest.mark.parametrize("ending", [e for e in ENDINGS if "csv" not in e and "tsv" not in e])
@given(dataset=datasets())
def test_records_come_back_as_they_went_out(ending: str, dataset: Dataset) -> None:
    assert again(dataset, ending).equals(dataset)


@given(dataset=datasets())
def test_csv_parquet_and_sav_of_the_same_data_are_equal_datasets(dataset: Dataset) -> None:
    # Text that looks like a number or a date is one in a CSV file, which has no types.
    plain = [
        name
        for name, column in dataset.columns.items()
        if not pa.types.is_string(column.values.type)
        or all(value[0].isalpha() for value in column.values.to_pylist())
    ]
    assume(_names_are_no_values(dataset))
    if plain:
        kept = dataset.select(plain)
        first = again(kept, ".csv")
        assert first.equals(kept)
        for ending in (".csv.gz", ".parquet", ".sav"):
            assert again(kept, ending).equals(first)


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
@given(dataset=labelled(tags=False))
def test_spss_keeps_labels_and_values_that_mean_missing(ending: str, dataset: Dataset) -> None:
    back = again(dataset, ending)
    assert back.equals(dataset)
    assert said(back) == said(dataset)


@given(dataset=labelled(tags=True))
def test_stata_keeps_labels_and_tagged_missing_values(dataset: Dataset) -> None:
    back = again(dataset, ".dta")
    assert back.equals(dataset)
    assert said(back) == said(dataset)


@given(dataset=labelled(tags=True))
def test_sas_transport_keeps_descriptions_and_tagged_missing_values(dataset: Dataset) -> None:
    back = again(dataset, ".xpt")
    assert back.equals(dataset)
    assert [a.description for a in back.dictionary] == [a.description for a in dataset.dictionary]


@given(dataset=datasets())
def test_another_reader_of_sas_transport_files_finds_the_same_records(dataset: Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.xpt"
        dataset.write(path)
        theirs, about = pyreadstat.read_xport(str(path), output_format="dict")
    assert about.column_names == dataset.names
    for name, column in dataset.columns.items():
        values = [None if v in ("", None) or v != v else v for v in theirs[name]]
        assert values == pytest.approx(column.to_arrow().to_pylist())


def test_sas_transport_files_of_other_writers_are_read(tmp_path: Path) -> None:
    import polars as pl

    frame = pl.DataFrame({"code": [1.5, -2.0, None], "town": ["Roma", "", "Bari"]})
    for version in (5, 8):
        path = tmp_path / f"v{version}.xpt"
        pyreadstat.write_xport(
            frame, path, column_labels={"code": "A code"}, file_format_version=version
        )
        read = dv.read(path)
        assert read.to_arrow().to_pydict() == {
            "code": [1.5, -2.0, None],
            "town": ["Roma", None, "Bari"],
        }
        assert read.dictionary["code"].description == "A code"


def test_long_names_and_labels_are_kept_by_version_8_of_the_transport_format(
    tmp_path: Path,
) -> None:
    long = "what the household spends on food in an average week, in euro"
    dataset = Dataset.from_arrow(pa.table({"weekly_food_spending": [10.5, None]})).describe(
        descriptions={"weekly_food_spending": long}
    )
    dataset.write(tmp_path / "food.xpt")
    assert dv.read(tmp_path / "food.xpt").dictionary["weekly_food_spending"].description == long


def test_the_last_row_of_a_transport_file_may_be_short_blank_or_full(tmp_path: Path) -> None:
    for rows in range(1, 25):
        dataset = Dataset.from_arrow(pa.table({"a": [*map(str, range(rows - 1)), "x"]}))
        dataset.write(tmp_path / "rows.xpt", overwrite=True)
        assert dv.read(tmp_path / "rows.xpt").rows == rows


def test_either_data_frame_library_will_do_for_writing_and_one_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = Dataset.from_arrow(pa.table({"age": [25, None], "town": ["Roma", None]}))
    monkeypatch.setitem(sys.modules, "polars", None)
    for ending in (".sav", ".dta"):
        dataset.write(tmp_path / f"people{ending}")
        assert dv.read(tmp_path / f"people{ending}").equals(dataset)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dv.DivulgeError, match=r"divulge\[frames\]"):
        dataset.write(tmp_path / "again.sav")
    assert not (tmp_path / "again.sav").exists()


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
@given(dataset=datasets(), chance=st.integers(1, 4))
def test_spss_declares_what_was_hidden_as_missing(
    ending: str, dataset: Dataset, chance: int
) -> None:
    plain = dataset.select(
        [n for n in dataset.names if _is_number(dataset, n)] or dataset.names[:1]
    )
    assume(_is_number(plain, plain.names[0]))
    marked = mark_hidden(
        Dataset.from_arrow(
            pa.table(
                {
                    name: [None if row % chance == 0 else v for row, v in enumerate(values)]
                    for name, values in plain.to_arrow().to_pydict().items()
                },
                schema=plain.to_arrow().schema,
            )
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"people{ending}"
        marked.write(path)
        content: Any = pyreadstat.read_sav(path, user_missing=True)
        frame, said = content
        assert list(frame.columns) == marked.names
        for name in marked.names:
            hidden = find_hidden_cells(marked.columns[name])
            if not hidden.any():
                assert name not in said.missing_ranges
                continue
            [code] = said.missing_ranges[name]
            assert said.variable_value_labels[name] == {code["lo"]: "suppressed"}
            assert (frame[name] == code["lo"]).to_list() == hidden.tolist()
        back = dv.read(path, hidden="suppressed")
    for name in marked.names:
        assert find_hidden_cells(back.columns[name]).tolist() == (
            find_hidden_cells(marked.columns[name]).tolist()
        )


def _is_number(dataset: Dataset, name: str) -> bool:
    kind = dataset.columns[name].values.type
    return bool(pa.types.is_int64(kind) or pa.types.is_float64(kind))


def test_dates_and_columns_with_three_codes_have_a_column_of_status(tmp_path: Path) -> None:
    day = date(2020, 1, 2)
    table = pa.table({"age": [31, None, -9], "born": [day, None, day], "full": [1, None, 2]})
    codes = {"full": [7, 8, 9]}
    dataset = mark_hidden(Dataset.from_arrow(table))
    about = dataset.dictionary.attributes
    full = replace(about["full"], missing=tuple(MissingCode(c, c) for c in codes["full"]))
    dataset = replace(dataset, dictionary=Dictionary({**about, "full": full}))
    dataset.write(tmp_path / "people.sav")
    frame, said = pyreadstat.read_sav(tmp_path / "people.sav", user_missing=True)
    assert list(frame.columns) == ["age", "born", "born_status", "full", "full_status"]
    assert frame["age"].to_list() == [31, -99, -9]
    assert (
        frame["born_status"].to_list() == frame["full_status"].to_list() == ["", "suppressed", ""]
    )
    assert said.missing_ranges["age"] == [{"lo": -99.0, "hi": -99.0}]


@pytest.mark.parametrize("ending", [".dta", ".sav", ".zsav"])
def test_files_do_not_tell_when_they_were_written(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    table = pa.table({"age": [31, None], "town": ["<timestamp>", "01 Jan 2024 10:10"]})
    Dataset.from_arrow(table).write(path)
    reader = pyreadstat.read_dta if ending == ".dta" else pyreadstat.read_sav
    frame, said = reader(path)
    assert str(said.creation_time).startswith("2000-01-01 00:00")
    assert frame["town"].to_list() == table["town"].to_pylist()


def test_a_duckdb_file_is_read_by_its_table(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "survey.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS age FROM range(3)")
        connection.execute("CREATE SCHEMA old; CREATE TABLE old.people AS SELECT 'x' AS name")
    assert dv.read(tmp_path / "survey.duckdb", table="people").rows == 3
    assert dv.read(tmp_path / "survey.duckdb", table="old.people").names == ["name"]
    with pytest.raises(dv.InvalidInput, match=r'table: .*"people"'):
        dv.read(tmp_path / "survey.duckdb")


# A DuckDB file takes a hundred times as long to write; that its tables are read is shown above.
@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending != ".duckdb"])
@given(dataset=datasets())
def test_several_files_are_one_dataset(ending: str, dataset: Dataset) -> None:
    assume(_names_are_no_values(dataset))
    table = dataset.to_arrow()
    half = table.num_rows // 2
    parts = [part for part in (table.slice(0, half), table.slice(half)) if part.num_rows]
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / f"whole{ending}"
        dataset.write(whole)
        apart = Path(folder) / "apart"
        for number, part in enumerate(parts):
            Dataset.from_arrow(part).write(apart / f"part_{number}{ending}")
        assert dv.read(apart).equals(dv.read(whole))
        assert dv.read(sorted(apart.iterdir())).equals(dv.read(whole))


@pytest.mark.parametrize("ending", list_endings())
def test_a_format_says_truly_whether_it_is_written(ending: str, tmp_path: Path) -> None:
    """What goes out is written as its source was only where that can be."""
    people = dv.datasets.school_year_example()
    path = tmp_path / f"people{ending}"
    if ending in list_writable_endings():
        people.write(path)
        assert dv.read(path).rows == people.rows
    else:
        with pytest.raises(DivulgeError):
            people.write(path)
        assert not path.exists()
