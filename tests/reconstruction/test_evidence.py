"""Which rules of rounding the totals bear out, and that the others do not make anything certain."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import MADE_BY, dataset, total_by

from divulge.reconstruction import Reconstruction, Totals, reconstruct
from divulge.reconstruction.auditing.rounding_evidence import find_fitting_rules


def published(keys: list[list[tuple[int, int]]], rule: str, declared: str) -> tuple[Any, list[str]]:
    """An audit of records in cents with their places, key by key, and where they are."""
    records: list[tuple[str, float]] = []
    rows: list[tuple[str, str, int]] = []
    truth = []
    for number, key in enumerate(keys):
        for place in sorted({place for _, place in key}):
            inside = [Decimal(cents) / 100 for cents, p in key if p == place]
            rows.append((f"k{number}", f"city {place}", int(total_by(rule, inside))))
        records += [(f"k{number}", cents / 100) for cents, _ in key]
        truth += [f"city {place}" for _, place in key]
    table = dataset(
        "totals",
        product=[row[0] for row in rows],
        city=[row[1] for row in rows],
        value=[row[2] for row in rows],
    )
    own = dataset("records", product=[r[0] for r in records], value=[r[1] for r in records])
    parties = dataset("parties", city=["city 0", "city 1", "city 2"])
    totals = [Totals(table, {"product": "product"}, "city", ["value"], declared)]
    found = reconstruct(own, totals, parties, units={"value": "0.01"}, workers=1, seconds=1)
    return found, truth


def assert_nothing_certain_is_wrong(found: Reconstruction, truth: list[str]) -> None:
    names = found.levels[0].totals_match.names
    for phase in found.phases:
        for record in np.flatnonzero(phase.certain):
            assert names[phase.place[record]] == truth[record]


HARMLESS = [[(300, 0), (700, 1)]] * 20
"""Keys of whole amounts, by which every rule is borne out."""


def test_a_rule_that_whole_amounts_bear_out_is_not_believed_of_halves() -> None:
    """Half to even makes 4 of 4.50; whoever takes it for half up misplaces 2.50."""
    halves = [(250, 0), (200, 0), (240, 1), (220, 1)]
    found, truth = published([*HARMLESS, halves], "sum_then_round_half_even", "sum_then_round")
    assert not found.levels[0].rule_is_known
    assert "sum_then_round_half_even" in found.levels[0].other_rules
    assert "other rules fit them as well" in str(found)
    assert_nothing_certain_is_wrong(found, truth)


keys = st.lists(
    st.lists(st.tuples(st.integers(1, 60).map(lambda n: 25 * n), st.integers(0, 2)), min_size=1,
             max_size=5),
    min_size=1, max_size=4,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(keys, st.sampled_from(MADE_BY), st.sampled_from(MADE_BY))
def test_nothing_certain_is_wrong_whatever_rule_is_declared(
    some: list[list[tuple[int, int]]], rule: str, declared: str
) -> None:
    """Quarters and halves, where rules differ, beside many keys where they do not."""
    found, truth = published([*HARMLESS, *some], rule, declared)
    assert_nothing_certain_is_wrong(found, truth)


@pytest.mark.parametrize("rule", MADE_BY)
def test_many_keys_rule_out_all_rules_but_the_one_that_was_used(rule: str) -> None:
    random = np.random.default_rng(3)
    many = [[(int(random.integers(1, 40)) * 25, 0) for _ in range(3)] for _ in range(150)]
    found, truth = published(many, rule, rule)
    assert found.levels[0].rule_is_known
    assert not found.levels[0].other_rules
    others = [other for other in MADE_BY if other != rule]
    for declared in others:
        misread, _ = published(many, rule, declared)
        assert not misread.levels[0].rule_is_known
        assert_nothing_certain_is_wrong(misread, truth)


def test_a_few_keys_with_records_left_out_do_not_spoil_the_evidence() -> None:
    random = np.random.default_rng(4)
    many = [[(int(random.integers(1, 4000)), 0) for _ in range(3)] for _ in range(400)]
    found, _ = published(many, "sum_then_round", "sum_then_round")
    level = found.levels[0]
    for row in range(0, 400, 50):  # these totals lack something
        level.figures.totals["value"][row] -= 7
    others = find_fitting_rules(
        "sum_then_round", level.totals_match.groups, level.figures.read_by_rule
    )
    assert not set(others) & {"round_then_sum", "sum_then_round_down", "round_then_sum_down"}
    assert "exact" not in others


def test_whole_amounts_are_read_alike_by_all_rules() -> None:
    found, _ = published(HARMLESS, "sum_then_round", "sum_then_round")
    assert found.levels[0].other_rules
    records = dataset("records", product=["a", "a"], value=[3, 7])
    table = dataset("totals", product=["a", "a"], city=["x", "y"], value=[3, 7])
    totals = [Totals(table, {"product": "product"}, "city", ["value"])]
    parties = dataset("parties", city=["x", "y"])
    whole = reconstruct(records, totals, parties, units={"value": "1"}, workers=1, seconds=1)
    assert whole.levels[0].rule_is_known
    assert whole.phases[-1].certain.all()
