"""Rules of hierarchies for dates and codes: the coarser values of any value."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

from divulge.data.hierarchies.tables import Ancestors
from divulge.data.value_texts import format_value
from divulge.work import DivulgeError, Problems

_DATE_LEVELS: dict[str, Callable[[dt.datetime], str]] = {
    "hour": lambda when: when.strftime("%Y-%m-%d %H"),
    "day": lambda when: when.strftime("%Y-%m-%d"),
    "week": lambda when: "{}-W{:02}".format(*when.isocalendar()[:2]),
    "month": lambda when: when.strftime("%Y-%m"),
    "quarter": lambda when: f"{when.year}-Q{(when.month + 2) // 3}",
    "year": lambda when: f"{when.year}",
    "decade": lambda when: f"{when.year // 10}0s",
}


def make_date_rule(levels: Sequence[str]) -> Callable[[Any], Ancestors | None]:
    """Dates, times and ISO text to calendar units, finest first."""
    order = list(_DATE_LEVELS)
    problems = Problems("dates")
    for level in levels:
        if level not in order:
            problems.add("", f'"{level}" is not a unit.', value=level, allowed=order)
    problems.raise_any()
    places = [order.index(level) for level in levels]
    if not places or places != sorted(set(places)):
        raise DivulgeError(f"dates: give units from fine to coarse, of: {', '.join(order)}")
    if "week" in levels[:-1]:
        raise DivulgeError("dates: a week can lie in two months, so nothing comes above it")

    def find_ancestors(value: Any) -> Ancestors | None:
        when = _parse_datetime(value)
        return None if when is None else tuple(_DATE_LEVELS[level](when) for level in levels)

    return find_ancestors


def _parse_datetime(value: Any) -> dt.datetime | None:
    if isinstance(value, dt.datetime):
        return value
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time())
    try:
        return dt.datetime.fromisoformat(str(value))
    except ValueError:
        return None


def make_prefix_rule(lengths: Sequence[int]) -> Callable[[Any], Ancestors | None]:
    """Codes to their first characters, longest first; what is cut off becomes a star."""
    if not lengths or list(lengths) != sorted(set(lengths), reverse=True) or lengths[-1] < 0:
        raise DivulgeError("prefixes: give lengths that fall, none below 0, such as 4, 2")

    def find_ancestors(value: Any) -> Ancestors:
        text = format_value(value)
        return tuple(text if len(text) <= n else f"{text[:n]}*" for n in lengths)

    return find_ancestors
