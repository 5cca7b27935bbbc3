"""Which records make up a history, which are left out and why, and what is refused.

Everything is counted, and nothing is quoted: a message never holds a value out of a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from divulge.assessment import Sentence
from divulge.data import Column
from divulge.data.dictionary import problems_with_names
from divulge.events.history.calendar import NOT_A_TIME, UNITS, Times, times_of
from divulge.work import Problem, checks

if TYPE_CHECKING:
    from divulge.events.history.history import History

Mask = npt.NDArray[np.bool_]
Returns: TypeAlias = Literal["drop", "keep", "net"]
Missing: TypeAlias = Literal["refuse", "drop", "maybe"]


def problems_with_settings(history: History) -> Iterator[Problem]:
    """Attributes that are not there, words that mean nothing."""
    names = history.dataset.names
    for place in ("user", "time", "item", "amount"):
        given = getattr(history, place)
        if isinstance(given, str):
            yield from problems_with_names(place, [given], names)
        elif given is not None or place != "amount":
            yield Problem(place, f"{checks.describe_value(given)} is not text; name an attribute.")
    either = "a unit of time or an attribute"
    yield from checks.one_of("event", history.event, (*UNITS, *names), either)
    yield from checks.one_of("missing", history.missing, get_args(Missing), "a way to treat gaps")
    if history.returns is not None:
        way = "a way to treat returns"
        yield from checks.one_of("returns", history.returns, get_args(Returns), way)
    if history.rounded is not None:
        yield from checks.one_of("rounded", history.rounded, UNITS, "a unit of time")
    if history.returns is not None and history.amount is None:
        yield Problem("returns", "only amounts tell what was returned; give amount.")


def problems_with_records(history: History) -> Iterator[Problem]:
    """Times, amounts and gaps that have to be decided on before anything is counted."""
    dataset = history.dataset
    times = times_of(dataset.columns[history.time])
    if times is None:
        yield Problem("time", f'"{history.time}" holds numbers; give dates, times or ISO text.')
        return
    if times.zones > 1:
        yield Problem(
            "time",
            f'"{history.time}" mixes {times.zones} time zones (or times with and without one); '
            "bring them to one first.",
        )
    if history.event == "hour" and not times.hours and history.missing != "maybe":
        yield Problem("event", f'"{history.time}" holds days without hours.')
    unfit = [*_problems_with_gaps(history), *_problems_with_amounts(history)]
    yield from unfit
    if not dataset.rows:
        yield Problem("", "there are no records.")
    elif not unfit and not history.records:
        yield Problem("", "no record is left.")


def _problems_with_gaps(history: History) -> Iterator[Problem]:
    if history.missing != "refuse":
        return
    for part, rows in lacking(history).items():
        if rows is not None and rows.any():
            what = "has no readable time" if part == "time" else f"has no {part}"
            message = (
                f"{int(rows.sum()):,} of {history.dataset.rows:,} records: each {what}. "
                'To leave them out, and have it said, give missing="drop".'
            )
            yield Problem(part, message)


def _problems_with_amounts(history: History) -> Iterator[Problem]:
    import pyarrow as pa

    amount = history.amount
    if amount is None:
        return
    values = history.dataset.columns[amount].values
    kind = values.type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if len(values) and not number:  # where all are hidden, they are of no kind
        yield Problem("amount", f'"{amount}" does not hold numbers.')
    elif history.returns is None and negative(history).any():
        yield Problem(
            "amount",
            f"of the records, {int(negative(history).sum()):,} have a negative amount; "
            'say what they are: returns="drop", "keep" or "net".',
        )


def keep(history: History) -> Mask | None:
    """Which records make up the history; None if all do.

    In a protected release a suppressed item or time is kept: it may be anything.
    """
    wanted: Mask | None = None
    needed = ("user",) if history.missing == "maybe" else ("user", "time", "item")
    left_out = [rows for part, rows in lacking(history).items() if part in needed]
    for rows in (*left_out, returned(history)):
        if rows is not None and rows.any():
            wanted = ~rows if wanted is None else wanted & ~rows
    return wanted


def lacking(history: History) -> dict[str, Mask | None]:
    """Which records have no user, no readable time, no item; None if all have."""
    columns = history.dataset.columns
    return {
        "user": _empty(columns[history.user]),
        "time": _without_time(columns[history.time], history.calendar),
        "item": _empty(columns[history.item]),
    }


def _without_time(column: Column, times: Times) -> Mask | None:
    unreadable = np.append(times.moments == NOT_A_TIME, True)
    if not column.has_missing and not unreadable[:-1].any():
        return None
    return unreadable[column.codes]


def _empty(column: Column) -> Mask | None:
    """Which records have no value: none, or a text of nothing."""
    blank = np.append(blanks(column), True)
    if not column.has_missing and not blank[:-1].any():
        return None
    return blank[column.codes]


def blanks(column: Column) -> Mask:
    """Which of a column's distinct values are texts of nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or not len(column.values):
        return np.zeros(len(column.values), dtype=bool)
    trimmed = pc.utf8_trim_whitespace(column.values)
    blank: Mask = pc.equal(trimmed, "").to_numpy(zero_copy_only=False)
    return blank


def amounts(column: Column) -> npt.NDArray[np.float64]:
    """A column of numbers as numbers; missing ones are not a number."""
    values = np.array([float(value) for value in column.values.to_pylist()] + [np.nan])
    return values[column.codes]


def negative(history: History) -> Mask:
    """Which records have a negative amount."""
    if history.amount is None:
        return np.zeros(history.dataset.rows, dtype=bool)
    return amounts(history.dataset.columns[history.amount]) < 0


def returned(history: History) -> Mask | None:
    """The records that are left out because something was given back; None if there are none."""
    if history.amount is None or history.returns in (None, "keep"):
        return None
    below = negative(history)
    if history.returns == "drop" or not below.any():
        return below
    item = history.dataset.columns[history.item]
    pair = history.dataset.columns[history.user].codes.astype(np.int64) * (item.cardinality + 1)
    _, of_record = np.unique(pair + item.codes, return_inverse=True)
    paid = amounts(history.dataset.columns[history.amount])
    left = np.bincount(of_record, np.nan_to_num(paid))[of_record]
    cancelled = (np.bincount(of_record, below)[of_record] > 0) & (left <= 0)
    if history.missing == "maybe":
        # Hidden items are not one item, and a hidden amount may be more than was given back.
        cancelled &= np.bincount(of_record, np.isnan(paid))[of_record] == 0
        hidden = _empty(item)
        cancelled &= True if hidden is None else ~hidden
    return below | cancelled


def remarks(history: History) -> tuple[Sentence, ...]:
    """What was found out of the ordinary in the records, counted, in sentences."""
    counted: dict[str, int] = {}
    maybe = ("time", "item") if history.missing == "maybe" else ()
    for part, rows in lacking(history).items():
        kind = "maybe" if part in maybe else "dropped"
        counted[f"{kind}.{part}"] = 0 if rows is None else int(rows.sum())
    below, gone = negative(history), returned(history)
    counted[f"returns.{history.returns}"] = int(below.sum())
    if history.returns == "net" and gone is not None:
        counted["returns.cancelled"] = int((gone & ~below).sum())
    counted["one_record"] = int((history.records_of_user == 1).sum())
    return tuple(
        Sentence("divulge.events", f"remark.{key}", {"count": count})
        for key, count in counted.items()
        if count
    )
