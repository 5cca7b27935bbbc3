"""Synthetic payment histories: baskets that follow a power law, seasons, customers who return.

Most customers come once or twice and a few come often; most baskets are small and a few are
large; few goods are bought by many and many by few; some goods sell in their season only, and a
customer who returns buys some of the same goods again. Nobody in it exists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Dataset
from divulge.data.column import column_from_codes
from divulge.work.arrays import Ints

Random = np.random.Generator

FIRST_DAY = "2010-12-01"
RECORDS_PER_USER = 95
RECORDS_PER_EVENT = 13
LARGEST_BASKET = 200
SEASONAL_SHARE = 0.25
SEASON_DAYS = 45
REPEAT_SHARE = 0.3
REGULAR_GOODS = 12
REGIONS = ("north", "east", "south", "west")
_RECORDS_AT_A_TIME = 1 << 21


def payment_histories(
    records: int = 40_000, items: int = 2_800, days: int = 365, seed: int = 2018
) -> Dataset:
    """Synthetic payments: user, region, receipt, date, goods, category, number, price.

    Args:
        records: about how many lines of receipts (exact to the last basket).
        items: how many different goods there are.
        days: over how many days they go.
        seed: the same seed gives the same histories.

    >>> payments = payment_histories(records=1000, items=50)
    >>> payments
    Dataset "payments": 1,000 payments, 8 attributes (1 identifier, 1 non_identifying, 1 time)
    """
    if min(records, items, days) < 1:
        raise work.DivulgeError("payments: give numbers of records, items and days from 1")
    random = np.random.default_rng(seed)
    users = max(2, records // RECORDS_PER_USER)
    visits = max(1, records // RECORDS_PER_EVENT)
    user, day = _draw_visits(users, visits, days, random)
    size = _draw_basket_sizes(len(user), random)
    # As many visits as it takes: cut the last basket, or fill it up.
    event = np.repeat(np.arange(len(user)), size)[:records]
    event = np.append(event, np.full(records - len(event), len(user) - 1))
    goods = np.empty(records, np.int32)
    with work.step("Making payment histories", records) as step:
        for start in range(0, records, _RECORDS_AT_A_TIME):
            part = slice(start, min(records, start + _RECORDS_AT_A_TIME))
            goods[part] = _draw_goods(user[event[part]], day[event[part]], items, days, random)
            step.advance(part.stop - part.start)
    columns = _build_columns(user, day, event, goods=goods, items=items, random=random)
    roles = {"identifier": ["user"], "time": "date", "non_identifying": ["receipt"]}
    return Dataset(columns, name="payments", subjects="payments").describe(roles)


def _draw_visits(users: int, visits: int, days: int, random: Random) -> tuple[Ints, Ints]:
    """Who comes when: a few often, busier before the end of the year, closed on some days."""
    visit_weights = random.permutation((np.arange(users) + 3.0) ** -0.8)
    # Everybody comes at least once.
    more = random.choice(users, max(0, visits - users), p=visit_weights / visit_weights.sum())
    user = np.append(np.arange(users), more)
    day_weights = 1 + 0.6 * np.exp(-(((np.arange(days) - days * 0.95) / (days * 0.08)) ** 2))
    day_weights[np.arange(days) % 7 == 3] = 0.02
    day = random.choice(days, len(user), p=day_weights / day_weights.sum())
    order = np.lexsort((day, user))
    return user[order], day[order]


def _draw_basket_sizes(visits: int, random: Random) -> Ints:
    """How many lines a basket has: one item often, else a power law cut off."""
    tail = np.floor(6 * (1 - random.random(visits)) ** -0.75).astype(np.int64)
    return np.where(random.random(visits) < 0.06, 1, np.minimum(tail, LARGEST_BASKET))


def _draw_goods(user: Ints, day: Ints, items: int, days: int, random: Random) -> Ints:
    """What is bought: by Zipf's law, in season, and partly what the customer bought before."""
    rank = _draw_zipf_ranks(items, len(user), random)
    season = (rank * 7919) % max(1, days - SEASON_DAYS + 1)
    seasonal = (rank * 2654435761) % 1000 < SEASONAL_SHARE * 1000
    out_of_season = seasonal & ((day < season) | (day >= season + SEASON_DAYS))
    rank = np.where(out_of_season, _draw_zipf_ranks(items, len(user), random), rank)
    # A customer's regular goods are always the same: a few numbers made of the customer's.
    which = random.integers(0, REGULAR_GOODS, len(user))
    hashes = (user * REGULAR_GOODS + which).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    share = (hashes >> np.uint64(11)).astype(np.float64) / 2**53
    regular = _find_zipf_ranks(items, share)
    return np.where(random.random(len(user)) < REPEAT_SHARE, regular, rank)


def _draw_zipf_ranks(items: int, count: int, random: Random) -> Ints:
    return _find_zipf_ranks(items, random.random(count))


def _find_zipf_ranks(items: int, share: npt.NDArray[np.float64]) -> Ints:
    """The item at a share of all that is sold, the most popular first."""
    cumulative = np.cumsum((np.arange(items) + 20.0) ** -0.9)
    ranks: Ints = np.searchsorted(cumulative / cumulative[-1], share).clip(0, items - 1)
    return ranks


def _build_columns(
    user: Ints, day: Ints, event: Ints, *, goods: npt.NDArray[np.int32], items: int, random: Random
) -> dict[str, Any]:
    import pyarrow as pa

    dates = np.datetime64(FIRST_DAY) + np.arange(int(day.max()) + 1)
    region = random.integers(0, len(REGIONS), int(user.max()) + 1)
    codes = np.array([f"G{number:05d}" for number in range(items)])
    category = np.array([f"C{number:02d}" for number in range(40)])
    price = np.round(0.4 + 12 * (np.arange(items) * 0.6180339887 % 1) ** 3, 2)
    number = np.minimum(random.geometric(0.25, len(event)), 50)
    return {
        "user": column_from_codes(user[event], pa.array(np.arange(int(user.max()) + 1) + 10_000)),
        "region": column_from_codes(region[user[event]], pa.array(REGIONS)),
        "receipt": column_from_codes(event, pa.array(np.arange(len(user)) + 500_000)),
        "date": column_from_codes(day[event], pa.array(dates)),
        "goods": column_from_codes(goods, pa.array(codes)),
        "category": column_from_codes(goods % 40, pa.array(category)),
        "number": column_from_codes(number, pa.array(np.arange(51))),
        "price": column_from_codes(goods, pa.array(price)),
    }
