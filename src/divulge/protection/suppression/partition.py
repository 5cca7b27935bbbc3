"""Who gives up the same with whom: the cheapest partition of few records into classes of k.

Records of a class hide every attribute in which they differ. Which classes cost least is found
exactly for a dozen records, by going over all subsets of them (a class of 2k or more is never
needed: it falls into two that hide no more). Many records are improved by dozens: classes that
stand close to each other are dissolved and put together anew, as long as these are few enough to
repay it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from numba import njit

from divulge.protection import tuning
from divulge.protection.changes.kernels import HIDDEN
from divulge.work.arrays import Floats, Ints

Codes = npt.NDArray[np.int32]


@njit(cache=True)
def _charge_attribute(codes, costs, k, spare):  # type: ignore[no-untyped-def]
    """What the records of a class pay to agree on an attribute; nothing if they do."""
    if np.all(codes == codes[0]):
        return 0.0
    if not spare:
        return costs.sum()
    total = 0.0
    for place, r in enumerate(np.argsort(costs)):
        is_alone = np.sum(codes == codes[r]) == 1
        if place < k or is_alone or costs[r] == np.inf:
            total += costs[r]
    return total


@njit(cache=True)
def _charge_classes(codes, costs, k, spare):  # type: ignore[no-untyped-def]
    """What every set of records would pay as a class; infinite if it has fewer than k."""
    records, attributes = codes.shape
    class_cost = np.full(1 << records, np.inf)
    for subset in range(1, 1 << records):
        members = np.flatnonzero((subset >> np.arange(records)) & 1)
        if members.size >= k:
            class_cost[subset] = 0.0
            for a in range(attributes):
                class_cost[subset] += _charge_attribute(
                    codes[members, a], costs[members, a], k, spare
                )
    return class_cost


@njit(cache=True)
def find_cheapest_partition(codes, costs, k, spare):  # type: ignore[no-untyped-def]
    """Classes of at least k with the least cost; by record the number of its class.

    Args:
        codes: one row per record.
        costs: what it costs to hide each cell; infinite where that may not be.
        k: how many must be in a class.
        spare: whether only k of a class, the cheapest, and whoever has a value alone are charged:
            those who show a value that others of the class have may do without hiding it.

    Returns:
        the number of the class of each record, -1 throughout if there is no partition.
    """
    records = codes.shape[0]
    class_cost = _charge_classes(codes, costs, k, spare)
    least = np.full(1 << records, np.inf)
    choice = np.zeros(1 << records, np.int64)
    least[0] = 0.0
    for subset in range(1, 1 << records):
        # The lowest record of a set is in one class, with any of the others.
        lowest = subset & -subset
        others = rest = subset ^ lowest
        while True:
            chosen = others | lowest
            cost = class_cost[chosen] + least[subset ^ chosen]
            if cost < least[subset] - 1e-9:
                least[subset], choice[subset] = cost, chosen
            if others == 0:
                break
            others = (others - 1) & rest
    number_of_record = np.full(records, -1, np.int64)
    subset = (1 << records) - 1 if least[-1] < np.inf else 0
    while subset:
        members = np.flatnonzero((choice[subset] >> np.arange(records)) & 1)
        number_of_record[members] = number_of_record.max() + 1
        subset ^= choice[subset]
    return number_of_record


def hide_differences(codes: Codes, class_of_record: Ints) -> Codes:
    """The rows after every class hid the attributes in which its records differ.

    >>> rows = np.array([[0, 1], [0, 2], [5, 5]], np.int32)
    >>> hide_differences(rows, np.array([0, 0, 1])).tolist() == [[0, HIDDEN], [0, HIDDEN], [5, 5]]
    True
    """
    rows = codes.copy()
    for number in np.unique(class_of_record):
        members = np.flatnonzero(class_of_record == number)
        differs = np.any(codes[members] != codes[members[0]], axis=0)
        rows[np.ix_(members, np.flatnonzero(differs))] = HIDDEN
    return rows


def improve_classes(
    codes: Codes, rows: Codes, k: int, costs: Floats, class_of_record: Ints
) -> Codes:
    """The rows with close classes put together anew, wherever that costs less.

    Args:
        codes: the rows before anything was hidden.
        rows: the rows now; every class of equal rows has k.
        k: how many must be equal.
        costs: what it costs to hide each cell; infinite where that may not be.
        class_of_record: the class of equal rows of each record.
    """
    rows = rows.copy()
    is_changed = np.any((rows == HIDDEN) & (codes != HIDDEN), axis=1)
    if int(is_changed.sum()) > tuning.IMPROVED_RECORDS:
        return rows
    class_now = class_of_record.copy()
    next_number = int(class_now.max(initial=-1)) + 1
    for first in range(codes.shape[1]):
        for batch in _list_close_records(codes, class_now, is_changed, first):
            number = find_cheapest_partition(codes[batch], costs[batch], k, False)
            if number[0] < 0:
                continue
            proposed = hide_differences(codes[batch], number)
            if _sum_hidden(proposed, codes[batch], costs[batch]) < (
                _sum_hidden(rows[batch], codes[batch], costs[batch]) - 1e-9
            ):
                rows[batch] = proposed
                class_now[batch] = next_number + number
                next_number += int(number.max()) + 1
    return rows


def _sum_hidden(rows: Codes, codes: Codes, costs: Floats) -> float:
    return float(costs[(rows == HIDDEN) & (codes != HIDDEN)].sum())


def _list_close_records(
    codes: Codes, class_of_record: Ints, is_changed: npt.NDArray[np.bool_], first: int
) -> Iterator[Ints]:
    """Whole classes that hide something, a dozen records at a time, sorted by their values.

    Every attribute is once the first to sort by, so that other classes come to stand together.
    """
    chosen = np.flatnonzero(is_changed)
    if chosen.size == 0:
        return
    turned = np.roll(codes, -first, axis=1)
    order = chosen[np.argsort(class_of_record[chosen], kind="stable")]
    starts = np.flatnonzero(np.diff(class_of_record[order], prepend=-1))
    classes = np.split(order, starts[1:])
    classes.sort(key=lambda members: tuple(turned[members[0]].tolist()))
    batch: list[Ints] = []
    size = 0
    for members in classes:
        if members.size > tuning.PARTITION_RECORDS:
            continue
        if size + members.size > tuning.PARTITION_RECORDS:
            yield np.concatenate(batch)
            batch, size = [], 0
        batch.append(members)
        size += members.size
    if batch:
        yield np.concatenate(batch)
