"""What a file really is, told from its first bytes and not from its name."""

from __future__ import annotations

import bz2
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXT = "delimited text"
PARQUET = "a Parquet file"
ARROW = "an Arrow file"
COMPRESSED_TEXT = "a gzip archive"
SPSS = "an SPSS file"
SPSS_COMPRESSED = "a compressed SPSS file"
STATA = "a Stata file"
SAS = "a SAS data file"
SAS_TRANSPORT = "a SAS transport file"
DUCKDB = "a DuckDB database"
EXCEL = "an Excel workbook"
OPEN_DOCUMENT = "an OpenDocument spreadsheet"
ZIP = "a zip archive"
BZIP = "a bzip2 archive"
XZ = "an xz archive"
R_OBJECT = "an object of R"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", PARQUET),
    (b"ARROW1", ARROW),
    (b"PK\x03\x04", ZIP),
    (b"\x1f\x8b", COMPRESSED_TEXT),
    (b"\x28\xb5\x2f\xfd", "a zstandard archive"),
    (b"BZh", BZIP),
    (b"\xfd7zXZ", XZ),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"$FL2", SPSS),
    (b"$FL3", SPSS_COMPRESSED),
    (b"<stata_dta>", STATA),
    (b"HEADER RECORD*******", SAS_TRANSPORT),
    (b"%PDF", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
)
# Old Stata files begin with their version (Stata 8 to 12) and the order of their bytes.
_OLD_STATA = tuple(
    bytes([version, order]) for version in (110, 111, 113, 114, 115) for order in (1, 2)
)
_SAS_MAGIC = b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def detect_file_kind(path: Path) -> str:
    """What a file holds, in words.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_bytes(b"PAR1...")
    >>> detect_file_kind(path)
    'a Parquet file'
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if _is_of_r(head):
        return R_OBJECT
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return _detect_archive_kind(path) if kind == ZIP else kind
    if head[8:12] == b"DUCK":
        return DUCKDB
    if head[12:32] == _SAS_MAGIC:
        return SAS
    if head.startswith(_OLD_STATA) and b"\x00" in head:
        return STATA
    if head.startswith(_UTF16_MARKS):
        return TEXT
    is_utf16 = head[1::2].count(0) > len(head) // 4 or head[::2].count(0) > len(head) // 4
    return "a binary file of unknown kind" if b"\x00" in head and not is_utf16 else TEXT


def _is_of_r(head: bytes) -> bool:
    """Whether R has saved one object, mostly compressed in one of three ways."""
    unpackers: dict[bytes, Callable[[], Any]] = {
        b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
        b"BZh": bz2.BZ2Decompressor,
        b"\xfd7zXZ": lzma.LZMADecompressor,
    }
    for mark, make in unpackers.items():
        if head.startswith(mark):
            try:
                head = make().decompress(head, 64)
            except (OSError, EOFError, zlib.error, lzma.LZMAError):
                return False
    return head[:5] == b"X\n\0\0\0" or (head[:2] == b"B\n" and head[3:6] == b"\0\0\0")


def _detect_archive_kind(path: Path) -> str:
    """What a zip archive holds: spreadsheets are archives of their parts."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "xl/workbook.xml" in names:
                return EXCEL
            is_sheet = "mimetype" in names and b"spreadsheet" in archive.read("mimetype")
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return ZIP
    return OPEN_DOCUMENT if is_sheet else ZIP
