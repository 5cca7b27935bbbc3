"""Made-up instances of package allocation, with the truth that their totals were made of."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from hypothesis import strategies as st

from divulge.reconstruction.instance import Instance

MODES = {"": ROUND_HALF_UP, "_half_even": ROUND_HALF_EVEN, "_down": ROUND_DOWN}
MADE_BY = [f"{order}{mode}" for order in ("sum_then_round", "round_then_sum") for mode in MODES]


def instance_of(random: np.random.Generator, packages: int, bins: int, attributes: int) -> Any:
    """An instance around a truth; some with bounds that widen, some with pairs forbidden."""
    largest, slack = int(random.choice([5, 20, 100])), int(random.choice([0, 1, 4]))
    amounts = random.integers(0, largest, (packages, attributes))
    truth = random.integers(0, bins, packages)
    totals = np.array([amounts[truth == b].sum(axis=0) for b in range(bins)])
    shape = (bins, attributes)
    allowed = random.random((packages, bins)) < 0.8
    allowed[np.arange(packages), truth] = True
    low = totals - random.integers(0, slack + 1, shape)
    high = totals + random.integers(0, slack + 1, shape)
    return Instance.of(amounts, low, high, allowed=allowed), truth


def widened(random: np.random.Generator, instance: Instance) -> Instance:
    """The same instance where a bin's interval grows with its packages."""
    shape = (instance.attributes, instance.packages + 1)
    widening = np.cumsum(random.integers(0, 3, shape), axis=1)
    deeper = np.cumsum(random.integers(0, 2, shape), axis=1)
    return Instance.of(
        instance.amounts, instance.low, instance.high, widening, deeper, instance.allowed
    )


@st.composite
def rounded(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], dict[str, str], str]:
    """Packages with cents, their totals by some rule, where each really is, and the rule."""
    rule = draw(st.sampled_from(MADE_BY))
    bins = draw(st.integers(1, 3))
    cents = draw(st.lists(st.integers(0, 400), min_size=1, max_size=7))
    places = [draw(st.integers(0, bins - 1)) for _ in cents]
    packages = {f"p{n}": Decimal(amount) / 100 for n, amount in enumerate(cents)}
    truth = {f"p{n}": f"b{place}" for n, place in enumerate(places)}
    totals = {}
    for b in range(bins):
        inside = [packages[p] for p, place in truth.items() if place == f"b{b}"]
        totals[f"b{b}"] = total_by(rule, inside)
    return packages, totals, truth, rule


def total_by(rule: str, amounts: list[Decimal]) -> Decimal:
    """A total as a publisher makes it."""
    order = "sum_then_round" if rule.startswith("sum") else "round_then_sum"
    mode = MODES[rule.removeprefix(order)]
    if order == "sum_then_round":
        return sum(amounts, Decimal(0)).quantize(Decimal(1), mode)
    return sum((amount.quantize(Decimal(1), mode) for amount in amounts), Decimal(0))
