"""A history: who did what when, record by record, and the events that records make up.

An event is a customer's day (or hour, week, month), or what an attribute says: a receipt, a
trip. A record inherits its event's date, its number of items and its basket.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Sentence
from divulge.data import Column, Dataset
from divulge.data.dictionary import problems_with_names
from divulge.events import kernels
from divulge.events.calendar import UNITS, Times, times_of
from divulge.events.presets import PRESETS, named_as
from divulge.qif.kernels import run
from divulge.work import Problem, Problems

Ints = npt.NDArray[np.int64]
Returns: TypeAlias = Literal["drop", "keep", "net"]
Missing: TypeAlias = Literal["refuse", "drop"]


@dataclass(frozen=True, eq=False)
class History:
    """Records of a dataset read as a history: who (`user`), when (`time`), what (`item`).

    Args:
        dataset: the records.
        user: the attribute that says whose record it is.
        time: a date or time, or ISO text (`2010-12-01 08:45`; slashes are read too).
        item: what was bought, called or visited.
        event: which records belong together: a user's `hour`, `day`, `week`, `month`, ..., or an
            attribute such as a receipt.
        amount: what was paid or how many were bought; wanted for bands and for returns.
        returns: records with a negative amount: `drop` them, `keep` them as any other, or `net`
            them (they cancel the same user's records of the item if nothing is left over).
        missing: records without user, time or item: `refuse` the data, or `drop` the records.

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

    def __post_init__(self) -> None:
        problems = Problems(f'history of "{self.dataset.name}"')
        problems.extend("", self._problems_with_names())
        problems.raise_any()
        problems.extend("", self._problems_with_records())
        problems.raise_any()

    @classmethod
    def preset(cls, dataset: Dataset, kind: str, **more: Any) -> History:
        """A history of a usual kind: `card`, `retail`, `call` or `mobility` data.

        Its attributes are found by their usual names; what `History` takes can be given beside.

        >>> import divulge as dv
        >>> History.preset(dv.datasets.purchases_example(), "retail").item
        'goods'
        """
        problems = Problems(f'history of "{dataset.name}"')
        if kind not in PRESETS:
            problems.add("kind", f'"{kind}" is not a kind.', value=kind, allowed=PRESETS)
            problems.raise_any()
        chosen = {**named_as(PRESETS[kind], dataset.names), **more}
        for part in ("user", "time", "item"):
            if part not in chosen:
                usual = ", ".join(PRESETS[kind][part])
                problems.add(part, f"no attribute has a usual name ({usual}); give {part}=.")
        problems.raise_any()
        return cls(dataset, **chosen)

    @property
    def records(self) -> int:
        """How many records the history has (without those that were dropped)."""
        return len(self.kept)

    @property
    def users(self) -> int:
        """How many users there are."""
        return self._user_column.cardinality

    @property
    def events(self) -> int:
        """How many events there are."""
        return len(self.user_of_event)

    @property
    def items(self) -> int:
        """How many different items there are."""
        return len(np.unique(self.item_codes))

    def user_values(self) -> list[Any]:
        """Who the users are, in the order of their codes."""
        values: list[Any] = self._user_column.values.to_pylist()
        return values

    def codes(self, attribute: str) -> npt.NDArray[Any]:
        """An attribute's codes in the order of the history: by user, event and item."""
        return self.dataset.columns[attribute].codes[self.order]

    @property
    def item_codes(self) -> npt.NDArray[Any]:
        """The item of each record, in the order of the history."""
        return self._sorted[0]

    def times(self, unit: str, of_events: bool = False) -> Ints:
        """The number of the hour, day, week, ... of each record or event, in their order."""
        if of_events and unit == self.event:
            return self._sorted[3]
        places = self.order[self.first_of_event] if of_events else self.order
        when: Ints = self._times.period(unit)[self.dataset.columns[self.time].codes[places]]
        return when

    @property
    def has_hours(self) -> bool:
        """Whether the times say more than the day."""
        return self._times.hours

    @cached_property
    def kept(self) -> Ints:
        """The places of the records in the dataset that make up the history."""
        keep = np.ones(self.dataset.rows, dtype=bool)
        for lacking in self._lacking().values():
            keep &= ~lacking
        keep &= ~self._returned()
        return np.flatnonzero(keep)

    @cached_property
    def _packed(self) -> tuple[npt.NDArray[np.uint64], int, int]:
        """User, unit and item of each kept record in one number, and the bits of the last two."""
        user = self._user_column.codes[self.kept].astype(np.uint64)
        unit, unit_bits = self._unit_codes()
        item = self.dataset.columns[self.item].codes[self.kept]
        item_bits = _bits(self.dataset.columns[self.item].cardinality)
        if _bits(self.users) + unit_bits + item_bits > 64:
            raise work.DivulgeError(
                f'history of "{self.dataset.name}": users, events and items do not fit into '
                "64 bits; use a coarser event or a level of the item's hierarchy"
            )
        user <<= np.uint64(unit_bits)
        user |= unit
        user <<= np.uint64(item_bits)
        user |= item.astype(np.uint64)
        return user, unit_bits, item_bits

    @cached_property
    def _sorted(
        self,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], npt.NDArray[np.int32], Ints]:
        """Item and event of each record in order; user and unit of each event."""
        keys, unit_bits, item_bits = self._packed
        with work.step("Ordering the history"):
            keys = np.sort(keys)
        small = self.dataset.columns[self.item].codes.dtype
        item = (keys & np.uint64((1 << item_bits) - 1)).astype(small)
        keys >>= np.uint64(item_bits)
        begins = np.append(True, keys[1:] != keys[:-1])
        event_of = np.cumsum(begins, dtype=np.int32)
        event_of -= 1
        event = keys[begins]
        unit = (event & np.uint64((1 << unit_bits) - 1)).astype(np.int64)
        return item, event_of, (event >> np.uint64(unit_bits)).astype(np.int32), unit

    @cached_property
    def order(self) -> Ints:
        """The places in the dataset of the records in the order of the history."""
        # Asked for only where more is wanted than user, unit and item, which the keys hold.
        return self.kept[np.argsort(self._packed[0])]

    @property
    def event_of_record(self) -> npt.NDArray[np.int32]:
        """The event of each record, in the order of the history."""
        return self._sorted[1]

    @property
    def user_of_event(self) -> npt.NDArray[np.int32]:
        """The user of each event; events are numbered by user."""
        return self._sorted[2]

    @cached_property
    def records_of_event(self) -> Ints:
        """How many records each event has."""
        return np.bincount(self.event_of_record, minlength=self.events)

    @cached_property
    def first_of_event(self) -> Ints:
        """The first record of each event, in the order of the history."""
        return np.cumsum(self.records_of_event) - self.records_of_event

    @cached_property
    def records_of_user(self) -> Ints:
        """How many records each user has."""
        counts = np.bincount(self.user_of_event, self.records_of_event, minlength=self.users)
        return counts.astype(np.int64)

    @cached_property
    def baskets(self) -> tuple[Ints, npt.NDArray[np.uint64]]:
        """How many different items each event has, and a hash of the set of them."""
        return self.baskets_of(self.item_codes, every=False)

    def baskets_of(
        self, item: npt.NDArray[Any], every: bool
    ) -> tuple[Ints, npt.NDArray[np.uint64]]:
        """Counts and hashes of items that stand in order within their events."""
        with np.errstate(over="ignore"):
            found: Any = run(
                kernels.baskets,  # type: ignore[arg-type]  # gives two arrays
                len(item),
                self.event_of_record,
                item,
                self.events,
                every,
            )
        count, hashes = found
        return count, hashes

    def remarks(self) -> tuple[Sentence, ...]:
        """What was found out of the ordinary in the records, counted, in sentences."""
        counted = {f"dropped.{part}": int(rows.sum()) for part, rows in self._lacking().items()}
        negative = self._negative()
        counted[f"returns.{self.returns}"] = int(negative.sum())
        if self.returns == "net":
            counted["returns.cancelled"] = int((self._returned() & ~negative).sum())
        counted["one_record"] = int((self.records_of_user == 1).sum())
        return tuple(
            Sentence("divulge.events", f"remark.{key}", {"count": count})
            for key, count in counted.items()
            if count
        )

    def __repr__(self) -> str:
        return (
            f'History of "{self.dataset.name}": {self.records:,} records, {self.events:,} events '
            f"({self.event}), {self.users:,} users, {self.items:,} items"
        )

    # What the records are made of.

    @cached_property
    def _user_column(self) -> Column:
        """The users of the records that are kept, numbered without gaps."""
        from divulge.data.column import from_codes

        column = self.dataset.columns[self.user]
        kept = from_codes(column.codes[self.kept].astype(np.int64), column.values)
        codes = np.zeros(self.dataset.rows, dtype=kept.codes.dtype)
        codes[self.kept] = kept.codes
        return Column(codes, kept.values, False)

    @cached_property
    def _times(self) -> Times:
        times = times_of(self.dataset.columns[self.time])
        assert times is not None  # noqa: S101  # refused when the history was made
        return times

    def _unit_codes(self) -> tuple[npt.NDArray[np.uint64], int]:
        """The calendar unit or the attribute that divides a user's records into events."""
        if self.event in UNITS:
            periods = self._times.period(self.event)
            codes = periods[self.dataset.columns[self.time].codes[self.kept]]
            codes = codes - (codes.min() if len(codes) else 0)
        else:
            codes = self.dataset.columns[self.event].codes[self.kept].astype(np.int64)
        return codes.astype(np.uint64), _bits(int(codes.max(initial=0)) + 1)

    def _lacking(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Which records have no user, no readable time, no item."""
        return {
            "user": _empty(self.dataset.columns[self.user]),
            "time": self._without_time(),
            "item": _empty(self.dataset.columns[self.item]),
        }

    def _without_time(self) -> npt.NDArray[np.bool_]:
        from divulge.events.calendar import NOT_A_TIME

        column = self.dataset.columns[self.time]
        unreadable = np.append(self._times.moments == NOT_A_TIME, True)
        return unreadable[column.codes]

    def _negative(self) -> npt.NDArray[np.bool_]:
        if self.amount is None:
            return np.zeros(self.dataset.rows, dtype=bool)
        return amounts(self.dataset.columns[self.amount]) < 0

    def _returned(self) -> npt.NDArray[np.bool_]:
        """The records that are left out because something was given back."""
        negative = self._negative()
        if self.amount is None or self.returns in (None, "keep") or not negative.any():
            return np.zeros(self.dataset.rows, dtype=bool)
        if self.returns == "drop":
            return negative
        item = self.dataset.columns[self.item]
        pair = self.dataset.columns[self.user].codes.astype(np.int64) * (item.cardinality + 1)
        _, of_record = np.unique(pair + item.codes, return_inverse=True)
        paid = np.nan_to_num(amounts(self.dataset.columns[self.amount]))
        left = np.bincount(of_record, paid)[of_record]
        returned = np.bincount(of_record, negative)[of_record] > 0
        return negative | (returned & (left <= 0))

    # What may be wrong.

    def _problems_with_names(self) -> Iterator[Problem]:
        names = self.dataset.names
        for place in ("user", "time", "item", "amount"):
            given = getattr(self, place)
            if given is not None:
                yield from problems_with_names(place, [given], names)
        if self.event not in (*UNITS, *names):
            message = f'"{self.event}" is neither a unit of time nor an attribute.'
            yield Problem("event", message, value=self.event, allowed=[*UNITS, *names])
        for place, kinds in (("returns", Returns), ("missing", Missing)):
            given = getattr(self, place)
            if given is not None and given not in get_args(kinds):
                yield Problem(place, f'"{given}" cannot be.', value=given, allowed=get_args(kinds))
        if self.returns is not None and self.amount is None:
            yield Problem("returns", "only amounts tell what was returned; give amount.")

    def _problems_with_records(self) -> Iterator[Problem]:
        times = times_of(self.dataset.columns[self.time])
        if times is None:
            yield Problem("time", f'"{self.time}" holds numbers; give dates, times or ISO text.')
            return
        if times.zones > 1:
            yield Problem(
                "time",
                f'"{self.time}" mixes {times.zones} time zones (or times with and without one); '
                "bring them to one first.",
            )
        if self.event == "hour" and not times.hours:
            yield Problem("event", f'"{self.time}" holds days without hours.')
        if self.missing == "refuse":
            for part, rows in self._lacking().items():
                if rows.any():
                    what = "has no readable time" if part == "time" else f"has no {part}"
                    message = (
                        f"{int(rows.sum()):,} of {self.dataset.rows:,} records: each {what}. "
                        'To leave them out, and have it said, give missing="drop".'
                    )
                    yield Problem(part, message)
        if self.amount is not None:
            yield from self._problems_with_amounts()
        if self.missing == "drop" and not len(self.kept):
            yield Problem("", "no record is left.")
        if not self.dataset.rows:
            yield Problem("", "there are no records.")

    def _problems_with_amounts(self) -> Iterator[Problem]:
        import pyarrow as pa

        assert self.amount is not None  # noqa: S101  # asked only then
        kind = self.dataset.columns[self.amount].values.type
        if not (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        ):
            yield Problem("amount", f'"{self.amount}" does not hold numbers.')
        elif self.returns is None and self._negative().any():
            yield Problem(
                "amount",
                f"of the records, {int(self._negative().sum()):,} have a negative amount; "
                'say what they are: returns="drop", "keep" or "net".',
            )


def amounts(column: Column) -> npt.NDArray[np.float64]:
    """A column of numbers as numbers; missing ones are not a number."""
    values = np.array([float(value) for value in column.values.to_pylist()] + [np.nan])
    return values[column.codes]


def _empty(column: Column) -> npt.NDArray[np.bool_]:
    """Which records have no value: none, or a text of nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = np.zeros(len(column.values) + 1, dtype=bool)
    blank[-1] = True
    if pa.types.is_string(column.values.type) or pa.types.is_large_string(column.values.type):
        trimmed = pc.utf8_trim_whitespace(column.values)
        blank[:-1] = pc.equal(trimmed, "").to_numpy(zero_copy_only=False)
    return blank[column.codes]


def _bits(count: int) -> int:
    return max(1, int(count - 1).bit_length())
