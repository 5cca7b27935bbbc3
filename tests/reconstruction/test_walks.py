"""From one allocation to others: what a walk says is an allocation, and it finds what there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reconstruction.paper_program import allocations_of
from tests.reconstruction.strategies import instance_of, widened

from divulge.reconstruction import tuning
from divulge.reconstruction.local_search.explore import LocalSearch
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.reconstruction.solving.left_out_records import find_left_out
from divulge.reconstruction.solving.mismatched_totals import solve_under_premise
from divulge.work import Effort

seeds = st.integers(0, 2**32 - 1)


class Told:
    """What a walk tells: every allocation is checked, its pairs are proved."""

    def __init__(self, instance: Instance, truth: Any) -> None:
        self.instance = instance
        self.proved = np.zeros_like(instance.allowed)
        self.enter(truth[None])

    def enter(self, rows: Any) -> None:
        for row in rows:
            assert self.instance.is_allocation(row)
            self.proved[np.arange(len(row)), row] = True

    def all_of(self, part: Instance, effort: Effort) -> Any:
        del effort
        return solve_instance(part, solver=False).certificates


def possible_pairs(instance: Instance) -> Any:
    pairs = np.zeros_like(instance.allowed)
    for places in allocations_of(instance):
        pairs[np.arange(len(places)), places] = True
    return pairs


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 4), st.integers(1, 3), st.booleans())
def test_a_walk_tells_only_allocations(seed: int, bins: int, attributes: int, wide: bool) -> None:
    random = np.random.default_rng(seed)
    instance, truth = instance_of(random, 7, bins, attributes)
    instance = widened(random, instance) if wide else instance
    assume(instance.is_allocation(truth))
    told = Told(instance, truth)
    walk = LocalSearch(instance, truth, told.enter, told.all_of)
    walk.explore_allocations(instance.allowed, told.proved, Effort(0.05))
    assert not (told.proved & ~possible_pairs(instance)).any()


@pytest.mark.parametrize("way", ["_resplit_short_halves", "_resplit_long_halves", "_walk_two_bins"])
def test_with_two_bins_every_way_that_takes_both_finds_all(way: str) -> None:
    random = np.random.default_rng(8)
    for number in range(40):
        instance, truth = instance_of(random, 9, 2, 1 + number % 3)
        told = Told(instance, truth)
        walk = LocalSearch(instance, truth, told.enter, told.all_of)
        for _ in range(3):
            getattr(walk, way)(instance.allowed, told.proved, Effort(1))
        assert (told.proved == possible_pairs(instance)).all()


def test_three_bins_are_settled_together() -> None:
    """Three packages go round: no two bins can exchange anything."""
    amounts = np.array([[100], [200], [300], [300], [200], [100]])
    places = np.array([0, 1, 2, 1, 0, 2])
    totals = np.array([amounts[places == b].sum(axis=0) for b in range(3)])
    instance = Instance.from_intervals(amounts, totals, totals)
    told = Told(instance, places)
    walk = LocalSearch(instance, places, told.enter, told.all_of)
    walk._resplit_several_bins(instance.allowed, told.proved, Effort(5))
    assert (told.proved == possible_pairs(instance)).all()


def test_many_packages_of_two_bins_are_found_ambiguous_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lists far too short for all packages still prove each of them ambiguous."""
    monkeypatch.setattr(tuning, "WALK_LONGEST_LIST", 512)
    monkeypatch.setattr(tuning, "WALK_SHORTEST_LIST", 64)
    random = np.random.default_rng(9)
    amounts = random.integers(1, 60, (80, 2))
    truth = random.integers(0, 3, 80)
    totals = np.array([amounts[truth == b].sum(axis=0) for b in range(3)])
    instance = Instance.from_intervals(amounts, totals - 1, totals + 1)
    told = Told(instance, truth)
    walk = LocalSearch(instance, truth, told.enter, told.all_of)
    while walk._walk_two_bins(instance.allowed, told.proved, Effort(0)):
        pass
    assert told.proved.all()


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 3), st.integers(1, 2))
def test_a_truth_tells_which_records_the_totals_leave_out(
    seed: int, bins: int, excluded: int
) -> None:
    random = np.random.default_rng(seed)
    amounts = random.integers(1, 10**6, (8, 2))
    truth = random.integers(0, bins, 8)
    out = np.zeros(8, bool)
    out[random.choice(8, excluded, replace=False)] = True
    totals = np.array([amounts[(truth == b) & ~out].sum(axis=0) for b in range(bins)])
    instance = Instance.from_intervals(amounts, totals, totals)
    said = find_left_out(instance, truth)
    assert said is not None
    assert (said == out).all()
    found = solve_under_premise(instance, "any", truth=truth)
    assert found.premise == "excluded"
    assert found.may_be_discarded is not None
    assert found.may_be_discarded[out].all()
    assert found.verify()
