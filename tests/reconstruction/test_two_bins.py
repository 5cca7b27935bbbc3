"""Counting allocations to two bins without listing them, against looking at every one."""

from __future__ import annotations

import itertools
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.reconstruction import tuning
from divulge.reconstruction.counting import two_bins, two_bins_lists
from divulge.reconstruction.problem.counts import AllocationCounts
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import meet_in_middle
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


def every_allocation(instance: Instance, possible: Bools) -> Ints:
    """The plain twin: all allocations that keep to everything, one by one."""
    limited = instance.restricted_to(possible)
    ways = itertools.product((0, 1), repeat=instance.packages)
    found = [way for way in ways if limited.is_allocation(np.array(way))]
    return np.array(found, np.int64).reshape(len(found), instance.packages)


def agrees(found: AllocationCounts | None, instance: Instance, possible: Bools) -> None:
    """Count, marginals and certificates are those of the plain twin."""
    assert found is not None
    plain = every_allocation(instance, possible)
    pairs = np.stack([(plain == b).sum(axis=0) for b in (0, 1)], axis=1)
    assert found.count == len(plain)
    assert found.pairs.tolist() == pairs.tolist()
    assert found.shares == pytest.approx(pairs / max(len(plain), 1))
    shown = set(map(tuple, found.proofs.tolist()))
    assert shown <= set(map(tuple, plain.tolist()))
    proved = np.zeros((instance.packages, 2), bool)
    for of_package in found.proofs:
        proved[np.arange(instance.packages), of_package] = True
    assert (proved == (pairs > 0)).all()


@st.composite
def two_bin_instances(draw: st.DrawFn) -> tuple[Instance, Bools]:
    """A few packages of up to four amounts, often equal or nothing, and windows of any width."""
    n, k = draw(st.integers(0, 8)), draw(st.integers(1, 4))
    amount = st.one_of(st.integers(0, 3), st.integers(0, 40), st.sampled_from([0, 7, 1000]))
    amounts = np.array(
        draw(st.lists(st.lists(amount, min_size=k, max_size=k), min_size=n, max_size=n)), np.int64
    ).reshape(n, k)
    low, high = np.zeros((2, k), np.int64), np.zeros((2, k), np.int64)
    for i in range(k):
        everything = int(amounts[:, i].sum())
        middle = draw(st.integers(0, everything))
        slack = draw(st.sampled_from([0, 1, 5, 40, 3000]))
        for b, target in enumerate((middle, everything - middle)):
            low[b, i] = target - draw(st.integers(0, slack))
            high[b, i] = target + draw(st.integers(0, slack))
    side = st.sampled_from([(True, True)] * 6 + [(True, False), (False, True)])
    possible = np.array([draw(side) for _ in range(n)], bool).reshape(n, 2)
    return Instance.from_intervals(amounts, low, high), possible


@given(case=two_bin_instances())
@settings(max_examples=60, deadline=None)
def test_the_count_the_marginals_and_the_certificates_are_those_of_looking_at_all(
    case: tuple[Instance, Bools],
) -> None:
    instance, possible = case
    with mock.patch.object(tuning, "TWO_BINS_MOST_LISTED", 0):
        agrees(
            two_bins.count_two_bins(instance, possible, 1e9, Effort(math.inf)), instance, possible
        )


@given(case=two_bin_instances(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_it_does_not_matter_how_packages_are_divided_nor_how_many_sums_are_taken_at_once(
    case: tuple[Instance, Bools], data: st.DataObject
) -> None:
    instance, possible = case
    n = int(possible.all(axis=1).sum())
    small = data.draw(st.integers(0, n))
    first = data.draw(st.integers(0, n - small))
    with (
        mock.patch.object(tuning, "TWO_BINS_MOST_LISTED", 0),
        mock.patch.object(two_bins_lists, "_find_cheapest_split", return_value=(0.0, first, small)),
        mock.patch.object(tuning, "TWO_BINS_SLAB_SIZE", data.draw(st.sampled_from([1, 6, 50]))),
        mock.patch.object(tuning, "TWO_BINS_MOST_LEADS", data.draw(st.sampled_from([1, 20, 1000]))),
    ):
        agrees(
            two_bins.count_two_bins(instance, possible, 1e9, Effort(math.inf)), instance, possible
        )


def month_like(seed: int, packages: int) -> Instance:
    """Heavy-tailed values and weights, totals of a random half rounded to whole units."""
    chance = np.random.default_rng(seed)
    amounts = np.stack(
        [
            np.exp(chance.normal(7, 1.3, packages)).astype(np.int64),
            np.exp(chance.normal(13, 1.6, packages)).astype(np.int64),
        ],
        axis=1,
    )
    inside = chance.random(packages) < 0.5
    unit = np.array([100, 100_000])
    sums = np.stack([amounts[inside].sum(axis=0), amounts[~inside].sum(axis=0)])
    low = (sums + unit // 2) // unit * unit - unit // 2
    return Instance.from_intervals(amounts, low, low + unit - 1)


@pytest.mark.parametrize("seed", range(4))
def test_it_counts_what_meeting_in_the_middle_lists(seed: int) -> None:
    instance = month_like(seed, 30)
    everything = instance.amounts.sum(axis=0)
    one = Instance.from_intervals(
        instance.amounts,
        np.maximum(instance.low[:1], everything - instance.high[1:]),
        np.minimum(instance.high[:1], everything - instance.low[1:]),
    )
    listed = meet_in_middle.enumerate_sets_by_halves(
        one, 0, np.ones(30, bool), forced=np.zeros(30, bool), longest=10**6, most_sets=0
    )
    found = two_bins.count_two_bins(instance, np.ones((30, 2), bool), 1e9, Effort(math.inf))
    assert listed is not None
    assert found is not None
    assert found.count == listed.count > 0
    assert found.pairs[:, 0].tolist() == listed.with_package.tolist()
    assert all(instance.is_allocation(of_package) for of_package in found.proofs)


def test_where_every_set_fits_there_are_two_to_the_number_of_packages() -> None:
    amounts = np.random.default_rng(1).integers(0, 50, (20, 2))
    everything = np.repeat(amounts.sum(axis=0)[None], 2, axis=0)
    instance = Instance.from_intervals(amounts, np.zeros_like(everything), everything)
    found = two_bins.count_two_bins(instance, np.ones((20, 2), bool), 1e9, Effort(math.inf))
    assert found is not None
    assert found.count == 2**20
    assert (found.pairs == 2**19).all()


def test_a_package_without_a_bin_leaves_no_allocation() -> None:
    instance = Instance.from_intervals(
        np.array([[1], [2]]), np.zeros((2, 1), np.int64), np.full((2, 1), 9)
    )
    found = two_bins.count_two_bins(
        instance, np.array([[True, True], [False, False]]), 1e9, Effort(math.inf)
    )
    assert found is not None
    assert (found.count, len(found.proofs), int(found.pairs.sum())) == (0, 0, 0)


def test_what_is_hopeless_late_or_too_large_at_once_is_refused() -> None:
    instance, anywhere = month_like(0, 34), np.ones((34, 2), bool)
    assert two_bins.count_two_bins(instance, anywhere, 100, Effort(math.inf)) is None
    assert two_bins.count_two_bins(instance, anywhere, 1e9, Effort(0)) is None
    with mock.patch.object(tuning, "TWO_BINS_LARGEST_SLAB", 3):
        assert two_bins.count_two_bins(instance, anywhere, 1e9, Effort(math.inf)) is None


def test_few_allocations_of_three_amounts_are_left_to_be_listed() -> None:
    amounts = np.array([[1, 2, 3], [3, 1, 2]])
    instance = Instance.from_intervals(amounts, 0 * amounts, np.array([[3, 2, 4]] * 2))
    assert two_bins.count_two_bins(instance, np.ones((2, 2), bool), 1e9, Effort(math.inf)) is None


def test_amounts_that_are_the_same_for_all_packages_are_one_with_both_windows() -> None:
    amounts = np.repeat(np.arange(1, 9)[:, None], 3, axis=1)
    low, high = np.array([[0, 5, 9], [0, 0, 0]]), np.array([[12, 99, 14], [99, 99, 99]])
    instance = Instance.from_intervals(amounts, low, high)
    anywhere = np.ones((8, 2), bool)
    agrees(two_bins.count_two_bins(instance, anywhere, 1e9, Effort(math.inf)), instance, anywhere)


def test_intervals_that_depend_on_numbers_are_refused() -> None:
    ones, row = np.ones((2, 1), np.int64), np.ones((1, 3), np.int64)
    wide = Instance.from_intervals(ones, 0 * ones, ones, slack_by_count=row)
    assert two_bins.count_two_bins(wide, np.ones((2, 2), bool), 1e9, Effort(math.inf)) is None
