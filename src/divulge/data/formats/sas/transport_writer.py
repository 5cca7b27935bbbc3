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
from divulge.data.encoding import split_column
from divulge.data.formats.capacity import (
    SAS,
    find_nul_problems,
    find_value_problems,
    is_text_kind,
)
from divulge.data.formats.names import SAS_NAMES, describe_column, find_name_rule_problems
from divulge.data.formats.sas.ibm_numbers import to_ibm
from divulge.data.formats.sas.variables import CARD_BYTES, DAYS_TO_UNIX, SasVariable, decode_numbers
from divulge.work import DivulgeError, Interruption, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats.format import EncodedRecords

MAX_VARIABLES_V5 = 9999
"""How many variables version 5 can count."""
_ZEROS = "0" * 30
# A file says when it was made; ours always says the same, so that equal data give equal files.
_FIXED_TIMESTAMP = b"01JAN60:00:00:00"


@dataclass(frozen=True, kw_only=True)
class _Field:
    name: str
    label: str
    numeric: bool
    length: int
    format: str


def write_sas_transport(records: EncodedRecords, path: Path) -> None:
    """Write records and their descriptions.

    Raises:
        InvalidInput: with all names, texts and values that the format cannot hold.
    """
    problems = Problems("writing for SAS")
    problems.extend("", find_name_rule_problems(list(records.columns), SAS_NAMES))
    columns = {name: _settle_type(column) for name, column in records.columns.items()}
    fields = []
    for number, (name, column) in enumerate(columns.items(), start=1):
        attribute = records.attributes.get(name)
        label = attribute.description if attribute else ""
        fields.append(_build_field(name, column, label))
        problems.extend(describe_column(name, number), _find_field_problems(column, fields[-1]))
    problems.raise_any()
    rows = len(next(iter(columns.values())).codes)
    is_version_8 = len(fields) > MAX_VARIABLES_V5 or any(
        len(f.name) > 8 or len(f.label.encode()) > 40 or f.length > 200 for f in fields
    )
    # Version 5 counts no rows: a last one of nothing but blanks would be taken for filling.
    is_version_8 = is_version_8 or _is_last_row_blank(columns, fields)
    with path.open("wb") as file:
        file.write(_build_file_header(fields, rows, is_version_8))
        byte_count = 0
        column_pieces = [split_column(column) for column in columns.values()]
        for parts in zip(*column_pieces, strict=True):
            cells = [_encode_cells(part, field) for part, field in zip(parts, fields, strict=True)]
            block = np.concatenate(cells, axis=1).tobytes()
            file.write(block)
            byte_count += len(block)
        file.write(b" " * (-byte_count % CARD_BYTES))


def _settle_type(column: Column) -> Column:
    """A column as it is written: one of nothing but missing values is of numbers if tagged."""
    import pyarrow as pa

    is_tagged = column.tags is not None and bool(column.tags.any())
    if is_text_kind(column.values.type) and not len(column.values) and is_tagged:
        return replace(column, values=pa.array([], pa.float64()))
    return column


def _is_last_row_blank(columns: Mapping[str, Column], fields: list[_Field]) -> bool:
    last = [
        _encode_cells(_take_last_record(column), f)
        for column, f in zip(columns.values(), fields, strict=True)
    ]
    return all(bool(np.all(cells == ord(" "))) for cells in last)


def _take_last_record(column: Column) -> Column:
    """The last record alone."""
    tags = None if column.tags is None else column.tags[-1:]
    return replace(column, codes=column.codes[-1:], tags=tags)


def _find_field_problems(column: Column, field: _Field) -> Iterator[Problem]:
    if len(field.label.encode()) > 256:
        yield Problem("description", "is longer than 256 bytes.")
    yield from find_nul_problems("description", [field.label])
    value_problems = list(find_value_problems(column, SAS))
    yield from value_problems
    if not field.numeric or value_problems:
        return
    try:
        cells = to_ibm(_to_sas_numbers(column.values), np.zeros(len(column.values), np.uint8))
    except Interruption:
        raise
    except DivulgeError as error:
        yield Problem("", f"{error}.")
        return
    if field.format and not _is_read_back_equal(column.values, cells, field):
        yield Problem(
            "", "contains dates or times that a SAS transport file does not keep exactly."
        )


def _is_read_back_equal(values: pa.Array, cells: npt.NDArray[np.uint8], field: _Field) -> bool:
    """Whether our reader makes the same dates or times of these numbers."""
    import pyarrow as pa

    variable = SasVariable(
        name=field.name,
        numeric=True,
        length=field.length,
        position=0,
        label="",
        format=field.format,
    )
    read_back, _ = decode_numbers(cells, variable)
    expected = values.cast(pa.time64("us")) if pa.types.is_time(values.type) else values
    return bool(read_back.type == expected.type and read_back.equals(expected))


def _build_field(name: str, column: Column, label: str) -> _Field:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if is_text_kind(kind):
        longest = pc.max(pc.binary_length(column.values)).as_py() if len(column.values) else 1
        return _Field(name=name, label=label, numeric=False, length=max(1, longest), format="")
    format_name = ""
    if pa.types.is_date32(kind):
        format_name = "DATE"
    elif pa.types.is_timestamp(kind):
        format_name = "DATETIME"
    elif pa.types.is_time(kind):
        format_name = "TIME"
    return _Field(name=name, label=label, numeric=True, length=8, format=format_name)


def _to_sas_numbers(values: pa.Array) -> npt.NDArray[np.float64]:
    """Values as SAS counts them: days and seconds since 1960, seconds since midnight."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date32(kind):
        return _to_floats(values.cast(pa.int32())) + DAYS_TO_UNIX
    if pa.types.is_timestamp(kind):
        return _to_floats(values.cast(pa.int64())) / 1e6 + DAYS_TO_UNIX * 86400
    if pa.types.is_time(kind):
        return _to_floats(values.cast(pa.time64("us")).cast(pa.int64())) / 1e6
    if pa.types.is_boolean(kind):
        return _to_floats(values.cast(pa.int8()))
    return _to_floats(values.cast(pa.float64(), safe=False))


def _to_floats(values: pa.Array) -> npt.NDArray[np.float64]:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _encode_cells(column: Column, field: _Field) -> npt.NDArray[np.uint8]:
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
    numbers = np.append(_to_sas_numbers(column.values), 0.0)
    return to_ibm(numbers[column.codes], marks)


def _build_file_header(fields: list[_Field], rows: int, is_version_8: bool) -> bytes:
    kinds = ("LIBV8  ", "MEMBV8 ", "DSCPTV8", "NAMSTV8", "OBSV8  ")
    short = ("LIBRARY", "MEMBER ", "DSCRPTR", "NAMESTR", "OBS    ")
    library, member, description, names, observations = kinds if is_version_8 else short
    dataset = (b"DATASET".ljust(32) if is_version_8 else b"DATASET ") + b"SASDATA 9.4     OS      "
    cards = [
        _build_header_card(library),
        b"SAS     SAS     SASLIB  9.4     OS      ".ljust(64) + _FIXED_TIMESTAMP,
        _FIXED_TIMESTAMP.ljust(CARD_BYTES),
        _build_header_card(member, "000000000000000001600000000140"),
        _build_header_card(description),
        (b"SAS     " + dataset).ljust(64) + _FIXED_TIMESTAMP,
        _FIXED_TIMESTAMP.ljust(CARD_BYTES),
        _build_header_card(names, f"{len(fields):010}".ljust(30, "0")),
    ]
    position = 0
    descriptions = []
    for number, field in enumerate(fields, start=1):
        descriptions.append(_build_namestr(number, field, position, is_version_8))
        position += field.length
    description_bytes = b"".join(descriptions)
    cards.append(description_bytes.ljust(-(-len(description_bytes) // CARD_BYTES) * CARD_BYTES))
    if is_version_8:
        cards.append(_build_long_labels(fields))
    row_count = f"{rows:15}".ljust(30) if is_version_8 else _ZEROS
    cards.append(_build_header_card(observations, row_count))
    return b"".join(cards)


def _build_header_card(kind: str, rest: str = _ZEROS) -> bytes:
    return f"HEADER RECORD*******{kind} HEADER RECORD!!!!!!!{rest}  ".encode("ascii")


def _build_namestr(number: int, field: _Field, position: int, is_version_8: bool) -> bytes:
    """The 140 bytes that describe a variable."""
    label = field.label.encode()
    width = {"DATE": 9, "DATETIME": 20, "TIME": 8}.get(field.format, 0)
    raw = struct.pack(">4h", 1 if field.numeric else 2, 0, field.length, number)
    raw += field.name[:8].encode().ljust(8) + label[:40].ljust(40)
    raw += field.format.encode().ljust(8) + struct.pack(">3h", width, 0, 0) + b"\x00\x00"
    raw += b" " * 8 + struct.pack(">2h", 0, 0) + struct.pack(">i", position)
    if is_version_8:
        return raw + field.name.encode().ljust(32) + struct.pack(">h", len(label)) + b"\x00" * 18
    return raw + b"\x00" * 52


def _build_long_labels(fields: list[_Field]) -> bytes:
    """The labels that a variable's own description has no room for."""
    long_labels = [(n, f) for n, f in enumerate(fields, start=1) if len(f.label.encode()) > 40]
    if not long_labels:
        return b""
    raw = b""
    for number, field in long_labels:
        name, label = field.name.encode(), field.label.encode()
        raw += struct.pack(">3h", number, len(name), len(label)) + name + label
    head = _build_header_card("LABELV8", f"{len(long_labels):<30}")
    return head + raw.ljust(-(-len(raw) // CARD_BYTES) * CARD_BYTES)
