"""Spreadsheets: what is a table in them is read, what is not is said, and nothing hides in ours."""

from __future__ import annotations

import datetime as dt
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import divulge as dv
from divulge.data import Dataset
from divulge.data.faithfulness import find_writing_differences
from divulge.work import InvalidInput

openpyxl: Any = pytest.importorskip("openpyxl", reason="only needed for tests")
pytest.importorskip("python_calamine", reason="the extra spreadsheets is not installed")

ROWS: list[list[Any]] = [
    ["id", "born", "seen", "amount", "code", "pays"],
    [1, dt.date(1990, 1, 2), dt.datetime(2020, 1, 1, 10, 30), 1.5, "007", True],  # noqa: DTZ001  # sheets know no zones
    [2, None, None, None, None, False],
    [3, dt.date(1991, 5, 6), dt.datetime(2021, 1, 1, 0, 0), 2, "12", True],  # noqa: DTZ001
]


def make_workbook(path: Path, rows: list[list[Any]] | None = None) -> Any:
    workbook = openpyxl.Workbook()
    workbook.active.title = "people"
    for row in ROWS if rows is None else rows:
        workbook.active.append(row)
    workbook.save(path)
    return workbook


def test_cells_have_their_types_and_codes_keep_their_zeros(tmp_path: Path) -> None:
    make_workbook(tmp_path / "people.xlsx")
    read = dv.read(tmp_path / "people.xlsx").to_arrow().to_pydict()
    assert read == {name: [row[place] for row in ROWS[1:]] for place, name in enumerate(ROWS[0])}


def test_hidden_sheets_are_not_read_unasked_and_never_written(tmp_path: Path) -> None:
    path, out = tmp_path / "people.xlsx", tmp_path / "out.xlsx"
    workbook = make_workbook(path)
    hidden = workbook.create_sheet("names")
    hidden.append(["name"])
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    workbook.save(path)
    people = dv.read(path)
    assert people.names == ROWS[0]
    assert dv.read(path, table="names").names == ["name"]
    people.write(out)
    written = openpyxl.load_workbook(out)
    assert [sheet.title for sheet in written.worksheets] == ["records"]
    with zipfile.ZipFile(out) as archive:
        content = b"".join(map(archive.read, archive.namelist()))
    assert b"secret" not in content
    assert b"creator" not in content


def test_of_several_sheets_one_is_asked_for(tmp_path: Path) -> None:
    workbook = make_workbook(tmp_path / "people.xlsx")
    workbook.create_sheet("2024").append(["age"])
    workbook.create_sheet("empty")
    workbook.save(tmp_path / "people.xlsx")
    with pytest.raises(InvalidInput, match='table: give the sheet to read. .*"people".*"2024"'):
        dv.read(tmp_path / "people.xlsx")
    assert dv.read(tmp_path / "people.xlsx", table="people").rows == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda sheet: sheet.merge_cells("D1:E1"), "cells D1:E1: are merged"),
        (lambda sheet: sheet.merge_cells("A3:A4"), "cells A3:A4: are merged"),
        (lambda sheet: sheet.cell(3, 4, "=A1+1"), "cell D3: 1 formula has never been computed"),
        (
            lambda sheet: sheet.cell(4, 1, "3"),
            'row 4, column "id": contains text where 2 other cells',
        ),
        (lambda sheet: sheet.cell(4, 8, "note"), "row 4: has content beside the columns"),
        (lambda sheet: sheet.cell(3, 4, "#N/A"), "cell D3: contains the error #N/A"),
        (lambda sheet: sheet.__setitem__("B1", None), "column 2: has no name in the header"),
        (lambda sheet: sheet.delete_rows(2, 3), "has a header and no records"),
    ],
)
def test_what_is_no_table_is_said_with_its_cell(change: Any, message: str, tmp_path: Path) -> None:
    workbook = make_workbook(tmp_path / "people.xlsx")
    change(workbook.active)
    workbook.save(tmp_path / "people.xlsx")
    with pytest.raises(InvalidInput) as error:
        dv.read(tmp_path / "people.xlsx")
    assert message in str(error.value)


MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
)


def make_open_document(path: Path, attribute: str = "") -> None:
    """A sheet as LibreOffice writes it, made by hand: no library that we have writes them."""
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    rows = "".join(
        f"<table:table-row>{cells}</table:table-row>"
        for cells in (
            f'<table:table-cell {attribute} office:value-type="string"><text:p>n</text:p></table:table-cell>'
            '<table:table-cell office:value-type="string"><text:p>born</text:p></table:table-cell>',
            '<table:table-cell office:value-type="float" office:value="1.5"/>'
            '<table:table-cell office:value-type="date" office:date-value="1997-12-31"/>',
        )
    )
    content = (
        f'<office:document-content xmlns:office="{urn}:office:1.0" xmlns:table="{urn}:table:1.0" '
        f'xmlns:text="{urn}:text:1.0"><office:body><office:spreadsheet><table:table table:name="a">'
        f"{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", content)


def test_open_document_sheets_are_read_and_not_written(tmp_path: Path) -> None:
    make_open_document(tmp_path / "a.ods")
    people = dv.read(tmp_path / "a.ods")
    assert people.to_arrow().to_pydict() == {"n": [1.5], "born": [dt.date(1997, 12, 31)]}
    with pytest.raises(InvalidInput, match="write .xlsx, which LibreOffice opens"):
        people.write(tmp_path / "b.ods")
    make_open_document(tmp_path / "c.ods", 'table:number-columns-spanned="2"')
    with pytest.raises(InvalidInput, match="has merged cells"):
        dv.read(tmp_path / "c.ods")


def test_numbers_stored_as_text_are_read_as_said(tmp_path: Path) -> None:
    make_workbook(tmp_path / "a.xlsx", [["n", "d"], ["1,5", "31.12.1997"], ["2,5", "1.1.1998"]])
    read = dv.read(tmp_path / "a.xlsx").to_arrow().to_pydict()
    assert read == {"n": [1.5, 2.5], "d": [dt.date(1997, 12, 31), dt.date(1998, 1, 1)]}
    make_workbook(tmp_path / "b.xlsx", [["n"], ["007"], [8]])
    assert dv.read(tmp_path / "b.xlsx", text="n").to_arrow()["n"].to_pylist() == ["007", "8"]
    make_workbook(tmp_path / "c.xlsx", [["n", "m"], ["#N/A", 1], [8, 2]])
    assert dv.read(tmp_path / "c.xlsx", missing="#N/A").to_arrow()["n"].to_pylist() == [None, 8]


def test_files_that_are_no_spreadsheets_are_said_to_be_none(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(InvalidInput, match="is a zip archive, not an Excel workbook"):
        dv.read(tmp_path / "a.xlsx")
    make_workbook(tmp_path / "b.xlsx")
    (tmp_path / "b.xlsx").write_bytes((tmp_path / "b.xlsx").read_bytes()[:900])
    with pytest.raises(InvalidInput):
        dv.read(tmp_path / "b.xlsx")


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), min_size=1, max_size=8
)


@given(
    st.lists(
        st.tuples(
            st.none() | TEXTS,
            st.none() | st.floats(-1e15, 1e15, allow_subnormal=False),
            st.none() | st.dates(dt.date(1900, 3, 1), dt.date(2999, 1, 1)),
            st.none() | st.booleans(),
            st.none()
            | st.datetimes(dt.datetime(1901, 1, 1), dt.datetime(2900, 1, 1)).map(  # noqa: DTZ001
                lambda when: when.replace(microsecond=0)
            ),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_records_come_back_from_a_workbook_to_us_and_to_others(rows: list[tuple[Any, ...]]) -> None:
    kinds = [pa.string(), pa.float64(), pa.date32(), pa.bool_(), pa.timestamp("us")]
    table = pa.table(
        {
            f"v{place}": pa.array([row[place] for row in rows], kind)
            for place, kind in enumerate(kinds)
        }
    )
    assume(all(any(cell is not None for cell in row) for row in rows))
    dataset = Dataset.from_arrow(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.xlsx"
        dataset.write(path)
        assert find_writing_differences(dataset, path) == []
        again = dv.read(path, text="v0").to_arrow()
        sheet = openpyxl.load_workbook(path).active
        theirs = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    records = [list(row.values()) for row in dataset.to_arrow().to_pylist()]
    assert again.to_pylist() == dataset.to_arrow().to_pylist()
    assert [[_to_day(value, place) for place, value in enumerate(row)] for row in theirs] == records


def _to_day(value: Any, place: int) -> Any:
    if place == 2 and isinstance(value, dt.datetime):
        return value.date()
    if place == 4 and isinstance(value, dt.datetime):
        return value.replace(microsecond=0) + dt.timedelta(seconds=round(value.microsecond / 1e6))
    return value


def test_a_workbook_is_the_same_byte_by_byte(tmp_path: Path) -> None:
    dataset = dv.datasets.school_year_example()
    for name in ("a.xlsx", "b.xlsx"):
        dataset.write(tmp_path / name)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", ""], "an empty text"),
        (["\x01"], "a letter that a sheet does not allow"),
        ([2**60], "whole numbers that a sheet rounds"),
        ([dt.date(1850, 1, 1)], "days before March 1900"),
        (["a" * 40_000], "a text too long"),
        ([1, None], "record 2: has no value at all"),
    ],
)
def test_what_a_sheet_would_change_is_refused(
    values: list[Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Dataset.from_arrow(pa.table({"v": values})).write(tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()
