"""The one table of rules of rounding: what is derived from it, and what it claims."""

from __future__ import annotations

from decimal import Decimal
from typing import get_args

import numpy as np
import pytest

from divulge.reconstruction.problem.rounding import (
    CERTAIN_RULES,
    RULES,
    SUM_RULES,
    TIGHTEST_FIRST,
    Rule,
    compute_rounding_error,
    interpret_totals,
    list_covered_rules,
)

UNIT, STEP = Decimal("0.01"), Decimal("0.1")


def allows(rule: Rule, cents: list[int], total: Decimal) -> bool:
    """Whether packages of so many cents may have this total."""
    amounts = np.array(cents, np.int64)
    sums = interpret_totals(rule, amounts, [total], unit=UNIT, step=STEP)
    slack = int(sums.slack_by_count[len(cents)])
    return bool(sums.low[0] - slack <= sums.amounts.sum() <= sums.high[0] + slack)


def test_every_rule_has_a_row_and_an_order() -> None:
    assert set(RULES) == set(get_args(Rule))
    assert sorted(TIGHTEST_FIRST) == sorted(RULES)


def test_what_nobody_knows_makes_nothing_certain() -> None:
    assert {rule for rule in RULES if rule.startswith("unknown")} == set(RULES) - set(CERTAIN_RULES)
    assert set(SUM_RULES) < set(CERTAIN_RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_allows_what_the_rules_that_it_covers_allow(rule: Rule) -> None:
    """Published totals are multiples of the step, and so are exact ones that it covers."""
    totals = [Decimal(tenths) / 10 for tenths in range(-6, 9)]
    packages = [[a] for a in range(-30, 40)] + [[a, b] for a in range(-16, 17) for b in (3, 5, 15)]
    for covered in list_covered_rules(rule):
        for cents in packages:
            for total in totals:
                assert not allows(covered, cents, total) or allows(rule, cents, total)


@pytest.mark.parametrize("rule", SUM_RULES)
def test_a_total_is_off_by_no_more_than_the_error_of_its_rule(rule: Rule) -> None:
    error = compute_rounding_error(rule, STEP)
    for cents in range(-40, 41):
        for tenths in range(-6, 7):
            if allows(rule, [cents], Decimal(tenths) / 10):
                assert abs(Decimal(cents) / 100 - Decimal(tenths) / 10) <= error
