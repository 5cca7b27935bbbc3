"""What a file really is, told from its first bytes and not from its name."""

from __future__ import annotations

from pathlib import Path

TEXT = "delimited text"
PARQUET = "a Parquet file"
ARROW = "an Arrow file"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", PARQUET),
    (b"ARROW1", ARROW),
    (b"PK\x03\x04", "a zip archive (or a spreadsheet)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstandard archive"),
    (b"BZh", "a bzip2 archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"$FL2", "an SPSS file"),
    (b"$FL3", "a compressed SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"HEADER RECORD*******", "a SAS transport file"),
    (b"%PDF", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
)
_TEXT_IN_TWO_BYTES = (b"\xff\xfe", b"\xfe\xff")


def kind_of(path: Path) -> str:
    """What a file holds, in words.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_bytes(b"PAR1...")
    >>> kind_of(path)
    'a Parquet file'
    """
    with path.open("rb") as file:
        head = file.read(4096)
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head.startswith(_TEXT_IN_TWO_BYTES):
        return TEXT
    return "a binary file of unknown kind" if b"\x00" in head else TEXT
