"""Covers by listed sets beside trying everything, and what is expected of lists beforehand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.paper_program import allocations_of
from tests.reconstruction.strategies import instance_of, widened
from tests.reconstruction.test_lattice import sets_of

from divulge.reconstruction import tuning
from divulge.reconstruction.counting import fitting_sets
from divulge.reconstruction.exact_cover.cover_conclusions import CoverConclusions
from divulge.reconstruction.exact_cover.cover_rung import CoverSolver
from divulge.reconstruction.exact_cover.cover_search import BinSetLists
from divulge.reconstruction.problem.bitsets import Bitsets, pack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation.state import SearchState
from divulge.reconstruction.solving.ladder import solve_instance
from divulge.reconstruction.subset_sum.expected_count import estimate_log2_sets
from divulge.work import Effort

seeds = st.integers(0, 2**32 - 1)
PLENTY = 10**9


def listed(instance: Instance, bins: int) -> dict[int, Bitsets]:
    """All sets of the first bins."""
    nothing = np.zeros(instance.packages, bool)
    found = {b: sets_of(instance, b, instance.allowed[:, b], nothing) for b in range(bins)}
    return {b: np.array([pack_bitsets(row) for row in rows]) for b, rows in found.items()}


def solve_soon(instance: Instance, seconds: float) -> Any:
    return solve_instance(instance, min(seconds, 5.0), solver=False)


def of_every(instance: Instance) -> Any:
    """How many allocations there are, and with each pair, by trying everything."""
    every = np.array(allocations_of(instance), np.int64).reshape(-1, instance.packages)
    return len(every), np.stack([(every == b).sum(axis=0) for b in range(instance.bins)], axis=1)


@settings(max_examples=120, deadline=None)
@given(seeds, st.integers(3, 7), st.integers(2, 4), st.integers(1, 2), st.integers(1, 3))
def test_covers_count_as_trying_everything_does(
    seed: int, packages: int, bins: int, attributes: int, last: int
) -> None:
    """Whether one bin or several have what is left."""
    instance, _ = instance_of(np.random.default_rng(seed), packages, bins, attributes)
    of_bins = listed(instance, max(1, bins - last))
    lists = BinSetLists(instance, of_bins)
    complete, found = lists.search_covers()
    assert complete
    known = SearchState.from_instance(instance)
    covered = CoverConclusions(lists, found)
    covered.solve_remainders(solve_soon, Effort(math.inf))
    covered.update_state(known)
    count, pairs = of_every(instance)
    assert not known.infeasible
    assert (known.possible == (pairs > 0)).all()
    assert (known.proved == (pairs > 0)).all()
    assert instance.are_allocations(np.array(known.certificates)).all()
    assert known.allocation_counts is not None
    assert known.allocation_counts.count == count
    assert known.allocation_counts.pairs.tolist() == pairs.tolist()


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(3, 7), st.integers(3, 4), st.integers(1, 2), st.booleans())
def test_questions_to_covers_are_answered_as_by_trying_everything(
    seed: int, packages: int, bins: int, attributes: int, one_left: bool
) -> None:
    instance, _ = instance_of(np.random.default_rng(seed), packages, bins, attributes)
    lists = BinSetLists(instance, listed(instance, bins - (1 if one_left else 2)))
    known = SearchState.from_instance(instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "COVER_FEW", 10**6)
        CoverSolver(solve_soon)._ask_open_pairs(known, lists, 1.0, Effort(math.inf))
    _, pairs = of_every(instance)
    assert (known.possible == (pairs > 0)).all()
    assert (known.proved == (pairs > 0)).all()
    assert instance.are_allocations(np.array(known.certificates)).all()


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 40))
def test_a_search_that_ends_early_says_so_and_what_it_found_holds(seed: int, steps: int) -> None:
    instance, _ = instance_of(np.random.default_rng(seed), 7, 3, 1)
    lists = BinSetLists(instance, listed(instance, 2))
    _, every = lists.search_covers()
    complete, some = lists.search_covers(steps=steps)
    assert {tuple(row) for row in some} <= {tuple(row) for row in every}
    if complete:
        assert len(some) == len(every)
    if len(every) > 2:
        complete, some = lists.search_covers(most=1)
        assert (complete, len(some)) == (False, 2)


def thin(seed: int) -> Instance:
    """Many packages in five bins: each has thousands of sets, and few fit together."""
    random = np.random.default_rng(seed)
    amounts = np.round(np.exp(random.normal(4.0, 1.3, (40, 3)))).astype(np.int64)
    truth = random.choice(5, 40, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    sums = np.array([amounts[truth == b].sum(axis=0) for b in range(5)])
    return Instance.from_intervals(amounts, sums - 3, sums + 3)


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_bins_with_many_sets_and_few_allocations_are_closed_by_covers(seed: int) -> None:
    instance = thin(seed)
    known, found = SearchState.from_instance(instance), dict[int, fitting_sets.BinSets]()
    CoverSolver(solve_soon).explore_covers(known, found, Effort(20.0))
    assert known.allocation_counts is not None
    assert known.is_closed
    assert max(of_bin.count for of_bin in found.values()) > 500
    assert instance.are_allocations(np.array(known.certificates)).all()
    # The programme goes through the same sets in another way.
    others = solve_instance(instance, 20.0)
    assert others.status == "closed"
    assert (others.possible == known.possible).all()


@settings(max_examples=60, deadline=None)
@given(seeds, st.booleans())
def test_many_allocations_hold_as_each_of_them_does(seed: int, wide: bool) -> None:
    random = np.random.default_rng(seed)
    instance, truth = instance_of(random, 5, 3, 2)
    instance = widened(random, instance) if wide else instance
    some = np.vstack([truth, random.integers(0, 4, (30, 5)), np.array(allocations_of(instance))])
    plain = [bool((row < 3).all()) and instance.is_allocation(row) for row in some]
    assert instance.are_allocations(some).tolist() == plain


def test_what_was_found_earlier_is_proved_and_what_does_not_hold_is_not() -> None:
    random = np.random.default_rng(3)
    amounts = random.integers(1, 50, (60, 1))
    truth = random.integers(0, 4, 60)
    sums = np.array([amounts[truth == b].sum(axis=0) for b in range(4)])
    instance = Instance.from_intervals(amounts, sums - 3, sums + 3)
    wrong = np.zeros(60, np.int64)
    assert not instance.is_allocation(wrong)
    found = solve_instance(instance, 0.0, earlier=np.stack([wrong, truth]), solver=False)
    assert found.proved[np.arange(60), truth].all()
    assert instance.are_allocations(found.certificates).all()


def test_how_many_sets_are_expected_is_right_within_a_few_bits() -> None:
    random = np.random.default_rng(11)
    off = []
    for _ in range(40):
        n, k = int(random.integers(9, 13)), int(random.integers(1, 4))
        amounts = np.round(np.exp(random.normal(5.0, 1.0, (n, k)))).astype(np.int64)
        inside = random.random(n) < random.choice([0.2, 0.5])
        sums, wide = amounts[inside].sum(axis=0), int(random.choice([5, 100]))
        instance = Instance.from_intervals(amounts, (sums - wide)[None], (sums + wide)[None])
        everything, nothing = np.ones(n, bool), np.zeros(n, bool)
        count = len(sets_of(instance, 0, everything, nothing))
        off.append(estimate_log2_sets(instance, 0, everything, nothing) - math.log2(count))
    assert np.median(np.abs(off)) < 2
    assert max(off) < 3  # what is expected to be long is hardly ever short


def test_sets_that_were_never_to_be_listed_take_no_time() -> None:
    random = np.random.default_rng(1)
    amounts = random.integers(1, 100, (90, 1))
    instance = Instance.from_intervals(amounts, *(np.full((3, 1), 1500 + d) for d in (0, 400)))
    known, found = SearchState.from_instance(instance), dict[int, fitting_sets.BinSets]()
    assert min(fitting_sets.estimate_log2_bin_sets(known, b) for b in range(3)) > 40
    CoverSolver(solve_soon).explore_covers(known, found, Effort(math.inf))
    assert not found
    assert known.possible.all()


def test_a_bin_of_more_than_a_thousand_candidates_is_no_trouble() -> None:
    """As many sets as no floating number tells."""
    random = np.random.default_rng(2)
    amounts = random.integers(1, 10**6, (1200, 2))
    truth = random.integers(0, 3, 1200)
    sums = np.array([amounts[truth == b].sum(axis=0) for b in range(3)])
    instance = Instance.from_intervals(amounts, sums - 50, sums + 50)
    everything, nothing = np.ones(1200, bool), np.zeros(1200, bool)
    assert estimate_log2_sets(instance, 0, everything, nothing) > 1024
    found = solve_instance(instance, 0.5, truth=truth, solver=False)
    assert found.proved[np.arange(1200), truth].all()


def test_bins_that_share_nothing_though_one_must_have_something_have_no_cover() -> None:
    amounts = np.array([[3], [2], [4], [1]])
    instance = Instance.from_intervals(
        amounts, np.array([[5], [-1], [1], [5]]), np.array([[5], [9], [9], [5]])
    )
    nothing = np.zeros(4, bool)
    of_bins = {
        b: np.array([pack_bitsets(row) for row in sets_of(instance, b, ~nothing, nothing)])
        for b in (0, 3)
    }
    lists = BinSetLists(instance, of_bins)
    _, found = lists.search_covers()
    known = SearchState.from_instance(instance)
    covered = CoverConclusions(lists, found)
    covered.solve_remainders(solve_soon, Effort(math.inf))
    covered.update_state(known)
    assert not len(allocations_of(instance))
    assert known.infeasible


def test_a_search_keeps_to_its_steps_where_the_last_list_is_long() -> None:
    """Every set of the last bin is a step, though it needs no cutting down."""
    amounts = np.array([[1]] * 16)
    instance = Instance.from_intervals(
        amounts, np.array([[0], [0], [16]]), np.array([[16], [16], [16]])
    )
    every = np.arange(2**15, dtype=np.uint64)[:, None]
    lists = BinSetLists(instance, {0: np.zeros((1, 1), np.uint64), 1: every})
    complete, some = lists.search_covers(steps=2_000)
    assert not complete
    assert len(some) == 1  # the empty set comes first


def test_two_bins_of_many_packages_are_counted_or_refused() -> None:
    """More packages than a word has bits, of which few fit together."""
    from divulge.reconstruction.counting import two_bins

    random = np.random.default_rng(5)
    amounts = np.sort(random.integers(10**5, 10**6, (80, 2)), axis=0)
    total = amounts.sum(axis=0)
    low = np.stack([amounts[3], total - amounts[3]])
    instance = Instance.from_intervals(amounts, low, low)
    counted = two_bins.count_two_bins(instance, instance.allowed, PLENTY, Effort(5))
    assert counted is None or counted.count >= 1
