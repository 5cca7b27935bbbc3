"""Packed keys, multiset hashes and counting sort: the loops that order a history.

Every kernel is plain Python over arrays, run as it stands on small inputs and through numba on
large ones (`divulge.qif.kernels.run`). None writes to its arguments unless it says so, and none
calls another function (numba's cache would not see that function change).

Events are numbered by user; event e has the records `starts[e]` to `starts[e + 1]`, by item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pack_keys(
    user: NDArray[Any],
    unit: NDArray[Any],
    item: NDArray[Any],
    number_of_unit: NDArray[Any],
    unit_bits: int,
    item_bits: int,
) -> NDArray[Any]:
    """Pack the user, the number of the unit and the item of each record into one number.

    Invariant: keys are ordered as users, then numbers of units, then items are.
    """
    keys = np.empty(len(user), np.uint64)
    for row in range(len(user)):
        key = (np.uint64(user[row]) << np.uint64(unit_bits)) | number_of_unit[unit[row]]
        keys[row] = (key << np.uint64(item_bits)) | np.uint64(item[row])
    return keys


def unpack_keys(
    keys: NDArray[Any], unit_bits: int, item_bits: int, item: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Read sorted keys: writes the items to `item`; gives starts, users and units of events.

    Run-length decoding in two passes: counted, then filled. Invariant: `event` runs of equal user
    and unit begin before `row`.
    """
    low = (np.uint64(1) << np.uint64(item_bits)) - np.uint64(1)
    events = 0
    for row in range(len(keys)):
        item[row] = keys[row] & low
        events += row == 0 or keys[row] >> np.uint64(item_bits) != keys[row - 1] >> np.uint64(
            item_bits
        )
    starts = np.empty(events + 1, np.int64)
    user = np.empty(events, np.int32)
    unit = np.empty(events, np.int64)
    units = (np.uint64(1) << np.uint64(unit_bits)) - np.uint64(1)
    event = 0
    for row in range(len(keys)):
        key = keys[row] >> np.uint64(item_bits)
        if row == 0 or key != keys[row - 1] >> np.uint64(item_bits):
            starts[event] = row
            user[event] = key >> np.uint64(unit_bits)
            unit[event] = key & units
            event += 1
    starts[events] = len(keys)
    return starts, user, unit


def spread_to_records(
    starts: NDArray[Any], of_event: NDArray[Any], of_record: NDArray[Any]
) -> NDArray[Any]:
    """Write to `of_record` what the event of each record has.

    Invariant: the records of all events before e are written.
    """
    for e in range(len(starts) - 1):
        for row in range(starts[e], starts[e + 1]):
            of_record[row] = of_event[e]
    return of_record


def hash_baskets(
    starts: NDArray[Any], item: NDArray[Any], hash_of_item: NDArray[Any], every: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the items of every event and sum their hashes; equal items of an event are neighbours.

    An item counts once an event, or as often as it occurs if `every`. The sum of hashes does not
    depend on the order of items; two of 64 bits are in effect never equal for unequal baskets.
    Invariant: `first` and `second` are the sums over the items of e before `row`.
    """
    events = len(starts) - 1
    count = np.zeros(events, np.int64)
    hashes = np.zeros((events, 2), np.uint64)
    for e in range(events):
        first, second = np.uint64(0), np.uint64(0)
        for row in range(starts[e], starts[e + 1]):
            if every or row == starts[e] or item[row - 1] != item[row]:
                count[e] += 1
                first += hash_of_item[item[row], 0]
                second += hash_of_item[item[row], 1]
        hashes[e, 0], hashes[e, 1] = first, second
    return count, hashes


def list_events_by_item(
    starts: NDArray[Any], item: NDArray[Any], items: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Counting sort: the events of the records of every item, in their order.

    Invariant: the records before `row` are placed, and `filled[i]` is where the next of item i
    goes.
    """
    begin = np.zeros(items + 1, np.int64)
    for row in range(len(item)):
        begin[item[row] + 1] += 1
    for each in range(items):
        begin[each + 1] += begin[each]
    filled = begin[:-1].copy()
    event = np.empty(len(item), np.int32)
    for e in range(len(starts) - 1):
        for row in range(starts[e], starts[e + 1]):
            event[filled[item[row]]] = e
            filled[item[row]] += 1
    return begin, event


def count_events_by_item(starts: NDArray[Any], event: NDArray[Any]) -> NDArray[Any]:
    """Count the different events of every item; equal ones are neighbours.

    Invariant: `count[item]` counts the runs of equal events that begin before `row`.
    """
    count = np.zeros(len(starts) - 1, np.int64)
    for item in range(len(count)):
        for row in range(starts[item], starts[item + 1]):
            count[item] += row == starts[item] or event[row] != event[row - 1]
    return count
