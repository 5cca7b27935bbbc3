"""Bad input: one message that names the file and the place, and holds no value of a record."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from divulge import Dataset, datasets, read
from divulge.work import DivulgeError, InvalidInput, NotEnoughMemory

OF_A_RECORD = "zweiundvierzig"


def _parquet(path: Path) -> bytes:
    datasets.school_year_example().write(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet").read_bytes()


CASES: dict[str, tuple[str, Callable[[Path], bytes], str]] = {
    "a Parquet file named .csv": ("p.csv", _parquet, "is a Parquet file, not delimited text"),
    "text named .parquet": ("p.parquet", lambda _: b"age\n1\n", "is delimited text, not a Parquet"),
    "a spreadsheet named .csv": ("p.csv", lambda _: b"PK\x03\x04...", "zip archive"),
    "bytes": ("p.csv", lambda _: b"a,b\n\x00\x01", "binary file of unknown kind"),
    "an unknown ending": ("p.xyz", lambda _: b"PK", 'the ending ".xyz"'),
    "an empty file": ("p.csv", lambda _: b"", "the file is empty"),
    "an empty Parquet file": ("p.parquet", lambda _: b"", "the file is empty"),
    "a header alone": ("p.csv", lambda _: b"age,sex\n", "has a header and no records"),
    "a header without end": ("p.csv", lambda _: b"age,sex", "has a header and no records"),
    "uneven rows": (
        "p.csv",
        lambda _: f"name,age\n{OF_A_RECORD},1\n{OF_A_RECORD}\n{OF_A_RECORD},1,2\n".encode(),
        (
            "has 2 problems:\n  line 3: has 1 fields where the header has 2.\n"
            "  line 4: has 3 fields where the header has 2."
        ),
    ),
    "many uneven rows": (
        "p.csv",
        lambda _: b"a,b\n" + b"1\n" * 10,
        "5 more lines have another number of fields",
    ),
    "another encoding": (
        "p.csv",
        lambda _: f"name,town\nx,y\n{OF_A_RECORD},Forlì\n".encode("latin-1"),
        "line 3: is not UTF-8 text; give its encoding",
    ),
    "another encoding in the header": (
        "p.csv",
        lambda _: "città,n\nx,1\n".encode("latin-1"),
        "line 1: is not UTF-8 text",
    ),
    "two columns of one name": (
        "p.csv",
        lambda _: b"age,sex,age\n1,F,2\n",
        "column 3: has the same name as column 1",
    ),
    "a column without name": ("p.csv", lambda _: b"age,,sex\n1,2,F\n", "column 2: has no name"),
    "a Parquet file cut off": ("p.parquet", lambda p: _parquet(p)[:-20], "damaged or cut off"),
    "an Arrow file cut off": (
        "p.arrow",
        lambda _: b"ARROW1\x00\x00" + b"x" * 9,
        "damaged or cut off",
    ),
    "an open quotation mark": (
        "p.csv",
        lambda _: f'name,age\n"{OF_A_RECORD},1\n{OF_A_RECORD},2\n'.encode(),
        "p.csv",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_is_one_message_without_record_values(case: str, tmp_path: Path) -> None:
    name, content, complaint = CASES[case]
    path = tmp_path / name
    path.write_bytes(content(tmp_path / "made"))
    with pytest.raises(InvalidInput) as raised:
        read(path)
    message = str(raised.value)
    assert complaint in message
    assert str(path) in message
    assert OF_A_RECORD not in message


def test_a_file_that_is_not_there_and_a_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        read(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match="is a folder"):
        read(tmp_path / "folder.csv")


def test_an_unknown_encoding_and_a_bad_separator_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match='Did you mean "utf-8"'):
        read(path, encoding="utf-9")
    with pytest.raises(InvalidInput, match="separator: must be one plain character"):
        read(path, separator="::")
    for quote in ("«", "''"):
        with pytest.raises(InvalidInput, match="quote: must be one plain character"):
            read(path, quote=quote)


def test_columns_that_do_not_exist_are_named_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("age,sex\n1,2\n")
    with pytest.raises(InvalidInput, match='the file has no attribute "agee". Did you mean "age"?'):
        read(path, columns=["agee"])


def test_data_that_will_not_fit_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("divulge.work.memory.available_memory", lambda: 1000)
    for ending in ("csv", "parquet"):
        datasets.inflation_and_growth(rows=500).write(tmp_path / f"c.{ending}")
        with pytest.raises(NotEnoughMemory, match="read fewer columns"):
            read(tmp_path / f"c.{ending}")


def is_read_or_refused_in_words(content: bytes, ending: str) -> bool:
    """Either outcome is right; anything else is an exception that the test lets through."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"f.{ending}"
        path.write_bytes(content)
        try:
            return read(path).rows > 0
        except DivulgeError as error:
            return str(path) in str(error)


@given(st.binary(max_size=200), st.sampled_from(["csv", "parquet", "arrow"]))
def test_whatever_bytes_a_file_has_it_is_read_or_refused_in_words(
    content: bytes, ending: str
) -> None:
    assert is_read_or_refused_in_words(content, ending)


@given(st.text(alphabet='ab,;"\n\r\t0é', max_size=60))
def test_whatever_text_a_file_has_it_is_read_or_refused_in_words(content: str) -> None:
    assert is_read_or_refused_in_words(content.encode(), "csv")


def test_what_a_format_would_change_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    names = Dataset.from_arrow(pa.table({"Age": [1], "age": [2]}))
    with pytest.raises(InvalidInput, match='"age": differs from "Age" only by case'):
        names.write(tmp_path / "people.duckdb")
    texts = Dataset.from_arrow(pa.table({"town": ["a\0b"]}))
    with pytest.raises(InvalidInput, match='"town": contains a NUL character'):
        texts.write(tmp_path / "towns.csv")
    assert list(tmp_path.iterdir()) == []
