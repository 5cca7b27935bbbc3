"""What a made-up month of trade is made of: who imports what from where, how much, cleared where.

Everybody has a few lines of business and repeats them, so that most totals are of few importers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.work.arrays import Ints

Random = np.random.Generator

CENTS_PER_DOLLAR = 100
GRAINS_PER_KILOGRAM = 100_000
"""Units in a kilogram: weights have five decimals."""
FEWEST_IMPORTERS = 4
FIRST_HEADING, HEADING_STEP = 100, 7
MOST_HEADINGS = (9_999 - FIRST_HEADING) // HEADING_STEP + 1
MOST_CODES = 10_000
"""What four digits are enough for: headings this far apart, and codes under one of them."""


@dataclass(frozen=True, kw_only=True)
class Deals:
    """Of each transaction who imports what from where, and as which of all lines of business.

    `importer_of_line` is whose line of business it is.
    """

    importer: Ints
    product: Ints
    country: Ints
    line: Ints
    importer_of_line: Ints


def draw_city_states(cities: int, states: int, random: Random) -> Ints:
    """The state of every city: a few states have many; every state has one."""
    weight = (np.arange(states) + 1.5) ** -0.9
    more = random.choice(states, max(0, cities - states), p=weight / weight.sum())
    return np.append(np.arange(states), more)[:cities].astype(np.int64)


def draw_importer_cities(importers: int, cities: int, random: Random) -> Ints:
    """The city of every importer: by Zipf's law, so that many cities have one importer."""
    weight = (np.arange(cities) + 1.0) ** -1.05
    first_cities = random.permutation(cities)[: min(cities, importers)]
    other_cities = random.choice(
        cities, max(0, importers - len(first_cities)), p=weight / weight.sum()
    )
    return np.append(first_cities, other_cities).astype(np.int64)


def draw_headings_and_codes(products: int, headings: int, random: Random) -> tuple[Ints, list[str]]:
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
        f"{FIRST_HEADING + int(h) * HEADING_STEP:04d}{int(n) % 10}{(int(n) // 10):03d}"
        for h, n in zip(heading, number, strict=True)
    ]
    return heading.astype(np.int64), texts


def draw_deals(
    transactions: int,
    importers: int,
    products: int,
    *,
    countries: int,
    heading_of: Ints,
    random: Random,
) -> Deals:
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
    tries_neighbour = random.random(transactions) < 0.004
    begin = np.searchsorted(heading_of, heading_of[product])
    end = np.searchsorted(heading_of, heading_of[product], side="right")
    other = begin + (random.random(transactions) * (end - begin)).astype(np.int64)
    product = np.where(tries_neighbour, other, product)
    return Deals(
        importer=importer,
        product=product.astype(np.int64),
        country=line_country[line].astype(np.int64),
        line=line,
        importer_of_line=np.repeat(np.arange(importers), lines),
    )


def draw_customs_units(deals: Deals, state_of: Ints, units: int, random: Random) -> Ints:
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
        own, is_local = (
            np.flatnonzero(state_of_unit == state),
            in_own_state & (state_of_line == state),
        )
        usual[is_local] = random.choice(own, int(is_local.sum()), p=busy[own] / busy[own].sum())
    unusual = random.random(len(deals.line)) < 0.1
    return np.where(unusual, random.choice(units, len(unusual), p=busy), usual[deals.line])


def draw_amounts(transactions: int, product: Ints, random: Random) -> dict[str, Ints]:
    """Amounts in units: values and weights heavy-tailed, a price of its own for every code."""
    weight = np.exp(random.normal(3.6, 2.4, transactions))
    price = np.exp(((product * 2654435761) % 1000) / 1000 * 5 - 0.5)
    value = weight * price * np.exp(random.normal(0, 0.5, transactions))
    cents = np.maximum(1, np.rint(value * CENTS_PER_DOLLAR)).astype(np.int64)
    # Scales show whole kilograms, tenths, or all five decimals.
    digits = random.choice(
        [1, 10, 1000, GRAINS_PER_KILOGRAM], transactions, p=[0.15, 0.2, 0.3, 0.35]
    )
    grains = np.maximum(1, np.rint(weight * digits)).astype(np.int64) * (
        GRAINS_PER_KILOGRAM // digits
    )
    freight = np.rint(cents * random.uniform(0.005, 0.12, transactions)).astype(np.int64)
    insured = random.random(transactions) < 0.4
    insurance = np.where(insured, np.rint(cents * 0.003), 0).astype(np.int64)
    by_piece = product % 3 == 0
    quantity = np.where(
        by_piece, np.maximum(1, grains // (2 * GRAINS_PER_KILOGRAM)) * GRAINS_PER_KILOGRAM, grains
    )
    return {
        "value": cents,
        "weight": grains,
        "freight": freight,
        "insurance": insurance,
        "quantity": quantity,
    }


def flag_rare_codes(importer: Ints, product: Ints, products: int) -> npt.NDArray[np.bool_]:
    """Codes in which fewer than four importers deal."""
    pairs = np.unique(product * (importer.max() + 1) + importer)
    dealers = np.bincount(pairs // (importer.max() + 1), minlength=products)
    is_rare: npt.NDArray[np.bool_] = (dealers < FEWEST_IMPORTERS) & (dealers > 0)
    return is_rare
