"""What is done to a history: coarser times and items, rare items and long baskets cut, a sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from divulge.data import Dataset
from divulge.data.column import replace_values as with_values
from divulge.events.history.calendar import NOT_A_TIME, UNITS, read_times
from divulge.protection.changes.recodings import apply_recoding
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Ints


def coarsen_times(dataset: Dataset, time: str, unit: str) -> Dataset:
    """Every time as the first day of its week, month, quarter or year (an hour as its day).

    >>> import divulge as dv
    >>> coarse = coarsen_times(dv.datasets.purchases_example(), "date", "month")
    >>> len(coarse.columns["date"].values)
    1
    """
    import pyarrow as pa

    [time] = dataset.attributes(time, "time")
    column = dataset.columns[time]
    times = read_times(column)
    if unit not in UNITS[1:]:
        problem = Problem("unit", f'"{unit}" is not a unit of time.', unit, UNITS[1:])
        raise InvalidInput("coarser_times", [problem])
    readable = np.zeros(0, bool) if times is None else times.moments != NOT_A_TIME
    if times is None or (len(readable) and not readable.any()):
        raise InvalidInput("coarser_times", [Problem(f'time "{time}"', "contains no times.")])
    days = np.where(readable, times.moments, 0) // 86_400_000_000
    first = days.astype("M8[D]")
    if unit == "week":
        first = first - ((days + 3) % 7).astype("m8[D]")
    elif unit != "day":
        months = first.astype("M8[M]").astype(np.int64)
        step = {"month": 1, "quarter": 3, "year": 12}[unit]
        first = (months // step * step).astype("M8[M]").astype("M8[D]")
    values = pa.array(first.astype("M8[D]"), mask=~readable)
    return replace(dataset, columns={**dataset.columns, time: with_values(column, values)})


def coarsen_items(dataset: Dataset, item: str, level: int) -> Dataset:
    """Every item at a level of its hierarchy."""
    hierarchy = dataset.dictionary[item].hierarchy
    if hierarchy is None:
        problem = Problem(f'item "{item}"', "has no hierarchy.")
        raise InvalidInput(f'dataset "{dataset.name}"', [problem])
    return apply_recoding(dataset, item, hierarchy.coarsen(dataset.columns[item], level), level)


def select_common_items(dataset: Dataset, user: str, item: str, least: int) -> Ints:
    """The records whose item at least so many users had."""
    column = dataset.columns[user]
    item_codes = dataset.columns[item].codes.astype(np.int64)
    # Records of nobody are no further user.
    of_somebody = column.codes != column.missing_code
    user_codes = column.codes[of_somebody].astype(np.int64)
    pairs = np.unique(np.stack([item_codes[of_somebody], user_codes]), axis=1)
    users = np.bincount(pairs[0], minlength=int(item_codes.max(initial=0)) + 1)
    return np.flatnonzero(users[item_codes] >= least)


def cap_baskets(dataset: Dataset, user: str, time: str, *, event: str, cap: int, seed: int) -> Ints:
    """At most so many records of each event, drawn at random."""
    if event in UNITS:
        times = read_times(dataset.columns[time])
        assert times is not None  # noqa: S101  # a history has times
        period = np.append(times.period_numbers(event), 0)[dataset.columns[time].codes]
    else:
        period = dataset.columns[event].codes.astype(np.int64)
    user_codes = dataset.columns[user].codes.astype(np.int64)
    drawn = np.random.default_rng(seed).random(dataset.rows)
    order = np.lexsort((drawn, period, user_codes))
    new = np.ones(dataset.rows, np.bool_)
    new[1:] = (user_codes[order][1:] != user_codes[order][:-1]) | (
        period[order][1:] != period[order][:-1]
    )
    starts = np.maximum.accumulate(np.where(new, np.arange(dataset.rows), 0))
    return np.sort(order[np.arange(dataset.rows) - starts < cap])


def sample_users(dataset: Dataset, user: str, share: float, seed: int) -> Ints:
    """The records of a share of the users, drawn at random."""
    column = dataset.columns[user]
    users = len(column.values)
    drawn = np.random.default_rng(seed).permutation(users)[: max(1, round(share * users))]
    chosen = np.zeros(users + 1, np.bool_)
    chosen[drawn] = True
    return np.flatnonzero(chosen[column.codes])
