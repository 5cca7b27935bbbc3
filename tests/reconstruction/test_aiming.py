"""Bins filled anew with a wanted package, beside trying everything and beside a truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import instance_of
from tests.reconstruction.test_covers import of_every

from divulge.reconstruction.local_search import targeted_refill_kernels
from divulge.reconstruction.local_search.targeted_refill import TargetedRefill
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import expected_count_kernels

seeds = st.integers(0, 2**32 - 1)


def shown(instance: Instance, truth: Any, tries: int) -> Any:
    """The pairs that aiming shows to be possible, from the truth on; all of it is checked."""
    aim = TargetedRefill(instance, np.random.default_rng(3))
    place = truth.astype(np.int64)
    proved = place[:, None] == np.arange(instance.bins)
    for _ in range(tries):
        found = aim.find_allocations(place, instance.allowed, proved)
        if found is None:
            break
        for other in found:
            assert instance.is_allocation(other)
            proved[np.arange(len(place)), other] = True
        if len(found):
            place = found[-1]
    return proved


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 7), st.integers(2, 4), st.integers(1, 3))
def test_only_allocations_are_found_and_all_of_two_bins(
    seed: int, packages: int, bins: int, attributes: int
) -> None:
    instance, truth = instance_of(np.random.default_rng(seed), packages, bins, attributes)
    _, pairs = of_every(instance)
    proved = shown(instance, truth, 400)
    assert (proved <= (pairs > 0)).all()
    if bins == 2:
        assert (proved == (pairs > 0)).all()


def test_a_dear_package_finds_cheap_ones_to_stand_beside() -> None:
    """Of 120 packages in one bin and 6 in the other: all pairs but few, in a few hundred tries."""
    random = np.random.default_rng(11)
    weight = np.exp(random.normal(6, 1.5, 126)).astype(np.int64) + 1
    value = (weight * np.exp(random.normal(1, 1, 126))).astype(np.int64) + 1
    amounts = np.column_stack([value, weight])
    truth = np.where(np.arange(126) < 120, 0, 1)
    totals = np.array([amounts[truth == b].sum(axis=0) for b in (0, 1)])
    fits = (amounts <= totals[1]).all(axis=1)
    instance = Instance.from_intervals(
        amounts, totals - 5, totals + 5, allowed=np.column_stack([np.ones(126, bool), fits])
    )
    proved = shown(instance, truth, 1_500)
    assert (proved & instance.allowed).sum() > 0.9 * instance.allowed.sum()


def test_chances_make_the_sums_right_in_the_mean() -> None:
    random = np.random.default_rng(5)
    amounts = random.integers(1, 1_000, (60, 2))
    for share in (0.1, 0.5, 0.8):
        goal = share * amounts.sum(axis=0)
        low, high = goal.astype(np.int64) - 2, goal.astype(np.int64) + 2
        chance = expected_count_kernels.compute_inclusion_chances(amounts, low, high, goal.copy())
        assert np.allclose(chance @ amounts, goal, rtol=0.01)


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(1, 10), st.integers(1, 3))
def test_sets_that_hit_are_sets_that_fit(seed: int, packages: int, attributes: int) -> None:
    """All of them, if there is room for all."""
    random = np.random.default_rng(seed)
    amounts = random.integers(0, 20, (packages, attributes))
    low = random.integers(0, 60, attributes)
    high = low + random.integers(0, 9, attributes)
    every = (np.arange(2**packages)[:, None] >> np.arange(packages)) & 1
    sums = every @ amounts
    fitting = every[((sums >= low) & (sums <= high)).all(axis=1)]
    found = np.zeros((2**packages, packages), bool)
    room = np.empty((3, 2**11, attributes), np.int64), np.empty((3, 2**11), np.uint64)
    number, _ = targeted_refill_kernels.match_sums(amounts, low, high, *room, 2**11, found)
    assert sorted(found[:number].astype(int).tolist()) == sorted(fitting.tolist())
