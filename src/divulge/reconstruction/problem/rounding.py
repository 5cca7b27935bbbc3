"""How totals were rounded: which sums of unrounded amounts a published total allows.

A total T stands for a closed interval of sums, in whole units. Where amounts were rounded one by
one before they were added, or nobody knows, the interval widens with the number of packages in
the bin: `slack_by_count[c]` is by how much, for c packages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Literal, TypeAlias, cast

import numpy as np

from divulge.work.arrays import Ints

Rule: TypeAlias = Literal[
    "exact",
    "sum_then_round",
    "sum_then_round_half_even",
    "sum_then_round_down",
    "round_then_sum",
    "round_then_sum_half_even",
    "round_then_sum_down",
    "unknown_hard",
    "unknown_clt",
]
"""What was done to the totals before they were published."""


@dataclass(frozen=True, kw_only=True)
class RoundingRule:
    """What a rule of rounding is; a new one is a row of the table below and its reading."""

    rounded: Literal["nothing", "sum", "amounts", "unknown"]
    """What was rounded before the total was published."""
    mode: str = ROUND_HALF_UP
    """How, as `decimal` calls it."""
    is_certain: bool = True
    """Whether one sum makes one total, so that what it leaves may be called certain."""
    tightness: int
    """A diagnosis tries rules in this order, the one that allows least first."""
    covers: tuple[Rule, ...] = ()
    """Rules by which nothing is possible that this one does not allow."""


_RULES: Mapping[Rule, RoundingRule] = {
    "exact": RoundingRule(rounded="nothing", tightness=0),
    "sum_then_round": RoundingRule(rounded="sum", tightness=4, covers=("exact",)),
    "sum_then_round_half_even": RoundingRule(
        rounded="sum", mode=ROUND_HALF_EVEN, tightness=5, covers=("exact",)
    ),
    "sum_then_round_down": RoundingRule(
        rounded="sum", mode=ROUND_DOWN, tightness=6, covers=("exact",)
    ),
    "round_then_sum": RoundingRule(rounded="amounts", tightness=1),
    "round_then_sum_half_even": RoundingRule(rounded="amounts", mode=ROUND_HALF_EVEN, tightness=2),
    "round_then_sum_down": RoundingRule(rounded="amounts", mode=ROUND_DOWN, tightness=3),
    "unknown_hard": RoundingRule(
        rounded="unknown",
        is_certain=False,
        tightness=8,
        covers=(
            "exact",
            "sum_then_round",
            "sum_then_round_half_even",
            "round_then_sum",
            "round_then_sum_half_even",
        ),
    ),
    "unknown_clt": RoundingRule(rounded="unknown", is_certain=False, tightness=7),
}

RULES: tuple[Rule, ...] = tuple(_RULES)
"""All rules of rounding, by name."""

SUM_RULES: tuple[Rule, ...] = tuple(
    name for name, rule in _RULES.items() if rule.rounded in ("nothing", "sum")
)
"""The rules by which a total says between what the sum of the amounts lies."""

CERTAIN_RULES: tuple[Rule, ...] = tuple(name for name, rule in _RULES.items() if rule.is_certain)
"""The rules by which one sum makes one total."""

TIGHTEST_FIRST: tuple[Rule, ...] = tuple(sorted(RULES, key=lambda name: _RULES[name].tightness))
"""The rules from the tightest on, in the order in which a diagnosis tries them."""

ONE_PERCENT_QUANTILE = 2.33
"""The normal quantile of the paper's threshold: one-sided, 1%."""


def list_covered_rules(rule: str) -> tuple[Rule, ...]:
    """The rules by which nothing is possible that this one does not allow.

    >>> list_covered_rules("sum_then_round")
    ('exact',)
    """
    known = _RULES.get(cast("Rule", rule))
    return () if known is None else known.covers


def compute_rounding_error(rule: str, step: Decimal) -> Decimal:
    """By how much a total that was rounded after adding may differ from its sum.

    >>> compute_rounding_error("sum_then_round", Decimal(10))
    Decimal('5')
    """
    known = _RULES.get(cast("Rule", rule))
    if known is None or known.rounded != "sum":
        return Decimal(0)
    return step if known.mode == ROUND_DOWN else step / 2


def clt_threshold(count: int) -> float:
    """How far rounding alone takes a sum of so many amounts from its total, 99 times of 100.

    Never more than half a unit each, which the normal approximation forgets for one amount.

    >>> round(clt_threshold(3), 3), clt_threshold(1)
    (1.165, 0.5)
    """
    return min(0.5 * count, ONE_PERCENT_QUANTILE * math.sqrt(count / 12))


@dataclass(frozen=True, kw_only=True)
class SumIntervals:
    """What a published total says of a sum, for one attribute.

    `amounts` are the packages' amounts as they enter the sum, `low` and `high` the interval of
    every total, `slack_by_count` how much wider it is for a bin of 0, 1, 2, ... packages (to both
    sides), and `extra_above` by how much the sum may lie above the total besides (what was cut
    off).
    """

    amounts: Ints
    low: Ints
    high: Ints
    slack_by_count: Ints
    extra_above: Ints


def interpret_totals(
    rule: Rule,
    amounts: Ints,
    totals: Sequence[Decimal],
    *,
    unit: Decimal,
    step: Decimal,
    changed: bool = False,
) -> SumIntervals:
    """Turn totals into intervals of sums, in units of `unit`; totals are rounded to `step`.

    The step is a whole number of units. If totals were changed after they were rounded, nobody
    knows which of them were even.

    >>> unit, step = Decimal("0.01"), Decimal(1)
    >>> sums = interpret_totals(
    ...     "sum_then_round", np.array([250]), [Decimal(3)], unit=unit, step=step
    ... )
    >>> sums.low.tolist(), sums.high.tolist()
    ([250], [349])
    """
    per_step = step / unit
    no_slack = np.zeros(len(amounts) + 1, np.int64)
    totals_in_units = [total / unit for total in totals]
    known = _RULES[rule]
    if known.rounded == "nothing":
        exact = np.array([_to_whole_units(total) for total in totals_in_units], np.int64)
        return SumIntervals(
            amounts=amounts, low=exact, high=exact, slack_by_count=no_slack, extra_above=no_slack
        )
    if known.rounded == "amounts":
        rounded_amounts = _round_amounts(amounts, per_step, known.mode)
        exact = np.array([_to_whole_units(total) for total in totals_in_units], np.int64)
        return SumIntervals(
            amounts=rounded_amounts,
            low=exact,
            high=exact,
            slack_by_count=no_slack,
            extra_above=no_slack,
        )
    if known.rounded == "sum":
        is_either = changed and known.mode == ROUND_HALF_EVEN
        pairs = [
            _find_preimage(total, per_step, known.mode, is_either=is_either)
            for total in totals_in_units
        ]
        low, high = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
        return SumIntervals(
            amounts=amounts, low=low, high=high, slack_by_count=no_slack, extra_above=no_slack
        )
    low = np.array([math.ceil(total) for total in totals_in_units], np.int64)
    high = np.array([math.floor(total) for total in totals_in_units], np.int64)
    return SumIntervals(
        amounts=amounts,
        low=low,
        high=high,
        slack_by_count=_compute_slack(rule, len(amounts), per_step),
        extra_above=no_slack,
    )


def read_within(
    amounts: Ints, totals: Sequence[Decimal], unit: Decimal, by: Decimal
) -> SumIntervals:
    """Totals that may be wrong by a tolerance, to either side.

    >>> sums = read_within(np.array([9]), [Decimal(3)], Decimal("0.01"), Decimal("0.333"))
    >>> sums.low.tolist(), sums.high.tolist()
    ([267], [333])
    """
    low = np.array([math.ceil((total - by) / unit) for total in totals], np.int64)
    high = np.array([math.floor((total + by) / unit) for total in totals], np.int64)
    no_slack = np.zeros(len(amounts) + 1, np.int64)
    return SumIntervals(
        amounts=amounts, low=low, high=high, slack_by_count=no_slack, extra_above=no_slack
    )


def read_by_any_rule(
    amounts: Ints, totals: Sequence[Decimal], unit: Decimal, step: Decimal
) -> SumIntervals:
    """The widest reading: it holds by whatever rule amounts or sums were rounded or cut.

    Each amount, or the sum, moved by at most half a step up or down, or lost less than a step.

    >>> sums = read_by_any_rule(np.array([9]), [Decimal(3)], Decimal("0.01"), Decimal(1))
    >>> sums.slack_by_count.tolist(), sums.extra_above.tolist()
    ([0, 50], [0, 50])
    """
    per_step = step / unit
    low = np.array([math.floor(total / unit) for total in totals], np.int64)
    high = np.array([math.ceil(total / unit) for total in totals], np.int64)
    slack = _compute_slack("unknown_hard", len(amounts), per_step)
    if per_step == per_step.to_integral_value() and not (amounts % int(per_step)).any():
        # Whole steps: no rule changes an amount or a sum of them.
        slack = np.zeros_like(slack)
    return SumIntervals(
        amounts=amounts, low=low, high=high, slack_by_count=slack, extra_above=slack
    )


def read_by_several(readings: Sequence[SumIntervals]) -> SumIntervals:
    """What a total says if it was rounded by one of several rules of sums.

    >>> unit, step = Decimal("0.1"), Decimal(1)
    >>> two = [interpret_totals(rule, np.array([9]), [Decimal(3)], unit=unit, step=step)
    ...        for rule in ("sum_then_round", "sum_then_round_down")]
    >>> both = read_by_several(two)
    >>> both.low.tolist(), both.high.tolist()
    ([25], [39])
    """
    return replace(
        readings[0],
        low=np.minimum.reduce([reading.low for reading in readings]),
        high=np.maximum.reduce([reading.high for reading in readings]),
    )


def _find_preimage(
    total: Decimal, per_step: Decimal, mode: str, *, is_either: bool
) -> tuple[int, int]:
    """The smallest and largest sum, in units, that is rounded to this total.

    `is_either`: halves may have gone to the even neighbour above or below.
    """
    if mode == ROUND_DOWN:
        return math.ceil(total), math.ceil(total + per_step) - 1
    below, above = total - per_step / 2, total + per_step / 2
    if is_either:
        return math.ceil(below), math.floor(above)
    if mode == ROUND_HALF_EVEN:
        if (total / per_step) % 2 != 0:
            return math.floor(below) + 1, math.ceil(above) - 1
        return math.ceil(below), math.floor(above)
    return math.ceil(below), math.ceil(above) - 1


def _compute_slack(rule: Rule, packages: int, per_step: Decimal) -> Ints:
    """By how much a bin's interval grows with its packages; whole units lose nothing here."""
    if rule == "unknown_hard":
        half = per_step / 2
        return np.array([math.floor(half * count) for count in range(packages + 1)], np.int64)
    step = float(per_step)
    return np.array(
        [math.floor(clt_threshold(count) * step) for count in range(packages + 1)], np.int64
    )


def _round_amounts(amounts: Ints, per_step: Decimal, mode: str) -> Ints:
    """Every amount rounded to whole steps, in units again."""
    if per_step == (whole := int(per_step)):
        below, rest = np.divmod(amounts, whole)
        rounds_up = 2 * rest >= whole
        if mode == ROUND_HALF_EVEN:
            rounds_up &= (2 * rest > whole) | (below % 2 == 1)
        return (below + (rounds_up & (mode != ROUND_DOWN))) * whole
    steps = ((Decimal(int(a)) / per_step).quantize(Decimal(1), mode) for a in amounts)
    return np.array([int(s * per_step) for s in steps], np.int64)


def _to_whole_units(units: Decimal) -> int:
    """A total that must be met exactly; one between two units is met by none."""
    whole = units.to_integral_value()
    return int(whole) if whole == units else -1
