"""What is called certain is right though records are missing, codes suppressed, rules misdeclared."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import dataset

from divulge import work
from divulge.reconstruction import Generalised, Totals, allocate, reconstruct
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.solving.mismatched_totals import solve_under_premise

HEADING: dict[str, Any] = {"heading": Generalised("product", prefix=2)}
UNITS: Any = {"value": "0.01", "weight": "0.01"}


def wrong(found: Any, truth: list[str]) -> list[tuple[str, int]]:
    """Phases and records of which something is certain that is not so."""
    names = found.levels[0].totals_match.names
    return [
        (phase.name, record)
        for phase in found.phases
        for record, true in enumerate(truth)
        if (phase.certain[record] or phase.identified[record])
        and names[phase.place[record]] != true
    ]


def test_a_small_record_that_is_missing_does_not_mislead_about_others() -> None:
    """0.90 is left out; with it, the others would have to change places."""
    records = dataset("records", product=["x"] * 4, value=[4.5, 0.9, 4.9, 2.5])
    table = dataset("table", product=["x", "x"], city=["A", "B"], value=[5, 7])
    parties = dataset("parties", city=["A", "B"], company=["one", "two"])
    found = reconstruct(
        records,
        [Totals(table, {"product": "product"}, "city", ["value"])],
        parties,
        units={"value": "0.01"},
        workers=1,
        rule_is_known=True,
    )
    assert not wrong(found, ["B", "none", "A", "B"])
    packages = {"a": "4.5", "p": "0.9", "b": "4.9", "c": "2.5"}
    alone = allocate(packages, {"A": 5, "B": 7}, "0.01", premise="any", rule_is_known=True)
    assert {alone.finding[p] for p in "apb"} <= {"open", "ambiguous"}
    complete = allocate(packages, {"A": 5, "B": 7}, "0.01", rule_is_known=True)
    assert complete.finding["a"] == "certain"


def test_a_doubt_is_not_forgotten_when_another_table_tells_more() -> None:
    """0.90 is left out of both tables; where 20 is tells nothing of where 4.50 and 4.90 are."""
    records = dataset(
        "records", product=["11"] * 4 + ["12", "13"], value=[4.5, 0.9, 4.9, 2.5, 20.0, 20.0]
    )
    fine = dataset(
        "fine", heading=["1"] * 4, city=list("ABCD"), state=list("EEWE"), value=[5, 7, 20, 20]
    )
    coarse = dataset("coarse", product=["11", "12", "13"], state=list("EEW"), value=[12, 20, 20])
    heading = {"heading": Generalised("product", prefix=1)}
    found = reconstruct(
        records,
        [
            Totals(fine, heading, ["city", "state"], ["value"]),
            Totals(coarse, {"product": "product"}, "state", ["value"]),
        ],
        dataset("parties", city=list("ABCD")),
        units={"value": "0.01"},
        workers=1,
        rule_is_known=True,
    )
    assert not wrong(found, ["B", "none", "A", "B", "D", "C"])
    assert found.phases[-1].certain.tolist() == [False, False, False, True, True, True]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 700), st.integers(0, 2)), min_size=1, max_size=7),
    st.sets(st.integers(0, 6), max_size=2),
    st.booleans(),
)
def test_whatever_records_are_missing_what_is_certain_is_right(
    records: list[tuple[int, int]], missing: set[int], known: bool
) -> None:
    packages = {number: Decimal(cents) / 100 for number, (cents, _) in enumerate(records)}
    totals = {place: Decimal(0) for _, place in records}
    for number, (_, place) in enumerate(records):
        totals[place] += 0 if number in missing else packages[number]
    rounded = {p: t.quantize(Decimal(1), ROUND_HALF_UP) for p, t in totals.items()}
    found = allocate(packages, rounded, "0.01", premise="any", rule_is_known=known)
    for number, (_, place) in enumerate(records):
        if found.finding[number] == "certain" and found.possible[number]:
            assert found.possible[number] == {place}


def test_a_small_record_that_a_coarser_table_lacks_does_not_mislead_about_finer_places() -> None:
    records = dataset(
        "records",
        product=["hh1", "hh1", "hh1", "hh2", "hh2"],
        value=[4.3, 0.6, 0.7, 0.4, 0.9],
        weight=[500.0, 100.0, 300.0, 100.0, 700.0],
    )
    by_city = dataset(
        "by city",
        heading=["hh", "hh"],
        city=["s1", "t1"],
        state=["S", "T"],
        value=[6, 1],
        weight=[1300, 400],
    )
    by_state = dataset(
        "by state",
        product=["hh1", "hh1", "hh2", "hh2"],
        state=["S", "T", "S", "T"],
        value=[4, 1, 1, 0],
    )
    totals = [
        Totals(by_city, HEADING, ["city", "state"], ["value", "weight"]),
        Totals(by_state, {"product": "product"}, "state", ["value"]),
    ]
    parties = dataset("parties", city=["s1", "t1"], company=["one", "two"])
    found = reconstruct(
        records, totals, parties, units=UNITS, workers=1, seconds=1, rule_is_known=True
    )
    assert not wrong(found, ["s1", "s1", "t1", "t1", "s1"])


@pytest.mark.parametrize("premise", ["complete", "any"])
@pytest.mark.parametrize("rule", ["sum_then_round", "diagnose", "sum_then_round_down"])
def test_suppressed_codes_count_as_much_as_any_rule_lets_them(premise: Any, rule: str) -> None:
    """3.99 of a suppressed code is cut to 3; whoever believes in rounding takes it for 3.49."""
    records = dataset("records", product=["hh1", "hh1"], value=[1.45, 1.55])
    by_city = dataset(
        "by city", heading=["hh", "hh"], city=["A", "B"], state=["S", "Q"], value=[5, 1]
    )
    by_state = dataset(
        "by state", product=["hh1", "hh1", "hh9"], state=["S", "Q", "S"], value=[1, 1, 3]
    )
    totals = [
        Totals(by_city, HEADING, ["city", "state"], ["value"], rule),
        Totals(by_state, {"product": "product"}, "state", ["value"], rule),
    ]
    parties = dataset("parties", city=["A", "B"], company=["one", "two"])
    found = reconstruct(
        records, totals, parties, units={"value": "0.01"}, workers=1, premise=premise
    )
    assert not wrong(found, ["A", "B"])


def test_a_truth_that_other_tables_forbid_says_nothing_of_missing_records() -> None:
    allowed = np.ones((3, 2), bool)
    allowed[0, 0] = False
    totals = np.array([[5], [5]]), np.array([[6], [6]])
    instance = Instance.from_intervals(np.array([[5], [5], [1]]), *totals, allowed=allowed)
    assert solve_under_premise(instance, "any", truth=np.array([0, 1, 0])).premise == "complete"


def test_amounts_that_add_up_to_more_than_a_word_holds_are_refused() -> None:
    packages = dict.fromkeys(range(20), 10**17)
    with pytest.raises(work.InvalidInput, match="adds up to too much"):
        allocate(packages, {"a": 10**18, "b": 10**18}, 1, rounding="exact")
    with pytest.raises(work.InvalidInput, match="too large"):
        allocate({0: 5}, {"a": 10**19}, 1, rounding="exact")


def test_effort_that_is_left_is_used_though_a_checkpoint_has_a_shorter_try(tmp_path: Any) -> None:
    from divulge.reconstruction.auditing.workers import Task, solve_all

    random = np.random.default_rng(3)
    amounts = random.integers(1, 2000, (120, 2))
    truth = random.integers(0, 5, 120)
    sums = np.array([amounts[truth == b].sum(axis=0) for b in range(5)])
    task = Task(instance=Instance.from_intervals(amounts, sums - 1, sums + 1), truth=truth)
    with work.run_with(checkpoints=work.Checkpoints(tmp_path)):
        [short] = solve_all([task], 2.0, in_all=0.001, workers=1)
        [kept] = solve_all([task], 2.0, in_all=0.001, workers=1)
        [again] = solve_all([task], 2.0, in_all=8.0, workers=1)
    assert short.proved.sum() == kept.proved.sum() < again.proved.sum()


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]), st.booleans())
def test_in_however_little_time_what_is_sure_is_right_though_small_records_are_missing(
    seed: int, seconds: float, told: bool
) -> None:
    from divulge.reconstruction.auditing.workers import Task, solve_all

    random = np.random.default_rng(seed)
    n, bins = int(random.integers(6, 40)), int(random.integers(2, 5))
    amounts = random.integers(20, 3000, (n, 2))
    small = random.random(n) < 0.2
    amounts[small] = random.integers(1, 6, (int(small.sum()), 2))
    truth = random.integers(0, bins, n)
    missing = small & (random.random(n) < 0.5)
    there = amounts * ~missing[:, None]
    sums = np.array([there[truth == b].sum(axis=0) for b in range(bins)])
    instance = Instance.from_intervals(amounts, sums - 5, sums + 5)
    task = Task(instance=instance, premise="any", truth=truth if told else None)
    [found] = solve_all([task], seconds, workers=1)
    certain = (found.possible.sum(axis=1) == 1) & found.sure & ~found.discardable
    assert found.possible[certain, truth[certain]].all()
    assert not (certain & missing).any()


def test_a_record_with_one_place_at_a_glance_is_not_there_if_the_totals_leave_it_out() -> None:
    records = dataset("records", product=["1", "1", "2"], value=[5.0, 40.0, 7.0])
    by_city = dataset("by city", product=["1", "2"], city=["a", "b"], value=[40, 7])
    parties = dataset("parties", city=["a", "b"])
    totals = [Totals(by_city, {"product": "product"}, "city", ["value"])]
    found = reconstruct(
        records, totals, parties, units={"value": "1"}, workers=1, rule_is_known=True
    )
    assert [phase.name for phase in found.phases] == ["prior", "1/1", "1/2"]
    for phase in found.phases[1:]:
        assert phase.certain.tolist() == [False, True, True]
        assert phase.identified.tolist() == [False, True, True]
