"""Synthetic holdings: who owns which part of which company, as a register of companies has it.

Most companies have a few owners and some have many; most owners hold little and a few hold parts
of hundreds of companies. Many companies have an owner with a majority, some an owner of exactly a
half (which is no majority), and the rest owners of smaller parts. Companies own parts of each
other, so holdings run in circles. Some owners are no company themselves: families, funds, the
state, or whoever a survey of the companies does not reach. Nobody in it exists.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.data import Dataset
from divulge.data.column import column_from_codes
from divulge.work.arrays import Ints

Random = np.random.Generator

FIRST_ID = 100_000
"""The id of the first company, as in `inflation_and_growth`: the two can be joined."""
SHARE_CLASSES = ("ordinary", "preference")
UNITS = 1_000_000
"""Units in a whole company: shares have six decimals."""
HALF = UNITS // 2
LEAST_UNITS = 2
"""The smallest holding, which two classes of shares can still divide."""
MOST_EDGES_PER_FIRM = 100
OUTSIDERS_PER_FIRM = 0.2
RETURNED_SHARE = 0.02
"""How many holdings are answered by one in the opposite direction."""
MAJORITY_SHARE, HALVES_SHARE = 0.5, 0.05
"""How many companies have a majority owner, and how many one of exactly a half."""
TWO_CLASSES_SHARE = 0.125
_WEIGHTED_ROUNDS = 8


def ownership(
    firms: int = 10_000,
    edges: int = 30_000,
    seed: int = 2020,
    *,
    share_classes: bool = False,
    outside: float = 0.25,
) -> Dataset:
    """Synthetic holdings (owner, company, share) whose shares are exact decimals.

    The shares of one company add up to at most 1; nobody holds a part of themselves. Companies are
    numbered from 100,000, as those of `inflation_and_growth(rows=firms)` are, and owners that are
    no company have the numbers after the last one.

    Args:
        firms: how many companies there are; not all of them need have an owner.
        edges: how many holdings, exactly.
        seed: the same seed gives the same holdings.
        share_classes: also tell the class of the shares, in `share_class`; some owners then hold
            two classes of a company, each a record of its own, often with equal shares.
        outside: the share of holdings whose owner is none of the companies.

    >>> holdings = ownership(firms=1000, edges=3000)
    >>> holdings
    Dataset "ownership": 3,000 holdings, 3 attributes (2 identifier, 1 non_identifying)
    >>> holdings.to_arrow()["share"].type
    Decimal128Type(decimal128(7, 6))
    """
    outsiders = int(np.ceil(firms * OUTSIDERS_PER_FIRM)) if outside > 0 else 0
    _check_arguments(firms, edges, outside=outside, outsiders=outsiders)
    random = np.random.default_rng(seed)
    doubled = int(edges * TWO_CLASSES_SHARE) if share_classes else 0
    owner, company = _draw_pairs(
        firms, outsiders, edges=edges - doubled, outside=outside, random=random
    )
    units = _draw_units(company, firms, random)
    share_class = (random.random(len(owner)) < 0.1).astype(np.int64)
    if doubled:
        split = random.choice(len(owner), doubled, replace=False)
        second = units[split] // 2
        is_equal = random.random(doubled) < 0.5
        # Two equal halves of an odd number leave one unit to nobody.
        units[split] = np.where(is_equal, second, units[split] - second)
        owner, company = np.append(owner, owner[split]), np.append(company, company[split])
        units, share_class = (
            np.append(units, second),
            np.append(share_class, 1 - share_class[split]),
        )
    order = random.permutation(edges)
    columns = _build_columns(owner[order], company[order], units[order], firms + outsiders)
    if share_classes:
        columns["share_class"] = _build_column(share_class[order], SHARE_CLASSES)
    roles = {
        "identifier": ["owner", "company"],
        "non_identifying": [name for name in columns if name not in ("owner", "company")],
    }
    return Dataset(columns, name="ownership", subjects="holdings").describe(roles)


def _check_arguments(firms: int, edges: int, *, outside: float, outsiders: int) -> None:
    """Say all that cannot be, at once."""
    problems = work.Problems("ownership")
    if firms < 2:
        problems.add("firms", f"{firms} is no number from 2.")
    if not 0 <= outside <= 1:
        problems.add("outside", f"{outside} is no share (0 to 1).")
    problems.raise_any()
    # Half of all pairs that could be, so that drawing pairs anew soon finds others.
    inside_pairs, outside_pairs = firms * (firms - 1) // 2, firms * outsiders // 2
    pairs = outside_pairs if outside == 1 else inside_pairs + outside_pairs
    most = min(pairs, MOST_EDGES_PER_FIRM * firms)
    if not 1 <= edges <= most:
        problems.add("edges", f"{edges:,} holdings: give 1 to {most:,} for {firms:,} companies.")
    problems.raise_any()


def _draw_pairs(
    firms: int, outsiders: int, *, edges: int, outside: float, random: Random
) -> tuple[Ints, Ints]:
    """Different pairs of owner and company, as many as asked for, and some in both directions."""
    weight = _weigh_owners(firms, outsiders, outside, random)
    owner_shares = np.cumsum(weight)
    popularity = np.cumsum(np.exp(random.normal(0, 1, firms).clip(-5, 5)))
    pairs = np.empty(0, np.int64)
    rounds = 0
    while len(pairs) < edges:
        wanted = edges - len(pairs) + 16
        if rounds < _WEIGHTED_ROUNDS:
            owner = np.searchsorted(owner_shares, random.random(wanted) * owner_shares[-1], "right")
            company = np.searchsorted(popularity, random.random(wanted) * popularity[-1], "right")
        else:  # so dense that whoever is drawn often holds everything already
            owner = random.choice(np.flatnonzero(weight), wanted)
            company = random.integers(0, firms, wanted)
        owner, company = _add_returned(owner, company, firms, random)
        drawn = np.append(pairs, (owner * firms + company)[owner != company])
        _, first = np.unique(drawn, return_index=True)
        pairs = drawn[np.sort(first)][:edges]
        rounds += 1
    return pairs // firms, pairs % firms


def _weigh_owners(
    firms: int, outsiders: int, outside: float, random: Random
) -> npt.NDArray[np.float64]:
    """How much everybody holds, by Zipf's law: companies first, then those outside."""
    parts = [(firms, 1 - outside), (outsiders, outside)]
    weights = [random.permutation((np.arange(count) + 3.0) ** -0.85) for count, _ in parts]
    return np.concatenate(
        [share * w / w.sum() if len(w) else w for (_, share), w in zip(parts, weights, strict=True)]
    )


def _add_returned(owner: Ints, company: Ints, firms: int, random: Random) -> tuple[Ints, Ints]:
    """Cross holdings: some of the companies that are owned own a part of their owner."""
    is_returned = (random.random(len(owner)) < RETURNED_SHARE) & (owner < firms)
    returned = owner[is_returned], company[is_returned]
    return np.append(returned[1], owner), np.append(returned[0], company)


def _draw_units(company: Ints, firms: int, random: Random) -> Ints:
    """How much each holding is: a leading owner's part, and the rest divided by Pareto's law."""
    owners = np.bincount(company, minlength=firms)
    _, first = np.unique(company, return_index=True)
    is_first = np.zeros(len(company), np.bool_)
    is_first[first] = True
    kind = random.random(firms)
    # Of three companies in five a part is in nobody's register.
    total = np.where(random.random(firms) < 0.4, 1.0, 0.55 + 0.45 * random.random(firms)) * UNITS
    total = total.astype(np.int64)
    rest = LEAST_UNITS * np.maximum(owners - 1, 0)
    majority = HALF + 1 + (random.random(firms) * (total - rest - HALF)).astype(np.int64)
    majority = np.where(owners == 1, total, np.minimum(majority, total - rest))
    has_half = (kind >= MAJORITY_SHARE) & (kind < MAJORITY_SHARE + HALVES_SHARE)
    lead = np.where(kind < MAJORITY_SHARE, majority, np.where(has_half, HALF, 0))
    # With a leader the other owners divide what is left, otherwise all of them the total.
    divides = ~(is_first & (lead > 0)[company])
    weight = np.where(divides, (1 - random.random(len(company))) ** -0.8, 0.0)
    sums = np.bincount(company, weight, minlength=firms)
    free = total - lead - LEAST_UNITS * np.bincount(company[divides], minlength=firms)
    part = free[company] * weight / np.where(sums > 0, sums, 1)[company]
    units: Ints = np.where(divides, LEAST_UNITS + np.floor(part).astype(np.int64), lead[company])
    # What rounding down has left goes to the largest of those who divide.
    order = np.lexsort((weight, company))
    last = order[np.append(company[order][1:] != company[order][:-1], True)]
    last = last[divides[last]]
    held = np.bincount(company, units, minlength=firms).astype(np.int64)
    units[last] += (total - held)[company[last]]
    return units


def _build_columns(owner: Ints, company: Ints, units: Ints, holders: int) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = FIRST_ID + np.arange(holders)
    distinct, codes = np.unique(units, return_inverse=True)
    unit = pa.scalar(1 / Decimal(UNITS))
    shares = pc.multiply(pa.array(distinct).cast(pa.decimal128(19)), unit)
    return {
        "owner": _build_column(owner, ids),
        "company": _build_column(company, ids),
        "share": column_from_codes(codes, shares.cast(pa.decimal128(7, 6))),
    }


def _build_column(codes: Ints, values: Any) -> Any:
    import pyarrow as pa

    return column_from_codes(codes, pa.array(values))
