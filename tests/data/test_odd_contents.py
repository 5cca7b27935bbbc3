"""Contents that other readers change in silence: kept apart, or refused in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from divulge import Dataset, Hierarchy, read
from divulge.work import DivulgeError, InvalidInput


@pytest.fixture
def rows(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    def read_text(text: str | bytes, **settings: Any) -> list[dict[str, Any]]:
        path = tmp_path / "p.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        found: list[dict[str, Any]] = read(path, **settings).to_arrow().to_pylist()
        return found

    return read_text


Rows = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize("start", [4912345678901234500, 49123456789012345000000])
def test_long_numbers_that_differ_stay_different(rows: Rows, start: int) -> None:
    text = "card\n" + "".join(f"{start + n}\n" for n in range(5))
    assert len({row["card"] for row in rows(text)}) == 5


def test_codes_that_look_like_exponents_stay_codes(rows: Rows) -> None:
    assert rows("a\n1E5\n100000\n") == [{"a": "1E5"}, {"a": "100000"}]
    assert rows("a\n1e+999\n1e+998\n") == [{"a": "1e+999"}, {"a": "1e+998"}]
    assert rows("a\n1e-05\n0.5\n") == [{"a": 1e-05}, {"a": 0.5}]


def test_a_quotation_mark_that_is_never_closed_is_named_with_its_line(rows: Rows) -> None:
    text = 'id,note\n1,ok\n2,"5 inch\n' + "".join(f"{n},x\n" for n in range(3, 50))
    with pytest.raises(InvalidInput, match="line 3: opens a quotation mark that is never closed"):
        rows(text)
    assert rows('id,note\n1,5" pipe\n') == [{"id": 1, "note": '5" pipe'}]


@pytest.mark.parametrize("lines", [10, 30_000, 300_000])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_however_much_an_open_quotation_mark_would_swallow_it_is_refused(
    rows: Rows, lines: int, encoding: str
) -> None:
    text = 'id,note\n1,"5 inch\n' + "2,x\n" * lines
    with pytest.raises(InvalidInput, match="quotation mark"):
        rows(text.encode(encoding))


def test_a_long_text_in_quotation_marks_is_a_text(rows: Rows) -> None:
    long = "a" * 200_000
    assert rows(f'id,note\n1,"{long}"\n2,5" pipe\n')[0]["note"] == long


def test_lines_before_the_header_and_lines_within_it_are_no_records(rows: Rows) -> None:
    assert rows("\n\na,b\n1,2\n") == [{"a": 1, "b": 2}]
    assert rows('"a\nx",b\n1,2\n') == [{"a\nx": 1, "b": 2}]


def test_an_empty_field_is_missing_whatever_else_is(rows: Rows) -> None:
    wanted = [{"a": None, "b": 1}, {"a": None, "b": 2}, {"a": "N", "b": 3}]
    for marks in ("NA", ["NA"], ["", "NA"]):
        assert rows("a,b\n,1\nNA,2\nN,3\n", missing=marks) == wanted


def test_a_single_name_is_one_column_and_not_its_letters(rows: Rows) -> None:
    assert rows("ab,a,b\n1,2,3\n", columns="ab") == [{"ab": 1}]
    with pytest.raises(InvalidInput, match='names "a" more than once'):
        rows("a,b\n1,2\n", columns=["a", "a"])


def test_byte_order_marks_and_wide_letters_are_read_where_the_encoding_is_given(rows: Rows) -> None:
    assert rows(b"\xef\xbb\xbfa,b\n1,2\n", encoding="utf-8") == [{"a": 1, "b": 2}]
    assert rows("a,b\n1,2\n".encode("utf-16-le"), encoding="utf-16-le") == [{"a": 1, "b": 2}]


def test_a_file_without_header_does_not_show_its_first_record(rows: Rows) -> None:
    with pytest.raises(InvalidInput) as raised:
        rows("zweiundvierzig,34,34,F\nx,35,36,M\n")
    said = str(raised.value).partition("p.csv")[2]  # a temporary folder may have any number
    assert "column 3" in said
    assert "34" not in said
    assert "zweiundvierzig" not in said


def test_a_frame_of_mixed_kinds_is_refused_without_its_values() -> None:
    with pytest.raises(
        InvalidInput, match='column "name": contains values of different kinds'
    ) as e:
        Dataset.from_pandas(pd.DataFrame({"name": [1, "zweiundvierzig"]}))
    assert "zweiundvierzig" not in str(e.value)


def test_times_finer_than_microseconds_are_kept() -> None:
    fine = pa.table({"t": pa.array([1577836800000000001], pa.timestamp("ns"))})
    assert Dataset.from_arrow(fine).to_arrow().column("t").cast("int64").to_pylist() == [
        1577836800000000001
    ]


def test_small_indices_have_room_for_a_missing_value() -> None:
    indices = pa.array([*range(128), None], pa.int8())
    held = pa.DictionaryArray.from_arrays(indices, pa.array([str(n) for n in range(128)]))
    assert Dataset.from_arrow(pa.table({"a": held})).columns["a"].cardinality == 129


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Dataset.from_arrow(pa.table({"a": pa.array([], pa.int64())})), "has no records"),
        (lambda: Dataset.from_arrow(pa.table({"a": [[1]]})), 'column "a": a column of type list'),
        (lambda: Dataset.from_arrow(pa.table({"a": [1]}), roles={"weight": None}), "by text"),  # type: ignore[dict-item]
        (lambda: Dataset.from_arrow(pa.table({"a": [1]}), roles={"weight": [1]}), "by text"),  # type: ignore[list-item]
        (lambda: Hierarchy.intervals([float("nan")]), "no finite number"),
        (lambda: Hierarchy.from_levels([[]]), "row 1: is empty"),
        (lambda: Hierarchy.from_file("x.csv", separator=",,"), "must be one character"),
    ],
)
def test_what_makes_no_sense_is_said(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(DivulgeError, match=complaint):
        make()


def test_intervals_between_large_edges_are_told_apart() -> None:
    large = Hierarchy.intervals([1000000, 1000001, 1000002])
    assert large.at(1000000, 1) != large.at(1000001, 1)
    assert large.lacks([10**400]) == [10**400]
