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
from divulge.data.dictionary import find_name_problems
from divulge.events.history.calendar import NOT_A_TIME, UNITS, Times, read_times
from divulge.work import Problem, checks
from divulge.work.arrays import Bools

if TYPE_CHECKING:
    from divulge.events.history.history import History

Returns: TypeAlias = Literal["drop", "keep", "net"]
Missing: TypeAlias = Literal["refuse", "drop", "maybe"]


def problems_with_settings(history: History) -> Iterator[Problem]:
    """Attributes that are not there, words that mean nothing."""
    names = history.dataset.names
    for place in ("user", "time", "item", "amount"):
        name = getattr(history, place)
        if isinstance(name, str):
            yield from find_name_problems(place, [name], names)
        elif name is not None or place != "amount":
            yield Problem(place, f"{checks.describe_value(name)} is not text; name an attribute.")
    either = "a unit of time or an attribute"
    yield from checks.one_of("event", history.event, (*UNITS, *names), either)
    yield from checks.one_of("missing", history.missing, get_args(Missing), "a way to treat gaps")
    if history.returns is not None:
        way = "a way to treat returns"
        yield from checks.one_of("returns", history.returns, get_args(Returns), way)
    if history.rounded is not None:
        yield from checks.one_of("rounded", history.rounded, UNITS, "a unit of time")
    if history.returns is not None and history.amount is None:
        yield Problem("returns", "returns are recognised by their amounts; give amount.")


def problems_with_records(history: History) -> Iterator[Problem]:
    """Times, amounts and gaps that have to be decided on before anything is counted."""
    dataset = history.dataset
    times = read_times(dataset.columns[history.time])
    if times is None:
        yield Problem("time", f'"{history.time}" contains numbers; give dates, times or ISO text.')
        return
    if times.zones > 1:
        yield Problem(
            "time",
            f'"{history.time}" mixes {times.zones} time zones (or times with and without one); '
            "bring them to one first.",
        )
    if history.event == "hour" and not times.has_hours and history.missing != "maybe":
        yield Problem("event", f'"{history.time}" contains days without hours.')
    unfit = [*_problems_with_gaps(history), *_problems_with_amounts(history)]
    yield from unfit
    if not dataset.rows:
        yield Problem("", "there are no records.")
    elif not unfit and not history.records:
        yield Problem("", "no record is left.")


def _problems_with_gaps(history: History) -> Iterator[Problem]:
    if history.missing != "refuse":
        return
    for part, rows in find_gaps(history).items():
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
        yield Problem("amount", f'"{amount}" does not contain numbers.')
    elif history.returns is None and find_negative_amounts(history).any():
        yield Problem(
            "amount",
            f"of the records, {int(find_negative_amounts(history).sum()):,} have a negative "
            'amount; say what they are: returns="drop", "keep" or "net".',
        )


def select_records(history: History) -> Bools | None:
    """Which records make up the history; None if all do.

    In a protected release a suppressed item or time is kept: it may be anything.
    """
    selection: Bools | None = None
    needed = ("user",) if history.missing == "maybe" else ("user", "time", "item")
    left_out = [rows for part, rows in find_gaps(history).items() if part in needed]
    for rows in (*left_out, find_returned_records(history)):
        if rows is not None and rows.any():
            selection = ~rows if selection is None else selection & ~rows
    return selection


def find_gaps(history: History) -> dict[str, Bools | None]:
    """Which records have no user, no readable time, no item; None if all have."""
    columns = history.dataset.columns
    return {
        "user": _find_empty_values(columns[history.user]),
        "time": _find_unreadable_times(columns[history.time], history.calendar),
        "item": _find_empty_values(columns[history.item]),
    }


def _find_unreadable_times(column: Column, times: Times) -> Bools | None:
    unreadable = np.append(times.moments == NOT_A_TIME, True)
    if not column.has_missing and not unreadable[:-1].any():
        return None
    return unreadable[column.codes]


def _find_empty_values(column: Column) -> Bools | None:
    """Which records have no value: none, or a text of nothing."""
    blank = np.append(find_blank_values(column), True)
    if not column.has_missing and not blank[:-1].any():
        return None
    return blank[column.codes]


def find_blank_values(column: Column) -> Bools:
    """Which of a column's distinct values are texts of nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or not len(column.values):
        return np.zeros(len(column.values), dtype=bool)
    trimmed = pc.utf8_trim_whitespace(column.values)
    blank: Bools = pc.equal(trimmed, "").to_numpy(zero_copy_only=False)
    return blank


def read_amounts(column: Column) -> npt.NDArray[np.float64]:
    """A column of numbers as numbers; missing ones are not a number."""
    values = np.array([float(value) for value in column.values.to_pylist()] + [np.nan])
    return values[column.codes]


def find_negative_amounts(history: History) -> Bools:
    """Which records have a negative amount."""
    if history.amount is None:
        return np.zeros(history.dataset.rows, dtype=bool)
    return read_amounts(history.dataset.columns[history.amount]) < 0


def find_returned_records(history: History) -> Bools | None:
    """The records that are left out because something was given back; None if there are none."""
    if history.amount is None or history.returns in (None, "keep"):
        return None
    is_negative = find_negative_amounts(history)
    if history.returns == "drop" or not is_negative.any():
        return is_negative
    item = history.dataset.columns[history.item]
    pair = history.dataset.columns[history.user].codes.astype(np.int64) * (item.cardinality + 1)
    _, of_record = np.unique(pair + item.codes, return_inverse=True)
    paid = read_amounts(history.dataset.columns[history.amount])
    balance = np.bincount(of_record, np.nan_to_num(paid))[of_record]
    cancelled = (np.bincount(of_record, is_negative)[of_record] > 0) & (balance <= 0)
    if history.missing == "maybe":
        # Hidden items are not one item, and a hidden amount may be more than was given back.
        cancelled &= np.bincount(of_record, np.isnan(paid))[of_record] == 0
        hidden = _find_empty_values(item)
        cancelled &= True if hidden is None else ~hidden
    return is_negative | cancelled


def describe_remarks(history: History) -> tuple[Sentence, ...]:
    """What was found out of the ordinary in the records, counted, in sentences."""
    counts: dict[str, int] = {}
    maybe = ("time", "item") if history.missing == "maybe" else ()
    for part, rows in find_gaps(history).items():
        kind = "maybe" if part in maybe else "dropped"
        counts[f"{kind}.{part}"] = 0 if rows is None else int(rows.sum())
    is_negative, is_returned = find_negative_amounts(history), find_returned_records(history)
    counts[f"returns.{history.returns}"] = int(is_negative.sum())
    if history.returns == "net" and is_returned is not None:
        counts["returns.cancelled"] = int((is_returned & ~is_negative).sum())
    counts["one_record"] = int((history.records_of_user == 1).sum())
    return tuple(
        Sentence("divulge.events", f"remark.{key}", {"count": count})
        for key, count in counts.items()
        if count
    )
