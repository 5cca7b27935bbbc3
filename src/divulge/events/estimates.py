"""Estimates without the records: what counts by day, by basket size and by item alone tell.

Somebody who has only such totals can still say how risky a history is. The product formula of
Ito et al. (2018, Corollary 4.3) is kept to show why not: it exceeds 1. The estimates here are
always between 1/n and 1, and say that they are estimates.

Basket-aware: for a target in a cell, the number of other users in it is taken as Poisson with
mean L, so that a guess is right with probability (1 - e^-L)/L on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log, prod
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge.assessment import Claim
from divulge.data.dictionary import as_names
from divulge.events import tuning
from divulge.events.history import ordering
from divulge.events.history.calendar import UNITS
from divulge.events.history.history import History, require_history
from divulge.events.relation_matches import count_totals
from divulge.work import InvalidInput, Problem, Problems, checks
from divulge.work.arrays import Floats, Ints

Method: TypeAlias = Literal["baskets", "marginals", "product"]


METHODS = ("baskets", "marginals", "product")
"""With the sizes of baskets in mind; from marginals alone; the paper's product, which fails."""


class Estimate(float):
    """An estimated share: a number that knows what was drawn, how it was made, and its claim.

    >>> Estimate(0.5, "record", "baskets").claim
    'estimate'
    """

    weight: str
    method: str

    def __new__(cls, value: float, weight: str, method: str) -> Estimate:
        """A number with its weight and method."""
        share = super().__new__(cls, value)
        share.weight = weight
        share.method = method
        return share

    @property
    def claim(self) -> Claim:
        """What the figure is: an estimate, whatever the method."""
        return "estimate"

    def to_dict(self) -> dict[str, Any]:
        """The figure and all that is said of it, as plain values."""
        labels = {"weight": self.weight, "method": self.method, "claim": self.claim}
        return {"value": float(self), **labels}


@dataclass(frozen=True, eq=False, kw_only=True)
class Marginals:
    """Totals of a history: events by day (or other unit), events by basket size, baskets by item.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> totals = Marginals.of(purchases)
    >>> totals.when.tolist(), totals.sizes.tolist(), totals.items.tolist()
    ([2, 2, 1], [0, 2, 1, 2], [2, 3, 2, 3])
    """

    users: int
    when: Ints
    """How many events each day has."""
    sizes: Ints
    """How many events have 0, 1, 2, ... kinds of items."""
    items: Ints
    """In how many events each item is."""
    baskets: int | None = None
    """How many different baskets there are (for the product formula only)."""
    records: int | None = None
    once: bool = True
    """Whether a user has at most one event a day."""

    @classmethod
    def of(cls, history: History, unit: str = "day") -> Marginals:
        """The totals of a history."""
        require_history("totals", history)
        problems = list(checks.one_of("unit", unit, UNITS, "a unit of time"))
        if unit == "hour" and not history.has_hours:
            problems.append(Problem("unit", f'"{history.time}" contains days without hours.'))
        if problems:
            raise InvalidInput("totals", problems)
        if history.relation_reading is not None:
            totals = count_totals(history, unit)
            return cls(
                users=history.users,
                when=totals.when,
                sizes=totals.sizes,
                items=totals.items,
                baskets=totals.baskets,
                records=history.records,
                once=unit == history.event,
            )
        kinds, _ = history.baskets
        _, when = np.unique(history.times(unit, of_events=True), return_counts=True)
        items = ordering.count_events_by_item(*history.by_item)
        baskets = int(history.basket_numbers.max()) + 1
        sizes = np.bincount(kinds)
        return cls(
            users=history.users,
            when=when,
            sizes=sizes,
            items=items[items > 0],
            baskets=baskets,
            records=history.records,
            once=unit == history.event,
        )

    @property
    def events(self) -> int:
        """How many events there are."""
        return int(self.sizes.sum())

    @property
    def pairs(self) -> int:
        """How many pairs of an event and an item there are."""
        return int(self.items.sum())


def estimate(
    totals: Marginals,
    knows: str | Sequence[str],
    weight: str = "record",
    method: Method = "baskets",
) -> Estimate:
    """The share of guesses that are right, estimated from totals alone.

    Args:
        totals: the totals.
        knows: of a unit of time, `kinds`, and `item` or `all items`.
        weight: what is drawn: `record` (or `user`, taken alike), or `event`.
        method: `baskets`, `marginals`, or `product` (the paper's; not a probability).

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> round(estimate(Marginals.of(purchases), ["day", "item"]), 2)
    0.86
    """
    allowed = (*UNITS, "kinds", "item", "all items")
    problems = Problems("estimate")
    if not isinstance(totals, Marginals):
        kind = type(totals).__name__
        problems.add("totals", f"takes totals, not a {kind}; give Marginals.of(history).")
    knows = checks.keep_iterator(knows)
    problems.extend("", checks.names("knows", knows))
    problems.raise_any()
    knows = as_names(knows)
    for words in knows:
        problems.extend("", checks.one_of("knows", words, allowed, "something to estimate from"))
    problems.extend("", checks.one_of("weight", weight, ("record", "event", "user"), "a weight"))
    problems.extend("", checks.one_of("method", method, METHODS, "a method"))
    problems.raise_any()
    if method == "product":
        return Estimate(_estimate_by_product(totals, knows), weight, method)
    estimator = _estimate_from_baskets if method == "baskets" else _estimate_from_marginals
    share = min(1.0, max(1 / totals.users, estimator(totals, knows, weight)))
    return Estimate(share, weight, method)


def _estimate_by_product(totals: Marginals, knows: Sequence[str]) -> float:
    """The number of values of each facet multiplied, over the records (Ito et al., Cor. 4.3)."""
    if not knows:
        return 1 / totals.users
    values = {
        "kinds": int(np.count_nonzero(totals.sizes)),
        "item": len(totals.items),
        "all items": totals.baskets or 0,
    }
    value_counts = [values.get(words, len(totals.when)) for words in knows]
    return prod(value_counts) / (totals.records or totals.pairs)


def _estimate_from_marginals(totals: Marginals, knows: Sequence[str], weight: str) -> float:
    """Occupied cells, as many as independence lets expect, over the units."""
    if not knows:
        return 1 / totals.users
    units = totals.pairs if "item" in knows else totals.events
    size = np.arange(len(totals.sizes))
    axes = []
    for words in knows:
        if words == "item":
            axes.append(totals.items)
        elif words == "kinds":
            axes.append(totals.sizes * (size if "item" in knows else 1))
        elif words == "all items":
            return _estimate_from_baskets(totals, knows, weight)
        else:
            axes.append(totals.when)
    expected, many = np.array([float(units)]), np.array([1.0])
    for axis in axes:
        value, count = _bin_counts(axis)
        expected = np.outer(expected, value / axis.sum()).ravel()
        many = np.outer(many, count).ravel()
    return float((-np.expm1(-expected) * many).sum() / units)


def _estimate_from_baskets(totals: Marginals, knows: Sequence[str], weight: str) -> float:
    """The mean of (1 - e^-L)/L over days, sizes and items, as far as they are known.

    Each marginal is counted without the target's own event: it is the others that hide them.
    """
    if not knows:
        return 1 / totals.users
    time_units = [words for words in knows if words in UNITS]
    if time_units == list(knows) and totals.once:
        return len(totals.when) / totals.events  # everybody has one event a day: no guess
    others = max(1, totals.events - 1)
    [sizes] = np.nonzero(totals.sizes)
    by_pairs = "item" in knows or weight != "event"
    mass = totals.sizes[sizes] * (sizes if by_pairs else 1)
    day, day_mass = (
        _bin_by_mass(totals.when) if time_units else (np.array([others + 1.0]), np.ones(1))
    )
    item, item_mass = _bin_by_mass(totals.items)
    # Below 1, so that its logarithm can be taken where there is but one item.
    popular = np.minimum(np.maximum(item - 1, 0) / max(1, totals.pairs - 1), 1 - 1e-12)
    same_day = np.maximum(day - 1, 0) / others
    success = 0.0
    for size, share in zip(sizes, mass / mass.sum(), strict=True):
        if "kinds" in knows or "all items" in knows:
            same_size = float(totals.sizes[size] - 1)
            if "all items" in knows:
                match_chance, match_mass = _same_basket_probability(int(size), popular, item_mass)
            elif "item" in knows:
                match_chance, match_mass = -np.expm1(size * np.log1p(-popular)), item_mass
            else:
                match_chance, match_mass = np.ones(1), np.ones(1)
            expected = same_size * np.outer(same_day, match_chance)
        else:
            match_mass = item_mass if "item" in knows else np.ones(1)
            containing = np.maximum(item - 1, 0) if "item" in knows else np.array([others])
            expected = np.outer(same_day, containing)
        success += share * float(
            day_mass
            @ _expected_success(expected, totals.users, bool(time_units) and totals.once)
            @ match_mass
        )
    return success


def _bin_by_mass(counts: Ints) -> tuple[Floats, Floats]:
    """Counts that are alike taken together: their mean, and the share of units that have them."""
    value, many = _bin_counts(counts)
    return value, value * many / (value * many).sum()


def _bin_counts(counts: Ints) -> tuple[Floats, Floats]:
    """Distinct counts and how often each occurs; neighbours together where there are many.

    So three marginals can be crossed at no cost.
    """
    value, many = np.unique(counts[counts > 0], return_counts=True)
    if len(value) <= tuning.MAX_COUNT_GROUPS:
        return value.astype(np.float64), many.astype(np.float64)
    mass = np.cumsum(value * many)
    group = (mass - value * many) * tuning.MAX_COUNT_GROUPS // mass[-1]
    _, group = np.unique(group, return_inverse=True)
    together = np.bincount(group, many).astype(np.float64)
    return np.bincount(group, value * many) / together, together


def _same_basket_probability(
    size: int, popular: Floats, item_mass: Floats
) -> tuple[Floats, Floats]:
    """How likely another basket of the same size is the same basket."""
    if size == 1:
        return popular, item_mass
    collision = float(item_mass @ popular)
    chance = lgamma(size + 1) + size * log(max(collision, 1e-300))
    return np.array([float(np.exp(min(0.0, chance)))]), np.ones(1)


def _expected_success(events: Floats, users: int, once: bool) -> Floats:
    """The mean chance of a guess in cells where so many events of others are expected."""
    if users == 1:
        return np.ones_like(events)
    # Unless each has at most one, events of others scatter, and some fall on the same user.
    others = events if once else (users - 1) * -np.expm1(-events / (users - 1))
    return np.where(others > 1e-12, -np.expm1(-others) / np.maximum(others, 1e-12), 1.0)
