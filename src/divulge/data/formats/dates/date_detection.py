"""Which columns of text hold dates, and how those are written: found in all their values, or given.

`03/04/2020` is a day in March or in April. The whole column tells where one of its values can only
be read in one way; where none can, somebody has to say which, and it is asked. Days that are only
digits (`19971231`) are taken for dates if every value is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge.data import tuning
from divulge.data.formats.dates.date_formats import BadDateFormat, DateFormat
from divulge.work import Problem, nearest

if TYPE_CHECKING:
    import pyarrow as pa

ORDERS = ("dmy", "mdy", "ymd")
"""Orders of day, month and year, as they may be given."""

_CLOCK = (
    r"(?:(?P<gap> ?[T ]|:)(?P<hour>[0-9]{1,2}):[0-9]{2}"
    r"(?P<seconds>:[0-9]{2}(?P<part>\.[0-9]{1,6})?)?"
    r"(?P<noon> ?(?i:am|pm))?(?P<zone> ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_NUMBERS = re.compile(
    r"(?P<one>[0-9]{1,4})(?P<mark>[./-])(?P<two>[0-9]{1,2})(?P=mark)(?P<three>[0-9]{1,4})" + _CLOCK
)
_NAMED = re.compile(
    r"(?P<day>[0-9]{1,2})(?P<mark>[- ]?)(?P<name>[A-Za-z]{3})(?P=mark)(?P<year>[0-9]{4})" + _CLOCK
)
_DIGITS = re.compile(r"[0-9]{8}")


class DoubtfulDate(ValueError):
    """A column whose dates cannot be read, or in two ways; `place` is that of a value."""

    def __init__(self, place: int, message: str) -> None:
        self.place = place
        super().__init__(message)


@dataclass(frozen=True)
class DatedValues:
    """The values of a column of dates, and how they were written."""

    values: pa.Array
    format: DateFormat


def find_dates(name: str, texts: pa.Array, given: str = "") -> DatedValues | None:
    """The dates that a column of texts holds; None if it holds none.

    Args:
        name: the column's, for messages.
        texts: its distinct values.
        given: an order of day, month and year, or a format.

    Raises:
        DoubtfulDate: if day and month can be either, or if some values are no dates.

    >>> import pyarrow as pa
    >>> find_dates("born", pa.array(["31.12.1997", "1.2.2003"])).format.text
    '%-d.%-m.%Y'
    >>> find_dates("born", pa.array(["03/04/2020"]))
    Traceback (most recent call last):
    ...
    divulge.data.formats.dates.date_detection.DoubtfulDate: contains dates that may have ...
    """
    if len(texts) == 0:
        return None
    first = texts[0].as_py()
    if _DIGITS.fullmatch(first):
        return _find_digits(texts, given)
    shapes = _list_formats(first, given)
    readings = [reading for shape in shapes if (reading := _read(texts, shape)) is not None]
    complete = [reading for reading in readings if reading.values.null_count == 0]
    if complete:
        if any(not complete[0].values.equals(other.values) for other in complete[1:]):
            message = "contains dates that may have the day first or the month; say which, with "
            message += f'dates = "dmy" or dates = "mdy", or read it with text = [{_quote(name)}].'
            raise DoubtfulDate(0, message)
        return complete[0]
    if readings:
        _refuse_wrong_dates(name, len(texts), [reading.values for reading in readings])
    return None


def read_given_format(name: str, texts: pa.Array, text: str) -> DatedValues:
    """The dates of a column that is said to be written so.

    Raises:
        DoubtfulDate: if some values are written otherwise, or do not exist.
    """
    format_ = DateFormat(text)
    dates = format_.parse(texts)
    if dates.null_count:
        place = int(np.argmax(dates.is_null().to_numpy(zero_copy_only=False)))
        message = f'is no date as "{text}" has it; correct it, give another format, '
        raise DoubtfulDate(place, f"{message}or say text = [{_quote(name)}].")
    return DatedValues(dates, format_)


def check_given_dates(given: Mapping[str, str], names: Sequence[str]) -> list[Problem]:
    """What is wrong with orders and formats as they were given; "" stands for all columns."""
    problems = []
    for name, text in given.items():
        if name and name not in names:
            problems.append(Problem("dates", f'there is no column "{name}".', name, names))
        if text in ORDERS:
            continue
        if "%" not in text:
            message = "is neither an order of day, month and year nor a format such as %d.%m.%Y."
            hint = nearest(text, ORDERS)
            problems.append(Problem("dates", f'"{text}" {message}', hint, ORDERS))
            continue
        try:
            DateFormat(text)
        except BadDateFormat as error:
            problems.append(Problem("dates", f"{error}."))
    return problems


def _refuse_wrong_dates(name: str, count: int, readings: Sequence[pa.Array]) -> None:
    """Refuse a column of dates with some that do not exist; what is mostly none is text."""
    remedy = f"correct it, or read the column with text = [{_quote(name)}]."
    unread = [dates.is_null().to_numpy(zero_copy_only=False) for dates in readings]
    if len(unread) > 1 and not np.logical_and.reduce(unread).any():
        place = int(np.argmax(unread[0]))
        message = "has the month first where others have the day first; "
        raise DoubtfulDate(place, message + remedy)
    fewest = min(unread, key=np.count_nonzero)
    if np.count_nonzero(fewest) <= count * tuning.MAX_WRONG_DATES_SHARE:
        place = int(np.argmax(fewest))
        raise DoubtfulDate(place, f"contains a date that does not exist; {remedy}")


def _find_digits(texts: pa.Array, given: str) -> DatedValues | None:
    """Dates of digits alone: all of them, of years that data are of."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if given not in ("", "ymd"):
        return None
    format_ = DateFormat("%Y%m%d")
    dates = format_.parse(texts)
    if dates.null_count or (not given and len(dates) < tuning.MIN_DIGIT_DATES):
        return None
    years = pc.min_max(pc.year(dates)).as_py()
    first, last = tuning.DIGIT_DATE_YEARS
    if not given and not (years["min"] >= first and years["max"] <= last):
        return None
    return DatedValues(dates.cast(pa.date32()), format_)


def _list_formats(first: str, given: str) -> list[DateFormat]:
    """The formats that a first value may be in; one for each order of day and month."""
    if match := _NAMED.fullmatch(first):
        month = "%^b" if match["name"].isupper() else "%b"
        mark = match["mark"]
        dates = [f"%d{mark}{month}{mark}%Y"]
    elif match := _NUMBERS.fullmatch(first):
        mark = match["mark"]
        if len(match["one"]) == 4:
            dates = [f"%Y{mark}%m{mark}%d"] if given in ("", "ymd") else []
        elif len(match["three"]) == 4 and len(match["one"]) <= 2:
            by_order = {"dmy": f"%d{mark}%m{mark}%Y", "mdy": f"%m{mark}%d{mark}%Y"}
            dates = [text for order, text in by_order.items() if given in ("", order)]
        else:
            dates = []
    else:
        return []
    clock = _describe_clock(match)
    return [DateFormat(date + clock) for date in dates if not _is_plain_iso(date + clock)]


def _is_plain_iso(text: str) -> bool:
    """Days as ISO has them are told by their type; a look at the calendar is taken there."""
    return text == "%Y-%m-%d"


def _describe_clock(match: re.Match[str]) -> str:
    """The format of the time of day in a value; empty if there is none."""
    if match["hour"] is None:
        return ""
    noon, zone = match["noon"], match["zone"]
    seconds = ":%S" if match["seconds"] else ""
    part = f".%{len(match['part']) - 1}f" if match["part"] else ""
    zones = ""
    if zone:
        sign = "Z" if zone.endswith("Z") else "%:z" if ":" in zone else "%z"
        zones = zone[: len(zone) - len(zone.lstrip(" "))] + sign
    halves = f"{noon[:-2]}%p" if noon else ""
    return f"{match['gap']}{'%I' if noon else '%H'}:%M{seconds}{part}{halves}{zones}"


def _read(texts: pa.Array, padded: DateFormat) -> DatedValues | None:
    """All texts as a format has them, with leading zeros or without; None if not of its shape."""
    if padded.matches(texts):
        return DatedValues(padded.parse(texts), padded)
    signs = [sign for sign in ("%d", "%m", "%H", "%I") if sign in padded.text]
    bare = padded.text
    for sign in signs:
        bare = bare.replace(sign, f"%-{sign[1]}")
    if not DateFormat(bare).matches(texts):
        return None
    for sign in signs:
        stricter = bare.replace(f"%-{sign[1]}", sign)
        bare = stricter if DateFormat(stricter).matches(texts) else bare
    return DatedValues(DateFormat(bare).parse(texts), DateFormat(bare))


def _quote(name: str) -> str:
    return f'"{name}"'
