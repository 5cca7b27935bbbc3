"""A history: who did what when, record by record, and the events that records make up.

An event is a customer's day (or hour, week, month), or what an attribute says: a receipt, a
trip. A record inherits its event's date, its number of items and its basket.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Sentence
from divulge.data import Column, Dataset, Relation
from divulge.data.relation.relation import build_elsewhere_error
from divulge.events.history import ordering, reading
from divulge.events.history.calendar import NOT_A_TIME, UNITS, Times, read_times
from divulge.events.history.presets import PRESETS, find_usual_names
from divulge.events.history.reading import Missing, Returns
from divulge.events.history.relation_tables import (
    RelationCounts,
    RelationReading,
    count_relation,
)
from divulge.work import InvalidInput, Problem, Problems, checks
from divulge.work.arrays import Ints


@dataclass(frozen=True, eq=False)
class History:
    """Records of a dataset read as a history: who (`user`), when (`time`), what (`item`).

    Args:
        dataset: the records.
        user: the attribute that says whose record it is.
        time: a date or time, or ISO text (`2010-12-01 08:45`; slashes are read too). In a
            protected release also `2010-12`, `2010-Q4`, `2010-W48` or `2010`.
        item: what was bought, called or visited.
        event: which records belong together: a user's `hour`, `day`, `week`, `month`, ..., or an
            attribute such as a receipt.
        amount: what was paid or how many were bought; wanted for bands and for returns.
        returns: records with a negative amount: `drop` them, `keep` them as any other, or `net`
            them (they cancel the same user's records of the item if nothing is left over).
        missing: records without user, time or item: `refuse` the data, or `drop` the records. In
            a protected release `maybe`: a suppressed time or item may be any.
        rounded: in a protected release, the unit that its times stand for (`month`: the first of
            May stands for all of May).

    Raises:
        InvalidInput: with all that is wrong, counted; never with a value out of a record.

    >>> import divulge as dv
    >>> History(dv.datasets.purchases_example(), user="user", time="date", item="goods")
    History of "purchases": 10 records, 5 events (day), 3 users, 4 items
    """

    dataset: Dataset
    user: str
    time: str
    item: str
    event: str = "day"
    amount: str | None = None
    returns: Returns | None = None
    missing: Missing = "refuse"
    rounded: str | None = None

    def __post_init__(self) -> None:
        _require_dataset(self.dataset)
        problems = Problems(f'history of "{self.dataset.name}"')
        problems.extend("", reading.problems_with_settings(self))
        problems.raise_any()
        if self.relation_reading is None:
            problems.extend("", reading.problems_with_records(self))
        elif self.relation_counts is not None:
            problems.extend("", reading.problems_with_relation(self, self.relation_counts))
        problems.raise_any()

    @classmethod
    def preset(cls, dataset: Dataset, kind: str, **more: Any) -> History:
        """A history of a usual kind: `card`, `retail`, `call` or `mobility` data.

        Its attributes are found by their usual names; what `History` takes can be given beside.

        >>> import divulge as dv
        >>> History.preset(dv.datasets.purchases_example(), "retail").item
        'goods'
        """
        _require_dataset(dataset)
        problems = Problems(f'history of "{dataset.name}"')
        problems.extend("", checks.one_of("kind", kind, tuple(PRESETS), "a kind"))
        settings = [each.name for each in fields(cls) if each.name != "dataset"]
        for name in more:
            problems.extend("", checks.one_of("preset", name, settings, "a setting of a history"))
        problems.raise_any()
        settings_by_name = {**find_usual_names(PRESETS[kind], dataset.names), **more}
        for part in ("user", "time", "item"):
            if part not in settings_by_name:
                usual = ", ".join(PRESETS[kind][part])
                problems.add(part, f"no attribute has a usual name ({usual}); give {part}=.")
        problems.raise_any()
        return cls(dataset, **settings_by_name)

    @property
    def records(self) -> int:
        """How many records the history has (without those that were dropped)."""
        if self.relation_counts is not None:
            return self.relation_counts.records
        return (
            self.dataset.rows if self._selection is None else int(np.count_nonzero(self._selection))
        )

    @property
    def users(self) -> int:
        """How many users there are."""
        if self.relation_counts is not None:
            return self.relation_counts.users
        return self._user_column.cardinality

    @property
    def events(self) -> int:
        """How many events there are."""
        if self.relation_counts is not None:
            return self.relation_counts.events
        return len(self.user_of_event)

    @property
    def items(self) -> int:
        """How many different items there are."""
        if self.relation_counts is not None:
            return self.relation_counts.items
        return int(np.count_nonzero(np.bincount(self.item_codes)))

    def user_values(self) -> list[Any]:
        """Who the users are, in the order of their codes."""
        values: list[Any] = self._user_column.values.to_pylist()
        return values

    def codes(self, attribute: str) -> npt.NDArray[Any]:
        """An attribute's codes in the order of the history: by user, event and item."""
        self.dataset.attributes(attribute, "codes")
        return self.dataset.columns[attribute].codes[self.order]

    @property
    def item_codes(self) -> npt.NDArray[Any]:
        """The item of each record, in the order of the history."""
        return self.ordered.item

    def times(self, unit: str, of_events: bool = False) -> Ints:
        """The number of the hour, day, week, ... of each record or event, in their order."""
        problems = Problems("times")
        problems.extend("", checks.one_of("unit", unit, UNITS, "a unit of time"))
        problems.raise_any()
        if of_events and unit == self.event:
            return self.ordered.unit
        places = self.order[self.first_of_event] if of_events else self.order
        when: Ints = self.calendar.period_numbers(unit)[
            self.dataset.columns[self.time].codes[places]
        ]
        return when

    @property
    def has_hours(self) -> bool:
        """Whether the times say more than the day."""
        return self.calendar.has_hours

    @cached_property
    def calendar(self) -> Times:
        """The distinct times of the records."""
        if self.relation_counts is not None and self.relation_counts.times is not None:
            return self.relation_counts.times
        times = read_times(
            self.dataset.columns[self.time], self.rounded, periods=self.missing == "maybe"
        )
        assert times is not None  # noqa: S101  # refused when the history was made
        return times

    @property
    def kept(self) -> Ints:
        """The places of the records in the dataset that make up the history."""
        return (
            np.arange(self.dataset.rows)
            if self._selection is None
            else np.flatnonzero(self._selection)
        )

    @cached_property
    def ordered(self) -> ordering.OrderedRecords:
        """The records in the order of the history, and the events."""
        return ordering.order_records(
            self._pack_records(), self.dataset.columns[self.item].codes.dtype
        )

    @cached_property
    def order(self) -> Ints:
        """The places in the dataset of the records in the order of the history."""
        # Asked for only where more is wanted than user, unit and item, which the keys hold.
        return self.kept[np.argsort(self._pack_records().keys, kind="stable")]

    @property
    def event_of_record(self) -> npt.NDArray[np.int32]:
        """The event of each record, in the order of the history."""
        return self.ordered.event_of_record

    @property
    def user_of_event(self) -> npt.NDArray[np.int32]:
        """The user of each event; events are numbered by user."""
        return self.ordered.user

    @property
    def user_of_record(self) -> npt.NDArray[np.int32]:
        """The user of each record, in the order of the history."""
        return self.ordered.spread_to_records(self.user_of_event)

    @cached_property
    def records_of_event(self) -> Ints:
        """How many records each event has."""
        return np.diff(self.ordered.starts)

    @property
    def first_of_event(self) -> Ints:
        """The first record of each event, in the order of the history."""
        return self.ordered.starts[:-1]

    @cached_property
    def records_of_user(self) -> Ints:
        """How many records each user has."""
        counts = np.bincount(self.user_of_event, self.records_of_event, minlength=self.users)
        return counts.astype(np.int64)

    @cached_property
    def baskets(self) -> tuple[Ints, npt.NDArray[np.uint64]]:
        """How many different items each event has, and a hash of the set of them."""
        return ordering.hash_baskets(self.ordered, self.item_codes, every=False)

    @cached_property
    def basket_numbers(self) -> Ints:
        """The number of each event's set of items: equal sets, and only they, have the same."""
        return ordering.number_hashes(self.baskets[1])

    @cached_property
    def by_item(self) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Where the records of each item begin, and their events."""
        return ordering.list_events_by_item(self.ordered, self.item_codes)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the records stay where they are, and an engine counts them."""
        return isinstance(self.dataset, Relation)

    @cached_property
    def relation_reading(self) -> RelationReading | None:
        """How an engine reads the records, where these stay with it.

        Raises:
            RecordsElsewhere: if they are to be read in a way that only memory has.
        """
        relation = self.dataset
        if not isinstance(relation, Relation):
            return None
        for is_asked, what in (
            (self.returns == "net", 'a history with returns = "net"'),
            (self.missing == "maybe" or self.rounded is not None, "a protected history"),
        ):
            if is_asked:
                raise build_elsewhere_error(relation.name, relation.engine, what)
        return RelationReading(
            relation=relation,
            user=self.user,
            time=self.time,
            item=self.item,
            event=self.event,
            amount=self._counted_amount,
            returns=self.returns,
        )

    @property
    def _counted_amount(self) -> str | None:
        """The amount, if it contains numbers; that it does not is said before it is used."""
        name = self.amount
        return name if name is not None and reading.has_amounts(self.dataset, name) else None

    @cached_property
    def relation_counts(self) -> RelationCounts | None:
        """What an engine has counted of the records, where these stay with it."""
        return None if self.relation_reading is None else count_relation(self.relation_reading)

    def remarks(self) -> tuple[Sentence, ...]:
        """What was found out of the ordinary in the records, counted, in sentences."""
        return reading.describe_remarks(self)

    def __repr__(self) -> str:
        return (
            f'History of "{self.dataset.name}": {self.records:,} records, {self.events:,} events '
            f"({self.event}), {self.users:,} users, {self.items:,} items"
        )

    # What the records are made of.

    @cached_property
    def _selection(self) -> npt.NDArray[np.bool_] | None:
        return reading.select_records(self)

    @cached_property
    def _user_column(self) -> Column:
        """The users of the records that are kept, numbered without gaps."""
        from divulge.data.column import column_from_codes

        column = self.dataset.columns[self.user]
        if self._selection is None:
            return column
        renumbered = column_from_codes(
            column.codes[self._selection].astype(np.int64), column.values
        )
        codes = np.zeros(self.dataset.rows, dtype=renumbered.codes.dtype)
        codes[self._selection] = renumbered.codes
        return Column(codes, renumbered.values, False)

    def _pack_records(self) -> ordering.PackedKeys:
        unit, number = self._number_units()
        item = self.dataset.columns[self.item]
        return ordering.pack_keys(
            self._user_column, unit, number, item=item, keep=self._selection, name=self.dataset.name
        )

    def _number_units(self) -> tuple[Column, Ints]:
        """What divides a user's records into events: a column, and the number of each code."""
        if self.event not in UNITS:
            column = self.dataset.columns[self.event]
            return column, np.arange(column.cardinality)
        column = self.dataset.columns[self.time]
        periods = self.calendar.period_numbers(self.event)
        readable = self.calendar.moments != NOT_A_TIME
        numbers = periods - periods[readable].min(initial=np.iinfo(np.int64).max)
        # Suppressed times, where they are kept at all, make up an event of their own.
        has_unreadable = column.has_missing or not readable.all()
        last = int(numbers[readable].max(initial=-1)) + 1 if has_unreadable else 0
        return column, np.append(np.where(readable, numbers, last), last)


def problems_with_history(place: str, value: Any) -> Iterator[Problem]:
    """What is wrong with what should be a history."""
    if not isinstance(value, History):
        kind = type(value).__name__
        hint = "History(dataset, user=..., time=..., item=...)"
        yield Problem(place, f"takes a history, not a {kind}; give {hint}.")


def require_history(subject: str, history: History) -> None:
    """Refuse what is no history, before anything is asked of it."""
    problems = list(problems_with_history("history", history))
    if problems:
        raise InvalidInput(subject, problems)


def _require_dataset(dataset: Any) -> None:
    if not isinstance(dataset, Dataset):
        hint = "read a file (dv.read), or give Dataset.from_arrow(table)"
        message = f"takes a dataset, not a {type(dataset).__name__}; {hint}."
        raise InvalidInput("history", [Problem("dataset", message)])
