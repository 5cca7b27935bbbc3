"""SAS transport files (XPT, versions 5 and 8), read and written after SAS's published layout.

Records of 80 bytes; a description of 140 bytes per variable; numbers in IBM's old hexadecimal
floating point, where a missing value is a dot, a letter or an underscore and seven zero bytes.
Readers of other libraries drop that letter, so this one is our own. The format has no value
labels (SAS keeps them in catalogues) and no missing text, only an empty one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import tuning
from divulge.data.dictionary import Attribute
from divulge.data.encoding import Batch, Tags
from divulge.data.formats.file_signature import SAS_TRANSPORT
from divulge.data.formats.format import PlainFormat
from divulge.data.formats.sas.transport_writer import write_sas_transport
from divulge.data.formats.sas.variables import CARD_BYTES, SasVariable, decode_numbers
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data.formats.format import EncodedRecords, Options


@dataclass(frozen=True)
class _Layout:
    """Where the rows of a file are, and how each is laid out."""

    variables: tuple[SasVariable, ...]
    start: int
    row_bytes: int
    rows: int | None


class SasTransport(PlainFormat):
    """SAS's transport format."""

    kind = SAS_TRANSPORT

    def read_names(self, path: Path, options: Options) -> list[str]:
        """The names of the columns, read without the records."""
        return [variable.name for variable in _read_layout(path, options).variables]

    def read_kinds(self, path: Path, options: Options) -> Mapping[str, str]:
        """Text or numbers: dates are numbers in this format."""
        variables = _read_layout(path, options).variables
        return {v.name: "numbers" if v.numeric else "text" for v in variables}

    def read_attributes(self, path: Path, options: Options) -> Mapping[str, Attribute]:
        """Variable labels as descriptions."""
        variables = _read_layout(path, options).variables
        return {v.name: Attribute(v.name, description=v.label) for v in variables}

    def read_batches(
        self, path: Path, column_names: Sequence[str], options: Options
    ) -> Iterator[Batch]:
        """The records, some at a time."""
        layout = _read_layout(path, options)
        encoding = options.encoding or "utf-8"
        fields = {v.name: v for v in layout.variables}
        total = _count_rows(path, layout)
        with path.open("rb") as file, work.step(f"Reading {path.name}", total) as step:
            file.seek(layout.start)
            for start in range(0, total, tuning.RECORDS_AT_A_TIME):
                count = min(tuning.RECORDS_AT_A_TIME, total - start)
                raw = np.frombuffer(file.read(count * layout.row_bytes), dtype=np.uint8)
                rows = raw.reshape(count, layout.row_bytes)
                arrays: dict[str, pa.Array] = {}
                tags: dict[str, Tags] = {}
                for name in column_names:
                    variable = fields[name]
                    cells = rows[:, variable.position : variable.position + variable.length]
                    if variable.numeric:
                        arrays[name], tags[name] = decode_numbers(cells, variable)
                    else:
                        arrays[name] = _decode_texts(path, cells, encoding)
                yield Batch(arrays, tags)
                step.advance(count)

    def write(self, records: EncodedRecords, path: Path, options: Options) -> None:  # noqa: ARG002  # text only
        """Write records with their descriptions; version 5 where it can hold them, else 8."""
        write_sas_transport(records, path)


def _read_layout(path: Path, options: Options) -> _Layout:
    """Read the header: everything before the first row."""
    try:
        with path.open("rb") as file:
            return _parse_layout(file.read(1 << 24), options.encoding or "utf-8")
    except (ValueError, struct.error, IndexError, UnicodeError):
        raise _build_damage_error(path) from None


def _parse_layout(head: bytes, encoding: str) -> _Layout:
    is_version_8 = head[20:26] == b"LIBV8 "
    at = head.index(
        b"HEADER RECORD*******NAMSTV8" if is_version_8 else b"HEADER RECORD*******NAMESTR"
    )
    count = (
        int(head[at + 48 + 6 : at + 48 + 10]) if not is_version_8 else int(head[at + 48 : at + 58])
    )
    member = head.index(b"HEADER RECORD*******MEM")
    size = int(head[member + 74 : member + 78])
    at += CARD_BYTES
    variables = [
        _parse_variable(head[at + n * size :][:size], is_version_8, encoding) for n in range(count)
    ]
    at += _round_up_to_cards(count * size)
    labels: dict[int, str] = {}
    if is_version_8 and head[at : at + 27].startswith(b"HEADER RECORD*******LABELV"):
        labels, at = _parse_long_labels(head, at, encoding)
    marker = b"HEADER RECORD*******OBSV8" if is_version_8 else b"HEADER RECORD*******OBS "
    if not head[at:].startswith(marker):
        raise ValueError("no rows")
    rows = (
        int(head[at + 48 : at + 63]) if is_version_8 and head[at + 48 : at + 63].strip() else None
    )
    labelled_variables = tuple(
        SasVariable(
            name=v.name,
            numeric=v.numeric,
            length=v.length,
            position=v.position,
            label=labels.get(n, v.label),
            format=v.format,
        )
        for n, v in enumerate(variables, start=1)
    )
    row_bytes = max((v.position + v.length for v in labelled_variables), default=0)
    if row_bytes <= 0 or any(v.length <= 0 or v.position < 0 for v in labelled_variables):
        raise ValueError("a row of no bytes")
    return _Layout(labelled_variables, at + CARD_BYTES, row_bytes, rows or None)


def _parse_variable(raw: bytes, is_version_8: bool, encoding: str) -> SasVariable:
    kind, _, length, _ = struct.unpack(">4h", raw[:8])
    if kind not in (1, 2) or (kind == 1 and not 2 <= length <= 8):
        raise ValueError("no such type")
    (position,) = struct.unpack(">i", raw[84:88])
    name = raw[8:16].decode(encoding).strip()
    if is_version_8:
        name = raw[88:120].decode(encoding).strip() or name
    label = raw[16:56].decode(encoding, "ignore").strip()
    return SasVariable(
        name=name,
        numeric=kind == 1,
        length=length,
        position=position,
        label=label,
        format=raw[56:64].decode("ascii").strip(),
    )


def _parse_long_labels(head: bytes, at: int, encoding: str) -> tuple[dict[int, str], int]:
    """Labels that did not fit into 40 bytes, by the number of their variable."""
    count = int(head[at + 48 : at + 58])
    nine = head[at + 20 : at + 28].startswith(b"LABELV9")
    start = at = at + CARD_BYTES
    labels = {}
    for _ in range(count):
        lengths = struct.unpack(">5h" if nine else ">3h", head[at : at + (10 if nine else 6)])
        at += 10 if nine else 6
        number, name, label = lengths[:3]
        labels[number] = head[at + name : at + name + label].decode(encoding)
        at += name + label + sum(lengths[3:])
    return labels, start + _round_up_to_cards(at - start)


def _count_rows(path: Path, layout: _Layout) -> int:
    """How many rows there are; a last card of blanks only fills the file up."""
    remaining_bytes = path.stat().st_size - layout.start
    if layout.rows is not None:
        if layout.rows * layout.row_bytes > remaining_bytes:
            raise _build_damage_error(path)
        return layout.rows
    # Every file ends with a full card, and what follows the last row is blanks.
    with path.open("rb") as file:
        file.seek(max(layout.start, path.stat().st_size - CARD_BYTES - layout.row_bytes))
        tail = file.read()
    blanks = min(len(tail) - len(tail.rstrip(b" ")), CARD_BYTES - 1)
    whole, rest = divmod(remaining_bytes, layout.row_bytes)
    if remaining_bytes % CARD_BYTES or rest > blanks:
        raise _build_damage_error(path)
    if layout.row_bytes < CARD_BYTES:
        whole -= (blanks - rest) // layout.row_bytes if blanks >= rest else 0
    return whole


def _decode_texts(path: Path, cells: npt.NDArray[np.uint8], encoding: str) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    width = cells.shape[1]
    raw = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(cells), [None, pa.py_buffer(np.ascontiguousarray(cells).tobytes())]
    )
    distinct = pc.dictionary_encode(raw)
    try:
        texts = [
            value.decode(encoding).rstrip(" \x00") for value in distinct.dictionary.to_pylist()
        ]
    except UnicodeDecodeError:
        message = (
            f"contains text that is not {encoding}; give encoding = ..., such as windows-1252."
        )
        raise InvalidInput(str(path), [Problem("", message)]) from None
    return pa.array([text or None for text in texts], pa.string()).take(distinct.indices)


def _round_up_to_cards(size: int) -> int:
    return -(-size // CARD_BYTES) * CARD_BYTES


def _build_damage_error(path: Path) -> InvalidInput:
    message = "is a SAS transport file that is damaged or cut off."
    return InvalidInput(str(path), [Problem("", message)])
