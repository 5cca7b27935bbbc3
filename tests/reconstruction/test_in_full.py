"""All allocations to two bins: the same whether they are listed or counted, and which comes first."""

from __future__ import annotations

import math
import time
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.test_two_bins import agrees, two_bin_instances

from divulge.reconstruction import four_lists, in_full, lattice, two_bins
from divulge.reconstruction.amounts import Bools
from divulge.reconstruction.instance import Instance


@given(case=two_bin_instances(), foretold=st.sampled_from([0.0, math.inf]), sample=st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_foretold_decides_on_the_way_and_never_on_what_is_found(
    case: tuple[Instance, Bools], foretold: float, sample: bool
) -> None:
    instance, possible = case
    with (
        mock.patch.object(four_lists, "FEW", 0),
        mock.patch.object(in_full, "SAMPLE_STEPS", in_full.SAMPLE_STEPS if sample else 0),
        mock.patch.object(in_full, "expected_bits", return_value=foretold),
    ):
        agrees(in_full.all_of(instance, possible, time.monotonic() + 99), instance, possible)


def month_like(seed: int, amounts: int) -> Instance:
    """Forty packages of heavy-tailed amounts, totals of a random half rounded to whole units."""
    chance = np.random.default_rng(seed)
    of_packages = np.exp(chance.normal(8, 1.5, (40, amounts))).astype(np.int64)
    inside = chance.random(40) < 0.5
    sums = np.stack([of_packages[inside].sum(axis=0), of_packages[~inside].sum(axis=0)])
    low = (sums + 50) // 100 * 100 - 50
    return Instance.of(of_packages, low, low + 99)


@pytest.mark.parametrize("amounts", [2, 3, 5])
def test_many_sets_are_counted_first_and_few_are_listed_first(amounts: int) -> None:
    instance, anywhere = month_like(3, amounts), np.ones((40, 2), bool)
    with (
        mock.patch.object(two_bins, "counted", wraps=two_bins.counted) as counting,
        mock.patch.object(lattice, "fitting", wraps=lattice.fitting) as listing,
    ):
        found = in_full.all_of(instance, anywhere, time.monotonic() + 20)
    assert found is not None
    assert counting.called == (amounts == 2)
    assert listing.called == (amounts > 2)
    assert all(instance.holds(of_package) for of_package in found.proofs)


def test_what_counting_refuses_is_listed_if_it_may_be_fewer_than_foretold() -> None:
    instance, anywhere = month_like(3, 3), np.ones((40, 2), bool)
    end = time.monotonic() + 60
    counted = in_full.all_of(instance, anywhere, end)
    bits = math.log2(4 * 60 * lattice.STEPS_PER_SECOND)
    with (
        mock.patch.object(in_full, "SAMPLE_STEPS", 1),
        mock.patch.object(in_full, "expected_bits", return_value=bits),
        mock.patch.object(two_bins, "counted", return_value=None) as counting,
    ):
        listed = in_full.all_of(instance, anywhere, end)
    assert counting.called
    assert counted is not None
    assert listed is not None
    assert listed.count == counted.count
    assert listed.pairs.tolist() == counted.pairs.tolist()


def test_there_is_nothing_when_the_time_is_up() -> None:
    assert in_full.all_of(month_like(3, 3), np.ones((40, 2), bool), 0.0) is None
