"""A history whose records stay where they are: read by an engine, in tables of whole numbers.

Users, items and other attributes are numbered by the engine. The different times come home, are
read as in memory, and go back as numbers of hours, days, weeks, ...: so texts are read alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.data.relation.relation import build_elsewhere_error
from divulge.data.relation.value_codes import build_code_join, keep_value_codes
from divulge.events import tuning
from divulge.events.history.calendar import NOT_A_TIME, UNITS, Times, read_times
from divulge.events.history.values import find_blank_values
from divulge.work.arrays import Ints

if TYPE_CHECKING:
    from divulge.data import Relation
    from divulge.engines import Session

ROWS = "history_rows"
"""User `u`, event within the user `w`, item `i`, periods, attributes, and how many records: `n`."""
EVENTS = "history_events"
"""User `u`, event `w`, `records`, `kinds`, periods that follow from the event, and its `basket`."""
USERS = "history_users"
"""User `u` and their `records`."""
TIMES = "history_times"
VISIBLE = "[!-~]"


@dataclass(frozen=True, kw_only=True)
class RelationReading:
    """How records of a relation are read as a history: as `History` has it."""

    relation: Relation
    user: str
    time: str
    item: str
    event: str
    amount: str | None
    returns: str | None


@dataclass(frozen=True, kw_only=True)
class RelationCounts:
    """What was found in the records: gaps and returns, and of the others how many there are."""

    times: Times | None
    gaps: dict[str, int]
    """How many records have no user, no readable time, no item."""
    negative: int
    """How many have a negative amount."""
    records: int
    users: int
    events: int
    items: int
    single: int
    """Users with one record."""
    largest: int
    """The records of the user who has most."""


def count_relation(reading: RelationReading) -> RelationCounts:
    """One look at the records of a relation."""
    with open_history(reading) as tables:
        session = tables.session
        if tables.times is None:
            totals = dict.fromkeys(("records", "users", "events", "items", "single", "largest"), 0)
            return RelationCounts(times=None, gaps={}, negative=0, **totals)
        [found] = session.table(tables.gaps_sql).to_pylist()
        [by_user] = session.table(
            f"SELECT count(*) AS users, CAST(sum(records) AS BIGINT) AS records, "
            f"CAST(sum(CASE WHEN records = 1 THEN 1 ELSE 0 END) AS BIGINT) AS single, "
            f"max(records) AS largest FROM {USERS}"
        ).to_pylist()
        events = int(session.arrays(f"SELECT count(*) AS n FROM {EVENTS}")["n"][0])
        items = int(session.arrays(f"SELECT count(DISTINCT i) AS n FROM {ROWS}")["n"][0])
    return RelationCounts(
        times=tables.times,
        gaps={part: int(found[part]) for part in ("user", "time", "item")},
        negative=int(found["negative"]),
        events=events,
        items=items,
        **{name: int(value or 0) for name, value in by_user.items()},
    )


@dataclass(frozen=True)
class HistoryTables:
    """A session in which a history stands as tables."""

    session: Session
    times: Times | None
    gaps_sql: str = ""


@contextmanager
def open_history(
    reading: RelationReading, attributes: Sequence[str] = (), baskets: bool = False
) -> Iterator[HistoryTables]:
    """The tables of a history, with some attributes of each record (`a0`, `a1`, ...)."""
    relation = reading.relation
    with work.step("Reading a history"), relation.open() as session:
        own = [] if reading.event in UNITS else [reading.event]
        names = dict.fromkeys([reading.user, reading.time, reading.item, *own, *attributes])
        for name in names:
            keep_value_codes(session, relation, name)
        times = _offer_times(session, reading)
        if times is None:
            yield HistoryTables(session, None)
            return
        conditions = _find_gap_conditions(session, reading)
        aliases = {name: f"d{place}" for place, name in enumerate(names)}
        joins = " ".join(build_code_join(relation, name, alias) for name, alias in aliases.items())
        source = (
            f"records AS r {joins} LEFT JOIN {TIMES} AS t ON {aliases[reading.time]}.code = t.code"
        )
        conditions = {
            part: condition.format(**{p: aliases[getattr(reading, p)] for p in conditions})
            for part, condition in conditions.items()
        }
        negative = "1 = 0"
        if reading.amount is not None:
            negative = f"coalesce(r.{relation.find_column(reading.amount)} < 0, false)"
        left_out = [*conditions.values(), *([negative] if reading.returns == "drop" else [])]
        unit = f"t.{reading.event}" if not own else f"{aliases[reading.event]}.code"
        columns = {"u": f"{aliases[reading.user]}.code", "w": unit}
        columns |= {"i": f"{aliases[reading.item]}.code"}
        columns |= {f"t_{each}": f"t.{each}" for each in UNITS}
        columns |= {f"a{place}": f"{aliases[name]}.code" for place, name in enumerate(attributes)}
        _keep_history(session, columns, f"{source} WHERE NOT ({' OR '.join(left_out)})", baskets)
        counts = {**conditions, "negative": negative}
        summed = ", ".join(
            f"CAST(sum(CASE WHEN {condition} THEN 1 ELSE 0 END) AS BIGINT) AS {part}"
            for part, condition in counts.items()
        )
        yield HistoryTables(session, times, f"SELECT {summed} FROM {source}")


def _keep_history(session: Session, columns: dict[str, str], source: str, baskets: bool) -> None:
    listed = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
    session.keep(
        ROWS,
        f"SELECT {listed}, count(*) AS n FROM {source} GROUP BY {', '.join(columns.values())}",
    )
    periods = ", ".join(f"min(t_{each}) AS t_{each}" for each in UNITS)
    basket = ", list_sort(list(DISTINCT i)) AS basket" if baskets else ""
    session.keep(
        EVENTS,
        f"SELECT u, w, CAST(sum(n) AS BIGINT) AS records, count(DISTINCT i) AS kinds, "
        f"{periods}{basket} FROM {ROWS} GROUP BY u, w",
    )
    session.keep(
        USERS,
        f"SELECT u, CAST(sum(records) AS BIGINT) AS records FROM {EVENTS} GROUP BY u",
    )


def _offer_times(session: Session, reading: RelationReading) -> Times | None:
    """The numbers of all periods of each time's code; None if the times are no times."""
    import pyarrow as pa

    relation = reading.relation
    codes = f"codes_{relation.find_column(reading.time)}"
    kinds = int(session.arrays(f"SELECT count(*) AS n FROM {codes}")["n"][0])
    if kinds > tuning.MAX_TIMES_OF_RELATION:
        what = f"a history of more than {tuning.MAX_TIMES_OF_RELATION:,} different times"
        raise build_elsewhere_error(relation.name, relation.engine, what)
    found = session.table(f"SELECT v, code FROM {codes}")
    column = relation.encode_values(reading.time, found.column("v").combine_chunks())
    times = read_times(column)
    if times is None:
        return None
    # A missing time has the code after all others.
    is_readable = np.append(times.moments != NOT_A_TIME, False)[column.codes]
    periods: dict[str, Ints] = {
        unit: np.where(is_readable, np.append(times.period_numbers(unit), 0)[column.codes], 0)
        for unit in UNITS
    }
    table = {"code": found.column("code"), "readable": is_readable.astype(np.int32), **periods}
    session.register(TIMES, pa.table(table))
    return times


def _find_gap_conditions(session: Session, reading: RelationReading) -> dict[str, str]:
    """When a record has no user, time or item; with a place for each table of codes."""
    conditions = {"user": "", "time": "t.readable = 0", "item": ""}
    for part in ("user", "item"):
        blank = ", ".join(str(code) for code in _list_blank_codes(session, reading, part))
        conditions[part] = f"({{{part}}}.v IS NULL OR {{{part}}}.code IN ({blank or -1}))"
    return conditions


def _list_blank_codes(session: Session, reading: RelationReading, part: str) -> list[int]:
    """The codes of texts of nothing: those without a visible sign come home, and are looked at."""
    import pyarrow as pa

    relation, name = reading.relation, getattr(reading, part)
    if not pa.types.is_string(relation.find_type(name)):
        return []
    codes = f"codes_{relation.find_column(name)}"
    found = session.table(
        f"SELECT v, code FROM {codes} WHERE v IS NOT NULL AND NOT regexp_matches(v, '{VISIBLE}')"
    )
    column = relation.encode_values(name, found.column("v").combine_chunks())
    is_blank = np.append(find_blank_values(column), True)[column.codes]
    return [int(code) for code in found.column("code").to_numpy()[is_blank]]
