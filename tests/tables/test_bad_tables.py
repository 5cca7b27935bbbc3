"""Tables that are wrong: refused quickly, by their places, with no category and no amount."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.tables import Table, read_cells, read_crosstab, read_jj, write_jj
from divulge.tables.table.crosstab_files import find_marked_cells, read_complete_crosstab
from divulge.work import DivulgeError, InvalidInput

SECRETS = ("Zanzibar", "Pemba", "leprosy", "malaria", "417", "383")
CROSSTAB = """region,leprosy,malaria,Total
Zanzibar,417,5,422
Pemba,383,2,385
Total,800,7,807
"""
JJ = """0
3
0 417 1 u 0 900 0 0 3
1 383 1 s 0 900 0 0 0
2 800 1 s 0 900 0 0 0
1
0 3 : 0 (1) 1 (1) 2 (-1)
"""
LONG = "7" * 5_000


def refused(read: Callable[[Path], object], path: Path, text: str | bytes) -> str:
    """What is said of a file, without its path."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidInput) as error:
        read(path)
    said = str(error.value).replace(str(path), "")
    assert not any(secret in said for secret in SECRETS)
    assert len(said) < 3_000
    return said


def test_the_files_of_these_tests_are_right_before_they_are_spoilt(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CROSSTAB)
    (tmp_path / "t.jj").write_text(JJ)
    assert read_crosstab(tmp_path / "t.csv").units.sum() == 4 * 807
    assert read_jj(tmp_path / "t.jj").table.units.tolist() == [417, 383, 800]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("5,422", "5,423", "line 2, column 4: its parts in the row do not add up to it."),
        ("800,7,807", "801,7,808", "line 4, column 2: its parts in the column do not add up"),
        ("807", "806", "line 4, column 4: its parts in the row do not add up to it."),
        ("807", "806", "line 4, column 4: its parts in the column do not add up to it."),
        ("417,5,422", "417,-5,412", "line 2, column 3: is below 0"),
    ],
)
def test_sums_that_fail_are_named_by_line_and_column(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert said in refused(read_crosstab, tmp_path / "t.csv", CROSSTAB.replace(old, new))


def test_lines_are_those_of_the_file_and_not_of_the_table(tmp_path: Path) -> None:
    spread = CROSSTAB.replace("\n", "\n\n").replace("5,422", "5,423")
    assert "line 3, column 4: its parts" in refused(read_crosstab, tmp_path / "t.csv", spread)
    strange = CROSSTAB.replace("\n", "\r\n\r\n").replace("2,385", "two,385")
    assert "line 5, column 3: is neither" in refused(read_crosstab, tmp_path / "t.csv", strange)


@pytest.mark.parametrize(
    ("rows", "by", "said"),
    [
        ("Zanzibar,417\nPemba,383\nTotal,801\n", ["region"], "region total: its parts do not add"),
        ("Zanzibar,-417\nPemba,383\nTotal,801\n", ["region"], "region 1: is below 0"),
    ],
)
def test_cells_that_come_one_a_row_are_named_by_their_coordinates(
    tmp_path: Path, rows: str, by: list[str], said: str
) -> None:
    text = "region,count\n" + rows
    assert said in refused(lambda path: read_cells(path, by), tmp_path / "t.csv", text)


@pytest.mark.parametrize("by", [["region"], ["region", "sex"], []])
def test_a_file_of_totals_alone_is_no_table(tmp_path: Path, by: list[str]) -> None:
    text = "region,sex,count\nTotal,Total,3\n"
    said = refused(lambda path: read_cells(path, by), tmp_path / "t.csv", text)
    assert "by: names no attribute with a value besides the total" in said


def test_a_cell_of_three_dimensions_has_three_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cube = Table.from_cells(np.arange(8).reshape(2, 2, 2), names=["a", "b", "c"])
    cube.publish().write(path)
    lines = path.read_text().splitlines()
    lines[1] = re.sub(r",0,", ",3,", lines[1])
    said = refused(lambda p: read_cells(p, ["a", "b", "c"]), path, "\n".join(lines) + "\n")
    assert "a total, b 1, c 1: its parts along axis 1 do not add up to it." in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CROSSTAB.replace("417", LONG), "line 2, column 2: is neither a number"),
        (CROSSTAB.replace("417", "1e300"), "line 2, column 2: is too large a number"),
        (CROSSTAB.replace("417", "1e400"), "line 2, column 2: is neither a number"),
        (CROSSTAB.replace("417", "4\x0017"), "line 2: contains a NUL character"),
        (CROSSTAB.replace("Pemba", "Pem\0ba"), "line 3: contains a NUL character"),
        (CROSSTAB.replace("Pemba", "P" * 200_000), "line 3: cannot be cut into fields"),
        (CROSSTAB.replace("Pemba", '"Pemba'), "line 3: cannot be cut into fields"),
        (CROSSTAB.replace("Pemba", '"Pem"ba'), "line 3: cannot be cut into fields"),
        (CROSSTAB.replace("5,422\nPemba", '5,"422\nPemba"'), "line 2: cannot be cut into fields"),
        (CROSSTAB.replace("Zanzibar,", '"Zanzibar,').replace("2,385", '2,385"'), "line 2: cannot"),
        ("a" + ",b" * 1_000_000 + "\n" + "1\n" * 1_000, "line 2: has 1 fields; the head has"),
        ("r,a,Total\n" + "x,y,z\n" * 100_000, "there are more lines or cells like these"),
        ("", "a crosstab has a head"),
        ("\n\n\n", "a crosstab has a head"),
        ("\r", "a crosstab has a head"),
        ('"', "line 1: cannot be cut into fields"),
        (CROSSTAB.encode("utf-16"), "line 1: is not UTF-8 text"),
    ],
)
def test_an_absurd_crosstab_is_refused_in_words(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    assert said in refused(read_crosstab, tmp_path / "t.csv", text)
    assert refused(read_complete_crosstab, tmp_path / "t.csv", text)


def test_a_crosstab_may_end_its_lines_as_it_likes(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r", "\n\n"):
        (tmp_path / "t.csv").write_bytes(CROSSTAB.replace("\n", end).rstrip().encode())
        assert read_crosstab(tmp_path / "t.csv").units[-1] == 807


def test_a_category_may_be_written_over_two_lines(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CROSSTAB.replace("Pemba", '"Pemba\nIsland"'))
    assert read_crosstab(tmp_path / "t.csv").structure.grids[0][0].codes[1] == "Pemba\nIsland"


def test_marks_are_found_by_the_reader_that_finds_the_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    text = CROSSTAB.replace("417", "x").replace("383", "*")
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_bytes(text.replace("region", "région").encode(encoding))
        assert find_marked_cells(path, "x") == {(0, 0)}
    latin = text.replace("region", "région").encode("latin-1")
    said = refused(lambda path: find_marked_cells(path, "x"), path, latin)
    assert "line 1: is not UTF-8 text" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\n3\n", "\n1000000000\n", "line 2: more cells are announced than there are lines"),
        ("\n3\n", f"\n{LONG}\n", "line 2: more cells are announced than there are lines"),
        ("\n3\n", "\n²\n", "line 2: the number of cells should stand here"),
        ("\n3\n", "\n-3\n", "line 2: the number of cells should stand here"),
        ("\n3\n", "\n4\n", "line 6: cell 3 should stand here"),
        ("\n1\n0 3", "\n1000000000\n0 3", "line 6: more relations are announced than there are"),
        ("\n1\n0 3", f"\n{LONG}\n0 3", "line 6: more relations are announced than there are"),
        ("0 417 1", f"{LONG} 417 1", "line 3: cell 0 should stand here"),
        ("0 417 1", f"0 {LONG} 1", "line 3: a number is too large"),
        ("0 417 1", f"0 417 {LONG}", "line 3: a number is too large"),
        ("0 417 1", "0 1e300 1", "line 3: a number is too large"),
        ("0 417 1", "0 1e999999999999 1", "line 3: a number is too large"),
        ("0 417 1", f"0 4e{LONG} 1", "line 3: a number is too large"),
        ("0 417 1", "0 4e1e1 1", "line 3: cell 0 should stand here"),
        ("0 417 1", "0 nan 1", "line 3: cell 0 should stand here"),
        ("0 0 3\n", f"0 0 {LONG}\n", "line 3: a number is too large"),
        ("0 417 1", "0 418 1", "line 7: the cells do not add up"),
        ("0 417 1", "0 -417 1", "line 3: the value is below 0"),
        ("0 3 :", f"0 {LONG} :", "line 7: a relation should stand here"),
        ("0 3 :", f"{LONG} 3 :", "line 7: only sums can be read"),
        ("0 3 :", "zero 3 :", "line 7: only sums can be read"),
        ("0 (1)", f"{LONG} (1)", "line 7: names a cell outside 0 to 2"),
        ("0 (1)", "3 (1)", "line 7: names a cell outside 0 to 2"),
        ("0 (1)", "-1 (1)", "line 7: a relation should stand here"),
        ("0 (1)", "1 (1)", "line 7: names a cell twice"),
        ("0 (1)", f"0 ({LONG})", "line 7: only sums can be read"),
        ("0 (1)", "0 (1e400)", "line 7: only sums can be read"),
        ("0 (1)", "0 (1.2)", "line 7: only sums can be read"),
        ("0 (1)", "0 ((1))", "line 7: a relation should stand here"),
        ("0 (1)", "9" * 1_000_000, "line 7: a relation should stand here"),
    ],
)
def test_an_absurd_jj_file_is_refused_with_the_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in JJ
    assert said in refused(read_jj, tmp_path / "t.jj", JJ.replace(old, new, 1))


def test_amounts_that_are_too_large_together_are_a_problem_of_their_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jj"
    text = JJ.replace("417", str(2**59)).replace("383", str(2**59)).replace("800", str(2**60 - 999))
    assert "cells: the amounts are too large" in refused(read_jj, path, text)
    crosstab = CROSSTAB.replace("417", str(2**59)).replace("383", str(2**59))
    assert "cells: the amounts are too large" in refused(read_crosstab, path, crosstab)


@pytest.mark.parametrize(
    "read",
    [read_crosstab, read_jj, read_complete_crosstab, lambda path: find_marked_cells(path, "x")],
)
def test_only_plain_files_hold_tables(tmp_path: Path, read: Callable[[Path | str], object]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("", "a\0b", tmp_path, tmp_path / "none.csv", tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InvalidInput):
            read(path)


@settings(max_examples=100, derandomize=True)
@given(st.data())
def test_a_spoilt_table_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    is_jj = data.draw(st.booleans())
    text = JJ if is_jj else CROSSTAB
    pieces = ["", "\0", '"', ",", "\n", "\r", " ", "(", ")", ":", "-", "1e99", "9" * 20, "é", "²"]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 3))
        text = text[:place] + data.draw(st.sampled_from(pieces)) + text[place + gone :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t"
        path.write_bytes(text.encode())
        try:
            _ = read_jj(path) if is_jj else read_crosstab(path)
        except DivulgeError as error:
            said = str(error).replace(str(path), "")
            assert not any(secret in said for secret in SECRETS)


def test_a_table_that_is_written_is_read_again(tmp_path: Path) -> None:
    table = Table.from_cells([[417.25, 5], [383, 1e9]])
    write_jj(table, table.structure.to_mask({(0, 1)}), tmp_path / "t.jj", width=3)
    again = read_jj(tmp_path / "t.jj")
    assert np.array_equal(again.table.units, table.units)
    assert again.primary.sum() == 1
