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
from divulge.data.column import from_codes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Random = np.random.Generator

CENTS = 100
GRAINS = 100_000
"""Units in a kilogram: weights have five decimals."""
FEWEST_IMPORTERS = 4
FIRST_HEADING, APART = 100, 7
MOST_HEADINGS = (9_999 - FIRST_HEADING) // APART + 1
MOST_CODES = 10_000
"""What four digits are enough for: headings this far apart, and codes under one of them."""
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


@dataclass(frozen=True)
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
    _refuse(counts, {"excluded": excluded, "extra": extra}, customs_units)
    random = np.random.default_rng(seed)
    cities = cities or max(states, round(importers**0.5 * 12.5))
    headings = headings or min(max(1, products // 6), MOST_HEADINGS)
    if customs_units is None:
        customs_units = max(1, round(importers**0.5 * 0.75))
    city_state = _city_states(cities, states, random)
    city_of = _importers(importers, cities, random)
    heading_of, code_text = _products(products, headings, random)
    deals = _deals(transactions, importers, products, countries, heading_of, random)
    importer, product, country = deals.importer, deals.product, deals.country
    amounts = _amounts(transactions, product, random)
    suppressed = _suppressed(importer, product, products)
    hidden = suppressed[product]
    published = ~hidden
    is_extra = published & (random.random(transactions) < extra)
    left_out = published & ~is_extra & (random.random(transactions) < excluded)
    seen, counted = published & ~is_extra, ~left_out
    city = city_of[importer]
    # Drawn apart, so that the rest of a month is the same with customs units and without.
    customs = _customs(deals, city_state[city_of], customs_units, np.random.default_rng([seed, 1]))
    where = _Where(product, country, customs, city, heading_of, city_state)
    names = _Names(code_text, countries, customs_units, cities, states)
    place = np.flatnonzero(seen)
    return TradeMonth(
        _transactions(place, where, amounts, names, random),
        _totals(counted, where, amounts, names, by_city=True),
        _totals(counted, where, amounts, names, by_city=False),
        _listed(city_of, city_state, names, random),
        _truth(place, city, city_state, names),
        int(suppressed.sum()),
        left_out[place],
    )


def _refuse(
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


class _Names:
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


@dataclass(frozen=True)
class _Deals:
    """Of each transaction who imports what from where, and as which of all lines of business.

    `importer_of_line` is whose line of business it is.
    """

    importer: Ints
    product: Ints
    country: Ints
    line: Ints
    importer_of_line: Ints


@dataclass(frozen=True)
class _Where:
    """Of each transaction what it is counted by; the heading of a code, the state of a city."""

    product: Ints
    country: Ints
    customs: Ints
    city: Ints
    heading_of: Ints
    city_state: Ints


def _city_states(cities: int, states: int, random: Random) -> Ints:
    """The state of every city: a few states have many; every state has one."""
    weight = (np.arange(states) + 1.5) ** -0.9
    more = random.choice(states, max(0, cities - states), p=weight / weight.sum())
    return np.append(np.arange(states), more)[:cities].astype(np.int64)


def _importers(importers: int, cities: int, random: Random) -> Ints:
    """The city of every importer: by Zipf's law, so that many cities have one importer."""
    weight = (np.arange(cities) + 1.0) ** -1.05
    at_once = random.permutation(cities)[: min(cities, importers)]
    rest = random.choice(cities, max(0, importers - len(at_once)), p=weight / weight.sum())
    return np.append(at_once, rest).astype(np.int64)


def _products(products: int, headings: int, random: Random) -> tuple[Ints, list[str]]:
    """The heading of every code, in order, and the codes as text."""
    weight = (np.arange(headings) + 2.0) ** -0.6
    more = random.choice(headings, max(0, products - headings), p=weight / weight.sum())
    heading = np.sort(np.append(np.arange(headings), more)[:products])
    first = np.searchsorted(heading, heading)
    number = np.arange(products) - first
    if number.max() >= MOST_CODES:
        problems = work.Problems("trade month")
        message = f"{products:,} codes are too many for {headings:,} headings of 10,000 at most."
        problems.add("products", message)
        problems.raise_any()
    texts = [
        f"{FIRST_HEADING + int(h) * APART:04d}{int(n) % 10}{(int(n) // 10):03d}"
        for h, n in zip(heading, number, strict=True)
    ]
    return heading.astype(np.int64), texts


def _deals(
    transactions: int,
    importers: int,
    products: int,
    countries: int,
    heading_of: Ints,
    random: Random,
) -> _Deals:
    """Who imports what from where: everybody has a few lines of business, and repeats them."""
    busy = (random.permutation(importers) + 3.0) ** -0.75
    importer = random.choice(importers, transactions, p=busy / busy.sum())
    importer[: min(importers, transactions)] = np.arange(min(importers, transactions))
    lines = 3 + random.geometric(0.12, importers)
    first = np.concatenate([[0], np.cumsum(lines)])
    popular = np.exp(random.normal(0, 1.7, products)) + 0.04
    line_product = random.choice(products, int(first[-1]), p=popular / popular.sum())
    from_where = (np.arange(countries) + 1.0) ** -1.3
    line_country = random.choice(countries, int(first[-1]), p=from_where / from_where.sum())
    # Of its lines of business an importer uses the first most.
    share = random.random(transactions) ** 1.6
    line = first[importer] + (share * lines[importer]).astype(np.int64)
    product = line_product[line]
    # Now and then an importer tries a neighbouring code under the same heading.
    near = random.random(transactions) < 0.004
    begin = np.searchsorted(heading_of, heading_of[product])
    end = np.searchsorted(heading_of, heading_of[product], side="right")
    other = begin + (random.random(transactions) * (end - begin)).astype(np.int64)
    product = np.where(near, other, product)
    return _Deals(
        importer,
        product.astype(np.int64),
        line_country[line].astype(np.int64),
        line,
        np.repeat(np.arange(importers), lines),
    )


def _customs(deals: _Deals, state_of: Ints, units: int, random: Random) -> Ints:
    """The customs unit of every transaction: a line of business has a usual one.

    A few ports and airports clear goods for the whole country, most units for their own state.
    """
    if not units:
        return np.zeros(len(deals.line), np.int64)
    busy = (np.arange(units) + 1.0) ** -1.1
    busy /= busy.sum()
    states = int(state_of.max()) + 1
    weight = (np.arange(states) + 1.5) ** -0.9
    state_of_unit = random.choice(states, units, p=weight / weight.sum())
    usual = random.choice(units, len(deals.importer_of_line), p=busy)
    in_own_state = random.random(len(usual)) < 0.5
    state_of_line = state_of[deals.importer_of_line]
    for state in np.unique(state_of_unit):
        own, here = np.flatnonzero(state_of_unit == state), in_own_state & (state_of_line == state)
        usual[here] = random.choice(own, int(here.sum()), p=busy[own] / busy[own].sum())
    unusual = random.random(len(deals.line)) < 0.1
    return np.where(unusual, random.choice(units, len(unusual), p=busy), usual[deals.line])


def _amounts(transactions: int, product: Ints, random: Random) -> dict[str, Ints]:
    """Amounts in units: values and weights heavy-tailed, a price of its own for every code."""
    weight = np.exp(random.normal(3.6, 2.4, transactions))
    price = np.exp(((product * 2654435761) % 1000) / 1000 * 5 - 0.5)
    value = weight * price * np.exp(random.normal(0, 0.5, transactions))
    cents = np.maximum(1, np.rint(value * CENTS)).astype(np.int64)
    # Scales show whole kilograms, tenths, or all five decimals.
    digits = random.choice([1, 10, 1000, GRAINS], transactions, p=[0.15, 0.2, 0.3, 0.35])
    grains = np.maximum(1, np.rint(weight * digits)).astype(np.int64) * (GRAINS // digits)
    freight = np.rint(cents * random.uniform(0.005, 0.12, transactions)).astype(np.int64)
    insured = random.random(transactions) < 0.4
    insurance = np.where(insured, np.rint(cents * 0.003), 0).astype(np.int64)
    by_piece = product % 3 == 0
    quantity = np.where(by_piece, np.maximum(1, grains // (2 * GRAINS)) * GRAINS, grains)
    return {
        "value": cents,
        "weight": grains,
        "freight": freight,
        "insurance": insurance,
        "quantity": quantity,
    }


def _suppressed(importer: Ints, product: Ints, products: int) -> npt.NDArray[np.bool_]:
    """Codes in which fewer than four importers deal."""
    pairs = np.unique(product * (importer.max() + 1) + importer)
    dealers = np.bincount(pairs // (importer.max() + 1), minlength=products)
    few: npt.NDArray[np.bool_] = (dealers < FEWEST_IMPORTERS) & (dealers > 0)
    return few


def _scale(name: str) -> int:
    return GRAINS if name in ("weight", "quantity") else CENTS


def _transactions(
    place: Ints,
    where: _Where,
    amounts: dict[str, Ints],
    names: _Names,
    random: Random,
) -> Dataset:
    import pyarrow as pa

    order = random.permutation(len(place)) + 1_000_000
    columns: dict[str, Any] = {
        "number": from_codes(np.arange(len(place)), pa.array(order)),
        "product": from_codes(where.product[place], pa.array(names.products)),
        "country": from_codes(where.country[place], pa.array(names.countries)),
    }
    if names.customs_units:
        columns["customs_unit"] = from_codes(where.customs[place], pa.array(names.customs_units))
    for name in AMOUNTS:
        distinct, codes = np.unique(amounts[name][place], return_inverse=True)
        columns[name] = from_codes(codes, pa.array(distinct / _scale(name)))
    described = Dataset(columns, name="transactions", subjects="transactions")
    return described.describe({"identifier": ["number"]})


def _totals(
    counted: npt.NDArray[np.bool_],
    where: _Where,
    amounts: dict[str, Ints],
    names: _Names,
    by_city: bool,
) -> Dataset:
    """Totals rounded half up to whole dollars and kilograms, one row a key and place."""
    import pyarrow as pa

    goods = where.heading_of[where.product] if by_city else where.product
    customs = np.zeros_like(where.customs) if by_city else where.customs
    place = where.city if by_city else where.city_state[where.city]
    shape = (
        len(names.headings if by_city else names.products),
        len(names.countries),
        max(1, len(names.customs_units)),
        len(names.cities),
    )
    key = np.ravel_multi_index((goods, where.country, customs, place), shape)
    rows, of_row = np.unique(key[counted], return_inverse=True)
    goods, country, customs, place = np.unravel_index(rows, shape)
    first = "heading" if by_city else "product"
    columns: dict[str, Any] = {
        first: from_codes(goods, pa.array(names.headings if by_city else names.products)),
        "country": from_codes(country, pa.array(names.countries)),
    }
    if names.customs_units and not by_city:
        columns["customs_unit"] = from_codes(customs, pa.array(names.customs_units))
    if by_city:
        columns["city"] = from_codes(place, pa.array(names.cities))
        columns["state"] = from_codes(where.city_state[place], pa.array(names.states))
    else:
        columns["state"] = from_codes(place, pa.array(names.states))
    for name in AMOUNTS[:2] if by_city else AMOUNTS:
        scale = _scale(name)
        sums = np.zeros(len(rows), np.int64)
        np.add.at(sums, of_row, amounts[name][counted])
        whole = (sums + scale // 2) // scale
        distinct, codes = np.unique(whole, return_inverse=True)
        columns[name] = from_codes(codes, pa.array(distinct))
    title = "totals by city" if by_city else "totals by state"
    return Dataset(columns, name=title, subjects="totals").describe({})


def _listed(city_of: Ints, city_state: Ints, names: _Names, random: Random) -> Dataset:
    import pyarrow as pa

    columns = {
        "company": from_codes(
            np.arange(len(city_of)), pa.array([f"company {n:05d}" for n in range(len(city_of))])
        ),
        "city": from_codes(city_of, pa.array(names.cities)),
        "state": from_codes(city_state[city_of], pa.array(names.states)),
        "sector": from_codes(random.integers(0, len(SECTORS), len(city_of)), pa.array(SECTORS)),
    }
    described = Dataset(columns, name="importers", subjects="importers")
    return described.describe({"identifier": ["company"]})


def _truth(place: Ints, city: Ints, city_state: Ints, names: _Names) -> Dataset:
    import pyarrow as pa

    columns = {
        "city": from_codes(city[place], pa.array(names.cities)),
        "state": from_codes(city_state[city[place]], pa.array(names.states)),
    }
    return Dataset(columns, name="truth", subjects="transactions").describe({})
