"""What two amounts exclude at once, and wide bins together, beside trying everything."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.strategies import instance_of, widened
from tests.reconstruction.test_covers import of_every

from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.propagation import propagation_kernels
from divulge.reconstruction.propagation.ratio_bounds import bound_set_by_ratios, exclude_by_ratios
from divulge.reconstruction.subset_sum.bin_support import BinSupport
from divulge.work import Effort

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=300, deadline=None)
@given(
    seeds, st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.sampled_from(["", "w", "s"])
)
def test_nothing_is_excluded_that_an_allocation_has(
    seed: int, packages: int, bins: int, attributes: int, kind: str
) -> None:
    """Also where intervals grow with counts, and where some are wide since codes are suppressed."""
    random = np.random.default_rng(seed)
    instance, _ = instance_of(random, packages, bins, attributes)
    if kind == "w":
        instance = widened(random, instance)
    if kind == "s":
        slack = np.where(random.random((bins, 1)) < 0.5, 200, 0)
        instance = replace(instance, low=instance.low - slack)
    if random.random() < 0.3:
        instance = replace(instance, high=instance.high - random.integers(0, 3, (bins, 1)))
    count, pairs = of_every(instance)
    left = exclude_by_ratios(instance, instance.allowed)
    if left is None:
        assert count == 0
    else:
        assert ((pairs > 0) <= left).all()


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 40), st.integers(2, 6), st.integers(2, 5))
def test_the_truth_is_never_excluded_however_large_its_amounts_are(
    seed: int, packages: int, bins: int, attributes: int
) -> None:
    random = np.random.default_rng(seed)
    amounts = np.rint(np.exp(random.normal(20, 6, (packages, attributes)))).astype(np.int64)
    amounts = np.minimum(amounts, 10**15)
    truth = random.integers(0, bins, packages)
    totals = np.array([amounts[truth == b].sum(axis=0) for b in range(bins)])
    instance = Instance.from_intervals(amounts, totals - random.integers(0, 2), totals)
    left = exclude_by_ratios(instance, instance.allowed)
    assert left is not None
    assert left[np.arange(packages), truth].all()


def test_dear_goods_are_in_no_bin_of_cheap_goods() -> None:
    """Each amount for itself would allow it."""
    goods = np.array([[60, 10], [60, 10], *[[10, 50]] * 8])
    totals = np.array([[60, 300], [140, 120]])
    instance = Instance.from_intervals(goods, totals, totals)
    left = instance.allowed.astype(np.uint8)
    assert propagation_kernels.propagate(*instance.arrays, left, instance.already_in_bin)
    assert left.all()
    of_two = exclude_by_ratios(instance, instance.allowed)
    assert of_two is not None
    assert of_two.astype(int).tolist() == [[0, 1], [0, 1], *[[1, 1]] * 8]


def test_what_narrow_bins_do_not_hold_is_all_that_wide_ones_have() -> None:
    """Two wide bins could each hold the large package; together they hold 3."""
    goods = np.array([[10], [7], [2], [1]])
    low, high = np.array([[17], [0], [0]]), np.array([[17], [12], [12]])
    instance = Instance.from_intervals(goods, low, high)
    left = exclude_by_ratios(instance, instance.allowed)
    assert left is not None
    assert left.astype(int).tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]]


def test_totals_that_no_prices_make_are_impossible() -> None:
    goods = np.array([[10, 100], [20, 200], [30, 300]])
    totals = np.array([[30, 200], [30, 400]])
    assert (
        exclude_by_ratios(Instance.from_intervals(goods, totals, totals), np.ones((3, 2), bool))
        is None
    )
    assert bound_set_by_ratios(goods, totals[0], totals[0]) is None
    assert bound_set_by_ratios(goods, np.array([30, 300]), np.array([30, 300])) is not None


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 3))
def test_who_must_be_in_a_set_is_in_all_and_who_may_not_is_in_none(
    seed: int, packages: int, attributes: int
) -> None:
    random = np.random.default_rng(seed)
    goods = random.integers(0, 30, (packages, attributes))
    low = random.integers(-5, 30 * packages // 2 + 1, attributes)
    high = low + random.integers(0, 20, attributes)
    every = np.array(list(itertools.product([False, True], repeat=packages)))
    sums = every.astype(np.int64) @ goods
    fitting = every[((low <= sums) & (sums <= high)).all(axis=1)]
    found = bound_set_by_ratios(goods, low, high)
    if found is None:
        assert not len(fitting)
        return
    may, must = found
    assert (fitting <= may).all()
    assert (fitting >= must).all()


@pytest.mark.parametrize("steps", [1, 10_000])
def test_questions_to_one_bin_are_answered_by_prices_before_any_set_is_looked_for(
    steps: int,
) -> None:
    """Beside the dear package only cheap ones have room, which are too heavy."""
    random = np.random.default_rng(4)
    cheap = np.column_stack([random.integers(1, 9, 40), random.integers(60, 90, 40)])
    goods = np.vstack([cheap, [[50, 5], [66, 30]]])
    truth = goods[0] + goods[41]
    low, high = np.array([truth, [0, 0]]), np.array([truth, [10_000, 10_000]])
    instance = Instance.from_intervals(goods, low, high)
    nothing = np.zeros_like(instance.allowed)
    left = BinSupport(instance).exclude_unsupported(
        instance.allowed, nothing, steps, Effort(math.inf)
    )
    assert left is not None
    assert not left[40, 0]
