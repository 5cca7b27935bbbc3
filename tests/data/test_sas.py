"""SAS's own files: written for the test by the C library inside pyreadstat, read by us."""

from __future__ import annotations

import ctypes
import datetime as dt
from pathlib import Path
from typing import Any

import pyreadstat
import pytest

import divulge as dv

TEXT, NUMBER = 0, 5  # ReadStat's names of the types
EPOCH = dt.date(1960, 1, 1)


def _library() -> Any:
    """ReadStat can write SAS files, which pyreadstat does not offer; its functions are there."""
    for file in Path(pyreadstat.__file__).parent.glob("_readstat_writer*.so"):
        library = ctypes.CDLL(str(file))
        if hasattr(library, "readstat_begin_writing_sas7bdat"):
            return library
    pytest.skip("this build of pyreadstat hides ReadStat's writer of SAS files")


def write_sas(path: Path) -> None:
    """Three records: a number with a tag, a text, a date."""
    library = _library()
    library.readstat_writer_init.restype = ctypes.c_void_p
    library.readstat_add_variable.restype = ctypes.c_void_p
    writer = ctypes.c_void_p(library.readstat_writer_init())
    written = bytearray()

    def take(data: int, size: int, _: object) -> int:
        written.extend(ctypes.string_at(data, size))
        return size

    kind = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    callback = kind(take)
    library.readstat_set_data_writer(writer, callback)

    def variable(name: bytes, kind: int, width: int, label: bytes, shown: bytes = b"") -> Any:
        found = ctypes.c_void_p(
            library.readstat_add_variable(writer, name, kind, ctypes.c_size_t(width))
        )
        library.readstat_variable_set_label(found, label)
        if shown:
            library.readstat_variable_set_format(found, shown)
        return found

    income = variable(b"income", NUMBER, 0, b"Net income")
    town = variable(b"town", TEXT, 10, b"Home town")
    born = variable(b"born", NUMBER, 0, b"Date of birth", b"DATE9")
    assert library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(3)) == 0
    for earned, lives, day in (
        (1200.5, b"Roma", dt.date(1990, 5, 17)),
        ("A", b"Bari", None),
        (None, b"", dt.date(1959, 12, 31)),
    ):
        library.readstat_begin_row(writer)
        if isinstance(earned, float):
            library.readstat_insert_double_value(writer, income, ctypes.c_double(earned))
        elif earned:
            tag = ctypes.c_char(earned.encode())
            library.readstat_insert_tagged_missing_value(writer, income, tag)
        else:
            library.readstat_insert_missing_value(writer, income)
        library.readstat_insert_string_value(writer, town, lives)
        if day is None:
            library.readstat_insert_missing_value(writer, born)
        else:
            days = ctypes.c_double((day - EPOCH).days)
            library.readstat_insert_double_value(writer, born, days)
        library.readstat_end_row(writer)
    assert library.readstat_end_writing(writer) == 0
    library.readstat_writer_free(writer)
    path.write_bytes(bytes(written))


def test_a_sas_file_is_read_with_labels_dates_and_tagged_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "people.sas7bdat"
    write_sas(path)
    people = dv.read(path)
    assert people.to_arrow().to_pydict() == {
        "income": [1200.5, None, None],
        "town": ["Roma", "Bari", None],
        "born": [dt.date(1990, 5, 17), None, dt.date(1959, 12, 31)],
    }
    tags = people.columns["income"].tags
    assert tags is not None
    assert tags.tolist() == [0, ord("a"), 0]
    assert people.dictionary["income"].description == "Net income"
    people.write(tmp_path / "people.xpt")
    assert dv.read(tmp_path / "people.xpt").equals(people)
    people.write(tmp_path / "people.dta")
    assert dv.read(tmp_path / "people.dta").equals(people)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_sas_file_cut_off_is_refused(share: float, tmp_path: Path) -> None:
    path = tmp_path / "people.sas7bdat"
    write_sas(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(dv.InvalidInput, match=r"people\.sas7bdat"):
        dv.read(path)
