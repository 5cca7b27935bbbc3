"""What cannot be read is refused with file, row and column, and nothing half-read is used."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Dataset, compare

SECRET = "Zanzibar"  # noqa: S105  # a town that no message may tell
ENDINGS = (".csv", ".csv.gz", ".parquet", ".arrow", ".duckdb", ".sav", ".zsav", ".dta", ".xpt")
BINARY = tuple(ending for ending in ENDINGS if ending != ".csv")


def people(rows: int = 300) -> Dataset:
    source = random.Random(7)  # noqa: S311  # data, not secrets
    towns = [f"{SECRET}{number}" for number in range(40)]
    table = pa.table(
        {
            "age": [source.randint(0, 99) for _ in range(rows)],
            "income": [source.random() * 1e5 for _ in range(rows)],
            "town": [source.choice(towns) for _ in range(rows)],
        }
    )
    return Dataset.from_arrow(table).describe(descriptions={"age": "Age in years"})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("whole")
    for ending in ENDINGS:
        people().write(folder / f"people{ending}")
    return lambda ending: folder / f"people{ending}"


def refused(path: Path, **options: str) -> str:
    with pytest.raises(dv.DivulgeError) as error:
        dv.read(path, **options)  # type: ignore[arg-type]  # only text options are given
    message = str(error.value)
    assert SECRET not in message
    assert path.name in message
    return message


@pytest.mark.parametrize("ending", BINARY)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_file_cut_off_anywhere_is_refused(
    ending: str, share: float, whole: Callable[[str], Path], tmp_path: Path
) -> None:
    content = whole(ending).read_bytes()
    path = tmp_path / f"cut{ending}"
    path.write_bytes(content[: int(len(content) * share)])
    assert path.name in refused(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_another_kind_than_its_name_says_is_refused(
    ending: str, whole: Callable[[str], Path], tmp_path: Path
) -> None:
    other = whole(".parquet" if ending != ".parquet" else ".sav")
    path = tmp_path / f"other{ending}"
    path.write_bytes(other.read_bytes())
    assert "as its name says" in refused(path)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=40)
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused_and_nothing_else(
    ending: str,
    data: st.DataObject,
    whole: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    content = bytearray(whole(ending).read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("fuzz") / f"spoilt{ending}"
    path.write_bytes(bytes(content))
    try:
        found = dv.read(path)
    except dv.DivulgeError as error:
        assert path.name in str(error)  # noqa: PT017  # either way is right
    else:
        assert all(len(column.codes) == found.rows for column in found.columns.values())


@settings(max_examples=60)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.csv"
        path.write_text(text, encoding="utf-8", newline="")
        try:
            found = dv.read(path)
        except dv.DivulgeError:
            return
        assert found.rows >= 1


def test_a_date_that_does_not_exist_is_named_by_record_and_column(tmp_path: Path) -> None:
    path = tmp_path / "births.csv"
    path.write_text("id,born\n1,2001-01-31\n2,2001-02-30\n")
    message = refused(path)
    assert 'record 2, column "born"' in message
    assert "2001-02-30" not in message
    assert dv.read(path, text=["born"]).to_arrow()["born"].to_pylist()[1] == "2001-02-30"


def test_numbers_with_both_marks_are_refused_until_somebody_says_which(tmp_path: Path) -> None:
    path = tmp_path / "sums.csv"
    path.write_text("id;sum\n1;12,50\n2;1.234,56\n")
    assert 'column "sum"' in refused(path)
    read = dv.read(path, decimal=",", thousands=".")
    assert read.to_arrow()["sum"].to_pylist() == [12.5, 1234.56]


def test_a_comma_before_three_digits_is_a_doubt_unless_another_number_settles_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sums.csv"
    path.write_text("id;sum\n1;1,234\n2;5,678\n")
    assert "thousands or decimals" in refused(path)
    assert dv.read(path, thousands=",").to_arrow()["sum"].to_pylist() == [1234, 5678]
    assert dv.read(path, decimal=",").to_arrow()["sum"].to_pylist() == [1.234, 5.678]
    path.write_text("id;sum;rate\n1;1,234;0,5\n2;5,678;12,75\n")
    assert dv.read(path).to_arrow()["sum"].to_pylist() == [1.234, 5.678]


def test_two_columns_with_different_decimal_marks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sums.csv"
    path.write_text("a;b\n0,5;1.25\n1,5;2.50\n")
    assert 'record 1, column "b"' in refused(path)
    assert dv.read(path, text=["b"]).to_arrow()["b"].to_pylist() == ["1.25", "2.50"]


def test_separator_quotation_and_decimal_marks_are_found(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("name;share\n'a; b';0,25\n'c';1,5\n")
    assert dv.read(path).to_arrow().to_pydict() == {"name": ["a; b", "c"], "share": [0.25, 1.5]}


def test_text_in_another_encoding_is_refused_with_the_line_and_a_proposal(tmp_path: Path) -> None:
    path = tmp_path / "towns.csv"
    path.write_bytes("id,town\n1,Roma\n2,Forlì\n".encode("windows-1252"))
    assert "line 3" in refused(path)
    assert dv.read(path, encoding="windows-1252").to_arrow()["town"].to_pylist()[1] == "Forlì"


def test_a_gzip_archive_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    packed = gzip.compress(("a,b\n" + "1,2\n" * 100_000).encode())
    path.write_bytes(packed[: len(packed) // 2])
    assert "gzip archive that is damaged or cut off" in refused(path)


def test_a_folder_of_files_that_disagree_is_refused_naming_each(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1], "sex": ["F"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": ["young"], "sex": ["M"]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"age": [2], "gender": ["M"]}), tmp_path / "c.parquet")
    message = refused(tmp_path)
    assert 'b.parquet, column "age": contains text where a.parquet contains numbers' in message
    assert 'c.parquet: lacks "sex"' in message
    assert 'c.parquet: also has "gender"' in message


def test_files_that_label_a_value_differently_are_refused(tmp_path: Path) -> None:
    sex = Dataset.from_arrow(pa.table({"sex": [1, 2]}))
    sex.describe(labels={"sex": {1: "male", 2: "female"}}).write(tmp_path / "a.sav")
    sex.describe(labels={"sex": {1: "female", 2: "male"}}).write(tmp_path / "b.sav")
    assert 'b.sav, column "sex"' in refused(tmp_path)


def test_a_folder_of_several_formats_or_of_none_is_refused(tmp_path: Path) -> None:
    assert "without a data file" in refused(tmp_path)
    people(3).write(tmp_path / "a.csv")
    people(3).write(tmp_path / "b.parquet")
    assert "b.parquet" in refused(tmp_path)


def test_a_file_without_records_among_several_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), tmp_path / "b.parquet")
    with pytest.raises(dv.InvalidInput, match=r"b\.parquet: has no records"):
        dv.read(tmp_path)


def test_whole_and_broken_numbers_of_two_files_are_numbers(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": [2.5]}), tmp_path / "b.parquet")
    assert dv.read(tmp_path).to_arrow()["age"].to_pylist() == [1, 2, 2.5]


def test_mixed_kinds_in_a_column_of_a_data_frame_are_refused_by_name() -> None:
    frame = pd.DataFrame({"age": [1, "two", 3.5], "sex": ["F", "M", "F"]}, dtype=object)
    with pytest.raises(dv.InvalidInput, match='column "age"'):
        Dataset.from_pandas(frame)


def test_numbers_with_a_few_other_entries_are_remarked_upon_without_their_values() -> None:
    table = pa.table({"age": [*map(str, range(99)), SECRET]})
    [remark] = compare(Dataset.from_arrow(table))
    assert "in all records but record 100" in str(remark)
    assert SECRET not in str(remark)
    assert SECRET not in repr(remark)
    assert remark.values == (SECRET,)


def test_a_label_for_a_value_that_does_not_occur_is_remarked_upon(tmp_path: Path) -> None:
    sex = Dataset.from_arrow(pa.table({"sex": [1, 2]}))
    sex.describe(labels={"sex": {1: "male", 2: "female", 3: "other"}}).write(tmp_path / "a.sav")
    [remark] = compare(dv.read(tmp_path / "a.sav"))
    assert (remark.attribute, remark.values) == ("sex", (3,))


def test_values_that_a_hierarchy_lacks_are_listed() -> None:
    towns = Dataset.from_arrow(pa.table({"town": ["Roma", "Bari", "Oslo"]}))
    area = dv.Hierarchy.from_pairs([("Roma", "Center"), ("Bari", "South")])
    [remark] = compare(towns.describe(hierarchies={"town": area}))
    assert remark.values == ("Oslo",)


def test_names_and_labels_that_a_format_cannot_hold_are_all_named(tmp_path: Path) -> None:
    table = pa.table({"Export Rev.": [1], "1st": [2]})
    for ending in (".sav", ".dta", ".xpt"):
        with pytest.raises(dv.InvalidInput, match=r'(?s)"Export Rev\.".*"1st"'):
            Dataset.from_arrow(table).write(tmp_path / f"a{ending}")
        assert not list(tmp_path.iterdir())


def test_whole_numbers_that_a_format_would_round_are_refused(tmp_path: Path) -> None:
    big = Dataset.from_arrow(pa.table({"id": [2**53 + 1]}))
    for ending in (".sav", ".dta", ".xpt"):
        with pytest.raises(dv.InvalidInput, match=r"2\^53"):
            big.write(tmp_path / f"a{ending}")


def test_the_own_format_of_sas_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(dv.DivulgeError, match="xpt"):
        people(3).write(tmp_path / "a.sas7bdat")
