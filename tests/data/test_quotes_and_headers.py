"""Quotation marks that swallow records, and first lines that are records: refused, not guessed."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge as dv
from divulge.data import tuning
from divulge.data.formats.text import quoting
from divulge.data.formats.text.quoting import Fault, Grammar, find_fault
from divulge.work import InvalidInput

SECRET = "zweiundvierzig"  # noqa: S105  # a value that no message may tell
COMMAS = Grammar(separator=b",", quote=b'"', fields=2, line_breaks_meant=False)


def records(content: str | bytes, name: str = "p.csv", **options: Any) -> list[tuple[Any, ...]]:
    """The records of a file with this content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        table = dv.read(path, **options).to_arrow()
    return [tuple(row.values()) for row in table.to_pylist()]


def refusal(content: str | bytes, name: str = "p.csv", **options: Any) -> str:
    """What is said of a file that is refused, from the place on."""
    with pytest.raises(InvalidInput) as error:
        records(content, name, **options)
    said = str(error.value)
    assert SECRET not in said
    return said.rpartition(name)[2].lstrip(":, \n")


@pytest.mark.parametrize(
    ("rows", "first", "last"),
    [
        ('1,"5 inch\n2,6 inch"\n3,x\n', 2, 3),
        ('1,x\n2,"5 inch\n3,y\n4,z\n5,"\n', 3, 6),
        ('1,"5 inch\n\n2,6 inch"\n', 2, 4),
        ('1,"5 inch\n2,6 inch"', 2, 3),
        ('"1,x\n2",y\n', 2, 3),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_two_stray_marks_that_make_one_record_of_several_are_refused_with_the_line(
    rows: str, first: int, last: int, end: str
) -> None:
    said = refusal(f"id,note\n{rows}".replace("\n", end))
    assert said.startswith(f"line {first}: opens a quotation mark that is closed in line {last},")
    assert "if these line breaks are meant, say quote = '\"'" in said


def test_five_rows_are_not_read_as_three() -> None:
    rows = f'1,{SECRET}\n2,"{SECRET}\n3,x\n4,y"\n5,z\n'
    assert "line 3: opens a quotation mark that is closed in line 5" in refusal(f"id,note\n{rows}")
    assert len(records(f"id,note\n{rows}", quote="")) == 5
    assert len(records(f"id,note\n{rows}", quote='"')) == 3


def test_in_a_file_of_one_column_every_line_may_be_a_record() -> None:
    assert refusal('note\nx\n"a\nb"\n').startswith("line 3: opens a quotation mark")
    assert records('note\nx\n"a\nb"\n', quote='"') == [("x",), ("a\nb",)]


def test_a_line_break_in_a_text_is_read_where_its_lines_are_no_records() -> None:
    text = 'id,note,town\n1,"Dear Sir,\n\nI write again","Roma"\n2,x,y\n'
    assert records(text)[0] == (1, "Dear Sir,\n\nI write again", "Roma")


def test_stray_marks_in_apostrophes_are_refused_too() -> None:
    text = "id;note\n1;'a'\n2;'5 inch\n3;6 inch'\n4;'b'\n"
    said = refusal(text)
    assert said.startswith("line 3: opens a quotation mark that is closed in line 4")
    assert 'say quote = "\'"' in said
    assert len(records(text, quote="'")) == 3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (f'1,"{SECRET}"b\n', "line 2: has text right after a closing quotation mark"),
        (f'1,"{SECRET}" \n', "line 2: has text right after a closing quotation mark"),
        ('1,x\n2,"say \\"hi\\" there"\n', "line 3: has text right after a closing"),
        (
            '1,"5 inch\n2,x\n3,"7 inch\n',
            "line 2: opens a quotation mark that is closed in line 4, with text right after",
        ),
        ('1,x\n2,"5 inch\n3,x\n', "line 3: opens a quotation mark that is never closed"),
        ('1, "x\n2, y"\n', "line 2: has a blank before a quotation mark"),
    ],
)
def test_marks_that_readers_understand_differently_are_refused_with_the_line(
    rows: str, said: str
) -> None:
    assert refusal(f"id,note\n{rows}").startswith(said)
    assert refusal(f"id,note\n{rows}", quote='"').startswith(said)


def test_a_mark_within_a_field_is_a_letter() -> None:
    assert records('id,note\n1,5" pipe\n2,a ""b"" c\n3, "d"\n', quote='"') == [
        (1, '5" pipe'),
        (2, 'a ""b"" c'),
        (3, ' "d"'),
    ]


def test_lines_of_another_length_are_named_up_to_the_mark_that_makes_the_rest_doubtful() -> None:
    said = refusal('id,note\n1\n2,"x\n3,"y,z\n4,5,6\n')
    assert "line 2: has 1 fields where the header has 2" in said
    assert "line 3: opens a quotation mark that is closed in line 4" in said
    assert "line 5" not in said


def test_a_header_that_goes_on_over_a_record_is_refused_without_its_names() -> None:
    said = refusal(f'id,"note\n1,{SECRET}"\n2,y\n')
    assert said.startswith("line 1: opens a quotation mark that is closed in line 2")
    assert refusal(f'\n\nid,"note"s\n1,{SECRET}\n').startswith("line 3: has text right after")
    assert refusal(f'id,"note\n1,{SECRET}\n').startswith("line 1: opens a quotation mark that is")


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "windows-1252", "utf-32", "cp500")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz"])
def test_marks_are_looked_after_in_every_encoding_and_in_archives(encoding: str, name: str) -> None:
    def packed(text: str) -> bytes:
        content = text.encode(encoding)
        return gzip.compress(content) if name.endswith(".gz") else content

    given = None if encoding in ("utf-8", "utf-8-sig", "utf-16") else encoding
    good = 'id,città\n1,"Forlì, ""la bella"""\n2,"Bari"\n'
    bad = 'id,città\n1,x\n2,"Forlì\n3,Bari"\n'
    assert records(packed(good), name, encoding=given) == [(1, 'Forlì, "la bella"'), (2, "Bari")]
    assert refusal(packed(bad), name, encoding=given).startswith("line 3: opens a quotation mark")


def test_a_mark_that_stands_far_behind_is_found_with_its_line() -> None:
    many = "".join(f'{n},"text, {n}"\n' for n in range(200_000))
    assert refusal(f'id,note\n{many}7,"a\n8,b"\n').startswith("line 200002: opens a quotation mark")
    assert refusal(f'id,note\n{many}7,"a"b\n').startswith("line 200002: has text right after")
    letters = many.replace("text, 7", 'text, ""7""')
    assert len(records(f"id,note\n{letters}")) == 200_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"quote": "\n"}, "quote: must be one plain character"),
        ({"separator": "\n"}, "separator: must be one plain character"),
        ({"separator": '"'}, "separator: is the quotation mark too"),
        ({"separator": "|", "quote": "|"}, "separator: is the quotation mark too"),
    ],
)
def test_marks_that_cannot_be_marks_are_refused(options: dict[str, str], said: str) -> None:
    assert refusal('id,note\n1,"x"\n', **options).startswith(said)


# Hypothesis


LETTERS = st.text(alphabet="ab,;\"' \n\r\té0", max_size=8)


def written(rows: Sequence[Sequence[str]], **options: Any) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, **options).writerows(rows)
    return file.getvalue()


@settings(max_examples=150)
@given(
    st.integers(1, 3).flatmap(
        lambda fields: st.lists(st.lists(LETTERS, min_size=fields, max_size=fields), min_size=1)
    ),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(['"', "'"]),
    # Python's writer takes care of those line breaks only with which it ends its own lines.
    st.sampled_from([("\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)]),
)
def test_whatever_a_writer_puts_in_marks_is_read_back_where_the_mark_is_stated(
    rows: list[list[str]], separator: str, quote: str, lines: tuple[str, int]
) -> None:
    end, style = lines
    names = [f"column_{n}" for n in range(len(rows[0]))]
    text = written(
        [names, *rows], delimiter=separator, quotechar=quote, lineterminator=end, quoting=style
    )
    # Without a mark an empty field is a missing value; a row of one empty field has one.
    kept = style == csv.QUOTE_ALL or len(names) == 1
    wanted = [tuple(value if value or kept else None for value in row) for row in rows]
    assert records(text, separator=separator, quote=quote, text=names) == wanted


def python_rows(text: str) -> list[list[str]] | None:
    """The twin: what Python's strict reader makes of a text; None if it refuses."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        return [row for row in rows if row]
    except csv.Error:
        return None


def duckdb_rows(text: str, fields: int) -> int | None:
    """A third opinion: how many records DuckDB counts; None if it reads nothing."""
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(fields))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.csv"
        path.write_bytes(text.encode())
        sql = (
            f"SELECT count(*) FROM read_csv('{path}', auto_detect = false, strict_mode = true, "
            f"columns = {{{columns}}}, delim = ',', quote = '\"', escape = '\"', header = false, "
            "null_padding = false)"
        )
        try:
            [(found,)] = duckdb.execute(sql).fetchall()
        except duckdb.Error:
            return None
    return int(found)


@st.composite
def lines_with_stray_marks(draw: st.DrawFn) -> list[str]:
    """Records of plain fields, one a line, with a few quotation marks put in anywhere."""
    fields = draw(st.integers(1, 3))
    plain = st.text(alphabet="abc 01", min_size=1, max_size=4)
    rows = draw(st.lists(st.lists(plain, min_size=fields, max_size=fields), min_size=1))
    lines = [",".join(row) for row in rows]
    for _ in range(draw(st.integers(0, 4))):
        which = draw(st.integers(0, len(lines) - 1))
        place = draw(st.integers(0, len(lines[which])))
        lines[which] = f'{lines[which][:place]}"{lines[which][place:]}'
    return lines


@settings(max_examples=300)
@given(lines_with_stray_marks(), st.sampled_from(["\n", "\r\n"]))
def test_with_stray_marks_a_file_is_refused_or_has_as_many_records_as_lines(
    lines: list[str], end: str
) -> None:
    fields = lines[0].count(",") + 1
    names = [f"column_{n}" for n in range(fields)]
    text = end.join([",".join(names), *lines]) + end
    try:
        found = records(text, separator=",", text=names)
    except InvalidInput:
        return
    assert len(found) == len(lines)
    assert python_rows(text) is not None
    third = duckdb_rows("\n".join(lines) + "\n", fields)
    assert third is None or third == len(lines)


@settings(max_examples=400)
@given(st.text(alphabet='ab," \n\r', max_size=30), st.integers(1, 7))
def test_a_text_is_whole_to_the_scan_just_where_it_is_to_python(text: str, size: int) -> None:
    """Cut into blocks of any size: the proof for blocks and the walk are one to the outside."""
    content = text.encode()
    blocks = [content[k : k + size] for k in range(0, len(content), size)]
    meant = Grammar(separator=b",", quote=b'"', fields=2, line_breaks_meant=True)
    fault = find_fault(blocks, meant)
    assert fault == find_fault([content], meant)
    if fault is None or fault.message != quoting.BLANK_BEFORE_MARK:
        assert (fault is None) == (python_rows(text) is not None)
    strict = find_fault(blocks, COMMAS)
    assert strict == find_fault([content], COMMAS)
    if fault is not None:
        assert strict is not None
        assert strict.begin <= fault.begin


def test_a_mark_that_is_not_closed_for_very_long_is_never_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "LONGEST_RECORD", 1_000)
    endless = [b'a,b\n1,"x', *[b"y" * 100] * 100, b'"\n']
    assert find_fault(endless, COMMAS) == Fault(4, 4, quoting.NEVER_CLOSED)
    assert find_fault([b"a,b\n", *[b"y" * 100] * 100], COMMAS) == Fault(4, 4, quoting.TOO_LONG)


# First lines


@pytest.mark.parametrize(
    "text",
    [
        f"{SECRET},F\nx,M\ny,F\n",
        f"{SECRET},F\n{SECRET},F\n",
        f"34,{SECRET}\n35,y\n34,z\n",
        f"\n34,{SECRET}\n35,y\n34,z\n",
        f"NA,{SECRET}\n34,y\n35,{SECRET}\n",
    ],
)
def test_a_first_line_with_a_value_of_its_own_column_is_a_record(text: str) -> None:
    line = 2 if text.startswith("\n") else 1
    assert refusal(text) == (
        f"line {line}: looks like a record, not like names; the first line must name the columns. If it does, say header = true."
    )


def test_a_word_over_figures_is_a_name_whatever_else_the_column_holds() -> None:
    assert records("sex,born\nsex,2001-01-31\nF,1999-12-01\n")[1][0] == "F"
    assert records("group,rate\ngroup,0.5\nb,\n") == [("group", 0.5), ("b", None)]


@pytest.mark.parametrize("options", [{"columns": ["race"]}, {"roles": {"identifier": ["race"]}}])
def test_names_that_may_be_a_record_are_not_listed(options: dict[str, Any]) -> None:
    # "Grace" is near enough to be proposed, were it a name.
    said = refusal(f"Grace,{SECRET},Oslo\nAnna,x,Bari\n", **options)
    assert 'has no attribute "race". It has 3, none of them by that name.' in said
    assert "Grace" not in said
    assert "Oslo" not in said


def test_a_text_among_figures_confirms_no_names_that_are_figures() -> None:
    said = refusal(f"34,inapplicable,{SECRET}\n35,12,x\n36,7,y\n", columns=["applicable"])
    assert 'has no attribute "applicable". It has 3, none of them by that name.' in said
    assert len(records("id,1,2\n7,1,2\n8,3,2\n")) == 2


def test_names_are_listed_where_figures_or_the_user_confirm_them() -> None:
    assert 'Did you mean "name"?' in refusal("name,age\nAnna,34\n", columns=["nam"])
    assert 'Allowed: "name", "age".' in refusal("name,age\nAnna,34\n", columns=["town"])
    said = refusal("name,town\nAnna,Bari\n", columns=["town", "shoe_size"])
    assert 'Allowed: "name", "town".' in said
    roles = {"identifier": "name", "sensitive": ["shoe_size"]}
    assert 'Allowed: "name", "town".' in refusal("name,town\nAnna,Bari\n", roles=roles)


def test_names_that_stand_twice_are_told_by_the_numbers_of_their_columns() -> None:
    said = refusal(f"{SECRET},a,{SECRET}\nx,y,z\n")
    assert said == "column 3: has the same name as column 1; names must differ."


def test_a_dataset_with_names_that_may_be_a_record_keeps_them_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("Grace,Oslo\nAnna,Bari\n")
    dataset = dv.read(path)
    assert dataset.names == ["Grace", "Oslo"]
    with pytest.raises(InvalidInput, match="none of them by that name") as error:
        dataset.select(["race"])
    assert "Grace" not in str(error.value)
    dataset.write(tmp_path / "p.parquet")
    assert dv.read(tmp_path / "p.parquet").names == ["Grace", "Oslo"]


def test_a_first_line_that_is_stated_to_hold_names_is_taken_for_names(tmp_path: Path) -> None:
    path = tmp_path / "towns.csv"
    path.write_text("town\ntown\nRoma\n")
    with pytest.raises(InvalidInput, match="say header = true"):
        dv.read(path)
    assert dv.read(path, header=True).to_arrow()["town"].to_pylist() == ["town", "Roma"]


def test_protected_records_that_look_like_a_header_are_written_all_the_same(tmp_path: Path) -> None:
    towns = dv.Dataset.from_arrow(pa.table({"town": ["town", "town", "Roma", "Roma"]}))
    safe = dv.protection.suppress(towns, 2, among=["town"])
    safe.write(tmp_path / "safe.csv", unlisted="non_identifying")
    assert dv.read(tmp_path / "safe.csv", header=True).rows == 4
