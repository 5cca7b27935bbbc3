"""All allocations to two bins: the same whether they are listed or counted, and which comes first."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reconstruction.test_two_bins import agrees, two_bin_instances

from divulge.reconstruction import tuning
from divulge.reconstruction.counting import two_bins, two_bins_choice
from divulge.reconstruction.problem.instance import Instance
from divulge.reconstruction.subset_sum import lattice_enumeration
from divulge.work import Effort
from divulge.work.arrays import Bools


@given(case=two_bin_instances(), foretold=st.sampled_from([0.0, 1e3, math.inf]))
@settings(max_examples=60, deadline=None)
def test_what_is_foretold_decides_on_the_way_and_never_on_what_is_found(
    case: tuple[Instance, Bools], foretold: float
) -> None:
    instance, possible = case
    sampled = None, foretold
    with (
        mock.patch.object(tuning, "TWO_BINS_MOST_LISTED", 0),
        mock.patch.object(two_bins_choice, "_sample_listing", return_value=sampled),
    ):
        agrees(
            two_bins_choice.count_or_list_all(instance, possible, Effort(99)), instance, possible
        )


def month_like(seed: int, amounts: int) -> Instance:
    """Forty packages of heavy-tailed amounts, totals of a random half rounded to whole units."""
    chance = np.random.default_rng(seed)
    of_packages = np.exp(chance.normal(8, 1.5, (40, amounts))).astype(np.int64)
    inside = chance.random(40) < 0.5
    sums = np.stack([of_packages[inside].sum(axis=0), of_packages[~inside].sum(axis=0)])
    low = (sums + 50) // 100 * 100 - 50
    return Instance.from_intervals(of_packages, low, low + 99)


@pytest.mark.parametrize("seconds", [0.1, 1e6])
def test_few_sets_are_listed_before_counting_takes_long_and_many_are_not(seconds: float) -> None:
    instance, anywhere = month_like(3, 3), np.ones((40, 2), bool)
    with (
        mock.patch.object(two_bins_choice, "_sample_listing", return_value=(None, seconds)),
        mock.patch.object(two_bins, "count_two_bins", return_value=None) as counting,
        mock.patch.object(
            lattice_enumeration,
            "enumerate_fitting_sets",
            wraps=lattice_enumeration.enumerate_fitting_sets,
        ) as listing,
    ):
        found = two_bins_choice.count_or_list_all(instance, anywhere, Effort(60))
    few = seconds < 1
    assert (found is not None) == listing.called == few
    most_sums = counting.call_args.args[2]
    assert (most_sums < two_bins.seconds_to_sums(1)) == few


def test_sets_that_are_listed_are_those_that_are_counted() -> None:
    instance, anywhere = month_like(3, 3), np.ones((40, 2), bool)
    effort = Effort(60)
    with mock.patch.object(two_bins, "count_two_bins", return_value=None):
        listed = two_bins_choice.count_or_list_all(instance, anywhere, effort)
    with mock.patch.object(tuning, "TWO_BINS_MOST_LISTED", 0):
        counted = two_bins.count_two_bins(instance, anywhere, 1e9, effort)
    assert listed is not None
    assert counted is not None
    assert listed.count == counted.count > 1
    assert listed.pairs.tolist() == counted.pairs.tolist()
    assert all(instance.is_allocation(of_package) for of_package in listed.proofs)


def test_there_is_nothing_when_the_effort_is_spent() -> None:
    assert (
        two_bins_choice.count_or_list_all(month_like(3, 3), np.ones((40, 2), bool), Effort(0))
        is None
    )
