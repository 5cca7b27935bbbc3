"""Synthetic companies like those of the Bank of Italy's survey on inflation and growth.

The attributes are those of Bellomarini et al. (Fig. 1), with more quasi-identifiers where more
are asked for. Their Fig. 6 has three kinds of data: W as the survey is, U unbalanced, V very
unbalanced; the less balanced, the more companies stand alone.

With these few values, of 100,000 companies hardly one is alone. With heavy tails every attribute
has many rare values besides, as provinces and branches have, and thousands are.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from divulge.data import Dataset
from divulge.data.column import column_from_codes
from divulge.work import DivulgeError
from divulge.work.arrays import Floats, Ints

Balance: TypeAlias = Literal["W", "U", "V"]

DOMAINS: dict[str, tuple[str, ...]] = {
    "Area": ("North", "Center", "South", "Islands"),
    "Sector": ("Commerce", "Construction", "Textiles", "Public Service", "Other", "Financial"),
    "Employees": ("50-200", "201-1000", "1000+"),
    "Residential Rev.": ("0-30", "30-60", "60-90", "90+"),
    "Export Rev.": ("0-30", "30-60", "60-90", "90+"),
    "Legal Form": ("limited", "joint stock", "cooperative", "partnership"),
    "Founded": ("since 2000", "1980-1999", "1950-1979", "before 1950"),
    "Listed": ("no", "yes"),
    "Group": ("independent", "subsidiary", "parent"),
}
"""The quasi-identifiers in the order in which they are taken, commonest value first."""

# How fast shares fall from the commonest value to the rarest (Zipf's exponent).
_ZIPF_EXPONENTS: dict[Balance, float] = {"W": 0.35, "U": 1.6, "V": 2.6}

RARE_VALUES = 60
"""Rare values of an attribute with a heavy tail, besides those above."""
RARE_SHARES: dict[Balance, float] = {"W": 0.0003, "U": 0.02, "V": 0.08}
"""The share of all cells that hold one of them."""
RARE_EXPONENT = 0.8
"""How fast shares fall from the commonest of them to the rarest."""


def inflation_and_growth(
    rows: int = 25_000,
    balance: Balance = "W",
    quasi_identifiers: int = 4,
    seed: int = 2020,
    *,
    heavy_tails: bool = False,
) -> Dataset:
    """Synthetic companies with 4 to 9 quasi-identifiers.

    Args:
        rows: how many companies.
        balance: `W` as the survey is, `U` unbalanced, `V` very unbalanced.
        quasi_identifiers: how many, from 4 to 9.
        seed: the same seed gives the same companies.
        heavy_tails: give every quasi-identifier many rare values besides its common ones, so that
            many companies stand alone also among many.

    >>> inflation_and_growth(rows=1000, balance="U", quasi_identifiers=5).quasi_identifiers
    ['Area', 'Sector', 'Employees', 'Residential Rev.', 'Export Rev.']
    """
    if balance not in _ZIPF_EXPONENTS:
        raise DivulgeError(f'balance "{balance}": give one of {", ".join(_ZIPF_EXPONENTS)}')
    if not 4 <= quasi_identifiers <= len(DOMAINS):
        raise DivulgeError(f"{quasi_identifiers} quasi-identifiers: give 4 to {len(DOMAINS)}")
    if rows < 1:
        raise DivulgeError(f"{rows} companies: give a number from 1")
    # Drawn apart, so that all but the rare values is the same with heavy tails and without.
    random, tails = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    columns = {"Id": _build_column(random.permutation(rows), 100_000 + np.arange(rows))}
    commonness = np.ones(rows)
    for name in list(DOMAINS)[:quasi_identifiers]:
        values = DOMAINS[name]
        ranks = np.arange(1, len(values) + 1)
        shares = np.asarray(ranks ** -_ZIPF_EXPONENTS[balance], np.float64)
        shares /= shares.sum()
        codes = random.choice(len(values), rows, p=shares)
        if heavy_tails:
            codes, shares = _add_rare_values(codes, shares, balance, tails)
            values += tuple(f"rare {number:02d}" for number in range(1, RARE_VALUES + 1))
        commonness *= shares[codes] / shares.max()
        columns[name] = _build_column(codes, values)
    to_germany = random.choice(4, rows, p=[0.6, 0.25, 0.1, 0.05])
    columns["Exp. to DE"] = _build_column(to_germany, ("0-30", "30-60", "60-90", "90+"))
    growth = np.rint(random.normal(4, 15, rows)).astype(int).clip(-60, 300)
    columns["Growth"] = _build_column(growth + 60, np.arange(-60, 301))
    # A common kind of company stands for many in the population, an odd one for few.
    weight = np.rint(30 + 270 * commonness ** (1 / quasi_identifiers) * random.random(rows))
    columns["Weight"] = _build_column(weight.astype(int), np.arange(301))
    roles = {
        "identifier": ["Id"],
        "quasi_identifier": list(DOMAINS)[:quasi_identifiers],
        "non_identifying": ["Exp. to DE", "Growth"],
        "weight": "Weight",
    }
    return Dataset(columns, name="inflation and growth", subjects="companies").describe(roles)


def _add_rare_values(
    codes: Ints, shares: Floats, balance: Balance, random: np.random.Generator
) -> tuple[Ints, Floats]:
    """Some cells hold a rare value instead; the codes, and the shares of all values."""
    rare = np.arange(1, RARE_VALUES + 1) ** -RARE_EXPONENT
    rare /= rare.sum()
    is_rare = random.random(codes.size) < RARE_SHARES[balance]
    drawn = shares.size + random.choice(RARE_VALUES, codes.size, p=rare)
    part = RARE_SHARES[balance]
    return np.where(is_rare, drawn, codes), np.append((1 - part) * shares, part * rare)


def _build_column(codes: Any, values: Any) -> Any:
    import pyarrow as pa

    return column_from_codes(codes, pa.array(values))
