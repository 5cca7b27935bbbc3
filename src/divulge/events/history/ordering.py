"""The order of a history: records by user, event and item, and what the events are.

User, event and item are packed into 64 bits, so that one sort orders the history and the sorted
keys hold all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Column
from divulge.events.history import ordering_kernels as kernels
from divulge.qif.kernels import run
from divulge.work.arrays import Ints


@dataclass(frozen=True, eq=False)
class PackedKeys:
    """User, unit and item of each kept record in one number, and the bits of the last two."""

    keys: npt.NDArray[np.uint64]
    unit_bits: int
    item_bits: int


@dataclass(frozen=True, eq=False)
class OrderedRecords:
    """The items of all records in order, and of each event its first record, user and unit."""

    item: npt.NDArray[Any]
    starts: Ints
    user: npt.NDArray[np.int32]
    unit: Ints

    @cached_property
    def event_of_record(self) -> npt.NDArray[np.int32]:
        """The event of each record."""
        return self.spread_to_records(np.arange(len(self.user), dtype=np.int32))

    def spread_to_records(self, of_event: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What each record has from its event."""
        of_record = work.allocate_array(len(self.item), of_event.dtype)
        return run(kernels.spread_to_records, len(self.item), self.starts, of_event, of_record)


def pack_keys(
    user: Column, unit: Column, number_of_unit: Ints, *, item: Column, keep: Any, name: str
) -> PackedKeys:
    """One number for each kept record; units are numbered by `number_of_unit` of their code."""
    unit_bits = _count_bits(int(number_of_unit.max(initial=0)) + 1)
    item_bits = _count_bits(item.cardinality)
    if _count_bits(user.cardinality) + unit_bits + item_bits > 64:
        raise work.DivulgeError(
            f'history of "{name}": users, events and items do not fit into '
            "64 bits; use a coarser event or a level of the item's hierarchy"
        )
    codes = (user.codes, unit.codes, item.codes)
    if keep is not None:
        codes = tuple(each[keep] for each in codes)
    table = number_of_unit.astype(np.uint64)
    keys: Any = run(kernels.pack_keys, len(codes[0]), *codes, table, unit_bits, item_bits)
    return PackedKeys(keys, unit_bits, item_bits)


def order_records(packed: PackedKeys, codes: np.dtype[Any]) -> OrderedRecords:
    """Sort the keys, in their place, and read off what they hold."""
    with work.step("Ordering the history"):
        keys = packed.keys
        keys.sort()
        item = work.allocate_array(len(keys), codes)
        event_arrays: Any = run(
            kernels.unpack_keys,  # type: ignore[arg-type]  # gives several arrays
            len(keys),
            keys,
            packed.unit_bits,
            packed.item_bits,
            item,
        )
    starts, user, unit = event_arrays
    return OrderedRecords(item, starts, user, unit)


def hash_baskets(
    records: OrderedRecords, item: npt.NDArray[Any], every: bool
) -> tuple[Ints, npt.NDArray[np.uint64]]:
    """How many items each event has and a hash of them; equal items of an event are neighbours."""
    hashes = _hash_items(int(item.max(initial=0)) + 1)
    with np.errstate(over="ignore"):  # sums of hashes wrap around
        baskets: Any = run(
            kernels.hash_baskets,  # type: ignore[arg-type]  # gives two arrays
            len(item),
            records.starts,
            item,
            hashes,
            every,
        )
    return baskets[0], baskets[1]


def list_events_by_item(
    records: OrderedRecords, item: npt.NDArray[Any]
) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Where each item's records begin, and the events of them, in order."""
    postings: Any = run(
        kernels.list_events_by_item,  # type: ignore[arg-type]  # gives two arrays
        len(item),
        records.starts,
        item,
        int(item.max(initial=0)) + 1,
    )
    return postings[0], postings[1]


def count_events_by_item(starts: Ints, event: npt.NDArray[np.int32]) -> Ints:
    """In how many events each item is, of what `list_events_by_item` gives."""
    event_counts: Any = run(kernels.count_events_by_item, len(event), starts, event)
    counted: Ints = event_counts
    return counted


def number_hashes(hashes: npt.NDArray[np.uint64]) -> Ints:
    """Equal hashes of 128 bits, and only they, have the same number."""
    by_hash = np.argsort(hashes[:, 0])
    in_order = hashes[by_hash]
    if np.any((in_order[1:, 0] == in_order[:-1, 0]) & (in_order[1:, 1] != in_order[:-1, 1])):
        # Two baskets that agree in the first 64 bits only: the second decides.
        by_hash = np.lexsort((hashes[:, 1], hashes[:, 0]))
        in_order = hashes[by_hash]
    number = np.zeros(len(hashes), np.int64)
    number[by_hash[1:]] = np.cumsum(np.any(in_order[1:] != in_order[:-1], axis=1))
    return number


def _hash_items(items: int) -> npt.NDArray[np.uint64]:
    """Two hashes of 64 bits for each item: the finaliser of splitmix64, from two starts."""
    number = np.arange(1, items + 1, dtype=np.uint64)
    hashes = []
    for start in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03):
        x = number * np.uint64(start)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes.append(x ^ (x >> np.uint64(31)))
    return np.stack(hashes, axis=1)


def _count_bits(count: int) -> int:
    return max(1, int(count - 1).bit_length())
