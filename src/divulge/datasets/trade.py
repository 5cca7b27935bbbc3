"""A synthetic month of foreign trade: declarations without importers, totals by city and state.

The shape is that of the case study of Favato et al. (2022): 27 states, some thousand cities,
product codes of 8 digits under headings of 4, heavy-tailed values with cents and weights with 5
decimals. Importers deal in a few headings and countries, so that a city's totals are of few
declarations. Declarations and totals by state tell the customs unit too. Codes in which fewer than
4 importers deal are withheld from the declarations and stay in the totals; some declarations are
left out of the totals, and some are only in them. Nobody in it exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Dataset
from divulge.data.column import column_from_codes
from divulge.datasets import trade_generator
from divulge.datasets.trade_generator import CENTS_PER_DOLLAR, GRAINS_PER_KILOGRAM, MOST_HEADINGS
from divulge.work.arrays import Ints

Random = np.random.Generator

SECTORS = (
    "food",
    "textiles",
    "chemicals",
    "metals",
    "machines",
    "electronics",
    "vehicles",
    "other",
)
AMOUNTS = ("value", "weight", "freight", "insurance", "quantity")


@dataclass(frozen=True, kw_only=True)
class TradeMonth:
    """What is published of a month of trade, and the truth behind it.

    `transactions` have no importer; `by_city` (of headings and countries) and `by_state` (of codes,
    countries and customs units) are the totals; `importers` are listed by city. `truth` has the
    city and state of every transaction, for who audits.
    """

    transactions: Dataset
    by_city: Dataset
    by_state: Dataset
    importers: Dataset
    truth: Dataset
    suppressed_codes: int
    excluded: npt.NDArray[np.bool_]


def trade_month(
    seed: int = 2021,
    transactions: int = 817_468,
    importers: int = 18_430,
    cities: int | None = None,
    states: int = 27,
    *,
    products: int = 7_062,
    headings: int | None = None,
    countries: int = 150,
    customs_units: int | None = None,
    excluded: float = 0.0005,
    extra: float = 0.0002,
) -> TradeMonth:
    """Make up a month of imports as an agency might publish it.

    Args:
        seed: the same seed gives the same month.
        transactions: how many there are, those of suppressed codes and extra ones included.
        importers: how many companies import.
        cities: in how many cities; by the number of importers if not given.
        states: over how many states the cities are spread.
        products: how many codes of 8 digits; `headings`: how many first 4 digits they have.
        headings: as many as the codes suggest if not given; at most 1,415.
        countries: where goods come from.
        customs_units: at how many they are cleared; by the number of importers if not given, and
            if 0 nobody tells where.
        excluded: the share of transactions that the totals leave out.
        extra: the share of transactions that only the totals have.

    >>> month = trade_month(transactions=2000, importers=120, products=60, countries=8)
    >>> month.transactions
    Dataset "transactions": ... transactions, 9 attributes (1 identifier)
    >>> month.by_state.names[:5]
    ['product', 'country', 'customs_unit', 'state', 'value']
    """
    counts = {
        "transactions": transactions,
        "importers": importers,
        "states": states,
        "products": products,
        "countries": countries,
        "cities": cities,
        "headings": headings,
    }
    _check_arguments(counts, {"excluded": excluded, "extra": extra}, customs_units)
    random = np.random.default_rng(seed)
    cities = cities or max(states, round(importers**0.5 * 12.5))
    headings = headings or min(max(1, products // 6), MOST_HEADINGS)
    if customs_units is None:
        customs_units = max(1, round(importers**0.5 * 0.75))
    city_state = trade_generator.draw_city_states(cities, states, random)
    city_of = trade_generator.draw_importer_cities(importers, cities, random)
    heading_of, code_text = trade_generator.draw_headings_and_codes(products, headings, random)
    deals = trade_generator.draw_deals(
        transactions, importers, products, countries=countries, heading_of=heading_of, random=random
    )
    importer, product, country = deals.importer, deals.product, deals.country
    amounts = trade_generator.draw_amounts(transactions, product, random)
    suppressed = trade_generator.flag_rare_codes(importer, product, products)
    is_hidden = suppressed[product]
    published = ~is_hidden
    is_extra = published & (random.random(transactions) < extra)
    is_excluded = published & ~is_extra & (random.random(transactions) < excluded)
    in_transactions, in_totals = published & ~is_extra, ~is_excluded
    city = city_of[importer]
    # Drawn apart, so that the rest of a month is the same with customs units and without.
    customs_random = np.random.default_rng([seed, 1])
    customs = trade_generator.draw_customs_units(
        deals, city_state[city_of], customs_units, customs_random
    )
    keys = _TransactionKeys(
        product=product,
        country=country,
        customs=customs,
        city=city,
        heading_of=heading_of,
        city_state=city_state,
    )
    names = _CodeNames(code_text, countries, customs_units, cities, states)
    place = np.flatnonzero(in_transactions)
    return TradeMonth(
        transactions=_build_transactions(place, keys, amounts, names, random),
        by_city=_build_totals(in_totals, keys, amounts, names, by_city=True),
        by_state=_build_totals(in_totals, keys, amounts, names, by_city=False),
        importers=_build_importer_list(city_of, city_state, names, random),
        truth=_build_truth(place, city, city_state, names),
        suppressed_codes=int(suppressed.sum()),
        excluded=is_excluded[place],
    )


def _check_arguments(
    counts: Mapping[str, int | None], shares: Mapping[str, float], customs_units: int | None
) -> None:
    """Say all that cannot be, at once."""
    problems = work.Problems("trade month")
    if customs_units is not None and customs_units < 0:
        problems.add("customs_units", f"{customs_units} is no number from 0.")
    for name, count in counts.items():
        if count is not None and count < 1:
            problems.add(name, f"{count} is no number from 1.")
    for name, share in shares.items():
        if not 0 <= share <= 1:
            problems.add(name, f"{share} is no share (0 to 1).")
    problems.raise_any()
    products, headings = counts["products"] or 1, counts["headings"]
    if headings is not None and headings > MOST_HEADINGS:
        problems.add("headings", f"{headings:,} do not fit into 4 digits; give 1 to 1,415.")
    if headings is not None and headings > products:
        message = f"{headings:,} are more than the {products:,} codes; each has one at least."
        problems.add("headings", message)
    cities, states = counts["cities"], counts["states"] or 1
    if cities is not None and cities < states:
        problems.add("cities", f"{cities:,} are fewer than the {states:,} states; each has one.")
    problems.raise_any()


class _CodeNames:
    """What codes stand for: made-up names of cities and states, codes of countries."""

    def __init__(
        self, codes: list[str], countries: int, customs_units: int, cities: int, states: int
    ) -> None:
        self.products = codes
        self.headings = sorted({code[:4] for code in codes})
        self.countries = [f"C{number:03d}" for number in range(countries)]
        self.customs_units = [f"U{number:03d}" for number in range(customs_units)]
        self.cities = [f"city {number:04d}" for number in range(cities)]
        self.states = [f"S{number:02d}" for number in range(states)]


@dataclass(frozen=True, kw_only=True)
class _TransactionKeys:
    """Of each transaction what it is counted by; the heading of a code, the state of a city."""

    product: Ints
    country: Ints
    customs: Ints
    city: Ints
    heading_of: Ints
    city_state: Ints


def _get_unit_scale(name: str) -> int:
    return GRAINS_PER_KILOGRAM if name in ("weight", "quantity") else CENTS_PER_DOLLAR


def _build_transactions(
    place: Ints,
    keys: _TransactionKeys,
    amounts: dict[str, Ints],
    names: _CodeNames,
    random: Random,
) -> Dataset:
    import pyarrow as pa

    order = random.permutation(len(place)) + 1_000_000
    columns: dict[str, Any] = {
        "number": column_from_codes(np.arange(len(place)), pa.array(order)),
        "product": column_from_codes(keys.product[place], pa.array(names.products)),
        "country": column_from_codes(keys.country[place], pa.array(names.countries)),
    }
    if names.customs_units:
        columns["customs_unit"] = column_from_codes(
            keys.customs[place], pa.array(names.customs_units)
        )
    for name in AMOUNTS:
        distinct, codes = np.unique(amounts[name][place], return_inverse=True)
        columns[name] = column_from_codes(codes, pa.array(distinct / _get_unit_scale(name)))
    dataset = Dataset(columns, name="transactions", subjects="transactions")
    return dataset.describe({"identifier": ["number"]})


def _build_totals(
    in_totals: npt.NDArray[np.bool_],
    keys: _TransactionKeys,
    amounts: dict[str, Ints],
    names: _CodeNames,
    by_city: bool,
) -> Dataset:
    """Totals rounded half up to whole dollars and kilograms, one row per key and place."""
    import pyarrow as pa

    goods = keys.heading_of[keys.product] if by_city else keys.product
    customs = np.zeros_like(keys.customs) if by_city else keys.customs
    place = keys.city if by_city else keys.city_state[keys.city]
    shape = (
        len(names.headings if by_city else names.products),
        len(names.countries),
        max(1, len(names.customs_units)),
        len(names.cities),
    )
    key = np.ravel_multi_index((goods, keys.country, customs, place), shape)
    rows, row_of_record = np.unique(key[in_totals], return_inverse=True)
    goods, country, customs, place = np.unravel_index(rows, shape)
    first = "heading" if by_city else "product"
    columns: dict[str, Any] = {
        first: column_from_codes(goods, pa.array(names.headings if by_city else names.products)),
        "country": column_from_codes(country, pa.array(names.countries)),
    }
    if names.customs_units and not by_city:
        columns["customs_unit"] = column_from_codes(customs, pa.array(names.customs_units))
    if by_city:
        columns["city"] = column_from_codes(place, pa.array(names.cities))
        columns["state"] = column_from_codes(keys.city_state[place], pa.array(names.states))
    else:
        columns["state"] = column_from_codes(place, pa.array(names.states))
    for name in AMOUNTS[:2] if by_city else AMOUNTS:
        scale = _get_unit_scale(name)
        sums = np.zeros(len(rows), np.int64)
        np.add.at(sums, row_of_record, amounts[name][in_totals])
        whole = (sums + scale // 2) // scale
        distinct, codes = np.unique(whole, return_inverse=True)
        columns[name] = column_from_codes(codes, pa.array(distinct))
    title = "totals by city" if by_city else "totals by state"
    return Dataset(columns, name=title, subjects="totals").describe({})


def _build_importer_list(
    city_of: Ints, city_state: Ints, names: _CodeNames, random: Random
) -> Dataset:
    import pyarrow as pa

    columns = {
        "company": column_from_codes(
            np.arange(len(city_of)), pa.array([f"company {n:05d}" for n in range(len(city_of))])
        ),
        "city": column_from_codes(city_of, pa.array(names.cities)),
        "state": column_from_codes(city_state[city_of], pa.array(names.states)),
        "sector": column_from_codes(
            random.integers(0, len(SECTORS), len(city_of)), pa.array(SECTORS)
        ),
    }
    dataset = Dataset(columns, name="importers", subjects="importers")
    return dataset.describe({"identifier": ["company"]})


def _build_truth(place: Ints, city: Ints, city_state: Ints, names: _CodeNames) -> Dataset:
    import pyarrow as pa

    columns = {
        "city": column_from_codes(city[place], pa.array(names.cities)),
        "state": column_from_codes(city_state[city[place]], pa.array(names.states)),
    }
    return Dataset(columns, name="truth", subjects="transactions").describe({})
