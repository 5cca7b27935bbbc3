"""Times as they stand in data, and the calendar units that an adversary may remember."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.data import Column
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa


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

SPANS = ("moment", *UNITS)
"""What a time in the data may stand for: a moment, or a whole unit."""

NOT_A_TIME = np.iinfo(np.int64).min
_MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class Times:
    """The distinct times of a column in microseconds of the wall clock, and what they lack.

    A time stands for a whole span (a day, a month): `spans` says which, by its place in `SPANS`.
    """

    moments: Ints
    spans: npt.NDArray[np.int8]
    zones: int

    @property
    def has_hours(self) -> bool:
        """Whether some time says more than the day."""
        return bool(np.any(self.spans[self.moments != NOT_A_TIME] <= SPANS.index("hour")))

    def period_numbers(self, unit: str) -> Ints:
        """The number of the hour, day, week, ... of each distinct time."""
        if unit == "hour":
            return self.moments // 3_600_000_000
        days = self.moments // _MICROSECONDS_PER_DAY
        if unit == "day":
            return days
        if unit == "week":
            return (days + 3) // 7  # 1970 began on a Thursday; weeks begin on Mondays
        months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
        return months // {"month": 1, "quarter": 3, "year": 12}[unit]


def find_overlapping_units(moment: int, span: str, unit: str) -> tuple[int, int]:
    """The first and the last `unit` that the `span` around a moment touches.

    >>> may_2010 = 1_273_000_000_000_000
    >>> first, last = find_overlapping_units(may_2010, "month", "week")
    >>> last - first + 1
    6
    """
    day = np.array([moment]).astype("M8[us]").astype("M8[D]")
    if span == "week":
        first = day - (day.astype(np.int64) + 3) % 7
        last = first + 6
    else:
        months = {"month": 1, "quarter": 3, "year": 12}[span]
        begin = day.astype("M8[M]").astype(np.int64) // months * months
        first = begin.astype("M8[M]").astype("M8[D]")
        last = (begin + months).astype("M8[M]").astype("M8[D]") - 1
    ends = np.concatenate([first, last]).astype("M8[us]").astype(np.int64)
    low, high = Times(ends, np.zeros(2, np.int8), 0).period_numbers(unit).tolist()
    return low, high


def read_times(column: Column, rounded: str | None = None, periods: bool = False) -> Times | None:
    """The times of a column, or None if its values are numbers or truth values.

    With `rounded`, each stands for the whole unit that it lies in; with `periods`, text may name
    months, quarters, weeks and years too.

    >>> import pyarrow as pa
    >>> from divulge.data.column import encode_array
    >>> times = read_times(encode_array(pa.array(["2010-12-01 08:45", "2010/12/5"])))
    >>> times.period_numbers("day").tolist(), times.has_hours
    ([14944, 14948], True)
    """
    import pyarrow as pa

    kind = column.values.type
    if pa.types.is_date(kind):
        days = column.values.cast(pa.int32()).to_numpy(zero_copy_only=False).astype(np.int64)
        times = _build_uniform_times(days * _MICROSECONDS_PER_DAY, "day", 0)
    elif pa.types.is_timestamp(kind):
        times = _build_uniform_times(_to_wall_clock(column.values), "moment", 1 if kind.tz else 0)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        times = _parse_times(column.values.to_pylist(), periods)
    elif pa.types.is_null(kind) and periods:
        times = _build_uniform_times(
            np.zeros(0, np.int64), "moment", 0
        )  # all of them are suppressed
    else:
        return None
    if rounded is None:
        return times
    return Times(times.moments, np.maximum(times.spans, SPANS.index(rounded)), times.zones)


def _build_uniform_times(moments: Ints, span: str, zones: int) -> Times:
    return Times(moments, np.full(len(moments), SPANS.index(span), np.int8), zones)


def _to_wall_clock(values: pa.Array) -> Ints:
    import pyarrow as pa
    import pyarrow.compute as pc

    local = pc.local_timestamp(values) if values.type.tz else values
    whole = pc.floor_temporal(local, unit="microsecond")  # finer clocks say more than is kept
    micro: Ints = whole.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return micro


def _parse_times(texts: list[str], periods: bool) -> Times:
    """Text as times: ISO, or with slashes; one zone for all, or none."""
    moments = np.full(len(texts), NOT_A_TIME, dtype=np.int64)
    spans = np.zeros(len(texts), dtype=np.int8)
    zones: set[Any] = set()
    for place, text in enumerate(texts):
        when, span = _parse_period(text)
        if when is not None and not periods:
            continue  # a whole week or month says no day
        if when is None:
            when, span = _parse_moment(text), "moment" if _CLOCK.search(text) else "day"
        if when is None:
            continue
        zones.add(when.utcoffset())
        since = when.replace(tzinfo=None) - dt.datetime(1970, 1, 1)  # noqa: DTZ001  # wall clock
        moments[place] = since // dt.timedelta(microseconds=1)
        spans[place] = SPANS.index(span)
    return Times(moments, spans, len(zones))


_CLOCK = re.compile(r":|\dT\d|\d \d")
_PERIOD = re.compile(r"(\d{4})(?:-?Q([1-4])|-W(\d\d)|-(\d\d))?$")


def _parse_period(text: str) -> tuple[dt.datetime | None, str]:
    """The beginning and the unit of `2010`, `2010-12`, `2010-Q4` or `2010-W48`."""
    match = _PERIOD.match(text.strip())
    if match is None:
        return None, ""
    year, quarter, week, month = match.groups()
    try:
        if week:
            return dt.datetime.fromisocalendar(int(year), int(week), 1), "week"
        first = int(month) if month else 3 * int(quarter) - 2 if quarter else 1
        span = "month" if month else "quarter" if quarter else "year"
        return dt.datetime(int(year), first, 1), span  # noqa: DTZ001  # wall clock
    except ValueError:  # a month 13, a week 60
        return None, ""


def _parse_moment(text: str) -> dt.datetime | None:
    for candidate in (text, _to_iso_format(text)):
        try:
            return dt.datetime.fromisoformat(candidate)
        except ValueError:
            continue
    return None


def _to_iso_format(text: str) -> str:
    """`2010/12/1 8:45` as ISO wants it: `2010-12-01 08:45`."""
    day, _, clock = text.strip().partition(" ")
    parts = day.replace("/", "-").split("-")
    hour, _, minutes = clock.partition(":")
    rest = f" {hour.zfill(2)}:{minutes}" if clock else ""
    return "-".join(part.zfill(2) for part in parts) + rest
