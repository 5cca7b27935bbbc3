"""Data frames that R has saved, written here byte by byte as R's manual on its format says."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import divulge as dv
from divulge.work import InvalidInput

NA_INTEGER = -(2**31)
NA_REAL = struct.unpack(">d", bytes.fromhex("7ff00000000007a2"))[0]
NOTHING = struct.pack(">i", 254)


def text(value: str | None) -> bytes:
    if value is None:
        return struct.pack(">ii", 9, -1)
    content = value.encode()
    return struct.pack(">ii", 9 | 8 << 12, len(content)) + content


def vector(kind: int, items: list[bytes], **attributes: bytes) -> bytes:
    flags = kind | (0x300 if "class_" in attributes else 0x200 if attributes else 0)
    return struct.pack(">ii", flags, len(items)) + b"".join(items) + pairs(attributes)


def pairs(attributes: dict[str, bytes]) -> bytes:
    if not attributes:
        return b""
    links = (
        struct.pack(">ii", 2 | 0x400, 1) + text(name.strip("_")) + value
        for name, value in attributes.items()
    )
    return b"".join(links) + NOTHING


def strings(*values: str | None, **attributes: bytes) -> bytes:
    return vector(16, [text(value) for value in values], **attributes)


def integers(*values: int, **attributes: bytes) -> bytes:
    return vector(13, [struct.pack(">i", value) for value in values], **attributes)


def reals(*values: float, **attributes: bytes) -> bytes:
    return vector(14, [struct.pack(">d", value) for value in values], **attributes)


def logicals(*values: int) -> bytes:
    return vector(10, [struct.pack(">i", value) for value in values])


def frame(**columns: bytes) -> bytes:
    head = b"X\n" + struct.pack(">iii", 2, 0x40300, 0x20300)
    content = vector(
        19,
        list(columns.values()),
        names=strings(*columns),
        class_=strings("data.frame"),
        row_names=integers(NA_INTEGER, -1),
    )
    return head + content


def save(folder: Path, content: bytes, pack: Callable[[bytes], bytes] = gzip.compress) -> Path:
    path = folder / "people.rds"
    path.write_bytes(pack(content))
    return path


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, bytes], ids=["gz", "bz2", "xz", "plain"]
)
def test_every_kind_of_column_is_what_it_was_in_r(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    content = frame(
        age=integers(20, NA_INTEGER),
        wage=reals(1.5, NA_REAL),
        town=strings("Rom", None),
        sex=integers(2, 1, levels=strings("f", "m"), class_=strings("factor")),
        works=logicals(1, NA_INTEGER),
        born=reals(3652.0, NA_REAL, class_=strings("Date")),
        seen=reals(86400.25, 0.0, class_=strings("POSIXct", "POSIXt")),
    )
    people = dv.read(save(tmp_path, content, pack)).to_arrow()
    assert people.drop_columns(["seen"]).to_pylist() == [
        {
            "age": 20, "wage": 1.5, "town": "Rom", "sex": "m", "works": True,
            "born": dt.date(1980, 1, 1),
        },
        {"age": None, "wage": None, "town": None, "sex": "f", "works": None, "born": None},
    ]  # fmt: skip
    seen = people.column("seen").cast(pa.timestamp("us")).cast(pa.int64())
    assert seen.to_pylist() == [86_400_250_000, 0]


def test_labels_of_survey_packages_are_the_dictionary(tmp_path: Path) -> None:
    sex = reals(
        1.0, 2.0,
        label=strings("Sex of the person"),
        labels=reals(1.0, 2.0, names=strings("male", "female")),
    )  # fmt: skip
    about = dv.read(save(tmp_path, frame(sex=sex))).dictionary["sex"]
    assert (about.description, dict(about.labels)) == (
        "Sex of the person",
        {1: "male", 2: "female"},
    )


def test_what_r_keeps_in_a_shorter_form_is_the_vector_that_it_means(tmp_path: Path) -> None:
    def about(name: str) -> bytes:
        links = (struct.pack(">ii", 2, 1) + text(name), struct.pack(">ii", 2, 1) + text("base"))
        return b"".join(links) + struct.pack(">i", 2) + integers(13) + NOTHING

    short = struct.pack(">i", 238)
    rows = short + about("compact_intseq") + reals(3.0, 5.0, 1.0) + NOTHING
    wrapped = (
        short + about("wrap_real") + vector(19, [reals(1.5, 2.5, 4.0), integers(1, 0)]) + NOTHING
    )
    people = dv.read(save(tmp_path, frame(n=rows, x=wrapped)))
    assert people.to_arrow().to_pydict() == {"n": [5, 6, 7], "x": [1.5, 2.5, 4.0]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"X\n" + struct.pack(">iii", 2, 0, 0) + integers(1, 2), "contains no data frame"),
        (frame(x=vector(19, [integers(1), integers(2)])), "contains lists"),
        (frame(x=integers(1, 2), y=integers(1)), "table of its own"),
        (frame(x=integers(9, 1, levels=strings("f"), class_=strings("factor"))), "levels lack"),
        (b"X\n" + struct.pack(">iiii", 2, 0, 0, 3), "functions"),
        (frame(x=reals(1e9, class_=strings("Date"))), "years 1 to 9999"),
        (frame(x=reals(-1e15, class_=strings("POSIXct", "POSIXt"))), "years 1 to 9999"),
    ],
    ids=["a vector", "lists", "nested", "levels", "a function", "a date", "a moment"],
)
def test_what_is_no_table_is_refused_with_its_reason(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        dv.read(save(tmp_path, content))


@given(st.integers(20, 400), st.booleans())
def test_a_file_that_is_cut_off_or_changed_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, place: int, is_cut: bool
) -> None:
    content = frame(age=integers(*range(40)), town=strings(*map(str, range(40))))
    broken = content[:place] if is_cut else content[:place] + b"\xff" + content[place + 1 :]
    path = save(tmp_path_factory.mktemp("r"), broken, bytes)
    try:
        dv.read(path)
    except InvalidInput:
        pass
    else:
        assert not is_cut


def test_r_files_are_not_written(tmp_path: Path) -> None:
    people = dv.datasets.school_year_example()
    with pytest.raises(InvalidInput, match="read and not written"):
        people.write(tmp_path / "people.rds")
