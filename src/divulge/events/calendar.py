"""Times as they stand in data, and the calendar units that an adversary may remember."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.data import Column

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]

UNITS = ("hour", "day", "week", "month", "quarter", "year")
"""What an adversary may know of when something happened, finest first."""

COARSER: Mapping[str, frozenset[str]] = {
    "hour": frozenset(UNITS),
    "day": frozenset(UNITS[1:]),
    "week": frozenset({"week"}),  # a week can lie in two months
    "month": frozenset({"month", "quarter", "year"}),
    "quarter": frozenset({"quarter", "year"}),
    "year": frozenset({"year"}),
}
"""The units that are known with a unit: whoever knows the day knows the month."""

NOT_A_TIME = np.iinfo(np.int64).min
_DAY = 86_400_000_000


@dataclass(frozen=True)
class Times:
    """The distinct times of a column in microseconds of the wall clock, and what they lack."""

    moments: Ints
    hours: bool
    unreadable: int
    zones: int

    def period(self, unit: str) -> Ints:
        """The number of the hour, day, week, ... of each distinct time."""
        if unit == "hour":
            return self.moments // 3_600_000_000
        days = self.moments // _DAY
        if unit == "day":
            return days
        if unit == "week":
            return (days + 3) // 7  # 1970 began on a Thursday; weeks begin on Mondays
        months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
        return months // {"month": 1, "quarter": 3, "year": 12}[unit]


def times_of(column: Column) -> Times | None:
    """The times of a column, or None if its values are numbers or truth values.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode
    >>> times = times_of(encode(pa.array(["2010-12-01 08:45", "2010/12/5"])))
    >>> times.period("day").tolist(), times.hours
    ([14944, 14948], True)
    """
    import pyarrow as pa

    kind = column.values.type
    if pa.types.is_date(kind):
        days = column.values.cast(pa.int32()).to_numpy(zero_copy_only=False).astype(np.int64)
        return Times(days * _DAY, False, 0, 0)
    if pa.types.is_timestamp(kind):
        return Times(_wall_clock(column.values), True, 0, 1 if kind.tz else 0)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _read(column.values.to_pylist())
    return None


def _wall_clock(values: pa.Array) -> Ints:
    import pyarrow as pa
    import pyarrow.compute as pc

    local = pc.local_timestamp(values) if values.type.tz else values
    micro: Ints = local.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return micro


def _read(texts: list[str]) -> Times:
    """Text as times: ISO, or with slashes; one zone for all, or none."""
    moments = np.full(len(texts), NOT_A_TIME, dtype=np.int64)
    zones: set[Any] = set()
    hours = False
    for place, text in enumerate(texts):
        when = _moment(text)
        if when is None:
            continue
        zones.add(when.utcoffset())
        hours = hours or ":" in text
        since = when.replace(tzinfo=None) - dt.datetime(1970, 1, 1)  # noqa: DTZ001  # wall clock
        moments[place] = since // dt.timedelta(microseconds=1)
    return Times(moments, hours, int(np.count_nonzero(moments == NOT_A_TIME)), len(zones))


def _moment(text: str) -> dt.datetime | None:
    for read in (text, _with_dashes(text)):
        try:
            return dt.datetime.fromisoformat(read)
        except ValueError:
            continue
    return None


def _with_dashes(text: str) -> str:
    """`2010/12/1 8:45` as ISO wants it: `2010-12-01 08:45`."""
    day, _, clock = text.strip().partition(" ")
    parts = day.replace("/", "-").split("-")
    hour, _, minutes = clock.partition(":")
    rest = f" {hour.zfill(2)}:{minutes}" if clock else ""
    return "-".join(part.zfill(2) for part in parts) + rest
