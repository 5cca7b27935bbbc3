"""How dates and moments are written in a column of text: `%d.%m.%Y`, `%-m/%-d/%Y %-H:%M`, ...

The signs are those of `strftime`; `%-d` is a day without a leading zero, `%b` an English month of
three letters (`%^b` in capitals), `%3f` milliseconds, `%z` a zone as `+0100`, `%:z` as `+01:00`,
and a `Z` at the end is the zone of Greenwich. A year of two digits leaves its century open, so
there is no sign for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.work import DivulgeError
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    import pyarrow as pa

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SIGN = re.compile(r"%(?:[-^:]?[A-Za-z]|[1-6]f)|Z$")
_ONE_OR_TWO = "[0-9]{1,2}"
_PATTERNS = {
    "%Y": "(?P<year>[0-9]{4})",
    "%m": "(?P<month>[0-9]{2})",
    "%-m": f"(?P<month>{_ONE_OR_TWO})",
    "%b": f"(?P<name>(?i:{'|'.join(_MONTHS)}))",
    "%^b": f"(?P<name>(?i:{'|'.join(_MONTHS)}))",
    "%d": "(?P<day>[0-9]{2})",
    "%-d": f"(?P<day>{_ONE_OR_TWO})",
    "%H": "(?P<hour>[0-9]{2})",
    "%-H": f"(?P<hour>{_ONE_OR_TWO})",
    "%I": "(?P<half>[0-9]{2})",
    "%-I": f"(?P<half>{_ONE_OR_TWO})",
    "%M": "(?P<minute>[0-9]{2})",
    "%S": "(?P<second>[0-9]{2})",
    "%p": "(?P<noon>(?i:am|pm))",
    "%z": "(?P<zone>[+-][0-9]{2}[0-9]{2})",
    "%:z": "(?P<zone>[+-][0-9]{2}:[0-9]{2})",
    "Z": "(?P<zone>Z)",
    **{f"%{digits}f": f"(?P<part>[0-9]{{{digits}}})" for digits in range(1, 7)},
}
SIGNS = tuple(sign for sign in _PATTERNS if sign != "Z")
_MICROSECONDS = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
_LAST = {"hour": 23, "minute": 59, "second": 59}


class BadDateFormat(DivulgeError):
    """A format that does not say year, month and day, or says one of them twice."""


@dataclass(frozen=True)
class DateFormat:
    """How one column writes its dates or moments.

    >>> import pyarrow as pa
    >>> german = DateFormat("%d.%m.%Y")
    >>> dates = german.parse(pa.array(["31.12.1997", "30.02.1998"]))
    >>> dates.to_pylist()
    [datetime.date(1997, 12, 31), None]
    >>> german.write(dates).to_pylist()
    ['31.12.1997', None]
    """

    text: str

    def __post_init__(self) -> None:
        parts = re.findall(r"\(\?P<(\w+)>", self._pattern)
        dates = sorted({"name": "month"}.get(part, part) for part in parts)
        problems = [f'"{part}" twice' for part in dict.fromkeys(dates) if dates.count(part) > 1] + [
            f"no {part}" for part in ("year", "month", "day") if part not in dates
        ]
        clock = [part for part in ("part", "second", "minute", "noon", "zone") if part in dates]
        if clock and "hour" not in dates and "half" not in dates:
            problems.append("no hour")
        if ("half" in dates) != ("noon" in dates) or {"half", "hour"} <= set(dates):
            problems.append("hours of half a day without %p, or the contrary")
        if problems:
            raise BadDateFormat(f'the date format "{self.text}" has {", ".join(problems)}')

    @cached_property
    def _pattern(self) -> str:
        """The format as a regular expression with a group for each part."""
        return "^" + "".join(
            self._find_pattern(piece) if is_sign else re.escape(piece)
            for piece, is_sign in self._split()
        ) + "$"  # fmt: skip

    def _find_pattern(self, sign: str) -> str:
        pattern = _PATTERNS.get(sign)
        if pattern is None:
            message = f'the date format "{self.text}" has the sign "{sign}", which is not one of '
            raise BadDateFormat(message + " ".join(SIGNS))
        return pattern

    def _split(self) -> Iterator[tuple[str, bool]]:
        """The signs of the format, and what stands between them."""
        place = 0
        for match in _SIGN.finditer(self.text):
            if match.start() > place:
                yield self.text[place : match.start()], False
            yield match[0], True
            place = match.end()
        if place < len(self.text):
            yield self.text[place:], False

    @property
    def has_clock(self) -> bool:
        """Whether these are moments, and not days."""
        return "<hour>" in self._pattern or "<half>" in self._pattern

    def matches(self, texts: pa.Array) -> bool:
        """Whether every text has this shape, whatever the calendar says of it."""
        import pyarrow.compute as pc

        return bool(pc.all(pc.match_substring_regex(texts, self._pattern)).as_py())

    def parse(self, texts: pa.Array) -> pa.Array:
        """Texts as dates or moments; null where one is written otherwise or does not exist."""
        import pyarrow as pa
        import pyarrow.compute as pc

        matches = pc.extract_regex(texts, self._pattern)
        exists = matches.is_valid().to_numpy(zero_copy_only=False)
        parts = {
            field.name: matches.field(place).to_numpy(zero_copy_only=False)
            for place, field in enumerate(matches.type)
        }
        parts = {name: np.where(exists, texts_of, "0") for name, texts_of in parts.items()}
        numbers = {
            name: texts_of.astype(np.int64)
            for name, texts_of in parts.items()
            if name not in ("name", "noon", "zone", "part")
        }
        if "name" in parts:
            places = {name.lower(): place for place, name in enumerate(_MONTHS, start=1)}
            numbers["month"] = np.array([places.get(t.lower(), 0) for t in parts["name"]], np.int64)
        days, on_calendar = _count_days(numbers["year"], numbers["month"], numbers["day"])
        exists = exists & on_calendar
        if not self.has_clock:
            return pa.array(days, mask=~exists).cast(pa.int32()).view(pa.date32())
        clock, on_clock = _count_clock(numbers, parts)
        offsets = _count_offsets(parts["zone"]) if "zone" in parts else None
        moments = days * 86_400_000_000 + clock
        exists = exists & on_clock
        zone = None
        if offsets is not None:
            moments -= offsets * 60_000_000
            distinct = np.unique(offsets[exists])
            # Summer and winter have other offsets: one moment then, and one zone for all.
            zone = _name_zone(int(distinct[0])) if len(distinct) == 1 else "UTC"
        return pa.array(moments, mask=~exists).view(pa.timestamp("us", tz=zone))

    def write(self, values: pa.Array) -> pa.Array:
        """Dates or moments as text; what the format leaves out must be zero (see `holds`)."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_timestamp(values.type):
            local = pc.local_timestamp(values) if values.type.tz else values
            offset = _read_zone(values.type.tz) if values.type.tz else 0
        else:
            local, offset = values.cast(pa.timestamp("us")), 0
        pieces = [
            _write_part(piece, local.cast(pa.timestamp("us")), offset) if is_sign else piece
            for piece, is_sign in self._split()
        ]
        return pc.binary_join_element_wise(*pieces, "") if len(pieces) > 1 else pieces[0]

    def holds(self, values: pa.Array) -> bool:
        """Whether nothing of these values is lost, or made up, if they are written so."""
        import pyarrow as pa

        kind = values.type
        if not pa.types.is_date32(kind):
            zoned = "<zone>" in self._pattern
            fits = pa.types.is_timestamp(kind) and self.has_clock and bool(kind.tz) == zoned
            if not fits or (kind.tz and self.text.endswith("Z") and _read_zone(kind.tz)):
                return False
        elif self.has_clock:
            return False
        try:
            return bool(self.parse(self.write(values)).equals(values))
        except pa.ArrowInvalid:  # finer than microseconds
            return False


def _count_days(years: Ints, months: Ints, days: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Days since 1970, and which of them are on the calendar."""
    in_range = (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)
    month = (np.where(in_range, years, 1970) - 1970) * 12 + np.where(in_range, months, 1) - 1
    first = month.astype("datetime64[M]").astype("datetime64[D]")
    next_first = (month + 1).astype("datetime64[M]").astype("datetime64[D]")
    length = (next_first - first).astype(np.int64)
    counted = first.astype(np.int64) + np.where(in_range, days, 1) - 1
    return counted, in_range & (days <= length)


def _count_clock(
    numbers: dict[str, Ints], parts: dict[str, Any]
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Microseconds since midnight, and which of them a clock shows."""
    hours = numbers.get("hour")
    shown = np.ones(len(numbers["year"]), np.bool_)
    if hours is None:
        half = numbers["half"]
        shown &= (half >= 1) & (half <= 12)
        afternoon = np.array([text.lower() == "pm" for text in parts["noon"]], np.bool_)
        hours = half % 12 + 12 * afternoon
    total = np.zeros(len(hours), np.int64)
    for name, counted in {**numbers, "hour": hours}.items():
        if name in _MICROSECONDS:
            shown &= counted <= _LAST[name]
            total += counted * _MICROSECONDS[name]
    if "part" in parts:
        total += np.array([int(text.ljust(6, "0")) for text in parts["part"]], np.int64)
    return total, shown


def _count_offsets(texts: Any) -> Ints:
    """Minutes before Greenwich."""
    return np.array([_read_zone(text) for text in texts], np.int64)


def _read_zone(text: str) -> int:
    """Minutes of `+01:00`, `-0330`, `Z` or `UTC`; a named zone has no minutes of its own."""
    match = re.fullmatch(r"([+-])([0-9]{2}):?([0-9]{2})", text)
    if match is None:
        return 0
    minutes = int(match[2]) * 60 + int(match[3])
    return -minutes if match[1] == "-" else minutes


def _name_zone(minutes: int) -> str:
    if minutes == 0:
        return "UTC"
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _write_part(sign: str, local: pa.Array, offset: int) -> Any:
    """One part of moments as text; a zone is the same for all."""
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    if sign in ("%z", "%:z", "Z"):
        return {"%z": zone.replace(":", ""), "%:z": zone, "Z": "Z"}[sign]
    if sign.endswith("b"):
        names = _MONTHS if sign == "%b" else tuple(name.upper() for name in _MONTHS)
        return pa.array(names).take(pc.subtract(pc.month(local), 1))
    if sign.endswith("f"):
        digits = int(sign[1])
        ticks = local.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        texts = [f"{part:06}"[:digits] for part in ticks % 1_000_000]
        return pa.array(texts, mask=local.is_null().to_numpy(zero_copy_only=False))
    counted = {
        "Y": pc.year, "m": pc.month, "d": pc.day, "H": pc.hour, "I": pc.hour,
        "M": pc.minute, "S": pc.second, "p": pc.hour,
    }[sign[-1]](local)  # fmt: skip
    if sign == "%p":
        return pc.if_else(pc.less(counted, 12), "AM", "PM")
    if sign[-1] == "I":
        hours = counted.fill_null(0).to_numpy(zero_copy_only=False)
        missing = counted.is_null().to_numpy(zero_copy_only=False)
        counted = pa.array((hours + 11) % 12 + 1, mask=missing)
    width = 4 if sign == "%Y" else 1 if "-" in sign else 2
    return pc.utf8_lpad(counted.cast(pa.string()), width, "0")
