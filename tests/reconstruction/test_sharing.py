"""What many states leave for two bins, split all at once, against looking at every split."""

from __future__ import annotations

import itertools
import math
from types import ModuleType
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.reconstruction import tuning
from divulge.reconstruction.counting import dp_final_bins, dp_shared_states, dynamic_program
from divulge.reconstruction.problem.bitsets import pack_bitsets
from divulge.reconstruction.problem.instance import Instance
from divulge.work import Effort
from divulge.work.arrays import Bools, Ints


def every_split(instance: Instance, state: Bools, last: list[int]) -> list[Bools]:
    """The plain twin: what the second bin may get of a state, split by split."""
    a, b = last
    found = []
    for taken in itertools.product((False, True), repeat=int(state.sum())):
        in_other = np.zeros(instance.packages, bool)
        in_other[np.flatnonzero(state)] = taken
        sides = ((a, state & ~in_other), (b, in_other))
        sums = [(instance.amounts[side].sum(axis=0), bin_) for bin_, side in sides]
        fits = all(
            ((instance.low[bin_] <= total) & (total <= instance.high[bin_])).all()
            for total, bin_ in sums
        )
        if fits and all(instance.allowed[side, bin_].all() for bin_, side in sides):
            found.append(in_other)
    return found


@st.composite
def states_of_two_bins(draw: st.DrawFn) -> tuple[Instance, Bools, Ints]:
    """Packages of up to three amounts, three bins, states that differ by some packages, weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, k, many = draw(st.integers(1, 8)), draw(st.integers(1, 3)), draw(st.integers(1, 6))
    amounts = random.integers(0, draw(st.sampled_from([3, 40, 1000])), (n, k))
    share = random.random(3) * [1, 1, 0.2]
    totals = (amounts.sum(axis=0) * share[:, None] / share.sum()).astype(np.int64)
    slack = draw(st.sampled_from([0, 3, 100, 2000]))
    allowed = random.random((n, 3)) < draw(st.sampled_from([0.7, 1.0]))
    instance = Instance.from_intervals(amounts, totals - slack, totals + slack, allowed=allowed)
    states = np.unique(random.random((many, n)) < draw(st.sampled_from([0.6, 0.9])), axis=0)
    return instance, states, random.integers(1, draw(st.sampled_from([2, 2**20])), len(states))


@given(case=states_of_two_bins(), small=st.integers(0, 8), data=st.data())
@settings(max_examples=100, deadline=None)
def test_ways_marginals_and_examples_are_those_of_looking_at_every_split(
    case: tuple[Instance, Bools, Ints], small: int, data: st.DataObject
) -> None:
    instance, states, weights = case
    order = np.random.default_rng(small).permutation(instance.packages)
    sides = order[small:], order[:small]
    cells = data.draw(st.sampled_from([[1, 1], [4, 8]]))
    with (
        mock.patch.object(dp_shared_states, "_choose_sides", return_value=sides),
        mock.patch.object(tuning, "SHARED_MOST_CELLS", data.draw(st.sampled_from([1, 50, 10**6]))),
        mock.patch.object(tuning, "SHARED_CELLS_OF_WINDOW", tuple(cells)),
    ):
        found = dp_shared_states.split_states_at_once(
            instance, states, weights, [0, 2], Effort(math.inf)
        )
    assert found is not None
    agrees(found, instance, states, weights)


def agrees(
    found: dp_shared_states.SharedSplits, instance: Instance, states: Bools, weights: Ints
) -> None:
    splits = [every_split(instance, state, [0, 2]) for state in states]
    assert found.ways.tolist() == [len(ways) for ways in splits]
    in_other, inside, outside = np.zeros((3, instance.packages), np.int64)
    for state, ways, weight, first in zip(states, splits, weights, found.first, strict=True):
        of_state = {tuple(way) for way in ways}
        assert not ways or tuple(first) in of_state
        for way in ways:
            in_other += weight * way
            inside |= way
            outside |= state & ~way
    assert found.in_other.tolist() == in_other.tolist()
    shown_inside, shown_outside = np.zeros((2, instance.packages), np.int64)
    for number, way in zip(found.witness_states, found.witnesses, strict=True):
        assert any((way == other).all() for other in splits[number])
        shown_inside |= way
        shown_outside |= states[number] & ~way
    assert (shown_inside == inside).all()
    assert (shown_outside == outside).all()


@given(case=states_of_two_bins())
@settings(max_examples=40, deadline=None)
def test_the_sides_are_all_packages_that_any_state_has(
    case: tuple[Instance, Bools, Ints],
) -> None:
    instance, states, weights = case
    found = dp_shared_states.split_states_at_once(
        instance, states, weights, [0, 2], Effort(math.inf)
    )
    assert found is not None
    agrees(found, instance, states, weights)


def test_allocations_are_the_same_whether_states_are_split_at_once_or_one_by_one() -> None:
    random = np.random.default_rng(5)
    amounts = np.sort(np.exp(random.normal(6, 1.2, (32, 2))).astype(np.int64), axis=0)
    truth = random.integers(0, 2, 32)
    truth[:4] = 2
    totals = np.array([amounts[truth == b].sum(axis=0) for b in range(3)])
    instance = Instance.from_intervals(amounts, totals - 150, totals + 150)
    instance.allowed[12:, 2] = False
    subsets = np.array(list(itertools.product((False, True), repeat=12)))
    discarded = np.hstack([subsets, np.zeros((len(subsets), 20), bool)])
    sums = discarded @ amounts
    fits = ((sums >= instance.low[2]) & (sums <= instance.high[2])).all(axis=1)
    sets = [None, None, pack_bitsets(discarded[fits][:20])]
    with mock.patch.object(
        dp_final_bins, "split_states_at_once", wraps=dp_shared_states.split_states_at_once
    ) as at_once:
        one = dynamic_program.count_allocations(instance, sets, seconds=60.0)
    with mock.patch.object(dp_final_bins, "split_states_at_once", return_value=None):
        other = dynamic_program.count_allocations(instance, sets, seconds=60.0)
    assert at_once.called
    assert one is not None
    assert other is not None
    assert one.count == other.count > 100
    assert one.pairs.tolist() == other.pairs.tolist()
    assert instance.are_allocations(one.proofs.astype(np.int64)).all()
    proved = np.zeros((32, 3), bool)
    for of_package in one.proofs:
        proved[np.arange(32), of_package] = True
    assert (proved == (one.pairs > 0)).all()


@pytest.mark.parametrize(
    ("holder", "limit", "lowest"),
    [
        (dp_shared_states, "HEAVIEST_STATE", 1),
        (tuning, "SHARED_LONGEST_LARGE_SIDE", 0),
        (dp_shared_states, "MOST_LOOKS", 0),
    ],
)
def test_what_is_too_heavy_too_long_or_too_much_is_refused(
    holder: ModuleType, limit: str, lowest: int
) -> None:
    amounts = np.arange(1, 9)[:, None]
    instance = Instance.from_intervals(amounts, np.zeros((2, 1), np.int64), np.full((2, 1), 36))
    states, weights = np.ones((1, 8), bool), np.array([2])
    assert (
        dp_shared_states.split_states_at_once(instance, states, weights, [0, 1], Effort(math.inf))
        is not None
    )
    with mock.patch.object(holder, limit, lowest):
        assert (
            dp_shared_states.split_states_at_once(
                instance, states, weights, [0, 1], Effort(math.inf)
            )
            is None
        )
    assert (
        dp_shared_states.split_states_at_once(instance, states, weights, [0, 1], Effort(0)) is None
    )
