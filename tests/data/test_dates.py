"""Dates and moments as people write them: found, asked for, and written as they were."""

from __future__ import annotations

import csv
import datetime as dt
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.data.formats.dates.date_detection import find_dates
from divulge.data.formats.dates.date_formats import BadDateFormat, DateFormat
from divulge.work import InvalidInput

DAY = dt.date(1997, 12, 31)
UTC = dt.UTC


def moment(*parts: int) -> dt.datetime:
    """A moment of which nobody says the zone."""
    return dt.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001  # as in the files


def read_column(texts: list[str], tmp_path: Path, **options: object) -> list[object]:
    path = tmp_path / "people.csv"
    path.write_text("id;when\n" + "".join(f"{n};{text}\n" for n, text in enumerate(texts, 1)))
    return list(dv.read(path, **options).to_arrow()["when"].to_pylist())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["31.12.1997", "1.2.2003"], [DAY, dt.date(2003, 2, 1)]),
        (["12/31/1997", "02/01/2003"], [DAY, dt.date(2003, 2, 1)]),
        (["31-12-1997"], [DAY]),
        (["1997/12/31", "2003/2/1"], [DAY, dt.date(2003, 2, 1)]),
        (["19971231", "20030201", "20030202"], [DAY, dt.date(2003, 2, 1), dt.date(2003, 2, 2)]),
        (["31DEC1997", "01FEB2003"], [DAY, dt.date(2003, 2, 1)]),
        (["31-Dec-1997"], [DAY]),
        (["05/05/2005", "05/05/2005"], [dt.date(2005, 5, 5)] * 2),  # both ways the same day
    ],
)
def test_dates_are_found_as_people_write_them(
    texts: list[str], expected: list[dt.date], tmp_path: Path
) -> None:
    assert read_column(texts, tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("31.12.1997 08:26", moment(1997, 12, 31, 8, 26)),
        ("12/31/1997 8:26:05", moment(1997, 12, 31, 8, 26, 5)),
        ("12/31/1997 12:26 AM", moment(1997, 12, 31, 0, 26)),
        ("12/31/1997 1:26 pm", moment(1997, 12, 31, 13, 26)),
        ("31DEC1997:08:26:05", moment(1997, 12, 31, 8, 26, 5)),
        ("1997-12-31T08:26:05Z", dt.datetime(1997, 12, 31, 8, 26, 5, tzinfo=UTC)),
        ("1997-12-31 08:26:05.125+01:00", dt.datetime(1997, 12, 31, 7, 26, 5, 125_000, UTC)),
    ],
)
def test_moments_are_found_with_clock_and_zone(
    text: str, expected: dt.datetime, tmp_path: Path
) -> None:
    assert read_column([text], tmp_path) == [expected]


def test_offsets_of_summer_and_winter_are_one_moment_each(tmp_path: Path) -> None:
    summer, winter = read_column(["2020-07-01T10:00+02:00", "2020-01-01T10:00+01:00"], tmp_path)
    assert summer == dt.datetime(2020, 7, 1, 8, tzinfo=UTC)
    assert winter == dt.datetime(2020, 1, 1, 9, tzinfo=UTC)


def test_day_and_month_that_may_be_either_are_asked_for(tmp_path: Path) -> None:
    texts = ["03/04/2020", "05/06/2020"]
    with pytest.raises(InvalidInput) as error:
        read_column(texts, tmp_path)
    assert (
        'record 1, column "when": contains dates that may have the day first or the month'
        in str(error.value)
    )
    assert 'dates = "dmy"' in str(error.value)
    assert read_column(texts, tmp_path, dates="dmy")[0] == dt.date(2020, 4, 3)
    assert read_column(texts, tmp_path, dates={"when": "mdy"})[0] == dt.date(2020, 3, 4)
    assert read_column(texts, tmp_path, dates="%m/%d/%Y")[0] == dt.date(2020, 3, 4)
    assert read_column(texts, tmp_path, text=["when"]) == texts


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["31/12/1997", "12/31/1997"], "has the month first where others have the day first"),
        ([*(f"{n}/12/1997" for n in range(10, 29)), "31/11/1997"], "a date that does not exist"),
    ],
)
def test_dates_that_cannot_all_be_read_are_refused_with_their_record(
    texts: list[str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_column(texts, tmp_path)
    assert read_column(texts, tmp_path, text=["when"]) == texts


@pytest.mark.parametrize(
    "texts",
    [
        ["31/12/97"],  # of which century?
        ["1.10.3", "2.10.3"],  # a version
        ["12.45.6789", "77.99.1234"],  # codes with points
        ["1997-12-31", "31.12.1997"],  # two ways to write
        ["31 December"],
    ],
)
def test_what_is_no_date_for_sure_stays_as_it_is(texts: list[str], tmp_path: Path) -> None:
    assert read_column(texts, tmp_path) == texts


def test_numbers_of_eight_digits_are_dates_only_if_all_are_on_the_calendar(tmp_path: Path) -> None:
    assert read_column(["19971231", "20030201", "20031301"], tmp_path)[0] == 19971231
    assert read_column(["19971231", "20030201"], tmp_path)[0] == 19971231  # two may be chance
    assert read_column(["19971231", "20030201"], tmp_path, dates="ymd")[0] == DAY


def test_no_record_is_lost_where_dates_are_missing(tmp_path: Path) -> None:
    assert read_column(["31.12.1997", "", "30.12.1997"], tmp_path) == [
        DAY,
        None,
        dt.date(1997, 12, 30),
    ]


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        ("dym", "neither an order of day, month and year nor a format"),
        ("%d.%m.%y", 'sign "%y"'),
        ("%d.%m", "no year"),
        ({"wen": "dmy"}, 'Did you mean "when"?'),
        ({"id": "dmy"}, 'contains no dates of the order "dmy"'),
        ({"when": "%Y-%m-%d"}, 'is no date as "%Y-%m-%d" has it'),
    ],
)
def test_wrong_options_for_dates_are_said(
    dates: str | dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=message.replace("?", r"\?")):
        read_column(["31.12.1997"], tmp_path, dates=dates)


FORMATS = st.sampled_from(
    [
        *("%d.%m.%Y", "%-d.%-m.%Y", "%m/%d/%Y", "%-m/%-d/%Y", "%Y%m%d", "%d%^b%Y", "%d-%b-%Y"),
        *("%d.%m.%Y %H:%M", "%-m/%-d/%Y %-H:%M", "%m/%d/%Y %I:%M:%S %p", "%Y-%m-%dT%H:%M:%SZ"),
        *("%Y-%m-%d %H:%M:%S.%3f%:z", "%Y/%m/%d %H:%M:%S"),
    ]
)
MOMENTS = st.datetimes(moment(1801, 1, 1), moment(2099, 12, 31))


def write_plainly(format_: str, when: dt.datetime) -> str:
    """The plain counterpart: Python's own `strftime`, sign by sign."""
    hour = when.hour % 12 or 12
    for sign, text in {
        "%-d": f"{when.day}", "%-m": f"{when.month}", "%-H": f"{when.hour}", "%3f": when.strftime("%f")[:3],
        "%^b": when.strftime("%b").upper(), "%:z": "+00:00", "%I": f"{hour:02}", "%Y": f"{when.year:04}",
    }.items():  # fmt: skip
        format_ = format_.replace(sign, text)
    return when.strftime(format_)


@given(FORMATS, st.lists(MOMENTS, min_size=3, max_size=8))
def test_every_format_reads_what_it_writes_and_writes_what_it_reads(
    text: str, moments: list[dt.datetime]
) -> None:
    texts = pa.array([write_plainly(text, when) for when in moments])
    format_ = DateFormat(text)
    read = format_.parse(texts)
    assert read.null_count == 0
    assert [str(v)[:10] for v in read.to_pylist()] == [str(when)[:10] for when in moments]
    assert format_.holds(read)
    assert format_.write(read).equals(texts)
    found = find_dates("when", texts, "mdy" if "%m/%d" in text or "%-m/%-d" in text else "")
    assert found is not None
    assert found.values.equals(read)
    assert found.format.write(found.values).equals(texts)


@given(
    st.sampled_from([";", ",", "\t", "|"]),
    st.sampled_from([".", ","]),
    st.sampled_from(["utf-8", "utf-8-sig", "windows-1252", "utf-16"]),
    st.sampled_from(["%d.%m.%Y", "%Y%m%d", "%Y-%m-%d"]),
    st.lists(
        st.tuples(
            st.none() | st.integers(-9999, 9999).map(lambda n: n / 100 + 0.001),
            st.none() | st.text("abéÜ ;,'\"", max_size=6),
            st.none() | st.dates(dt.date(1900, 1, 1), dt.date(2050, 1, 1)),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_what_is_written_is_written_as_its_source(
    separator: str,
    decimal: str,
    encoding: str,
    format_: str,
    rows: list[tuple[float | None, str | None, dt.date | None]],
) -> None:
    records = [
        ("1" + decimal + "5", '"x"', dt.date(1997, 12, 31).strftime(format_)),
        *(
            ("0" + decimal + "5", '"y"', dt.date(1998 + n, 11, 30).strftime(format_))
            for n in (0, 1)
        ),
    ]
    for number, text, day in rows:
        cell = "" if number is None else f"{number:.3f}".replace(".", decimal)
        quoted = "" if text is None else '"' + text.replace('"', '""') + '"'
        when = "" if day is None else f"{day.strftime(format_)}"
        records.append((f'"{cell}"' if separator in cell else cell, quoted, when))
    if separator == decimal:
        records[:3] = [(f'"{a}"', b, c) for a, b, c in records[:3]]
    lines = ['"amount"', '"name"', '"born"'], *records
    source = "".join(separator.join(line) + "\n" for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "source.csv", Path(folder) / "out.csv"
        path.write_bytes(source.encode(encoding))
        options = {"encoding": encoding, "separator": separator, "decimal": decimal, "text": "name"}
        read = dv.read(path, **options)  # type: ignore[arg-type]
        read.write(out)
        written = out.read_bytes().decode(encoding)
        again = dv.read(out, **options)  # type: ignore[arg-type]
        theirs = pd.read_csv(out, sep=separator, decimal=decimal, encoding=encoding, usecols=[0])
    assert again.equals(read)
    assert theirs["amount"].isna().tolist() == [
        v is None for v in read.to_arrow()["amount"].to_pylist()
    ]
    ours, source_rows = (
        list(csv.reader(text.splitlines(keepends=True), delimiter=separator))
        for text in (written, source)
    )
    assert [(r[1], r[2]) for r in ours] == [(r[1], r[2]) for r in source_rows]
    assert [float(r[0].replace(decimal, ".") or "nan") for r in ours[1:]] == pytest.approx(
        [float(r[0].replace(decimal, ".") or "nan") for r in source_rows[1:]], nan_ok=True
    )
    assert all(decimal in r[0] for r in ours[1:] if r[0])


def test_a_letter_that_the_encoding_has_not_is_refused_or_written_in_unicode(
    tmp_path: Path,
) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_bytes("town\nKöln\nBonn\n".encode("latin-1"))
    towns = dv.read(path, encoding="latin-1")
    greek = dv.data.Dataset.from_arrow(pa.table({"town": ["Köln", "Αθήνα"]}))
    with pytest.raises(InvalidInput, match='contains letters that the encoding "latin-1" lacks'):
        greek.write(out, encoding="latin-1")
    assert not out.exists()
    towns.write(out)
    assert "Köln" in out.read_text("latin-1")


def test_a_date_format_says_year_month_and_day_once() -> None:
    for text in ("%d.%m", "%d.%d.%m.%Y", "%I:%M %d.%m.%Y", "%Q"):
        with pytest.raises(BadDateFormat):
            DateFormat(text)


def test_a_release_file_says_how_dates_are_written(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("born,sex\n03/04/1990,F\n05/06/1991,M\n")
    (tmp_path / "release.toml").write_text(
        'format = 1\n[[dataset]]\nname = "people"\nsource = "people.csv"\ndates = {born = "dmy"}\n'
        'roles = {quasi_identifier = ["born", "sex"]}\n'
    )
    release = dv.Release.load(tmp_path / "release.toml")
    assert release.datasets["people"].read().columns["born"].values[0].as_py() == dt.date(
        1990, 4, 3
    )
