"""Writing SAS transport files: version 5 where it can hold the data, else version 8."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.data.column import Column
from divulge.data.encoding import pieces
from divulge.data.formats.capacity import (
    SAS,
    is_text,
    problems_with_values,
    problems_with_words,
)
from divulge.data.formats.ibm_numbers import to_ibm
from divulge.data.formats.names import SAS_NAMES, place_of_column, problems_with_names
from divulge.data.formats.sas_transport import CARD, DAYS_TO_UNIX, Variable
from divulge.data.formats.sas_transport import _numbers as read_numbers
from divulge.work import DivulgeError, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats import Records

MOST_SHORT = 9999
"""How many variables version 5 can count."""
_ZEROS = "0" * 30
# A file says when it was made; ours always says the same, so that equal data give equal files.
_WHEN = b"01JAN60:00:00:00"


@dataclass(frozen=True)
class _Field:
    name: str
    label: str
    numeric: bool
    length: int
    format: str


def write(records: Records, path: Path) -> None:
    """Write records and their descriptions.

    Raises:
        InvalidInput: with all names, texts and values that the format cannot hold.
    """
    problems = Problems("writing for SAS")
    problems.extend("", problems_with_names(list(records.columns), SAS_NAMES))
    columns = {name: _settled(column) for name, column in records.columns.items()}
    fields = []
    for number, (name, column) in enumerate(columns.items(), start=1):
        about = records.said.get(name)
        label = about.description if about else ""
        fields.append(_field(name, column, label))
        problems.extend(place_of_column(name, number), _problems_with(column, fields[-1]))
    problems.raise_any()
    rows = len(next(iter(columns.values())).codes)
    long = len(fields) > MOST_SHORT or any(
        len(f.name) > 8 or len(f.label.encode()) > 40 or f.length > 200 for f in fields
    )
    # Version 5 counts no rows: a last one of nothing but blanks would be taken for filling.
    long = long or _ends_blank(columns, fields)
    with path.open("wb") as file:
        file.write(_head(fields, rows, long))
        written = 0
        cut = [pieces(column) for column in columns.values()]
        for parts in zip(*cut, strict=True):
            cells = [_cells(part, field) for part, field in zip(parts, fields, strict=True)]
            block = np.concatenate(cells, axis=1).tobytes()
            file.write(block)
            written += len(block)
        file.write(b" " * (-written % CARD))


def _settled(column: Column) -> Column:
    """A column as it is written: one of nothing but missing values is of numbers if tagged."""
    import pyarrow as pa

    is_tagged = column.tags is not None and bool(column.tags.any())
    if is_text(column.values.type) and not len(column.values) and is_tagged:
        return replace(column, values=pa.array([], pa.float64()))
    return column


def _ends_blank(columns: Mapping[str, Column], fields: list[_Field]) -> bool:
    last = [_cells(_last(column), f) for column, f in zip(columns.values(), fields, strict=True)]
    return all(bool(np.all(cells == ord(" "))) for cells in last)


def _last(column: Column) -> Column:
    """The last record alone."""
    tags = None if column.tags is None else column.tags[-1:]
    return replace(column, codes=column.codes[-1:], tags=tags)


def _problems_with(column: Column, field: _Field) -> Iterator[Problem]:
    if len(field.label.encode()) > 256:
        yield Problem("description", "is longer than 256 bytes.")
    yield from problems_with_words("description", [field.label])
    unfit = list(problems_with_values(column, SAS))
    yield from unfit
    if not field.numeric or unfit:
        return
    try:
        cells = to_ibm(_plain_numbers(column.values), np.zeros(len(column.values), np.uint8))
    except DivulgeError as error:
        yield Problem("", f"{error}.")
        return
    if field.format and not _comes_back(column.values, cells, field):
        yield Problem("", "holds dates or times that a SAS transport file does not keep exactly.")


def _comes_back(values: pa.Array, cells: npt.NDArray[np.uint8], field: _Field) -> bool:
    """Whether our reader makes the same dates or times of these numbers."""
    import pyarrow as pa

    told = Variable(field.name, True, field.length, 0, "", field.format)
    again, _ = read_numbers(cells, told)
    micro = values.cast(pa.time64("us")) if pa.types.is_time(values.type) else values
    return bool(again.type == micro.type and again.equals(micro))


def _field(name: str, column: Column, label: str) -> _Field:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if is_text(kind):
        longest = pc.max(pc.binary_length(column.values)).as_py() if len(column.values) else 1
        return _Field(name, label, False, max(1, longest), "")
    told = ""
    if pa.types.is_date32(kind):
        told = "DATE"
    elif pa.types.is_timestamp(kind):
        told = "DATETIME"
    elif pa.types.is_time(kind):
        told = "TIME"
    return _Field(name, label, True, 8, told)


def _plain_numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    """Values as SAS counts them: days and seconds since 1960, seconds since midnight."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date32(kind):
        return _floats(values.cast(pa.int32())) + DAYS_TO_UNIX
    if pa.types.is_timestamp(kind):
        return _floats(values.cast(pa.int64())) / 1e6 + DAYS_TO_UNIX * 86400
    if pa.types.is_time(kind):
        return _floats(values.cast(pa.time64("us")).cast(pa.int64())) / 1e6
    if pa.types.is_boolean(kind):
        return _floats(values.cast(pa.int8()))
    return _floats(values.cast(pa.float64(), safe=False))


def _floats(values: pa.Array) -> npt.NDArray[np.float64]:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _cells(column: Column, field: _Field) -> npt.NDArray[np.uint8]:
    """The bytes of one column, one row per record."""
    if not field.numeric:
        texts = [value.encode().ljust(field.length) for value in column.values.to_pylist()]
        texts.append(b" " * field.length)
        table = np.frombuffer(b"".join(texts), dtype=np.uint8).reshape(-1, field.length)
        return np.asarray(table[column.codes])
    marks: npt.NDArray[Any] = np.zeros(len(column.codes), dtype=np.uint8)
    if column.has_missing:
        marks[column.codes == column.missing_code] = ord(".")
        if column.tags is not None:
            marks = np.where((marks != 0) & (column.tags != 0), column.tags, marks)
    numbers = np.append(_plain_numbers(column.values), 0.0)
    return to_ibm(numbers[column.codes], marks)


def _head(fields: list[_Field], rows: int, long: bool) -> bytes:
    kinds = ("LIBV8  ", "MEMBV8 ", "DSCPTV8", "NAMSTV8", "OBSV8  ")
    short = ("LIBRARY", "MEMBER ", "DSCRPTR", "NAMESTR", "OBS    ")
    library, member, description, names, observations = kinds if long else short
    dataset = (b"DATASET".ljust(32) if long else b"DATASET ") + b"SASDATA 9.4     OS      "
    cards = [
        _header(library),
        b"SAS     SAS     SASLIB  9.4     OS      ".ljust(64) + _WHEN,
        _WHEN.ljust(CARD),
        _header(member, "000000000000000001600000000140"),
        _header(description),
        (b"SAS     " + dataset).ljust(64) + _WHEN,
        _WHEN.ljust(CARD),
        _header(names, f"{len(fields):010}".ljust(30, "0")),
    ]
    position = 0
    descriptions = []
    for number, field in enumerate(fields, start=1):
        descriptions.append(_namestr(number, field, position, long))
        position += field.length
    described = b"".join(descriptions)
    cards.append(described.ljust(-(-len(described) // CARD) * CARD))
    if long:
        cards.append(_labels(fields))
    counted = f"{rows:15}".ljust(30) if long else _ZEROS
    cards.append(_header(observations, counted))
    return b"".join(cards)


def _header(kind: str, rest: str = _ZEROS) -> bytes:
    return f"HEADER RECORD*******{kind} HEADER RECORD!!!!!!!{rest}  ".encode("ascii")


def _namestr(number: int, field: _Field, position: int, long: bool) -> bytes:
    """The 140 bytes that describe a variable."""
    label = field.label.encode()
    width = {"DATE": 9, "DATETIME": 20, "TIME": 8}.get(field.format, 0)
    raw = struct.pack(">4h", 1 if field.numeric else 2, 0, field.length, number)
    raw += field.name[:8].encode().ljust(8) + label[:40].ljust(40)
    raw += field.format.encode().ljust(8) + struct.pack(">3h", width, 0, 0) + b"\x00\x00"
    raw += b" " * 8 + struct.pack(">2h", 0, 0) + struct.pack(">i", position)
    if long:
        return raw + field.name.encode().ljust(32) + struct.pack(">h", len(label)) + b"\x00" * 18
    return raw + b"\x00" * 52


def _labels(fields: list[_Field]) -> bytes:
    """The labels that a variable's own description has no room for."""
    given = [(n, f) for n, f in enumerate(fields, start=1) if len(f.label.encode()) > 40]
    if not given:
        return b""
    raw = b""
    for number, field in given:
        name, label = field.name.encode(), field.label.encode()
        raw += struct.pack(">3h", number, len(name), len(label)) + name + label
    head = _header("LABELV8", f"{len(given):<30}")
    return head + raw.ljust(-(-len(raw) // CARD) * CARD)
