"""Variables of SAS transport files: what their fields are, and how their numbers are read."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from divulge.data.encoding import Tags
from divulge.data.formats.sas.ibm_numbers import from_ibm

if TYPE_CHECKING:
    import pyarrow as pa


CARD_BYTES = 80
EPOCH = dt.date(1960, 1, 1)
DAYS_TO_UNIX = (dt.date(1970, 1, 1) - EPOCH).days
DATE_FORMATS = ("DATE", "DDMMYY", "MMDDYY", "YYMMDD", "E8601DA", "WEEKDATE", "JULIAN", "MONYY")
MOMENT_FORMATS = ("DATETIME", "E8601DT", "DATEAMPM")
TIME_FORMATS = ("TIME", "HHMM", "E8601TM")


@dataclass(frozen=True, kw_only=True)
class SasVariable:
    """One variable: its place in a row, and what is said of it."""

    name: str
    numeric: bool
    length: int
    position: int
    label: str
    format: str


def decode_numbers(cells: npt.NDArray[np.uint8], variable: SasVariable) -> tuple[pa.Array, Tags]:
    """The numbers of a field, as dates or times where its format says so, and the missing kinds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values, missing, tags = from_ibm(cells)
    numbers = pa.array(values, mask=missing)
    format_name = variable.format.upper()
    if format_name.startswith(MOMENT_FORMATS):
        micros = np.rint((values - DAYS_TO_UNIX * 86400) * 1e6)
        return _decode_dates(micros, missing, pa.timestamp("us"), numbers), tags
    if format_name.startswith(DATE_FORMATS):
        return _decode_dates(values - DAYS_TO_UNIX, missing, pa.date32(), numbers), tags
    if format_name.startswith(TIME_FORMATS):
        is_within_day = not bool(
            pc.any(pc.or_(pc.less(numbers, 0), pc.greater_equal(numbers, 86400))).as_py()
        )
        return (
            _decode_dates(values * 1e6, missing, pa.time64("us"), numbers)
            if is_within_day
            else numbers
        ), tags
    return numbers, tags


def _decode_dates(
    values: npt.NDArray[np.float64],
    missing: npt.NDArray[np.bool_],
    kind: pa.DataType,
    numbers: pa.Array,
) -> pa.Array:
    """Numbers as dates or times; as plain numbers where a calendar cannot hold them."""
    import pyarrow as pa

    filled = np.where(missing, 0, values)
    if np.any(np.abs(filled) > 2**53) or (
        pa.types.is_date32(kind) and np.any(np.abs(filled) > 2**31 - 1)
    ):
        return numbers
    whole = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.array(np.floor(filled).astype(np.int64), mask=missing).cast(whole).cast(kind)
