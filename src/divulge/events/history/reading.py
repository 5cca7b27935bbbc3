"""Which records make up a history, which are left out and why, and what is refused.

Everything is counted, and nothing is quoted: a message never holds a value out of a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Column, Dataset, Relation
from divulge.data.dictionary import find_name_problems
from divulge.events.history.calendar import NOT_A_TIME, UNITS, Times, read_times
from divulge.events.history.relation_tables import RelationCounts
from divulge.events.history.values import find_blank_values, read_amounts
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
    unreadable = list(_problems_with_times(history, times))
    yield from unreadable
    if times is None:
        return
    gaps = {part: count_marks(rows) for part, rows in find_gaps(history).items()}
    negative = 0
    if history.amount is not None and has_amounts(dataset, history.amount):
        negative = count_marks(find_negative_amounts(history))
    unfit = [*_problems_with_gaps(history, gaps), *_problems_with_amounts(history, negative)]
    yield from unfit
    if not dataset.rows:
        yield Problem("", "there are no records.")
    elif not unfit and not history.records:
        yield Problem("", "no record is left.")


def problems_with_relation(history: History, counts: RelationCounts) -> Iterator[Problem]:
    """The same of records that an engine has counted."""
    yield from _problems_with_times(history, counts.times)
    if counts.times is None:
        return
    unfit = [
        *_problems_with_gaps(history, counts.gaps),
        *_problems_with_amounts(history, counts.negative),
    ]
    yield from unfit
    if not unfit and not counts.records:
        yield Problem("", "no record is left.")


def _problems_with_times(history: History, times: Times | None) -> Iterator[Problem]:
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


def _problems_with_gaps(history: History, gaps: Mapping[str, int]) -> Iterator[Problem]:
    if history.missing != "refuse":
        return
    for part, count in gaps.items():
        if count:
            what = "has no readable time" if part == "time" else f"has no {part}"
            message = (
                f"{count:,} of {history.dataset.rows:,} records: each {what}. "
                'To leave them out, and have it said, give missing="drop".'
            )
            yield Problem(part, message)


def _problems_with_amounts(history: History, negative: int) -> Iterator[Problem]:
    amount = history.amount
    if amount is None:
        return
    if not has_amounts(history.dataset, amount):
        yield Problem("amount", f'"{amount}" does not contain numbers.')
    elif history.returns is None and negative:
        yield Problem(
            "amount",
            f"of the records, {negative:,} have a negative "
            'amount; say what they are: returns="drop", "keep" or "net".',
        )


def has_amounts(dataset: Dataset, name: str) -> bool:
    """Whether an attribute contains numbers."""
    import pyarrow as pa

    if isinstance(dataset, Relation):
        kind, is_empty = dataset.find_type(name), False
    else:
        values = dataset.columns[name].values
        kind, is_empty = values.type, not len(values)  # where all are hidden, they are of no kind
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return is_empty or is_number


def count_marks(rows: Bools | None) -> int:
    """How many records are marked; none if there are no marks."""
    return 0 if rows is None else int(np.count_nonzero(rows))


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
    found = history.relation_counts
    if found is not None:
        gaps, negative, single, cancelled = found.gaps, found.negative, found.single, 0
    else:
        gaps = {part: count_marks(rows) for part, rows in find_gaps(history).items()}
        is_negative = find_negative_amounts(history)
        negative, single = count_marks(is_negative), int((history.records_of_user == 1).sum())
        is_returned = find_returned_records(history) if history.returns == "net" else None
        cancelled = 0 if is_returned is None else count_marks(is_returned & ~is_negative)
    for part, count in gaps.items():
        counts[f"{'maybe' if part in maybe else 'dropped'}.{part}"] = count
    counts[f"returns.{history.returns}"] = negative
    counts["returns.cancelled"] = cancelled
    counts["one_record"] = single
    return tuple(
        Sentence("divulge.events", f"remark.{key}", {"count": count})
        for key, count in counts.items()
        if count
    )
