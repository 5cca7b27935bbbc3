"""Totals that lack a record and have another that nobody published: both faults in one key."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.reconstruction import allocate
from divulge.reconstruction.auditing.workers import Task, solve_all
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.solving.continuation import extend_proofs
from divulge.reconstruction.solving.extra_record import find_left_out_and_extra
from divulge.reconstruction.solving.mismatched_totals import solve_under_premise

SEEDS = st.integers(0, 2**32 - 1)


def with_both_faults(seed: int, most: int = 60) -> tuple[Instance, Any, int, int]:
    """Exact totals of packages of which one was left out, and of a record that is none of them."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 7)), int(random.integers(1, 4))
    amounts = random.integers(1, most, (n, 2))
    truth = random.integers(0, m, n)
    out, b = int(random.integers(n)), int(random.integers(m))
    kept = np.arange(n) != out
    totals = np.array([amounts[kept & (truth == place)].sum(axis=0) for place in range(m)])
    totals[b] += random.integers(1, most, 2)
    return Instance.from_intervals(amounts, totals, totals), truth, out, b


def every_way(instance: Instance) -> tuple[int, Any]:
    """How many ways there are, and how many have each package in each bin: the last for left out.

    Plainly: one package is left out, the others go anywhere, and of one bin alone they fall short.
    """
    n, m = instance.packages, instance.bins
    ways, pairs = 0, np.zeros((n, m + 1), int)
    for out, b in itertools.product(range(n), range(m)):
        for rest in itertools.product(range(m), repeat=n - 1):
            places = np.array([*rest[:out], m, *rest[out:]])
            sums = np.array([instance.amounts[places == place].sum(axis=0) for place in range(m)])
            others = np.arange(m) != b
            fits = (sums[others] == instance.low[others]).all()
            if fits and (sums[b] <= instance.low[b]).all():
                ways += 1
                pairs[np.arange(n), places] += 1
    return ways, pairs


@settings(max_examples=80, deadline=None)
@given(SEEDS)
def test_every_package_is_tried_as_left_out_and_every_bin_as_too_full(seed: int) -> None:
    instance, truth, out, _ = with_both_faults(seed, most=12)
    ways, pairs = every_way(instance)
    outcome = solve_under_premise(instance, "both")
    found = outcome.solution
    assert found.status == "closed"
    assert found.count == ways
    assert (found.pairs == pairs).all()
    assert (found.possible == (pairs > 0)).all()
    assert (found.proved == found.possible).all()
    assert outcome.verify()
    assert found.possible[out, -1]
    kept = np.arange(len(truth)) != out
    assert found.possible[kept, truth[kept]].all()
    assert outcome.discarded is not None
    assert np.allclose(outcome.discarded, pairs[:, -1] / ways)


@settings(max_examples=80, deadline=None)
@given(SEEDS)
def test_both_faults_are_taken_to_be_there_only_where_nothing_simpler_fits(seed: int) -> None:
    instance, truth, _, _ = with_both_faults(seed)
    outcome = solve_under_premise(instance, "any")
    simpler = [
        solve_under_premise(instance, premise) for premise in ("complete", "excluded", "extra")
    ]
    if all(other.solution.status == "infeasible" for other in simpler):
        assert outcome.premise == "both"
        assert find_left_out_and_extra(instance, truth) is not None
        told = solve_under_premise(instance, "any", truth=truth)
        assert told.premise == "both"
        assert (told.solution.possible == outcome.solution.possible).all()
    else:
        assert outcome.premise != "both"


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_truth_tells_which_package_is_left_out_and_which_bin_is_too_full(seed: int) -> None:
    instance, truth, out, b = with_both_faults(seed)
    told = find_left_out_and_extra(instance, truth)
    assert told is not None
    if told != (out, b):  # another pair must explain the totals as well
        places = np.where(np.arange(len(truth)) == told[0], instance.bins, truth)
        sums = np.array([instance.amounts[places == p].sum(axis=0) for p in range(instance.bins)])
        missing = instance.low - sums
        assert (missing[np.arange(instance.bins) != told[1]] == 0).all()
        assert (missing[told[1]] >= 0).all()


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_walk_goes_on_from_a_certificate_with_both_faults(seed: int) -> None:
    instance, _, _, _ = with_both_faults(seed, most=12)
    [result] = solve_all([Task(instance=instance, premise="both")], 1.0, workers=1)
    full = solve_under_premise(instance, "both").solution
    assert (result.possible == full.possible[:, :-1]).all()
    assert (result.discardable == full.possible[:, -1]).all()
    one = full.certificates[:1]
    forgetful = replace(
        result, status="open", certificates=one, proved=np.zeros_like(result.proved)
    )
    further = extend_proofs(instance, forgetful, 0.05)
    assert (further.proved <= result.possible).all()


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_an_extra_record_was_rounded_too(seed: int) -> None:
    """Where totals may be off by so much for each record, the extra one makes them so as well."""
    random = np.random.default_rng(seed)
    n, m, each = int(random.integers(1, 6)), int(random.integers(1, 4)), int(random.integers(4))
    amounts, truth = random.integers(1, 12, (n, 1)), random.integers(0, m, n)
    extra, b = random.integers(0, 12, 1), int(random.integers(m))
    totals = np.array([amounts[truth == place].sum(axis=0) for place in range(m)])
    totals[b] += extra
    count = np.bincount(np.append(truth, b), minlength=m)[:, None]
    totals = totals + random.integers(-each * count, each * count + 1)
    widening = each * np.arange(n + 1)[None]
    instance = Instance.from_intervals(
        amounts, totals, totals, slack_by_count=widening, extra_above=np.zeros_like(widening)
    )
    found = solve_under_premise(instance, "extra").solution
    assert found.status == "closed"
    assert found.possible[np.arange(n), truth].all()
    assert solve_under_premise(instance, "any").solution.status != "infeasible"


def test_time_that_runs_out_excludes_nothing() -> None:
    instance, _, _, _ = with_both_faults(5)
    found = solve_under_premise(instance, "both", seconds=0.0).solution
    assert found.status == "open"
    assert found.possible.all()
    assert not found.proved.any()


@pytest.mark.parametrize("totals", [{"x": 5, "y": 20}, {"x": 20, "y": 5}])
def test_where_a_record_is_only_in_the_totals_nothing_is_certain(totals: Any) -> None:
    """5 and 20 may be 5 and 9 and one of 11, or 5 and one of 20 that hides that 9 is missing."""
    found = allocate({"a": 5, "b": 9}, totals, units="1", premise="any")
    assert found.premise == "extra"
    assert set(found.finding.values()) == {"open"}
    assert found.rests_on_rule == {"a", "b"}
    assert set(allocate({"a": 5, "b": 9}, totals, units="1", premise="extra").finding.values()) == {
        "certain"
    }


def test_both_faults_are_told_with_what_may_be_left_out() -> None:
    packages = {"a": ("5", "1"), "b": ("40", "2"), "c": ("7", "90")}
    totals = {"x": (5, 1), "y": (7, 90), "z": (1, 70)}
    found = allocate(packages, totals, units=("1", "1"), premise="any", rule_is_known=True)
    assert found.premise == "both"
    assert found.excluded == {"b": 1.0}
    assert found.possible == {"a": {"x"}, "b": set(), "c": {"y"}}
    assert set(found.finding.values()) == {"open"}
    assert found.verify()
