"""Rules of rounding in an audit of several tables: what is certain is right, whatever is declared.

Tables limit each other, so a rule that is wrong in one of them must not make anything certain in
another.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import audited, dataset, two_tables

from divulge.reconstruction import RULES, Generalised, Totals
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.problem.rounding import interpret_totals
from divulge.reconstruction.solving.left_out_records import add_discard_bin
from divulge.reconstruction.solving.mismatched_totals import solve_under_premise

seeds = st.integers(0, 2**32 - 1)
declared = st.sampled_from([*RULES, "diagnose"])


@settings(max_examples=250, deadline=None)
@given(two_tables(), declared, declared, st.sampled_from(["complete", "any"]))
def test_what_is_certain_is_right_whatever_rules_are_declared(
    made: Any, of_cities: str, of_states: str, premise: str
) -> None:
    records, totals, truth = made
    found = audited(records, totals(of_cities, of_states), premise=premise)
    names = found.levels[0].totals_match.names
    for phase in found.phases:
        for record, true in enumerate(truth):
            if phase.certain[record]:
                assert names[phase.place[record]] == true


def test_what_only_an_early_phase_finds_certain_is_confirmed_as_well() -> None:
    """A wrong rule makes a record seem left out; a later phase contradicts it, and forgets it."""
    values = [1.25, 2.63, 0.26, 1.64, 5.86, 5.23]
    records = dataset("records", product=["21"] * 6, value=values)
    by_city = dataset(
        "by city", heading=["2", "2"], city=["a", "c"], state=["east", "west"], value=[9, 7]
    )
    by_state = dataset("by state", product=["21", "21"], state=["east", "west"], value=[9, 7])
    heading = {"heading": Generalised("product", prefix=1)}
    totals = [
        Totals(by_city, heading, ["city", "state"], ["value"], "sum_then_round_down"),
        Totals(by_state, {"product": "product"}, "state", ["value"], "sum_then_round"),
    ]
    found = audited(records, totals, premise="any")
    truth = [0, 1, 0, 0, 0, 1]
    for phase in found.phases:
        assert (phase.place[phase.certain] == np.array(truth)[phase.certain]).all()


@settings(max_examples=25, deadline=None)
@given(two_tables(), declared)
def test_nothing_is_certain_in_a_table_read_by_the_central_limit_theorem(
    made: Any, of_states: str
) -> None:
    records, totals, _ = made
    found = audited(records, totals("unknown_clt", of_states))
    assert not found.phases[-1].certain.any()


def test_a_rule_that_few_totals_bear_out_is_not_relied_on() -> None:
    records = dataset("records", product=["1", "1", "1"], value=[0.5, 0.5, 9.0])
    table = dataset("t", product=["1", "1"], city=["a", "b"], value=[1, 9])
    totals = [Totals(table, {"product": "product"}, "city", ["value"])]
    # Rounded after adding, 0.5 and 0.5 are the 1. Rounded before and down, they could be anywhere.
    doubtful = audited(records, totals, premise="complete")
    assert doubtful.phases[-1].place.tolist() == [0, 0, 1]
    assert not doubtful.phases[-1].certain[:2].any()
    assert "other rules fit them as well" in str(doubtful)
    beyond_doubt = audited(records, totals, premise="complete", rule_is_known=True)
    assert beyond_doubt.phases[-1].certain.all()
    assert "too few" not in str(beyond_doubt)
    assert (doubtful.assessment.claim, beyond_doubt.assessment.claim) == ("bound", "exact")


def test_amounts_of_whole_steps_leave_no_rule_to_doubt() -> None:
    records = dataset("records", product=["1", "1"], value=[3.0, 9.0])
    table = dataset("t", product=["1", "1"], city=["a", "b"], value=[3, 9])
    totals = [Totals(table, {"product": "product"}, "city", ["value"], "diagnose")]
    assert audited(records, totals, premise="complete").phases[-1].certain.all()


def test_a_contradiction_between_tables_leaves_what_each_says_alone() -> None:
    """Each table can be met alone; that both hold at once is impossible."""
    records = dataset("records", product=["11", "12"], value=[5.0, 6.0])
    by_city = dataset(
        "by city",
        heading=["1", "1", "1"],
        city=["a", "b", "c"],
        state=["east", "east", "west"],
        value=[5, 6, 0],
    )
    by_state = dataset("by state", product=["11", "12"], state=["west", "east"], value=[5, 6])
    totals = [
        Totals(
            by_city, {"heading": Generalised("product", prefix=1)}, ["city", "state"], ["value"]
        ),
        Totals(by_state, {"product": "product"}, "state", ["value"]),
    ]
    found = audited(records, totals, premise="complete", rule_is_known=True)
    places = [found.levels[0].totals_match.names[p] for p in found.phases[-1].place]
    assert places == ["a", "b"]


@pytest.mark.parametrize("rule", ["exact", "sum_then_round"])
def test_totals_called_exact_that_look_rounded_are_read_as_rounded_too(rule: str) -> None:
    records = dataset("records", product=["1", "1"], value=[1.4, 1.6])
    table = dataset("t", product=["1", "1"], city=["a", "b"], value=[1, 2])
    [level] = audited(
        records, [Totals(table, {"product": "product"}, "city", ["value"], rule)]
    ).levels
    [reading] = level.figures.read_by_any_rule()
    assert reading.slack_by_count.tolist() == [0, 50, 100]


def as_read(amounts: Any, read: Any) -> Instance:
    """Packages of one amount, and bins as their totals are read."""
    return Instance.from_intervals(
        amounts[:, None],
        read.low[:, None],
        read.high[:, None],
        slack_by_count=read.slack_by_count[None],
        extra_above=read.extra_above[None],
    )


@settings(max_examples=80, deadline=None)
@given(seeds, st.sampled_from(["unknown_hard", "unknown_clt"]))
def test_a_bin_for_records_left_out_has_room_for_whatever_was(seed: int, rule: Any) -> None:
    random = np.random.default_rng(seed)
    n, m = int(random.integers(3, 9)), int(random.integers(2, 5))
    amounts = random.integers(1, 1000, n)
    truth = np.append(random.integers(0, m, n - 1), m)  # the last is left out
    inside = [amounts[truth == b] for b in range(m)]
    rounded = [int(sum((100 * np.rint(some / 100)).astype(int))) for some in inside]
    read = interpret_totals(
        rule, amounts, [Decimal(r) for r in rounded], unit=Decimal(1), step=Decimal(100)
    )
    assume(as_read(amounts[:-1], read).is_allocation(truth[:-1]))
    wider = add_discard_bin(as_read(amounts, read))
    assert wider is not None
    assert wider.is_allocation(truth)


def test_several_bins_may_be_wider_together_than_one_with_all_packages() -> None:
    amounts = np.array([852, 749, 48, 749, 549, 448])
    totals = [Decimal(total) for total in (400, 700, 1400, 700)]
    read = interpret_totals("unknown_clt", amounts, totals, unit=Decimal(1), step=Decimal(100))
    instance = as_read(amounts, read)
    assert instance.is_allocation(np.array([2, 1, 2, 3, 2, 0]))
    found = solve_under_premise(instance, "excluded", 1.0)
    assert found.surely_discarded is not None
    assert not found.surely_discarded.any()
