"""Made-up instances of package allocation, with the truth that their totals were made of."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from divulge.data import Dataset
from divulge.reconstruction import Generalised, Reconstruction, Totals, reconstruct
from divulge.reconstruction.problem.instance import Instance

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
    return Instance.from_intervals(amounts, low, high, allowed=allowed), truth


def widened(random: np.random.Generator, instance: Instance) -> Instance:
    """The same instance where a bin's interval grows with its packages."""
    shape = (instance.attributes, instance.packages + 1)
    widening = np.cumsum(random.integers(0, 3, shape), axis=1)
    deeper = np.cumsum(random.integers(0, 2, shape), axis=1)
    return Instance.from_intervals(
        instance.amounts,
        instance.low,
        instance.high,
        slack_by_count=widening,
        extra_above=deeper,
        allowed=instance.allowed,
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


STATE_OF = {"a": "east", "b": "east", "c": "west", "d": "west"}


@st.composite
def two_tables(draw: st.DrawFn) -> tuple[Dataset, Any, list[str]]:
    """Records, what makes their totals by city and by state under some rules, and the truth."""
    count = draw(st.integers(2, 14))
    codes = [draw(st.sampled_from(["11", "12", "21"])) for _ in range(count)]
    cities = [draw(st.sampled_from("abcd")) for _ in range(count)]
    cents = [draw(st.integers(1, 600)) for _ in range(count)]
    amounts = [Decimal(c) / 100 for c in cents]
    made = draw(st.sampled_from(MADE_BY)), draw(st.sampled_from(MADE_BY))
    records = dataset("records", product=codes, value=[float(a) for a in amounts])

    def totals(fine_rule: str, coarse_rule: str) -> list[Totals]:
        fine = _totalled([c[:1] for c in codes], cities, amounts, made[0])
        coarse = _totalled(codes, [STATE_OF[c] for c in cities], amounts, made[1])
        by_city = dataset(
            "by city",
            heading=[k for k, _, _ in fine],
            city=[p for _, p, _ in fine],
            state=[STATE_OF[p] for _, p, _ in fine],
            value=[t for _, _, t in fine],
        )
        by_state = dataset(
            "by state",
            product=[k for k, _, _ in coarse],
            state=[p for _, p, _ in coarse],
            value=[t for _, _, t in coarse],
        )
        heading = {"heading": Generalised("product", prefix=1)}
        return [
            Totals(by_city, heading, ["city", "state"], ["value"], fine_rule),
            Totals(by_state, {"product": "product"}, "state", ["value"], coarse_rule),
        ]

    totals.rules = made  # type: ignore[attr-defined]
    return records, totals, cities


def dataset(name: str, **columns: list[Any]) -> Dataset:
    """A small dataset."""
    return Dataset.from_arrow(pa.table(columns), name=name)


def _totalled(
    keys: list[str], places: list[str], amounts: list[Decimal], rule: str
) -> list[tuple[str, str, int]]:
    rows: dict[tuple[str, str], list[Decimal]] = {}
    for key, place, amount in zip(keys, places, amounts, strict=True):
        rows.setdefault((key, place), []).append(amount)
    return [(key, place, int(total_by(rule, some))) for (key, place), some in sorted(rows.items())]


PARTIES = dataset("parties", city=list(STATE_OF))


def audited(records: Dataset, totals: list[Totals], **asked: Any) -> Reconstruction:
    """The audit of two tables in one process."""
    parties = asked.pop("parties", PARTIES)
    return reconstruct(records, totals, parties, units={"value": "0.01"}, workers=1, **asked)
