import datetime as dt
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from tests.strategies import tables

from divulge import Dataset, datasets, read
from divulge.work import InvalidInput


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "feather"])
def test_the_same_data_in_any_format_are_the_same_dataset(tmp_path: Path, ending: str) -> None:
    pupils = datasets.school_census(rows=500)
    pupils.write(tmp_path / f"pupils.{ending}")
    assert read(tmp_path / f"pupils.{ending}").equals(pupils)


def test_data_frames_and_tables_give_the_same_dataset() -> None:
    companies = datasets.inflation_and_growth_example()
    assert Dataset.from_pandas(companies.to_pandas()).equals(companies)
    assert Dataset.from_polars(companies.to_polars()).equals(companies)
    assert Dataset.from_arrow(companies.to_arrow()).equals(companies)


def test_whole_numbers_with_holes_survive_a_data_frame_that_has_no_such_type() -> None:
    frame = pd.DataFrame({"age": [25, None]})
    assert Dataset.from_pandas(frame).to_arrow().to_pylist() == [{"age": 25}, {"age": None}]
    assert Dataset.from_polars(pl.DataFrame({"age": [25, None]})).names == ["age"]


@given(tables())
def test_text_gives_back_what_was_written(table: pa.Table) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        before = Dataset.from_arrow(table)
        before.write(path)
        after = read(path)
    for name in before.names:
        wanted, found = (d.columns[name].to_arrow() for d in (before, after))
        if wanted.null_count < len(wanted):
            assert found.to_pylist() == wanted.to_pylist()
        else:
            assert found.null_count == len(wanted)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        separator.join(["age", "town, country"]) + f"\n25{separator}x\n".replace(",", separator)
    ) if separator != "," else path.write_text('age,"town, country"\n25,x\n')
    assert read(path).names == ["age", "town, country"]


def test_types_are_told_from_all_values_and_codes_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        "whole,decimal,code,date,truth,mixed,moment\n"
        "1,1.50,007,2018-05-30,true,1,2018-05-30 08:45\n"
        "-2,.5,10,2018-05-31,false,x,2018-05-30T08:45:01\n"
    )
    first, second = read(path).to_arrow().to_pylist()
    assert first == {
        "whole": 1,
        "decimal": 1.5,
        "code": "007",
        "date": dt.date(2018, 5, 30),
        "truth": True,
        "mixed": "1",
        "moment": dt.datetime(2018, 5, 30, 8, 45),  # noqa: DTZ001  # data without a zone
    }
    assert second["decimal"] == 0.5


def test_a_date_that_does_not_exist_is_pointed_out_and_can_be_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("date,n\n2018-02-30,1\n")
    with pytest.raises(InvalidInput, match='column "date": contains a date that does not exist'):
        read(path)
    assert read(path, text=["date"]).to_arrow().to_pylist() == [{"date": "2018-02-30", "n": 1}]


def test_an_empty_field_is_missing_and_quotation_marks_make_it_a_text(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text('a,b\n,x\n"",y\nNA,z\n')
    assert read(path).to_arrow().column("a").to_pylist() == [None, "", "NA"]
    assert read(path, missing=["", "NA"]).to_arrow().column("a").to_pylist() == [None, "", None]


def test_an_empty_line_of_a_single_column_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("age\n25\n\n26\n")
    assert read(path).to_arrow().column("age").to_pylist() == [25, None, 26]


def test_a_field_may_hold_separators_quotation_marks_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text('town,n\n"a, ""b""\nc",1\n')
    assert read(path, quote='"').to_arrow().to_pylist() == [{"town": 'a, "b"\nc', "n": 1}]


@pytest.mark.parametrize(
    ("encoding", "given"),
    [("utf-8-sig", None), ("utf-16", None), ("cp1252", "windows-1252"), ("latin-1", "latin-1")],
)
def test_encodings_are_told_by_their_mark_or_by_the_user(
    tmp_path: Path, encoding: str, given: str | None
) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes("città,n\nForlì,1\n".encode(encoding))
    assert read(path, encoding=given).to_arrow().to_pylist() == [{"città": "Forlì", "n": 1}]


def test_only_the_columns_asked_for_are_read(tmp_path: Path) -> None:
    companies = datasets.inflation_and_growth_example()
    for ending in ("csv", "parquet", "arrow"):
        companies.write(tmp_path / f"c.{ending}")
        found = read(tmp_path / f"c.{ending}", columns=["Sector", "Area"])
        assert found.names == ["Sector", "Area"]
        assert found.columns["Area"].equals(companies.columns["Area"])


def test_roles_come_back_as_they_were_given() -> None:
    roles = {"identifier": ["Id"], "quasi_identifier": ["Area", "Sector"], "weight": "Weight"}
    assert datasets.inflation_and_growth_example().describe(roles).roles == roles


def test_all_that_is_wrong_with_roles_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as raised:
        datasets.inflation_and_growth_example().describe(
            {
                "quasi": ["Area"],
                "identifier": ["id", "Sector"],
                "sensitive": ["Sector"],
                "weight": ["Weight", "Growth"],
            }
        )
    assert str(raised.value).splitlines() == [
        'dataset "inflation and growth" has 4 problems:',
        '  roles: "quasi" is not a role. Did you mean "quasi_identifier"?',
        '  roles, identifier: the dataset has no attribute "id". Did you mean "Id"?',
        '  roles, sensitive: attribute "Sector" is already identifier; give it one role.',
        "  roles, weight: names 2 attributes; give one.",
    ]


def test_a_dataset_prints_no_value_of_a_record() -> None:
    companies = datasets.inflation_and_growth_example()
    for value in ("Textiles", "612276", "North"):
        assert value not in repr(companies)


def test_the_fingerprint_is_of_the_values_and_not_of_the_object() -> None:
    one, other = datasets.school_year_example(), datasets.school_year_example()
    assert one.fingerprint == other.fingerprint
    assert one.fingerprint != one.select(["age", "gender"]).fingerprint


def test_reading_tells_how_far_it_is(tmp_path: Path) -> None:
    from divulge import work

    heard: list[work.Progress] = []
    datasets.school_census(rows=2000).write(tmp_path / "p.csv")
    with work.run_with(reporter=heard.append):
        read(tmp_path / "p.csv")
    assert heard[-1].step == "Reading p.csv"
    assert heard[-1].share == 1.0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_many_small_files_are_read_through_the_same_memory(tmp_path: Path, ending: str) -> None:
    from divulge.data.files import _plan_memory
    from divulge.data.formats import Options, find_format

    datasets.school_year_example().write(tmp_path / f"year.{ending}")
    path = tmp_path / f"year.{ending}"
    one, many = (
        _plan_memory(find_format(path), [path] * count, ["age"], Options()).needs
        for count in (1, 100)
    )
    assert many == {**one, "codes": 100 * one["codes"]}


@pytest.mark.parametrize(
    ("name", "separator"),
    [("p.tsv", "\t"), ("p.TSV", "\t"), ("p.tsv.csv", ","), ("p.tsv.of.csv", ",")],
)
def test_the_ending_alone_tells_what_stands_between_fields(
    tmp_path: Path, name: str, separator: str
) -> None:
    pupils = datasets.school_year_example()
    pupils.write(tmp_path / name)
    header = (tmp_path / name).read_text().splitlines()[0].replace('"', "")
    assert header == separator.join(pupils.names)
    assert read(tmp_path / name).equals(pupils)
